// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A counter that costs its only thread no atomic read-modify-write operation.

#ifndef FWD_COUNTER_H
#define FWD_COUNTER_H

#include "fwd_lock.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Returns the next number to each caller, without gaps. Any number of threads may use it.
///
/// As long as one thread uses it, taking a number needs no atomic read-modify-write operation. The first call by a second
/// thread interrupts all running threads once (membarrier(2)). From then on, each call is an atomic addition.
///
/// It need not be destroyed.
typedef struct fwd_counter {
  uint64_t next;
  /// The state: see counter.c.
  const void *FWD_NULLABLE owner;
  /// Held while the owner changes.
  fwd_lock lock;
} fwd_counter;

/// Makes a counter whose first number is `first`. Must be called before any other function.
void fwd_counter_init(fwd_counter *FWD_NONNULL counter, uint64_t first);

/// Returns the next number. After the largest one comes 0.
uint64_t fwd_counter_take(fwd_counter *FWD_NONNULL counter);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
