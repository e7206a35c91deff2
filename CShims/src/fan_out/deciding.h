// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Fan-outs with something to decide after each delivery: one record after another.

#ifndef FWD_SRC_DECIDING_H
#define FWD_SRC_DECIDING_H

#include "fan_out/nesting.h"
#include "fan_out/proxy.h"
#include "fwd_fan_out.h"
#include "members/taps.h"

/// Whether C functions are called by a filler, which `fwd_fan_out_deciding` does: in a recursion, if the method takes many
/// registers. A loop is several times as fast, but has the values of all registers on the stack, at each level. A filler loads
/// them from the caller's arguments for each delivery.
static inline bool fwd_has_filler(const fwd_compiled_method *method, const fwd_delivery *delivery) {
  return method->is_filled && !delivery->collects && fwd_nesting_is_deep() &&
         !atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
}

/// Delivers to the subscribers of the moment or of a batch, by any method and delivery. If `taps` is not NULL, the caller has
/// called the interceptors before the subscribers, in a visit to the list by `hazard`. Then this calls those after them, and
/// ends the visit. A frame of the caller for that would take stack at each level of a recursion.
fwd_status fwd_fan_out_deciding(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                const fwd_taps *taps, fwd_hazard *hazard);

/// The same for small methods, without a batch and without a collector. The delivery has a frame.
fwd_status fwd_fan_out_small_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery);

/// The same for a delivery that has pointers to its arguments.
fwd_status fwd_fan_out_small_pointers(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery);

#endif
