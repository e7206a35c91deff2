// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the Swift module and the shim share of a proxy: its methods, its subscribers' records, and the
/// fan-out. Membership and policy are decided in Swift; the records are read here.

#ifndef FWD_FAN_OUT_H
#define FWD_FAN_OUT_H

#include "forwarding.h"
#include "fwd_signature.h"
#include "fwd_weak.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

// MARK: Errors

/// Fills `error` (which may be NULL) and the thread's message, and gives `status`.
fwd_status fwd_error_set(fwd_error *FWD_NULLABLE error, fwd_status status, size_t offset,
                         const char *FWD_NONNULL message);

// MARK: What subscribers implement

/// Takes a delivery whose arguments stand behind pointers: how typed Swift closures are called. `arguments`
/// is that of the whole signature, the receiver and the selector included. Writes the result's bytes, or
/// fills `error` and gives its status; `FWD_NO_RESPONDER` says that it does not respond after all.
typedef fwd_status (*fwd_packed_function)(const void *FWD_NULLABLE context, void *FWD_NULLABLE receiver,
                                          void *FWD_NONNULL const *FWD_NONNULL arguments,
                                          void *FWD_NONNULL result, fwd_error *FWD_NONNULL error);

/// How one method of a subscriber is reached: by a C function of the method's signature, or packed. Neither
/// means that it is not implemented.
typedef struct fwd_implementation {
  void (*FWD_NULLABLE function)(void);
  fwd_packed_function FWD_NULLABLE packed;
  /// For `packed`; lives as long as the table's owner.
  const void *FWD_NULLABLE context;
} fwd_implementation;

/// The implementations of one function table, by the index that a proxy gives its methods. Counted by
/// reference; immutable once a record uses it.
typedef struct fwd_dispatch_table fwd_dispatch_table;

/// Makes a table of `count` methods, none implemented. It gives up `owner` by `release` with the last
/// reference. NULL if memory is short; `owner` is then still the caller's.
fwd_dispatch_table *FWD_NULLABLE fwd_dispatch_table_create(size_t count, void *FWD_NULLABLE owner,
                                                           void (*FWD_NULLABLE release)(void *FWD_NULLABLE owner));
fwd_dispatch_table *FWD_NONNULL fwd_dispatch_table_retain(fwd_dispatch_table *FWD_NONNULL table);
void fwd_dispatch_table_release(fwd_dispatch_table *FWD_NULLABLE table);
/// The place of a method's implementation, to be filled before the table is used.
fwd_implementation *FWD_NONNULL fwd_dispatch_table_entry(fwd_dispatch_table *FWD_NONNULL table, size_t index);

// MARK: Records

/// One subscription. Counted by reference: the list, its readers and its maker each have one.
typedef struct fwd_record fwd_record;

/// What a record is made of.
typedef struct fwd_record_parts {
  fwd_subscription identifier;
  /// The object that is held; a C context for FWD_HOLD_NONE.
  void *FWD_NULLABLE object;
  fwd_hold hold;
  /// What functions get as their first argument.
  void *FWD_NULLABLE receiver;
  /// Called with `receiver` when the record is freed, if given.
  void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE receiver);
} fwd_record_parts;

/// Makes a record with one reference; takes over a reference to `table`. NULL if memory is short, and then
/// nothing was taken over.
fwd_record *FWD_NULLABLE fwd_record_create(const fwd_record_parts *FWD_NONNULL parts,
                                           fwd_dispatch_table *FWD_NONNULL table);
void fwd_record_release(fwd_record *FWD_NULLABLE record);
/// Makes the record forget its destroy notifier: what it was made for has failed.
void fwd_record_disarm(fwd_record *FWD_NONNULL record);
fwd_subscription fwd_record_identifier(const fwd_record *FWD_NONNULL record);
/// Whether the subscription has neither ended nor lost its object.
bool fwd_record_is_live(const fwd_record *FWD_NONNULL record);
/// Gives the object with a strong reference (`fwd_record_drop` it), or NULL if it has died or the
/// subscription has ended.
void *FWD_NULLABLE fwd_record_take(const fwd_record *FWD_NONNULL record);
void fwd_record_drop(const fwd_record *FWD_NONNULL record, void *FWD_NULLABLE object);
/// Whether the record's table implements a method.
bool fwd_record_implements(const fwd_record *FWD_NONNULL record, size_t method);

