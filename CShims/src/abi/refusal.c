// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/refusal.h"

fwd_status fwd_refuse(const fwd_encoding *encoding, fwd_status status, size_t offset, const char *reason,
                      fwd_error *error) {
  return fwd_encoding_fail(error, status, "method signature", fwd_encoding_text(encoding),
                           fwd_encoding_length(encoding), offset, reason);
}

uint32_t fwd_find_empty_array(const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if (type->kind == FWD_TYPE_ARRAY && type->count == 0) return index;
  if (type->kind != FWD_TYPE_ARRAY && type->kind != FWD_TYPE_STRUCT && type->kind != FWD_TYPE_UNION)
    return FWD_NO_TYPE;
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE;
       child = fwd_encoding_type(encoding, child)->next_sibling) {
    uint32_t found = fwd_find_empty_array(encoding, child);
    if (found != FWD_NO_TYPE) return found;
  }
  return FWD_NO_TYPE;
}

fwd_status fwd_refuse_empty_array(const fwd_encoding *encoding, uint32_t index, fwd_error *error) {
  return fwd_refuse(encoding, FWD_UNSUPPORTED, fwd_encoding_type(encoding, index)->text_offset,
                    "expected no array of 0 elements in a small struct (compilers differ in how they "
                    "pass one by value)",
                    error);
}
