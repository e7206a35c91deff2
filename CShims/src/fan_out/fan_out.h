// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How a fan-out begins, if there is nothing but a frame.

#ifndef FWD_SRC_FAN_OUT_H
#define FWD_SRC_FAN_OUT_H

#include "fan_out/looping.h"
#include "fan_out/nesting.h"

/// Whether the usual way is open: the method is narrow, is neither blocked nor intercepted, has a responder, and the thread is in
/// no batch. Then a loop can deliver at once.
static inline bool fwd_is_usual(fwd_proxy *proxy, const fwd_compiled_method *method) {
  return (int32_t)fwd_list_tables(fwd_proxy_list(proxy), method->index) > 0 && method->is_narrow &&
         !fwd_nesting_of_thread.batches && !atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
}

/// `fwd_fan_out_of_frame` where the usual way is not open.
fwd_status fwd_fan_out_unusual_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const void *frame, void *result);

/// `fwd_fan_out_of_frame`, inline. The two functions that it calls make a delivery each, so it takes no stack.
static inline __attribute__((always_inline)) fwd_status fwd_fan_out_of_frame_inline(fwd_proxy *proxy,
                                                                                    const fwd_compiled_method *method,
                                                                                    const void *frame, void *result) {
  if (__builtin_expect(fwd_is_usual(proxy, method), 1)) return fwd_fan_out_usual_frame(proxy, method, frame, result);
  return fwd_fan_out_unusual_frame(proxy, method, frame, result);
}

#endif
