// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Entries through libffi's trampolines, for signatures and platforms without a pool, and when the pool is
/// empty.
///
/// libffi hands a freed trampoline's address out again at once. A caller that still has the old pointer would
/// then run somebody else's handler. So an entry that is given back first stands in a quarantine, where its
/// trampoline leads to an empty slot, until `quarantine_slots` others have come after it.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "call/closure.h"
#include "base/error.h"
#include "abi/lowering.h"

typedef struct ffi_entry {
  /// First, so that its address is the entry's.
  _Atomic(void *) slot;
  /// What ffi_closure_alloc gave: where the trampoline is written; it is executed elsewhere.
  ffi_closure *trampoline;
  /// Retained: libffi reads it at each entry, in the quarantine too.
  const fwd_cif *cif;
} ffi_entry;

// MARK: The quarantine

enum { quarantine_slots = 256 };
static pthread_mutex_t quarantine_lock = PTHREAD_MUTEX_INITIALIZER;
// A ring: `quarantine_next` is the oldest. Being static it also keeps leak checkers content.
static ffi_entry *quarantine[quarantine_slots];
static size_t quarantine_next;

static void free_entry(ffi_entry *entry) {
  ffi_closure_free(entry->trampoline);
  fwd_cif_destroy((fwd_cif *)(uintptr_t)entry->cif);
  free(entry);
}

void fwd_ffi_entry_give_back(fwd_entry entry) {
  ffi_entry *entering = (ffi_entry *)entry.slot;
  ffi_entry *evicted = NULL;
  pthread_mutex_lock(&quarantine_lock);
  // A stale call may be inside the oldest at this moment: it then goes round once more, in place of the next.
  for (size_t tries = 0; entering && tries < quarantine_slots; tries++) {
    ffi_entry **oldest = &quarantine[quarantine_next];
    if (!*oldest || !fwd_hazard_may_be_used(&(*oldest)->slot)) {
      evicted = *oldest;
      *oldest = entering;
      entering = NULL;
    }
    quarantine_next = (quarantine_next + 1) % quarantine_slots;
  }
  pthread_mutex_unlock(&quarantine_lock);
  // With a stale call inside each of the others, this one finds no place and is never freed.
  if (evicted) free_entry(evicted);
}

// MARK: Entry

// Storage for results that do not come in memory of the caller's.
typedef union result_buffer {
  unsigned char bytes[FWD_RESULT_REGISTER_BYTES];
  max_align_t alignment;
} result_buffer;

/// Where the handler writes, zeroed.
static void *result_destination(const fwd_cif *cif, void *returned, void *const *pieces,
                                result_buffer *buffer) {
  void *destination = buffer;
  if (cif->result_place == FWD_RESULT_MEMORY) memcpy(&destination, pieces[0], sizeof destination);
  if (cif->result_place == FWD_RESULT_AS_TYPED) destination = returned;
  memset(destination, 0, destination == buffer ? sizeof *buffer : cif->result_size);
  return destination;
}

/// Puts the result where libffi loads the registers from.
static void place_result(const fwd_cif *cif, void *returned, void *destination) {
  switch (cif->result_place) {
    case FWD_RESULT_WORD:
      // Callers may rely on a small integer filling its register.
      *(ffi_arg *)returned = (ffi_arg)fwd_extend(destination, cif->result_size, cif->result_is_signed);
      break;
    case FWD_RESULT_REGISTERS:
      // Whole eightbytes; what the handler did not write is zero.
      memcpy(returned, destination, (cif->result_size + 7) & ~(size_t)7);
      break;
    case FWD_RESULT_MEMORY:
      // The psABI: the callee gives the address that it was given back in rax.
      memcpy(returned, &destination, sizeof destination);
      break;
    case FWD_RESULT_NONE:
    case FWD_RESULT_AS_TYPED:
      break;
  }
}

typedef struct scattered_argument {
  _Alignas(16) unsigned char bytes[FWD_SCATTERED_BYTES];
} scattered_argument;

static void run(const fwd_closure *closure, const fwd_cif *cif, void *returned, void *const *pieces) {
  // One more than needed: an array of no elements is undefined. The spare stands for arguments of size 0.
  void *arguments[cif->argument_count + 1];
  scattered_argument scattered[cif->scattered_count + 1], *next = scattered + 1;
  for (uint32_t i = 0; i < cif->argument_count; i++) {
    fwd_argument_pieces argument = cif->arguments[i];
    if (argument.count == 0) {
      arguments[i] = scattered[0].bytes;
    } else if (cif->pieces[argument.first].source == FWD_PIECE_REFERENCE) {
      memcpy(&arguments[i], pieces[argument.first], sizeof arguments[i]);
    } else if (!argument.scattered) {
      // A word's first bytes are the value's, and libffi aligns words to 8 and blocks as their types say.
      arguments[i] = pieces[argument.first];
    } else {
      memset(next, 0, sizeof *next);
      for (uint32_t p = argument.first; p < (uint32_t)argument.first + argument.count; p++)
        memcpy(next->bytes + cif->pieces[p].offset, pieces[p], cif->pieces[p].size);
      arguments[i] = next++->bytes;
    }
  }
  result_buffer buffer;
  void *destination = result_destination(cif, returned, pieces, &buffer);
  closure->handler(closure->context, arguments, destination);
  place_result(cif, returned, destination);
}

static void enter(ffi_cif *ffi, void *returned, void **pieces, void *user_data) {
  (void)ffi;
  ffi_entry *entry = user_data;
  fwd_entering entering = fwd_closure_enter(&entry->slot);
  if (entering.closure) {
    run(entering.closure, entry->cif, returned, pieces);
  } else {
    result_buffer buffer;
    place_result(entry->cif, returned, result_destination(entry->cif, returned, pieces, &buffer));
  }
  fwd_closure_leave(entering);
}

// MARK: Creation

fwd_status fwd_ffi_entry_take(const fwd_cif *cif, fwd_entry *entry, fwd_error *error) {
  ffi_entry *made = malloc(sizeof *made);
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a closure");
  void *code = NULL;
  made->trampoline = ffi_closure_alloc(sizeof *made->trampoline, &code);
  if (!made->trampoline) {
    free(made);
    return fwd_fail(error, FWD_NO_EXECUTABLE_MEMORY, 0,
                    "no executable memory for a function pointer: libffi needs memory that is writable and "
                    "executable, which this system refuses, or memory is short");
  }
  atomic_init(&made->slot, NULL);
  made->cif = fwd_cif_retain(cif);
  ffi_status status =
      ffi_prep_closure_loc(made->trampoline, (ffi_cif *)(uintptr_t)&cif->ffi, enter, made, code);
  if (status != FFI_OK) {
    free_entry(made);
    return fwd_fail(error, FWD_UNSUPPORTED, 0, "libffi makes no closure of this signature (its status %d)",
                    (int)status);
  }
  entry->slot = &made->slot;
  // ISO C converts no object pointer to a function pointer; POSIX does.
  memcpy(&entry->function, &code, sizeof code);
  return FWD_OK;
}
