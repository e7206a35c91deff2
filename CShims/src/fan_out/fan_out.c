// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The fan-out: one invocation delivered to every subscriber that implements its method, by the method's result
/// policy.
///
///     `send` by a key (Swift)    fwd_forward (forward.c)      a C function pointer (proxy_closure.c, owned_function.c)
///                |                           |                              |
///     fwd_fan_out_of_frame       fwd_fan_out_unpinned_frame        fwd_fan_out_of_function
///                `---------------------------+------------------------------'
///                                            |  also ResolvedMethod.forward (Swift), by fwd_forward_method (forward.c) and
///                                            |  `fwd_fan_out_of_frame_inline` (fan_out.h)
///        Is the fast path open?  (`fwd_has_fast_path`: a narrow void method that is neither blocked nor intercepted, no batch)
///                                            | yes  -> at once to looping.c
///                                            | no: `fan_out`, by `fwd_fan_out`, which all other callers begin with, or by
///                                            |     `fwd_fan_out_frame_slowly`, which first looks whether the method has no
///                                            |     interceptors but closures before and after it: then to looping.c at once;
///                                            |     or by `fwd_fan_out_function_slowly`, which first looks whether the thread
///                                            |     has entered a batch of the proxy: then to looping.c at once, too
///                                            v
///        Has the thread entered a batch?     | yes  -> `fan_out_inside` finds the proxy's batch, and goes on here
///        Is the method blocked?              | yes  -> `fan_out_blocked`
///        Is the method intercepted?          | yes  -> `fan_out_past_interceptors`: a loop that calls the closures before
///                                            |         and after it, or `fwd_intercept` (interception.c)
///        Does any subscriber implement it?   | no   -> `fan_out_to_nobody`
///                                            v
///        Is there nothing to decide after each delivery?  (a void method that goes to all responders)
///                   | yes                                        | no
///                   v                                            v
///              looping.c                                    deciding.c
///        finds the arguments once. Calls closures     one record after another. Calls closures and a
///        with pointers, and C functions with the      lone C function itself, others by
///        words of registers (replay.c). All other     `fwd_deliver_to` (delivery.c). `fwd_policy_apply`
///        records (packed functions, gates, stock      (policy.h) keeps or drops the result, and says
///        references): `deliver_slowly`, which is      whether to go on. These void methods go here,
///        `fwd_deliver_to` for that record             too: with arguments on the stack; if a collector
///                   |                                 asks; and in a recursion, if they take many
///                   |                                 registers (`fwd_has_filler`).
///                   \                                            /
///                    `---------->  `fwd_outcome_finish`  <------'
///        copies the kept result to the caller. Without any response: the forward target, then the
///        default result, then the error of the first delivery that failed, then the method's
///        rule for invocations without a responder.
///
/// While the records are read the list is announced by a hazard pointer (reclaim/hazard.h), so nothing is locked,
/// and what changes meanwhile is freed later.
///
/// Words: a *record* is one subscription in the list; a *delivery* calls the implementation of one record; a
/// *response* is a delivery that has given a result (of no bytes, for a void method). The *owner* of a proxy is its Swift
/// object.

#include "fan_out/batch.h"
#include "fan_out/deciding.h"
#include "fan_out/emission.h"
#include "fan_out/fan_out.h"
#include "fan_out/interception.h"
#include "fan_out/looping.h"
#include "fan_out/nesting.h"
#include "fan_out/outcome.h"
#include "fan_out/pinning.h"
#include "fan_out/proxy.h"

// MARK: Without deliveries

/// For methods that no subscriber implements.
__attribute__((noinline)) static fwd_status fan_out_to_nobody(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                              const fwd_delivery *delivery) {
  fwd_emission state;
  fwd_emission_begin(&state, proxy, method, delivery, FWD_NESTING_OTHER);
  return fwd_outcome_unhandled(&state);
}

/// For methods that are blocked. Neither the interceptors nor the forward target are called.
__attribute__((cold, noinline)) static fwd_status fan_out_blocked(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                  const fwd_delivery *delivery) {
  fwd_emission state;
  fwd_emission_begin(&state, proxy, method, delivery, FWD_NESTING_OTHER);
  return delivery->collects ? FWD_OK : fwd_outcome_without_response(&state);
}

// MARK: The way of a fan-out

/// Whether a loop delivers to the subscribers.
static inline bool prefers_loop(const fwd_compiled_method *method, const fwd_delivery *delivery) {
  return fwd_has_loop(method, delivery) && !fwd_has_filler(method, delivery);
}

