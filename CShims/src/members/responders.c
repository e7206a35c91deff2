// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "members/responders.h"

#include <stdlib.h>

#include "fwd_list.h"
#include "members/garbage.h"

static void free_responders(fwd_retired *retired) {
  free((char *)retired - offsetof(fwd_responders, retired));
}

bool fwd_list_note_vain(fwd_subscriber_list *list, size_t asked, size_t delivered) {
  // Not one atomic step: what another thread adds at the same time may be lost, which only makes the responders later.
  size_t vain = atomic_load_explicit(&list->vain, memory_order_relaxed) + asked - delivered;
  bool is_enough = vain >= 16 * asked;
  atomic_store_explicit(&list->vain, is_enough ? 0 : vain, memory_order_relaxed);
  return is_enough;
}

static bool responds(const fwd_record *record, size_t method) {
  // In this order: the table of a subscription that has ended may be gone.
  return !fwd_record_has_ended(record) && !fwd_implementation_is_empty(fwd_record_implementation(record, method));
}

/// Calls `visit` with each record that implements the method.
#define FOR_EACH_RESPONDER(list, method, record)                                                                    \
  for (const fwd_chunk *chunk = (list)->first; chunk; chunk = chunk->next)                                          \
    for (size_t i = fwd_segment_first(chunk->segment), end = fwd_segment_end(chunk->segment); i < end; i++)         \
      if (responds(record = chunk->segment->records[i], method))

void fwd_list_find_responders(fwd_subscriber_list *list, size_t method, fwd_garbage *garbage) {
  // The writer's order is not the one that fan-outs read.
  if (list->draft || method >= list->method_count) return;
  _Atomic(fwd_responders *) *all = atomic_load_explicit(&list->responders, memory_order_relaxed);
  if (!all) {
    all = calloc(list->method_count, sizeof *all);
    if (!all) return;
    atomic_store_explicit(&list->responders, all, memory_order_release);
  }
  fwd_record *record;
  size_t count = 0;
  FOR_EACH_RESPONDER(list, method, record) count++;
  fwd_responders *made = malloc(sizeof *made + count * sizeof made->records[0]);
  // Fan-outs ask all records then, as before.
  if (!made) return;
  *made = (fwd_responders){
      .version = atomic_load_explicit(&list->version, memory_order_relaxed),
      .appended = atomic_load_explicit(&list->appended, memory_order_relaxed),
  };
  FOR_EACH_RESPONDER(list, method, record) {
    made->records[made->count++] = record;
    made->has_weak = made->has_weak || fwd_held_is_weak(fwd_held_behind_gate(fwd_record_word(record)));
  }
  fwd_responders *old = atomic_exchange_explicit(&all[method], made, memory_order_acq_rel);
  if (old) fwd_leave_behind(garbage, &old->retired, list, free_responders);
}

void fwd_list_free_responders(fwd_subscriber_list *list) {
  _Atomic(fwd_responders *) *all = atomic_load_explicit(&list->responders, memory_order_relaxed);
  for (size_t i = 0; all && i < list->method_count; i++) free(atomic_load_explicit(&all[i], memory_order_relaxed));
  free(all);
}

size_t fwd_responders_footprint(const fwd_subscriber_list *list) {
  _Atomic(fwd_responders *) *all = atomic_load_explicit(&list->responders, memory_order_relaxed);
  if (!all) return 0;
  size_t bytes = list->method_count * sizeof *all;
  for (size_t i = 0; i < list->method_count; i++) {
    const fwd_responders *responders = atomic_load_explicit(&all[i], memory_order_relaxed);
    if (responders) bytes += sizeof *responders + responders->count * sizeof responders->records[0];
  }
  return bytes;
}
