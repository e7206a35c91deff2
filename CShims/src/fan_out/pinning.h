// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What keeps a proxy while a C program forwards to it.
///
/// To count a reference to the proxy's owner, its Swift object, would take half as long as a fan-out to one subscriber, and
/// threads that forward at the same time would write the same count. So `fwd_forward` counts none: the C program has a
/// reference until the call returns, or a subscriber releases it, on the same thread. Then the fan-out gets what it needs:
///
///     the subscriber calls `fwd_proxy_release`     the fan-out gets the program's reference to the owner
///     Swift code releases the last reference       the owner dies, all subscriptions end, and the fan-out gets the owner's
///                                                  reference to the C part
///
/// Either is a debt in the fan-out's delivery: `owner` of `fwd_unpinned_delivery`. The caller of the fan-out pays it back
/// afterwards. If fan-outs of one proxy are nested, the outermost one gets the debt, since it ends last. The cold paths of a
/// fan-out that run foreign code after the last delivery take a reference to the owner first (`fwd_emission_pin`).
///
/// A C function pointer that an object owns forwards without a reference, too, but keeps the C part itself
/// (owned_function.c).

#ifndef FWD_SRC_PINNING_H
#define FWD_SRC_PINNING_H

#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

/// Fans out for a caller that has no reference to the owner. The delivery has a frame, and neither a batch nor a collector.
fwd_status fwd_fan_out_unpinned_frame(fwd_proxy *proxy, const fwd_compiled_method *method, fwd_delivery *delivery);

/// Releases what a fan-out has got. Returns `status`, whose error stays the thread's last one.
fwd_status fwd_pay_back(const fwd_unpinned_delivery *unpinned, fwd_status status);

#endif
