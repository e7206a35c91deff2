// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The order of a list.
///
///     list->head ──► segment ──next──► segment ──next──► segment ──► NULL
///                    version 7         version 9         version 3
///                       │                 │older
///                       │                 ▼
///                       │              segment, version 2 (retired)
///                       ▼
///              ┌───┬───┬───┬───┬───┬───┬───┐
///      records │ † │ † │ A │ B │ † │ C │   │    † a tombstone: a record whose subscription has ended
///              └───┴───┴───┴───┴───┴───┴───┘
///                       ▲first          ▲end ▲capacity
///
/// A list of up to 4,096 records is usually one segment, and a fan-out reads it as an array. Segments are replaced, and
/// never changed where a fan-out may be reading, but for four things:
///
/// - The last segment grows in place: the writer stores a record after `end`, then moves `end`.
/// - `next` is set to the segment that takes the place of the next one. A replaced segment keeps the `next` that it has
///   then. The writer retires that next segment later, so it stays allocated for a reader of the replaced one.
/// - The first segment shrinks in place: `first` moves over tombstones. So a list that is emptied from the front does
///   not have to be copied each time.
/// - Ending a subscription sets a mark in its record, which the readers of all segments see. The record becomes a
///   tombstone until compaction copies the live records to new segments. Compaction runs when all records are tombstones,
///   when more than half and at least 16 are, or when fan-outs that met tombstones have visited, since the last compaction,
///   as many records as the list has, tombstones included.
///
/// To insert or move a record, the writer copies one segment of up to 256 records, and splits it if it is full. Larger
/// segments come from appending and from compaction; they are broken up when a record is inserted into them.
///
/// A fan-out must see the list as it was at one moment: it must not see a record that is inserted after it began, and
/// it must see a record that is moved exactly once. So segments have versions. A change gives the list's next version
/// to the segments that it makes, links them, and then stores that version in the list. This makes the change visible.
///
/// A fan-out of several segments first loads the list's version and the number of records appended in place. It then
/// walks the chain. When it finds a segment of a later version, it follows `older` to the segment that this one
/// replaced. A later segment without `older` has replaced nothing by itself, and the fan-out skips it. There are two
/// cases: the segment was added at the end of the list, or one old segment was replaced by several, of which only the
/// first has `older`. A replaced segment is retired. The fan-out's hazard pointer keeps it allocated.
///
/// The writer has a chunk for each segment. Chunks are linked in order, and are the nodes of an order-statistic tree,
/// which finds indices and priorities.

#include "members/segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/hot.h"
#include "base/small_code.h"
#include "members/garbage.h"

// Tests make them smaller, so that short lists have many segments.
#if !defined(FWD_SMALL_SEGMENT)
#define FWD_SMALL_SEGMENT 256
#define FWD_LARGE_SEGMENT 4096
#endif

enum {
  /// A segment that a record is inserted into has fewer records.
  small_limit = FWD_SMALL_SEGMENT,
  /// The number of records in each part of a segment that is broken up.
  part_size = small_limit / 2,
  /// The number of records up to which segments grow at the end.
  large_limit = FWD_LARGE_SEGMENT,
  /// Compaction leaves room for up to this many records, if the list had as much: others may join soon.
  kept_limit = small_limit * 3 / 8,
};

const fwd_segment fwd_no_records;

// MARK: Reading

/// The segment at the reading's version that stands where `segment` does now, or NULL at the end.
static const fwd_segment *resolve(const fwd_segment *segment, uint64_t version) {
  while (segment && segment->version > version) {
    segment = segment->older ? segment->older : atomic_load_explicit(&segment->next, memory_order_acquire);
  }
  return segment;
}

/// Begins with a segment, or with the first after it that has records.
static bool settle(fwd_span *span, const fwd_segment *segment) {
  for (segment = resolve(segment, span->version); segment;
       segment = resolve(atomic_load_explicit(&segment->next, memory_order_acquire), span->version)) {
    size_t first = atomic_load_explicit(&segment->first, memory_order_acquire);
    size_t end = atomic_load_explicit(&segment->end, memory_order_acquire);
    // Records that were appended after the reading began are not in it.
    size_t limit = segment->first_end + (size_t)(span->appended - segment->first_appended);
    if (end > limit) end = limit;
    if (first >= end) continue;
    span->segment = segment;
    span->records = segment->records + first;
    span->count = end - first;
    span->has_weak = atomic_load_explicit(&segment->has_weak, memory_order_relaxed);
    return true;
  }
  return false;
}

bool fwd_span_first(const fwd_subscriber_list *list, fwd_span *span) {
  // The version first: a segment of this version, or an earlier one, is then linked already. And again at the end, so
  // that both are of one moment.
  do {
    span->version = atomic_load_explicit(&list->version, memory_order_acquire);
    span->appended = atomic_load_explicit(&list->appended, memory_order_acquire);
  } while (atomic_load_explicit(&list->version, memory_order_acquire) != span->version);
  return fwd_span_again(list, span);
}

bool fwd_span_again(const fwd_subscriber_list *list, fwd_span *span) {
  return settle(span, atomic_load_explicit(&list->head, memory_order_acquire));
}

