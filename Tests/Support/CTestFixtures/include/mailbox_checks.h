// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tests of mailboxes by a C program. Each function prints the checks that fail and returns their number.

#ifndef MAILBOX_CHECKS_H
#define MAILBOX_CHECKS_H

int mailbox_check_loop(void);
int mailbox_check_arguments(void);
int mailbox_check_lifetimes(void);
int mailbox_check_draining(void);
int mailbox_check_limits(void);
int mailbox_check_carriage(void);
/// In a process of its own.
int mailbox_check_fork(void);

#endif
