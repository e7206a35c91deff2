// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The list of a proxy's subscriptions: how they join, end and are found. segments.c keeps their order.
///
///     list ──► segments: pointers to records, in order                   8 to 12 bytes a subscriber
///          ├─► store: the records; an identifier names one by its slot  40 bytes a subscriber
///          ├─► index: the newest record of each object, by address       5 to 11 bytes a subscriber
///          └─► responders: pointers to the records of one method        8 bytes each, for methods that many records lack
///
/// A subscription goes through these states. A reader always sees one of them in the record's word (held.h):
///
///     live ──► dead or used up ──► ended ──► removed ──► freed
///       └───────────────────────────▲
///
/// - *Live*: deliveries are made.
/// - *Dead*: the weakly held object has begun to deinitialise, or *used up*: the limit of deliveries has been reached. No
///   delivery is made, but the list has not noticed yet. A fan-out that visits such a record has the list notice, and
///   so does a query. Subscriptions that join have the list check old records, on average two each (`sweep`).
/// - *Ended*: the record has its mark and is out of the index. It is a tombstone in its segment. What the subscription
///   held strongly, and its function table, are retired, so they are freed as soon as no fan-out reads the list.
/// - *Removed*: compaction has left the record out of the new segments. It goes with the old segment, which is retired.
/// - *Freed*: no fan-out can reach the record. Its weak reference is destroyed, which gives the memory of a dead object
///   back, and its slot is used for the next subscription.

#include "members/subscriber_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/hot.h"
#include "base/small_code.h"
#include "fwd_draft.h"
#include "members/responders.h"
#include "members/taps.h"

// MARK: Records

static _Atomic uint64_t subscriptions;

enum {
  /// The numbers of subscriptions that a list takes at a time, since all threads share the count.
  numbers_at_a_time = 16,
  /// See `sweep`.
  few_records = 8,
};

/// Takes the next number of a subscription.
static inline fwd_subscription next_identifier(fwd_subscriber_list *list, uint32_t slot) {
  if (FWD_RARELY(list->next_number % numbers_at_a_time == 0)) {
    list->next_number = atomic_fetch_add_explicit(&subscriptions, numbers_at_a_time, memory_order_relaxed);
    // The identifier 0 is no subscription.
    if (list->next_number << FWD_SLOT_BITS == 0) list->next_number++;
    // This comes once in so many subscriptions.
    list->is_sweep_due = true;
  }
  return list->next_number++ << FWD_SLOT_BITS | slot;
}

fwd_subscription fwd_record_identifier(const fwd_record *record) { return record->identifier; }

bool fwd_record_is_live(const fwd_record *record) { return fwd_record_lives(record); }

bool fwd_record_is_blocked(const fwd_record *record) { return fwd_held_is_blocked(fwd_record_held(record)); }

/// Releases what a subscription held that was not weak.
static void finish_end(fwd_end *end) {
  if (end->destroy) end->destroy(end->receiver);
  fwd_object_release(end->object);
  free(end);
}

static void free_end(fwd_retired *retired) {
  finish_end((fwd_end *)((char *)retired - offsetof(fwd_end, retired)));
}

// MARK: Tables

static void finish_use(fwd_table_use *use) {
  fwd_dispatch_table *table = use->table;
  if (use == &table->own_use) {
    // Before the release, which may free the table. Release: the next list that takes it finds it as this one leaves it.
    atomic_store_explicit(&table->is_own_use_taken, false, memory_order_release);
  } else {
    free(use);
  }
  fwd_dispatch_table_release(table);
}

static void free_use(fwd_retired *retired) {
  finish_use((fwd_table_use *)((char *)retired - offsetof(fwd_table_use, retired)));
}

/// Makes sure that a table can have one more subscriber. False if memory is short.
static bool prepare_use(fwd_dispatch_table *table) {
  if (table->use) return true;
  fwd_table_use *use = &table->own_use;
  if (atomic_load_explicit(&table->is_own_use_taken, memory_order_acquire)) {
    // A fan-out that began before the last subscriber left still has it.
    use = malloc(sizeof *use);
    if (!use) return false;
  } else {
    atomic_store_explicit(&table->is_own_use_taken, true, memory_order_relaxed);
  }
  use->table = fwd_dispatch_table_retain(table);
  table->use = use;
  return true;
}

