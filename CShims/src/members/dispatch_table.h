// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_DISPATCH_TABLE_H
#define FWD_SRC_DISPATCH_TABLE_H

#include <stdatomic.h>

#include "fwd_dispatch.h"
#include "reclaim/hazard.h"

/// The reference to a table that its subscribers have together, to be given up after the last one.
typedef struct fwd_table_use {
  fwd_retired retired;
  fwd_dispatch_table *table;
} fwd_table_use;

struct fwd_dispatch_table {
  /// Of a table without an owner.
  _Atomic size_t references;
  const void *key;
  void *owner;
  /// The subscriptions that have it and have not ended; the list's writer's.
  size_t members;
  /// Those of them that are not blocked; the writer's.
  size_t responders;
  /// While there are some, or one is joining; the writer's.
  fwd_table_use *use;
  size_t count;
  fwd_implementation implementations[];
};

/// The implementation of a method; it may be empty.
static inline const fwd_implementation *
fwd_dispatch_table_at(const fwd_dispatch_table *table, size_t method) {
  return &table->implementations[method];
}

static inline bool fwd_implementation_is_empty(const fwd_implementation *implementation) {
  return !implementation->function && !implementation->packed;
}

#endif
