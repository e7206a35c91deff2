// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The ordered subscriptions of a proxy: a published array of records that lie elsewhere.
///
/// Readers announce the list (hazard.h) and read the array that they find. The writer appends in
/// place, where no reader looks, and stores the count behind it; to insert, move or compact it
/// publishes another array. A subscription ends by a mark in its record, which readers of all arrays
/// see; the record leaves the array later. What nobody can reach any more is retired.
///
/// A subscriber takes 40 bytes for its record, 8 to 12 in the array, and 5 to 11 in the index.

#include "members/subscriber_list.h"

#include <stdlib.h>
#include <string.h>

// MARK: Garbage

void fwd_garbage_collect(fwd_garbage garbage) {
  if (garbage.first) fwd_retire_all(garbage.first);
}

void fwd_garbage_free(fwd_garbage garbage) {
  for (fwd_retired *retired = garbage.first, *next; retired; retired = next) {
    next = retired->next;
    retired->free(retired);
  }
}

// MARK: Records

static _Atomic uint64_t subscriptions;

/// Takes the next number of all subscriptions; from some at a time, since threads share the count.
static fwd_subscription next_identifier(fwd_subscriber_list *list, uint32_t slot) {
  enum { at_a_time = 32 };
  if (list->next_number % at_a_time == 0) {
    list->next_number = atomic_fetch_add_explicit(&subscriptions, at_a_time, memory_order_relaxed);
    // 0 is none.
    if (list->next_number << FWD_SLOT_BITS == 0) list->next_number++;
  }
  return list->next_number++ << FWD_SLOT_BITS | slot;
}

fwd_subscription fwd_record_identifier(const fwd_record *record) { return record->identifier; }

bool fwd_record_is_live(const fwd_record *record) {
  uintptr_t held = fwd_record_held(record);
  if (fwd_held_has_ended(held) || fwd_held_is_used_up(held)) return false;
  held = fwd_held_behind_gate(held);
  return !(fwd_held_is_weak(held) && fwd_weak_has_died(held));
}

/// The word of a record, for the writer.
static uintptr_t held_by(const fwd_record *record) {
  return atomic_load_explicit(&record->held, memory_order_relaxed);
}

static bool has_ended(const fwd_record *record) { return fwd_held_has_ended(held_by(record)); }

/// Gives up an ended subscription that was not weak.
static void finish_end(fwd_end *end) {
  if (end->destroy) end->destroy(end->receiver);
  fwd_object_release(end->object);
  free(end);
}

static void free_end(fwd_retired *retired) {
  finish_end((fwd_end *)((char *)retired - offsetof(fwd_end, retired)));
}

/// Gives up what an ended record still has, and its slot.
static void free_record(fwd_subscriber_list *list, fwd_record *record) {
  uintptr_t held = held_by(record);
  if (fwd_held_is_weak(held)) fwd_weak_destroy(held);
  fwd_store_give_back(&list->store, record);
}

// MARK: Tables

static void finish_use(fwd_table_use *use) {
  fwd_dispatch_table_release(use->table);
  free(use);
}

static void free_use(fwd_retired *retired) {
  finish_use((fwd_table_use *)((char *)retired - offsetof(fwd_table_use, retired)));
}

/// Makes sure that a table can have one more subscriber. False if memory is short.
static bool prepare_use(fwd_dispatch_table *table) {
  if (table->use) return true;
  fwd_table_use *use = malloc(sizeof *use);
  if (!use) return false;
  use->table = fwd_dispatch_table_retain(table);
  table->use = use;
  return true;
}

static void count_methods(fwd_subscriber_list *list, const fwd_dispatch_table *table,
                          uint32_t change) {
  for (size_t i = 0; i < table->count && i < list->method_count; i++) {
    if (fwd_implementation_is_empty(&table->implementations[i])) continue;
    // Release: who sees that somebody responds finds whom.
    atomic_fetch_add_explicit(&list->tables[i], change, memory_order_release);
  }
}

