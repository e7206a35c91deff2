// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Interception: what runs before, after and instead of a method's subscribers.

#ifndef FWD_SRC_INTERCEPTION_H
#define FWD_SRC_INTERCEPTION_H

#include "fan_out/proxy.h"
#include "fwd_fan_out.h"
#include "members/swift_closure.h"
#include "members/taps.h"

/// Fans out a delivery whose interceptors have run.
typedef fwd_status (*fwd_fan_out_afterwards)(fwd_proxy *proxy, const fwd_compiled_method *method,
                                         const fwd_delivery *delivery);

/// Fans out a delivery whose *before* interceptors have run, then calls the *after* interceptors. `hazard` is the hazard pointer
/// of the caller's visit to the list, which this function ends.
typedef fwd_status (*fwd_fan_out_between)(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                          const fwd_taps *taps, fwd_hazard *hazard);

/// Runs the method's interceptors, which fan the delivery out by `fan_out`, or do not. Between interceptors before and after
/// the subscribers, `between` fans out if it is not NULL.
fwd_status fwd_intercept(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                         fwd_fan_out_afterwards fan_out, fwd_fan_out_between between);

/// Calls an interceptor by its packed function. A failure is reported, and stays the thread's last error. `arguments` does
/// not have the hidden ones.
fwd_status fwd_call_packed_tap(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_tap *tap,
                               void *const *arguments, void *result);

/// Calls an interceptor, whose call has been counted, and has it taken out if that was its last. If the status is not
/// FWD_OK, its error has been reported. `arguments` does not have the hidden ones.
static inline __attribute__((always_inline)) fwd_status fwd_call_tap(fwd_proxy *proxy,
                                                                     const fwd_compiled_method *method,
                                                                     const fwd_tap *tap, void *const *arguments,
                                                                     void *result) {
  const fwd_swift_closure *closure = tap->implementation.closure;
  fwd_status status = FWD_OK;
  if (closure && fwd_swift_closure_takes(closure, arguments)) {
    fwd_swift_closure_call(closure, NULL, arguments, result);
  } else {
    status = fwd_call_packed_tap(proxy, method, tap, arguments, result);
  }
  if (__builtin_expect(!fwd_tap_holds(tap), 0)) proxy->operations->interceptor_ended(proxy->owner, method->index);
  return status;
}

/// Calls an interceptor of any kind before or after the subscribers, if it has not ended.
void fwd_call_tap_slowly(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_tap *tap, void *const *arguments);

/// Calls interceptors before or after the subscribers. If one cannot take an argument, that is reported, and all others
/// are still called. `arguments` does not have the hidden ones.
// Most interceptors are closures without a limit that take any values. All others are called by a function, which takes
// neither registers nor the stack of the fan-out.
static inline __attribute__((always_inline)) void fwd_call_taps(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                void *const *arguments, const fwd_tap *taps,
                                                                size_t count) {
  unsigned char nothing;
  for (const fwd_tap *tap = taps, *end = taps + count; tap < end; tap++) {
    const fwd_swift_closure *closure = tap->implementation.closure;
    if (__builtin_expect(closure && !closure->has_conditions && fwd_tap_is_unlimited(tap), 1)) {
      // The thread that ends an interceptor without a limit has it taken out.
      fwd_swift_closure_call(closure, NULL, arguments, &nothing);
    } else {
      fwd_call_tap_slowly(proxy, method, tap, arguments);
    }
  }
}

#endif
