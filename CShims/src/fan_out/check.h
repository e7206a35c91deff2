// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Checks of what an invocation was given.

#ifndef FWD_SRC_CHECK_H
#define FWD_SRC_CHECK_H

#include "fan_out/proxy.h"

/// Fails for a room for the result that is not one.
fwd_status fwd_fail_result(const fwd_method_entry *entry, const void *result, size_t size,
                           fwd_error *error);
/// Fails for a frame that is not one.
fwd_status fwd_fail_frame(const fwd_method_entry *entry, const void *frame, size_t size,
                          fwd_error *error);

/// FWD_OK for exactly as many bytes as the result has, and for none where it is not wanted.
static inline fwd_status fwd_check_result(const fwd_method_entry *entry, const void *result,
                                          size_t size, fwd_error *error) {
  if (size == entry->result.size && (result || size == 0)) return FWD_OK;
  if (!result && size == 0) return FWD_OK;
  return fwd_fail_result(entry, result, size, error);
}

#endif
