// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The index is a hash table with open addressing and linear probing (Knuth, TAOCP 3, 6.4, algorithms L and R). A
/// bucket has the newest record of one object. The object's older records follow in a list, which `next` and `previous`
/// of the records form.

#include "members/member_index.h"

#include <stdlib.h>

// A bucket is 0 if it is free. Otherwise its low bits are the record's slot plus one, and its high bits are a tag: a
// few bits of a hash of the object. A search compares the tags first, since records are mostly not cached, and so reads
// few records of other objects.
static const uint32_t bucket_slot_mask = (UINT32_C(1) << FWD_SLOT_BITS) - 1;

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

static uint64_t hash_of_bucket(const fwd_record_store *store, uint32_t bucket) {
  return hash_of(fwd_record_object(record_of(store, bucket)));
}

/// Returns the number of an object's bucket, or of the free one for the object if the index does not have it.
static size_t find_bucket(const fwd_member_index *index, const fwd_record_store *store,
                          const void *object, uint64_t hash) {
  size_t i = home_of(index, hash);
  for (uint32_t bucket; (bucket = index->buckets[i]);) {
    bool may_be = (bucket & ~bucket_slot_mask) == tag_of(hash);
    if (may_be && fwd_record_object(record_of(store, bucket)) == object) break;
    i = (i + 1) & (index->bucket_count - 1);
  }
  return i;
}

// The smallest index has this many buckets. The number of buckets always doubles.
enum { at_a_time = 8 };

/// Copies some buckets of a smaller index. The records are mostly not cached: all are prefetched before the first one
/// is read, so that the processor waits for them together.
static void copy_some(fwd_member_index *index, const fwd_record_store *store,
                      const uint32_t *buckets) {
  fwd_record *records[at_a_time];
  for (size_t i = 0; i < at_a_time; i++) {
    records[i] = buckets[i] ? record_of(store, buckets[i]) : NULL;
    __builtin_prefetch(records[i]);
  }
  for (size_t i = 0; i < at_a_time; i++) {
    if (!records[i]) continue;
    size_t bucket = home_of(index, hash_of(fwd_record_object(records[i])));
    while (index->buckets[bucket]) bucket = (bucket + 1) & (index->bucket_count - 1);
    index->buckets[bucket] = buckets[i];
  }
}

bool fwd_index_reserve(fwd_member_index *index, const fwd_record_store *store) {
  // At most three quarters of the buckets are used.
  if ((index->count + 1) * 4 <= index->bucket_count * 3) return true;
  fwd_member_index larger = {.bucket_count = index->bucket_count ? index->bucket_count * 2 : at_a_time,
                             .count = index->count};
  larger.buckets = calloc(larger.bucket_count, sizeof *larger.buckets);
  if (!larger.buckets) return false;
  for (size_t i = 0; i < index->bucket_count; i += at_a_time) {
    copy_some(&larger, store, &index->buckets[i]);
  }
  free(index->buckets);
  *index = larger;
  return true;
}

void fwd_index_add(fwd_member_index *index, const fwd_record_store *store, fwd_record *record) {
  record->next = record->previous = FWD_NO_SLOT;
  const void *object = fwd_record_object(record);
  if (!object) return;
  uint64_t hash = hash_of(object);
  uint32_t *bucket = &index->buckets[find_bucket(index, store, object, hash)];
  if (*bucket) {
    record->next = (*bucket & bucket_slot_mask) - 1;
    record_of(store, *bucket)->previous = fwd_slot_of(record->identifier);
  } else {
    index->count++;
  }
  *bucket = bucket_of(record, hash);
}

/// Frees a bucket. A search stops at a free bucket, so buckets after the hole whose searches pass it are moved into
/// it.
static void remove_bucket(fwd_member_index *index, const fwd_record_store *store, size_t hole) {
  size_t mask = index->bucket_count - 1;
  for (size_t i = (hole + 1) & mask; index->buckets[i]; i = (i + 1) & mask) {
    size_t home = home_of(index, hash_of_bucket(store, index->buckets[i]));
    // The search for this bucket's object begins after the hole, so it does not pass the hole.
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    index->buckets[hole] = index->buckets[i];
    hole = i;
  }
  index->buckets[hole] = 0;
  index->count--;
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
  uint64_t hash = hash_of(object);
  size_t bucket = find_bucket(index, store, object, hash);
  if (next) {
    index->buckets[bucket] = bucket_of(next, hash);
  } else {
    remove_bucket(index, store, bucket);
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
  uint64_t hash = hash_of(object);
  uint32_t *bucket = &index->buckets[find_bucket(index, store, object, hash)];
  if (!*bucket) index->count++;
  *bucket = bucket_of(record, hash);
}

fwd_record *fwd_index_find(const fwd_member_index *index, const fwd_record_store *store,
                           const void *object) {
  if (index->bucket_count == 0) return NULL;
  uint32_t bucket = index->buckets[find_bucket(index, store, object, hash_of(object))];
  return bucket ? record_of(store, bucket) : NULL;
}
