// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What keeps a proxy while a C program forwards to it.
///
/// To count a reference to the proxy's owner, its Swift object, would take half as long as a fan-out to one subscriber, and
/// threads that forward at the same time would write the same count. So while C programs have references, from
/// `fwd_proxy_create` or `fwd_proxy_retain`, `fwd_forward` counts none: the program that calls it has one until the call
/// returns. Only a subscriber, on the same thread, may release it by `fwd_proxy_release`. Then the reference goes to the
/// fan-out, as the `owner` of its `fwd_unpinned_delivery`, and is released when the fan-out has ended. If fan-outs of one proxy
/// are nested, the outermost one gets it, since it ends last. The cold paths that run foreign code after the last delivery take
/// a reference first (`fwd_emission_pin`).
///
/// While no C program has a reference, as that of a Swift program's proxy by `unsafeHandle`, `fwd_forward` counts one.
///
/// A C function pointer that an object owns forwards without a reference, too, but the owner may die meanwhile: it keeps the C
/// part (owned_function.c).

#ifndef FWD_SRC_PINNING_H
#define FWD_SRC_PINNING_H

#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

/// Whether a C program has a reference to the proxy.
static inline bool fwd_proxy_is_lent(const fwd_proxy *proxy) {
  return atomic_load_explicit(&proxy->lent_references, memory_order_acquire) > 0;
}

/// Fans out for a caller that has no reference to the owner. The delivery has a frame, and neither a batch nor a collector.
fwd_status fwd_fan_out_unpinned_frame(fwd_proxy *proxy, const fwd_compiled_method *method, fwd_delivery *delivery);

#endif
