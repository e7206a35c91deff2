// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Dispatch tables and records: what one subscription implements and whom it holds.

#include "record.h"

#include <stdlib.h>

// MARK: Dispatch tables

struct fwd_dispatch_table {
  _Atomic size_t references;
  void *owner;
  void (*release_owner)(void *owner);
  size_t count;
  fwd_implementation implementations[];
};

fwd_dispatch_table *fwd_dispatch_table_create(size_t count, void *owner, void (*release)(void *owner)) {
  fwd_dispatch_table *table = calloc(1, sizeof *table + count * sizeof table->implementations[0]);
  if (!table) return NULL;
  atomic_init(&table->references, 1);
  table->owner = owner;
  table->release_owner = release;
  table->count = count;
  return table;
}

fwd_dispatch_table *fwd_dispatch_table_retain(fwd_dispatch_table *table) {
  atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
  return table;
}

void fwd_dispatch_table_release(fwd_dispatch_table *table) {
  if (!table) return;
  if (atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) != 1) return;
  if (table->release_owner) table->release_owner(table->owner);
  free(table);
}

fwd_implementation *fwd_dispatch_table_entry(fwd_dispatch_table *table, size_t index) {
  return &table->implementations[index];
}

// MARK: Records

struct fwd_record {
  _Atomic size_t references;
  _Atomic bool ended;
  fwd_hold hold;
  fwd_subscription identifier;
  void *object;
  void *receiver;
  fwd_dispatch_table *table;
  void (*destroy)(void *receiver);
};

fwd_record *fwd_record_create(const fwd_record_parts *parts, fwd_dispatch_table *table) {
  fwd_record *record = malloc(sizeof *record);
  if (!record) return NULL;
  fwd_reference_begin(parts->object, parts->hold);
  atomic_init(&record->references, 1);
  atomic_init(&record->ended, false);
  record->hold = parts->hold;
  record->identifier = parts->identifier;
  record->object = parts->object;
  record->receiver = parts->receiver;
  record->table = table;
  record->destroy = parts->destroy;
  return record;
}

fwd_record *fwd_record_retain(fwd_record *record) {
  atomic_fetch_add_explicit(&record->references, 1, memory_order_relaxed);
  return record;
}

void fwd_record_release(fwd_record *record) {
  if (!record) return;
  if (atomic_fetch_sub_explicit(&record->references, 1, memory_order_acq_rel) != 1) return;
  if (record->destroy) record->destroy(record->receiver);
  fwd_reference_end(record->object, record->hold);
  fwd_dispatch_table_release(record->table);
  free(record);
}

void fwd_record_disarm(fwd_record *record) { record->destroy = NULL; }

fwd_subscription fwd_record_identifier(const fwd_record *record) { return record->identifier; }

void *fwd_record_receiver(const fwd_record *record) { return record->receiver; }

void fwd_record_end(fwd_record *record) {
  // Release: whoever sees the end sees what the unsubscribing thread did before it.
  atomic_store_explicit(&record->ended, true, memory_order_release);
}

bool fwd_record_has_ended(const fwd_record *record) {
  return atomic_load_explicit(&record->ended, memory_order_acquire);
}

bool fwd_record_is_weak(const fwd_record *record) { return record->hold == FWD_HOLD_WEAK; }

bool fwd_record_has_object(const fwd_record *record) { return record->hold != FWD_HOLD_NONE; }

void *fwd_record_take(const fwd_record *record) {
  if (fwd_record_has_ended(record)) return NULL;
  return fwd_reference_take(record->object, record->hold);
}

void fwd_record_drop(const fwd_record *record, void *object) { fwd_reference_drop(object, record->hold); }

bool fwd_record_is_live(const fwd_record *record) {
  return !fwd_record_has_ended(record) && !fwd_reference_is_dead(record->object, record->hold);
}

const fwd_implementation *fwd_record_implementation(const fwd_record *record, size_t method) {
  const fwd_implementation *implementation = &record->table->implementations[method];
  return implementation->function || implementation->packed ? implementation : NULL;
}

bool fwd_record_implements(const fwd_record *record, size_t method) {
  return fwd_record_implementation(record, method) != NULL;
}
