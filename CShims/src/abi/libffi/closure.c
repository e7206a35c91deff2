// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Closures by libffi's trampolines: for signatures and platforms without compiled entries, and when all of those are
/// taken.
///
/// libffi uses a freed trampoline's address again at once. A caller that still has the old pointer would then run another
/// closure's handler. So an entry that is given back first waits in a quarantine, where its trampoline leads to an empty
/// slot, until `quarantine_slots` others have come after it.

#include <stdlib.h>
#include <string.h>

#include "abi/libffi/pieces.h"
#include "base/error.h"
#include "base/small_code.h"
#include "base/word.h"

/// Used again and never freed: a stale call that has left the slot still looks at its domain.
typedef struct ffi_entry {
  /// First, so that its address is the entry's.
  fwd_closure_slot slot;
  /// The next one that has no trampoline.
  struct ffi_entry *next_spare;
  /// Whether there was a trampoline that led here.
  bool was_used;
  /// What ffi_closure_alloc gave: where the trampoline is written; it is executed elsewhere.
  ffi_closure *trampoline;
  /// Retained: libffi reads it at each entry, in the quarantine too.
  const fwd_ffi_interface *interface;
  /// The argument that the handler does not get, or FWD_NO_ARGUMENT.
  size_t dropped;
} ffi_entry;

// MARK: Trampolines

FWD_SMALL_CODE_BEGIN

/// libffi has a mutex of its own for these, which a child of fork(2) finds locked for good if another thread held it. A
/// fork waits until nobody holds this lock.
static fwd_lock trampoline_lock = FWD_LOCK_INITIALIZER;

static ffi_closure *take_trampoline(void **code) {
  fwd_lock_lock(&trampoline_lock);
  ffi_closure *trampoline = ffi_closure_alloc(sizeof *trampoline, code);
  fwd_lock_unlock(&trampoline_lock);
  return trampoline;
}

static void give_back_trampoline(ffi_closure *trampoline) {
  fwd_lock_lock(&trampoline_lock);
  ffi_closure_free(trampoline);
  fwd_lock_unlock(&trampoline_lock);
}

// MARK: The quarantine

enum { quarantine_slots = 256 };
static fwd_lock quarantine_lock = FWD_LOCK_INITIALIZER;
// A ring: `quarantine_next` is the oldest. Being static it also keeps leak checkers content.
static ffi_entry *quarantine[quarantine_slots];
static size_t quarantine_next;
/// Entries without a trampoline, under the same lock.
static ffi_entry *spare;

static ffi_entry *take_spare(void) {
  fwd_lock_lock(&quarantine_lock);
  ffi_entry *entry = spare;
  if (entry) spare = entry->next_spare;
  fwd_lock_unlock(&quarantine_lock);
  return entry ? entry : calloc(1, sizeof *entry);
}

/// Takes back an entry without a trampoline.
static void put_spare(ffi_entry *entry) {
  if (!entry->was_used) {
    free(entry);
    return;
  }
  fwd_lock_lock(&quarantine_lock);
  entry->next_spare = spare;
  spare = entry;
  fwd_lock_unlock(&quarantine_lock);
}

static void free_entry(ffi_entry *entry) {
  give_back_trampoline(entry->trampoline);
  fwd_ffi_interface_release((fwd_ffi_interface *)(uintptr_t)entry->interface);
  put_spare(entry);
}

void fwd_ffi_entry_give_back(fwd_entry entry) {
  ffi_entry *entering = (ffi_entry *)entry.slot;
  ffi_entry *evicted = NULL;
  fwd_lock_lock(&quarantine_lock);
  // If a stale call is inside the oldest at this moment, that one stays, and the next is looked at.
  for (size_t tries = 0; entering && tries < quarantine_slots; tries++) {
    ffi_entry **oldest = &quarantine[quarantine_next];
    if (!*oldest || !fwd_domain_is_read(&(*oldest)->slot.domain)) {
      evicted = *oldest;
      *oldest = entering;
      entering = NULL;
    }
    quarantine_next = (quarantine_next + 1) % quarantine_slots;
  }
  fwd_lock_unlock(&quarantine_lock);
  // With a stale call inside each of the others, the new one finds no room and is never freed.
  if (evicted) free_entry(evicted);
}

FWD_SMALL_CODE_END

// MARK: Entry

// Storage for results that are not in the caller's memory.
typedef union result_buffer {
  unsigned char bytes[FWD_FFI_REGISTER_BYTES];
  max_align_t alignment;
} result_buffer;

/// Returns the zeroed memory to which the handler writes.
static void *result_destination(const fwd_ffi_interface *interface, void *returned, void *const *pieces,
                                result_buffer *buffer) {
  void *destination = buffer;
  if (interface->result == FWD_FFI_MEMORY) memcpy(&destination, pieces[0], sizeof destination);
  if (interface->result == FWD_FFI_AS_TYPED) destination = returned;
  memset(destination, 0, destination == buffer ? sizeof *buffer : interface->result_size);
  return destination;
}

