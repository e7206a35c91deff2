// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tests of forwarding.h by a C program. Each function prints the checks that fail and returns their number.

#ifndef C_INTERFACE_CHECKS_H
#define C_INTERFACE_CHECKS_H

#include "forwarding.h"

#pragma clang assume_nonnull begin

int c_interface_check_selectors(void);
int c_interface_check_protocols(void);
int c_interface_check_stated_layouts(void);
int c_interface_check_blocking(void);
int c_interface_check_proxies(void);
int c_interface_check_versions(void);
int c_interface_check_null_references(void);
int c_interface_check_positions(void);
int c_interface_check_changes(void);
int c_interface_check_visitors(void);
int c_interface_check_collecting(void);
int c_interface_check_interception(void);
int c_interface_check_interception_lifetimes(void);
int c_interface_check_subscribers(void);
int c_interface_check_membership(void);
int c_interface_check_forwarding(void);
int c_interface_check_policies(void);
int c_interface_check_functions(void);
int c_interface_check_callback_tables(void);
int c_interface_check_threads(void);

/// Subscribes a context whose `note:` calls `note` with its number and the argument.
fwd_status c_interface_subscribe_note(fwd_proxy *proxy, int number,
                                      void (*note)(void *_Nullable context, int number, int32_t argument),
                                      void *_Nullable context, fwd_subscription *_Nullable subscription);

#pragma clang assume_nonnull end

#endif
