// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Checks of the sizes that an invocation was given.

#ifndef FWD_SRC_CHECK_H
#define FWD_SRC_CHECK_H

#include "fan_out/proxy.h"

/// Fails because the result buffer is NULL or has a wrong size.
fwd_status fwd_fail_result(const fwd_compiled_method *method, const void *result, size_t size);
/// Fails because the argument frame is NULL or has a wrong size.
fwd_status fwd_fail_frame(const fwd_compiled_method *method, const void *frame, size_t size);

/// Whether an argument frame has the method's size and exists. If not, `fwd_fail_frame` says why.
static inline bool fwd_fits_frame(const fwd_compiled_method *method, const void *frame, size_t size) {
  return FWD_USUALLY(size == method->frame_size) && (FWD_USUALLY(frame != NULL) || size == 0);
}

/// Whether a result buffer exists and has the result's size, or is NULL with size 0 because the result is not wanted. If
/// not, `fwd_fail_result` says why.
static inline bool fwd_fits_result(const fwd_compiled_method *method, const void *result, size_t size) {
  // With size 0, the result is not wanted, or has no bytes.
  if (size == 0) return FWD_USUALLY(!result) || method->result.size == 0;
  return result && size == method->result.size;
}

#endif
