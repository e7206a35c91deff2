// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What closure.c and the kinds of entries share.

#ifndef FWD_SRC_CLOSURE_H
#define FWD_SRC_CLOSURE_H

#include "call/call_interface.h"
#include "abi/entry_pool.h"
#include "reclaim/hazard.h"

/// The way into a closure: the code that callers call, and the slot in which that code finds the closure. An
/// entry outlives its closure, so that a stale pointer leads to an empty slot.
typedef struct fwd_entry {
  /// The closure, NULL once it has been destroyed. Who reads it has a hazard on the slot's address.
  _Atomic(void *) *slot;
  void (*function)(void);
} fwd_entry;

/// Gives back what `fwd_ffi_entry_take` took: it is used again only after many others, and not while a
/// call is in it.
void fwd_ffi_entry_give_back(fwd_entry entry);

/// Makes an entry through libffi.
fwd_status fwd_ffi_entry_take(const fwd_cif *cif, fwd_entry *entry, fwd_error *error);

/// Made by `fwd_cif_closure_create`; entries read it during a call.
struct fwd_closure {
  fwd_closure_handler handler;
  void *context;
  /// How the pool's entry finds the arguments; NULL for an entry of libffi's.
  struct fwd_entry_layout *layout;
  fwd_entry entry;
  const fwd_cif *cif;
  void (*release)(void *owner);
  void *owner;
  fwd_retired retired;
};

/// A call on its way through an entry.
typedef struct fwd_entering {
  const fwd_closure *closure;
  fwd_guard guard;
} fwd_entering;

/// Notes that a call found no closure.
void fwd_closure_note_stale(void);

/// Finds the closure of a slot, NULL if there is none any more, and keeps it until `fwd_closure_leave`.
static inline fwd_entering fwd_closure_enter(_Atomic(void *) *slot) {
  fwd_entering entering;
  entering.guard = fwd_hazard_enter(slot);
  entering.closure = atomic_load_explicit(slot, memory_order_acquire);
  if (FWD_RARELY(!entering.closure)) fwd_closure_note_stale();
  return entering;
}

static inline void fwd_closure_leave(fwd_entering entering) {
  fwd_hazard_leave(entering.guard, entering.closure != NULL);
}

#endif