/// Counts one more subscriber of a table. Only the writer changes the count.
static void add_member(fwd_dispatch_table *table) {
  atomic_store_explicit(&table->members, fwd_table_members(table) + 1, memory_order_relaxed);
}

void fwd_list_count_methods(fwd_subscriber_list *list, const fwd_dispatch_table *table, uint32_t change) {
  for (size_t i = 0; i < table->count && i < list->method_count; i++) {
    if (fwd_implementation_is_empty(&table->implementations[i])) continue;
    // Release: the table's functions are there for a reader that sees its count. Its record may come later.
    atomic_fetch_add_explicit(&list->tables[i], change, memory_order_release);
  }
}

FWD_SMALL_CODE_BEGIN

bool fwd_list_share_table(fwd_subscriber_list *list, fwd_dispatch_table *table) {
  // The list's reference to the table ends with the last subscription.
  if (fwd_table_members(table) == 0) return true;
  for (size_t i = 0; i < FWD_SHARED_TABLES; i++) {
    if (atomic_load_explicit(&list->shared[i], memory_order_relaxed) == table) return true;
  }
  for (size_t i = 0; i < FWD_SHARED_TABLES; i++) {
    if (atomic_load_explicit(&list->shared[i], memory_order_relaxed)) continue;
    atomic_store_explicit(&list->shared[i], table, memory_order_relaxed);
    return true;
  }
  atomic_store_explicit(&table->is_found_elsewhere, true, memory_order_relaxed);
  atomic_store_explicit(&list->shares_more, true, memory_order_relaxed);
  return false;
}

bool fwd_list_has_room_to_share(const fwd_subscriber_list *list) {
  for (size_t i = 0; i < FWD_SHARED_TABLES; i++) {
    if (!atomic_load_explicit(&list->shared[i], memory_order_relaxed)) return true;
  }
  return false;
}

bool fwd_list_may_share(const fwd_subscriber_list *list) { return fwd_list_may_share_inline(list); }

fwd_dispatch_table *fwd_list_shared_table(const fwd_subscriber_list *list, const void *key) {
  return fwd_list_shared_table_inline(list, key);
}

static void unshare(fwd_subscriber_list *list, const fwd_dispatch_table *table) {
  for (size_t i = 0; i < FWD_SHARED_TABLES; i++) {
    if (atomic_load_explicit(&list->shared[i], memory_order_relaxed) != table) continue;
    atomic_store_explicit(&list->shared[i], NULL, memory_order_relaxed);
  }
}

FWD_SMALL_CODE_END

/// Uncounts one subscriber of a table. With the last one the list's reference to the table becomes garbage.
static void leave_table(fwd_subscriber_list *list, fwd_dispatch_table *table,
                        fwd_garbage *garbage) {
  size_t left = fwd_table_members(table) - 1;
  if (left == 0) {
    unshare(list, table);
    fwd_table_use *use = table->use;
    table->use = NULL;
    fwd_leave_behind(garbage, &use->retired, list, free_use);
  }
  // Release: the next list that takes the table finds it as this one leaves it.
  atomic_store_explicit(&table->members, left, memory_order_release);
}

// MARK: Ending

/// Tells the observers that a subscription ends, and uncounts it as a responder. The table's observer is told if `tells`.
static void note_end(fwd_subscriber_list *list, fwd_record *record, bool tells) {
  uintptr_t before = fwd_record_word(record), held = fwd_held_behind_gate(before);
  if (list->on_end) {
    bool died = !fwd_held_is_used_up(before) && fwd_held_is_weak(held) && fwd_weak_has_died(held);
    list->on_end(list->on_end_context, record->identifier, died);
  }
  fwd_dispatch_table *table = record->table;
  if (FWD_RARELY(table->ended != NULL) && tells && !fwd_held_is_used_up(before)) table->ended(table->ended_context);
  if (!fwd_held_is_blocked(before)) fwd_list_drop_responder(list, table);
}

