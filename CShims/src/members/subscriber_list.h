// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The list of a proxy's subscriptions, for the rest of the C target.

#ifndef FWD_SRC_SUBSCRIBER_LIST_H
#define FWD_SRC_SUBSCRIBER_LIST_H

#include "fwd_list.h"
#include "members/segments.h"

/// In `fwd_subscriber_list.tables`: fan-outs of the method are intercepted.
#define FWD_INTERCEPTED UINT32_C(0x80000000)
/// The interceptors respond to the method. Only with FWD_INTERCEPTED.
#define FWD_ANSWERED UINT32_C(0x40000000)
/// The method is blocked: its fan-outs end without a response. Only with FWD_INTERCEPTED, so that the fast path checks
/// for one bit.
#define FWD_BLOCKED UINT32_C(0x20000000)
/// The interceptors are closures before and after the subscribers, and none replaces them. Only with FWD_INTERCEPTED.
#define FWD_OBSERVED UINT32_C(0x10000000)
/// All of these bits.
#define FWD_METHOD_FLAGS (FWD_INTERCEPTED | FWD_ANSWERED | FWD_BLOCKED | FWD_OBSERVED)

/// Returns the size of a list in bytes. Its alignment is that of malloc's memory.
size_t fwd_list_size(size_t method_count);
/// Makes an empty list of zeroed memory, which is part of `allocation`. The list frees the allocation when nothing reads
/// the list any more, which may be after `fwd_list_destroy`.
void fwd_list_init(fwd_subscriber_list *list, size_t method_count, void *allocation);
/// Ends all subscriptions. Their records stay in their segments until the list is compacted or destroyed. If no fan-out is
/// under way, the caller may free the garbage at once.
void fwd_list_close(fwd_subscriber_list *list, fwd_garbage *garbage);
/// Frees a list that has been closed, or that never had a subscription.
void fwd_list_destroy(fwd_subscriber_list *list);

// MARK: Changing

/// Like `fwd_list_insert`, but returns 0 and changes nothing if `key` is not NULL and `fwd_list_find_object` finds the object
/// with this key.
fwd_subscription fwd_list_insert_unless(fwd_subscriber_list *list, const fwd_subscriber *subscriber,
                                        fwd_dispatch_table *table, size_t index, const void *key, fwd_garbage *garbage);

/// Adds to the number of tables that implement each method of a table.
void fwd_list_count_methods(fwd_subscriber_list *list, const fwd_dispatch_table *table, uint32_t change);

/// Counts one responder more among the subscribers that have a table, or one less. For the writer.
static inline void fwd_list_add_responder(fwd_subscriber_list *list, fwd_dispatch_table *table) {
  if (table->responders++ == 0) fwd_list_count_methods(list, table, 1);
}
static inline void fwd_list_drop_responder(fwd_subscriber_list *list, fwd_dispatch_table *table) {
  if (--table->responders == 0) fwd_list_count_methods(list, table, (uint32_t)-1);
}

/// Ends a *plain* subscription: one that is held by an unowned reference and has no gate, in a list without `on_end`, whose table
/// has other subscriptions and no observer. Does what `end_telling` (subscriber_list.c) does for it, which makes no garbage.
/// Returns false, and does nothing, for any other subscription. `held` is the record's word. The caller must then call
/// `fwd_list_compact_in_place`.
static inline bool fwd_list_end_plain(fwd_subscriber_list *list, fwd_record *record, uintptr_t held) {
  fwd_dispatch_table *table = record->table;
  size_t members = fwd_table_members(table);
  if ((held & FWD_HELD_BITS) || list->on_end || table->ended || members == 1) return false;
  fwd_index_remove_quickly(&list->index, &list->store, record, (const void *)held);
  list->ended++;
  fwd_list_drop_responder(list, table);
  // Release: see `fwd_record_held`.
  atomic_store_explicit(&record->held, held | FWD_HELD_ENDED, memory_order_release);
  atomic_store_explicit(&table->members, members - 1, memory_order_release);
  return true;
}

