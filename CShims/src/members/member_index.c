// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The index is a hash table with open addressing and linear probing (Knuth, TAOCP 3, 6.4, algorithm L). A bucket has the
/// newest record of one object. The object's older records follow in a list, which `next` and `previous` of the records
/// form. The bucket of a removed object becomes a tombstone, since moving others into the hole, as Knuth's algorithm R
/// does, reads the records of all adjacent buckets.

#include "members/member_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/short_loop.h"
#include "base/small_code.h"

// A tombstone has a tag and no slot. Searches pass it, and a new object may take it.
static const uint32_t tombstone = UINT32_C(1) << FWD_SLOT_BITS;

/// The record of a bucket that is not free.
static fwd_record *record_of(const fwd_record_store *store, uint32_t bucket) {
  return fwd_store_at(store, (bucket & FWD_BUCKET_SLOT_MASK) - 1);
}

uint32_t *fwd_index_search(const fwd_member_index *index, const fwd_record_store *store, const void *object, uint64_t hash,
                           uint32_t *bucket) {
  uint32_t *hole = NULL, tag = fwd_bucket_tag(hash);
  // Undoing a draft may leave no free bucket, so the loop is bounded. Objects have at most three quarters of the buckets, so
  // then it has passed a tombstone.
  for (size_t left = index->bucket_count; left > 0 && *bucket; left--) {
    if (*bucket == tombstone) {
      if (!hole) hole = bucket;
    } else if ((*bucket & ~FWD_BUCKET_SLOT_MASK) == tag && fwd_record_object(record_of(store, *bucket)) == object) {
      return bucket;
    }
    bucket = &index->buckets[(size_t)(bucket + 1 - index->buckets) & (index->bucket_count - 1)];
  }
  return hole ? hole : bucket;
}

/// Whether a bucket has a record.
static bool is_filled(uint32_t bucket) { return bucket != 0 && bucket != tombstone; }

// The smallest index has this many buckets. The number of buckets always doubles.
enum { at_a_time = FWD_FEW_BUCKETS };

/// Copies some buckets of an index to another one. Its loops go round eight times each, and are not unrolled, since this is rare.
/// The records are mostly not cached: all are prefetched before the first
/// one is read, so that the processor waits for them together.
static void copy_some(fwd_member_index *index, const fwd_record_store *store,
                      const uint32_t *buckets) {
  fwd_record *records[at_a_time];
  FWD_SHORT_LOOP
  for (size_t i = 0; i < at_a_time; i++) {
    records[i] = is_filled(buckets[i]) ? record_of(store, buckets[i]) : NULL;
    __builtin_prefetch(records[i]);
  }
  FWD_SHORT_LOOP
  for (size_t i = 0; i < at_a_time; i++) {
    if (!records[i]) continue;
    size_t bucket = fwd_bucket_home(index, fwd_object_hash(fwd_record_object(records[i])));
    while (index->buckets[bucket]) bucket = (bucket + 1) & (index->bucket_count - 1);
    index->buckets[bucket] = buckets[i];
  }
}

/// Makes the buckets anew, without tombstones. Returns false if memory is short.
static bool rehash(fwd_member_index *index, const fwd_record_store *store, size_t count) {
  uint32_t few[FWD_FEW_BUCKETS], *old = index->buckets, *made;
  size_t old_count = index->bucket_count;
  if (count == FWD_FEW_BUCKETS) {
    // In place, so the old ones are put aside.
    memcpy(few, index->few, sizeof few);
    memset(index->few, 0, sizeof few);
    old = few;
    made = index->few;
  } else {
    made = calloc(count, sizeof *made);
    if (!made) return false;
  }
  index->buckets = made;
  index->bucket_count = count;
  index->tombstones = 0;
  for (size_t i = 0; i < old_count; i += at_a_time) copy_some(index, store, &old[i]);
  if (old != few && old != index->few) free(old);
  return true;
}

bool fwd_index_grow(fwd_member_index *index, const fwd_record_store *store) {
  if (index->bucket_count == 0) {
    index->buckets = index->few;
    index->bucket_count = FWD_FEW_BUCKETS;
    return true;
  }
  // As many again if less than half of them have an object, so that there is room until as many have been removed.
  bool is_half = (index->count + 1) * 2 > index->bucket_count;
  return rehash(index, store, is_half ? index->bucket_count * 2 : index->bucket_count);
}

// A search stops at a free bucket, so one that searches may pass becomes a tombstone.
void fwd_index_free_bucket(fwd_member_index *index, size_t hole) {
  size_t mask = index->bucket_count - 1;
  index->count--;
  if (index->buckets[(hole + 1) & mask]) {
    index->buckets[hole] = tombstone;
    index->tombstones++;
    return;
  }
  index->buckets[hole] = 0;
  // No search passes the tombstones before a free bucket.
  for (size_t i = (hole - 1) & mask; index->buckets[i] == tombstone; i = (i - 1) & mask) {
    index->buckets[i] = 0;
    index->tombstones--;
  }
}

void fwd_index_destroy(fwd_member_index *index) {
  if (index->buckets != index->few) free(index->buckets);
}

void fwd_index_remove(fwd_member_index *index, const fwd_record_store *store, fwd_record *record) {
  const void *object = fwd_record_object(record);
  if (!object) return;
  fwd_record *next = record->next == FWD_NO_SLOT ? NULL : fwd_store_at(store, record->next);
  if (next) next->previous = record->previous;
  if (record->previous != FWD_NO_SLOT) {
    fwd_store_at(store, record->previous)->next = record->next;
    return;
  }
  // It is the object's newest record, so the bucket has its slot: no other record has to be read.
  uint64_t hash = fwd_object_hash(object);
  uint32_t own = fwd_bucket_of(record, hash);
  size_t bucket = fwd_bucket_home(index, hash);
  while (index->buckets[bucket] != own) bucket = (bucket + 1) & (index->bucket_count - 1);
  if (next) {
    index->buckets[bucket] = fwd_bucket_of(next, hash);
  } else {
    fwd_index_free_bucket(index, bucket);
  }
}

FWD_SMALL_CODE_BEGIN

void fwd_index_add(fwd_member_index *index, const fwd_record_store *store, fwd_record *record) {
  fwd_index_add_at(index, store, record, fwd_index_locate(index, store, fwd_record_object(record)));
}

void fwd_index_restore(fwd_member_index *index, const fwd_record_store *store, fwd_record *record) {
  const void *object = fwd_record_object(record);
  if (!object) return;
  uint32_t slot = fwd_slot_of(record->identifier);
  // The links still name the neighbours that `fwd_index_remove` joined (Knuth, "Dancing Links", 2000).
  if (record->next != FWD_NO_SLOT) fwd_store_at(store, record->next)->previous = slot;
  if (record->previous != FWD_NO_SLOT) {
    fwd_store_at(store, record->previous)->next = slot;
    return;
  }
  fwd_index_position position = fwd_index_locate(index, store, object);
  if (!is_filled(*position.bucket)) fwd_index_count_object(index, *position.bucket);
  *position.bucket = fwd_bucket_of(record, position.hash);
}

FWD_SMALL_CODE_END

fwd_record *fwd_index_find(const fwd_member_index *index, const fwd_record_store *store, const void *object) {
  return index->bucket_count == 0 ? NULL : fwd_index_at(store, fwd_index_locate(index, store, object));
}
