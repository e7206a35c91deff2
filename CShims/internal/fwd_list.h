// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The subscribers of a proxy, in order.

#ifndef FWD_LIST_H
#define FWD_LIST_H

#include "fwd_dispatch.h"
#include "fwd_garbage.h"
#include "fwd_weak.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// One subscription. Valid until it has ended and its writer has let others write.
typedef struct fwd_record fwd_record;

/// The ordered subscriptions of a proxy. One writer at a time (the caller sees to that), any number
/// of readers, none of whom waits. No function runs foreign code but `fwd_garbage_collect`.
typedef struct fwd_subscriber_list fwd_subscriber_list;

/// What a subscription is made of.
typedef struct fwd_subscriber {
  /// The object that is held; NULL for FWD_HOLD_NONE.
  void *FWD_NULLABLE object;
  fwd_hold hold;
  /// What functions get as their first argument.
  void *FWD_NULLABLE receiver;
  /// Called with `receiver` after the end of the subscription, if given. FWD_HOLD_NONE only.
  void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE receiver);
  /// After how many deliveries the subscription ends; 0 for no limit.
  size_t limit;
  /// See `fwd_list_priority_index`.
  int64_t priority;
} fwd_subscriber;

/// The index behind all records.
#define FWD_LIST_END SIZE_MAX

/// Subscribes before the record at `index`, which is at most the count, or FWD_LIST_END; retains `table`. Gives 0 if
/// memory is short, and then nothing has changed. A fan-out under way does not see the subscription.
///
/// The list also looks at two other records, and ends their subscriptions if their objects have died. So indices that
/// the caller has found before are not valid any more.
///
/// Amortised O(1) at the end of a list without priorities, else amortised O(log n).
fwd_subscription fwd_list_insert(fwd_subscriber_list *FWD_NONNULL list,
                                 const fwd_subscriber *FWD_NONNULL subscriber,
                                 fwd_dispatch_table *FWD_NONNULL table, size_t index,
                                 fwd_garbage *FWD_NONNULL garbage);

/// Ends a subscription: no fan-out calls it from now on, those under way included. Amortised O(1).
///
/// The record, and the memory of an object that is held weakly, stays until the list is compacted. That happens here if
/// more than half of the records have ended, else by `fwd_list_prune` and `fwd_list_prune_visited`.
void fwd_list_end(fwd_subscriber_list *FWD_NONNULL list, fwd_record *FWD_NONNULL record,
                  fwd_garbage *FWD_NONNULL garbage);

/// Ends all subscriptions of an object. Gives how many there were. O(1) each, amortised.
size_t fwd_list_end_object(fwd_subscriber_list *FWD_NONNULL list, const void *FWD_NONNULL object,
                           fwd_garbage *FWD_NONNULL garbage);

/// Ends all subscriptions. O(n).
void fwd_list_end_all(fwd_subscriber_list *FWD_NONNULL list, fwd_garbage *FWD_NONNULL garbage);

/// Ends the subscriptions whose objects have died or whose deliveries are used up, and removes all records that have
/// ended. O(n). False if memory is short: then the records stay until the next time.
bool fwd_list_prune(fwd_subscriber_list *FWD_NONNULL list, fwd_garbage *FWD_NONNULL garbage);

/// The same after a fan-out that has visited the first `visited` records and met dead or ended ones: ends those among
/// them that are dead, and compacts the list once such fan-outs have visited as many records as the list has. So a
/// fan-out that calls only the first responder does not pay for the whole list. Amortised O(visited).
void fwd_list_prune_visited(fwd_subscriber_list *FWD_NONNULL list, size_t visited,
                            fwd_garbage *FWD_NONNULL garbage);

/// Moves the record at `from` to the index that `to` is in the list without it, and sets its priority. Each fan-out sees
/// the record once; a fan-out under way sees it where it was. False if memory is short. Indices that the caller has
/// found before are not valid any more. Amortised O(log n).
bool fwd_list_move(fwd_subscriber_list *FWD_NONNULL list, size_t from, size_t to, int64_t priority,
                   fwd_garbage *FWD_NONNULL garbage);

