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

/// Notes on a thread's stack that the thread has entered a batch.
typedef struct fwd_batch_use {
  fwd_batch *FWD_NONNULL batch;
  /// The thread's innermost use before it. Set by `fwd_batch_enter`.
  const struct fwd_batch_use *FWD_NULLABLE outer;
} fwd_batch_use;

/// From now on, what the calling thread forwards through the batch's proxy goes to the batch's subscribers. Must be followed
/// by `fwd_batch_leave` on this thread, in the reverse order of several such calls, before the batch ends. `use` must not
/// move meanwhile.
void fwd_batch_enter(fwd_batch_use *FWD_NONNULL use);
/// Undoes `fwd_batch_enter`.
void fwd_batch_leave(const fwd_batch_use *FWD_NONNULL use);

// MARK: Fanning out

/// Receives the results of a fan-out.
typedef struct fwd_collector {
  /// Called with each result. `author` is the subscription that gave it, and `object` its subscriber, or NULL for a C
  /// context. The bytes of the result are valid during the call. If the result is an object, the function must release it.
  /// Returns whether to go on.
  bool (*FWD_NONNULL collect)(void *FWD_NULLABLE context, fwd_subscription author, void *FWD_NULLABLE object,
                              void *FWD_NONNULL result);
  void *FWD_NULLABLE context;
} fwd_collector;

/// What a C function pointer forwards to, and the failure result that it states.
typedef struct fwd_function_target fwd_function_target;

/// One invocation for a fan-out: its arguments, and memory for its result. Each level of a recursion has one on the stack, so
/// it is kept small.
typedef struct fwd_delivery {
  union {
    /// If `arguments` is NULL: a frame that is aligned for the signature.
    const void *FWD_NULLABLE frame;
    /// Otherwise: the C function pointer that has been called, or NULL if the call did not come through one.
    const fwd_function_target *FWD_NULLABLE function;
  };
  /// Pointers to the arguments, without the receiver and the selector.
  void *FWD_NONNULL const *FWD_NULLABLE arguments;
  union {
    /// Unless the delivery `collects`: memory for the result, or NULL if the result is not wanted. It needs no alignment.
    void *FWD_NULLABLE result;
    /// Otherwise: what receives each result. The method's policy is not applied then.
    const fwd_collector *FWD_NULLABLE collector;
  };
  /// The subscribers to deliver to. NULL: those of the innermost batch of the proxy that the thread has entered, otherwise
  /// the current ones.
  fwd_batch *FWD_NULLABLE batch;
  // The flags come last, and the one that C function pointers set comes first of them. Compilers zero the members between
  // by 16-byte stores. If two of them overlap in a pointer, store forwarding fails and the first load waits for the cache.
  /// Whether the caller has no reference to the proxy's owner, which may die meanwhile. The delivery is a part of an
  /// `fwd_unpinned_delivery` then, the proxy is shared, and the caller keeps its C part.
  bool is_unpinned;
  /// Whether the invocation is part of the innermost fan-out of this thread. Then a subscriber that marks it as handled
  /// also marks that fan-out as handled.
  bool is_nested;
  /// Set when the method's interceptors begin, so that they run once. Then a void method without a responder is no error.
  bool is_intercepted;
  /// Whether the caller runs them, except for the one that is called instead of the subscribers.
  bool is_tapped;
  /// Whether it has a collector.
  bool collects;
  /// Whether an interceptor has replaced the arguments: they are not those that `function` was called with. A flag that each
  /// call sets would cost a call to one subscriber 1 ns.
  bool is_changed;
  /// Not in use. In place of padding, which compilers leave alone: so one store of eight bytes sets all flags.
  bool reserved[2];
} fwd_delivery;

/// A delivery whose caller has no reference to the proxy's owner.
typedef struct fwd_unpinned_delivery {
  /// First, so that a pointer to it is one to the whole.
  fwd_delivery delivery;
  /// The owner, if the fan-out has needed it or has got a reference to it (fan_out/pinning.h); else NULL. The caller releases
  /// it after the fan-out.
  void *FWD_NULLABLE owner;
} fwd_unpinned_delivery;

/// The failure result of a delivery: that of the C function pointer that has been called, else that of the method. NULL
/// if there is neither. It may be an object, to which the caller gets no reference.
const void *FWD_NULLABLE fwd_delivery_failure_result(const fwd_delivery *FWD_NONNULL delivery,
                                                     const fwd_proxy_method *FWD_NONNULL method);

/// Delivers an invocation of `method` to the subscribers that implement it, by the method's policy. The result is
/// written on success only. If it is an object, the caller must release it. Returns FWD_NESTED_TOO_DEEP, and calls no
/// subscriber, if fan-outs inside of fan-outs have nearly used up the thread's stack. Changes the
/// delivery (`batch`, `is_intercepted`, `is_unpinned`), so a delivery must not be used for two fan-outs. If the status is not
/// FWD_OK, the thread's last error says why.
fwd_status fwd_fan_out(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                       fwd_delivery *FWD_NONNULL delivery);

/// Delivers as `fwd_fan_out` does, for a caller that has only a frame, and perhaps memory for a result. The frame must have the
/// method's size and alignment.
fwd_status fwd_fan_out_of_frame(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                                const void *FWD_NULLABLE frame, void *FWD_NULLABLE result);

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

