// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "members/dispatch_table.h"

#include <stdlib.h>

#include "fwd_weak.h"
#include "members/swift_closure.h"

fwd_dispatch_table *fwd_dispatch_table_create(size_t count, const void *key) {
  fwd_dispatch_table *table =
      calloc(1, sizeof *table + count * sizeof table->implementations[0]);
  if (!table) return NULL;
  atomic_init(&table->references, 1);
  table->key = key;
  table->count = count;
  return table;
}

void fwd_dispatch_table_stand_for(fwd_dispatch_table *table, const void *subscriber_class) {
  atomic_store_explicit(&table->subscriber_class, subscriber_class, memory_order_relaxed);
}

void fwd_dispatch_table_adopt(fwd_dispatch_table *table, void *owner) { table->owner = owner; }

void fwd_dispatch_table_observe(fwd_dispatch_table *table, fwd_table_end ended, void *context) {
  table->ended = ended;
  table->ended_context = context;
}

void *fwd_dispatch_table_owner(const fwd_dispatch_table *table) { return table->owner; }

bool fwd_dispatch_table_is_unused(const fwd_dispatch_table *table) {
  // Acquire: see `leave_table`.
  return atomic_load_explicit(&table->members, memory_order_acquire) == 0 &&
         !atomic_load_explicit(&table->is_found_elsewhere, memory_order_relaxed);
}

void fwd_dispatch_table_destroy(fwd_dispatch_table *table) { free(table); }

fwd_dispatch_table *fwd_dispatch_table_retain(fwd_dispatch_table *table) {
  if (table->owner) {
    fwd_object_retain(table->owner);
  } else {
    atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
  }
  return table;
}

void fwd_dispatch_table_release(fwd_dispatch_table *table) {
  if (!table) return;
  if (table->owner) {
    fwd_object_release(table->owner);
  } else if (atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) == 1) {
    fwd_dispatch_table_destroy(table);
  }
}

fwd_implementation *fwd_dispatch_table_entry(fwd_dispatch_table *table, size_t index) {
  return &table->implementations[index];
}

bool fwd_dispatch_table_implements(const fwd_dispatch_table *table, size_t method) {
  return !fwd_implementation_is_empty(fwd_dispatch_table_at(table, method));
}

bool fwd_calls_swift_closures(void) { return FWD_HAS_SWIFTCALL; }
