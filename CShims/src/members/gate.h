// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What stands before a subscription that is blocked or ends after some deliveries. Others have none, and
/// pay nothing.

#ifndef FWD_SRC_GATE_H
#define FWD_SRC_GATE_H

#include <stdatomic.h>
#include <stddef.h>

#include "fwd_list.h"
#include "reclaim/hazard.h"
#include "members/held.h"

/// A gate is put before a record and taken away by the list's writer, and retired as records are: who has
/// found it may look at it.
typedef struct fwd_gate {
  fwd_retired retired;
  /// What the record has without the gate.
  uintptr_t held;
  /// How often the subscription has been blocked and not been unblocked. The writer's to change.
  _Atomic size_t blocks;
  /// Deliveries that may still begin, if there is a limit.
  _Atomic size_t remaining;
  bool is_limited;
} fwd_gate;

/// Makes a gate that is not blocked; `limit` is 0 for none. NULL if memory is short.
fwd_gate *fwd_gate_create(uintptr_t held, size_t limit);
/// Leaves a gate behind that its record does not have any more.
void fwd_gate_leave(fwd_gate *gate, const fwd_subscriber_list *list, fwd_garbage *garbage);

static inline fwd_gate *fwd_gate_of(uintptr_t held) {
  return (fwd_gate *)(held & ~(uintptr_t)FWD_HELD_BITS);
}

/// The word of a record with a gate.
static inline uintptr_t fwd_held_through(const fwd_gate *gate) {
  return (uintptr_t)gate | FWD_HELD_GATED;
}

/// Whom a record holds, and how, whether there is a gate or not.
static inline uintptr_t fwd_held_behind_gate(uintptr_t held) {
  return fwd_held_is_gated(held) ? fwd_gate_of(held)->held : held;
}

static inline bool fwd_held_is_blocked(uintptr_t held) {
  return fwd_held_is_gated(held) &&
         atomic_load_explicit(&fwd_gate_of(held)->blocks, memory_order_acquire) > 0;
}

/// Whether all deliveries that there may be have begun: the subscription has ended, though it is still in
/// the list.
static inline bool fwd_held_is_used_up(uintptr_t held) {
  return fwd_held_is_gated(held) && fwd_gate_of(held)->is_limited &&
         atomic_load_explicit(&fwd_gate_of(held)->remaining, memory_order_acquire) == 0;
}

/// Counts a delivery that is about to begin. False if it must not: others have begun the last one. Who
/// begins the last one adds one to `gone`, so that the subscription is taken out of the list.
static inline bool fwd_held_count_delivery(uintptr_t held, size_t *gone) {
  if (!fwd_held_is_gated(held) || !fwd_gate_of(held)->is_limited) return true;
  _Atomic size_t *remaining = &fwd_gate_of(held)->remaining;
  size_t count = atomic_load_explicit(remaining, memory_order_relaxed);
  do {
    if (count == 0) return false;
  } while (!atomic_compare_exchange_weak_explicit(remaining, &count, count - 1, memory_order_acq_rel,
                                                  memory_order_relaxed));
  *gone += count == 1;
  return true;
}

#endif
