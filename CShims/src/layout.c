// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The sizes, alignments and offsets of a parsed encoding's types.

#include "encoding.h"

#include <stdint.h>

#include "error.h"

/// No object may be larger: pointer differences inside it would overflow.
#define SIZE_LIMIT ((uint64_t)PTRDIFF_MAX)

#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 signed_128;
__extension__ typedef unsigned __int128 unsigned_128;
#endif

static void set_layout(fwd_type *type, size_t size, size_t alignment) {
  type->layout.size = size;
  type->layout.alignment = alignment;
}

static void refuse(fwd_type *type, fwd_status status, uint32_t offset, const char *reason) {
  type->layout_status = status;
  type->layout_offset = offset;
  type->layout_reason = reason;
}

static void refuse_unknown(fwd_type *type, const char *reason) {
  refuse(type, FWD_UNSUPPORTED, type->text_offset, reason);
}

/// Takes over from a part why its size cannot be known. True if it cannot.
static bool take_refusal(fwd_type *whole, const fwd_type *part) {
  if (part->layout_status == FWD_OK) return false;
  refuse(whole, part->layout_status, part->layout_offset, part->layout_reason);
  return true;
}

static bool is_atomic(const fwd_type *type) { return type->qualifiers & FWD_QUALIFIER_ATOMIC; }

/// Structs, unions, arrays and complex numbers: an atomic one may be padded and aligned for the hardware's
/// instructions, of which the encoding says nothing (clang gives at most the name: `A{S}`).
static bool take_atomic_refusal(fwd_type *type) {
  if (!is_atomic(type)) return false;
  refuse_unknown(type, "expected an atomic scalar (the padding of other atomic types is not encoded)");
  return true;
}

static void lay_out_scalar(fwd_type *type) {
  // _Atomic of a scalar may be aligned otherwise than the scalar (long long on 32-bit x86).
#define SCALAR(KIND, TYPE)                                            \
  case KIND:                                                          \
    if (is_atomic(type)) {                                            \
      set_layout(type, sizeof(_Atomic TYPE), _Alignof(_Atomic TYPE)); \
    } else {                                                          \
      set_layout(type, sizeof(TYPE), _Alignof(TYPE));                 \
    }                                                                 \
    return;
  typedef void *pointer;
  switch (type->kind) {
    SCALAR(FWD_TYPE_CHAR, signed char)
    SCALAR(FWD_TYPE_UCHAR, unsigned char)
    SCALAR(FWD_TYPE_SHORT, short)
    SCALAR(FWD_TYPE_USHORT, unsigned short)
    SCALAR(FWD_TYPE_INT, int)
    SCALAR(FWD_TYPE_UINT, unsigned int)
    SCALAR(FWD_TYPE_LONG, int32_t)
    SCALAR(FWD_TYPE_ULONG, uint32_t)
    SCALAR(FWD_TYPE_LONG_LONG, long long)
    SCALAR(FWD_TYPE_ULONG_LONG, unsigned long long)
#if defined(__SIZEOF_INT128__)
    SCALAR(FWD_TYPE_INT128, signed_128)
    SCALAR(FWD_TYPE_UINT128, unsigned_128)
#endif
    SCALAR(FWD_TYPE_BOOL, bool)
    SCALAR(FWD_TYPE_FLOAT, float)
    SCALAR(FWD_TYPE_DOUBLE, double)
    SCALAR(FWD_TYPE_LONG_DOUBLE, long double)
    SCALAR(FWD_TYPE_C_STRING, pointer)
    SCALAR(FWD_TYPE_OBJECT, pointer)
    SCALAR(FWD_TYPE_CLASS, pointer)
    SCALAR(FWD_TYPE_SELECTOR, pointer)
    SCALAR(FWD_TYPE_BLOCK, pointer)
    SCALAR(FWD_TYPE_POINTER, pointer)
    default:
      refuse_unknown(type, "expected a type that this platform has, not a 128-bit integer");
      return;
  }
#undef SCALAR
}