/// Makes garbage of what a subscription holds that is not weak. `held` is its word without a gate.
static void give_up(fwd_subscriber_list *list, uintptr_t held, fwd_dispatch_table *table, fwd_garbage *garbage) {
  if (!fwd_held_is_weak(held)) {
    fwd_leave_behind(garbage, &fwd_record_end(held)->retired, list, free_end);
  }
  leave_table(list, table, garbage);
}

/// Ends a subscription. Its record stays in its segment. The table's observer is told if `tells`. `fwd_list_end_plain` repeats
/// this, with `note_end`, `give_up` and `leave_table`, for plain subscriptions.
static void end_telling(fwd_subscriber_list *list, fwd_record *record, bool tells, fwd_garbage *garbage) {
  fwd_index_remove(&list->index, &list->store, record);
  list->ended++;
  note_end(list, record, tells);
  uintptr_t before = fwd_record_word(record), held = fwd_held_behind_gate(before);
  // Release: see `fwd_record_held`.
  atomic_store_explicit(&record->held, fwd_held_ended(held), memory_order_release);
  if (fwd_held_is_gated(before)) fwd_gate_leave(fwd_gate_of(before), list, garbage);
  give_up(list, held, record->table, garbage);
}

FWD_SMALL_CODE_BEGIN

bool fwd_list_hold_left(const fwd_record *record, fwd_end **held) {
  *held = NULL;
  uintptr_t word = fwd_held_behind_gate(fwd_record_word(record));
  if (!fwd_held_is_weak(word)) return true;
  fwd_end *made = calloc(1, sizeof *made);
  if (!made) return false;
  made->object = fwd_weak_take(word);
  if (made->object) {
    *held = made;
  } else {
    free(made);
  }
  return true;
}

void fwd_list_release_left(fwd_subscriber_list *list, fwd_end *held, fwd_garbage *garbage) {
  if (held) fwd_leave_behind(garbage, &held->retired, list, free_end);
}

void fwd_list_end_left(fwd_subscriber_list *list, fwd_record *record, fwd_end *held, fwd_garbage *garbage) {
  fwd_list_release_left(list, held, garbage);
  note_end(list, record, true);
  give_up(list, fwd_held_behind_gate(fwd_record_word(record)), record->table, garbage);
}

FWD_SMALL_CODE_END

static void end(fwd_subscriber_list *list, fwd_record *record, fwd_garbage *garbage) {
  end_telling(list, record, true, garbage);
}

// MARK: Noticing

void fwd_list_compact_if_worth(fwd_subscriber_list *list, fwd_garbage *garbage) {
  fwd_segments_skip_ended(list, garbage);
  // Without memory the ended records stay.
  if (fwd_list_is_worth_compacting(list)) fwd_segments_compact(list, garbage);
}

/// Ends the subscriptions of the first `limit` records that are dead or used up.
static void end_dead(fwd_subscriber_list *list, size_t limit, fwd_garbage *garbage) {
  for (const fwd_chunk *chunk = list->first; chunk && limit > 0; chunk = chunk->next) {
    const fwd_segment *segment = chunk->segment;
    for (size_t i = fwd_segment_first(segment); i < fwd_segment_end(segment) && limit > 0; i++, limit--) {
      fwd_record *record = segment->records[i];
      if (!fwd_record_has_ended(record) && !fwd_record_lives(record)) end(list, record, garbage);
    }
  }
}

bool fwd_list_prune(fwd_subscriber_list *list, fwd_garbage *garbage) {
  end_dead(list, SIZE_MAX, garbage);
  fwd_segments_skip_ended(list, garbage);
  bool is_clean = !list->first || (list->ended == 0 && fwd_segment_first(list->first->segment) == 0);
  return is_clean || fwd_segments_compact(list, garbage);
}

