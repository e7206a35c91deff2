// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Drafts: several changes of a proxy's list that fan-outs see in one step. draft.c explains them.
///
/// The rules of fwd_list.h hold: the caller holds a lock from `fwd_draft_begin` to `fwd_draft_publish` or
/// `fwd_draft_discard`, and passes the garbage to `fwd_garbage_collect` after it has released the lock. While a list has a
/// draft, the functions of fwd_list.h that find records, indices and priorities look at the draft. Those that change the
/// list must not be called.

#ifndef FWD_DRAFT_H
#define FWD_DRAFT_H

#include "fwd_list.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// A subscription that has its identifier but is not in the list yet. `fwd_list_find` does not find it.
typedef struct fwd_prepared {
  fwd_record *FWD_NULLABLE record;
  /// The record's word (held.h) from the moment when it joins.
  uintptr_t held;
} fwd_prepared;

/// Makes a subscription that `fwd_draft_join` adds to a list later. Holds the subscriber as the subscription will, and
/// retains `table`. Returns the identifier, or 0 if memory is short: then nothing has changed. The caller must pass
/// `*prepared` to `fwd_draft_join` or to `fwd_list_abandon`. O(1).
fwd_subscription fwd_list_prepare(fwd_subscriber_list *FWD_NONNULL list, const fwd_subscriber *FWD_NONNULL subscriber,
                                  fwd_dispatch_table *FWD_NONNULL table, fwd_prepared *FWD_NONNULL prepared,
                                  fwd_garbage *FWD_NONNULL garbage);

/// Ends a subscription that has been prepared and has not joined. O(1).
void fwd_list_abandon(fwd_subscriber_list *FWD_NONNULL list, fwd_prepared prepared, fwd_garbage *FWD_NONNULL garbage);

/// Whether the object of a prepared subscription is not known to have died.
bool fwd_prepared_is_live(fwd_prepared prepared);

/// Begins a draft, which is a copy of the list. Returns false if memory is short. O(n).
bool fwd_draft_begin(fwd_subscriber_list *FWD_NONNULL list);

/// Adds a prepared subscription before the record at `index`, which is at most the count, or FWD_LIST_END. Returns false if
/// memory is short: then the draft has not changed. Amortised O(log n).
bool fwd_draft_join(fwd_subscriber_list *FWD_NONNULL list, fwd_prepared prepared, int64_t priority, size_t index);

/// Takes a subscription out. It must not have joined in this draft. Returns false if memory is short: then the draft has not
/// changed. Amortised O(log n), and O(m) in the records of the segment.
bool fwd_draft_leave(fwd_subscriber_list *FWD_NONNULL list, fwd_record *FWD_NONNULL record);

/// Takes all subscriptions out. None may have joined in this draft. Returns false if memory is short: then some may be left.
/// O(n log n).
bool fwd_draft_leave_all(fwd_subscriber_list *FWD_NONNULL list);

/// Moves a record, as `fwd_list_move` does.
bool fwd_draft_move(fwd_subscriber_list *FWD_NONNULL list, size_t from, size_t to, int64_t priority);

/// Makes the draft the list, in one step. A fan-out that begins before delivers to the list as it was, also to the
/// subscriptions that have left. What these hold is given up when no such fan-out is left; until then objects that they hold
/// weakly stay alive, too. Does not fail. O(k) in the number
/// of changes, and O(s) in the number of segments.
void fwd_draft_publish(fwd_subscriber_list *FWD_NONNULL list, fwd_garbage *FWD_NONNULL garbage);

/// Ends the draft without a change of the list. The prepared subscriptions are as they were before they joined. O(n).
void fwd_draft_discard(fwd_subscriber_list *FWD_NONNULL list, fwd_garbage *FWD_NONNULL garbage);

/// Returns what `fwd_set_thread_changes` has set on this thread, or NULL.
void *FWD_NULLABLE fwd_thread_changes(void);
/// Notes the changes that this thread collects for a draft. The Swift module knows what `changes` is.
void fwd_set_thread_changes(void *FWD_NULLABLE changes);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
