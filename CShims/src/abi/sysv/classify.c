// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/sysv/classify.h"

#include "abi/contested.h"

// Rule 4: the class of an eightbyte that two fields share. The order of the tests is the rule's.
static fwd_sysv_class merge(fwd_sysv_class left, fwd_sysv_class right) {
  if (left == right || right == FWD_SYSV_NO_CLASS) return left;
  if (left == FWD_SYSV_NO_CLASS) return right;
  if (left == FWD_SYSV_MEMORY || right == FWD_SYSV_MEMORY) return FWD_SYSV_MEMORY;
  if (left == FWD_SYSV_INTEGER || right == FWD_SYSV_INTEGER) return FWD_SYSV_INTEGER;
  // The two differ, and at least one is an x87 class.
  return FWD_SYSV_MEMORY;
}

static void merge_at(fwd_sysv_classes *classes, size_t offset, fwd_sysv_class class) {
  fwd_sysv_class *eightbyte = &classes->eightbyte[offset / 8];
  *eightbyte = merge(*eightbyte, class);
}

// Merges a number or pointer. Being aligned, none but __int128 and long double lies in two eightbytes.
static void merge_scalar(fwd_sysv_classes *classes, const fwd_type *type, size_t offset) {
  // Rule 1: a struct with an unaligned field (a packed struct) is in memory.
  if (offset % type->layout.alignment != 0) {
    merge_at(classes, 0, FWD_SYSV_MEMORY);
    return;
  }
  switch (type->kind) {
    case FWD_TYPE_FLOAT:
    case FWD_TYPE_DOUBLE:
      merge_at(classes, offset, FWD_SYSV_SSE);
      break;
    case FWD_TYPE_LONG_DOUBLE:
      merge_at(classes, offset, FWD_SYSV_X87);
      merge_at(classes, offset + 8, FWD_SYSV_X87UP);
      break;
    case FWD_TYPE_INT128:
    case FWD_TYPE_UINT128:
      merge_at(classes, offset, FWD_SYSV_INTEGER);
      merge_at(classes, offset + 8, FWD_SYSV_INTEGER);
      break;
    default:
      merge_at(classes, offset, FWD_SYSV_INTEGER);
  }
}

// Merges a bit-field: INTEGER in each eightbyte that it has bits in. It need not be aligned.
static void merge_bit_field(fwd_sysv_classes *classes, const fwd_type *type, size_t offset) {
  if (type->count == 0) return;
  size_t last = offset + (size_t)((type->bit_offset + type->count - 1) / 8);
  for (size_t eightbyte = offset / 8; eightbyte <= last / 8; eightbyte++) {
    merge_at(classes, eightbyte * 8, FWD_SYSV_INTEGER);
  }
}

// Rules 5(a) and 5(b).
static fwd_sysv_classes clean_up(fwd_sysv_classes classes) {
  fwd_sysv_class first = classes.eightbyte[0], second = classes.eightbyte[1];
  if (first == FWD_SYSV_MEMORY || second == FWD_SYSV_MEMORY ||
      (second == FWD_SYSV_X87UP && first != FWD_SYSV_X87)) {
    classes = (fwd_sysv_classes){{FWD_SYSV_MEMORY, FWD_SYSV_NO_CLASS}};
  }
  return classes;
}

// Classifies a type at `offset` of a value of at most 16 bytes, and gives the classes of that value's eightbytes.
//
// Each aggregate is merged and cleaned up by itself, and then merged as one field into the aggregate around it, fields
// in their order. The order matters: SSE, X87 and INTEGER merge to MEMORY or to INTEGER, depending on which two come
// first.
//
// The recursion is bounded: the parser limits depth, and 16 bytes hold at most 16 parts that have a size. Parts of
// size 0 are skipped without a look, since the count of an array of them is not limited.
static fwd_sysv_classes classify_at(const fwd_encoding *encoding, uint32_t index, size_t offset) {
  fwd_sysv_classes classes = {{FWD_SYSV_NO_CLASS, FWD_SYSV_NO_CLASS}}, part;
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if (type->kind == FWD_TYPE_BIT_FIELD) {
    merge_bit_field(&classes, type, offset);
    return classes;
  }
  if (type->layout.size == 0) return classes;
  switch (type->kind) {
    case FWD_TYPE_STRUCT:
    case FWD_TYPE_UNION:
      // All members of a union count, at offset 0.
      for (uint32_t child = type->first_child; child != FWD_NO_TYPE;) {
        const fwd_type *field = fwd_encoding_type(encoding, child);
        size_t start = type->kind == FWD_TYPE_STRUCT ? field->layout.offset : 0;
        part = classify_at(encoding, child, offset + start);
        merge_at(&classes, 0, part.eightbyte[0]);
        merge_at(&classes, 8, part.eightbyte[1]);
        child = field->next_sibling;
      }
      break;
    case FWD_TYPE_ARRAY: {
      size_t stride = fwd_encoding_type(encoding, type->first_child)->layout.size;
      for (size_t start = 0; start < type->layout.size; start += stride) {
        part = classify_at(encoding, type->first_child, offset + start);
        merge_at(&classes, 0, part.eightbyte[0]);
        merge_at(&classes, 8, part.eightbyte[1]);
      }
      break;
    }
    case FWD_TYPE_COMPLEX: {
      // As a struct of two. (The psABI says so of float and double only; gcc and clang do it for the
      // complex integers of GNU C too.) The parts of a `_Complex float` at offset 4 have an eightbyte each.
      const fwd_type *half = fwd_encoding_type(encoding, type->first_child);
      merge_scalar(&classes, half, offset);
      merge_scalar(&classes, half, offset + half->layout.size);
      break;
    }
    default:
      merge_scalar(&classes, type, offset);
  }
  return clean_up(classes);
}

