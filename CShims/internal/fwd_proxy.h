// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The C part of a proxy, for the Swift module. Swift decides who may subscribe and which policies apply.

#ifndef FWD_PROXY_H
#define FWD_PROXY_H

#include "fwd_list.h"
#include "fwd_lock.h"
#include "fwd_signature.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// What happens when no live subscriber implements a method.
typedef enum fwd_no_responder {
  /// The fan-out of a void method succeeds. A method with a result gives its default result; if it has none, the
  /// fan-out fails, except that FWD_RESULT_ANY gives false and FWD_RESULT_ALL gives true.
  FWD_NO_RESPONDER_STANDARD = 0,
  /// As standard, but a method with a result and without a default gives zeros, except that FWD_RESULT_ALL gives true.
  FWD_NO_RESPONDER_IGNORE = 1,
  /// The fan-out fails unless the method has a default result.
  FWD_NO_RESPONDER_FAIL = 2,
  /// As ignore, and calls the error handler.
  FWD_NO_RESPONDER_REPORT = 3,
} fwd_no_responder;

/// What a fold has done with a result.
typedef enum fwd_folded {
  /// It has combined it, and the next subscriber is to be called.
  FWD_FOLDED_GOES_ON = 0,
  /// It has combined it, and no other subscriber is to be called.
  FWD_FOLDED_ENDS = 1,
  /// The bytes are not a value of the closure's type, so the delivery counts as failed. The accumulator has not changed, and
  /// the thread's last error says what is wrong.
  FWD_FOLDED_REFUSED = 2,
} fwd_folded;

/// A result policy written in Swift: it combines the results one after another.
typedef struct fwd_fold {
  const void *FWD_NULLABLE context;
  /// Combines `result` with `accumulator`, which has the result so far, or zeros before the first one. The function owns
  /// object references in `result` and in the old `accumulator`: it keeps or releases them, that in `result` always. The
  /// selector is for the error.
  fwd_folded (*FWD_NULLABLE step)(const void *FWD_NULLABLE context, void *FWD_NONNULL accumulator,
                                  void *FWD_NONNULL result, size_t index, fwd_selector FWD_NONNULL selector);
  /// A closure that does the same as `step`, faster (fwd_dispatch.h says which closures C can call). At most one of the
  /// two is set, and only if the result is a plain value of at most FWD_FOLDED_SIZE bytes, without references.
  ///
  /// `(Value) -> Bool`: the fan-out keeps each result, and ends if the closure returns true for it.
  void (*FWD_NULLABLE predicate)(void);
  /// `(Value, Value) -> Value`: returns the combination of the result so far (`initial` at first) and the next result.
  void (*FWD_NULLABLE combine)(void);
  const void *FWD_NULLABLE closure_context;
  const void *FWD_NULLABLE initial;
} fwd_fold;

enum { FWD_FOLDED_SIZE = 16 };

/// One method of a proxy.
typedef struct fwd_proxy_method {
  fwd_selector FWD_NONNULL selector;
  fwd_signature *FWD_NONNULL signature;
  fwd_result_policy policy;
  /// Used instead of `policy` if it has a `step`.
  fwd_fold fold;
  fwd_no_responder no_responder;
  /// The result if no subscriber responds, or NULL for none. The bytes are valid as long as the set of methods.
  const void *FWD_NULLABLE default_result;
  /// The failure result: that of a delivery that has failed, used as if the subscriber had returned it. NULL if there is
  /// none. `fwd_delivery_failure_result` asks the called function pointer first. The bytes are valid as long as the set of
  /// methods.
  const void *FWD_NULLABLE failure_result;
} fwd_proxy_method;

struct fwd_delivery;

