// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What function pointers that forward into a proxy have in common.

#ifndef FWD_SRC_PROXY_FUNCTION_H
#define FWD_SRC_PROXY_FUNCTION_H

#include "call/closure.h"
#include "call/signature.h"
#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

/// What a call of a function pointer forwards to.
typedef struct fwd_function_target {
  fwd_proxy *proxy;
  const fwd_compiled_method *method;
  /// The result of deliveries and calls that fail, or NULL for the method's. As long as the result.
  const void *failure_result;
} fwd_function_target;

/// Handles a call whose fan-out has failed. The C caller cannot be told: it gets the result for failed deliveries, else
/// zeros.
void fwd_function_settle(const fwd_function_target *target, fwd_status status, void *result);

/// Copies a result that is kept. An object in it is retained for the caller.
void fwd_function_copy_result(const fwd_compiled_method *method, const void *kept, void *result);

#endif
