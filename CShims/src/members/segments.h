// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The order of a list: segments of records, as fan-outs read them and as the writer changes them. segments.c explains
/// both, with a drawing.

#ifndef FWD_SRC_SEGMENTS_H
#define FWD_SRC_SEGMENTS_H

#include "fwd_list.h"
#include "fwd_taps.h"
#include "members/member_index.h"
#include "members/order_tree.h"
#include "members/record_store.h"
#include "reclaim/hazard.h"

/// A run of records. A fan-out reads `records[first]` up to `records[end]`.
typedef struct fwd_segment {
  /// The records before it have ended. It grows only in the first segment of a list.
  _Atomic size_t first;
  /// It grows only in the last segment of a list.
  _Atomic size_t end;
  _Atomic(struct fwd_segment *) next;
  /// Whether some record may hold its object weakly.
  _Atomic bool has_weak;
  /// The version of the list that made the segment.
  uint64_t version;
  /// The segment that this one has replaced; NULL if there was none. Only a fan-out that began before `version`
  /// follows it.
  struct fwd_segment *older;
  /// `end` and the list's `appended` when the segment was made.
  size_t first_end;
  uint64_t first_appended;
  size_t capacity;
  fwd_retired retired;
  struct fwd_subscriber_list *list;
  /// Ended records that are freed with this segment: the array, and the first ones of `records`.
  fwd_record **dropped;
  size_t dropped_count;
  size_t dropped_prefix;
  fwd_record *records[];
} fwd_segment;

/// The writer's view of a segment. It keeps its identity when the segment is replaced.
typedef struct fwd_chunk {
  /// First, so that a pointer to the node is one to the chunk.
  fwd_order_node node;
  fwd_segment *segment;
  struct fwd_chunk *previous, *next;
} fwd_chunk;

/// How many tables a list can find by their keys.
enum { FWD_SHARED_TABLES = 4 };

typedef struct fwd_subscriber_list {
  /// What readers enter. First: see garbage.h.
  fwd_domain domain;
  // What fan-outs read.
  _Atomic(fwd_segment *) head;
  /// Counts the changes that have replaced or added a segment.
  _Atomic uint64_t version;
  /// Counts the records that have been appended in place.
  _Atomic uint64_t appended;
  /// The owner's reference, and one for each segment that has been retired and not been freed.
  _Atomic size_t references;

  // The rest is the writer's.
  fwd_record_store store;
  fwd_member_index index;
  /// The number of the next subscription, unless it is the first of a block: see `next_identifier`.
  uint64_t next_number;
  /// The records that fan-outs read, and those of them that have ended.
  size_t count, ended;
  /// The records that fan-outs have visited since the last compaction, in fan-outs that met ended ones.
  size_t visited;
  fwd_order_tree order;
  fwd_chunk *first, *last;
  size_t chunk_count;
  /// The first chunk, which is part of the list. Most lists have no other.
  fwd_chunk own_chunk;
  bool is_own_chunk_taken;
  /// Whether the list is to look for dead objects, and the record that it checks next: see `sweep`.
  bool is_sweep_due;
  fwd_chunk *hand;
  size_t hand_index;
  /// The chunk of each record, by slot; NULL until it is needed.
  fwd_chunk **homes;
  size_t home_count;
  /// Priorities by slot. A record with a later slot has priority 0.
  int64_t *priorities;
  size_t priority_count;
  /// The draft that the writer changes instead of what fan-outs read: see draft.c. NULL for none.
  struct fwd_draft *draft;
  /// See `fwd_list_observe`. NULL for none.
  fwd_end_observer on_end;
  void *on_end_context;
  /// See `fwd_list_share_table`. Only the writer follows these pointers.
  _Atomic(fwd_dispatch_table *) shared[FWD_SHARED_TABLES];
  /// Whether there was no room for one of them.
  _Atomic bool shares_more;
  size_t method_count;
  /// The memory that the list is part of.
  void *allocation;
  /// By method; NULL until a method is intercepted by closures.
  _Atomic(_Atomic(fwd_taps *) *) taps;
  /// By method; NULL until fan-outs have asked many records in vain. See responders.h.
  _Atomic(_Atomic(struct fwd_responders *) *) responders;
  /// How many records fan-outs have asked for methods in vain.
  _Atomic size_t vain;
  /// By method: the number of tables that implement it and have a subscriber that is not blocked; and in the highest
  /// bits FWD_METHOD_FLAGS. In one word, so that a fan-out has one load for both.
  _Atomic uint32_t tables[];
} fwd_subscriber_list;

