// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The list as its readers see it.

#ifndef FWD_SRC_SUBSCRIBER_LIST_H
#define FWD_SRC_SUBSCRIBER_LIST_H

#include "reclaim/hazard.h"
#include "members/member_index.h"
#include "members/record_store.h"

/// A published array. Records are appended in place, behind the count that readers have seen; every
/// other change makes a new array.
typedef struct fwd_record_array {
  _Atomic size_t count;
  size_t capacity;
  /// Whether some record may be weak.
  _Atomic bool has_weak;
  fwd_retired retired;
  struct fwd_subscriber_list *list;
  /// Records that later arrays do not have, to be given up with this one.
  fwd_record **dropped;
  size_t dropped_count;
  fwd_record *records[];
} fwd_record_array;

struct fwd_subscriber_list {
  _Atomic(fwd_record_array *) array;
  /// The owner's, and one for each array that has been replaced and not been freed.
  _Atomic size_t references;
  fwd_record_store store;
  fwd_member_index index;
  /// For the next subscription, unless it is the first of a block: see `next_identifier`.
  uint64_t next_number;
  /// Records in the array that have ended.
  size_t ended;
  /// How many there are when those that have died are looked for, if the array has to grow then.
  size_t next_check;
  size_t method_count;
  /// The tables with subscribers that implement a method and are not blocked, by method; and above
  /// that, in one word, so that a fan-out has no more to load, FWD_INTERCEPTED and FWD_ANSWERED.
  _Atomic uint32_t tables[];
};

/// Fan-outs of the method are intercepted.
#define FWD_INTERCEPTED UINT32_C(0x80000000)
/// Those who intercept it respond; with FWD_INTERCEPTED only.
#define FWD_ANSWERED UINT32_C(0x40000000)

/// The array of lists that have none yet.
extern __attribute__((visibility("hidden"))) const fwd_record_array fwd_no_records;

fwd_subscriber_list *fwd_list_create(size_t method_count);
/// Ends all subscriptions. Their records stay in the array until `fwd_list_destroy`. No fan-out is under way, so
/// the caller may free the garbage at once.
void fwd_list_close(fwd_subscriber_list *list, fwd_garbage *garbage);
/// Frees a list that has been closed, or that never had a subscription. NULL is ignored.
void fwd_list_destroy(fwd_subscriber_list *list);

// MARK: Changing

/// Puts what a change has left to the rest of it.
static inline void fwd_leave_behind(fwd_garbage *garbage, fwd_retired *retired,
                                    const void *announced, void (*release)(fwd_retired *retired)) {
  *retired = (fwd_retired){.next = garbage->first, .announced = announced, .free = release};
  garbage->first = retired;
}

/// Says that a table has one responder more, or one less; the writer's.
void fwd_list_add_responder(fwd_subscriber_list *list, fwd_dispatch_table *table);
void fwd_list_drop_responder(fwd_subscriber_list *list, fwd_dispatch_table *table);

// MARK: Reading

/// The records as they were at one moment. Later ones are not in it; those that end are still there.
typedef struct fwd_reading {
  fwd_record *const *records;
  size_t count;
  bool has_weak;
  fwd_guard guard;
} fwd_reading;

/// Reads, on one thread, until `fwd_list_leave`: without a lock, and without a count that threads
/// share.
static inline __attribute__((always_inline)) fwd_reading fwd_list_enter(fwd_subscriber_list *list) {
  fwd_guard guard = fwd_hazard_enter(list);
  const fwd_record_array *array = atomic_load_explicit(&list->array, memory_order_acquire);
  // An empty one rather than a way of its own for lists that never had any: the parts stay in
  // registers, where one that is written in words and read in pairs of them would have to wait.
  if (__builtin_expect(!array, 0)) array = &fwd_no_records;
  // Acquire: the records below the count were filled before it was stored, and `has_weak` with them.
  size_t count = atomic_load_explicit(&array->count, memory_order_acquire);
  bool has_weak = atomic_load_explicit(&array->has_weak, memory_order_relaxed);
  return (fwd_reading){array->records, count, has_weak, guard};
}

/// The word of a method. Acquire: who finds a responder, or an interceptor, finds whom.
static inline uint32_t fwd_list_tables(const fwd_subscriber_list *list, size_t method) {
  return atomic_load_explicit(&list->tables[method], memory_order_acquire);
}

/// Whether some subscription implements a method, whoever intercepts it.
static inline bool fwd_tables_have_some(uint32_t tables) {
  return (tables & ~(FWD_INTERCEPTED | FWD_ANSWERED)) != 0;
}

static inline void fwd_list_leave(const fwd_reading *reading) {
  fwd_hazard_leave(reading->guard, true);
}

#endif
