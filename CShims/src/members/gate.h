// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A gate: the state of a subscription that is blocked, or that ends after a number of deliveries. Other subscriptions
/// have no gate, and their deliveries do not check for one.

#ifndef FWD_SRC_GATE_H
#define FWD_SRC_GATE_H

#include <stdatomic.h>
#include <stddef.h>

#include "members/garbage.h"
#include "members/held.h"

/// The list's writer adds a gate to a record and removes it. A gate that is removed is retired, so a reader that has
/// found it may still use it.
typedef struct fwd_gate {
  fwd_retired retired;
  /// The record's `held` word without the gate.
  uintptr_t held;
  /// How often the subscription has been blocked, minus how often it has been unblocked. Only the writer changes it.
  _Atomic size_t blocks;
  /// The number of deliveries that may still begin. Not used unless `is_limited`.
  _Atomic size_t remaining;
  bool is_limited;
} fwd_gate;

/// Creates a gate that is not blocked. `limit` is the number of deliveries, or 0 for no limit. Returns NULL if memory
/// is short.
fwd_gate *fwd_gate_create(uintptr_t held, size_t limit);
/// Adds a gate to the garbage after it has been removed from its record. `list` is the list of the record.
void fwd_gate_leave(fwd_gate *gate, const void *list, fwd_garbage *garbage);

static inline fwd_gate *fwd_gate_of(uintptr_t held) {
  return (fwd_gate *)(held & ~(uintptr_t)FWD_HELD_BITS);
}

/// The `held` word of a record with a gate.
static inline uintptr_t fwd_held_through(const fwd_gate *gate) {
  return (uintptr_t)gate | FWD_HELD_GATED;
}

/// The `held` word without the gate, if it has one.
static inline uintptr_t fwd_held_behind_gate(uintptr_t held) {
  return fwd_held_is_gated(held) ? fwd_gate_of(held)->held : held;
}

static inline bool fwd_held_is_blocked(uintptr_t held) {
  return fwd_held_is_gated(held) &&
         atomic_load_explicit(&fwd_gate_of(held)->blocks, memory_order_acquire) > 0;
}

/// Whether the last delivery that the limit allows has begun. Then the subscription counts as ended, although its
/// record is not marked as ended yet.
static inline bool fwd_held_is_used_up(uintptr_t held) {
  return fwd_held_is_gated(held) && fwd_gate_of(held)->is_limited &&
         atomic_load_explicit(&fwd_gate_of(held)->remaining, memory_order_acquire) == 0;
}

/// Counts a delivery that is about to begin. Returns false if the limit is used up: then the delivery must not begin.
/// Sets `*is_last` for the last one, so that the fan-out asks for the record's removal.
static inline bool fwd_held_count_delivery(uintptr_t held, bool *is_last) {
  if (!fwd_held_is_gated(held) || !fwd_gate_of(held)->is_limited) return true;
  _Atomic size_t *remaining = &fwd_gate_of(held)->remaining;
  size_t count = atomic_load_explicit(remaining, memory_order_relaxed);
  do {
    if (count == 0) return false;
  } while (!atomic_compare_exchange_weak_explicit(remaining, &count, count - 1, memory_order_acq_rel,
                                                  memory_order_relaxed));
  if (count == 1) *is_last = true;
  return true;
}

#endif
