// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A proxy as the Swift module and the shim share it. Membership and policy are decided in Swift.

#ifndef FWD_PROXY_H
#define FWD_PROXY_H

#include "fwd_list.h"
#include "fwd_signature.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

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

struct fwd_delivery;

/// What the C part asks of a proxy's Swift part.
typedef struct fwd_proxy_operations {
  /// Reports what a fan-out could not do.
  void (*FWD_NONNULL report)(void *FWD_NONNULL owner, fwd_selector FWD_NULLABLE selector,
                             const fwd_error *FWD_NONNULL error);
  /// Says that a fan-out met subscribers that have died or left.
  void (*FWD_NONNULL met_the_dead)(void *FWD_NONNULL owner);
  /// For `fwd_proxy_core_set_forwards`: hands a delivery on that nobody has answered, or gives
  /// FWD_NO_RESPONDER; and whether it would not give that.
  fwd_status (*FWD_NULLABLE forward_unhandled)(void *FWD_NONNULL owner,
                                               fwd_selector FWD_NONNULL selector,
                                               const struct fwd_delivery *FWD_NONNULL delivery,
                                               fwd_error *FWD_NULLABLE error);
  bool (*FWD_NULLABLE forwards_unhandled)(void *FWD_NONNULL owner,
                                          fwd_selector FWD_NONNULL selector);
  /// Makes a delivery of a method that is intercepted, and fans it out or not, with `is_intercepted` and
  /// `is_nested` set. Otherwise as `fwd_fan_out`. NULL where nothing is intercepted.
  fwd_status (*FWD_NULLABLE intercept)(void *FWD_NONNULL owner,
                                       const struct fwd_proxy_method *FWD_NONNULL method,
                                       const struct fwd_delivery *FWD_NONNULL delivery,
                                       fwd_error *FWD_NULLABLE error);
} fwd_proxy_operations;

/// Makes the C part of a proxy. `methods` is copied, its signatures are retained. `owner` is the Swift object
/// that owns the result, which is not retained; `fwd_proxy_core_adopt` may name it later. NULL if memory is
/// short.
fwd_proxy *FWD_NULLABLE fwd_proxy_core_create(const fwd_proxy_method *FWD_NULLABLE methods, size_t count,
                                              bool ignores_unknown_selectors, void *FWD_NULLABLE owner,
                                              const fwd_proxy_operations *FWD_NONNULL operations);
/// Names the owner, before anybody else has the proxy.
void fwd_proxy_core_adopt(fwd_proxy *FWD_NONNULL proxy, void *FWD_NONNULL owner);
/// Ends all subscriptions of a proxy whose last reference has been released. From now on the proxy refuses
/// whatever it is asked, with FWD_DEAD. The caller frees `garbage` at once, by `fwd_garbage_free`: that runs the
/// destroy notifiers, which may still call the functions of forwarding.h with the proxy.
void fwd_proxy_core_close(fwd_proxy *FWD_NONNULL proxy, fwd_garbage *FWD_NONNULL garbage);
/// Whether `fwd_proxy_core_close` has been called.
bool fwd_proxy_core_is_closing(const fwd_proxy *FWD_NONNULL proxy);
/// Fills `error` and the thread's message, and gives FWD_DEAD: the proxy is closing.
fwd_status fwd_proxy_core_fail_closing(fwd_error *FWD_NULLABLE error);
/// Frees a proxy. Ends its subscriptions first, if it has not been closed. No fan-out is under way.
void fwd_proxy_core_destroy(fwd_proxy *FWD_NULLABLE proxy);
void *FWD_NONNULL fwd_proxy_core_owner(const fwd_proxy *FWD_NONNULL proxy);
fwd_subscriber_list *FWD_NONNULL fwd_proxy_core_list(fwd_proxy *FWD_NONNULL proxy);
/// The method of a selector, else NULL; valid as long as the proxy.
const fwd_proxy_method *FWD_NULLABLE fwd_proxy_core_method(const fwd_proxy *FWD_NONNULL proxy,
                                                           fwd_selector FWD_NULLABLE selector);
/// The number of a method among those that the proxy was made of.
size_t fwd_proxy_method_index(const fwd_proxy_method *FWD_NONNULL method);
/// Says whether what nobody answers is handed on, by `forward_unhandled`.
void fwd_proxy_core_set_forwards(fwd_proxy *FWD_NONNULL proxy, bool forwards);
/// Whether some live subscriber implements the method, or it would be handed on.
bool fwd_proxy_core_responds(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method);

/// Calls `visit` with each live subscriber in order, which is held meanwhile: the object (NULL for a
/// C context), the subscription and the table. Stops when it says so.
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