/// The index behind the last live subscription of this priority or a higher one, but for `except`, unless that is NULL.
/// Amortised O(log n).
size_t fwd_list_priority_index(fwd_subscriber_list *FWD_NONNULL list, int64_t priority,
                               const fwd_record *FWD_NULLABLE except);

/// Has a subscription passed over from now on, until it has been unblocked as often as it has been
/// blocked. It keeps its place, and is no responder. False if memory is short. O(1), but O(m) in the
/// number of methods when a table's last responder is blocked.
bool fwd_list_block(fwd_subscriber_list *FWD_NONNULL list, fwd_record *FWD_NONNULL record);

/// Undoes `fwd_list_block` once. False if the subscription is not blocked. As O(1) as that.
bool fwd_list_unblock(fwd_subscriber_list *FWD_NONNULL list, fwd_record *FWD_NONNULL record,
                      fwd_garbage *FWD_NONNULL garbage);

/// What came of a delivery that somebody begins who is no fan-out.
typedef enum fwd_turn {
  /// There is none: the subscription has ended, lost its object, or is blocked.
  FWD_TURN_NONE,
  FWD_TURN_TAKEN,
  /// As above, and the subscription has no other.
  FWD_TURN_LAST,
} fwd_turn;

/// Begins a delivery of a subscription, and counts it if there is a limit. `*object` is the subscriber
/// (NULL for one without an object, or that has died), whom the caller gets retained whatever comes
/// back, to be released under no lock. O(1).
fwd_turn fwd_list_begin_delivery(fwd_subscriber_list *FWD_NONNULL list, fwd_subscription identifier,
                                 void *FWD_NULLABLE *FWD_NONNULL object);

/// The number of records, with those of ended subscriptions that are not at the front. O(1).
size_t fwd_list_count(const fwd_subscriber_list *FWD_NONNULL list);

/// The record at an index below the count. Its subscription may have ended. O(log n).
fwd_record *FWD_NONNULL fwd_list_record(const fwd_subscriber_list *FWD_NONNULL list, size_t index);

/// The index of the record of a subscription that has not ended. Amortised O(log n).
size_t fwd_list_index(fwd_subscriber_list *FWD_NONNULL list,
                      const fwd_record *FWD_NONNULL record);

/// The record of a subscription that has not ended, else NULL. O(1).
fwd_record *FWD_NULLABLE fwd_list_find(const fwd_subscriber_list *FWD_NONNULL list,
                                       fwd_subscription identifier);

/// The first subscription of an object, alive or not, that has not ended, nor used its deliveries up; with
/// a table of `key`, unless that is NULL. O(1) in the number of other objects.
fwd_record *FWD_NULLABLE fwd_list_find_object(const fwd_subscriber_list *FWD_NONNULL list,
                                              const void *FWD_NONNULL object,
                                              const void *FWD_NULLABLE key);

/// Says whether fan-outs of a method are intercepted (see `fwd_proxy_operations.intercept`), and whether
/// those who intercept it respond to it. O(1).
void fwd_list_intercept(fwd_subscriber_list *FWD_NONNULL list, size_t method, bool is_intercepted,
                        bool responds);

/// Whether some subscription that is not blocked implements a method, be its object alive or not, or
/// somebody who intercepts it responds. O(1).
bool fwd_list_may_respond(const fwd_subscriber_list *FWD_NONNULL list, size_t method);

/// Returns the bytes that the list takes. For measurements.
size_t fwd_list_footprint(const fwd_subscriber_list *FWD_NONNULL list);

fwd_subscription fwd_record_identifier(const fwd_record *FWD_NONNULL record);

/// Whether the subscription has neither ended, nor used its deliveries up, nor lost its object, as far as
/// can be told without taking a reference.
bool fwd_record_is_live(const fwd_record *FWD_NONNULL record);

/// Whether the subscription has been blocked.
bool fwd_record_is_blocked(const fwd_record *FWD_NONNULL record);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
