// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The fan-out: one invocation replayed to every subscriber that implements its method.

#ifndef FWD_FAN_OUT_H
#define FWD_FAN_OUT_H

#include "fwd_error.h"
#include "fwd_proxy.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

// MARK: Batches

/// Begins a batch, as `fwd_batch_begin`; the caller keeps the proxy alive until its end. NULL if memory is short.
fwd_batch *FWD_NULLABLE fwd_batch_create(fwd_proxy *FWD_NONNULL proxy);
/// Ends it, on the same thread. Subscribers may deinitialise here.
void fwd_batch_destroy(fwd_batch *FWD_NULLABLE batch);

// MARK: Fanning out

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
  /// Whether those who intercept the method have it already.
  bool is_intercepted;
  /// The subscribers to deliver to; NULL for those of the moment.
  fwd_batch *FWD_NULLABLE batch;
  /// Instead of the method's policy, if given.
  fwd_collector FWD_NULLABLE collector;
  void *FWD_NULLABLE collector_context;
} fwd_delivery;

/// Replays an invocation of `method` against every subscriber that implements it, by the method's policy.
/// The result is written on success only; an object in it is the caller's to release.
fwd_status fwd_fan_out(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                       const fwd_delivery *FWD_NONNULL delivery, fwd_error *FWD_NULLABLE error);

/// Checks the sizes of a frame and a result buffer, then fans out, to a batch if one is given.
fwd_status fwd_forward_method(fwd_proxy *FWD_NONNULL proxy,
                              const fwd_proxy_method *FWD_NONNULL method,
                              fwd_batch *FWD_NULLABLE batch, const void *FWD_NULLABLE frame,
                              size_t frame_size, void *FWD_NULLABLE result, size_t result_size,
                              fwd_error *FWD_NULLABLE error);

/// A `fwd_packed_function` that forwards further: `receiver` is a proxy, `context` the `fwd_proxy_method` of
/// it whose signature is the one of the arguments.
fwd_status fwd_forward_packed(const void *FWD_NULLABLE context, void *FWD_NULLABLE receiver,
                              void *FWD_NONNULL const *FWD_NONNULL arguments, void *FWD_NONNULL result,
                              fwd_error *FWD_NONNULL error);

/// Says that the delivery which runs on this thread has failed: for a thunk's C function, which a fan-out
/// has called and which has not called anybody else. The proxy's error handler is told.
void fwd_fail_delivery(const fwd_error *FWD_NONNULL error);

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