/// Stores the result where libffi loads the registers from.
static void place_result(const fwd_ffi_interface *interface, void *returned, void *destination) {
  switch (interface->result) {
    case FWD_FFI_WORD:
      // Callers may rely on a small integer filling its register.
      *(ffi_arg *)returned = (ffi_arg)fwd_extend(destination, interface->result_size, interface->result_is_signed);
      break;
    case FWD_FFI_REGISTERS:
      // Whole eightbytes; what the handler did not write is zero.
      memcpy(returned, destination, (interface->result_size + 7) & ~(size_t)7);
      break;
    case FWD_FFI_MEMORY:
      // The psABI: the callee returns in rax the address that it was given.
      memcpy(returned, &destination, sizeof destination);
      break;
    case FWD_FFI_NOTHING:
    case FWD_FFI_AS_TYPED:
      break;
  }
}

typedef struct scattered_argument {
  _Alignas(16) unsigned char bytes[FWD_FFI_SCATTERED_BYTES];
} scattered_argument;

static void run(const fwd_target *target, const ffi_entry *entry, void *returned, void *const *pieces) {
  const fwd_ffi_interface *interface = entry->interface;
  // One more than needed: an array of no elements is undefined. The spare stands for arguments of size 0.
  void *arguments[interface->argument_count + 1];
  scattered_argument scattered[interface->scattered_count + 1], *next = scattered + 1;
  void **slot = arguments;
  for (uint32_t i = 0; i < interface->argument_count; i++) {
    if (i == entry->dropped) continue;
    fwd_argument_pieces argument = interface->arguments[i];
    if (argument.count == 0) {
      *slot++ = scattered[0].bytes;
    } else if (interface->pieces[argument.first].source == FWD_PIECE_REFERENCE) {
      memcpy(slot++, pieces[argument.first], sizeof *slot);
    } else if (!argument.scattered) {
      // A word's first bytes are the value's, and libffi aligns words to 8 and blocks as their types say.
      *slot++ = pieces[argument.first];
    } else {
      memset(next, 0, sizeof *next);
      for (uint32_t p = argument.first; p < (uint32_t)argument.first + argument.count; p++)
        memcpy(next->bytes + interface->pieces[p].offset, pieces[p], interface->pieces[p].size);
      *slot++ = next++->bytes;
    }
  }
  result_buffer buffer;
  void *destination = result_destination(interface, returned, pieces, &buffer);
  target->handler(target->context, arguments, destination);
  place_result(interface, returned, destination);
}

static void enter(ffi_cif *ffi, void *returned, void **pieces, void *user_data) {
  (void)ffi;
  ffi_entry *entry = user_data;
  fwd_entering entering = fwd_enter(&entry->slot);
  if (entering.target) {
    run(entering.target, entry, returned, pieces);
  } else {
    result_buffer buffer;
    place_result(entry->interface, returned, result_destination(entry->interface, returned, pieces, &buffer));
  }
  fwd_leave(entering);
}

// MARK: Creation

FWD_SMALL_CODE_BEGIN

fwd_status fwd_ffi_entry_take(const fwd_ffi_interface *interface, size_t dropped, fwd_entry *entry, fwd_error *error) {
  ffi_entry *made = take_spare();
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a closure");
  void *code = NULL;
  made->trampoline = take_trampoline(&code);
  if (!made->trampoline) {
    put_spare(made);
    return fwd_fail(error, FWD_NO_EXECUTABLE_MEMORY, 0,
                    "no executable memory for a function pointer: libffi needs memory that is writable and "
                    "executable, which this system refuses, or memory is short");
  }
  // Immutable but for its reference count. A new reference is made from an existing one: there is nothing to order.
  made->interface = interface;
  made->dropped = dropped;
  atomic_fetch_add_explicit(&((fwd_ffi_interface *)(uintptr_t)interface)->references, 1, memory_order_relaxed);
  ffi_status status =
      ffi_prep_closure_loc(made->trampoline, (ffi_cif *)(uintptr_t)&interface->ffi, enter, made, code);
  if (status != FFI_OK) {
    free_entry(made);
    return fwd_fail(error, FWD_UNSUPPORTED, 0, "libffi makes no closure of this signature (its status %d)",
                    (int)status);
  }
  made->was_used = true;
  *entry = (fwd_entry){.slot = &made->slot};
  // ISO C converts no object pointer to a function pointer; POSIX does.
  memcpy(&entry->function, &code, sizeof code);
  return FWD_OK;
}

FWD_SMALL_CODE_END