bool fwd_span_next(fwd_span *span) {
  return settle(span, atomic_load_explicit(&span->segment->next, memory_order_acquire));
}

// MARK: Freeing

static void release_list(fwd_subscriber_list *list) {
  if (atomic_fetch_sub_explicit(&list->references, 1, memory_order_acq_rel) != 1) return;
  fwd_store_destroy(&list->store);
  fwd_index_destroy(&list->index);
  free(list->homes);
  free(list->priorities);
  free(list->allocation);
}

/// Releases what an ended record still has.
static void release_record(fwd_record *record) {
  uintptr_t held = fwd_record_word(record);
  if (FWD_RARELY(fwd_held_is_gated(held))) {
    // The subscription has left in a draft (draft.c), so the record has kept its gate.
    fwd_gate *gate = fwd_gate_of(held);
    held = gate->held;
    free(gate);
  }
  // The usual case does what `fwd_weak_destroy` does, without a call.
  if (FWD_USUALLY((held & FWD_HELD_KIND) == 0)) {
    fwd_release_unowned((void *)(held & ~(uintptr_t)FWD_HELD_BITS));
  } else if (fwd_held_is_weak(held)) {
    fwd_weak_destroy(held);
  }
}

/// Frees some ended records.
static void free_records(fwd_freed_records *freed, fwd_record *const *records, size_t count) {
  for (size_t i = 0; i < count; i++) {
    release_record(records[i]);
    fwd_freed_records_add(freed, records[i]);
  }
}

static void free_segment(fwd_retired *retired) {
  fwd_segment *segment = (fwd_segment *)((char *)retired - offsetof(fwd_segment, retired));
  fwd_subscriber_list *list = segment->list;
  fwd_freed_records freed = {.first = NULL};
  free_records(&freed, segment->records, segment->dropped_prefix);
  free_records(&freed, segment->dropped, segment->dropped_count);
  fwd_store_give_back(&list->store, freed);
  free(segment->dropped);
  free(segment);
  release_list(list);
}

/// Retires a segment that is not linked any more. Its first records, which no other segment has, go with it.
static void retire(fwd_segment *segment, fwd_garbage *garbage) {
  if (FWD_RARELY(segment->list->draft != NULL)) {
    // No fan-out has seen it.
    free(segment);
    return;
  }
  segment->dropped_prefix = fwd_segment_first(segment);
  atomic_fetch_add_explicit(&segment->list->references, 1, memory_order_relaxed);
  fwd_leave_behind(garbage, &segment->retired, segment->list, free_segment);
}

// MARK: Segments

static size_t length(const fwd_segment *segment) { return fwd_segment_end(segment) - fwd_segment_first(segment); }

/// The segment's records that fan-outs read.
static fwd_record *const *records_of(const fwd_segment *segment) {
  return segment->records + fwd_segment_first(segment);
}

static fwd_segment *create_segment(fwd_subscriber_list *list, size_t capacity) {
  if (capacity > (SIZE_MAX - sizeof(fwd_segment)) / sizeof(fwd_record *)) return NULL;
  fwd_segment *segment = malloc(sizeof *segment + capacity * sizeof segment->records[0]);
  if (!segment) return NULL;
  *segment = (fwd_segment){.capacity = capacity, .list = list};
  return segment;
}

/// Appends to a segment that is not linked yet, or in place.
static inline __attribute__((always_inline)) void append_inline(fwd_segment *segment, fwd_record *record) {
  size_t end = fwd_segment_end(segment);
  segment->records[end] = record;
  // Also behind a gate, which may be removed.
  bool is_weak = fwd_held_is_weak(fwd_held_behind_gate(fwd_record_word(record)));
  if (is_weak) atomic_store_explicit(&segment->has_weak, true, memory_order_relaxed);
  // Release: a reader that finds the record by `end` finds what is in it.
  atomic_store_explicit(&segment->end, end + 1, memory_order_release);
}

/// A call, since all but `fwd_segments_insert` are rare.
__attribute__((noinline)) static void append(fwd_segment *segment, fwd_record *record) { append_inline(segment, record); }

/// Appends records of another segment without a look at them, since they may be in no cache.
static void append_some(fwd_segment *segment, const fwd_segment *other, size_t from, size_t to) {
  size_t end = fwd_segment_end(segment);
  memcpy(&segment->records[end], records_of(other) + from, (to - from) * sizeof segment->records[0]);
  if (atomic_load_explicit(&other->has_weak, memory_order_relaxed)) {
    atomic_store_explicit(&segment->has_weak, true, memory_order_relaxed);
  }
  atomic_store_explicit(&segment->end, end + to - from, memory_order_relaxed);
}

static uint64_t next_version(const fwd_subscriber_list *list) {
  return atomic_load_explicit(&list->version, memory_order_relaxed) + 1;
}

/// Prepares a filled segment to be linked.
static void stamp(fwd_segment *segment, fwd_segment *older, fwd_segment *next) {
  segment->version = next_version(segment->list);
  segment->older = older;
  segment->first_end = fwd_segment_end(segment);
  segment->first_appended = atomic_load_explicit(&segment->list->appended, memory_order_relaxed);
  atomic_store_explicit(&segment->next, next, memory_order_relaxed);
}

