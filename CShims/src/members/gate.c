// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Blocking and unblocking subscriptions, and limits of deliveries.

#include "members/gate.h"

#include <stdlib.h>

#include "members/subscriber_list.h"

_Static_assert(_Alignof(fwd_gate) > FWD_HELD_BITS, "the low bits of its address are the kind");

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

void fwd_gate_leave(fwd_gate *gate, const fwd_subscriber_list *list, fwd_garbage *garbage) {
  fwd_leave_behind(garbage, &gate->retired, list, free_gate);
}

bool fwd_record_is_blocked(const fwd_record *record) {
  return fwd_held_is_blocked(fwd_record_held(record));
}

bool fwd_list_block(fwd_subscriber_list *list, fwd_record *record) {
  uintptr_t held = fwd_record_held(record);
  fwd_gate *gate = fwd_held_is_gated(held) ? fwd_gate_of(held) : fwd_gate_create(held, 0);
  if (!gate) return false;
  // Release: who finds the subscription blocked finds what was done before.
  size_t blocks = atomic_fetch_add_explicit(&gate->blocks, 1, memory_order_release);
  // Release: who finds the gate finds what is in it.
  atomic_store_explicit(&record->held, fwd_held_through(gate), memory_order_release);
  if (blocks == 0) fwd_list_drop_responder(list, record->table);
  return true;
}

bool fwd_list_unblock(fwd_subscriber_list *list, fwd_record *record, fwd_garbage *garbage) {
  uintptr_t held = fwd_record_held(record);
  if (!fwd_held_is_blocked(held)) return false;
  fwd_gate *gate = fwd_gate_of(held);
  if (atomic_fetch_sub_explicit(&gate->blocks, 1, memory_order_release) > 1) return true;
  fwd_list_add_responder(list, record->table);
  if (gate->is_limited) return true;
  // Deliveries cost again what they do without a gate.
  atomic_store_explicit(&record->held, gate->held, memory_order_release);
  fwd_gate_leave(gate, list, garbage);
  return true;
}