// MARK: The list

/// The ordered records of a proxy. One writer at a time (the caller sees to that), any number of readers,
/// none of whom waits for a subscriber.
typedef struct fwd_subscriber_list fwd_subscriber_list;

/// Puts a record at `index` (at most the count). Retains it. False if memory is short.
bool fwd_list_insert(fwd_subscriber_list *FWD_NONNULL list, fwd_record *FWD_NONNULL record, size_t index);
/// Ends the subscription at `index`: no fan-out calls it from now on, those under way included.
void fwd_list_remove(fwd_subscriber_list *FWD_NONNULL list, size_t index);
/// Puts the record at `from` where `to` is in the list without it. Each fan-out sees it once, those under way
/// where it was. False if memory is short.
bool fwd_list_move(fwd_subscriber_list *FWD_NONNULL list, size_t from, size_t to);
size_t fwd_list_count(fwd_subscriber_list *FWD_NONNULL list);
/// The record at an index below the count; the caller is the writer.
fwd_record *FWD_NONNULL fwd_list_record(fwd_subscriber_list *FWD_NONNULL list, size_t index);
/// The index of the record with an identifier, else SIZE_MAX; the caller is the writer.
size_t fwd_list_index(fwd_subscriber_list *FWD_NONNULL list, fwd_subscription identifier);

// MARK: The proxy

/// What happens when nobody responds.
typedef enum fwd_no_responder {
  /// A void method is ignored; one with a result gives its default, else fails.
  FWD_NO_RESPONDER_STANDARD = 0,
  /// As standard, but where that fails the result is zeroes.
  FWD_NO_RESPONDER_IGNORE = 1,
  /// Always fails, if there is no default result.
  FWD_NO_RESPONDER_FAIL = 2,
  /// As ignore, and reported to the error handler.
  FWD_NO_RESPONDER_REPORT = 3,
} fwd_no_responder;

/// A policy of more than a kind: takes the results one after another.
typedef struct fwd_fold {
  const void *FWD_NULLABLE context;
  /// Puts `result` into `accumulator` (which holds the result so far, or zeroes before the first) and says
  /// whether to go on. Object references in either are the fold's to release or to keep.
  bool (*FWD_NULLABLE step)(const void *FWD_NULLABLE context, void *FWD_NONNULL accumulator,
                            void *FWD_NONNULL result, size_t index);
} fwd_fold;

/// One method of a proxy.
typedef struct fwd_proxy_method {
  fwd_selector FWD_NONNULL selector;
  fwd_signature *FWD_NONNULL signature;
  fwd_result_policy policy;
  /// Overrides `policy` if it has a `step`.
  fwd_fold fold;
  fwd_no_responder no_responder;
  /// Bytes that live as long as the proxy; NULL for none.
  const void *FWD_NULLABLE default_result;
} fwd_proxy_method;

/// What the C part asks of a proxy's Swift part.
typedef struct fwd_proxy_operations {
  /// Reports what a fan-out could not do.
  void (*FWD_NONNULL report)(void *FWD_NONNULL owner, fwd_selector FWD_NULLABLE selector,
                             const fwd_error *FWD_NONNULL error);
  /// Says that a fan-out met subscribers that have died.
  void (*FWD_NONNULL met_the_dead)(void *FWD_NONNULL owner);
} fwd_proxy_operations;

