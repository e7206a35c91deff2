// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How the code of a closure's function pointer finds the closure.
///
/// The code reads the closure from a slot, which outlives it: a call through a stale pointer finds NULL. While a call
/// runs, a hazard pointer on the slot's address keeps the closure.

#ifndef FWD_SRC_ENTERING_H
#define FWD_SRC_ENTERING_H

#include "forwarding.h"
#include "reclaim/hazard.h"

/// The index of no argument.
#define FWD_NO_ARGUMENT SIZE_MAX

/// The first member of a closure: what a call needs of it.
typedef struct fwd_target {
  fwd_closure_handler handler;
  void *context;
  /// For a pooled entry; NULL for one of libffi's.
  const struct fwd_entry_layout *layout;
  /// The slot that has the closure. It outlives the closure.
  fwd_closure_slot *slot;
} fwd_target;

/// The function that a closure's users call, and how it finds its arguments.
typedef struct fwd_entry {
  /// Holds the closure, whose first member is a `fwd_target`.
  fwd_closure_slot *slot;
  void (*function)(void);
  /// NULL for an entry of libffi's.
  struct fwd_entry_layout *layout;
} fwd_entry;

/// A call that has entered.
typedef struct fwd_entering {
  /// NULL if the closure has been destroyed.
  const fwd_target *target;
  fwd_guard guard;
} fwd_entering;

/// Counts a call that found no closure.
FWD_KEEPS_REGISTERS void fwd_note_stale_call(void);

/// Finds the closure of a slot. The call has entered the slot's domain by `guard`. If the slot has no closure, this function
/// counts the call as stale.
static inline __attribute__((always_inline)) fwd_entering fwd_find_closure(fwd_closure_slot *slot, fwd_guard guard) {
  fwd_entering entering = {.guard = guard};
  entering.target = atomic_load_explicit(&slot->closure, memory_order_acquire);
  if (FWD_RARELY(!entering.target)) fwd_note_stale_call();
  return entering;
}

/// Finds the closure of a slot, and keeps it until `fwd_leave`. `hazard` is free, from `fwd_hazard_at`; not from
/// `fwd_hazard_find`.
static inline __attribute__((always_inline)) fwd_entering fwd_enter_by(fwd_closure_slot *slot, fwd_hazard *hazard) {
  fwd_guard guard = {.hazard = hazard, .domain = &slot->domain};
  fwd_hazard_announce(&guard);
  return fwd_find_closure(slot, guard);
}

/// Finds the closure of a slot, and keeps it until `fwd_leave`.
static inline fwd_entering fwd_enter(fwd_closure_slot *slot) {
  fwd_hazard *hazard = fwd_hazard_at(0);
  if (FWD_RARELY(!hazard)) hazard = fwd_hazard_find(&slot->domain);
  return fwd_find_closure(slot, fwd_hazard_enter_by(&slot->domain, hazard));
}

static inline void fwd_leave(fwd_entering entering) { fwd_hazard_leave(entering.guard); }

/// Returns the number of calls that there have been through function pointers whose closure had been destroyed.
size_t fwd_closure_stale_calls(void);

#endif
