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

/// Begins a batch as `fwd_batch_begin` does, but does not retain the proxy: the caller must keep it alive until the
/// batch ends. Returns NULL if memory is short.
fwd_batch *FWD_NULLABLE fwd_batch_create(fwd_proxy *FWD_NONNULL proxy);
/// Ends a batch, on any thread. Subscribers may deinitialise here. NULL is ignored.
void fwd_batch_destroy(fwd_batch *FWD_NULLABLE batch);

// MARK: Fanning out

/// Receives each result of a fan-out that collects results.
///
/// `author` is the subscription that gave the result, and `object` its subscriber, or NULL for a C context. The bytes
/// of the result are valid during the call. If the result is an object, the collector must release it. Returns whether
/// to go on.
typedef bool (*fwd_collector)(void *FWD_NULLABLE context, fwd_subscription author, void *FWD_NULLABLE object,
                              void *FWD_NONNULL result);

/// One invocation for a fan-out: its arguments, and memory for its result.
typedef struct fwd_delivery {
  /// A frame that is aligned for the signature. Read if `arguments` is NULL.
  const void *FWD_NULLABLE frame;
  /// Pointers to the arguments, without the receiver and the selector.
  void *FWD_NONNULL const *FWD_NULLABLE arguments;
  /// Memory for the result, or NULL if the result is not wanted. It needs no alignment.
  void *FWD_NULLABLE result;
  /// Whether the invocation is part of the innermost fan-out of this thread. Then a subscriber that marks it as handled
  /// also marks that fan-out as handled.
  bool is_nested;
  /// Whether the method's interceptors have run already.
  bool is_intercepted;
  /// Whether the caller runs them, except for the one that is called instead of the subscribers.
  bool is_tapped;
  /// The subscribers to deliver to; NULL for the proxy's current ones.
  fwd_batch *FWD_NULLABLE batch;
  /// If it is not NULL, it receives each result, and the method's policy is not applied.
  fwd_collector FWD_NULLABLE collector;
  void *FWD_NULLABLE collector_context;
} fwd_delivery;

/// Delivers an invocation of `method` to the subscribers that implement it, by the method's policy. The result is
/// written on success only. If it is an object, the caller must release it. Returns FWD_NESTED_TOO_DEEP, and calls no
/// subscriber, if fan-outs inside of fan-outs have nearly used up the thread's stack.
fwd_status fwd_fan_out(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                       const fwd_delivery *FWD_NONNULL delivery, fwd_error *FWD_NULLABLE error);

/// A result of a fan-out that gathers results.
typedef struct fwd_gathered {
  /// The subscription that gave the result; 0 if an interceptor did.
  fwd_subscription author;
  /// Its subscriber, with a reference of the reader's; NULL for a C context.
  void *FWD_NULLABLE object;
  /// If the result is an object, with a reference of the reader's.
  uint64_t result[2];
} fwd_gathered;

/// Results in the order of delivery.
typedef struct fwd_gathering {
  /// At first memory of the caller, for `capacity` results.
  fwd_gathered *FWD_NONNULL results;
  size_t count;
  size_t capacity;
  /// Whether the results have outgrown the caller's memory. Then `fwd_gathering_free` frees them.
  bool is_allocated;
} fwd_gathering;

/// Delivers an invocation to all subscribers that implement it, whatever its policy, and appends each result to
/// `gathering`. The method's result must have no more bytes than `fwd_gathered` has room for. On failure there are no
/// results, and nothing has to be freed.
fwd_status fwd_gather(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                      const void *FWD_NULLABLE frame, fwd_gathering *FWD_NONNULL gathering);

/// Frees the memory that the results have been given. Does not release them.
void fwd_gathering_free(fwd_gathering *FWD_NONNULL gathering);

/// Checks the sizes of a frame and of the memory for the result, then fans out: to the subscribers of the batch, or, if
/// that is NULL, to the proxy's current ones.
fwd_status fwd_forward_method(fwd_proxy *FWD_NONNULL proxy,
                              const fwd_proxy_method *FWD_NONNULL method,
                              fwd_batch *FWD_NULLABLE batch, const void *FWD_NULLABLE frame,
                              size_t frame_size, void *FWD_NULLABLE result, size_t result_size,
                              fwd_error *FWD_NULLABLE error);

/// The packed function of a subscriber that is itself a proxy: forwards to the subscribers of `receiver`, that proxy.
/// `context` is the `fwd_proxy_method` of that proxy, which has the signature of the arguments.
fwd_status fwd_forward_packed(const void *FWD_NULLABLE context, void *FWD_NULLABLE receiver,
                              void *FWD_NONNULL const *FWD_NONNULL arguments, void *FWD_NONNULL result,
                              fwd_error *FWD_NULLABLE error);

/// A handler of a C subscriber, and the selector that it gets.
typedef struct fwd_handling {
  fwd_selector FWD_NONNULL selector;
  fwd_delivery_handler FWD_NONNULL handler;
} fwd_handling;

/// The packed function of a method with a handler. `context` is a `fwd_handling`.
fwd_status fwd_handle_packed(const void *FWD_NULLABLE context, void *FWD_NULLABLE receiver,
                             void *FWD_NONNULL const *FWD_NONNULL arguments, void *FWD_NONNULL result,
                             fwd_error *FWD_NULLABLE error);

/// Runs `body`, which may forward again, as a part of no fan-out. Fails with FWD_NESTED_TOO_DEEP, without running it, if
/// the thread's stack is nearly used up.
fwd_status fwd_run_nested(fwd_selector FWD_NONNULL selector, void (*FWD_NONNULL body)(void *FWD_NULLABLE context),
                          void *FWD_NULLABLE context, fwd_error *FWD_NULLABLE error);

/// Returns the subscription whose closure runs on this thread, in the innermost fan-out. Returns 0 outside of a fan-out,
/// in an interceptor, and in a C function.
fwd_subscription fwd_current_subscription(void);

/// Reports that the innermost delivery of this thread has failed. The C function of a thunk calls this when it cannot
/// load its arguments, before it calls any other code.
void fwd_fail_delivery(const fwd_error *FWD_NONNULL error);

/// Creates a closure that forwards `method`. `owner` keeps the proxy alive. `release` is called with `owner` as soon as
/// no call can use the proxy any more. A call that fails returns the method's `failure_result`, or zeroes if there is
/// none.
fwd_status fwd_proxy_closure_create(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                                    fwd_function_form form, void (*FWD_NONNULL release)(void *FWD_NULLABLE owner),
                                    void *FWD_NULLABLE owner, fwd_closure *FWD_NULLABLE *FWD_NONNULL closure,
                                    fwd_error *FWD_NULLABLE error);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