static void lay_out_array(fwd_type *type, const fwd_type *element) {
  if (element->kind == FWD_TYPE_VOID) {
    refuse(type, FWD_UNSUPPORTED, element->text_offset, "expected an element with a size, not void");
    return;
  }
  if (take_refusal(type, element) || take_atomic_refusal(type)) return;
  size_t size = element->layout.size;
  if (size > 0 && type->count > SIZE_LIMIT / size) {
    refuse(type, FWD_OVERFLOW, type->text_offset, "expected an array of at most PTRDIFF_MAX bytes");
    return;
  }
  // The product is 0 where the count alone would not fit a size_t.
  set_layout(type, size * (size_t)type->count, element->layout.alignment);
}

/// Rounds up to a multiple of an alignment. Cannot wrap: both are at most `SIZE_LIMIT` + 1.
static uint64_t round_up(uint64_t size, uint64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

/// Structs, and unions, whose members all lie at 0.
static void lay_out_record(fwd_type *type, fwd_type *types) {
  if (type->is_opaque) {
    refuse_unknown(type, type->kind == FWD_TYPE_STRUCT ? "expected the struct's fields, not its name only"
                                                       : "expected the union's members, not its name only");
    return;
  }
  uint64_t size = 0, alignment = 1;
  for (uint32_t index = type->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling) {
    fwd_type *field = &types[index];
    if (field->kind == FWD_TYPE_VOID) {
      refuse(type, FWD_UNSUPPORTED, field->text_offset, "expected a field with a size, not void");
      return;
    }
    if (take_refusal(type, field)) return;
    uint64_t offset = type->kind == FWD_TYPE_STRUCT ? round_up(size, field->layout.alignment) : 0;
    uint64_t end = offset + field->layout.size;
    if (end > size) size = end;
    if (field->layout.alignment > alignment) alignment = field->layout.alignment;
    if (round_up(size, alignment) > SIZE_LIMIT) {
      refuse(type, FWD_OVERFLOW, field->text_offset, "expected fields of at most PTRDIFF_MAX bytes in all");
      return;
    }
    field->layout.offset = (size_t)offset;
  }
  if (take_atomic_refusal(type)) return;
  set_layout(type, (size_t)round_up(size, alignment), (size_t)alignment);
}

static void lay_out(fwd_type *type, fwd_type *types) {
  switch (type->kind) {
    case FWD_TYPE_VOID:
      set_layout(type, 0, 1);
      return;
    case FWD_TYPE_UNKNOWN:
      refuse_unknown(type, "expected a known type, not '?'");
      return;
    case FWD_TYPE_FUNCTION:
      refuse_unknown(type, "expected a type with a size, not a function");
      return;
    case FWD_TYPE_BIT_FIELD:
      // Apple's encodings have neither its type nor its place. GNU's have both, but whether the struct was
      // packed, which moves what follows, is in neither.
      refuse_unknown(type, "expected a type of known layout, not a bit-field");
      return;
    case FWD_TYPE_ARRAY:
      lay_out_array(type, &types[type->first_child]);
      return;
    case FWD_TYPE_COMPLEX: {
      // C11 6.2.5p13: laid out and aligned as an array of two parts. Complex integers are clang's and gcc's.
      const fwd_layout *part = &types[type->first_child].layout;
      if (!take_atomic_refusal(type)) set_layout(type, 2 * part->size, part->alignment);
      return;
    }
    case FWD_TYPE_STRUCT:
    case FWD_TYPE_UNION:
      lay_out_record(type, types);
      return;
    default:
      lay_out_scalar(type);
      return;
  }
}

void fwd_encoding_lay_out(fwd_encoding *encoding) {
  // From the last to the first: a node's children stand behind it. So no recursion is needed.
  for (uint32_t index = encoding->type_count; index-- > 0;) {
    lay_out(&encoding->types[index], encoding->types);
  }
}

fwd_status fwd_type_layout(const char *text, size_t length, fwd_layout *layout, fwd_error *error) {
  if (!layout) return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "fwd_type_layout: no place for the layout");
  fwd_encoding *encoding;
  fwd_status status = fwd_encoding_create(text, length, FWD_FORM_TYPE, &encoding, error);
  if (status != FWD_OK) return status;
  const fwd_type *type = fwd_encoding_type(encoding, 0);
  status = type->layout_status;
  if (status == FWD_OK) {
    *layout = type->layout;
  } else {
    fwd_encoding_fail(error, status, "type encoding", fwd_encoding_text(encoding), length, type->layout_offset,
                      type->layout_reason);
  }
  fwd_encoding_release(encoding);
  return status;
}
