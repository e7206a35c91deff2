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

/// Receives each result of a fan-out that collects, with the subscription that gave it and its object (NULL for a C
/// context). The result's bytes are valid during the call; an object in them is the collector's to release. Returns
/// whether to go on.
typedef bool (*fwd_collector)(void *FWD_NULLABLE context, fwd_subscription author, void *FWD_NULLABLE object,
                              void *FWD_NONNULL result);

/// One invocation to be fanned out: its arguments, and the room for its result.
typedef struct fwd_delivery {
  /// A frame that is aligned for the signature. Read if `arguments` is NULL.
  const void *FWD_NULLABLE frame;
  /// Pointers to the arguments, without the receiver and the selector.
  void *FWD_NONNULL const *FWD_NULLABLE arguments;
  /// Room for the result, or NULL if it is not wanted. It needs no alignment.
  void *FWD_NULLABLE result;
  /// Whether it is part of the innermost fan-out of this thread: if a subscriber marks it as handled, that fan-out has
  /// been handled too.
  bool is_nested;
  /// Whether the method's interceptors have run already.
  bool is_intercepted;
  /// The subscribers to deliver to; NULL for the proxy's current ones.
  fwd_batch *FWD_NULLABLE batch;
  /// Called for each result instead of the method's policy, if given.
  fwd_collector FWD_NULLABLE collector;
  void *FWD_NULLABLE collector_context;
} fwd_delivery;

/// Delivers an invocation of `method` to every subscriber that implements it, by the method's policy. The result is
/// written on success only; an object in it is the caller's to release. FWD_NESTED_TOO_DEEP, with no subscriber called,
/// if the thread's stack is nearly used up by fan-outs inside of fan-outs.
fwd_status fwd_fan_out(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                       const fwd_delivery *FWD_NONNULL delivery, fwd_error *FWD_NULLABLE error);

/// Checks the sizes of a frame and a result buffer, then fans out, to a batch if one is given.
fwd_status fwd_forward_method(fwd_proxy *FWD_NONNULL proxy,
                              const fwd_proxy_method *FWD_NONNULL method,
                              fwd_batch *FWD_NULLABLE batch, const void *FWD_NULLABLE frame,
                              size_t frame_size, void *FWD_NULLABLE result, size_t result_size,
                              fwd_error *FWD_NULLABLE error);

/// The packed function of subscribers that are proxies: it forwards to the subscribers of `receiver`, a proxy.
/// `context` is that proxy's `fwd_proxy_method`, which has the signature of the arguments.
fwd_status fwd_forward_packed(const void *FWD_NULLABLE context, void *FWD_NULLABLE receiver,
                              void *FWD_NONNULL const *FWD_NONNULL arguments, void *FWD_NONNULL result,
                              fwd_error *FWD_NULLABLE error);

/// Reports that the innermost delivery of this thread has failed. For the C function of a thunk, called by a fan-out,
/// before it calls any other code.
void fwd_fail_delivery(const fwd_error *FWD_NONNULL error);

/// Creates a closure that forwards `method`. `owner` keeps the proxy alive. `release` is called with it once no call
/// can use the proxy any more. If a call fails, its caller gets the method's `failure_result`, else zeroes.
fwd_status fwd_proxy_closure_create(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                                    fwd_function_form form, void (*FWD_NONNULL release)(void *FWD_NULLABLE owner),
                                    void *FWD_NULLABLE owner, fwd_closure *FWD_NULLABLE *FWD_NONNULL closure,
                                    fwd_error *FWD_NULLABLE error);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
