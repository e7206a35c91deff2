// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Lets a program ask whether Ctrl-C was pressed instead of ending by it. It is in
/// C because a signal handler may only call async-signal-safe functions.

#ifndef INTERRUPTION_H
#define INTERRUPTION_H

#include <stdbool.h>

/// Installs the handler: the first SIGINT is only noted, the second one ends the
/// process as usual.
void interruption_begin(void);

/// Returns whether SIGINT has arrived.
bool interruption_requested(void);

#endif
