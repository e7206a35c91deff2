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

/// Counts one responder more among the subscribers that have a table, or one less. For the writer.
void fwd_list_add_responder(fwd_subscriber_list *list, fwd_dispatch_table *table);
void fwd_list_drop_responder(fwd_subscriber_list *list, fwd_dispatch_table *table);

/// Keeps the object of a subscription that is held weakly alive. `*held` receives the reference; NULL if the object has died
/// or is held otherwise. False if memory is short.
bool fwd_list_hold_left(const fwd_record *record, fwd_end **held);
/// Makes garbage of what `fwd_list_hold_left` has made, which may be NULL.
void fwd_list_release_left(fwd_subscriber_list *list, fwd_end *held, fwd_garbage *garbage);
/// Ends a subscription whose record is in no segment any more that a new fan-out reads. The record stays as it was, for the
/// fan-outs that began before. `held` is its reference of `fwd_list_hold_left`.
void fwd_list_end_left(fwd_subscriber_list *list, fwd_record *record, fwd_end *held, fwd_garbage *garbage);

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
