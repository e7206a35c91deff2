// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The fast path of a fan-out: the check for it, inline, and the entries for callers that have only a frame, and for function
/// pointers. fan_out.c has the rest.

#ifndef FWD_SRC_FAN_OUT_H
#define FWD_SRC_FAN_OUT_H

#include "fan_out/looping.h"
#include "fan_out/nesting.h"
#include "fan_out/proxy_function.h"

/// Whether looping.c may deliver without further checks, as far as subscribers, interceptors and batches are not concerned: the
/// method is narrow, and libffi is not forced.
static inline bool fwd_may_loop(const fwd_compiled_method *method) {
  return method->is_narrow && !atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
}

/// Whether a method is neither blocked nor intercepted, and some subscriber may implement it.
static inline bool fwd_is_plainly_delivered(fwd_proxy *proxy, const fwd_compiled_method *method) {
  // Interception is the highest bit.
  return (int32_t)fwd_list_tables(fwd_proxy_list(proxy), method->index) > 0;
}

/// Whether the fast path is open: `fwd_may_loop`, `fwd_is_plainly_delivered`, and the thread has entered no batch. Then looping.c
/// delivers at once.
static inline bool fwd_has_fast_path(fwd_proxy *proxy, const fwd_compiled_method *method) {
  return fwd_is_plainly_delivered(proxy, method) && fwd_may_loop(method) && !fwd_nesting_of_thread.batches;
}

/// The slow path of `fwd_fan_out_of_frame`.
fwd_status fwd_fan_out_frame_slowly(fwd_proxy *proxy, const fwd_compiled_method *method, const void *frame, void *result);

/// `fwd_fan_out_of_frame`, inline. Each function that it calls has the `fwd_delivery` in its own stack frame, so the caller's
/// does not grow, and both calls can be jumps.
static inline __attribute__((always_inline)) fwd_status fwd_fan_out_of_frame_inline(fwd_proxy *proxy,
                                                                                    const fwd_compiled_method *method,
                                                                                    const void *frame, void *result) {
  if (__builtin_expect(fwd_has_fast_path(proxy, method), 1)) return fwd_fan_out_frame_fast(proxy, method, frame, result);
  return fwd_fan_out_frame_slowly(proxy, method, frame, result);
}

/// The slow path of `fwd_fan_out_of_function`.
fwd_status fwd_fan_out_function_slowly(fwd_delivery *delivery);

/// Fans out a call of a function pointer. The delivery has `function`, `arguments` and `result`, and neither a batch nor a
/// collector. Inline, since a call would take some percent of it.
static inline fwd_status fwd_fan_out_of_function(fwd_delivery *delivery) {
  fwd_proxy *proxy = delivery->function->proxy;
  const fwd_compiled_method *method = delivery->function->method;
  if (__builtin_expect(fwd_has_fast_path(proxy, method), 1)) return fwd_fan_out_pointers(proxy, method, delivery);
  return fwd_fan_out_function_slowly(delivery);
}

#endif
