// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Drafts: several changes of a list that fan-outs see in one step.
///
///     begin      copies the segments           readers: head ──► A ─ B ─ C
///                                              writer:  draft    A ─ B ─ C
///     join, leave, move                        writer:  draft    A ─ D ─ C
///     publish    links the draft's segments    readers: head ──► A ─ D ─ C     B has left
///                and retires the old ones      a fan-out that began before: A ─ B ─ C
///
/// A fan-out reads the segments of one version (segments.c), so it delivers to all records of the list before, or to all
/// of the list after. It needs no check for this. A record that leaves keeps its `held` word: a fan-out that began before
/// still has to deliver to it. So nothing in the record says that the subscription has ended, except `next`, which only the
/// writer reads. The record is freed with the first of the old segments, and its gate with it.
///
/// What the subscription held is retired, so it stays for the same fan-outs. So does an object that it held weakly: a
/// program that swaps two subscribers mostly drops its reference to the old one at once, and a fan-out under way would
/// reach neither. This is the difference from `fwd_list_end`, which also stops deliveries of the fan-outs under way.
///
/// The counts of responders by method (`tables`) are raised before the draft is published, and lowered after it. They are
/// never too low for a fan-out that finds a record: if they are too high, the fan-out finds nobody by itself.
///
/// A draft can be discarded. So until it is published nothing that the writer changes is given up, and what is changed
/// outside of the copy is noted in a log: the index of objects, `held` words of records that join, and priorities.

#include "fwd_draft.h"

#include <stdlib.h>

#include "base/small_code.h"
#include "members/draft.h"
#include "members/subscriber_list.h"

FWD_SMALL_CODE_BEGIN

/// What a draft has changed outside of its segments.
typedef struct draft_change {
  enum { CHANGE_JOIN, CHANGE_LEAVE, CHANGE_MOVE } kind;
  fwd_record *record;
  union {
    /// Of a record that has left: its links in the index, and the reference that `fwd_list_hold_left` has made.
    struct {
      uint32_t next, previous;
      fwd_end *held;
    } left;
    /// The priority before a move.
    int64_t priority;
  } before;
} draft_change;

struct fwd_draft {
  fwd_arrangement published;
  /// The records that the draft does not have any more.
  fwd_record **dropped;
  size_t dropped_count, dropped_capacity;
  draft_change *changes;
  size_t count, capacity;
};

/// Makes room for one more change. False if memory is short.
static bool reserve_change(struct fwd_draft *draft) {
  if (draft->count < draft->capacity) return true;
  size_t capacity = draft->capacity ? 2 * draft->capacity : 8;
  draft_change *changes = realloc(draft->changes, capacity * sizeof *changes);
  if (!changes) return false;
  draft->changes = changes;
  draft->capacity = capacity;
  return true;
}

/// Makes room for one more record that leaves. False if memory is short.
static bool reserve_dropped(struct fwd_draft *draft) {
  if (draft->dropped_count < draft->dropped_capacity) return true;
  size_t capacity = draft->dropped_capacity ? 2 * draft->dropped_capacity : 8;
  fwd_record **dropped = realloc(draft->dropped, capacity * sizeof *dropped);
  if (!dropped) return false;
  draft->dropped = dropped;
  draft->dropped_capacity = capacity;
  return true;
}

// MARK: The changes of a thread

FWD_FAST_THREAD_LOCAL void *fwd_changes_of_thread;

void *fwd_thread_changes(void) { return fwd_changes_of_thread; }

void fwd_set_thread_changes(void *changes) { fwd_changes_of_thread = changes; }

// MARK: Changing

bool fwd_draft_begin(fwd_subscriber_list *list) {
  struct fwd_draft *draft = calloc(1, sizeof *draft);
  if (!draft) return false;
  if (!fwd_segments_begin_draft(list, &draft->published, &draft->dropped, &draft->dropped_count)) {
    free(draft);
    return false;
  }
  draft->dropped_capacity = draft->dropped_count;
  list->draft = draft;
  return true;
}

