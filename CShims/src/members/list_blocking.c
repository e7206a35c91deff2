// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Blocking and unblocking subscriptions.

#include "fwd_list.h"
#include "members/subscriber_list.h"

bool fwd_list_block(fwd_subscriber_list *list, fwd_record *record) {
  uintptr_t held = fwd_record_held(record);
  fwd_gate *gate = fwd_held_is_gated(held) ? fwd_gate_of(held) : fwd_gate_create(held, 0);
  if (!gate) return false;
  // Release: a reader that finds the subscription blocked sees what this thread did before.
  size_t blocks = atomic_fetch_add_explicit(&gate->blocks, 1, memory_order_release);
  // Release: a reader that finds the gate sees its contents.
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
  // The gate is removed, so that deliveries take the fast path again.
  atomic_store_explicit(&record->held, gate->held, memory_order_release);
  fwd_gate_leave(gate, list, garbage);
  return true;
}
