// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The subscriptions of an object. The writer's alone.

#ifndef FWD_SRC_MEMBER_INDEX_H
#define FWD_SRC_MEMBER_INDEX_H

#include "members/record_store.h"

/// A hash table of slots; the records are in a store.
typedef struct fwd_member_index {
  uint32_t *buckets;
  size_t bucket_count;
  size_t count;
} fwd_member_index;

/// Makes room for one more object. False if memory is short.
bool fwd_index_reserve(fwd_member_index *index, const fwd_record_store *store);
/// Enters a record as the newest of its object. There is room.
void fwd_index_add(fwd_member_index *index, const fwd_record_store *store, fwd_record *record);
void fwd_index_remove(fwd_member_index *index, const fwd_record_store *store, fwd_record *record);
/// The newest record of an object, or NULL.
fwd_record *fwd_index_find(const fwd_member_index *index, const fwd_record_store *store,
                           const void *object);

#endif
