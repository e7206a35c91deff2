// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/missing.h"

#include "base/error.h"
#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

static bool is_missing(const fwd_encoding *encoding, uint32_t type, const void *argument) {
  return !argument && fwd_encoding_type(encoding, type)->layout.size > 0;
}

/// Returns the first argument that has bytes but no address, or the number of arguments.
static size_t find_missing(const fwd_encoding *encoding, void *const *arguments) {
  uint32_t type = fwd_encoding_type(encoding, fwd_encoding_type(encoding, 0)->first_child)->next_sibling;
  size_t i = 0;
  for (; type != FWD_NO_TYPE && !is_missing(encoding, type, arguments ? arguments[i] : NULL); i++) {
    type = fwd_encoding_type(encoding, type)->next_sibling;
  }
  return i;
}

__attribute__((cold, noinline)) fwd_status fwd_fail_missing(const fwd_encoding *encoding, void *const *arguments) {
  size_t index = find_missing(encoding, arguments);
  return fwd_fail(NULL, FWD_NULL_ARGUMENT, index, "fwd_call: no address for argument %zu of \"%.100s\"", index,
                  fwd_encoding_text(encoding));
}

FWD_SMALL_CODE_END

bool fwd_has_addresses(const fwd_encoding *encoding, void *const *arguments) {
  size_t count = fwd_encoding_type(encoding, 0)->child_count - 1;
  if (!arguments) return find_missing(encoding, NULL) == count;
  // Four at a time without a branch for each, which takes two thirds of the time.
  bool missing = false;
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    missing |= !arguments[i] | !arguments[i + 1] | !arguments[i + 2] | !arguments[i + 3];
  }
  for (; i < count; i++) missing |= !arguments[i];
  return !missing || find_missing(encoding, arguments) == count;
}
