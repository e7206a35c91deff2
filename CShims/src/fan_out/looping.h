// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Fan-outs with nothing to decide after a delivery: of void methods, to all responders, by a loop.
///
/// A *narrow* method needs at most FWD_REPLAY_NARROW words: see `is_narrow` in method_set.h. An *emission* (emission.h) is the
/// state of one fan-out, on the stack.

#ifndef FWD_SRC_LOOPING_H
#define FWD_SRC_LOOPING_H

#include "fan_out/interception.h"
#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

/// Whether a loop can deliver to the subscribers.
static inline bool fwd_has_loop(const fwd_compiled_method *method, const fwd_delivery *delivery) {
  return method->replayers.call && !delivery->collects &&
         !atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
}

// Each of these is a function, with a stack frame of the size that it needs.

/// Delivers to the proxy's current subscribers. The method is narrow, and the delivery has a frame.
fwd_status fwd_fan_out_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery);
/// The same for a caller that has no `fwd_delivery`: makes one of `frame` and `result`. One stack frame for both takes less time
/// and less stack.
fwd_status fwd_fan_out_frame_fast(fwd_proxy *proxy, const fwd_compiled_method *method, const void *frame, void *result);
/// The same for a delivery that has pointers to its arguments.
fwd_status fwd_fan_out_pointers(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery);
/// The same two for a method that is not narrow.
fwd_status fwd_fan_out_wide_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery);
fwd_status fwd_fan_out_wide_pointers(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery);

/// Delivers to the subscribers of a batch. The method is narrow, and the delivery has a frame.
fwd_status fwd_fan_out_batch_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery);
/// The same for a delivery that has pointers to its arguments.
fwd_status fwd_fan_out_batch_pointers(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery);
/// The same two for a method that is not narrow.
fwd_status fwd_fan_out_batch_wide_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery);
fwd_status fwd_fan_out_batch_wide_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                           const fwd_delivery *delivery);

/// Calls the interceptors before and after the subscribers, too, in the same emission. The method is narrow, and the delivery
/// has a frame. If an interceptor turns out to replace the subscribers, `fwd_intercept` takes the delivery over, with
/// `otherwise`.
fwd_status fwd_fan_out_observed_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                      fwd_fan_out_afterwards otherwise);
/// The same for a delivery that has pointers to its arguments.
fwd_status fwd_fan_out_observed_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                         const fwd_delivery *delivery, fwd_fan_out_afterwards otherwise);

#endif
