// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Checks of the sizes that an invocation was given.

#ifndef FWD_SRC_CHECK_H
#define FWD_SRC_CHECK_H

#include "fan_out/proxy.h"

/// Fails because the result buffer is NULL or has a wrong size.
fwd_status fwd_fail_result(const fwd_compiled_method *method, const void *result, size_t size,
                           fwd_error *error);
/// Fails because the argument frame is NULL or has a wrong size.
fwd_status fwd_fail_frame(const fwd_compiled_method *method, const void *frame, size_t size,
                          fwd_error *error);

/// Whether an argument frame has the method's size and exists. If not, `fwd_fail_frame` says why.
static inline bool fwd_fits_frame(const fwd_compiled_method *method, const void *frame, size_t size) {
  return __builtin_expect(size == method->frame_size && (frame || size == 0), 1);
}

/// Whether a result buffer exists and has the result's size, or is NULL with size 0 because the result is not wanted. If
/// not, `fwd_fail_result` says why.
static inline bool fwd_fits_result(const fwd_compiled_method *method, const void *result, size_t size) {
  return __builtin_expect(size == method->result.size && (result || size == 0), 1) || (!result && size == 0);
}

#endif