/// Makes the C part of a proxy. `methods` is copied, its signatures are retained. `owner` is the Swift object
/// that owns the result, which is not retained; `fwd_proxy_core_adopt` may name it later. NULL if memory is
/// short.
fwd_proxy *FWD_NULLABLE fwd_proxy_core_create(const fwd_proxy_method *FWD_NULLABLE methods, size_t count,
                                              bool ignores_unknown_selectors, void *FWD_NULLABLE owner,
                                              const fwd_proxy_operations *FWD_NONNULL operations);
/// Names the owner, before anybody else has the proxy.
void fwd_proxy_core_adopt(fwd_proxy *FWD_NONNULL proxy, void *FWD_NONNULL owner);
/// Ends it, and with it all subscriptions. No fan-out is under way.
void fwd_proxy_core_destroy(fwd_proxy *FWD_NULLABLE proxy);
void *FWD_NONNULL fwd_proxy_core_owner(const fwd_proxy *FWD_NONNULL proxy);
fwd_subscriber_list *FWD_NONNULL fwd_proxy_core_list(fwd_proxy *FWD_NONNULL proxy);
/// The method of a selector, else NULL; valid as long as the proxy.
const fwd_proxy_method *FWD_NULLABLE fwd_proxy_core_method(const fwd_proxy *FWD_NONNULL proxy,
                                                           fwd_selector FWD_NULLABLE selector);
/// Whether some live subscriber implements the method.
bool fwd_proxy_core_responds(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method);

// MARK: The fan-out

/// Sees each answer of a fan-out that collects: who gave it (with the object, for those who have one) and
/// the result's bytes, valid during the call; an object in them is the collector's to release. Says whether
/// to go on.
typedef bool (*fwd_collector)(void *FWD_NULLABLE context, fwd_subscription author, void *FWD_NULLABLE object,
                              void *FWD_NONNULL result);

/// One invocation: where its arguments are and where its result goes.
typedef struct fwd_delivery {
  /// Either a frame that is aligned for the signature ...
  const void *FWD_NULLABLE frame;
  /// ... or pointers to the arguments behind the receiver and the selector.
  void *FWD_NONNULL const *FWD_NULLABLE arguments;
  /// Room for the result, or NULL. Not aligned, perhaps.
  void *FWD_NULLABLE result;
  /// Whether it is part of the fan-out that runs on this thread: if a subscriber marks it as handled, that
  /// one has been handled too.
  bool is_nested;
  /// Instead of the method's policy, if given.
  fwd_collector FWD_NULLABLE collector;
  void *FWD_NULLABLE collector_context;
} fwd_delivery;

/// Replays an invocation of `method` against every subscriber that implements it, by the method's policy.
/// The result is written on success only; an object in it is the caller's to release.
fwd_status fwd_fan_out(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                       const fwd_delivery *FWD_NONNULL delivery, fwd_error *FWD_NULLABLE error);

/// Checks the sizes of a frame and a result buffer, then fans out.
fwd_status fwd_forward_method(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                              const void *FWD_NULLABLE frame, size_t frame_size, void *FWD_NULLABLE result,
                              size_t result_size, fwd_error *FWD_NULLABLE error);

/// A `fwd_packed_function` that forwards further: `receiver` is a proxy, `context` the `fwd_proxy_method` of
/// it whose signature is the one of the arguments.
fwd_status fwd_forward_packed(const void *FWD_NULLABLE context, void *FWD_NULLABLE receiver,
                              void *FWD_NONNULL const *FWD_NONNULL arguments, void *FWD_NONNULL result,
                              fwd_error *FWD_NONNULL error);

/// Makes a closure that forwards `method`. `release` is called with `owner` when no call can use the proxy
/// any more; `owner` keeps the proxy alive.
fwd_status fwd_proxy_closure_create(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                                    fwd_function_form form, void (*FWD_NONNULL release)(void *FWD_NULLABLE owner),
                                    void *FWD_NULLABLE owner, fwd_closure *FWD_NULLABLE *FWD_NONNULL closure,
                                    fwd_error *FWD_NULLABLE error);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
