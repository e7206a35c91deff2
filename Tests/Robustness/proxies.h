// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef PROXIES_H
#define PROXIES_H

#include "fwd_proxy.h"

static inline void report_nothing(void *owner, fwd_selector selector, const fwd_error *error) {
  (void)owner, (void)selector, (void)error;
}
static inline void note_nothing(void *owner, size_t number) { (void)owner, (void)number; }

/// The operations of a proxy whose owner does nothing.
#define QUIET_OPERATIONS \
  { .report = report_nothing, .met_the_dead = note_nothing, .find_responders = note_nothing }

/// Creates a proxy with methods of its own. Returns NULL if memory is short.
static inline fwd_proxy *new_proxy(const fwd_proxy_method *methods, size_t count, const void *owner,
                                    const fwd_proxy_operations *operations) {
  fwd_method_set *set = fwd_method_set_create(methods, count);
  fwd_proxy *proxy = set ? fwd_proxy_core_create(set, true, false, 0, (void *)(uintptr_t)owner, operations) : NULL;
  fwd_method_set_release(set);
  return proxy;
}

#endif
