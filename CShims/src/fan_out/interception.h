// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Interception: what runs before, behind and instead of a method's subscribers.

#ifndef FWD_SRC_INTERCEPTION_H
#define FWD_SRC_INTERCEPTION_H

#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

/// Fans out a delivery whose interceptors have run.
typedef fwd_status (*fwd_fan_out_behind)(fwd_proxy *proxy, const fwd_compiled_method *method,
                                         const fwd_delivery *delivery, fwd_error *error);

/// Runs the method's interceptors, which fan the delivery out by `behind` or not.
fwd_status fwd_intercept(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                         fwd_fan_out_behind behind, fwd_error *error);

#endif