bool fwd_draft_join(fwd_subscriber_list *list, fwd_prepared prepared, int64_t priority, size_t index) {
  fwd_record *record = prepared.record;
  if (!reserve_change(list->draft) || !fwd_index_reserve(&list->index, &list->store)) return false;
  // The segments look at it.
  atomic_store_explicit(&record->held, prepared.held, memory_order_relaxed);
  // A draft leaves no garbage.
  fwd_garbage garbage = {.first = NULL};
  if (!fwd_segments_set_priority(list, record, priority) || !fwd_segments_insert(list, record, index, &garbage)) {
    atomic_store_explicit(&record->held, FWD_HELD_ENDED, memory_order_relaxed);
    return false;
  }
  fwd_index_add(&list->index, &list->store, record);
  list->draft->changes[list->draft->count++] = (draft_change){.kind = CHANGE_JOIN, .record = record};
  return true;
}

bool fwd_draft_leave(fwd_subscriber_list *list, fwd_record *record) {
  struct fwd_draft *draft = list->draft;
  fwd_end *held;
  if (!reserve_change(draft) || !reserve_dropped(draft) || !fwd_list_hold_left(record, &held)) return false;
  draft->changes[draft->count++] = (draft_change){
      .kind = CHANGE_LEAVE,
      .record = record,
      .before.left = {.next = record->next, .previous = record->previous, .held = held},
  };
  fwd_index_remove(&list->index, &list->store, record);
  fwd_segments_take_out(list, record);
  record->next = FWD_LEFT_SLOT;
  draft->dropped[draft->dropped_count++] = record;
  return true;
}

bool fwd_draft_leave_all(fwd_subscriber_list *list) {
  while (list->count > 0) {
    // The last record of a segment is taken out without a copy.
    if (!fwd_draft_leave(list, fwd_segments_at(list, list->count - 1))) return false;
  }
  return true;
}

bool fwd_draft_move(fwd_subscriber_list *list, size_t from, size_t to, int64_t priority) {
  struct fwd_draft *draft = list->draft;
  if (!reserve_change(draft)) return false;
  fwd_record *record = fwd_segments_at(list, from);
  int64_t before = fwd_segments_priority(list, record);
  fwd_garbage garbage = {.first = NULL};
  if (!fwd_segments_move(list, from, to, priority, &garbage)) return false;
  draft->changes[draft->count++] = (draft_change){.kind = CHANGE_MOVE, .record = record, .before.priority = before};
  return true;
}

// MARK: Ending

static void free_draft(struct fwd_draft *draft) {
  free(draft->changes);
  free(draft);
}

void fwd_draft_publish(fwd_subscriber_list *list, fwd_garbage *garbage) {
  struct fwd_draft *draft = list->draft;
  for (size_t i = 0; i < draft->count; i++) {
    const draft_change *change = &draft->changes[i];
    if (change->kind == CHANGE_JOIN) fwd_list_add_responder(list, change->record->table);
  }
  list->draft = NULL;
  fwd_segments_publish(list, &draft->published, draft->dropped, draft->dropped_count, garbage);
  for (size_t i = 0; i < draft->count; i++) {
    const draft_change *change = &draft->changes[i];
    if (change->kind == CHANGE_LEAVE) fwd_list_end_left(list, change->record, change->before.left.held, garbage);
  }
  free_draft(draft);
}

/// Undoes one change outside of the segments. All later ones have been undone.
static void undo(fwd_subscriber_list *list, const draft_change *change, fwd_garbage *garbage) {
  fwd_record *record = change->record;
  switch (change->kind) {
    case CHANGE_JOIN:
      fwd_index_remove(&list->index, &list->store, record);
      atomic_store_explicit(&record->held, FWD_HELD_ENDED, memory_order_relaxed);
      break;
    case CHANGE_LEAVE:
      record->next = change->before.left.next;
      record->previous = change->before.left.previous;
      fwd_index_restore(&list->index, &list->store, record);
      fwd_list_release_left(list, change->before.left.held, garbage);
      break;
    case CHANGE_MOVE:
      // There is room for it, so this does not fail.
      (void)fwd_segments_set_priority(list, record, change->before.priority);
      break;
  }
}

void fwd_draft_discard(fwd_subscriber_list *list, fwd_garbage *garbage) {
  struct fwd_draft *draft = list->draft;
  for (size_t i = draft->count; i-- > 0;) undo(list, &draft->changes[i], garbage);
  list->draft = NULL;
  fwd_segments_discard(list, &draft->published);
  free(draft->dropped);
  free_draft(draft);
}

FWD_SMALL_CODE_END
