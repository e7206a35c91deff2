// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Closures: C function pointers made at run time, entered through libffi's trampolines.
///
/// The life of a closure. `state` holds two flags and the number of calls inside:
///
///   live        calls run the handler.
///   DEAD        destroyed: calls that came before it run on, later ones return zeroes.
///   FINISHED    the last of the calls before it has left: `release(owner)` has been or is being called by
///               the one thread that set the flag. Then the closure stands in the quarantine. A handler that
///               never returns (longjmp, the end of its thread) keeps a closure from getting here.
///   freed       as soon as `quarantine_slots` others have come after it, and nobody is inside.
///
/// Why a quarantine: libffi hands a freed trampoline's address out again at once. A caller that still has the
/// old pointer, or a thread that is between the trampoline's first instruction and the increment of the count
/// when the closure dies (which no count can see), would run somebody else's handler. In the quarantine the
/// trampoline still leads to this closure, whose DEAD flag makes the call return zeroes. That is a bound
/// on what a caller's mistake can do, not a promise: a pointer may be called until fwd_closure_destroy.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lowering.h"

struct fwd_closure {
  /// What ffi_closure_alloc gave: where the trampoline is written, and where it is executed.
  ffi_closure *trampoline;
  void *code;
  /// Retained: libffi reads it at each entry, in the quarantine too.
  const fwd_cif *cif;
  fwd_closure_handler handler;
  void *context;
  void (*release)(void *owner);
  void *owner;
  atomic_size_t state;
};

enum { dead_flag = 1, finished_flag = 2, one_call = 4 };

// MARK: The quarantine

enum { quarantine_slots = 256 };
static pthread_mutex_t quarantine_lock = PTHREAD_MUTEX_INITIALIZER;
// A ring: `quarantine_next` is the oldest. Being static it also keeps leak checkers content.
static fwd_closure *quarantine[quarantine_slots];
static size_t quarantine_next;

static atomic_size_t stale_calls;

size_t fwd_closure_stale_calls(void) { return atomic_load_explicit(&stale_calls, memory_order_relaxed); }

static void free_closure(fwd_closure *closure) {
  ffi_closure_free(closure->trampoline);
  fwd_cif_destroy((fwd_cif *)(uintptr_t)closure->cif);
  free(closure);
}

static void enter_quarantine(fwd_closure *closure) {
  fwd_closure *evicted;
  pthread_mutex_lock(&quarantine_lock);
  // A stale call may be inside the oldest at this moment: it then goes round once more, in place of the next
  // one. Acquire, so that what a stale call did there comes before the memory is freed.
  size_t tries = 0;
  do {
    evicted = quarantine[quarantine_next];
    if (!evicted || atomic_load_explicit(&evicted->state, memory_order_acquire) < one_call) {
      quarantine[quarantine_next] = closure;
      closure = NULL;
    } else {
      evicted = NULL;
    }
    quarantine_next = (quarantine_next + 1) % quarantine_slots;
  } while (closure && ++tries < quarantine_slots);
  pthread_mutex_unlock(&quarantine_lock);
  // With a stale call inside each of the others, `closure` itself finds no place and is never freed.
  if (evicted) free_closure(evicted);
}

// MARK: Entry

static void leave(fwd_closure *closure) {
  // One step counts down and marks the end: after it, a call that is not the last must not touch the closure,
  // since others could free it. Release: what the call did comes before the owner's release and before the
  // memory is freed. Acquire: by whoever does either.
  size_t before = atomic_load_explicit(&closure->state, memory_order_relaxed), after;
  do {
    after = before - one_call;
    if (after == dead_flag) after |= finished_flag;
  } while (!atomic_compare_exchange_weak_explicit(&closure->state, &before, after, memory_order_acq_rel,
                                                  memory_order_relaxed));
  if (after != (dead_flag | finished_flag) || (before & finished_flag)) return;
  if (closure->release) closure->release(closure->owner);
  enter_quarantine(closure);
}

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

static void run(const fwd_closure *closure, void *returned, void *const *pieces) {
  const fwd_cif *cif = closure->cif;
  // One more than needed: an array of no elements is undefined. The spare stands for arguments of size 0.
  void *arguments[cif->argument_count + 1];
  scattered_argument scattered[cif->scattered_count + 1], *next = scattered + 1;
  for (uint32_t i = 0; i < cif->argument_count; i++) {
    fwd_argument_pieces argument = cif->arguments[i];
    if (argument.count == 0) {
      arguments[i] = scattered[0].bytes;
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
  fwd_closure *closure = user_data;
  // Acquire: nothing of the call is moved in front of the count.
  size_t before = atomic_fetch_add_explicit(&closure->state, one_call, memory_order_acquire);
  if (before & dead_flag) {
    atomic_fetch_add_explicit(&stale_calls, 1, memory_order_relaxed);
    result_buffer buffer;
    place_result(closure->cif, returned, result_destination(closure->cif, returned, pieces, &buffer));
  } else {
    run(closure, returned, pieces);
  }
  leave(closure);
}

// MARK: Creation and destruction

fwd_status fwd_cif_closure_create(const fwd_cif *cif, fwd_closure_handler handler, void *context,
                                  void (*release)(void *owner), void *owner, fwd_closure **closure,
                                  fwd_error *error) {
  fwd_closure *made = malloc(sizeof *made);
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a closure");
  void *code = NULL;
  ffi_closure *trampoline = ffi_closure_alloc(sizeof *trampoline, &code);
  if (!trampoline) {
    free(made);
    return fwd_fail(error, FWD_NO_EXECUTABLE_MEMORY, 0,
                    "no executable memory for a function pointer: libffi needs memory that is writable and "
                    "executable, which this system refuses, or memory is short");
  }
  *made = (fwd_closure){
      .trampoline = trampoline,
      .code = code,
      .cif = fwd_cif_retain(cif),
      .handler = handler,
      .context = context,
      .release = release,
      .owner = owner,
  };
  atomic_init(&made->state, 0);
  ffi_status status = ffi_prep_closure_loc(trampoline, (ffi_cif *)(uintptr_t)&cif->ffi, enter, made, code);
  if (status != FFI_OK) {
    free_closure(made);
    return fwd_fail(error, FWD_UNSUPPORTED, 0, "libffi makes no closure of this signature (its status %d)",
                    (int)status);
  }
  *closure = made;
  return FWD_OK;
}

void (*fwd_closure_function(const fwd_closure *closure))(void) {
  // ISO C converts no object pointer to a function pointer; POSIX does.
  void (*function)(void);
  memcpy(&function, &closure->code, sizeof function);
  return function;
}

void fwd_closure_destroy(fwd_closure *closure) {
  if (!closure) return;
  // Counts as a call, so that it is the last one out if nobody else is inside. Relaxed: the caller's own
  // reference keeps the closure, and `leave` orders what follows.
  atomic_fetch_add_explicit(&closure->state, one_call, memory_order_relaxed);
  atomic_fetch_or_explicit(&closure->state, dead_flag, memory_order_relaxed);
  leave(closure);
}
