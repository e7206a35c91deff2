// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a quick entry does, repeated in each of them: from the caller's call to the handler's is one call, and not
/// two. Whatever is not as usual is left to `fwd_entry_enter`.

#ifndef FWD_SRC_ENTRY_QUICK_H
#define FWD_SRC_ENTRY_QUICK_H

#include <string.h>

#include "closure.h"
#include "lowering.h"

#if FWD_HAS_ENTRY_POOL

/// Fills the array that a handler gets. Without a loop: what is beyond the arguments nobody looks at.
static inline void fwd_quick_find_arguments(const fwd_entry_quick *quick, fwd_entry_state *state,
                                            void *arguments[FWD_QUICK_ARGUMENTS]) {
  for (size_t i = 0; i < FWD_QUICK_ARGUMENTS; i++) arguments[i] = (unsigned char *)state + quick->offsets[i];
}

/// Zeroes the memory for a result. What comes back in memory mostly has little more than two eightbytes.
static inline void fwd_quick_zero(void *memory, size_t size) {
  if (size >= 16 && size <= 32) {
    memset(memory, 0, 16);
    memset((char *)memory + size - 16, 0, 16);
  } else {
    memset(memory, 0, size);
  }
}

/// Runs the handler, and puts the result into `state->returned`. In memory means where the first integer register
/// points to.
static inline __attribute__((always_inline)) void fwd_quick_enter(fwd_entry_slot *slot, fwd_entry_state *state,
                                                                  bool in_memory) {
  fwd_guard guard = fwd_hazard_enter_quickly(&slot->closure);
  const fwd_closure *closure = guard.place ? atomic_load_explicit(&slot->closure, memory_order_acquire) : NULL;
  if (!closure) {
    // Announces the use once more, since the closure may have been there, and have gone.
    if (guard.place) atomic_store_explicit(guard.place, NULL, memory_order_release);
    fwd_entry_enter(slot, state);
    return;
  }
  const fwd_entry_quick *quick = &closure->quick;
  void *arguments[FWD_QUICK_ARGUMENTS];
  fwd_quick_find_arguments(quick, state, arguments);
  memset(state->returned.bytes, 0, 16);
  void *result = state->returned.bytes;
  if (in_memory) {
    result = (void *)(uintptr_t)state->integers[0];
    fwd_quick_zero(result, quick->result_size);
  }
  closure->handler(closure->context, arguments, result);
  // The psABI: the callee gives the address that it was given back in rax.
  if (in_memory) state->returned.integers[0] = state->integers[0];
  fwd_hazard_leave_quickly(guard);
}

#endif

#endif
