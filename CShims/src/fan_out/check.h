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

/// Checks the size of an argument frame, and that there is one.
static inline fwd_status fwd_check_frame(const fwd_compiled_method *method, const void *frame, size_t size,
                                         fwd_error *error) {
  if (__builtin_expect(size == method->frame_size && (frame || size == 0), 1)) return FWD_OK;
  return fwd_fail_frame(method, frame, size, error);
}

/// Checks a result buffer: it has the result's size, or is NULL with size 0 if the result is not wanted.
static inline fwd_status fwd_check_result(const fwd_compiled_method *method, const void *result,
                                          size_t size, fwd_error *error) {
  if (__builtin_expect(size == method->result.size && (result || size == 0), 1)) return FWD_OK;
  if (!result && size == 0) return FWD_OK;
  return fwd_fail_result(method, result, size, error);
}

#endif
