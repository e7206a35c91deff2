// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Interned selectors. A selector is a pointer to a record that holds its name; equal names give the same record, so
/// selectors compare as pointers. Records are never freed.
///
/// The records are found through a hash table with open addressing and linear probing:
///
///     current ──► table ──► [ hash | record ] [ empty ] [ hash | record ] ...
///
/// Lookups take no lock. They probe until they find the name or an empty bucket. Only one thread inserts at a time,
/// under a lock: it fills the bucket's hash and then stores the record, so a lookup that finds the record also finds
/// the hash. A full table is copied into one of twice the size, which then becomes the current one. The old table stays
/// allocated, since another thread may still probe it: that lookup misses only names that were registered after it
/// began. All old tables together are smaller than the current one.

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fwd_lock.h"
#include "fwd_selector.h"
#include "base/hash.h"

struct fwd_selector_record {
  size_t length;
  char name[];
};

typedef struct bucket {
  _Atomic uint64_t hash;
  /// NULL while the bucket is empty.
  _Atomic(struct fwd_selector_record *) record;
} bucket;

typedef struct selector_table {
  /// A power of two.
  size_t bucket_count;
  /// Keeps the old table reachable, so that leak checkers do not report it.
  struct selector_table *previous;
  bucket *buckets;
} selector_table;

enum { first_bucket_count = 1024, name_limit = 65535 };

static bucket first_buckets[first_bucket_count];
static selector_table first_table = {.bucket_count = first_bucket_count, .buckets = first_buckets};

static _Atomic(selector_table *) current = &first_table;
/// Held while a record is inserted; protects `count`.
static fwd_lock insertion_lock = FWD_LOCK_INITIALIZER;
static size_t count;

/// Finds the record of a name; NULL if it is not in the table. Then `*empty` is the bucket for it.
static inline struct fwd_selector_record *find_in(const selector_table *table, const char *name, size_t length,
                                                  uint64_t hash, bucket **empty) {
  for (size_t i = (size_t)hash & (table->bucket_count - 1);; i = (i + 1) & (table->bucket_count - 1)) {
    bucket *candidate = &table->buckets[i];
    // Acquire: the record and the bucket's hash were written before the record was stored.
    struct fwd_selector_record *record = atomic_load_explicit(&candidate->record, memory_order_acquire);
    if (!record) {
      *empty = candidate;
      return NULL;
    }
    if (atomic_load_explicit(&candidate->hash, memory_order_relaxed) != hash) continue;
    if (record->length == length && memcmp(record->name, name, length) == 0) return record;
  }
}

static struct fwd_selector_record *find(const char *name, size_t length, uint64_t hash) {
  bucket *empty;
  return find_in(atomic_load_explicit(&current, memory_order_acquire), name, length, hash, &empty);
}

/// Adds a record that is not in the table. Under the lock.
static void add(const selector_table *table, struct fwd_selector_record *record, uint64_t hash) {
  bucket *empty;
  find_in(table, record->name, record->length, hash, &empty);
  atomic_store_explicit(&empty->hash, hash, memory_order_relaxed);
  atomic_store_explicit(&empty->record, record, memory_order_release);
}

/// Makes a table of twice the size of the current one. False if memory is short. Under the lock.
static bool grow(selector_table *old) {
  selector_table *table = malloc(sizeof *table);
  bucket *buckets = calloc(old->bucket_count * 2, sizeof *buckets);
  if (!table || !buckets) {
    free(table);
    free(buckets);
    return false;
  }
  *table = (selector_table){.bucket_count = old->bucket_count * 2, .previous = old, .buckets = buckets};
  for (size_t i = 0; i < old->bucket_count; i++) {
    struct fwd_selector_record *record = atomic_load_explicit(&old->buckets[i].record, memory_order_relaxed);
    if (!record) continue;
    uint64_t hash = atomic_load_explicit(&old->buckets[i].hash, memory_order_relaxed);
    add(table, record, hash);
  }
  atomic_store_explicit(&current, table, memory_order_release);
  return true;
}

/// Makes a record and inserts it. NULL if memory is short. Under the lock, for a name that is not in the table.
static struct fwd_selector_record *insert(const char *name, size_t length, uint64_t hash) {
  selector_table *table = atomic_load_explicit(&current, memory_order_relaxed);
  if (count >= table->bucket_count / 2) {
    // Without memory for a larger table the current one is filled further, but never completely: lookups stop at an
    // empty bucket.
    if (!grow(table) && count >= table->bucket_count - table->bucket_count / 8) return NULL;
    table = atomic_load_explicit(&current, memory_order_relaxed);
  }
  struct fwd_selector_record *record = malloc(sizeof *record + length + 1);
  if (!record) return NULL;
  record->length = length;
  memcpy(record->name, name, length + 1);
  add(table, record, hash);
  count++;
  return record;
}

/// The length of a name that can be a selector's, else 0.
static size_t usable_length(const char *name) {
  if (!name) return 0;
  // `memchr` reads in order and stops at the NUL, so it reads no byte after the string.
  const char *end = memchr(name, 0, name_limit + 1);
  return end ? (size_t)(end - name) : 0;
}

fwd_selector fwd_selector_find_bytes(const char *name, size_t length) {
  return find(name, length, fwd_hash_bytes(name, length));
}

fwd_selector fwd_selector_find(const char *name) {
  size_t length = usable_length(name);
  return length == 0 ? NULL : fwd_selector_find_bytes(name, length);
}

fwd_selector fwd_selector_register(const char *name) {
  size_t length = usable_length(name);
  if (length == 0) {
    fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "a selector's name has 1 to %d bytes", name_limit);
    return NULL;
  }
  uint64_t hash = fwd_hash_bytes(name, length);
  struct fwd_selector_record *record = find(name, length, hash);
  if (record) return record;
  fwd_lock_lock(&insertion_lock);
  // Another thread may have inserted the name since.
  record = find(name, length, hash);
  if (!record) record = insert(name, length, hash);
  fwd_lock_unlock(&insertion_lock);
  if (!record) fwd_fail(NULL, FWD_NO_MEMORY, 0, "no memory for the selector \"%.100s\"", name);
  return record;
}

const char *fwd_selector_name(fwd_selector selector) { return selector ? selector->name : ""; }
