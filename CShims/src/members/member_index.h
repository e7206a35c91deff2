// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The index of a list: finds the subscriptions of an object by the object's address. Only the list's writer uses it.

#ifndef FWD_SRC_MEMBER_INDEX_H
#define FWD_SRC_MEMBER_INDEX_H

#include "members/record_store.h"

/// The number of buckets that are part of the index.
enum { FWD_FEW_BUCKETS = 8 };

/// A hash table from objects to the slots of their newest records. member_index.c describes it. All zeros is an empty one.
/// It must not be moved.
typedef struct fwd_member_index {
  /// `few`, or memory.
  uint32_t *buckets;
  /// 0, or a power of two.
  size_t bucket_count;
  /// The number of objects.
  size_t count;
  /// The number of buckets that are neither free nor have an object.
  size_t tombstones;
  /// The object that was last searched for, and its bucket. NULL if a bucket has changed since.
  const void *found;
  size_t found_bucket;
  /// The hash of `found`.
  uint64_t found_hash;
  uint32_t few[FWD_FEW_BUCKETS];
} fwd_member_index;

/// Makes more buckets, or removes tombstones. Returns false if memory is short.
bool fwd_index_grow(fwd_member_index *index, const fwd_record_store *store);
/// Makes room for one more object. Returns false if memory is short.
static inline bool fwd_index_reserve(fwd_member_index *index, const fwd_record_store *store) {
  // At most three quarters of the buckets are used.
  if ((index->count + index->tombstones + 1) * 4 <= index->bucket_count * 3) return true;
  return fwd_index_grow(index, store);
}
/// Adds a record as the newest of its object. `fwd_index_reserve` must have made room. A record without an object is
/// not added.
void fwd_index_add(fwd_member_index *index, const fwd_record_store *store, fwd_record *record);
/// Removes a record that has not ended yet.
void fwd_index_remove(fwd_member_index *index, const fwd_record_store *store, fwd_record *record);
/// Undoes `fwd_index_remove`, with the record's `next` and `previous` as they were. All later changes of the index must have
/// been undone before, so that it has room.
void fwd_index_restore(fwd_member_index *index, const fwd_record_store *store, fwd_record *record);
/// Frees the buckets.
void fwd_index_destroy(fwd_member_index *index);
/// Returns the newest record of an object, or NULL.
fwd_record *fwd_index_find(fwd_member_index *index, const fwd_record_store *store,
                           const void *object);

#endif