void fwd_list_add_responder(fwd_subscriber_list *list, fwd_dispatch_table *table) {
  if (table->responders++ == 0) count_methods(list, table, 1);
}

void fwd_list_drop_responder(fwd_subscriber_list *list, fwd_dispatch_table *table) {
  if (--table->responders == 0) count_methods(list, table, (uint32_t)-1);
}

/// Forgets one subscriber of a table; with the last one the table may go.
static void leave_table(fwd_subscriber_list *list, fwd_dispatch_table *table,
                        fwd_garbage *garbage) {
  if (--table->members > 0) return;
  fwd_table_use *use = table->use;
  table->use = NULL;
  fwd_leave_behind(garbage, &use->retired, list, free_use);
}

// MARK: Arrays

const fwd_record_array fwd_no_records;

static void release_list(fwd_subscriber_list *list) {
  if (atomic_fetch_sub_explicit(&list->references, 1, memory_order_acq_rel) != 1) return;
  fwd_store_destroy(&list->store);
  free(list->index.buckets);
  free(list);
}

static void free_array(fwd_retired *retired) {
  fwd_record_array *array = (fwd_record_array *)((char *)retired - offsetof(fwd_record_array, retired));
  fwd_subscriber_list *list = array->list;
  for (size_t i = 0; i < array->dropped_count; i++) free_record(list, array->dropped[i]);
  free(array->dropped);
  free(array);
  release_list(list);
}

static fwd_record_array *current(const fwd_subscriber_list *list) {
  // The writer's own store, or that of a writer before it.
  return atomic_load_explicit(&list->array, memory_order_relaxed);
}

static size_t count_of(const fwd_record_array *array) {
  return array ? atomic_load_explicit(&array->count, memory_order_relaxed) : 0;
}

static fwd_record_array *create_array(fwd_subscriber_list *list, size_t capacity) {
  if (capacity > (SIZE_MAX - sizeof(fwd_record_array)) / sizeof(fwd_record *)) return NULL;
  fwd_record_array *array = malloc(sizeof *array + capacity * sizeof array->records[0]);
  if (!array) return NULL;
  *array = (fwd_record_array){.capacity = capacity, .list = list};
  return array;
}

/// Publishes an array for another, which is left behind.
static void publish(fwd_subscriber_list *list, fwd_record_array *array, fwd_garbage *garbage) {
  fwd_record_array *old = current(list);
  // Release: whoever finds the array finds what is in it.
  atomic_store_explicit(&list->array, array, memory_order_release);
  if (!old) return;
  atomic_fetch_add_explicit(&list->references, 1, memory_order_relaxed);
  fwd_leave_behind(garbage, &old->retired, list, free_array);
}

static void append(fwd_record_array *array, fwd_record *record) {
  size_t count = count_of(array);
  array->records[count] = record;
  // Also behind a gate, which may go.
  bool is_weak = fwd_held_is_weak(fwd_held_behind_gate(held_by(record)));
  if (is_weak) atomic_store_explicit(&array->has_weak, true, memory_order_relaxed);
  atomic_store_explicit(&array->count, count + 1, memory_order_release);
}

/// Appends what stands in another array from one place up to another, where nobody has ended: the
/// records, which may be in no cache, are not looked at.
static void append_all(fwd_record_array *array, const fwd_record_array *other, size_t from, size_t to) {
  if (from == to) return;
  size_t count = count_of(array);
  memcpy(&array->records[count], &other->records[from], (to - from) * sizeof array->records[0]);
  if (atomic_load_explicit(&other->has_weak, memory_order_relaxed)) {
    atomic_store_explicit(&array->has_weak, true, memory_order_relaxed);
  }
  atomic_store_explicit(&array->count, count + to - from, memory_order_release);
}

// MARK: Ending