/// Checks the sizes of a frame and of the memory for the result, then fans out. Copies a frame that is not aligned. Fails as
/// `fwd_fan_out` does.
fwd_status fwd_forward_method(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method,
                              const void *FWD_NULLABLE frame, size_t frame_size, void *FWD_NULLABLE result,
                              size_t result_size);

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
                          void *FWD_NULLABLE context);

/// Returns the subscription whose closure runs on this thread, in the innermost fan-out or delivery of a mailbox. Returns 0
/// elsewhere, in an interceptor, and in a C function.
fwd_subscription fwd_current_subscription(void);

/// Returns the `report_context` of the recipient (fwd_mailbox.h) whose closure the innermost delivery of a mailbox runs;
/// NULL elsewhere. Valid during the delivery.
void *FWD_NULLABLE fwd_current_mail_context(void);

/// Reports that the innermost delivery of this thread has failed. The C function of a thunk calls this when it cannot
/// load its arguments, before it calls any other code.
void fwd_fail_delivery(const fwd_error *FWD_NONNULL error, fwd_error_detail detail);

// MARK: Function pointers

/// Makes the signature of the function pointer of a form, one of `fwd_function_form`. The caller releases it. `*context`
/// receives the index of the library's context pointer, or SIZE_MAX; it may be NULL. Fails with FWD_OUT_OF_RANGE for an
/// index of the context past the end.
fwd_status fwd_function_signature(const fwd_proxy_method *FWD_NONNULL method, int form,
                                  fwd_signature *FWD_NULLABLE *FWD_NONNULL signature, size_t *FWD_NULLABLE context,
                                  fwd_error *FWD_NULLABLE error);

/// Creates a closure that forwards `method`. `form` is one of `fwd_function_form`. `owner` keeps the proxy alive.
/// `release` is called with `owner` as soon as no call can use the proxy any more. `failure_result` has the bytes of a
/// result, which are copied. An object in it must live as long as the closure. If it is NULL, a call that fails returns the
/// method's `failure_result`, and zeros if the method has no `failure_result`. Fails with FWD_OUT_OF_RANGE if the index of the
/// context is too large.
fwd_status fwd_proxy_closure_create(fwd_proxy *FWD_NONNULL proxy, const fwd_proxy_method *FWD_NONNULL method, int form,
                                    const void *FWD_NULLABLE failure_result,
                                    void (*FWD_NONNULL release)(void *FWD_NULLABLE owner), void *FWD_NULLABLE owner,
                                    fwd_closure *FWD_NULLABLE *FWD_NONNULL closure, fwd_error *FWD_NULLABLE error);

/// A C function pointer that forwards into a proxy, and that an object owns. It may be called for the life of the
/// process: see owned_function.c.
typedef struct fwd_owned_function fwd_owned_function;

/// Is told of a call through an owned function pointer after the death of its owner, or of its proxy.
typedef void (*fwd_late_call_handler)(void *FWD_NULLABLE reporter, fwd_selector FWD_NONNULL selector,
                                      const void *FWD_NULLABLE owner_type);

/// What an owned function is made of.
typedef struct fwd_owned_function_request {
  fwd_proxy *FWD_NONNULL proxy;
  const fwd_proxy_method *FWD_NONNULL method;
  /// One of `fwd_function_form`.
  int form;
  /// The bytes of the failure result, or NULL for the method's. They are copied, and an object is retained.
  const void *FWD_NULLABLE failure_result;
  /// A Swift object, to which the function gets a weak reference; NULL if the proxy itself is the owner.
  void *FWD_NULLABLE owner;
  /// Passed to `report`.
  const void *FWD_NULLABLE owner_type;
  /// A Swift object that is retained for good, and passed to `report`.
  void *FWD_NULLABLE reporter;
  fwd_late_call_handler FWD_NONNULL report;
} fwd_owned_function_request;

/// Makes an owned function. It must be buried before the proxy's memory is freed.
fwd_status fwd_owned_function_create(const fwd_owned_function_request *FWD_NONNULL request,
                                     fwd_owned_function *FWD_NULLABLE *FWD_NONNULL function,
                                     fwd_error *FWD_NULLABLE error);
/// Returns the function pointer, which is valid for the life of the process.
void (*FWD_NONNULL fwd_owned_function_pointer(const fwd_owned_function *FWD_NONNULL function))(void);
/// Whether an owner other than the proxy has begun to deinitialise.
bool fwd_owned_function_owner_has_died(const fwd_owned_function *FWD_NONNULL function);
/// Puts the tombstone into the place of the function, and frees what only live calls need as soon as no call uses it.
/// Must be called once, under no lock. The function must not be used afterwards.
void fwd_owned_function_bury(fwd_owned_function *FWD_NONNULL function);

/// Allocates a struct of zeros for function pointers, aligned as malloc's memory is. It is never freed. Returns NULL if
/// memory is short.
void *FWD_NULLABLE fwd_callback_struct_create(size_t size);
/// Stores a function pointer, or NULL, in a member of a struct that other threads may read. The member must be aligned.
void fwd_callback_struct_set(void *FWD_NONNULL member, void (*FWD_NULLABLE function)(void));

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
