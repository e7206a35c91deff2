// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/contested.h"

#include "encoding/encoding.h"

const char fwd_atomic_reason[] = "expected no _Atomic member (compilers differ in how they pass such a struct by value)";

// Apple's encodings do not give the type of a bit-field. Up to this width it may be of any integer type.
enum { word_bits = 64 };

static const char *bit_field_reason(const fwd_encoding *encoding, const fwd_type *type) {
  // Clang does not classify a bit-field without a name; gcc does, and before 12 also one of width 0. In an encoding with
  // field names, such a bit-field has an empty one.
  bool has_no_name = type->field_name_offset > 0 && type->field_name_length == 0;
  if (has_no_name || type->count == 0) {
    return "expected no unnamed bit-field in a small struct (compilers differ in how they pass one by value)";
  }
  // On AArch64 gcc aligns an argument by the types of its bit-fields, even in a packed struct.
  uint64_t position;
  char letter = fwd_bit_field_letter(encoding, type, &position);
  if (type->count > word_bits || letter == 't' || letter == 'T') {
    return "expected no 128-bit bit-field in a small struct (compilers differ in how they pass one by value)";
  }
  return NULL;
}

const char *fwd_contested_reason(const fwd_encoding *encoding, const fwd_type *type) {
  if (type->kind == FWD_TYPE_BIT_FIELD) return bit_field_reason(encoding, type);
  if (type->is_stated && type->child_count == 0 && type->layout.size > 0) {
    return "expected the fields of a struct this small, which decide how it is passed by value";
  }
  return NULL;
}
