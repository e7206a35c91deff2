// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The index is a hash table with open addressing and linear probing (Knuth, TAOCP 3, 6.4, algorithm L). A bucket has the
/// newest record of one object. The object's older records follow in a list, which `next` and `previous` of the records
/// form. The bucket of a removed object becomes a tombstone, since moving others into the hole, as Knuth's algorithm R
/// does, reads the records of all adjacent buckets.

#include "members/member_index.h"

#include <stdlib.h>
#include <string.h>

// A bucket is 0 if it is free. Otherwise its low bits are the record's slot plus one, and its high bits are a tag: a
// few bits of a hash of the object. A search compares the tags first, since records are mostly not cached, and so reads
// few records of other objects.
static const uint32_t bucket_slot_mask = (UINT32_C(1) << FWD_SLOT_BITS) - 1;

// A tombstone has a tag and no slot. Searches pass it, and a new object may take it.
static const uint32_t tombstone = UINT32_C(1) << FWD_SLOT_BITS;

// Subscribers are often allocated one after another, and then subscribe in that order. So the objects of one block of
// 512 bytes have adjacent buckets, which share cache lines. Fibonacci hashing scatters the blocks. Larger blocks
// would overlap too unevenly for linear probing.
enum { block_bits = 9, alignment_bits = 4 };

static uint64_t mix(uint64_t word) { return word * UINT64_C(0x9E3779B97F4A7C15); }

static uint64_t hash_of(const void *object) {
  uint64_t address = (uint64_t)(uintptr_t)object;
  uint64_t inside = (address & ((UINT64_C(1) << block_bits) - 1)) >> alignment_bits;
  return (mix(address >> block_bits) >> 32) + inside;
}

// Hashes the object's hash again, since objects in adjacent buckets have similar hashes.
static uint32_t tag_of(uint64_t hash) {
  return (uint32_t)(mix(hash) >> (32 + FWD_SLOT_BITS)) << FWD_SLOT_BITS;
}

/// The bucket where the search for an object begins.
static size_t home_of(const fwd_member_index *index, uint64_t hash) {
  return (size_t)hash & (index->bucket_count - 1);
}

/// The content of the bucket for a record.
static uint32_t bucket_of(const fwd_record *record, uint64_t hash) {
  return (fwd_slot_of(record->identifier) + 1) | tag_of(hash);
}

/// The record of a bucket that is not free.
static fwd_record *record_of(const fwd_record_store *store, uint32_t bucket) {
  return fwd_store_at(store, (bucket & bucket_slot_mask) - 1);
}

/// Returns the number of an object's bucket. If the index does not have the object, returns that of the first free bucket or
/// tombstone of the search.
__attribute__((noinline)) static size_t search(const fwd_member_index *index, const fwd_record_store *store,
                                               const void *object, uint64_t hash) {
  size_t i = home_of(index, hash), hole = SIZE_MAX;
  uint32_t tag = tag_of(hash), bucket;
  // Undoing a draft may leave no free bucket, so the loop is bounded.
  for (size_t left = index->bucket_count; left > 0 && (bucket = index->buckets[i]); left--) {
    if (bucket == tombstone) {
      if (hole == SIZE_MAX) hole = i;
    } else if ((bucket & ~bucket_slot_mask) == tag && fwd_record_object(record_of(store, bucket)) == object) {
      return i;
    }
    i = (i + 1) & (index->bucket_count - 1);
  }
  return hole == SIZE_MAX ? i : hole;
}

/// Like `search`, but remembers the last result, since a subscription searches its object's bucket twice. `object` must not be
/// NULL.
static inline __attribute__((always_inline)) size_t find_bucket(fwd_member_index *index, const fwd_record_store *store,
                                                               const void *object) {
  if (index->found == object) return index->found_bucket;
  index->found_hash = hash_of(object);
  index->found_bucket = search(index, store, object, index->found_hash);
  index->found = object;
  return index->found_bucket;
}

/// Must be called when a bucket changes.
static void forget_found(fwd_member_index *index) { index->found = NULL; }

