// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/check.h"

#include "base/error.h"

fwd_status fwd_fail_result(const fwd_method_entry *entry, const void *result, size_t size,
                           fwd_error *error) {
  const char *name = fwd_selector_name(entry->method.selector);
  if (!result) {
    return fwd_fail(error, FWD_NULL_ARGUMENT, 0,
                    "the result buffer of \"%.100s\" is NULL, but %zu bytes long", name, size);
  }
  return fwd_fail(error, FWD_WRONG_SIZE, 0,
                  "the result buffer of \"%.100s\" has %zu bytes, expected %zu", name, size,
                  entry->result.size);
}

fwd_status fwd_fail_frame(const fwd_method_entry *entry, const void *frame, size_t size,
                          fwd_error *error) {
  const fwd_proxy_method *method = &entry->method;
  const char *name = fwd_selector_name(method->selector);
  if (!frame && size == entry->frame_size) {
    return fwd_fail(error, FWD_NULL_ARGUMENT, 0,
                    "the argument frame of \"%.100s\" is NULL, expected %zu bytes", name, size);
  }
  return fwd_fail(error, FWD_WRONG_SIZE, 0,
                  "the argument frame of \"%.100s\" has %zu bytes, expected %zu for %.60s", name,
                  size, entry->frame_size,
                  fwd_encoding_text(fwd_signature_encoding(method->signature)));
}
