// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The list of a proxy's subscriptions. subscriber_list.c explains it.
///
/// A *subscription* connects a subscriber to the proxy. The list has a *record* for each subscription, in the order of
/// delivery. A record stays for a while after its subscription has ended.

#ifndef FWD_LIST_H
#define FWD_LIST_H

#include "fwd_dispatch.h"
#include "fwd_garbage.h"
#include "fwd_taps.h"
#include "fwd_weak.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// The record of a subscription. A pointer to it is valid for the list's writer, until the writer lets another thread
/// write.
typedef struct fwd_record fwd_record;

/// The subscriptions of a proxy, in the order of delivery. One thread at a time may change the list or call the
/// functions below: the caller must hold a lock. Any number of threads may read the list at the same time, and never
/// wait. The functions below run no foreign code. They add the objects that they remove to `garbage`. The caller must
/// pass it to `fwd_garbage_collect` after it has released its lock.
typedef struct fwd_subscriber_list fwd_subscriber_list;

/// Is told that a subscription ends. `died` is whether that is because its object has died. Called by the functions
/// below, so under the caller's lock: it must run no foreign code.
typedef void (*fwd_end_observer)(void *FWD_NULLABLE context, fwd_subscription subscription, bool died);

/// Sets the observer of the list, or removes it if it is NULL.
void fwd_list_observe(fwd_subscriber_list *FWD_NONNULL list, fwd_end_observer FWD_NULLABLE observer,
                      void *FWD_NULLABLE context);

/// What a new subscription has.
typedef struct fwd_subscriber {
  /// The subscriber, a Swift object. NULL for FWD_HOLD_NONE.
  void *FWD_NULLABLE object;
  fwd_hold hold;
  /// The first argument of the subscriber's functions.
  void *FWD_NULLABLE receiver;
  /// Called with `receiver` after the end of the subscription, unless it is NULL. For FWD_HOLD_NONE only.
  void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE receiver);
  /// The number of deliveries after which the subscription ends, or 0 for no limit.
  size_t limit;
  /// See `fwd_list_priority_index`.
  int64_t priority;
} fwd_subscriber;

/// The index after all records.
#define FWD_LIST_END SIZE_MAX

/// Adds a subscription before the record at `index`, which is at most the count, or FWD_LIST_END. Retains `table`.
/// Returns the identifier of the subscription, or 0 if memory is short: then nothing has changed. A fan-out under way
/// does not call the new subscription.
///
/// The list also checks other records, on average two, and ends their subscriptions if their objects have died. So indices from
/// before the call are not valid any more.
///
/// Amortised O(1) at the end of a list without priorities, else amortised O(log n).
fwd_subscription fwd_list_insert(fwd_subscriber_list *FWD_NONNULL list,
                                 const fwd_subscriber *FWD_NONNULL subscriber,
                                 fwd_dispatch_table *FWD_NONNULL table, size_t index,
                                 fwd_garbage *FWD_NONNULL garbage);

/// Makes a table findable by its key, by `fwd_list_shared_table`, until its last subscription ends. Returns false if all slots
/// are taken: the caller must then remember the table. O(1).
bool fwd_list_share_table(fwd_subscriber_list *FWD_NONNULL list, fwd_dispatch_table *FWD_NONNULL table);

/// Whether `fwd_list_share_table` would succeed for a table that is not shared yet. O(1).
bool fwd_list_has_room_to_share(const fwd_subscriber_list *FWD_NONNULL list);

/// Whether `fwd_list_share_table` has been called with a table that may have subscriptions. Any thread may ask without the
/// lock. O(1).
bool fwd_list_may_share(const fwd_subscriber_list *FWD_NONNULL list);

/// Returns the shared table that has a key, or that stands for the class at this address (`fwd_dispatch_table_stand_for`), or
/// NULL. No key is the address of a class. The table is valid until the caller unlocks. O(1).
fwd_dispatch_table *FWD_NULLABLE fwd_list_shared_table(const fwd_subscriber_list *FWD_NONNULL list,
                                                       const void *FWD_NONNULL key);