fwd_sysv_classes fwd_sysv_classify(const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if (type->kind == FWD_TYPE_COMPLEX &&
      fwd_encoding_type(encoding, type->first_child)->kind == FWD_TYPE_LONG_DOUBLE) {
    return (fwd_sysv_classes){{FWD_SYSV_COMPLEX_X87, FWD_SYSV_NO_CLASS}};
  }
  fwd_sysv_classes classes = {{FWD_SYSV_NO_CLASS, FWD_SYSV_NO_CLASS}};
  if (fwd_sysv_is_scalar(type)) {
    // Most are numbers and pointers. Only void has no size.
    if (type->layout.size > 0) merge_scalar(&classes, type, 0);
    return classes;
  }
  // Rule 5(c): over two eightbytes only vectors stay in registers.
  if (type->layout.size > 16) return (fwd_sysv_classes){{FWD_SYSV_MEMORY, FWD_SYSV_NO_CLASS}};
  return classify_at(encoding, index, 0);
}

// Finds the contested part of a type at `offset` of a value of at most 16 bytes. `in_memory` says whether that value is
// passed in memory.
static uint32_t find_contested_part(const fwd_encoding *encoding, uint32_t index, size_t offset, bool in_memory,
                                    const char **reason) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if ((*reason = fwd_contested_reason(encoding, type))) return index;
  bool is_record = type->kind == FWD_TYPE_STRUCT || type->kind == FWD_TYPE_UNION;
  if (!is_record && type->kind != FWD_TYPE_ARRAY) return FWD_NO_TYPE;
  // For a struct at an offset that its own alignment forbids, clang treats the struct as unaligned; gcc looks at the
  // scalars in it.
  if (is_record && !in_memory && offset % type->layout.alignment != 0) {
    *reason = "expected a struct at an offset that its alignment allows (compilers differ in how they pass this)";
    return index;
  }
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE;) {
    const fwd_type *part = fwd_encoding_type(encoding, child);
    if (part->qualifiers & FWD_QUALIFIER_ATOMIC) {
      *reason = fwd_atomic_reason;
      return child;
    }
    size_t start = type->kind == FWD_TYPE_STRUCT ? part->layout.offset : 0, end = start;
    // Each element of an array of packed structs has another alignment. There are at most 16 with a size; one look
    // is enough for elements of size 0.
    if (type->kind == FWD_TYPE_ARRAY) end = type->layout.size;
    do {
      uint32_t found = find_contested_part(encoding, child, offset + start, in_memory, reason);
      if (found != FWD_NO_TYPE) return found;
      start += part->layout.size;
    } while (part->layout.size > 0 && start < end);
    child = part->next_sibling;
  }
  return FWD_NO_TYPE;
}

uint32_t fwd_sysv_find_contested(const fwd_encoding *encoding, uint32_t index, fwd_sysv_classes classes,
                                 const char **reason) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  // A larger type is in memory whatever it holds. Of one of size 0 nothing is passed.
  if (type->layout.size > 16 || type->layout.size == 0) return FWD_NO_TYPE;
  // Clang passes a struct with an _Atomic member in memory, and atomic scalars as other scalars.
  bool is_aggregate = type->kind == FWD_TYPE_STRUCT || type->kind == FWD_TYPE_UNION || type->kind == FWD_TYPE_COMPLEX;
  if (is_aggregate && (type->qualifiers & FWD_QUALIFIER_ATOMIC)) {
    *reason = fwd_atomic_reason;
    return index;
  }
  fwd_sysv_class first = classes.eightbyte[0];
  uint32_t found = find_contested_part(encoding, index, 0, first == FWD_SYSV_MEMORY, reason);
  if (found == FWD_NO_TYPE && first == FWD_SYSV_NO_CLASS) {
    // No C type is like this, but a stated layout may be.
    *reason = "expected a member in the first eight bytes of what is passed by value";
    found = index;
  }
  return found;
}

bool fwd_sysv_fits_registers(fwd_sysv_classes classes) {
  // X87UP is never without X87 in front of it.
  return classes.eightbyte[0] != FWD_SYSV_MEMORY && classes.eightbyte[0] != FWD_SYSV_X87 &&
         classes.eightbyte[0] != FWD_SYSV_COMPLEX_X87;
}

unsigned fwd_sysv_count(fwd_sysv_classes classes, fwd_sysv_class which) {
  return (unsigned)(classes.eightbyte[0] == which) + (unsigned)(classes.eightbyte[1] == which);
}
