// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Closures use a compiled entry (entries.h) while one is free, else a trampoline of libffi's.
///
/// The life of a closure: a call announces the entry's slot by a hazard pointer, then reads the closure out of it
/// (entering.h). `fwd_closure_destroy` empties the slot and retires the closure. So a closure may be destroyed inside its
/// own call, and `release(owner)` comes when the last call has left: on the destroying thread, or on the last call's.
///
/// `fwd_closure_bury` ends a closure in the same way, but puts a *tombstone* into the slot and does not give the entry back.
///
/// A caller that still has the pointer afterwards finds an empty slot and gets zeros, until the entry is used again.
/// Entries that are given back are taken last, so a stale call mostly does no harm. Callers must not rely on this: a
/// function pointer is valid until `fwd_closure_destroy`.

#include "call/closure.h"

#include <stdlib.h>

#include "abi/entries.h"
#include "abi/libffi/libffi.h"
#include "base/error.h"

struct fwd_closure {
  /// First: slots hold its address.
  fwd_target target;
  fwd_entry entry;
  void (*release)(void *owner);
  void *owner;
  fwd_retired retired;
  /// Whether the tombstone of a buried closure has the entry's layout.
  bool keeps_layout;
};

// MARK: Destruction

static void free_closure(fwd_retired *retired) {
  fwd_closure *closure = (fwd_closure *)((char *)retired - offsetof(fwd_closure, retired));
  if (closure->entry.layout) {
    fwd_entry_give_back(closure->entry);
  } else {
    fwd_ffi_entry_give_back(closure->entry);
  }
  if (closure->release) closure->release(closure->owner);
  free(closure);
}

static void free_buried_closure(fwd_retired *retired) {
  fwd_closure *closure = (fwd_closure *)((char *)retired - offsetof(fwd_closure, retired));
  if (!closure->keeps_layout) free(closure->entry.layout);
  if (closure->release) closure->release(closure->owner);
  free(closure);
}

void fwd_closure_bury(fwd_closure *closure, fwd_target *tombstone) {
  fwd_closure_slot *slot = closure->entry.slot;
  tombstone->layout = closure->target.layout;
  tombstone->slot = slot;
  if (closure->entry.layout) {
    const struct fwd_entry_layout *shared = fwd_entry_layout_of_result(closure->entry.layout);
    if (shared) tombstone->layout = shared;
    closure->keeps_layout = !shared;
  }
  // Release: a call that reads the slot finds a complete tombstone.
  atomic_store(&slot->closure, tombstone);
  fwd_domain_end(&slot->domain, &closure->retired, free_buried_closure);
  fwd_retire_all(&slot->domain, &closure->retired);
}

void fwd_closure_destroy(fwd_closure *closure) {
  if (!closure) return;
  fwd_closure_slot *slot = closure->entry.slot;
  atomic_store(&slot->closure, NULL);
  fwd_domain_end(&slot->domain, &closure->retired, free_closure);
  fwd_retire_all(&slot->domain, &closure->retired);
}

// MARK: Creation

/// Takes a compiled entry. False if there is none for the signature, or none is free.
static bool take_compiled(const fwd_cif *cif, size_t dropped, fwd_entry *entry) {
  if (!fwd_cif_placement(cif) || atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed)) return false;
  return fwd_entry_take(fwd_cif_placement(cif), dropped, entry);
}

fwd_status fwd_cif_closure_create(const fwd_cif *cif, fwd_closure_handler handler, void *context,
                                  void (*release)(void *owner), void *owner, fwd_closure **closure,
                                  fwd_error *error) {
  return fwd_cif_closure_create_dropping(cif, FWD_NO_ARGUMENT, handler, context, release, owner, closure, error);
}

fwd_status fwd_cif_closure_create_dropping(const fwd_cif *cif, size_t dropped, fwd_closure_handler handler,
                                           void *context, void (*release)(void *owner), void *owner,
                                           fwd_closure **closure, fwd_error *error) {
  if (fwd_cif_is_variadic(cif)) {
    return fwd_fail(error, FWD_UNSUPPORTED, 0,
                    "expected a function pointer without \"...\": it could not know which arguments a caller passes");
  }
  fwd_closure *made = malloc(sizeof *made);
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a closure");
  fwd_entry entry;
  if (!take_compiled(cif, dropped, &entry)) {
    const fwd_ffi_interface *ffi;
    fwd_status status = fwd_cif_ffi(cif, &ffi, error);
    if (status == FWD_OK) status = fwd_ffi_entry_take(ffi, dropped, &entry, error);
    if (status != FWD_OK) {
      free(made);
      return status;
    }
  }
  *made = (fwd_closure){
      .target = {handler, context, entry.layout, entry.slot},
      .entry = entry,
      .release = release,
      .owner = owner,
  };
  // Release: a call that reads the slot finds a complete closure.
  atomic_store_explicit(&entry.slot->closure, made, memory_order_release);
  *closure = made;
  return FWD_OK;
}

bool fwd_closure_has_words(const fwd_closure *closure, size_t count) {
  return closure->entry.layout && fwd_entry_layout_has_words(closure->entry.layout, count);
}

void (*fwd_closure_function(const fwd_closure *closure))(void) { return closure ? closure->entry.function : NULL; }
