// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The subscribers of a proxy, in order.

#ifndef FWD_LIST_H
#define FWD_LIST_H

#include "fwd_dispatch.h"
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

/// What a change has left for when nobody uses it any more. Begins as zeroes.
typedef struct fwd_garbage {
  struct fwd_retired *FWD_NULLABLE first;
} fwd_garbage;

/// Gives up what a change has left, as soon as no fan-out uses it: here, or by the last of those
/// fan-outs. It may run any code, so no lock is held.
void fwd_garbage_collect(fwd_garbage garbage);

/// Frees what a change has left at once. The caller has made sure that no thread reads the list.
void fwd_garbage_free(fwd_garbage garbage);

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
} fwd_subscriber;

/// The place behind all others.
#define FWD_LIST_END SIZE_MAX

/// Puts a subscriber at `index`, which is at most the count, or FWD_LIST_END; retains `table`. 0 if
/// memory is short, and then nothing has changed.
///
/// Amortised O(1) at the end, else O(n). A fan-out under way does not see it.
fwd_subscription fwd_list_insert(fwd_subscriber_list *FWD_NONNULL list,
                                 const fwd_subscriber *FWD_NONNULL subscriber,
                                 fwd_dispatch_table *FWD_NONNULL table, size_t index,
                                 fwd_garbage *FWD_NONNULL garbage);

/// Ends a subscription: no fan-out calls it from now on, those under way included. O(1), amortised. The
/// record, and with it the memory of an object that is held weakly, stays until the list is compacted:
/// here if more than half of it has ended, and more than 16; else by `fwd_list_prune`.
void fwd_list_end(fwd_subscriber_list *FWD_NONNULL list, fwd_record *FWD_NONNULL record,
                  fwd_garbage *FWD_NONNULL garbage);

/// Ends all subscriptions of an object. Gives how many there were. O(1) each, amortised.
size_t fwd_list_end_object(fwd_subscriber_list *FWD_NONNULL list, const void *FWD_NONNULL object,
                           fwd_garbage *FWD_NONNULL garbage);

/// Ends all subscriptions. O(n).
void fwd_list_end_all(fwd_subscriber_list *FWD_NONNULL list, fwd_garbage *FWD_NONNULL garbage);

/// Forgets those that have ended, and ends those whose objects have died or whose deliveries are used
/// up. O(n). False if memory is short: then they stay until the next time.
bool fwd_list_prune(fwd_subscriber_list *FWD_NONNULL list, fwd_garbage *FWD_NONNULL garbage);

/// Puts the record at `from` where `to` is in the list without it. Each fan-out sees it once, those
/// under way where it was. False if memory is short. O(n).
bool fwd_list_move(fwd_subscriber_list *FWD_NONNULL list, size_t from, size_t to,
                   fwd_garbage *FWD_NONNULL garbage);

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

/// The number of places, those of ended subscriptions included.
size_t fwd_list_count(const fwd_subscriber_list *FWD_NONNULL list);

/// The record at an index below the count; it may have ended.
fwd_record *FWD_NONNULL fwd_list_record(const fwd_subscriber_list *FWD_NONNULL list, size_t index);

/// The index of a record. O(n).
size_t fwd_list_index(const fwd_subscriber_list *FWD_NONNULL list,
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

/// The bytes that the list takes: for whoever measures.
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
