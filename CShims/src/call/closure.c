// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Closures: C function pointers made at run time. A closure is entered through a function of the pool
/// (entry_pool.h) while there are free ones, else through a trampoline of libffi's (closure_ffi.c).
///
/// The life of a closure. A call announces the slot that it enters by (hazard.h), then reads the closure out of
/// it. To destroy a closure is to empty its slot and to retire it. So a closure may be destroyed inside its own
/// call, and `release(owner)` comes neither before the last call has left nor any later: on the destroyer's
/// thread, or on that of the last call.
///
/// A caller that still has the pointer afterwards finds an empty slot and gets zeroes, for as long as the
/// entry is not used again: entries that are given back are taken last. That is a bound on what a caller's
/// mistake can do, not a promise: a pointer may be called until fwd_closure_destroy.

#include "call/closure.h"

#include <stdlib.h>
#include <string.h>

#include "abi/entry_layout.h"
#include "base/error.h"
#include "abi/lowering.h"

// MARK: Destruction

static atomic_size_t stale_calls;

size_t fwd_closure_stale_calls(void) { return atomic_load_explicit(&stale_calls, memory_order_relaxed); }

void fwd_closure_note_stale(void) { atomic_fetch_add_explicit(&stale_calls, 1, memory_order_relaxed); }

static void free_closure(fwd_retired *retired) {
  fwd_closure *closure = (fwd_closure *)((char *)retired - offsetof(fwd_closure, retired));
#if FWD_HAS_ENTRY_POOL
  if (closure->layout) {
    fwd_entry_give_back((fwd_entry_slot *)closure->entry.slot);
  } else
#endif
  {
    fwd_ffi_entry_give_back(closure->entry);
  }
  if (closure->release) closure->release(closure->owner);
  fwd_entry_layout_destroy(closure->layout);
  fwd_cif_destroy((fwd_cif *)(uintptr_t)closure->cif);
  free(closure);
}

void fwd_closure_destroy(fwd_closure *closure) {
  if (!closure) return;
  atomic_store(closure->entry.slot, NULL);
  closure->retired = (fwd_retired){.announced = closure->entry.slot, .free = free_closure};
  fwd_retire(&closure->retired);
}

// MARK: Creation

/// Takes an entry of the pool. False if there is none for the signature, or none is free.
static bool take_pooled(fwd_closure *closure) {
#if FWD_HAS_ENTRY_POOL
  const fwd_call_plan *plan = fwd_cif_plan(closure->cif);
  if (!plan || atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed)) return false;
  closure->layout = fwd_entry_layout_create(closure->cif);
  if (!closure->layout) return false;
  bool is_quick = fwd_entry_layout_is_quick(closure->layout);
  fwd_entry_slot *slot = fwd_entry_take((fwd_plan_result)plan->result, is_quick);
  if (slot) {
    uint32_t memory_size = plan->result == FWD_PLAN_MEMORY ? plan->result_size : 0;
    atomic_store_explicit(&slot->memory_size, memory_size, memory_order_relaxed);
    closure->entry = (fwd_entry){&slot->closure, fwd_entry_function(slot)};
    return true;
  }
  fwd_entry_layout_destroy(closure->layout);
  closure->layout = NULL;
#else
  (void)closure;
#endif
  return false;
}

fwd_status fwd_cif_closure_create(const fwd_cif *cif, fwd_closure_handler handler, void *context,
                                  void (*release)(void *owner), void *owner, fwd_closure **closure,
                                  fwd_error *error) {
  fwd_closure *made = malloc(sizeof *made);
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a closure");
  *made = (fwd_closure){
      .cif = fwd_cif_retain(cif),
      .handler = handler,
      .context = context,
      .release = release,
      .owner = owner,
  };
  if (!take_pooled(made)) {
    fwd_status status = fwd_ffi_entry_take(cif, &made->entry, error);
    if (status != FWD_OK) {
      fwd_cif_destroy((fwd_cif *)(uintptr_t)made->cif);
      free(made);
      return status;
    }
  }
  // Release: whoever enters by the slot finds a complete closure.
  atomic_store_explicit(made->entry.slot, made, memory_order_release);
  *closure = made;
  return FWD_OK;
}

void (*fwd_closure_function(const fwd_closure *closure))(void) { return closure ? closure->entry.function : NULL; }
