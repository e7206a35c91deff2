// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef SEQUENCES_H
#define SEQUENCES_H

/// Calls every function of forwarding.h in every situation of sequences.c, and prints each call whose status is not
/// the one that the table expects. Returns the number of such calls, and of other failed checks.
int sequences_run(void);

#endif
