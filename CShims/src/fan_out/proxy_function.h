// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What function pointers that forward into a proxy have in common.

#ifndef FWD_SRC_PROXY_FUNCTION_H
#define FWD_SRC_PROXY_FUNCTION_H

#include "call/closure.h"
#include "call/signature.h"
#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

struct fwd_function_target {
  fwd_proxy *proxy;
  const fwd_compiled_method *method;
  /// NULL for the method's. As long as the result.
  const void *failure_result;
};

/// Handles a call of a function pointer whose fan-out has failed. The C caller cannot be told: it gets the failure result,
/// else zeros.
void fwd_function_settle(const fwd_delivery *delivery, fwd_status status);

#endif