/// Ends a subscription; its record stays in the array.
static void end(fwd_subscriber_list *list, fwd_record *record, fwd_garbage *garbage) {
  fwd_index_remove(&list->index, &list->store, record);
  list->ended++;
  uintptr_t before = held_by(record), held = fwd_held_behind_gate(before);
  if (!fwd_held_is_blocked(before)) fwd_list_drop_responder(list, record->table);
  // Release: see `fwd_record_held`.
  atomic_store_explicit(&record->held, fwd_held_ended(held), memory_order_release);
  if (fwd_held_is_gated(before)) fwd_gate_leave(fwd_gate_of(before), list, garbage);
  if (!fwd_held_is_weak(held)) {
    fwd_leave_behind(garbage, &fwd_record_end(held)->retired, list, free_end);
  }
  leave_table(list, record->table, garbage);
}

// MARK: Rebuilding

/// Appends those of another array that have not ended, and puts the others into `dropped`, unless that is
/// NULL since there are none. Gives their number.
static size_t append_living(fwd_record_array *array, const fwd_record_array *other, size_t from,
                            size_t to, fwd_record **dropped) {
  if (!dropped) {
    append_all(array, other, from, to);
    return 0;
  }
  size_t count = 0;
  for (size_t i = from; i < to; i++) {
    fwd_record *record = other->records[i];
    if (has_ended(record)) {
      dropped[count++] = record;
    } else {
      append(array, record);
    }
  }
  return count;
}

/// Publishes an array without the records that have ended, with room for more, and with `inserted`
/// (unless it is NULL) before the record that was at `index`. False if memory is short.
static bool rebuild(fwd_subscriber_list *list, fwd_record *inserted, size_t index,
                    fwd_garbage *garbage) {
  fwd_record_array *old = current(list);
  size_t count = count_of(old), kept = count - list->ended + (inserted ? 1 : 0);
  fwd_record **dropped = NULL;
  if (list->ended > 0) {
    dropped = malloc(list->ended * sizeof *dropped);
    if (!dropped) return false;
  }
  fwd_record_array *array = create_array(list, kept < 6 ? 8 : kept + kept / 2);
  if (!array) {
    free(dropped);
    return false;
  }
  size_t start = inserted ? index : count;
  size_t dropped_count = append_living(array, old, 0, start, dropped);
  if (inserted) append(array, inserted);
  dropped_count += append_living(array, old, start, count, dropped ? dropped + dropped_count : NULL);
  if (old) {
    old->dropped = dropped;
    old->dropped_count = dropped_count;
  }
  list->ended = 0;
  publish(list, array, garbage);
  return true;
}

static void end_the_dead(fwd_subscriber_list *list, fwd_garbage *garbage) {
  fwd_record_array *array = current(list);
  for (size_t i = 0; i < count_of(array); i++) {
    fwd_record *record = array->records[i];
    if (!has_ended(record) && !fwd_record_is_live(record)) end(list, record, garbage);
  }
}

bool fwd_list_prune(fwd_subscriber_list *list, fwd_garbage *garbage) {
  end_the_dead(list, garbage);
  return list->ended == 0 || rebuild(list, NULL, 0, garbage);
}

// MARK: Joining

/// Undoes `hold` for a record that nobody has seen.
static void unhold(fwd_record *record) {
  uintptr_t before = held_by(record), held = fwd_held_behind_gate(before);
  if (fwd_held_is_gated(before)) free(fwd_gate_of(before));
  if (fwd_held_is_weak(held)) {
    fwd_weak_destroy(held);
    return;
  }
  // The caller has the object, too.
  fwd_end *end = fwd_record_end(held);
  fwd_object_release(end->object);
  free(end);
}