/// The functions of a proxy's Swift part that the C part calls. `owner` is alive during the call.
typedef struct fwd_proxy_operations {
  /// Calls the proxy's error handler. The proxy itself may be dead: a function that an object owns has called it. `error`
  /// is also the thread's last error, which may have a detail (fwd_error.h).
  void (*FWD_NONNULL report)(void *FWD_NULLABLE reporter, fwd_selector FWD_NULLABLE selector,
                             const fwd_error *FWD_NONNULL error);
  /// Removes records of ended subscriptions and dead subscribers: a fan-out or a query has found some among the first
  /// `visited` records.
  void (*FWD_NONNULL met_the_dead)(void *FWD_NONNULL owner, size_t visited);
  /// Calls `fwd_list_find_responders`: fan-outs of the method have asked many records in vain.
  void (*FWD_NONNULL find_responders)(void *FWD_NONNULL owner, size_t method);
  /// Forwards an invocation without a response to the forward target. Returns FWD_NO_RESPONDER if the target does not
  /// respond either. On any other failure it must set the thread's last error. Called only while `fwd_proxy_core_set_forwards`
  /// has set that the proxy forwards.
  fwd_status (*FWD_NULLABLE forward_unhandled)(void *FWD_NONNULL owner,
                                               fwd_selector FWD_NONNULL selector,
                                               const struct fwd_delivery *FWD_NONNULL delivery);
  /// Whether the forward target responds to the method.
  bool (*FWD_NULLABLE forwards_unhandled)(void *FWD_NONNULL owner,
                                          fwd_selector FWD_NONNULL selector);
  /// Runs the interceptors of a method, for `fwd_fan_out`. To deliver the invocation, the interceptors call
  /// `fwd_fan_out` again with `is_intercepted` and `is_nested` set. If it fails, it must set the thread's last error. NULL for
  /// proxies without interceptors.
  fwd_status (*FWD_NULLABLE intercept)(void *FWD_NONNULL owner,
                                       const struct fwd_proxy_method *FWD_NONNULL method,
                                       const struct fwd_delivery *FWD_NONNULL delivery);
  /// Removes the ended interceptors of a method. Called when an interceptor has reached its number of calls.
  void (*FWD_NULLABLE interceptor_ended)(void *FWD_NONNULL owner, size_t method);
} fwd_proxy_operations;

/// The methods of proxies of one kind, compiled for fan-outs. Immutable, with a count of references; proxies share it.
typedef struct fwd_method_set fwd_method_set;

/// Compiles methods. They are copied, and their signatures retained. Returns NULL if memory is short.
fwd_method_set *FWD_NULLABLE fwd_method_set_create(const fwd_proxy_method *FWD_NULLABLE methods, size_t count);
/// Has the set retain a Swift object as long as it lives: one that keeps what the methods refer to. Must be called at most once,
/// before another thread has the set.
void fwd_method_set_keep(fwd_method_set *FWD_NONNULL set, void *FWD_NONNULL object);
/// Adds a reference, and returns the set.
fwd_method_set *FWD_NONNULL fwd_method_set_retain(fwd_method_set *FWD_NONNULL set);
/// Releases a reference. The last one frees the set. NULL is ignored.
void fwd_method_set_release(fwd_method_set *FWD_NULLABLE set);
/// Returns the method of a selector, or NULL if the set has none. Valid as long as the set.
const fwd_proxy_method *FWD_NULLABLE fwd_method_set_method(const fwd_method_set *FWD_NONNULL set,
                                                           fwd_selector FWD_NULLABLE selector);
/// Returns the index of a method among those that its set was created with.
size_t fwd_proxy_method_index(const fwd_proxy_method *FWD_NONNULL method);
/// Returns whether the caller of a method owns a reference to an object that is its result.
bool fwd_proxy_method_returns_object(const fwd_proxy_method *FWD_NONNULL method);

/// Creates the C part of a proxy with one reference. It retains its methods if `keeps_methods`; otherwise they must live as
/// long as the owner. `owner` is the Swift object that owns the C part. It is not retained, and `fwd_proxy_core_adopt` may
/// set it later. `room` is the number of bytes at `fwd_proxy_core_room`. Returns NULL if memory is short.
fwd_proxy *FWD_NULLABLE fwd_proxy_core_create(fwd_method_set *FWD_NONNULL methods, bool keeps_methods,
                                              bool ignores_unknown_selectors, size_t room, void *FWD_NULLABLE owner,
                                              const fwd_proxy_operations *FWD_NONNULL operations);