/// Links a segment after a chunk, or at the head for NULL. Release: a reader that finds the segment finds what is in
/// it.
static void link_behind(fwd_subscriber_list *list, fwd_chunk *previous, fwd_segment *segment) {
  // Fan-outs keep the published segments until `fwd_segments_publish`, which links the whole draft.
  if (FWD_RARELY(list->draft != NULL)) return;
  _Atomic(fwd_segment *) *link = previous ? &previous->segment->next : &list->head;
  atomic_store_explicit(link, segment, memory_order_release);
}

/// Makes the change complete: readings that begin from now on see it.
static void commit(fwd_subscriber_list *list) {
  if (FWD_RARELY(list->draft != NULL)) return;
  atomic_store_explicit(&list->version, next_version(list), memory_order_release);
}

static fwd_segment *segment_behind(const fwd_chunk *chunk) { return chunk->next ? chunk->next->segment : NULL; }

/// Puts a filled segment in place of a chunk's segment, which it returns. That one must be retired after `commit`:
/// until then a reading that begins has the version before, and goes back to it.
FWD_HOT static fwd_segment *put_in_place(fwd_subscriber_list *list, fwd_chunk *chunk, fwd_segment *segment) {
  fwd_segment *old = chunk->segment;
  stamp(segment, old, segment_behind(chunk));
  chunk->segment = segment;
  link_behind(list, chunk->previous, segment);
  return old;
}

/// Replaces a chunk's segment by a filled one, as a complete change.
FWD_HOT static void replace(fwd_subscriber_list *list, fwd_chunk *chunk, fwd_segment *segment, fwd_garbage *garbage) {
  fwd_segment *old = put_in_place(list, chunk, segment);
  commit(list);
  retire(old, garbage);
}

// MARK: Chunks

/// Makes a chunk of zeros. NULL if memory is short.
static fwd_chunk *make_chunk(fwd_subscriber_list *list) {
  if (list->is_own_chunk_taken) return calloc(1, sizeof(fwd_chunk));
  list->is_own_chunk_taken = true;
  list->own_chunk = (fwd_chunk){.segment = NULL};
  return &list->own_chunk;
}

static void free_chunk(fwd_subscriber_list *list, fwd_chunk *chunk) {
  if (chunk == &list->own_chunk) {
    list->is_own_chunk_taken = false;
  } else {
    free(chunk);
  }
}

static fwd_chunk *chunk_of(fwd_order_node *node) { return (fwd_chunk *)node; }

int64_t fwd_segments_priority(const fwd_subscriber_list *list, const fwd_record *record) {
  uint32_t slot = fwd_slot_of(record->identifier);
  return slot < list->priority_count ? list->priorities[slot] : 0;
}

/// Returns the highest priority in a segment. Returns 0 at once if the list has no priorities.
static int64_t highest_priority(const fwd_subscriber_list *list, const fwd_segment *segment) {
  if (!list->priorities) return 0;
  int64_t highest = INT64_MIN;
  for (size_t i = fwd_segment_first(segment); i < fwd_segment_end(segment); i++) {
    int64_t priority = fwd_segments_priority(list, segment->records[i]);
    if (priority > highest) highest = priority;
  }
  return highest;
}

/// Raises a chunk's bound to the priority of one of its records.
static void note_priority(fwd_subscriber_list *list, fwd_chunk *chunk, const fwd_record *record) {
  if (!list->priorities) return;
  int64_t priority = fwd_segments_priority(list, record);
  if (priority <= chunk->node.priority) return;
  chunk->node.priority = priority;
  fwd_order_update(&chunk->node);
}

static void set_home(fwd_subscriber_list *list, const fwd_record *record, fwd_chunk *chunk) {
  if (!list->homes) return;
  uint32_t slot = fwd_slot_of(record->identifier);
  if (slot >= list->home_count) {
    size_t count = 2 * list->home_count > slot ? 2 * list->home_count : (size_t)slot + 1;
    fwd_chunk **homes = realloc(list->homes, count * sizeof *homes);
    if (!homes) {
      // They are made again when they are needed.
      free(list->homes);
      list->homes = NULL;
      return;
    }
    list->homes = homes;
    list->home_count = count;
  }
  list->homes[slot] = chunk;
}

static void set_homes(fwd_subscriber_list *list, fwd_chunk *chunk) {
  for (size_t i = fwd_segment_first(chunk->segment); list->homes && i < fwd_segment_end(chunk->segment); i++) {
    set_home(list, chunk->segment->records[i], chunk);
  }
}

/// Inserts a chunk into the writer's order, after another one or as the first.
static void insert_chunk(fwd_subscriber_list *list, fwd_chunk *before, fwd_chunk *chunk) {
  chunk->node.count = length(chunk->segment);
  chunk->node.priority = highest_priority(list, chunk->segment);
  chunk->previous = before;
  chunk->next = before ? before->next : list->first;
  *(before ? &before->next : &list->first) = chunk;
  *(chunk->next ? &chunk->next->previous : &list->last) = chunk;
  fwd_order_insert(&list->order, before ? &before->node : NULL, &chunk->node);
  list->chunk_count++;
  set_homes(list, chunk);
}