// MARK: Reading

/// The segment of lists that have none yet.
extern __attribute__((visibility("hidden"))) const fwd_segment fwd_no_records;

/// The records of a list at one moment. Later ones are not in it; those that end are still there.
typedef struct fwd_reading {
  fwd_record *const *records;
  size_t count;
  bool has_weak;
  /// Whether there are more segments. Then the caller reads the list by `fwd_span_first` instead.
  bool is_long;
  fwd_guard guard;
} fwd_reading;

/// Reads the list at this moment, for a thread that has entered its domain.
static inline __attribute__((always_inline)) fwd_reading fwd_list_read(fwd_subscriber_list *list, fwd_guard guard) {
  const fwd_segment *segment = atomic_load_explicit(&list->head, memory_order_acquire);
  // A shared empty segment instead of an early return: a second path would spill the struct and defeat store
  // forwarding.
  if (__builtin_expect(!segment, 0)) segment = &fwd_no_records;
  bool is_long = atomic_load_explicit(&segment->next, memory_order_acquire) != NULL;
  // In this order: `first` never passes an `end` that is loaded later.
  size_t first = atomic_load_explicit(&segment->first, memory_order_acquire);
  // Acquire: the records below `end` were written before it was, and `has_weak` too.
  size_t end = atomic_load_explicit(&segment->end, memory_order_acquire);
  bool has_weak = atomic_load_explicit(&segment->has_weak, memory_order_relaxed);
  fwd_record *const *records = segment->records;
  if (__builtin_expect(first != 0, 0)) {
    records += first;
    // A branch, so that the processor loads the first record at once. An addition would wait for `first`.
    __asm__("" : "+r"(records));
  }
  return (fwd_reading){records, end - first, has_weak, is_long, guard};
}

/// Begins to read, on one thread, until `fwd_list_leave`. It takes no lock. After the thread's first entry
/// (`fwd_hazard_find_and_note`) it writes no memory that threads share. `first` is that of `fwd_hazard_enter_within`.
static inline __attribute__((always_inline)) fwd_reading fwd_list_enter_within(fwd_subscriber_list *list, size_t first) {
  return fwd_list_read(list, fwd_hazard_enter_within(&list->domain, first));
}

static inline __attribute__((always_inline)) fwd_reading fwd_list_enter(fwd_subscriber_list *list) {
  return fwd_list_enter_within(list, 0);
}

static inline void fwd_list_leave(const fwd_reading *reading) { fwd_hazard_leave(reading->guard); }

/// The records of one segment, in a reading of a list of any length.
typedef struct fwd_span {
  fwd_record *const *records;
  size_t count;
  bool has_weak;
  const fwd_segment *segment;
  /// Those of the list when the reading began.
  uint64_t version, appended;
} fwd_span;

/// Finds the first span that has records. False if there is none. Between `fwd_list_enter` and `fwd_list_leave`.
bool fwd_span_first(const fwd_subscriber_list *list, fwd_span *span);
/// Begins the same reading again, at the version that `span` has.
bool fwd_span_again(const fwd_subscriber_list *list, fwd_span *span);
/// Finds the next span that has records. False if there is none.
bool fwd_span_next(fwd_span *span);

// MARK: Drafts

/// The writer's view of the order, while a draft takes its place in the list.
typedef struct fwd_arrangement {
  size_t count, ended, visited;
  fwd_order_tree order;
  fwd_chunk *first, *last;
  size_t chunk_count;
  fwd_chunk *hand;
  size_t hand_index;
  fwd_chunk **homes;
  size_t home_count;
} fwd_arrangement;

/// Makes the list's order a copy that no fan-out reads. `list->draft` must be set next. `*published` receives what
/// fan-outs read, and `*dropped` an array of the `*dropped_count` ended records that the copy leaves out; it may be NULL if
/// there are none. Returns false if memory is short, and leaves the records as they are. O(n).
bool fwd_segments_begin_draft(fwd_subscriber_list *list, fwd_arrangement *published, fwd_record ***dropped,
                              size_t *dropped_count);