/// Sets the owner, and the Swift object that `report` gets. Neither is retained: the reporter must live as long as the
/// owner. Must be called before another thread has the proxy. Returns false if memory is short, which only stock weak
/// references need: then references to the proxy find nothing.
bool fwd_proxy_core_adopt(fwd_proxy *FWD_NONNULL proxy, void *FWD_NONNULL owner, void *FWD_NULLABLE reporter);
/// Makes references to the proxy find nothing from now on. Must be called when the owner deinitialises, before its memory or
/// the C part can be freed. Takes the lock.
void fwd_proxy_core_disown(fwd_proxy *FWD_NONNULL proxy);
/// Prepares the C part for callers that have no reference to the owner (`is_unpinned` of `fwd_delivery`): it gets a weak
/// reference to the owner, and retains the reporter and the methods. Must be called on behalf of a live owner. Returns whether
/// there was enough memory. Takes the lock at the first call.
bool fwd_proxy_core_share(fwd_proxy *FWD_NONNULL proxy);
/// Whether `fwd_proxy_core_share` has been called. Then fan-outs may run while the owner dies.
bool fwd_proxy_core_is_shared(const fwd_proxy *FWD_NONNULL proxy);
/// Adds a reference to the C part: its memory and its list stay valid, and if it is shared, its methods. The caller keeps the
/// C part by another reference, or holds the lock and has found the proxy.
void fwd_proxy_core_retain(fwd_proxy *FWD_NONNULL proxy);
/// Notes that a C program has got a reference to the owner. While it has one, its fan-outs take none.
void fwd_proxy_core_lend(fwd_proxy *FWD_NONNULL proxy);
/// Notes that a C program has given up a reference to the owner. Returns whether to release it now. If not, it has gone to a
/// fan-out of this thread, which releases it when it ends.
bool fwd_proxy_core_take_back(fwd_proxy *FWD_NONNULL proxy);
/// Hides the proxy from `fwd_current_proxy`, since it is a part of another one. Must be called before another thread has
/// it.
void fwd_proxy_core_hide(fwd_proxy *FWD_NONNULL proxy);
/// Ends all subscriptions of a proxy whose owner is dying. From now on the proxy refuses changes and forwards with
/// FWD_DEAD. The caller must then free `garbage`: by `fwd_garbage_collect` if the proxy is shared, else by
/// `fwd_garbage_free`. That runs the destroy notifiers, which may still call the functions of forwarding.h with the proxy.
void fwd_proxy_core_close(fwd_proxy *FWD_NONNULL proxy, fwd_garbage *FWD_NONNULL garbage);
/// Whether the owner, which is dying, may call `fwd_proxy_core_close` without the lock: no other thread has a reference to
/// the proxy.
bool fwd_proxy_core_is_alone(const fwd_proxy *FWD_NONNULL proxy);
/// Whether `fwd_proxy_core_close` has been called.
bool fwd_proxy_core_is_closing(const fwd_proxy *FWD_NONNULL proxy);
/// Reports that the proxy is closing: fills `error`, sets the thread's last error, and returns FWD_DEAD.
fwd_status fwd_proxy_core_fail_closing(fwd_error *FWD_NULLABLE error);
/// Releases a reference. The last one frees the C part, and first ends its subscriptions if it has not been closed. No
/// fan-out may be under way then. NULL is ignored.
void fwd_proxy_core_release(fwd_proxy *FWD_NULLABLE proxy);
/// Returns the owner.
void *FWD_NONNULL fwd_proxy_core_owner(const fwd_proxy *FWD_NONNULL proxy);
/// Returns the list of subscriptions.
fwd_subscriber_list *FWD_NONNULL fwd_proxy_core_list(fwd_proxy *FWD_NONNULL proxy);
/// Returns the owner's part of the proxy's memory: zeros at first, aligned as malloc's memory is. Valid until
/// the last `fwd_proxy_core_release`.
void *FWD_NONNULL fwd_proxy_core_room(fwd_proxy *FWD_NONNULL proxy);
/// Returns the lock that the owner holds while it changes the list.
fwd_lock *FWD_NONNULL fwd_proxy_core_lock(fwd_proxy *FWD_NONNULL proxy);
/// Leaves each change of the list to the owner: `fwd_proxy_core_join` and `fwd_proxy_reference_leave` do nothing from now on.
/// The caller holds the lock, or no other thread has the proxy yet.
void fwd_proxy_core_watch(fwd_proxy *FWD_NONNULL proxy);
/// Subscribes an object behind all others of priority 0. The object is also its functions' receiver. The function looks for a
/// shared table whose key or class is `key`. If it finds none and `table` is not NULL, it shares `table`. The subscription ends
/// after `limit` deliveries; 0 means no limit. Takes the lock. Releases what the change has left, which may run any code.
///
/// Returns the identifier of the subscription. Returns 0 and changes nothing if only the owner can decide what happens:
/// there is no such table or no room to share one, the thread collects changes, the proxy is watched or closing, memory is
/// short, the object is dying or, unless `may_repeat`, the object has a subscription with the table's key.
fwd_subscription fwd_proxy_core_join(fwd_proxy *FWD_NONNULL proxy, void *FWD_NONNULL object, const void *FWD_NONNULL key,
                                     fwd_dispatch_table *FWD_NULLABLE table, fwd_hold hold, bool may_repeat,
                                     size_t limit);