/// Finds the chunk of the record at `*index`, which becomes the record's index among those of the chunk.
static fwd_chunk *find(const fwd_subscriber_list *list, size_t *index) {
  if (!list->first->next) return list->first;
  return chunk_of(fwd_order_find(&list->order, index));
}

// Rare, and large where it is inlined.
FWD_SMALL_CODE_BEGIN

/// Breaks a chunk's segment up into parts. False if memory is short.
__attribute__((noinline)) static bool break_up(fwd_subscriber_list *list, fwd_chunk *chunk, fwd_garbage *garbage) {
  fwd_segment *old = chunk->segment;
  size_t count = length(old), part_count = (count + part_size - 1) / part_size;
  fwd_chunk *chain = NULL;
  // From the last to the first, so that each finds the next one.
  fwd_segment *next = segment_behind(chunk);
  for (size_t i = part_count; i-- > 0;) {
    size_t from = i * part_size, to = from + part_size < count ? from + part_size : count;
    // There is room to append at the end.
    bool is_last = !chunk->next && i == part_count - 1;
    fwd_segment *part = create_segment(list, is_last ? small_limit : to - from);
    fwd_chunk *made = part ? make_chunk(list) : NULL;
    if (!made) {
      free(part);
      for (fwd_chunk *each = chain, *more; each; each = more) {
        more = each->next;
        free(each->segment);
        free_chunk(list, each);
      }
      return false;
    }
    append_some(part, old, from, to);
    stamp(part, i == 0 ? old : NULL, next);
    next = part;
    *made = (fwd_chunk){.segment = part, .next = chain};
    chain = made;
  }
  // The first part takes over the chunk.
  fwd_chunk *first = chain, *more = first->next;
  chunk->segment = first->segment;
  free_chunk(list, first);
  link_behind(list, chunk->previous, chunk->segment);
  commit(list);
  retire(old, garbage);
  chunk->node.count = length(chunk->segment);
  chunk->node.priority = highest_priority(list, chunk->segment);
  fwd_order_update(&chunk->node);
  for (fwd_chunk *before = chunk; more; before = before->next) {
    fwd_chunk *made = more;
    more = made->next;
    insert_chunk(list, before, made);
  }
  return true;
}

FWD_SMALL_CODE_END

/// Finds the chunk of an index, with a segment that is small enough to be copied. NULL if memory is short.
static fwd_chunk *find_small(fwd_subscriber_list *list, size_t *index, fwd_garbage *garbage) {
  size_t inside = *index;
  fwd_chunk *chunk = find(list, &inside);
  if (length(chunk->segment) >= small_limit) {
    if (!break_up(list, chunk, garbage)) return NULL;
    inside = *index;
    chunk = find(list, &inside);
  }
  *index = inside;
  return chunk;
}

/// Compacts a list of many short segments, which moves leave behind. Without memory they stay.
static void limit_chunks(fwd_subscriber_list *list, fwd_garbage *garbage) {
  if (list->draft) return;
  if (list->chunk_count > 16 && list->chunk_count > list->count / 32) fwd_segments_compact(list, garbage);
}

// MARK: Inserting

/// Adds a chunk at the end, with a segment of one record, or of none if `record` is NULL. False if memory is short.
static bool add_chunk(fwd_subscriber_list *list, fwd_record *record, size_t capacity) {
  fwd_segment *segment = create_segment(list, capacity);
  fwd_chunk *chunk = segment ? make_chunk(list) : NULL;
  if (!chunk) {
    free(segment);
    return false;
  }
  if (record) append(segment, record);
  stamp(segment, NULL, NULL);
  chunk->segment = segment;
  link_behind(list, list->last, segment);
  commit(list);
  insert_chunk(list, list->last, chunk);
  return true;
}

/// Makes the end of the last segment, where a record has been appended, a complete change.
static inline void commit_append(fwd_subscriber_list *list) {
  uint64_t appended = atomic_load_explicit(&list->appended, memory_order_relaxed);
  atomic_store_explicit(&list->appended, appended + 1, memory_order_release);
}

static bool insert_last(fwd_subscriber_list *list, fwd_record *record, fwd_garbage *garbage) {
  fwd_chunk *chunk = list->last;
  if (!chunk) return add_chunk(list, record, 8);
  fwd_segment *segment = chunk->segment;
  size_t count = length(segment) + 1;
  if (fwd_segment_end(segment) < segment->capacity) {
    append(segment, record);
    // What a draft appends, `fwd_segments_publish` makes part of its version.
    if (!list->draft) commit_append(list);
  } else if (count > large_limit) {
    size_t capacity = list->count / 4;
    if (capacity < small_limit) capacity = small_limit;
    return add_chunk(list, record, capacity < large_limit ? capacity : large_limit);
  } else {
    size_t capacity = count < 6 ? 8 : count + count / 2;
    fwd_segment *made = create_segment(list, capacity < large_limit ? capacity : large_limit);
    if (!made) return false;
    append_some(made, segment, 0, count - 1);
    append(made, record);
    replace(list, chunk, made, garbage);
  }
  fwd_order_add(&chunk->node, 1);
  return true;
}