/// Ends a subscription. No fan-out calls it from now on, not even one that is under way. Amortised O(1).
///
/// The record stays until the list is compacted, and with it the memory of an object that is held weakly. This function
/// compacts the list if all records have ended, or if more than half have and those are at least 16. Otherwise
/// `fwd_list_prune` and `fwd_list_prune_visited` do.
void fwd_list_end(fwd_subscriber_list *FWD_NONNULL list, fwd_record *FWD_NONNULL record,
                  fwd_garbage *FWD_NONNULL garbage);

/// Ends all subscriptions of an object. Returns how many of them could still have been delivered to: it does not count
/// those whose limit was used up.
/// Amortised O(1) for each.
size_t fwd_list_end_object(fwd_subscriber_list *FWD_NONNULL list, const void *FWD_NONNULL object,
                           fwd_garbage *FWD_NONNULL garbage);

/// Ends all subscriptions. O(n).
void fwd_list_end_all(fwd_subscriber_list *FWD_NONNULL list, fwd_garbage *FWD_NONNULL garbage);

/// Ends the subscriptions whose objects have died or whose limits are used up, and removes the records of all ended
/// subscriptions. Returns false if memory is short: then the records stay until the next compaction. O(n).
bool fwd_list_prune(fwd_subscriber_list *FWD_NONNULL list, fwd_garbage *FWD_NONNULL garbage);

/// Does part of the same, after a fan-out that has visited the first `visited` records and found some of them dead or
/// ended: ends the dead ones among the visited records, and compacts the list once such fan-outs have visited as many
/// records as the list has. So a fan-out that calls only the first responder does not pay for the whole list. Amortised
/// O(visited).
void fwd_list_prune_visited(fwd_subscriber_list *FWD_NONNULL list, size_t visited,
                            fwd_garbage *FWD_NONNULL garbage);

/// Makes the array of a method's responders, which fan-outs read until the list changes. Fan-outs ask for it when they have
/// asked many records in vain. Without memory nothing changes. O(n).
void fwd_list_find_responders(fwd_subscriber_list *FWD_NONNULL list, size_t method, fwd_garbage *FWD_NONNULL garbage);

/// Moves the record at index `from` to index `to`, which counts the records without the moved one, and sets its
/// priority. Each fan-out visits the record once; a fan-out under way visits it at its old index. Returns false if
/// memory is short. Indices from before the call are not valid any more. Amortised O(log n).
bool fwd_list_move(fwd_subscriber_list *FWD_NONNULL list, size_t from, size_t to, int64_t priority,
                   fwd_garbage *FWD_NONNULL garbage);

/// Returns the index after the last live subscription that has this priority or a higher one. `except` is ignored if
/// it is such a subscription; it may be NULL. Amortised O(log n).
size_t fwd_list_priority_index(fwd_subscriber_list *FWD_NONNULL list, int64_t priority,
                               const fwd_record *FWD_NULLABLE except);

/// Blocks a subscription: fan-outs skip it until it has been unblocked as often as it has been blocked. It keeps its
/// index, but is not a responder. Returns false if memory is short. O(1), or O(m) in the number of methods if the
/// subscription is the last one of its table that is not blocked.
bool fwd_list_block(fwd_subscriber_list *FWD_NONNULL list, fwd_record *FWD_NONNULL record);

/// Undoes `fwd_list_block` once. Returns false if the subscription is not blocked. O(1), or O(m) if all subscriptions
/// of its table were blocked.
bool fwd_list_unblock(fwd_subscriber_list *FWD_NONNULL list, fwd_record *FWD_NONNULL record,
                      fwd_garbage *FWD_NONNULL garbage);

/// The result of `fwd_list_begin_delivery`.
typedef enum fwd_turn {
  /// The delivery must not be made: the subscription has ended, is blocked, has used its limit up, or its object has
  /// died.
  FWD_TURN_NONE,
  /// The delivery may be made.
  FWD_TURN_TAKEN,
  /// The delivery may be made. It is the last one that the limit of the subscription allows.
  FWD_TURN_LAST,
} fwd_turn;