void fwd_list_prune_visited(fwd_subscriber_list *list, size_t visited, fwd_garbage *garbage) {
  if (visited > list->count) visited = list->count;
  end_dead(list, visited, garbage);
  list->visited = list->ended > 0 ? list->visited + visited : 0;
  fwd_list_compact_if_worth(list, garbage);
}

/// Checks the next records, and ends those that are dead or used up. In a list of up to `few_records` each subscription that
/// joins checks two. In a longer one every 16th checks 32, which takes half the time. After the last record comes the first
/// again. So deaths are noticed even if nobody forwards: n/2 new subscriptions check a list of n records once.
__attribute__((noinline)) static void sweep(fwd_subscriber_list *list, fwd_garbage *garbage) {
  bool found = false;
  size_t left = list->is_sweep_due ? 2 * numbers_at_a_time : 2;
  list->is_sweep_due = false;
  if (left > list->count) left = list->count;
  while (left > 0) {
    if (!list->hand) {
      list->hand = list->first;
      list->hand_index = 0;
    }
    const fwd_segment *segment = list->hand->segment;
    size_t count = fwd_segment_end(segment) - fwd_segment_first(segment);
    fwd_record *const *records = segment->records + fwd_segment_first(segment);
    size_t index = list->hand_index;
    if (index >= count) {
      list->hand = list->hand->next;
      list->hand_index = 0;
      continue;
    }
    size_t limit = count - index < left ? count : index + left;
    left -= limit - index;
    list->hand_index = limit;
    for (; index < limit; index++) {
      // Most records live, so this is asked first.
      if (fwd_record_lives(records[index]) || fwd_record_has_ended(records[index])) continue;
      end(list, records[index], garbage);
      found = true;
    }
  }
  if (found) fwd_list_compact_if_worth(list, garbage);
}

// MARK: Joining

/// Undoes `hold` for a record that no reader has seen.
static void unhold(fwd_record *record) {
  uintptr_t before = fwd_record_word(record), held = fwd_held_behind_gate(before);
  if (fwd_held_is_gated(before)) free(fwd_gate_of(before));
  if (fwd_held_is_weak(held)) {
    fwd_weak_destroy(held);
    return;
  }
  // The caller has a reference to the object, too, so this is not the last one.
  fwd_end *end = fwd_record_end(held);
  fwd_object_release(end->object);
  free(end);
}

/// Fills `held` of any subscription. False if memory is short.
__attribute__((noinline)) static bool hold_otherwise(fwd_record *record, const fwd_subscriber *subscriber) {
  uintptr_t held;
  if (subscriber->hold == FWD_HOLD_WEAK) {
    held = fwd_weak_create(subscriber->object, fwd_weak_kind_in_use());
  } else {
    fwd_end *end = calloc(1, sizeof *end);
    if (end) {
      bool is_strong = subscriber->hold == FWD_HOLD_STRONG;
      *end = (fwd_end){
          .object = is_strong ? subscriber->object : NULL,
          .receiver = subscriber->receiver,
          .destroy = subscriber->destroy,
      };
      fwd_object_retain(end->object);
      held = (uintptr_t)end | (is_strong ? FWD_HELD_STRONG : FWD_HELD_NONE);
    } else {
      held = 0;
    }
  }
  atomic_store_explicit(&record->held, held, memory_order_relaxed);
  if (held == 0 || subscriber->limit == 0) return held != 0;
  fwd_gate *gate = fwd_gate_create(held, subscriber->limit);
  if (!gate) {
    unhold(record);
    return false;
  }
  atomic_store_explicit(&record->held, fwd_held_through(gate), memory_order_relaxed);
  return true;
}

/// Fills `held`. The usual case does what `fwd_weak_create` does, without a call. False if memory is short.
static inline bool hold(fwd_record *record, const fwd_subscriber *subscriber) {
  bool is_plain = subscriber->hold == FWD_HOLD_WEAK && subscriber->limit == 0 && fwd_holds_unowned(subscriber->object);
  if (FWD_RARELY(!is_plain)) return hold_otherwise(record, subscriber);
  fwd_retain_unowned(subscriber->object);
  atomic_store_explicit(&record->held, (uintptr_t)subscriber->object, memory_order_relaxed);
  return true;
}