/// Whether a bucket has a record.
static bool is_filled(uint32_t bucket) { return bucket != 0 && bucket != tombstone; }

// The smallest index has this many buckets. The number of buckets always doubles.
enum { at_a_time = FWD_FEW_BUCKETS };

/// Copies some buckets of an index to another one. The records are mostly not cached: all are prefetched before the first
/// one is read, so that the processor waits for them together.
static void copy_some(fwd_member_index *index, const fwd_record_store *store,
                      const uint32_t *buckets) {
  fwd_record *records[at_a_time];
  for (size_t i = 0; i < at_a_time; i++) {
    records[i] = is_filled(buckets[i]) ? record_of(store, buckets[i]) : NULL;
    __builtin_prefetch(records[i]);
  }
  for (size_t i = 0; i < at_a_time; i++) {
    if (!records[i]) continue;
    size_t bucket = home_of(index, hash_of(fwd_record_object(records[i])));
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
  forget_found(index);
  for (size_t i = 0; i < old_count; i += at_a_time) copy_some(index, store, &old[i]);
  if (old != few && old != index->few) free(old);
  return true;
}

bool fwd_index_grow(fwd_member_index *index, const fwd_record_store *store) {
  if (index->bucket_count == 0) {
    index->buckets = index->few;
    index->bucket_count = FWD_FEW_BUCKETS;
    forget_found(index);
    return true;
  }
  // As many again if less than half of them have an object, so that there is room until as many have been removed.
  bool is_half = (index->count + 1) * 2 > index->bucket_count;
  return rehash(index, store, is_half ? index->bucket_count * 2 : index->bucket_count);
}

/// Counts an object that gets a bucket, which is free or a tombstone.
static void count_object(fwd_member_index *index, uint32_t bucket) {
  index->count++;
  if (bucket == tombstone) index->tombstones--;
}

void fwd_index_add(fwd_member_index *index, const fwd_record_store *store, fwd_record *record) {
  record->next = record->previous = FWD_NO_SLOT;
  const void *object = fwd_record_object(record);
  if (!object) return;
  uint32_t *bucket = &index->buckets[find_bucket(index, store, object)];
  if (is_filled(*bucket)) {
    record->next = (*bucket & bucket_slot_mask) - 1;
    record_of(store, *bucket)->previous = fwd_slot_of(record->identifier);
  } else {
    count_object(index, *bucket);
  }
  *bucket = bucket_of(record, index->found_hash);
  forget_found(index);
}

/// Frees a bucket. A search stops at a free bucket, so one that searches may pass becomes a tombstone.
static void remove_bucket(fwd_member_index *index, size_t hole) {
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

void fwd_index_remove(fwd_member_index *index, const fwd_record_store *store,
                      fwd_record *record) {
  const void *object = fwd_record_object(record);
  if (!object) return;
  fwd_record *next = record->next == FWD_NO_SLOT ? NULL : fwd_store_at(store, record->next);
  if (next) next->previous = record->previous;
  if (record->previous != FWD_NO_SLOT) {
    fwd_store_at(store, record->previous)->next = record->next;
    return;
  }
  // It is the object's newest record, so the bucket has its slot: no other record has to be read.
  uint64_t hash = hash_of(object);
  uint32_t own = bucket_of(record, hash);
  size_t bucket = home_of(index, hash);
  while (index->buckets[bucket] != own) bucket = (bucket + 1) & (index->bucket_count - 1);
  forget_found(index);
  if (next) {
    index->buckets[bucket] = bucket_of(next, hash);
  } else {
    remove_bucket(index, bucket);
  }
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
  uint32_t *bucket = &index->buckets[find_bucket(index, store, object)];
  if (!is_filled(*bucket)) count_object(index, *bucket);
  *bucket = bucket_of(record, index->found_hash);
  forget_found(index);
}

fwd_record *fwd_index_find(fwd_member_index *index, const fwd_record_store *store,
                           const void *object) {
  if (index->bucket_count == 0) return NULL;
  uint32_t bucket = index->buckets[find_bucket(index, store, object)];
  return is_filled(bucket) ? record_of(store, bucket) : NULL;
}
