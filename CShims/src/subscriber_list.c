// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The ordered records of a proxy: an array that is counted by reference. A reader holds the array that it
/// found and the count that it had. A writer appends in place, which no reader sees, and does everything
/// else in place only while there is no reader, else in a copy.
///
/// The lock covers a few loads and stores, never a subscriber and never the release of a record, since both
/// run foreign code.

#include "subscriber_list.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

struct fwd_record_array {
  _Atomic size_t references;
  size_t count;
  size_t capacity;
  fwd_record *records[];
};

struct fwd_subscriber_list {
  pthread_mutex_t lock;
  struct fwd_record_array *array;
};

// MARK: Arrays

static struct fwd_record_array *array_create(size_t capacity) {
  struct fwd_record_array *array = malloc(sizeof *array + capacity * sizeof array->records[0]);
  if (!array) return NULL;
  atomic_init(&array->references, 1);
  array->count = 0;
  array->capacity = capacity;
  return array;
}

static void array_release(struct fwd_record_array *array) {
  if (!array || atomic_fetch_sub_explicit(&array->references, 1, memory_order_acq_rel) != 1) return;
  for (size_t i = 0; i < array->count; i++) fwd_record_release(array->records[i]);
  free(array);
}

/// Whether nobody but the list uses the array. Under the lock no reader can come; acquire, so that what
/// those who left had read is not overwritten before they read it.
static bool array_is_unshared(struct fwd_record_array *array) {
  return atomic_load_explicit(&array->references, memory_order_acquire) == 1;
}

/// Copies all records but `skipped` (SIZE_MAX for none), with room for one more.
static struct fwd_record_array *array_copy(const struct fwd_record_array *array, size_t skipped) {
  size_t count = array ? array->count : 0;
  struct fwd_record_array *copy = array_create(count < 4 ? 8 : count * 2);
  if (!copy) return NULL;
  for (size_t i = 0; i < count; i++) {
    if (i != skipped) copy->records[copy->count++] = fwd_record_retain(array->records[i]);
  }
  return copy;
}

// MARK: The list

fwd_subscriber_list *fwd_list_create(void) {
  fwd_subscriber_list *list = malloc(sizeof *list);
  if (!list) return NULL;
  list->array = NULL;
  pthread_mutex_init(&list->lock, NULL);
  return list;
}

void fwd_list_destroy(fwd_subscriber_list *list) {
  if (!list) return;
  array_release(list->array);
  pthread_mutex_destroy(&list->lock);
  free(list);
}

fwd_snapshot fwd_list_enter(fwd_subscriber_list *list) {
  fwd_snapshot snapshot = {NULL, 0, NULL};
  pthread_mutex_lock(&list->lock);
  if (list->array && list->array->count > 0) {
    atomic_fetch_add_explicit(&list->array->references, 1, memory_order_relaxed);
    snapshot = (fwd_snapshot){list->array->records, list->array->count, list->array};
  }
  pthread_mutex_unlock(&list->lock);
  return snapshot;
}

void fwd_list_leave(fwd_snapshot snapshot) { array_release(snapshot.array); }

bool fwd_list_insert(fwd_subscriber_list *list, fwd_record *record, size_t index) {
  struct fwd_record_array *old = NULL;
  pthread_mutex_lock(&list->lock);
  struct fwd_record_array *array = list->array;
  size_t count = array ? array->count : 0;
  bool fits = array && count < array->capacity && (index == count || array_is_unshared(array));
  if (!fits) {
    struct fwd_record_array *copy = array_copy(array, SIZE_MAX);
    if (!copy) {
      pthread_mutex_unlock(&list->lock);
      return false;
    }
    old = array;
    list->array = array = copy;
  }
  memmove(&array->records[index + 1], &array->records[index], (count - index) * sizeof array->records[0]);
  array->records[index] = fwd_record_retain(record);
  array->count = count + 1;
  pthread_mutex_unlock(&list->lock);
  array_release(old);
  return true;
}

void fwd_list_remove(fwd_subscriber_list *list, size_t index) {
  struct fwd_record_array *old = NULL;
  fwd_record *removed = NULL;
  pthread_mutex_lock(&list->lock);
  struct fwd_record_array *array = list->array;
  fwd_record_end(array->records[index]);
  if (!array_is_unshared(array)) {
    struct fwd_record_array *copy = array_copy(array, index);
    if (copy) {
      old = array;
      list->array = copy;
    }
    // Without memory for a copy the ended record stays, passed over, until the next change.
  } else {
    removed = array->records[index];
    array->count--;
    memmove(&array->records[index], &array->records[index + 1],
            (array->count - index) * sizeof array->records[0]);
  }
  pthread_mutex_unlock(&list->lock);
  array_release(old);
  fwd_record_release(removed);
}

bool fwd_list_move(fwd_subscriber_list *list, size_t from, size_t to) {
  if (from == to) return true;
  struct fwd_record_array *old = NULL;
  pthread_mutex_lock(&list->lock);
  struct fwd_record_array *array = list->array;
  if (!array_is_unshared(array)) {
    struct fwd_record_array *copy = array_copy(array, SIZE_MAX);
    if (!copy) {
      pthread_mutex_unlock(&list->lock);
      return false;
    }
    old = array;
    list->array = array = copy;
  }
  fwd_record **records = array->records, *record = records[from];
  if (from < to) {
    memmove(&records[from], &records[from + 1], (to - from) * sizeof *records);
  } else {
    memmove(&records[to + 1], &records[to], (from - to) * sizeof *records);
  }
  records[to] = record;
  pthread_mutex_unlock(&list->lock);
  array_release(old);
  return true;
}

size_t fwd_list_count(fwd_subscriber_list *list) { return list->array ? list->array->count : 0; }

fwd_record *fwd_list_record(fwd_subscriber_list *list, size_t index) { return list->array->records[index]; }

size_t fwd_list_index(fwd_subscriber_list *list, fwd_subscription identifier) {
  for (size_t i = 0; i < fwd_list_count(list); i++) {
    if (fwd_record_identifier(list->array->records[i]) == identifier) return i;
  }
  return SIZE_MAX;
}