/// Makes a record that is not in the order. NULL if memory is short.
static inline __attribute__((always_inline)) fwd_record *
make_record(fwd_subscriber_list *list, const fwd_subscriber *subscriber, fwd_dispatch_table *table) {
  uint32_t slot;
  fwd_record *record = fwd_store_take(&list->store, &slot);
  if (FWD_RARELY(!record)) return NULL;
  record->identifier = next_identifier(list, slot);
  record->receiver = subscriber->receiver;
  record->table = table;
  if (FWD_USUALLY(hold(record, subscriber))) return record;
  fwd_store_return(&list->store, record);
  return NULL;
}

/// Undoes the counts of `fwd_list_insert_unless`, and its record unless that is NULL.
__attribute__((cold, noinline)) static fwd_subscription undo_insertion(fwd_subscriber_list *list, fwd_record *record,
                                                                       fwd_dispatch_table *table, fwd_garbage *garbage) {
  if (record) {
    unhold(record);
    fwd_store_return(&list->store, record);
  }
  fwd_list_drop_responder(list, table);
  leave_table(list, table, garbage);
  return 0;
}

FWD_HOT fwd_subscription fwd_list_insert_unless(fwd_subscriber_list *list, const fwd_subscriber *subscriber,
                                                fwd_dispatch_table *table, size_t index, const void *key,
                                                fwd_garbage *garbage) {
  if (!fwd_index_reserve(&list->index, &list->store)) return 0;
  fwd_index_position position = fwd_index_locate(&list->index, &list->store, subscriber->object);
  bool may_repeat = !key || FWD_USUALLY(!fwd_index_at(&list->store, position));
  if (!may_repeat && fwd_list_find_object(list, subscriber->object, key)) return 0;
  if (!prepare_use(table)) return 0;
  // Counted first, so that the table stays if its other subscribers turn out to be dead.
  add_member(table);
  fwd_list_add_responder(list, table);
  fwd_record *record = make_record(list, subscriber, table);
  if (!record || !fwd_segments_set_priority(list, record, subscriber->priority) ||
      !fwd_segments_insert(list, record, index, garbage)) {
    return undo_insertion(list, record, table, garbage);
  }
  fwd_index_add_at(&list->index, &list->store, record, position);
  fwd_subscription identifier = record->identifier;
  // Last, since it may change the indices of records.
  if (list->is_sweep_due || list->count <= few_records) sweep(list, garbage);
  return identifier;
}

fwd_subscription fwd_list_insert(fwd_subscriber_list *list, const fwd_subscriber *subscriber,
                                 fwd_dispatch_table *table, size_t index, fwd_garbage *garbage) {
  return fwd_list_insert_unless(list, subscriber, table, index, NULL, garbage);
}

// MARK: Preparing

FWD_SMALL_CODE_BEGIN

fwd_subscription fwd_list_prepare(fwd_subscriber_list *list, const fwd_subscriber *subscriber,
                                  fwd_dispatch_table *table, fwd_prepared *prepared, fwd_garbage *garbage) {
  if (!prepare_use(table)) return 0;
  add_member(table);
  fwd_record *record = make_record(list, subscriber, table);
  if (!record) {
    leave_table(list, table, garbage);
    return 0;
  }
  *prepared = (fwd_prepared){.record = record, .held = fwd_record_word(record)};
  // Until it joins, `fwd_list_find` does not find it.
  atomic_store_explicit(&record->held, FWD_HELD_ENDED, memory_order_relaxed);
  return record->identifier;
}

