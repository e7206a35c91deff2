// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A record: one subscription, in the form that fan-outs read.

#ifndef FWD_SRC_RECORD_H
#define FWD_SRC_RECORD_H

#include <stdatomic.h>

#include "members/dispatch_table.h"
#include "fwd_weak.h"
#include "members/gate.h"
#include "members/taking.h"

/// A record never moves while a reader can reach it. Several segments may point to it, so the mark that ends the
/// subscription is in the record, where the readers of all segments see it.
typedef struct fwd_record {
  /// The object, how the subscription holds it, and whether the subscription has ended: see held.h. Only the list's
  /// writer changes it.
  _Atomic uintptr_t held;
  /// The first argument of the subscriber's functions. In a free slot, the next free slot.
  void *receiver;
  /// All subscriptions with the table share one reference to it: see `fwd_table_use`.
  fwd_dispatch_table *table;
  fwd_subscription identifier;
  /// The slots of the object's next older and next newer subscription. Only the writer uses them.
  uint32_t next;
  uint32_t previous;
} fwd_record;

_Static_assert(sizeof(struct fwd_record) == 40, "each subscriber has a record, so its size matters");

/// The value of `next` and `previous` if there is no such subscription.
#define FWD_NO_SLOT UINT32_MAX
/// The value of `next` after the subscription has left in a draft (draft.c). Fan-outs that began before may still deliver
/// to it, so its `held` word stays as it was.
#define FWD_LEFT_SLOT (UINT32_MAX - 1)

/// The low bits of an identifier are the slot. The other 36 bits number all subscriptions of the process.
enum { FWD_SLOT_BITS = 28 };

/// The slot that a subscription's identifier names.
static inline uint32_t fwd_slot_of(fwd_subscription identifier) {
  return (uint32_t)(identifier & ((UINT64_C(1) << FWD_SLOT_BITS) - 1));
}

/// What the end of a steady subscription (held.h) must release: the object, or the C program's context. The record
/// stays until compaction, but this is retired as soon as the subscription ends, so that nothing is kept longer than a
/// fan-out needs it.
typedef struct fwd_end {
  fwd_retired retired;
  /// The object that is retained, or NULL.
  void *object;
  /// The argument of `destroy`, which may be NULL.
  void *receiver;
  void (*destroy)(void *receiver);
} fwd_end;

/// The `fwd_end` of a steady subscription.
static inline fwd_end *fwd_record_end(uintptr_t held) {
  return (fwd_end *)(held & ~(uintptr_t)FWD_HELD_BITS);
}

/// The record's `held` word, for readers. Acquire: a reader that sees the mark of the end sees what the unsubscribing
/// thread did before it.
static inline uintptr_t fwd_record_held(const fwd_record *record) {
  return atomic_load_explicit(&record->held, memory_order_acquire);
}

/// The object, dead or alive, that a `held` word without a gate and without the mark of the end points to. NULL for none.
static inline void *fwd_held_object(uintptr_t held) {
  if (__builtin_expect(!(held & FWD_HELD_KIND), 1)) return (void *)(held & ~(uintptr_t)FWD_HELD_BITS);
  return fwd_held_is_weak(held) ? fwd_weak_address(held) : fwd_record_end(held)->object;
}

/// The address of the object, dead or alive, of a subscription that has not ended. NULL if it has no object. For the
/// writer.
static inline const void *fwd_record_object(const fwd_record *record) {
  return fwd_held_object(fwd_held_behind_gate(atomic_load_explicit(&record->held, memory_order_relaxed)));
}

/// Whether the subscription is live: it has not ended, its limit is not used up, and its object is not known to have
/// begun to deinitialise (see `fwd_weak_has_died`).
static inline bool fwd_record_lives(const fwd_record *record) {
  uintptr_t held = fwd_record_held(record);
  if (__builtin_expect(!(held & FWD_HELD_BITS), 1)) return !fwd_weak_is_dead(held);
  if (fwd_held_has_ended(held) || fwd_held_is_used_up(held)) return false;
  held = fwd_held_behind_gate(held);
  return !(fwd_held_is_weak(held) && fwd_weak_is_dead(held));
}

static inline const fwd_implementation *fwd_record_implementation(const fwd_record *record,
                                                                  size_t method) {
  return fwd_dispatch_table_at(record->table, method);
}

/// A subscriber that stays alive until `fwd_record_drop`.
typedef struct fwd_taken {
  /// NULL for a subscriber without an object.
  void *object;
  /// Whether `fwd_record_drop` must release the object.
  bool is_owned;
} fwd_taken;

/// Keeps a subscriber alive for a delivery: retains an object that is held weakly. Returns false if the subscription
/// has ended, its limit is used up, or its object has begun to deinitialise. The subscription may be blocked. The
/// caller must be a reader of the list, or its writer.
static inline bool fwd_record_take(const fwd_record *record, fwd_taken *taken) {
  uintptr_t held = fwd_record_held(record);
  if (fwd_held_has_ended(held) || fwd_held_is_used_up(held)) return false;
  held = fwd_held_behind_gate(held);
  if (fwd_held_is_weak(held)) {
    *taken = (fwd_taken){fwd_weak_take(held), true};
    return taken->object != NULL;
  }
  // No retain: the subscription's strong reference is released after the last reader has left the list.
  *taken = (fwd_taken){fwd_record_end(held)->object, false};
  return true;
}

/// Ends what `fwd_record_take` began. The object may deinitialise here.
static inline void fwd_record_drop(fwd_taken taken) {
  if (taken.is_owned) fwd_object_release(taken.object);
}

#endif
