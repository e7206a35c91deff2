// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Selectors: one record a name, for the life of the process, so that names compare as pointers.

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fwd_selector.h"
#include "base/hash.h"

struct fwd_selector_record {
  uint64_t hash;
  struct fwd_selector_record *next;
  size_t length;
  char name[];
};

// Chains are only ever prepended to, so readers follow them without a lock. The number of buckets is fixed:
// a process has some hundreds of selectors, and a hundred thousand still make chains of 25.
enum { bucket_count = 4096, name_limit = 65535 };
typedef _Atomic(struct fwd_selector_record *) bucket;
static bucket buckets[bucket_count];
static pthread_mutex_t insertion_lock = PTHREAD_MUTEX_INITIALIZER;

static struct fwd_selector_record *find_in(struct fwd_selector_record *record, const char *name, size_t length,
                                           uint64_t hash) {
  for (; record; record = record->next) {
    if (record->hash == hash && record->length == length && memcmp(record->name, name, length) == 0) break;
  }
  return record;
}

/// The length of a name that can be a selector's, else 0.
static size_t usable_length(const char *name) {
  if (!name) return 0;
  // `memchr` reads in order and stops at the NUL, so nothing behind it is touched.
  const char *end = memchr(name, 0, name_limit + 1);
  return end ? (size_t)(end - name) : 0;
}

fwd_selector fwd_selector_find_bytes(const char *name, size_t length) {
  uint64_t hash = fwd_hash_bytes(name, length);
  // Acquire: the record that the bucket points to was filled before it was published.
  return find_in(atomic_load_explicit(&buckets[hash % bucket_count], memory_order_acquire), name, length, hash);
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
  fwd_selector found = fwd_selector_find(name);
  if (found) return found;
  uint64_t hash = fwd_hash_bytes(name, length);
  bucket *chain = &buckets[hash % bucket_count];
  pthread_mutex_lock(&insertion_lock);
  struct fwd_selector_record *head = atomic_load_explicit(chain, memory_order_relaxed);
  struct fwd_selector_record *record = find_in(head, name, length, hash);
  if (!record && (record = malloc(sizeof *record + length + 1))) {
    record->hash = hash;
    record->next = head;
    record->length = length;
    memcpy(record->name, name, length + 1);
    atomic_store_explicit(chain, record, memory_order_release);
  }
  pthread_mutex_unlock(&insertion_lock);
  if (!record) fwd_fail(NULL, FWD_NO_MEMORY, 0, "no memory for the selector \"%.100s\"", name);
  return record;
}

const char *fwd_selector_name(fwd_selector selector) { return selector ? selector->name : ""; }