void fwd_list_abandon(fwd_subscriber_list *list, fwd_prepared prepared, fwd_garbage *garbage) {
  fwd_record *record = prepared.record;
  fwd_dispatch_table *table = record->table;
  uintptr_t held = fwd_held_behind_gate(prepared.held);
  if (fwd_held_is_gated(prepared.held)) free(fwd_gate_of(prepared.held));
  if (table->ended) table->ended(table->ended_context);
  if (fwd_held_is_weak(held)) fwd_weak_destroy(held);
  give_up(list, held, table, garbage);
  fwd_store_return(&list->store, record);
}

bool fwd_prepared_is_live(fwd_prepared prepared) {
  uintptr_t held = fwd_held_behind_gate(prepared.held);
  return !(fwd_held_is_weak(held) && fwd_weak_has_died(held));
}

FWD_SMALL_CODE_END

// MARK: Leaving

void fwd_list_end(fwd_subscriber_list *list, fwd_record *record, fwd_garbage *garbage) {
  end(list, record, garbage);
  fwd_list_compact_if_worth(list, garbage);
}

size_t fwd_list_end_object(fwd_subscriber_list *list, const void *object, fwd_garbage *garbage) {
  size_t count = 0;
  fwd_record *record;
  while ((record = fwd_index_find(&list->index, &list->store, object))) {
    count += !fwd_held_is_used_up(fwd_record_word(record));
    fwd_list_end(list, record, garbage);
  }
  return count;
}

/// Ends the subscriptions of all records.
static void end_each(fwd_subscriber_list *list, bool tells, fwd_garbage *garbage) {
  for (const fwd_chunk *chunk = list->first; chunk; chunk = chunk->next) {
    const fwd_segment *segment = chunk->segment;
    for (size_t i = fwd_segment_first(segment); i < fwd_segment_end(segment); i++) {
      fwd_record *record = segment->records[i];
      if (!fwd_record_has_ended(record)) end_telling(list, record, tells, garbage);
    }
  }
  fwd_list_end_taps(list, garbage);
}

void fwd_list_end_all(fwd_subscriber_list *list, fwd_garbage *garbage) {
  end_each(list, true, garbage);
  if (list->count > 0) fwd_segments_compact(list, garbage);
}

// MARK: Moving

bool fwd_list_move(fwd_subscriber_list *list, size_t from, size_t to, int64_t priority, fwd_garbage *garbage) {
  return fwd_segments_move(list, from, to, priority, garbage);
}

size_t fwd_list_priority_index(fwd_subscriber_list *list, int64_t priority, const fwd_record *except) {
  return fwd_segments_priority_index(list, priority, except);
}

// MARK: Delivering

fwd_turn fwd_list_begin_delivery(fwd_subscriber_list *list, fwd_subscription identifier,
                                 void **object) {
  *object = NULL;
  fwd_record *record = fwd_list_find(list, identifier);
  if (!record) return FWD_TURN_NONE;
  uintptr_t held = fwd_record_word(record);
  fwd_taken taken;
  if (fwd_held_is_blocked(held) || !fwd_record_take(record, &taken)) return FWD_TURN_NONE;
  if (!taken.is_owned) fwd_object_retain(taken.object);
  *object = taken.object;
  // Concurrent fan-outs count their deliveries, too.
  bool is_last = false;
  if (!fwd_held_count_delivery(held, &is_last)) return FWD_TURN_NONE;
  return is_last ? FWD_TURN_LAST : FWD_TURN_TAKEN;
}

// MARK: Looking

size_t fwd_list_count(const fwd_subscriber_list *list) { return list->count; }

fwd_record *fwd_list_record(const fwd_subscriber_list *list, size_t index) { return fwd_segments_at(list, index); }

size_t fwd_list_index(fwd_subscriber_list *list, const fwd_record *record) {
  return fwd_segments_index(list, record);
}

fwd_record *fwd_list_find(const fwd_subscriber_list *list, fwd_subscription identifier) {
  uintptr_t held;
  return fwd_list_find_inline(list, identifier, &held);
}