/// Makes the draft what fan-outs read, in one step. Takes `dropped`: the records that no new fan-out finds. Does not fail.
/// `list->draft` must be NULL again.
void fwd_segments_publish(fwd_subscriber_list *list, fwd_arrangement *published, fwd_record **dropped,
                          size_t dropped_count, fwd_garbage *garbage);
/// Frees the draft, and restores the order that fan-outs read.
void fwd_segments_discard(fwd_subscriber_list *list, const fwd_arrangement *published);
/// Takes a record out of a draft. O(log n) amortised, and O(m) in the records of its segment.
void fwd_segments_take_out(fwd_subscriber_list *list, const fwd_record *record);

// MARK: Changing

static inline uintptr_t fwd_record_word(const fwd_record *record) {
  // The writer's own store, or that of a writer before it.
  return atomic_load_explicit(&record->held, memory_order_relaxed);
}

/// Whether the subscription has ended. For the writer.
static inline bool fwd_record_has_ended(const fwd_record *record) {
  return fwd_held_has_ended(fwd_record_word(record));
}

/// The first index of a segment's records, for the writer.
static inline size_t fwd_segment_first(const fwd_segment *segment) {
  return atomic_load_explicit(&segment->first, memory_order_relaxed);
}

/// The end of a segment's records, for the writer.
static inline size_t fwd_segment_end(const fwd_segment *segment) {
  return atomic_load_explicit(&segment->end, memory_order_relaxed);
}

/// Inserts a record before the one at `index`, or at the end if `index` is not below the count. False if memory is short.
/// Amortised O(1) at the end, else O(log n).
bool fwd_segments_insert(fwd_subscriber_list *list, fwd_record *record, size_t index, fwd_garbage *garbage);
/// Moves a record to the index that `to` is in the list without it, and sets its priority. False if memory is short, and
/// then neither has changed. O(log n).
bool fwd_segments_move(fwd_subscriber_list *list, size_t from, size_t to, int64_t priority, fwd_garbage *garbage);
/// Removes the records that have ended at the front of the first segment. Returns whether that leaves it empty and another
/// segment follows, which `fwd_segments_skip_ended` makes the first one. Amortised O(1).
bool fwd_segments_skip_in_place(fwd_subscriber_list *list);
/// Removes the records that have ended at the front. Amortised O(1).
void fwd_segments_skip_ended(fwd_subscriber_list *list, fwd_garbage *garbage);
/// Copies the records that have not ended into new segments. False if memory is short. O(n).
bool fwd_segments_compact(fwd_subscriber_list *list, fwd_garbage *garbage);
/// The record at an index. O(log n).
fwd_record *fwd_segments_at(const fwd_subscriber_list *list, size_t index);
/// The index of a record. O(log n) amortised; O(n) without memory for `homes`.
size_t fwd_segments_index(fwd_subscriber_list *list, const fwd_record *record);
/// `fwd_segments_priority_index` of a list with priorities.
size_t fwd_segments_find_priority(fwd_subscriber_list *list, int64_t priority, const fwd_record *except);
/// The index after the last live record of this priority or a higher one, but for `except` (unless it is NULL).
/// Amortised O(log n).
static inline size_t fwd_segments_priority_index(fwd_subscriber_list *list, int64_t priority,
                                                 const fwd_record *except) {
  // All have this priority or a higher one.
  if ((!list->priorities && priority <= 0) || priority == INT64_MIN) return list->count;
  return fwd_segments_find_priority(list, priority, except);
}
/// A record's priority. O(1).
int64_t fwd_segments_priority(const fwd_subscriber_list *list, const fwd_record *record);
/// Stores the priority of a record's slot. False if memory is short. Amortised O(log n).
bool fwd_segments_store_priority(fwd_subscriber_list *list, uint32_t slot, int64_t priority);
/// Sets a record's priority. False if memory is short. Amortised O(log n).
static inline bool fwd_segments_set_priority(fwd_subscriber_list *list, const fwd_record *record, int64_t priority) {
  uint32_t slot = fwd_slot_of(record->identifier);
  if (priority == 0 && slot >= list->priority_count) return true;
  return fwd_segments_store_priority(list, slot, priority);
}
size_t fwd_segments_footprint(const fwd_subscriber_list *list);
/// Frees all segments and records of a list that nobody reads and whose subscriptions have ended, then the owner's
/// reference.
void fwd_segments_destroy(fwd_subscriber_list *list);

#endif
