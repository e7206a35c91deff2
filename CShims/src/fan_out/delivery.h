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

/// Fills `state->arguments` from the delivery's pointers.
void fwd_find_arguments_late(const fwd_emission *state);

/// Delivers to the subscriber of a record if it is there and implements the method, and applies the method's policy to the
/// result. Returns whether to go on.
bool fwd_deliver_to(fwd_emission *state, fwd_at_hand *at_hand, const fwd_record *record);

#endif
