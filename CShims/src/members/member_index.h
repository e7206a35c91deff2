// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The index of a list: finds the subscriptions of an object by the object's address. Only the list's writer uses it.

#ifndef FWD_SRC_MEMBER_INDEX_H
#define FWD_SRC_MEMBER_INDEX_H

#include "members/record_store.h"

/// The number of buckets that are part of the index.
enum { FWD_FEW_BUCKETS = 8 };

/// A hash table from objects to the slots of their newest records. member_index.c describes the algorithm. All zeros is an
/// empty one. It must not be moved.
typedef struct fwd_member_index {
  /// `few`, or memory.
  uint32_t *buckets;
  /// 0, or a power of two.
  size_t bucket_count;
  /// The number of objects.
  size_t count;
  /// The number of buckets that are neither free nor have an object.
  size_t tombstones;
  uint32_t few[FWD_FEW_BUCKETS];
} fwd_member_index;

// MARK: Buckets

// A bucket is 0 if it is free. Otherwise its low bits are the record's slot plus one, and its high bits are a tag: a
// few bits of a hash of the object. A search compares the tags first, since records are mostly not cached, and so reads
// few records of other objects.
#define FWD_BUCKET_SLOT_MASK ((UINT32_C(1) << FWD_SLOT_BITS) - 1)

// Subscribers are often allocated one after another, and then subscribe in that order. So the objects of one block of
// 512 bytes have adjacent buckets, which share cache lines. Fibonacci hashing scatters the blocks. Larger blocks
// would overlap too unevenly for linear probing.
enum { FWD_HASH_BLOCK_BITS = 9, FWD_HASH_ALIGNMENT_BITS = 4 };

static inline uint64_t fwd_hash_mix(uint64_t word) { return word * UINT64_C(0x9E3779B97F4A7C15); }

static inline uint64_t fwd_object_hash(const void *object) {
  uint64_t address = (uint64_t)(uintptr_t)object;
  uint64_t inside = (address & ((UINT64_C(1) << FWD_HASH_BLOCK_BITS) - 1)) >> FWD_HASH_ALIGNMENT_BITS;
  return (fwd_hash_mix(address >> FWD_HASH_BLOCK_BITS) >> 32) + inside;
}

// Hashes the object's hash again, since objects in adjacent buckets have similar hashes.
static inline uint32_t fwd_bucket_tag(uint64_t hash) {
  return (uint32_t)(fwd_hash_mix(hash) >> (32 + FWD_SLOT_BITS)) << FWD_SLOT_BITS;
}

/// The number of the bucket where the search for an object begins.
static inline size_t fwd_bucket_home(const fwd_member_index *index, uint64_t hash) {
  return (size_t)hash & (index->bucket_count - 1);
}

/// The content of the bucket for a record.
static inline uint32_t fwd_bucket_of(const fwd_record *record, uint64_t hash) {
  return (fwd_slot_of(record->identifier) + 1) | fwd_bucket_tag(hash);
}

// MARK: Finding

/// Where an object's newest record is, or would be. Valid until the index changes.
typedef struct fwd_index_position {
  /// NULL for no object, whose records are not in the index.
  uint32_t *bucket;
  uint64_t hash;
} fwd_index_position;

/// Makes more buckets, or removes tombstones. Returns false if memory is short.
bool fwd_index_grow(fwd_member_index *index, const fwd_record_store *store);
/// Makes room for one more object. Returns false if memory is short. Positions from before are not valid any more.
static inline bool fwd_index_reserve(fwd_member_index *index, const fwd_record_store *store) {
  // At most three quarters of the buckets are used.
  if ((index->count + index->tombstones + 1) * 4 <= index->bucket_count * 3) return true;
  return fwd_index_grow(index, store);
}
/// Goes on with a search for an object that begins at `bucket`. Returns the object's bucket, or the one for a new record.
uint32_t *fwd_index_search(const fwd_member_index *index, const fwd_record_store *store, const void *object, uint64_t hash,
                           uint32_t *bucket);
/// Finds the position of an object, which may be NULL. The index must have buckets: `fwd_index_reserve` makes some.
static inline fwd_index_position fwd_index_locate(const fwd_member_index *index, const fwd_record_store *store,
                                                  const void *object) {
  if (!object) return (fwd_index_position){.bucket = NULL};
  uint64_t hash = fwd_object_hash(object);
  uint32_t *bucket = &index->buckets[fwd_bucket_home(index, hash)];
  if (*bucket) bucket = fwd_index_search(index, store, object, hash, bucket);
  return (fwd_index_position){bucket, hash};
}
/// Returns the newest record of an object by its position, or NULL.
static inline fwd_record *fwd_index_at(const fwd_record_store *store, fwd_index_position position) {
  // A tombstone has no slot either.
  uint32_t slot = position.bucket ? *position.bucket & FWD_BUCKET_SLOT_MASK : 0;
  return slot ? fwd_store_at(store, slot - 1) : NULL;
}
/// Returns the newest record of an object, or NULL.
fwd_record *fwd_index_find(const fwd_member_index *index, const fwd_record_store *store, const void *object);

// MARK: Changing

/// Counts an object that gets a bucket, which is free or a tombstone.
static inline void fwd_index_count_object(fwd_member_index *index, uint32_t bucket) {
  index->count++;
  index->tombstones -= bucket != 0;
}
/// Adds a record as the newest of its object. `fwd_index_reserve` must have made room. A record without an object is not added.
void fwd_index_add(fwd_member_index *index, const fwd_record_store *store, fwd_record *record);
/// The same, at the position of its object, which `fwd_index_locate` has found.
static inline void fwd_index_add_at(fwd_member_index *index, const fwd_record_store *store, fwd_record *record,
                                    fwd_index_position position) {
  record->next = record->previous = FWD_NO_SLOT;
  if (!position.bucket) return;
  fwd_record *newest = fwd_index_at(store, position);
  if (newest) {
    record->next = fwd_slot_of(newest->identifier);
    newest->previous = fwd_slot_of(record->identifier);
  } else {
    fwd_index_count_object(index, *position.bucket);
  }
  *position.bucket = fwd_bucket_of(record, position.hash);
}
/// Frees a bucket of an object that has no record left.
void fwd_index_free_bucket(fwd_member_index *index, size_t bucket);
/// Removes a record that has not ended yet.
void fwd_index_remove(fwd_member_index *index, const fwd_record_store *store, fwd_record *record);
/// `fwd_index_remove` of a record with an object, inline for the object's only record in the first bucket of its search.
static inline void fwd_index_remove_quickly(fwd_member_index *index, const fwd_record_store *store, fwd_record *record,
                                            const void *object) {
  uint64_t hash = fwd_object_hash(object);
  size_t home = fwd_bucket_home(index, hash);
  bool is_only = record->next == FWD_NO_SLOT && record->previous == FWD_NO_SLOT;
  if (is_only && index->buckets[home] == fwd_bucket_of(record, hash)) {
    fwd_index_free_bucket(index, home);
  } else {
    fwd_index_remove(index, store, record);
  }
}
/// Undoes `fwd_index_remove`, with the record's `next` and `previous` as they were. All later changes of the index must have
/// been undone before, so that it has room.
void fwd_index_restore(fwd_member_index *index, const fwd_record_store *store, fwd_record *record);
/// Frees the buckets.
void fwd_index_destroy(fwd_member_index *index);

#endif