/// Begins a delivery outside of a fan-out, and counts it if the subscription has a limit. `*object` receives the
/// subscriber, or NULL if it has died, has no object, or the subscription has ended or is blocked. If it is not NULL
/// the caller must release it under no lock, whatever the function returns. O(1).
fwd_turn fwd_list_begin_delivery(fwd_subscriber_list *FWD_NONNULL list, fwd_subscription identifier,
                                 void *FWD_NULLABLE *FWD_NONNULL object);

/// Returns the number of records. It includes records of ended subscriptions, except those at the front. O(1).
size_t fwd_list_count(const fwd_subscriber_list *FWD_NONNULL list);

/// Returns the record at an index below the count. Its subscription may have ended. O(log n).
fwd_record *FWD_NONNULL fwd_list_record(const fwd_subscriber_list *FWD_NONNULL list, size_t index);

/// Returns the index of a record whose subscription has not ended. Amortised O(log n).
size_t fwd_list_index(fwd_subscriber_list *FWD_NONNULL list,
                      const fwd_record *FWD_NONNULL record);

/// Returns the record of a subscription, or NULL if the subscription has ended or is another list's. O(1).
fwd_record *FWD_NULLABLE fwd_list_find(const fwd_subscriber_list *FWD_NONNULL list,
                                       fwd_subscription identifier);

/// Returns the subscriber of a subscription, or NULL if the subscription is not live or has no object. The caller must
/// release it under no lock. O(1).
void *FWD_NULLABLE fwd_list_retain_object(const fwd_subscriber_list *FWD_NONNULL list, fwd_subscription identifier);

/// Returns the oldest subscription of an object that has not ended and whose limit is not used up, or NULL. The object
/// may be dead. Unless `key` is NULL, only subscriptions are considered whose table has this key. O(k) in the number of
/// the object's subscriptions.
fwd_record *FWD_NULLABLE fwd_list_find_object(fwd_subscriber_list *FWD_NONNULL list,
                                              const void *FWD_NONNULL object,
                                              const void *FWD_NULLABLE key);

/// Writes the subscriptions of an object that have not ended to `found`, the newest first, at most `room` of them. Returns how
/// many there are. `found` may be NULL if `room` is 0. O(k) in the number of the object's subscriptions.
size_t fwd_list_find_all(fwd_subscriber_list *FWD_NONNULL list, const void *FWD_NONNULL object,
                         fwd_subscription *FWD_NULLABLE found, size_t room);

/// The interceptors of a method.
typedef struct fwd_interceptors {
  /// Whether the method has interceptors. If not, the other members are false.
  bool exist;
  /// Whether they respond to the method.
  bool respond;
  /// Whether they block the method: no interceptor, subscriber or forward target is called.
  bool block;
} fwd_interceptors;

/// Sets the interceptors of a method. Takes `taps`, which is NULL if they are to be called by
/// `fwd_proxy_operations.intercept`. The garbage has the one that was there before. O(1).
void fwd_list_intercept(fwd_subscriber_list *FWD_NONNULL list, size_t method, fwd_taps *FWD_NULLABLE taps,
                        fwd_interceptors interceptors, fwd_garbage *FWD_NONNULL garbage);

/// Whether some subscription that is not blocked implements a method, or an interceptor responds to it, and the method
/// is not blocked. The object of the subscription may be dead. May be called on any thread without the lock. O(1).
bool fwd_list_may_respond(const fwd_subscriber_list *FWD_NONNULL list, size_t method);

/// Whether a method is blocked. May be called on any thread without the lock. O(1).
bool fwd_list_is_blocked(const fwd_subscriber_list *FWD_NONNULL list, size_t method);

/// Returns the bytes of memory that the list uses. For measurements.
size_t fwd_list_footprint(const fwd_subscriber_list *FWD_NONNULL list);

/// Returns the identifier of the record's subscription.
fwd_subscription fwd_record_identifier(const fwd_record *FWD_NONNULL record);

/// Whether the subscription is live: it has not ended, its limit is not used up, and its object is not known to have
/// died (see `fwd_weak_has_died`).
bool fwd_record_is_live(const fwd_record *FWD_NONNULL record);

/// Whether the subscription is blocked.
bool fwd_record_is_blocked(const fwd_record *FWD_NONNULL record);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
