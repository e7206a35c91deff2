// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Closures: C function pointers made at run time. A closure is entered through a function of the pool
/// (entry_pool.h) while there are free ones, else through a trampoline of libffi's (closure_ffi.c).
///
/// The life of a closure. A call announces the slot that it enters by, then reads the closure out of it, and
/// takes the announcement back when it leaves (hazard.h). To destroy a closure is to empty its slot and to put
/// it on the list of the retired, from which it is taken as soon as no call announces its slot: by the destroyer
/// if there is none, else by the last of the calls that were running, which see when they leave that something
/// was retired in the meantime. So a closure may be destroyed inside its own call, `release(owner)` comes
/// neither before the last call has left nor any later, and a call costs no locked instruction.
///
/// A caller that still has the pointer afterwards finds an empty slot and gets zeroes, for as long as the
/// entry is not used again: entries that are given back are taken last. That is a bound on what a caller's
/// mistake can do, not a promise: a pointer may be called until fwd_closure_destroy.

#include "closure.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "entry_layout.h"
#include "error.h"
#include "lowering.h"

// MARK: Retiring

static pthread_mutex_t retired_lock = PTHREAD_MUTEX_INITIALIZER;
static fwd_closure *retired;
atomic_size_t fwd_closure_generation;
/// Calls that found no place for their announcement; as long as there are any nothing is freed.
static atomic_size_t unannounced;
static atomic_size_t stale_calls;

size_t fwd_closure_stale_calls(void) { return atomic_load_explicit(&stale_calls, memory_order_relaxed); }

static void free_closure(fwd_closure *closure) {
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

void fwd_closure_reclaim(void) {
  fwd_closure *unused = NULL;
  pthread_mutex_lock(&retired_lock);
  fwd_hazard_barrier();
  if (atomic_load(&unannounced) == 0) {
    for (fwd_closure **link = &retired; *link;) {
      fwd_closure *closure = *link;
      if (fwd_hazard_is_used(closure->entry.slot)) {
        link = &closure->next_retired;
      } else {
        *link = closure->next_retired;
        closure->next_retired = unused;
        unused = closure;
      }
    }
  }
  pthread_mutex_unlock(&retired_lock);
  // Outside the lock: releasing an owner runs foreign code.
  while (unused) {
    fwd_closure *next = unused->next_retired;
    free_closure(unused);
    unused = next;
  }
}

void fwd_closure_destroy(fwd_closure *closure) {
  if (!closure) return;
  atomic_store(closure->entry.slot, NULL);
  pthread_mutex_lock(&retired_lock);
  closure->next_retired = retired;
  retired = closure;
  pthread_mutex_unlock(&retired_lock);
  atomic_fetch_add(&fwd_closure_generation, 1);
  fwd_closure_reclaim();
}

// MARK: Entering

void fwd_closure_enter_unannounced(void) { atomic_fetch_add(&unannounced, 1); }

void fwd_closure_leave_unannounced(void) { atomic_fetch_sub(&unannounced, 1); }

void fwd_closure_note_stale(void) { atomic_fetch_add_explicit(&stale_calls, 1, memory_order_relaxed); }

// MARK: Creation

/// Takes an entry of the pool. False if there is none for the signature, or none is free.
static bool take_pooled(fwd_closure *closure) {
#if FWD_HAS_ENTRY_POOL
  const fwd_call_plan *plan = fwd_cif_plan(closure->cif);
  if (!plan || atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed)) return false;
  closure->layout = fwd_entry_layout_create(closure->cif);
  if (!closure->layout) return false;
  fwd_entry_slot *slot = fwd_entry_take((fwd_plan_result)plan->result);
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
