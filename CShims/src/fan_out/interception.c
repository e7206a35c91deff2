// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/interception.h"

#include "base/error.h"
#include "base/hot.h"
#include "fan_out/emission.h"

/// Has Swift run the method's interceptors, which fan the delivery out or not.
__attribute__((noinline)) static fwd_status intercept_in_swift(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                               const fwd_delivery *delivery) {
  fwd_nesting_frame frame;
  frame.outer = NULL;
  if (!fwd_nesting_has_room(&frame, 0)) return fwd_nesting_fail(method->method.selector);
  // An interceptor that reports "handled" means this invocation, not an outer one.
  fwd_nesting_enter(&frame, FWD_NESTING_OTHER);
  fwd_status status = proxy->operations->intercept(proxy->owner, &method->method, delivery);
  fwd_nesting_leave(&frame, delivery->is_nested);
  return status;
}

/// Begins to call interceptors. Returns false if the stack is nearly used up.
static inline bool begin(fwd_nesting_frame *frame, const fwd_compiled_method *method, const fwd_delivery *delivery,
                         void **arguments) {
  // For the caller's array, and for that of `fwd_call_packed_tap`.
  size_t needed = 2 * method->argument_count * sizeof *arguments;
  if (__builtin_expect(!fwd_nesting_has_room(frame, needed), 0)) return false;
  fwd_find_arguments(method, delivery, arguments);
  // An interceptor that reports "handled" means this invocation, not an outer one.
  fwd_nesting_enter(frame, FWD_NESTING_OTHER);
  return true;
}

fwd_status fwd_call_packed_tap(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_tap *tap,
                               void *const *arguments, void *result) {
  const fwd_delivery delivery = {.arguments = arguments};
  void *all[method->argument_count];
  fwd_find_arguments(method, &delivery, all);
  fwd_status status = tap->implementation.packed(tap->implementation.context, NULL, all, result, NULL);
  if (__builtin_expect(status != FWD_OK, 0)) {
    fwd_kept_error error;
    fwd_error_keep(&error);
    fwd_proxy_report(proxy, method->method.selector, &error.error);
    fwd_error_restore(&error);
  }
  return status;
}

__attribute__((noinline)) void fwd_call_tap_slowly(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_tap *tap,
                                                   void *const *arguments) {
  unsigned char nothing;
  if (fwd_tap_take(tap)) (void)fwd_call_tap(proxy, method, tap, arguments, &nothing);
}

__attribute__((noinline)) static fwd_status call_taps(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                      const fwd_delivery *delivery, const fwd_tap *taps, size_t count) {
  fwd_nesting_frame frame;
  void *arguments[method->argument_count];
  if (!begin(&frame, method, delivery, arguments)) return fwd_nesting_fail(method->method.selector);
  fwd_call_taps(proxy, method, arguments + method->hidden_count, taps, count);
  fwd_nesting_leave(&frame, delivery->is_nested);
  return FWD_OK;
}

/// Fails as the interceptor that replaces the subscribers: with the thread's last error.
__attribute__((cold, noinline)) static fwd_status fail_as_stub(void) {
  fwd_kept_error kept;
  fwd_error_keep(&kept);
  kept.error.status = FWD_DELIVERY_FAILED;
  kept.error.offset = 0;
  return fwd_error_restore(&kept);
}

/// Calls the interceptor that replaces the subscribers, and gives the caller its result.
__attribute__((noinline)) static fwd_status call_stub(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                      const fwd_delivery *delivery, const fwd_tap *stub) {
  fwd_nesting_frame frame;
  void *arguments[method->argument_count];
  if (!begin(&frame, method, delivery, arguments)) return fwd_nesting_fail(method->method.selector);
  fwd_aligned_bytes room[FWD_STUB_RESULT_SIZE / sizeof(fwd_aligned_bytes)];
  memset(room, 0, sizeof room);
  fwd_status status = fwd_call_tap(proxy, method, stub, arguments + method->hidden_count, room);
  fwd_nesting_leave(&frame, delivery->is_nested);
  if (__builtin_expect(status != FWD_OK, 0)) {
    const void *stored = fwd_delivery_failure_result(delivery, &method->method);
    // As for a subscriber, the failure result is its result then.
    if (!stored) return fail_as_stub();
    fwd_emission_copy_result(method, stored, room);
  }
  if (delivery->collects) {
    (void)delivery->collector->collect(delivery->collector->context, 0, NULL, room);
  } else if (delivery->result) {
    memcpy(delivery->result, room, method->result.size);
  } else {
    fwd_emission_discard(method, room);
  }
  return FWD_OK;
}

/// Calls the interceptor that replaces the subscribers. If another one has taken its place since the delivery began, calls
/// that one. If there is no such interceptor any more, calls the subscribers.
__attribute__((noinline)) static fwd_status replace(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                    const fwd_delivery *delivery, const fwd_taps *taps,
                                                    fwd_fan_out_afterwards fan_out) {
  while (taps->has_stub) {
    const fwd_tap *stub = &taps->taps[taps->before_count];
    if (fwd_tap_take(stub)) return call_stub(proxy, method, delivery, stub);
    const fwd_taps *later = fwd_list_taps(fwd_proxy_list(proxy), method->index);
    // Cancelled, and about to be taken out; or used up.
    if (later == taps) break;
    if (!later) {
      fwd_delivery inner = *delivery;
      inner.is_tapped = true;
      return intercept_in_swift(proxy, method, &inner);
    }
    taps = later;
  }
  return fan_out(proxy, method, delivery);
}

// Without an interceptor that replaces the subscribers, this function's frame mostly ends before the fan-out.
FWD_HOT fwd_status fwd_intercept(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                 fwd_fan_out_afterwards fan_out, fwd_fan_out_between between) {
  // Only the hazard pointer is kept: what is kept across calls takes stack at each level of a recursion.
  fwd_hazard *hazard = fwd_hazard_enter_within(&fwd_proxy_list(proxy)->domain, fwd_depth_of(delivery)).hazard;
  const fwd_taps *taps = fwd_list_taps(fwd_proxy_list(proxy), method->index);
  if (!taps) {
    // Some interceptor is no closure, so Swift runs all.
    fwd_hazard_leave_as_announced(hazard, &fwd_proxy_list(proxy)->domain);
    return intercept_in_swift(proxy, method, delivery);
  }
  fwd_status status = FWD_OK;
  if (taps->before_count > 0) status = call_taps(proxy, method, delivery, taps->taps, taps->before_count);
  if (status == FWD_OK && !taps->has_stub && taps->after_count == 0) {
    // Left before the fan-out, since a thread enters a domain more slowly if it is in one already.
    fwd_hazard_leave_as_announced(hazard, &fwd_proxy_list(proxy)->domain);
    return fan_out(proxy, method, delivery);
  }
  if (status == FWD_OK && !taps->has_stub && between) return between(proxy, method, delivery, taps, hazard);
  if (status == FWD_OK) status = replace(proxy, method, delivery, taps, fan_out);
  if (status == FWD_OK && taps->after_count > 0) {
    const fwd_tap *afters = &taps->taps[taps->before_count + taps->has_stub];
    status = call_taps(proxy, method, delivery, afters, taps->after_count);
  }
  fwd_hazard_leave_as_announced(hazard, &fwd_proxy_list(proxy)->domain);
  return status;
}
