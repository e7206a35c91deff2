// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The memory of a dispatch table, which fan-outs read.

#ifndef FWD_SRC_DISPATCH_TABLE_H
#define FWD_SRC_DISPATCH_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "fwd_dispatch.h"
#include "reclaim/hazard.h"

/// The one reference to a table that all its subscriptions share. It is retired when the last of them ends.
typedef struct fwd_table_use {
  fwd_retired retired;
  fwd_dispatch_table *table;
} fwd_table_use;

// fwd_dispatch.h says what a table is. Only the list's writer uses `responders` and `use`, and changes `members`.
struct fwd_dispatch_table {
  /// The number of references. Not used if the table has an owner, whose reference count then counts.
  _Atomic size_t references;
  const void *key;
  /// See `fwd_dispatch_table_stand_for`; NULL for most tables.
  _Atomic(const void *) subscriber_class;
  void *owner;
  /// The number of subscriptions that have the table and have not ended. Atomic for `fwd_dispatch_table_is_unused`.
  _Atomic size_t members;
  /// The number of `members` that are not blocked.
  size_t responders;
  /// NULL if the table has no members and none is joining.
  fwd_table_use *use;
  /// What `use` mostly points to. It is part of the table, so that it needs no allocation.
  fwd_table_use own_use;
  /// Whether `own_use` is the list's use, or is retired and has not been freed.
  _Atomic bool is_own_use_taken;
  /// Whether its list has had no room for it: see `fwd_list_share_table`.
  _Atomic bool is_found_elsewhere;
  /// Told when a subscription with the table ends, unless its limit of deliveries is used up. NULL for most tables.
  fwd_table_end ended;
  void *ended_context;
  /// The number of methods.
  size_t count;
  fwd_implementation implementations[];
};

/// Whether a table is found by `key`: its own key, or its class.
static inline bool fwd_table_is_named(const fwd_dispatch_table *table, const void *key) {
  return atomic_load_explicit(&table->subscriber_class, memory_order_relaxed) == key || table->key == key;
}

/// The number of subscriptions that have a table, for the writer of their list.
static inline size_t fwd_table_members(const fwd_dispatch_table *table) {
  return atomic_load_explicit(&table->members, memory_order_relaxed);
}

/// Returns the implementation of a method. It may be empty.
static inline const fwd_implementation *
fwd_dispatch_table_at(const fwd_dispatch_table *table, size_t method) {
  return &table->implementations[method];
}

/// The offset of a method's implementation in a table, in bytes, for loops over many tables.
static inline size_t fwd_dispatch_table_offset(size_t method) {
  return offsetof(fwd_dispatch_table, implementations) + method * sizeof(fwd_implementation);
}

/// `fwd_dispatch_table_at` by the offset.
static inline const fwd_implementation *fwd_dispatch_table_at_offset(const fwd_dispatch_table *table, size_t offset) {
  return (const fwd_implementation *)((const char *)table + offset);
}

/// Whether the table does not implement the method.
static inline bool fwd_implementation_is_empty(const fwd_implementation *implementation) {
  return !implementation->function && !implementation->packed;
}

#endif