/// A copy of a chunk's segment with a record before the one at `index`. NULL if memory is short.
static fwd_segment *copy_with(fwd_subscriber_list *list, const fwd_chunk *chunk, fwd_record *record, size_t index) {
  size_t count = length(chunk->segment);
  // The last segment keeps room to append.
  fwd_segment *made = create_segment(list, chunk->next ? count + 1 : count + 1 + count / 2);
  if (!made) return NULL;
  append_some(made, chunk->segment, 0, index);
  append(made, record);
  append_some(made, chunk->segment, index, count);
  return made;
}

/// The slow path of `fwd_segments_insert`, which repeats the usual case of this function and of `insert_last`.
__attribute__((noinline)) static bool insert(fwd_subscriber_list *list, fwd_record *record, size_t index,
                                             fwd_garbage *garbage) {
  fwd_chunk *chunk = list->last;
  if (index >= list->count) {
    if (!insert_last(list, record, garbage)) return false;
    chunk = list->last;
  } else {
    chunk = find_small(list, &index, garbage);
    fwd_segment *made = chunk ? copy_with(list, chunk, record, index) : NULL;
    if (!made) return false;
    replace(list, chunk, made, garbage);
    fwd_order_add(&chunk->node, 1);
  }
  list->count++;
  set_home(list, record, chunk);
  note_priority(list, chunk, record);
  return true;
}

// The usual case of `insert`: appends in place, in a list without priorities, homes or a draft.
FWD_HOT bool fwd_segments_insert(fwd_subscriber_list *list, fwd_record *record, size_t index, fwd_garbage *garbage) {
  fwd_chunk *chunk = list->last;
  bool is_usual = chunk && index >= list->count && !list->draft && !list->homes && !list->priorities &&
                  fwd_segment_end(chunk->segment) < chunk->segment->capacity;
  if (FWD_RARELY(!is_usual)) return insert(list, record, index, garbage);
  append_inline(chunk->segment, record);
  commit_append(list);
  fwd_order_add(&chunk->node, 1);
  list->count++;
  return true;
}

// MARK: Moving

/// A copy of a chunk's segment without the record at `index`. NULL if memory is short.
static fwd_segment *copy_without(fwd_subscriber_list *list, const fwd_chunk *chunk, size_t index) {
  size_t count = length(chunk->segment);
  fwd_segment *made = create_segment(list, count);
  if (!made) return NULL;
  append_some(made, chunk->segment, 0, index);
  append_some(made, chunk->segment, index + 1, count);
  return made;
}

FWD_SMALL_CODE_BEGIN

/// Moves a record inside of its chunk. `from` and `to` count the chunk's records. False if memory is short.
static bool move_inside(fwd_subscriber_list *list, fwd_chunk *chunk, size_t from, size_t to, fwd_garbage *garbage) {
  const fwd_segment *old = chunk->segment;
  size_t count = length(old);
  fwd_segment *made = create_segment(list, old->capacity < count ? count : old->capacity);
  if (!made) return false;
  fwd_record *record = records_of(old)[from];
  if (from < to) {
    append_some(made, old, 0, from);
    append_some(made, old, from + 1, to + 1);
    append(made, record);
    append_some(made, old, to + 1, count);
  } else {
    append_some(made, old, 0, to);
    append(made, record);
    append_some(made, old, to, from);
    append_some(made, old, from + 1, count);
  }
  replace(list, chunk, made, garbage);
  note_priority(list, chunk, record);
  return true;
}

/// Moves a record that has its new priority already. False if memory is short.
static bool move(fwd_subscriber_list *list, size_t from, size_t to, fwd_garbage *garbage) {
  if (from == to) {
    size_t inside = from;
    fwd_chunk *chunk = find(list, &inside);
    note_priority(list, chunk, records_of(chunk->segment)[inside]);
    return true;
  }
  // Before which record it comes, with itself still in the list.
  size_t before = to > from ? to + 1 : to, source_index = from, target_index = before;
  // Breaking one up may move the other.
  if (!find_small(list, &source_index, garbage) || !find_small(list, &target_index, garbage)) return false;
  source_index = from;
  target_index = before;
  fwd_chunk *source = find(list, &source_index), *target = find(list, &target_index);
  if (source == target) {
    return move_inside(list, source, source_index, to > from ? target_index - 1 : target_index, garbage);
  }
  fwd_record *record = records_of(source->segment)[source_index];
  fwd_segment *without = copy_without(list, source, source_index);
  fwd_segment *with = without ? copy_with(list, target, record, target_index) : NULL;
  if (!with) {
    free(without);
    return false;
  }
  // One version for both: a reading sees the record once.
  fwd_segment *old_source = put_in_place(list, source, without);
  fwd_segment *old_target = put_in_place(list, target, with);
  commit(list);
  retire(old_source, garbage);
  retire(old_target, garbage);
  fwd_order_add(&source->node, (size_t)-1);
  fwd_order_add(&target->node, 1);
  set_home(list, record, target);
  note_priority(list, target, record);
  fwd_segments_skip_ended(list, garbage);
  limit_chunks(list, garbage);
  return true;
}