/// Chooses the way of a fan-out to subscribers. Each way is a function of its own, with a stack frame of the size that it
/// needs.
static inline __attribute__((always_inline)) fwd_status fan_out_to_some(fwd_proxy *proxy,
                                                                        const fwd_compiled_method *method,
                                                                        const fwd_delivery *delivery) {
  if (__builtin_expect(!prefers_loop(method, delivery), 0)) {
    if (!method->is_small || delivery->batch || delivery->collects || fwd_has_filler(method, delivery)) {
      return fwd_fan_out_deciding(proxy, method, delivery, NULL, NULL);
    }
    return delivery->arguments ? fwd_fan_out_small_pointers(proxy, method, delivery)
                               : fwd_fan_out_small_frame(proxy, method, delivery);
  }
  if (__builtin_expect(!method->is_narrow, 0)) {
    if (delivery->batch) {
      return delivery->arguments ? fwd_fan_out_batch_wide_pointers(proxy, method, delivery)
                                 : fwd_fan_out_batch_wide_frame(proxy, method, delivery);
    }
    return delivery->arguments ? fwd_fan_out_wide_pointers(proxy, method, delivery)
                               : fwd_fan_out_wide_frame(proxy, method, delivery);
  }
  if (delivery->batch) {
    return delivery->arguments ? fwd_fan_out_batch_pointers(proxy, method, delivery)
                               : fwd_fan_out_batch_frame(proxy, method, delivery);
  }
  return delivery->arguments ? fwd_fan_out_pointers(proxy, method, delivery)
                             : fwd_fan_out_frame(proxy, method, delivery);
}

/// Whether some subscriber may implement the method. The subscribers of a batch may have left the list.
static inline bool may_reach_some(uint32_t tables, const fwd_delivery *delivery) {
  return fwd_tables_have_some(tables) || delivery->batch;
}

static fwd_status fan_out_to_any(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery) {
  if (!may_reach_some(fwd_list_tables(fwd_proxy_list(proxy), method->index), delivery)) {
    return fan_out_to_nobody(proxy, method, delivery);
  }
  return fan_out_to_some(proxy, method, delivery);
}

/// Calls the interceptors, and the subscribers unless an interceptor replaces them. `fwd_fan_out_frame_slowly` repeats the first
/// way, for frames.
__attribute__((noinline)) static fwd_status fan_out_past_interceptors(fwd_proxy *proxy,
                                                                      const fwd_compiled_method *method,
                                                                      fwd_delivery *delivery, uint32_t tables) {
  // Set before they run, in the caller's delivery: a copy would take stack at each level of a recursion.
  delivery->is_intercepted = true;
  if ((tables & FWD_OBSERVED) && fwd_tables_have_some(tables) && method->is_narrow && !delivery->batch &&
      fwd_has_loop(method, delivery)) {
    return delivery->arguments ? fwd_fan_out_observed_pointers(proxy, method, delivery, fan_out_to_any)
                               : fwd_fan_out_observed_frame(proxy, method, delivery, fan_out_to_any);
  }
  // Where no loop delivers, `fwd_fan_out_deciding` also calls the later interceptors, so that the frame of `fwd_intercept` ends
  // before the deliveries.
  fwd_fan_out_between between = prefers_loop(method, delivery) ? NULL : fwd_fan_out_deciding;
  return fwd_intercept(proxy, method, delivery, fan_out_to_any, between);
}

// MARK: Entries

/// Fans out to the subscribers of the delivery's batch, or to the proxy's current ones.
static inline __attribute__((always_inline)) fwd_status fan_out_now(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                    fwd_delivery *delivery) {
  uint32_t tables = fwd_list_tables(fwd_proxy_list(proxy), method->index);
  // Interception is the highest bit, so one comparison finds a method that is intercepted, blocked, or has no responder.
  if (__builtin_expect((int32_t)tables <= 0, 0)) {
    // The functions below may call the proxy's owner, so it is retained. The caller of `fwd_fan_out` releases it.
    if (__builtin_expect(delivery->is_unpinned, 0)) {
      if (!fwd_emission_pin(proxy, delivery)) return fwd_proxy_core_fail_closing(NULL);
      delivery->is_unpinned = false;
    }
    // A closing proxy has no responders, so the check costs other fan-outs nothing.
    if (fwd_proxy_is_closing(proxy)) return fwd_proxy_core_fail_closing(NULL);
    if (__builtin_expect((tables & FWD_BLOCKED) != 0, 0)) return fan_out_blocked(proxy, method, delivery);
    if ((tables & FWD_INTERCEPTED) && !delivery->is_intercepted) {
      return fan_out_past_interceptors(proxy, method, delivery, tables);
    }
    if (!may_reach_some(tables, delivery)) return fan_out_to_nobody(proxy, method, delivery);
  }
  return fan_out_to_some(proxy, method, delivery);
}