fwd_record *fwd_list_find_object(fwd_subscriber_list *list, const void *object,
                                 const void *key) {
  fwd_record *first = NULL, *record = fwd_index_find(&list->index, &list->store, object);
  // The newest subscription comes first in the index.
  while (record) {
    bool is_used_up = fwd_held_is_used_up(fwd_record_word(record));
    if (!is_used_up && (!key || record->table->key == key)) first = record;
    record = record->next == FWD_NO_SLOT ? NULL : fwd_store_at(&list->store, record->next);
  }
  return first;
}

FWD_SMALL_CODE_BEGIN

size_t fwd_list_find_all(fwd_subscriber_list *list, const void *object, fwd_subscription *found, size_t room) {
  size_t count = 0;
  for (fwd_record *record = fwd_index_find(&list->index, &list->store, object); record; count++) {
    if (count < room) found[count] = record->identifier;
    record = record->next == FWD_NO_SLOT ? NULL : fwd_store_at(&list->store, record->next);
  }
  return count;
}

bool fwd_list_may_respond(const fwd_subscriber_list *list, size_t method) {
  uint32_t tables = fwd_list_tables(list, method);
  return !(tables & FWD_BLOCKED) && (tables & ~(FWD_INTERCEPTED | FWD_OBSERVED)) != 0;
}

bool fwd_list_is_blocked(const fwd_subscriber_list *list, size_t method) {
  return (fwd_list_tables(list, method) & FWD_BLOCKED) != 0;
}

void fwd_list_intercept(fwd_subscriber_list *list, size_t method, fwd_taps *taps, fwd_interceptors interceptors,
                        fwd_garbage *garbage) {
  fwd_list_set_taps(list, method, taps, garbage);
  // Read again: without memory, the taps have not been set.
  const fwd_taps *set = fwd_list_taps(list, method);
  uint32_t flags = (interceptors.exist ? FWD_INTERCEPTED : 0) | (interceptors.respond ? FWD_ANSWERED : 0) |
                   (interceptors.block ? FWD_BLOCKED : 0) | (set && !set->has_stub ? FWD_OBSERVED : 0);
  uint32_t old = fwd_list_tables(list, method);
  // Only the writer changes the word. Release: see `fwd_list_tables`.
  atomic_store_explicit(&list->tables[method], (old & ~FWD_METHOD_FLAGS) | flags, memory_order_release);
}

size_t fwd_list_footprint(const fwd_subscriber_list *list) {
  size_t bytes = fwd_list_size(list->method_count);
  if (list->index.buckets != list->index.few) bytes += list->index.bucket_count * sizeof list->index.buckets[0];
  bytes += fwd_responders_footprint(list);
  return bytes + fwd_segments_footprint(list) + fwd_store_footprint(&list->store);
}

void *fwd_list_retain_object(const fwd_subscriber_list *list, fwd_subscription identifier) {
  const fwd_record *record = fwd_list_find(list, identifier);
  fwd_taken taken;
  if (!record || !fwd_record_take(record, &taken)) return NULL;
  if (!taken.is_owned) fwd_object_retain(taken.object);
  return taken.object;
}

void fwd_list_observe(fwd_subscriber_list *list, fwd_end_observer observer, void *context) {
  list->on_end = observer;
  list->on_end_context = context;
}

FWD_SMALL_CODE_END

// MARK: Creating

size_t fwd_list_size(size_t method_count) {
  fwd_subscriber_list *list;
  return sizeof *list + method_count * sizeof list->tables[0];
}

void fwd_list_init(fwd_subscriber_list *list, size_t method_count, void *allocation) {
  atomic_init(&list->domain.readers, FWD_READERS_NONE);
  atomic_init(&list->references, 1);
  list->method_count = method_count;
  list->allocation = allocation;
}

// Deliveries that a mailbox still has are made.
void fwd_list_close(fwd_subscriber_list *list, fwd_garbage *garbage) { end_each(list, false, garbage); }

void fwd_list_destroy(fwd_subscriber_list *list) {
  // Where the system refuses heavy fences, retired objects may still wait, though no reader is left.
  fwd_domain_drain(&list->domain);
  fwd_list_free_taps(list);
  fwd_list_free_responders(list);
  fwd_segments_destroy(list);
}
