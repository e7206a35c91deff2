// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// One delivery, of any kind: the call of one record's implementation with pointers to its arguments.

#ifndef FWD_SRC_DELIVERY_H
#define FWD_SRC_DELIVERY_H

#include <string.h>

#include "fan_out/emission.h"

/// Zeroes the room for a result. There is room for whole units of it, so small results need no loop.
static inline void fwd_clear_room(const fwd_compiled_method *method, void *room) {
  size_t size = method->result.size;
  if (size == 0) return;
  if (size <= sizeof(fwd_aligned_bytes)) {
    memset(room, 0, sizeof(fwd_aligned_bytes));
  } else {
    memset(room, 0, size);
  }
}

/// Fills `state->arguments` from the delivery's pointers. Closures take the pointers themselves, so the fan-out leaves this to the
/// first delivery that is no closure.
void fwd_find_arguments_late(const fwd_emission *state);

/// Completes `state->arguments`, which the emission has, for a call of a record's function.
static inline void fwd_complete_arguments(const fwd_emission *state, const fwd_record *record) {
  if (state->method->argument_count > 0 && !state->arguments[0]) fwd_find_arguments_late(state);
  if (state->method->hidden_count > 0) state->arguments[0] = (void *)(uintptr_t)&record->receiver;
}

/// Delivers to the subscriber of a record if it is there and implements the method, and applies the method's policy to the
/// result. Returns whether to go on.
bool fwd_deliver_to(fwd_emission *state, fwd_at_hand *at_hand, const fwd_record *record);

#endif