/// Returns the method of a selector, or NULL if the proxy has none. Valid as long as the proxy.
const fwd_proxy_method *FWD_NULLABLE fwd_proxy_core_method(const fwd_proxy *FWD_NONNULL proxy,
                                                           fwd_selector FWD_NULLABLE selector);
/// Sets whether invocations without a response go to `forward_unhandled`.
void fwd_proxy_core_set_forwards(fwd_proxy *FWD_NONNULL proxy, bool forwards);
/// Whether a live subscriber that is not blocked, an interceptor or the forward target responds to the method.
bool fwd_proxy_core_responds(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method);

/// The part of a proxy that outlives it: see anchor.h.
typedef struct fwd_anchor fwd_anchor;

/// Names a proxy, which may be gone. A plain value: it counts nothing, and is valid for ever.
typedef struct fwd_proxy_reference {
  fwd_anchor *FWD_NONNULL anchor;
  uint64_t generation;
} fwd_proxy_reference;

/// Returns a reference to a proxy, on behalf of a live owner.
fwd_proxy_reference fwd_proxy_core_reference(const fwd_proxy *FWD_NONNULL proxy);
/// Retains the owner of a proxy and returns it. Returns NULL if the owner has begun to deinitialise. Takes the lock. The
/// caller releases the owner with `fwd_object_release`.
void *FWD_NULLABLE fwd_proxy_reference_retain_owner(fwd_proxy_reference reference);

/// The result of `fwd_proxy_reference_leave`.
typedef enum fwd_leaving {
  /// There was no live subscription to end: its subscriber had died, its limit was used up, or the proxy is gone or dying.
  FWD_LEAVING_NOT_LIVE,
  /// The subscription was live, and has ended.
  FWD_LEAVING_DONE,
  /// Nothing has changed. The owner has to find out why: the list has no such subscription (it may have ended), the thread
  /// collects changes, or the proxy is watched or closing.
  FWD_LEAVING_ASKS_OWNER,
} fwd_leaving;

/// Ends a subscription. Takes the lock. If an object, a notifier or a table may be released, it retains the owner
/// meanwhile, and releases them after unlocking.
fwd_leaving fwd_proxy_reference_leave(fwd_proxy_reference reference, fwd_subscription identifier);

/// What becomes of one subscription in a fan-out.
typedef enum fwd_fate {
  /// It is called.
  FWD_FATE_CALLED,
  /// It is told later, and is no responder: it has a mailbox, and the method has a result.
  FWD_FATE_TOLD,
  /// Its table does not have the method.
  FWD_FATE_NOT_IMPLEMENTED,
  /// It is a proxy, or another forwarding object, to which no subscriber responds.
  FWD_FATE_NO_RESPONDER,
  /// It is blocked.
  FWD_FATE_BLOCKED,
  /// It has been cancelled.
  FWD_FATE_ENDED,
  /// It has had as many deliveries as it was made for.
  FWD_FATE_USED_UP,
  /// Its object has died.
  FWD_FATE_DEAD,
} fwd_fate;

/// One subscription, live or not, whose record is in the list.
typedef struct fwd_explained {
  fwd_fate fate;
  fwd_subscription subscription;
  /// The metadata of the object's class, dead or alive; NULL for a C context, and if the subscription has ended.
  const void *FWD_NULLABLE object_type;
  /// For a live subscription that has no object.
  void *FWD_NULLABLE context;
} fwd_explained;

/// Calls `visit` for each record in the order of delivery with what an invocation of the method would do with it. Calls no
/// subscriber.
void fwd_proxy_core_explain(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                            void (*FWD_NONNULL visit)(void *FWD_NULLABLE context,
                                                      const fwd_explained *FWD_NONNULL explained),
                            void *FWD_NULLABLE context);

/// Calls `visit` for each live subscription in the order of delivery, until it returns false. `object` is the
/// subscriber, which stays alive during the call, or NULL for a C context.
void fwd_proxy_core_visit(fwd_proxy *FWD_NONNULL proxy,
                          bool (*FWD_NONNULL visit)(void *FWD_NULLABLE context,
                                                    void *FWD_NULLABLE object,
                                                    fwd_subscription identifier,
                                                    const fwd_dispatch_table *FWD_NONNULL table),
                          void *FWD_NULLABLE context);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
