// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "members/gate.h"

#include <stdlib.h>

_Static_assert(_Alignof(fwd_gate) > FWD_HELD_BITS, "the low bits of a gate's address are free");

fwd_gate *fwd_gate_create(uintptr_t held, size_t limit) {
  fwd_gate *gate = malloc(sizeof *gate);
  if (!gate) return NULL;
  gate->held = held;
  gate->is_limited = limit > 0;
  atomic_init(&gate->blocks, 0);
  atomic_init(&gate->remaining, limit);
  return gate;
}

static void free_gate(fwd_retired *retired) {
  free((char *)retired - offsetof(fwd_gate, retired));
}

void fwd_gate_leave(fwd_gate *gate, const void *list, fwd_garbage *garbage) {
  fwd_leave_behind(garbage, &gate->retired, list, free_gate);
}