/// Fills `held`. False if memory is short.
static bool hold(fwd_record *record, const fwd_subscriber *subscriber) {
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

/// Puts a record into the array. False if memory is short.
static bool place(fwd_subscriber_list *list, fwd_record *record, size_t index, fwd_garbage *garbage) {
  fwd_record_array *array = current(list);
  size_t count = count_of(array);
  if (index > count) index = count;
  if (array && index == count && count < array->capacity) {
    append(array, record);
    return true;
  }
  // There is to be another array: with fewer in it if some have died. That is looked for each time that
  // their number has doubled, since it touches all objects.
  if (count - list->ended >= list->next_check) {
    end_the_dead(list, garbage);
    list->next_check = 2 * (count - list->ended);
  }
  return rebuild(list, record, index, garbage);
}

/// Makes a record and puts it into the array. NULL if memory is short.
static fwd_record *join(fwd_subscriber_list *list, const fwd_subscriber *subscriber,
                        fwd_dispatch_table *table, size_t index, fwd_garbage *garbage) {
  uint32_t slot;
  fwd_record *record = fwd_store_take(&list->store, &slot);
  if (!record) return NULL;
  record->identifier = next_identifier(list, slot);
  record->receiver = subscriber->receiver;
  record->table = table;
  if (!hold(record, subscriber)) {
    fwd_store_return(&list->store, record);
    return NULL;
  }
  if (!place(list, record, index, garbage)) {
    unhold(record);
    fwd_store_return(&list->store, record);
    return NULL;
  }
  return record;
}

fwd_subscription fwd_list_insert(fwd_subscriber_list *list, const fwd_subscriber *subscriber,
                                 fwd_dispatch_table *table, size_t index, fwd_garbage *garbage) {
  if (!fwd_index_reserve(&list->index, &list->store) || !prepare_use(table)) return 0;
  // Counted first, so that the table is not given up with a dead subscriber of it.
  table->members++;
  fwd_list_add_responder(list, table);
  fwd_record *record = join(list, subscriber, table, index, garbage);
  if (!record) {
    fwd_list_drop_responder(list, table);
    leave_table(list, table, garbage);
    return 0;
  }
  fwd_index_add(&list->index, &list->store, record);
  return record->identifier;
}

// MARK: Leaving

void fwd_list_end(fwd_subscriber_list *list, fwd_record *record, fwd_garbage *garbage) {
  end(list, record, garbage);
  // Half of the array for nothing, and it is worth a copy. Without memory for one they stay.
  if (list->ended * 2 > count_of(current(list))) {
    rebuild(list, NULL, 0, garbage);
  }
}

size_t fwd_list_end_object(fwd_subscriber_list *list, const void *object, fwd_garbage *garbage) {
  size_t count = 0;
  fwd_record *record;
  while ((record = fwd_index_find(&list->index, &list->store, object))) {
    count += !fwd_held_is_used_up(held_by(record));
    fwd_list_end(list, record, garbage);
  }
  return count;
}

void fwd_list_end_all(fwd_subscriber_list *list, fwd_garbage *garbage) {
  fwd_record_array *array = current(list);
  for (size_t i = 0; i < count_of(array); i++) {
    if (!has_ended(array->records[i])) end(list, array->records[i], garbage);
  }
  if (list->ended > 0) rebuild(list, NULL, 0, garbage);
}

// MARK: Moving

bool fwd_list_move(fwd_subscriber_list *list, size_t from, size_t to, fwd_garbage *garbage) {
  if (from == to) return true;
  fwd_record_array *old = current(list);
  size_t count = count_of(old);
  fwd_record_array *array = create_array(list, old->capacity);
  if (!array) return false;
  for (size_t i = 0; i < count; i++) {
    // The place that record i of the new array has in the old one.
    size_t source = i == to ? from : from < to ? i + (i >= from && i < to) : i - (i > to && i <= from);
    append(array, old->records[source]);
  }
  publish(list, array, garbage);
  return true;
}

// MARK: Delivering

fwd_turn fwd_list_begin_delivery(fwd_subscriber_list *list, fwd_subscription identifier,
                                 void **object) {
  *object = NULL;
  fwd_record *record = fwd_list_find(list, identifier);
  if (!record) return FWD_TURN_NONE;
  uintptr_t held = held_by(record);
  fwd_taken taken;
  if (fwd_held_is_blocked(held) || !fwd_record_take(record, &taken)) return FWD_TURN_NONE;
  if (!taken.is_owned) fwd_object_retain(taken.object);
  *object = taken.object;
  // Fan-outs count too, at this moment.
  size_t gone = 0;
  if (!fwd_held_count_delivery(held, &gone)) return FWD_TURN_NONE;
  return gone > 0 ? FWD_TURN_LAST : FWD_TURN_TAKEN;
}

// MARK: Looking

size_t fwd_list_count(const fwd_subscriber_list *list) { return count_of(current(list)); }

fwd_record *fwd_list_record(const fwd_subscriber_list *list, size_t index) {
  return current(list)->records[index];
}

size_t fwd_list_index(const fwd_subscriber_list *list, const fwd_record *record) {
  size_t index = 0;
  while (current(list)->records[index] != record) index++;
  return index;
}

fwd_record *fwd_list_find(const fwd_subscriber_list *list, fwd_subscription identifier) {
  fwd_record *record = fwd_store_at(&list->store, fwd_slot_of(identifier));
  return record && record->identifier == identifier && !has_ended(record) ? record : NULL;
}

fwd_record *fwd_list_find_object(const fwd_subscriber_list *list, const void *object,
                                 const void *key) {
  fwd_record *first = NULL, *record = fwd_index_find(&list->index, &list->store, object);
  // The newest comes first.
  while (record) {
    bool is_used_up = fwd_held_is_used_up(held_by(record));
    if (!is_used_up && (!key || record->table->key == key)) first = record;
    record = record->next == FWD_NO_SLOT ? NULL : fwd_store_at(&list->store, record->next);
  }
  return first;
}

bool fwd_list_may_respond(const fwd_subscriber_list *list, size_t method) {
  return (fwd_list_tables(list, method) & ~FWD_INTERCEPTED) != 0;
}

void fwd_list_intercept(fwd_subscriber_list *list, size_t method, bool is_intercepted, bool responds) {
  uint32_t flags = is_intercepted ? FWD_INTERCEPTED | (responds ? FWD_ANSWERED : 0) : 0;
  uint32_t kept = ~(FWD_INTERCEPTED | FWD_ANSWERED), old = fwd_list_tables(list, method);
  // The writer is alone: nobody else changes the word. Release: see `fwd_list_tables`.
  atomic_store_explicit(&list->tables[method], (old & kept) | flags, memory_order_release);
}

size_t fwd_list_footprint(const fwd_subscriber_list *list) {
  const fwd_record_array *array = current(list);
  size_t bytes = sizeof *list + list->method_count * sizeof list->tables[0];
  if (array) bytes += sizeof *array + array->capacity * sizeof array->records[0];
  bytes += list->index.bucket_count * sizeof list->index.buckets[0];
  return bytes + fwd_store_footprint(&list->store);
}

// MARK: Creation

fwd_subscriber_list *fwd_list_create(size_t method_count) {
  fwd_subscriber_list *list = calloc(1, sizeof *list + method_count * sizeof list->tables[0]);
  if (!list) return NULL;
  atomic_init(&list->references, 1);
  list->method_count = method_count;
  return list;
}

void fwd_list_close(fwd_subscriber_list *list, fwd_garbage *garbage) {
  fwd_record_array *array = current(list);
  for (size_t i = 0; i < count_of(array); i++) {
    if (!has_ended(array->records[i])) end(list, array->records[i], garbage);
  }
}

void fwd_list_destroy(fwd_subscriber_list *list) {
  if (!list) return;
  fwd_record_array *array = current(list);
  for (size_t i = 0; i < count_of(array); i++) free_record(list, array->records[i]);
  free(array);
  release_list(list);
}