bool fwd_segments_move(fwd_subscriber_list *list, size_t from, size_t to, int64_t priority, fwd_garbage *garbage) {
  const fwd_record *record = fwd_segments_at(list, from);
  int64_t before = fwd_segments_priority(list, record);
  if (!fwd_segments_set_priority(list, record, priority)) return false;
  if (move(list, from, to, garbage)) return true;
  // There is room for it, so this does not fail. The order is as it was, but a segment may have been broken up, and the
  // bounds of its parts may be lower than this priority.
  (void)fwd_segments_set_priority(list, record, before);
  size_t inside = from;
  note_priority(list, find(list, &inside), record);
  return false;
}

FWD_SMALL_CODE_END

// MARK: Leaving

/// Removes the first chunk, all of whose records have ended. False if memory is short.
static bool remove_first(fwd_subscriber_list *list, fwd_garbage *garbage) {
  fwd_chunk *empty = list->first, *chunk = empty->next;
  fwd_segment *old = chunk->segment;
  // A copy with the removed segment as `older`: a reading that began before the removed segment was made has to find
  // the segments before that one.
  fwd_segment *made = create_segment(list, old->capacity);
  if (!made) return false;
  append_some(made, old, 0, length(old));
  stamp(made, empty->segment, segment_behind(chunk));
  chunk->segment = made;
  chunk->previous = NULL;
  list->first = chunk;
  link_behind(list, NULL, made);
  commit(list);
  retire(empty->segment, garbage);
  retire(old, garbage);
  fwd_order_remove(&list->order, &empty->node);
  list->chunk_count--;
  if (list->hand == empty) list->hand = NULL;
  free_chunk(list, empty);
  return true;
}

FWD_HOT bool fwd_segments_skip_in_place(fwd_subscriber_list *list) {
  fwd_chunk *chunk = list->first;
  // A draft may be discarded, so it gives up no record.
  if (!chunk || list->draft) return false;
  fwd_segment *segment = chunk->segment;
  size_t before = fwd_segment_first(segment), first = before, end = fwd_segment_end(segment);
  while (first < end && fwd_record_has_ended(segment->records[first])) first++;
  if (first == before) return first == end && chunk->next;
  list->count -= first - before;
  list->ended -= first - before;
  fwd_order_add(&chunk->node, before - first);
  atomic_store_explicit(&segment->first, first, memory_order_release);
  return first == end && chunk->next;
}

void fwd_segments_skip_ended(fwd_subscriber_list *list, fwd_garbage *garbage) {
  while (fwd_segments_skip_in_place(list) && remove_first(list, garbage)) continue;
}

// MARK: Compacting

/// What a compaction makes.
typedef struct compaction {
  fwd_chunk *first, *last;
  fwd_record **dropped;
  size_t dropped_count;
} compaction;

static void discard_copy(fwd_subscriber_list *list, compaction *copy) {
  for (fwd_chunk *chunk = copy->first, *next; chunk; chunk = next) {
    next = chunk->next;
    free(chunk->segment);
    free_chunk(list, chunk);
  }
  free(copy->dropped);
}

/// Makes empty segments for `count` records. False if memory is short, and then nothing is left.
static bool make_copy(fwd_subscriber_list *list, size_t count, compaction *copy) {
  *copy = (compaction){.first = NULL};
  if (list->ended > 0) {
    copy->dropped = malloc(list->ended * sizeof *copy->dropped);
    if (!copy->dropped) return false;
  }
  size_t left = count, kept = list->last ? list->last->segment->capacity : 0;
  if (kept > kept_limit) kept = kept_limit;
  do {
    size_t capacity = left < large_limit ? left + left / 2 : large_limit;
    if (left == count && count < 6) capacity = 8;
    if (left < large_limit && capacity < kept) capacity = kept;
    // The last one of several has less room left.
    if (left < count && left < large_limit) capacity = left + small_limit;
    if (capacity > large_limit) capacity = large_limit;
    fwd_segment *segment = create_segment(list, capacity);
    fwd_chunk *chunk = segment ? make_chunk(list) : NULL;
    if (!chunk) {
      free(segment);
      discard_copy(list, copy);
      return false;
    }
    chunk->segment = segment;
    chunk->previous = copy->last;
    *(copy->last ? &copy->last->next : &copy->first) = chunk;
    copy->last = chunk;
    left -= left < large_limit ? left : large_limit;
  } while (left > 0);
  return true;
}

/// Fills the copy with the records that have not ended.
static void fill_copy(fwd_subscriber_list *list, compaction *copy) {
  fwd_chunk *target = copy->first;
  for (const fwd_chunk *source = list->first; source; source = source->next) {
    const fwd_segment *segment = source->segment;
    for (size_t from = 0, count = length(segment); from < count;) {
      fwd_segment *made = target->segment;
      // All but the last part are filled completely.
      size_t room = (target->next ? made->capacity : SIZE_MAX) - fwd_segment_end(made), to = count;
      if (room == 0) {
        target = target->next;
        continue;
      }
      if (to - from > room) to = from + room;
      if (list->ended == 0) {
        append_some(made, segment, from, to);
        from = to;
        continue;
      }
      fwd_record *record = records_of(segment)[from++];
      if (fwd_record_has_ended(record)) {
        copy->dropped[copy->dropped_count++] = record;
      } else {
        append(made, record);
      }
    }
  }
}

