// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Ctrl-C as a question instead of an end. In C, since a signal handler may do
/// next to nothing.

#ifndef INTERRUPTION_H
#define INTERRUPTION_H

#include <stdbool.h>

/// From now on the first SIGINT is only noted; the second one ends the process
/// as usual.
void interruption_begin(void);

/// Whether SIGINT has come.
bool interruption_requested(void);

#endif