/// Fans out on a thread that may have entered a batch. Sets the caller's delivery instead of copying it, since a copy takes stack
/// at each level of a recursion.
__attribute__((noinline)) static fwd_status fan_out_inside(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                           fwd_delivery *delivery) {
  if (!delivery->batch) {
    delivery->batch = fwd_batch_of_thread(proxy);
    // A batch is entered only while its proxy is kept, so no reference to the owner is needed.
    if (delivery->batch) delivery->is_unpinned = false;
  }
  return fan_out_now(proxy, method, delivery);
}

static inline __attribute__((always_inline)) fwd_status fan_out(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                fwd_delivery *delivery) {
  if (__builtin_expect(fwd_nesting_of_thread.batches != NULL, 0)) return fan_out_inside(proxy, method, delivery);
  return fan_out_now(proxy, method, delivery);
}

fwd_status fwd_fan_out(fwd_proxy *proxy, const fwd_proxy_method *method, fwd_delivery *delivery) {
  return fan_out(proxy, fwd_compiled_method_of(method), delivery);
}

fwd_status fwd_fan_out_unpinned_frame(fwd_proxy *proxy, const fwd_compiled_method *method, fwd_delivery *delivery) {
  if (__builtin_expect(fwd_has_fast_path(proxy, method), 1)) return fwd_fan_out_frame(proxy, method, delivery);
  return fwd_fan_out(proxy, &method->method, delivery);
}

fwd_status fwd_fan_out_of_frame(fwd_proxy *proxy, const fwd_proxy_method *method, const void *frame, void *result) {
  return fwd_fan_out_of_frame_inline(proxy, fwd_compiled_method_of(method), frame, result);
}

/// The general path of `fwd_fan_out_frame_slowly`, apart, so that its other call needs no stack for this delivery.
__attribute__((noinline)) static fwd_status fan_out_any_frame(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                          const void *frame, void *result) {
  fwd_delivery delivery = {.frame = frame, .result = result};
  return fan_out(proxy, method, &delivery);
}

fwd_status fwd_fan_out_frame_slowly(fwd_proxy *proxy, const fwd_compiled_method *method, const void *frame, void *result) {
  // Mostly, closures before or after the subscribers have closed the fast path. `fan_out_now` and `fan_out_past_interceptors`
  // would come to the same call. A closing proxy has no responders, so it is not asked.
  uint32_t tables = fwd_list_tables(fwd_proxy_list(proxy), method->index), observed = FWD_INTERCEPTED | FWD_OBSERVED;
  if ((tables & (observed | FWD_BLOCKED)) == observed && fwd_tables_have_some(tables) && fwd_may_loop(method) &&
      !fwd_nesting_of_thread.batches) {
    const fwd_delivery delivery = {.frame = frame, .result = result, .is_intercepted = true};
    return fwd_fan_out_observed_frame(proxy, method, &delivery, fan_out_to_any);
  }
  return fan_out_any_frame(proxy, method, frame, result);
}

fwd_status fwd_fan_out_function_slowly(fwd_delivery *delivery) {
  fwd_proxy *proxy = delivery->function->proxy;
  const fwd_compiled_method *method = delivery->function->method;
  const fwd_batch_use *use = fwd_nesting_of_thread.batches;
  // Mostly, the thread has entered a batch of the proxy. `fan_out_inside` and `fan_out_now` would come to the same call.
  if (use && use->batch->proxy == proxy && fwd_is_plainly_delivered(proxy, method) && fwd_may_loop(method)) {
    delivery->batch = use->batch;
    // As in `fan_out_inside`.
    delivery->is_unpinned = false;
    return fwd_fan_out_batch_pointers(proxy, method, delivery);
  }
  // Not inlined, so that the call above needs no stack for it.
  return fan_out_inside(proxy, method, delivery);
}

fwd_status fwd_forward_packed(const void *context, void *receiver, void *const *arguments, void *result,
                              fwd_error *error) {
  const fwd_proxy_method *method = context;
  fwd_delivery delivery = {
      .arguments = arguments + fwd_compiled_method_of(method)->hidden_count,
      .result = result,
      .is_nested = true,
  };
  fwd_status status = fan_out(receiver, fwd_compiled_method_of(method), &delivery);
  if (__builtin_expect(status != FWD_OK, 0) && error) fwd_error_last(error);
  return status;
}
