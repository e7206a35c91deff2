// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A record: one subscription as fan-outs read it.

#ifndef FWD_SRC_RECORD_H
#define FWD_SRC_RECORD_H

#include <stdatomic.h>

#include "members/dispatch_table.h"
#include "fwd_weak.h"
#include "members/gate.h"

/// A record never moves while a reader can reach it. Several segments may point to it, and all their readers see the
/// one mark that ends the subscription.
typedef struct fwd_record {
  /// The object that the subscription holds, how it holds it, and whether it has ended; see held.h. Only the list's
  /// writer stores it.
  _Atomic uintptr_t held;
  void *receiver;
  /// All subscriptions with a table share one reference to it; see `fwd_table_use`.
  fwd_dispatch_table *table;
  fwd_subscription identifier;
  /// The other subscriptions of the object, as slots. Only the writer uses them.
  uint32_t next;
  uint32_t previous;
} fwd_record;

_Static_assert(sizeof(struct fwd_record) == 40, "every byte here is paid for by each subscriber");

/// No slot: where `next` and `previous` have no record to name.
#define FWD_NO_SLOT UINT32_MAX

/// An identifier has 36 bits that number all subscriptions of the process, then the bits of the slot.
enum { FWD_SLOT_BITS = 28 };

/// The slot that a subscription's identifier names.
static inline uint32_t fwd_slot_of(fwd_subscription identifier) {
  return (uint32_t)(identifier & ((UINT64_C(1) << FWD_SLOT_BITS) - 1));
}

/// The part of a subscription that is not weak which is given up promptly after its end.
typedef struct fwd_end {
  fwd_retired retired;
  void *object;
  void *receiver;
  void (*destroy)(void *receiver);
} fwd_end;

static inline fwd_end *fwd_record_end(uintptr_t held) {
  return (fwd_end *)(held & ~(uintptr_t)FWD_HELD_BITS);
}

/// Acquire: a reader that sees the mark sees what the unsubscribing thread did before it.
static inline uintptr_t fwd_record_held(const fwd_record *record) {
  return atomic_load_explicit(&record->held, memory_order_acquire);
}

/// The object, dead or alive, of a subscription that has not ended; NULL if it has none. For the writer.
static inline const void *fwd_record_object(const fwd_record *record) {
  uintptr_t held = fwd_held_behind_gate(atomic_load_explicit(&record->held, memory_order_relaxed));
  return fwd_held_is_weak(held) ? fwd_weak_address(held) : fwd_record_end(held)->object;
}

/// Whether the subscription has neither ended, nor used its limit up, nor lost its object, as far as can be told without
/// a reference to the object.
static inline bool fwd_record_lives(const fwd_record *record) {
  uintptr_t held = fwd_record_held(record);
  if (fwd_held_has_ended(held) || fwd_held_is_used_up(held)) return false;
  held = fwd_held_behind_gate(held);
  return !(fwd_held_is_weak(held) && fwd_weak_has_died(held));
}

static inline const fwd_implementation *fwd_record_implementation(const fwd_record *record,
                                                                  size_t method) {
  return fwd_dispatch_table_at(record->table, method);
}

/// A reference to a subscriber, which lives until `fwd_record_drop`.
typedef struct fwd_taken {
  /// NULL for a subscriber without an object.
  void *object;
  bool is_owned;
} fwd_taken;

/// Takes a reference to a subscriber, blocked or not. False if the subscription has ended or its object has begun to
/// deinitialise. The caller is a reader of the list, or its writer.
static inline bool fwd_record_take(const fwd_record *record, fwd_taken *taken) {
  uintptr_t held = fwd_record_held(record);
  if (fwd_held_has_ended(held) || fwd_held_is_used_up(held)) return false;
  held = fwd_held_behind_gate(held);
  if (fwd_held_is_weak(held)) {
    *taken = (fwd_taken){fwd_weak_take(held), true};
    return taken->object != NULL;
  }
  // A strong reference is released after the last reader of the record has left.
  *taken = (fwd_taken){fwd_record_end(held)->object, false};
  return true;
}

/// The object may deinitialise here.
static inline void fwd_record_drop(fwd_taken taken) {
  if (taken.is_owned) fwd_object_release(taken.object);
}

#endif
