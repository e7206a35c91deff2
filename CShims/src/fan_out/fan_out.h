// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_FAN_OUT_H
#define FWD_SRC_FAN_OUT_H

#include "fwd_fan_out.h"

/// Does what `fwd_fan_out` does for a delivery that has nothing but a frame, and perhaps room for a result and a batch. The
/// frame has the method's size and alignment.
fwd_status fwd_fan_out_of_frame(fwd_proxy *proxy, const fwd_proxy_method *method, fwd_batch *batch, const void *frame,
                                void *result, fwd_error *error);

#endif
