// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/check.h"

#include "base/error.h"

fwd_status fwd_fail_result(const fwd_compiled_method *method, const void *result, size_t size) {
  const char *name = fwd_selector_name(method->method.selector);
  if (!result) {
    return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0,
                    "the result buffer of \"%.100s\" is NULL, but %zu bytes long", name, size);
  }
  return fwd_fail(NULL, FWD_WRONG_SIZE, 0,
                  "the result buffer of \"%.100s\" has %zu bytes, expected %zu", name, size,
                  method->result.size);
}

fwd_status fwd_fail_frame(const fwd_compiled_method *method, const void *frame, size_t size) {
  const char *name = fwd_selector_name(method->method.selector);
  if (!frame && size == method->frame_size) {
    return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0,
                    "the argument frame of \"%.100s\" is NULL, expected %zu bytes", name, size);
  }
  return fwd_fail(NULL, FWD_WRONG_SIZE, 0,
                  "the argument frame of \"%.100s\" has %zu bytes, expected %zu for %.60s", name,
                  size, method->frame_size,
                  fwd_encoding_text(fwd_signature_encoding(method->method.signature)));
}