/// Whether the records that have ended should be removed, which copies the others: there are more of them, and not too few,
/// or fan-outs have had to visit as many records as the copy has.
static inline bool fwd_list_is_worth_compacting(const fwd_subscriber_list *list) {
  if (!list->first) return false;
  enum { few = 16 };
  size_t tombstones = list->ended + fwd_segment_first(list->first->segment), left = list->count - list->ended;
  bool are_most = tombstones > left && (tombstones >= few || left == 0);
  return are_most || (list->ended > 0 && list->visited >= list->count);
}

/// Removes the records that have ended at the front, and the others if that is worth it. For the end of a subscription.
void fwd_list_compact_if_worth(fwd_subscriber_list *list, fwd_garbage *garbage);
/// Does the part of this that copies nothing. Returns whether `fwd_list_compact_if_worth` has to do the rest.
static inline bool fwd_list_compact_in_place(fwd_subscriber_list *list) {
  return fwd_segments_skip_in_place(list) || fwd_list_is_worth_compacting(list);
}

/// Keeps the object of a subscription that is held weakly alive. `*held` receives the reference; NULL if the object has died
/// or is held otherwise. False if memory is short.
bool fwd_list_hold_left(const fwd_record *record, fwd_end **held);
/// Makes garbage of what `fwd_list_hold_left` has made, which may be NULL.
void fwd_list_release_left(fwd_subscriber_list *list, fwd_end *held, fwd_garbage *garbage);
/// Ends a subscription whose record is in no segment any more that a new fan-out reads. The record stays as it was, for the
/// fan-outs that began before. `held` is its reference of `fwd_list_hold_left`.
void fwd_list_end_left(fwd_subscriber_list *list, fwd_record *record, fwd_end *held, fwd_garbage *garbage);

// MARK: Finding

/// `fwd_list_find`, inline. `*held` receives the word of the record.
static inline fwd_record *fwd_list_find_inline(const fwd_subscriber_list *list, fwd_subscription identifier, uintptr_t *held) {
  fwd_record *record = fwd_store_at(&list->store, fwd_slot_of(identifier));
  if (!record || record->identifier != identifier) return NULL;
  *held = fwd_record_word(record);
  // Most have no bits. One that has been prepared has ended so far, and has no `next` yet.
  if ((*held & FWD_HELD_BITS) && fwd_held_has_ended(*held)) return NULL;
  return record->next != FWD_LEFT_SLOT ? record : NULL;
}

/// `fwd_list_shared_table`, inline.
static inline fwd_dispatch_table *fwd_list_shared_table_inline(const fwd_subscriber_list *list, const void *key) {
  for (size_t i = 0; i < FWD_SHARED_TABLES; i++) {
    fwd_dispatch_table *table = atomic_load_explicit(&list->shared[i], memory_order_relaxed);
    if (table && fwd_table_is_named(table, key)) return table;
  }
  return NULL;
}

/// `fwd_list_may_share`, inline.
static inline bool fwd_list_may_share_inline(const fwd_subscriber_list *list) {
  for (size_t i = 0; i < FWD_SHARED_TABLES; i++) {
    if (atomic_load_explicit(&list->shared[i], memory_order_relaxed)) return true;
  }
  return atomic_load_explicit(&list->shares_more, memory_order_relaxed);
}

// MARK: Reading

/// The word of a method. Acquire: a reader that finds an interceptor in it finds the chain. A table that it counts may have
/// no record yet.
static inline uint32_t fwd_list_tables(const fwd_subscriber_list *list, size_t method) {
  return atomic_load_explicit(&list->tables[method], memory_order_acquire);
}

/// Whether some subscription implements a method, intercepted or not.
static inline bool fwd_tables_have_some(uint32_t tables) {
  return (tables & ~FWD_METHOD_FLAGS) != 0;
}

#endif
