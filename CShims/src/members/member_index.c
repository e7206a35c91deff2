// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The subscriptions of an object: a hash table of slots with open addressing (Knuth, TAOCP 3, 6.4,
/// algorithms L and R), one entry an object. An object's further subscriptions hang on its newest one.

#include "members/member_index.h"

#include <stdlib.h>

// An entry is a slot plus one, and above that some bits of its object's hash, so that records of other
// objects, which mostly are in no cache, are mostly not looked at. 0 is free.
static const uint32_t entry_slot_mask = (UINT32_C(1) << FWD_SLOT_BITS) - 1;

// Subscribers are often allocated, and subscribe, one after another: what lies together in memory is
// hashed together, in blocks of 512 bytes, so that the buckets come into the cache together, too. Blocks go
// anywhere, by Fibonacci hashing; larger ones would overlap too unevenly for linear probing.
enum { block_bits = 9, alignment_bits = 4 };

static uint64_t mix(uint64_t word) { return word * UINT64_C(0x9E3779B97F4A7C15); }

static uint64_t hash_of(const void *object) {
  uint64_t address = (uint64_t)(uintptr_t)object;
  uint64_t inside = (address & ((UINT64_C(1) << block_bits) - 1)) >> alignment_bits;
  return (mix(address >> block_bits) >> 32) + inside;
}

// Of the whole address, so that neighbours differ.
static uint32_t tag_of(uint64_t hash) {
  return (uint32_t)(mix(hash) >> (32 + FWD_SLOT_BITS)) << FWD_SLOT_BITS;
}

static size_t home_of(const fwd_member_index *index, uint64_t hash) {
  return (size_t)hash & (index->bucket_count - 1);
}

static uint32_t entry_of(const fwd_record *record, uint64_t hash) {
  return (fwd_slot_of(record->identifier) + 1) | tag_of(hash);
}

static fwd_record *record_of(const fwd_record_store *store, uint32_t entry) {
  return fwd_store_at(store, (entry & entry_slot_mask) - 1);
}

static uint64_t hash_of_entry(const fwd_record_store *store, uint32_t entry) {
  return hash_of(fwd_record_object(record_of(store, entry)));
}

/// The bucket of an object, or the free one where it would be.
static size_t find_bucket(const fwd_member_index *index, const fwd_record_store *store,
                          const void *object, uint64_t hash) {
  size_t bucket = home_of(index, hash);
  for (uint32_t entry; (entry = index->buckets[bucket]);) {
    bool may_be = (entry & ~entry_slot_mask) == tag_of(hash);
    if (may_be && fwd_record_object(record_of(store, entry)) == object) break;
    bucket = (bucket + 1) & (index->bucket_count - 1);
  }
  return bucket;
}

// The smallest index has as many buckets, and others have more by powers of two.
enum { at_a_time = 8 };

/// Enters what stands in some buckets of a smaller index. The records are mostly in no cache, and are asked
/// for before the first one is waited for.
static void enter_some(fwd_member_index *index, const fwd_record_store *store,
                       const uint32_t *entries) {
  fwd_record *records[at_a_time];
  for (size_t i = 0; i < at_a_time; i++) {
    records[i] = entries[i] ? record_of(store, entries[i]) : NULL;
    __builtin_prefetch(records[i]);
  }
  for (size_t i = 0; i < at_a_time; i++) {
    if (!records[i]) continue;
    size_t bucket = home_of(index, hash_of(fwd_record_object(records[i])));
    while (index->buckets[bucket]) bucket = (bucket + 1) & (index->bucket_count - 1);
    index->buckets[bucket] = entries[i];
  }
}

bool fwd_index_reserve(fwd_member_index *index, const fwd_record_store *store) {
  // Three quarters full at most.
  if ((index->count + 1) * 4 <= index->bucket_count * 3) return true;
  fwd_member_index larger = {.bucket_count = index->bucket_count ? index->bucket_count * 2 : at_a_time,
                             .count = index->count};
  larger.buckets = calloc(larger.bucket_count, sizeof *larger.buckets);
  if (!larger.buckets) return false;
  for (size_t i = 0; i < index->bucket_count; i += at_a_time) {
    enter_some(&larger, store, &index->buckets[i]);
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
  uint32_t *entry = &index->buckets[find_bucket(index, store, object, hash)];
  if (*entry) {
    record->next = (*entry & entry_slot_mask) - 1;
    record_of(store, *entry)->previous = fwd_slot_of(record->identifier);
  } else {
    index->count++;
  }
  *entry = entry_of(record, hash);
}

/// Frees a bucket, and moves those up that could be found only by passing it.
static void remove_bucket(fwd_member_index *index, const fwd_record_store *store, size_t hole) {
  size_t mask = index->bucket_count - 1;
  for (size_t i = (hole + 1) & mask; index->buckets[i]; i = (i + 1) & mask) {
    size_t wanted = home_of(index, hash_of_entry(store, index->buckets[i]));
    // Is the place that it wants behind the hole, in the order of probing?
    if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
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
    index->buckets[bucket] = entry_of(next, hash);
  } else {
    remove_bucket(index, store, bucket);
  }
}

fwd_record *fwd_index_find(const fwd_member_index *index, const fwd_record_store *store,
                           const void *object) {
  if (index->bucket_count == 0) return NULL;
  uint32_t entry = index->buckets[find_bucket(index, store, object, hash_of(object))];
  return entry ? record_of(store, entry) : NULL;
}