bool fwd_segments_compact(fwd_subscriber_list *list, fwd_garbage *garbage) {
  if (!list->first || list->draft) return true;
  compaction copy;
  if (!make_copy(list, list->count - list->ended, &copy)) return false;
  fill_copy(list, &copy);
  fwd_segment *next = NULL, *old = list->first->segment;
  for (fwd_chunk *chunk = copy.last; chunk; chunk = chunk->previous) {
    stamp(chunk->segment, chunk->previous ? NULL : old, next);
    next = chunk->segment;
  }
  link_behind(list, NULL, next);
  commit(list);
  old->dropped = copy.dropped;
  old->dropped_count = copy.dropped_count;
  for (fwd_chunk *chunk = list->first, *more; chunk; chunk = more) {
    more = chunk->next;
    retire(chunk->segment, garbage);
    free_chunk(list, chunk);
  }
  free(list->homes);
  list->homes = NULL;
  list->first = list->last = list->hand = NULL;
  list->order.root = NULL;
  list->chunk_count = 0;
  list->count -= list->ended;
  list->ended = list->visited = 0;
  for (fwd_chunk *chunk = copy.first, *more; chunk; chunk = more) {
    more = chunk->next;
    insert_chunk(list, list->last, chunk);
  }
  return true;
}

// MARK: Drafts

/// Makes the chunks of a copy the writer's order, after the published ones have been put aside.
static void install(fwd_subscriber_list *list, fwd_chunk *chunks) {
  list->homes = NULL;
  list->first = list->last = list->hand = NULL;
  list->order.root = NULL;
  list->chunk_count = 0;
  for (fwd_chunk *chunk = chunks, *more; chunk; chunk = more) {
    more = chunk->next;
    insert_chunk(list, list->last, chunk);
  }
}

static void free_chunks(fwd_subscriber_list *list, fwd_chunk *chunks) {
  for (fwd_chunk *chunk = chunks, *more; chunk; chunk = more) {
    more = chunk->next;
    free(chunk->segment);
    free_chunk(list, chunk);
  }
}

bool fwd_segments_begin_draft(fwd_subscriber_list *list, fwd_arrangement *published, fwd_record ***dropped,
                              size_t *dropped_count) {
  // `fwd_segments_publish` hangs the records that leave on a published segment, also those that join in the draft.
  if (!list->first && !add_chunk(list, NULL, 0)) return false;
  compaction copy;
  if (!make_copy(list, list->count - list->ended, &copy)) return false;
  fill_copy(list, &copy);
  *published = (fwd_arrangement){
      .count = list->count,
      .ended = list->ended,
      .visited = list->visited,
      .order = list->order,
      .first = list->first,
      .last = list->last,
      .chunk_count = list->chunk_count,
      .hand = list->hand,
      .hand_index = list->hand_index,
      .homes = list->homes,
      .home_count = list->home_count,
  };
  *dropped = copy.dropped;
  *dropped_count = copy.dropped_count;
  install(list, copy.first);
  list->count -= list->ended;
  list->ended = list->visited = 0;
  return true;
}

void fwd_segments_discard(fwd_subscriber_list *list, const fwd_arrangement *published) {
  free_chunks(list, list->first);
  free(list->homes);
  list->count = published->count;
  list->ended = published->ended;
  list->visited = published->visited;
  list->order = published->order;
  list->first = published->first;
  list->last = published->last;
  list->chunk_count = published->chunk_count;
  list->hand = published->hand;
  list->hand_index = published->hand_index;
  list->homes = published->homes;
  list->home_count = published->home_count;
}

/// Makes some chunks what fan-outs read, in one step, in place of those of `old`.
static void link_all(fwd_subscriber_list *list, fwd_chunk *last, fwd_segment *old) {
  fwd_segment *next = NULL;
  for (fwd_chunk *chunk = last; chunk; chunk = chunk->previous) {
    stamp(chunk->segment, chunk->previous ? NULL : old, next);
    next = chunk->segment;
  }
  link_behind(list, NULL, next);
  commit(list);
}

void fwd_segments_publish(fwd_subscriber_list *list, fwd_arrangement *published, fwd_record **dropped,
                          size_t dropped_count, fwd_garbage *garbage) {
  fwd_segment *old = published->first->segment;
  link_all(list, list->last, old);
  old->dropped = dropped;
  old->dropped_count = dropped_count;
  for (fwd_chunk *chunk = published->first, *more; chunk; chunk = more) {
    more = chunk->next;
    retire(chunk->segment, garbage);
    free_chunk(list, chunk);
  }
  free(published->homes);
}

