// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/aapcs64/classify.h"

#include "abi/contested.h"
#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

enum {
  quad_size = 16,
  not_homogeneous = -1,
};

// Counts the floating numbers of a type that consists of nothing else, if all have one size; else gives
// `not_homogeneous`. The size is kept in `*member_size`, which is 0 before the first. Sizes tell float, double and quad
// apart.
//
// No type is visited twice, and the parser limits depth. The type has at most 64 bytes, so the count cannot overflow.
static int count_members(const fwd_encoding *encoding, uint32_t index, size_t *member_size) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  // A bit-field is an integer, and has no size of its own.
  if (type->kind == FWD_TYPE_BIT_FIELD) return not_homogeneous;
  // Empty structs and arrays are members of nothing; but see fwd_aapcs64_find_contested.
  if (type->layout.size == 0) return 0;
  int count = 0;
  switch (type->kind) {
    case FWD_TYPE_FLOAT:
    case FWD_TYPE_DOUBLE:
    case FWD_TYPE_LONG_DOUBLE:
      if (*member_size == 0) *member_size = type->layout.size;
      return *member_size == type->layout.size ? 1 : not_homogeneous;
    case FWD_TYPE_COMPLEX:
      // The AAPCS64 treats complex floating types as structs of two members. Compilers do so for complex integers too.
      count = count_members(encoding, type->first_child, member_size);
      return count == not_homogeneous ? not_homogeneous : 2;
    case FWD_TYPE_ARRAY:
      count = count_members(encoding, type->first_child, member_size);
      return count == not_homogeneous ? not_homogeneous : count * (int)type->count;
    case FWD_TYPE_STRUCT:
    case FWD_TYPE_UNION:
      for (uint32_t child = type->first_child; child != FWD_NO_TYPE;
           child = fwd_encoding_type(encoding, child)->next_sibling) {
        int part = count_members(encoding, child, member_size);
        if (part == not_homogeneous) return not_homogeneous;
        if (type->kind == FWD_TYPE_STRUCT) count += part;
        if (type->kind == FWD_TYPE_UNION && part > count) count = part;
      }
      // No padding, at any level.
      return (size_t)count * *member_size == type->layout.size ? count : not_homogeneous;
    default:
      return not_homogeneous;
  }
}

fwd_aapcs64_passing fwd_aapcs64_classify(const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  size_t size = type->layout.size;
  if (size == 0) return (fwd_aapcs64_passing){FWD_AAPCS64_NO_CLASS, 0, 0};
  if (size <= FWD_AAPCS64_MEMBERS * quad_size) {
    size_t member_size = 0;
    int count = count_members(encoding, index, &member_size);
    if (count > 0 && count <= FWD_AAPCS64_MEMBERS)
      return (fwd_aapcs64_passing){FWD_AAPCS64_VECTOR, (uint8_t)count, (uint8_t)member_size};
  }
  // No scalar has over 16 bytes.
  if (size > 16) return (fwd_aapcs64_passing){FWD_AAPCS64_MEMORY, 1, 0};
  return (fwd_aapcs64_passing){FWD_AAPCS64_INTEGER, size > 8 ? 2 : 1, 0};
}

size_t fwd_aapcs64_alignment(const fwd_type *type) {
  return type->is_stated && type->member_alignment > 0 ? type->member_alignment : type->layout.alignment;
}

static bool is_aggregate(const fwd_type *type) {
  return type->kind == FWD_TYPE_STRUCT || type->kind == FWD_TYPE_UNION || type->kind == FWD_TYPE_COMPLEX;
}

static bool is_atomic(const fwd_type *type) { return type->qualifiers & FWD_QUALIFIER_ATOMIC; }

static uint32_t find_contested_part(const fwd_encoding *encoding, uint32_t index, fwd_aapcs64_class class,
                                    const char **reason) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  *reason = fwd_contested_reason(encoding, type);
  // Compilers differ only where the type would be homogeneous without _Atomic, or is atomic as a whole.
  if (!*reason && class != FWD_AAPCS64_MEMORY && is_atomic(type) && is_aggregate(type)) *reason = fwd_atomic_reason;
  if (*reason) return index;
  if (type->kind != FWD_TYPE_STRUCT && type->kind != FWD_TYPE_UNION && type->kind != FWD_TYPE_ARRAY)
    return FWD_NO_TYPE;
  bool is_homogeneous = class == FWD_AAPCS64_VECTOR;
  // The caller gives the reason for an empty array.
  if (is_homogeneous && type->kind == FWD_TYPE_ARRAY && type->count == 0) return index;
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE;
       child = fwd_encoding_type(encoding, child)->next_sibling) {
    if (is_homogeneous && is_atomic(fwd_encoding_type(encoding, child))) {
      *reason = fwd_atomic_reason;
      return child;
    }
    uint32_t found = find_contested_part(encoding, child, class, reason);
    if (found != FWD_NO_TYPE) return found;
  }
  return FWD_NO_TYPE;
}

/// Whether a closure has to copy an argument to align it. It has room for 16 bytes.
static bool is_copied(const fwd_type *type, fwd_aapcs64_class class) {
  return class != FWD_AAPCS64_MEMORY && type->layout.alignment > fwd_aapcs64_alignment(type) &&
         type->layout.alignment > 8;
}

uint32_t fwd_aapcs64_find_contested(const fwd_encoding *encoding, uint32_t index, bool is_argument,
                                    const char **reason) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  fwd_aapcs64_class class = fwd_aapcs64_classify(encoding, index).class;
  *reason = NULL;
  // Larger types are passed by reference whatever they hold.
  if (class == FWD_AAPCS64_NO_CLASS || type->layout.size > FWD_AAPCS64_MEMBERS * quad_size) return FWD_NO_TYPE;
  if (is_argument && class != FWD_AAPCS64_MEMORY && type->is_stated && type->member_alignment == 0 &&
      type->layout.alignment > 8) {
    // B.6: an attribute on the whole struct does not count.
    *reason = "expected the stated layout to have the members' alignment, by which the argument is passed";
    return index;
  }
  if (is_argument && is_copied(type, class) && type->layout.size > quad_size) {
    *reason = "expected a struct of several floating numbers to be aligned by its members, not as a whole";
    return index;
  }
  return find_contested_part(encoding, index, class, reason);
}

FWD_SMALL_CODE_END
