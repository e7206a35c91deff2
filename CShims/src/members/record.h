// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// One subscription as the fan-out reads it.

#ifndef FWD_SRC_RECORD_H
#define FWD_SRC_RECORD_H

#include <stdatomic.h>

#include "members/dispatch_table.h"
#include "fwd_list.h"
#include "members/gate.h"

/// Records never move while they can be reached, and are reached by the arrays that fan-outs read:
/// so that a subscription ends in one place for all of them.
struct fwd_record {
  /// Whom the subscription holds, and how, and whether it has ended; see held.h. Written by the list's
  /// writer.
  _Atomic uintptr_t held;
  void *receiver;
  /// Kept by its subscribers together; see `fwd_table_use`.
  fwd_dispatch_table *table;
  fwd_subscription identifier;
  /// The subscriptions of the same object, as slots; the writer's.
  uint32_t next;
  uint32_t previous;
};

_Static_assert(sizeof(struct fwd_record) == 40, "what a subscriber costs is kept in view");

/// None of the slots: the end of `next` and `previous`.
#define FWD_NO_SLOT UINT32_MAX

/// Identifiers are 36 bits that number all subscriptions of the process, then the slot.
enum { FWD_SLOT_BITS = 28 };

/// The slot that a subscription's identifier names.
static inline uint32_t fwd_slot_of(fwd_subscription identifier) {
  return (uint32_t)(identifier & ((UINT64_C(1) << FWD_SLOT_BITS) - 1));
}

/// What has to happen promptly after the end of a subscription that is not weak.
typedef struct fwd_end {
  fwd_retired retired;
  void *object;
  void *receiver;
  void (*destroy)(void *receiver);
} fwd_end;

static inline fwd_end *fwd_record_end(uintptr_t held) {
  return (fwd_end *)(held & ~(uintptr_t)FWD_HELD_BITS);
}

/// Acquire: whoever sees the end sees what the unsubscribing thread did before it.
static inline uintptr_t fwd_record_held(const fwd_record *record) {
  return atomic_load_explicit(&record->held, memory_order_acquire);
}

/// The object that a record holds which has not ended, dead or alive; NULL for one without. The writer's
/// to ask.
static inline const void *fwd_record_object(const fwd_record *record) {
  uintptr_t held = fwd_held_behind_gate(atomic_load_explicit(&record->held, memory_order_relaxed));
  return fwd_held_is_weak(held) ? fwd_weak_address(held) : fwd_record_end(held)->object;
}

static inline const fwd_implementation *fwd_record_implementation(const fwd_record *record,
                                                                  size_t method) {
  return fwd_dispatch_table_at(record->table, method);
}

/// A subscriber in the hand: alive until `fwd_record_drop`.
typedef struct fwd_taken {
  /// NULL for a subscriber without an object.
  void *object;
  bool is_owned;
} fwd_taken;

/// Takes hold of a subscriber whose record the caller can reach, be it blocked or not. False if the
/// subscription has ended or its object has begun to deinitialise.
static inline bool fwd_record_take(const fwd_record *record, fwd_taken *taken) {
  uintptr_t held = fwd_record_held(record);
  if (fwd_held_has_ended(held) || fwd_held_is_used_up(held)) return false;
  held = fwd_held_behind_gate(held);
  if (fwd_held_is_weak(held)) {
    *taken = (fwd_taken){fwd_weak_take(held), true};
    return taken->object != NULL;
  }
  // What is held strongly stays until those who can reach the record have gone.
  *taken = (fwd_taken){fwd_record_end(held)->object, false};
  return true;
}

/// The object may deinitialise here.
static inline void fwd_record_drop(fwd_taken taken) {
  if (taken.is_owned) fwd_object_release(taken.object);
}

#endif