void fwd_segments_take_out(fwd_subscriber_list *list, const fwd_record *record) {
  size_t index = fwd_segments_index(list, record);
  fwd_chunk *chunk = find(list, &index);
  fwd_segment *segment = chunk->segment;
  size_t place = fwd_segment_first(segment) + index, end = fwd_segment_end(segment);
  memmove(&segment->records[place], &segment->records[place + 1], (end - place - 1) * sizeof segment->records[0]);
  atomic_store_explicit(&segment->end, end - 1, memory_order_relaxed);
  fwd_order_add(&chunk->node, (size_t)-1);
  list->count--;
  if (length(segment) > 0 || list->chunk_count == 1) return;
  *(chunk->previous ? &chunk->previous->next : &list->first) = chunk->next;
  *(chunk->next ? &chunk->next->previous : &list->last) = chunk->previous;
  fwd_order_remove(&list->order, &chunk->node);
  list->chunk_count--;
  free(segment);
  free_chunk(list, chunk);
}

// MARK: Looking

fwd_record *fwd_segments_at(const fwd_subscriber_list *list, size_t index) {
  const fwd_chunk *chunk = find(list, &index);
  return records_of(chunk->segment)[index];
}

/// Whether the chunk of each record is known. False if memory is short.
static bool have_homes(fwd_subscriber_list *list) {
  if (list->homes) return true;
  list->home_count = list->count + list->count / 2;
  list->homes = malloc(list->home_count * sizeof *list->homes);
  for (fwd_chunk *chunk = list->first; chunk; chunk = chunk->next) set_homes(list, chunk);
  return list->homes != NULL;
}

/// The index of a record in a segment, or the number of its records if it is not there.
static size_t index_in(const fwd_segment *segment, const fwd_record *record) {
  size_t count = length(segment);
  fwd_record *const *records = records_of(segment);
  // From the end, where most records join and leave.
  for (size_t index = count; index-- > 0;) {
    if (records[index] == record) return index;
  }
  return count;
}

size_t fwd_segments_index(fwd_subscriber_list *list, const fwd_record *record) {
  if (!list->first->next) return index_in(list->first->segment, record);
  if (have_homes(list)) {
    const fwd_chunk *chunk = list->homes[fwd_slot_of(record->identifier)];
    return fwd_order_index(&chunk->node) + index_in(chunk->segment, record);
  }
  size_t index = 0;
  for (const fwd_chunk *chunk = list->first; chunk; chunk = chunk->next) {
    size_t inside = index_in(chunk->segment, record);
    index += inside;
    if (inside < length(chunk->segment)) break;
  }
  return index;
}

size_t fwd_segments_find_priority(fwd_subscriber_list *list, int64_t priority, const fwd_record *except) {
  fwd_order_node *passed = NULL;
  size_t index = 0;
  for (fwd_order_node *node; (node = fwd_order_last(&list->order, priority));) {
    const fwd_segment *segment = chunk_of(node)->segment;
    int64_t highest = INT64_MIN;
    size_t first = fwd_segment_first(segment), i = fwd_segment_end(segment);
    for (; i > first; i--) {
      const fwd_record *record = segment->records[i - 1];
      if (record == except) passed = node;
      if (record == except || !fwd_record_lives(record)) continue;
      int64_t found = fwd_segments_priority(list, record);
      if (found >= priority) break;
      if (found > highest) highest = found;
    }
    if (i > first) {
      index = fwd_order_index(node) + (i - first);
      break;
    }
    // The records with the highest priority have ended: the bound is lowered, so that this is done once.
    node->priority = highest;
    fwd_order_update(node);
  }
  if (passed) note_priority(list, chunk_of(passed), except);
  return index;
}

bool fwd_segments_store_priority(fwd_subscriber_list *list, uint32_t slot, int64_t priority) {
  if (slot >= list->priority_count) {
    size_t count = 2 * list->priority_count > slot ? 2 * list->priority_count : (size_t)slot + 1;
    int64_t *priorities = realloc(list->priorities, count * sizeof *priorities);
    if (!priorities) return false;
    for (size_t i = list->priority_count; i < count; i++) priorities[i] = 0;
    list->priorities = priorities;
    list->priority_count = count;
  }
  list->priorities[slot] = priority;
  return true;
}

// MARK: The whole

size_t fwd_segments_footprint(const fwd_subscriber_list *list) {
  size_t bytes = list->priority_count * sizeof *list->priorities;
  if (list->homes) bytes += list->home_count * sizeof *list->homes;
  for (const fwd_chunk *chunk = list->first; chunk; chunk = chunk->next) {
    const fwd_segment *segment = chunk->segment;
    bytes += (chunk == &list->own_chunk ? 0 : sizeof *chunk) + sizeof *segment + segment->capacity * sizeof segment->records[0];
  }
  return bytes;
}

void fwd_segments_destroy(fwd_subscriber_list *list) {
  for (fwd_chunk *chunk = list->first, *next; chunk; chunk = next) {
    next = chunk->next;
    fwd_segment *segment = chunk->segment;
    // The store goes as a whole.
    for (size_t i = 0; i < fwd_segment_end(segment); i++) release_record(segment->records[i]);
    free(segment);
    free_chunk(list, chunk);
  }
  release_list(list);
}
