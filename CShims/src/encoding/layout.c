// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The sizes, alignments and offsets of a parsed encoding's types.

#include "encoding/encoding.h"

#include <stdint.h>

#include "base/error.h"

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

/// Makes a struct, union or complex number that is laid out the atomic one that it is: aligned to its size for
/// the hardware's instructions. Where that is no power of two clang pads it, too, which gcc does not. (clang gives
/// at most the name of an atomic struct: `A{S}`.)
static void make_atomic(fwd_type *type) {
  if (!is_atomic(type) || type->layout_status != FWD_OK) return;
  size_t alignment = 1;
#define ATOMIC(SIZE)                                 \
  case SIZE: {                                       \
    typedef struct { char bytes[SIZE]; } bytes;      \
    alignment = _Alignof(_Atomic bytes);             \
    break;                                           \
  }
  switch (type->layout.size) {
    ATOMIC(1)
    ATOMIC(2)
    ATOMIC(4)
    ATOMIC(8)
    ATOMIC(16)
    default:
      if (type->layout.size > 16) break;
      refuse_unknown(type, "expected an atomic type of 1, 2, 4, 8, or 16 bytes or more (compilers differ in the "
                           "padding of others)");
      return;
  }
#undef ATOMIC
  if (alignment > type->layout.alignment) type->layout.alignment = alignment;
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
  if (take_refusal(type, element)) return;
  if (is_atomic(type)) {
    refuse_unknown(type, "expected an atomic element (C has no atomic arrays)");
    return;
  }
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
    refuse_unknown(type, type->kind == FWD_TYPE_STRUCT
                             ? "expected the struct's fields, or a stated layout, not its name only"
                             : "expected the union's members, or a stated layout, not its name only");
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
  set_layout(type, (size_t)round_up(size, alignment), (size_t)alignment);
}

// MARK: Stated layouts

/// What compilers take.
static const size_t alignment_limit = (size_t)1 << 28;

/// The record that is laid out as stated.
typedef struct stated_record {
  const fwd_encoding *encoding;
  const fwd_stated_layout *stated;
  fwd_type *type;
} stated_record;

static bool wrong(stated_record *self, uint32_t offset, const char *reason) {
  refuse(self->type, FWD_WRONG_LAYOUT, offset, reason);
  return false;
}

static bool is_power_of_two(size_t number) { return number > 0 && (number & (number - 1)) == 0; }

static bool check_statement(stated_record *self) {
  const fwd_stated_layout *stated = self->stated;
  uint32_t offset = self->type->text_offset;
  if (!is_power_of_two(stated->alignment) || stated->alignment > alignment_limit) {
    return wrong(self, offset, "expected a stated alignment that is a power of two of at most 2^28");
  }
  if (stated->size > SIZE_LIMIT) return wrong(self, offset, "expected a stated size of at most PTRDIFF_MAX");
  if (stated->size % stated->alignment != 0) {
    return wrong(self, offset, "expected a stated size that is a multiple of the stated alignment");
  }
  if (stated->member_alignment != 0 &&
      (!is_power_of_two(stated->member_alignment) || stated->member_alignment > stated->alignment)) {
    return wrong(self, offset, "expected members' alignment to be a power of two of at most the stated alignment");
  }
  return true;
}

/// Bit-fields have no layout of their own; all else has, or the whole has none.
static bool check_members(stated_record *self) {
  fwd_type *types = self->encoding->types;
  for (uint32_t index = self->type->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling) {
    fwd_type *member = &types[index];
    if (member->kind == FWD_TYPE_BIT_FIELD) continue;
    if (member->kind == FWD_TYPE_VOID) {
      refuse(self->type, FWD_UNSUPPORTED, member->text_offset, "expected a field with a size, not void");
      return false;
    }
    if (take_refusal(self->type, member)) return false;
  }
  return true;
}

/// A place in a record, the bit being below 8.
typedef struct place {
  uint64_t byte;
  uint64_t bit;
} place;

static bool is_before(place left, place right) {
  return left.byte < right.byte || (left.byte == right.byte && left.bit < right.bit);
}

/// Where a member that begins at a place of at most `SIZE_LIMIT` bytes ends. Cannot wrap: a width is below 2^63.
static place end_of(const fwd_type *member, place start) {
  if (member->kind != FWD_TYPE_BIT_FIELD) return (place){start.byte + member->layout.size, 0};
  uint64_t bits = start.bit + member->count;
  return (place){start.byte + bits / 8, bits % 8};
}

static void put(fwd_type *member, place start) {
  member->layout.offset = (size_t)start.byte;
  member->bit_offset = (uint8_t)start.bit;
}

static bool place_as_stated(stated_record *self) {
  const fwd_stated_layout *stated = self->stated;
  if (stated->member_count != self->type->child_count) {
    return wrong(self, self->type->text_offset, "expected one stated member for each member of the type");
  }
  fwd_type *types = self->encoding->types;
  const place size = {stated->size, 0};
  place end = {0, 0};
  const fwd_stated_member *next = stated->members;
  for (uint32_t index = self->type->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling, next++) {
    fwd_type *member = &types[index];
    if (next->offset > stated->size || next->bit_offset / 8 > stated->size - next->offset) {
      return wrong(self, member->text_offset, "expected the member's stated offset to be in the stated size");
    }
    place start = {next->offset + next->bit_offset / 8, next->bit_offset % 8};
    uint64_t position;
    if (member->kind != FWD_TYPE_BIT_FIELD) {
      if (next->bit_offset != 0) return wrong(self, member->text_offset, "expected no bit offset but for bit-fields");
    } else if (fwd_bit_field_letter(self->encoding, member, &position) &&
               (position / 8 != start.byte || position % 8 != start.bit)) {
      return wrong(self, member->text_offset, "expected the stated bit offset to be that of the encoding");
    }
    if (is_before(size, end_of(member, start))) {
      return wrong(self, member->text_offset, "expected the member to end in the stated size");
    }
    if (self->type->kind == FWD_TYPE_UNION) {
      if (start.byte > 0 || start.bit > 0) {
        return wrong(self, member->text_offset, "expected offset 0 for the members of a union");
      }
    } else if (is_before(start, end)) {
      return wrong(self, member->text_offset, "expected the member to begin behind the one in front of it");
    }
    put(member, start);
    end = end_of(member, start);
  }
  return true;
}

/// Whether the members of a struct fill it one behind the other, so that there is but one place for each. Places
/// them if so.
static bool place_side_by_side(stated_record *self) {
  fwd_type *types = self->encoding->types;
  uint64_t end = 0;
  for (uint32_t index = self->type->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling) {
    if (types[index].kind == FWD_TYPE_BIT_FIELD) return false;
    put(&types[index], (place){end, 0});
    end += types[index].layout.size;
    if (end > self->stated->size) return false;
  }
  return end == self->stated->size;
}

/// As without attributes on members. Unions too, whose members all lie at 0.
static bool place_as_usual(stated_record *self) {
  fwd_type *types = self->encoding->types;
  bool is_struct = self->type->kind == FWD_TYPE_STRUCT;
  const place size = {self->stated->size, 0};
  uint64_t alignment = 1, whole = 0;
  place end = {0, 0};
  for (uint32_t index = self->type->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling) {
    fwd_type *member = &types[index];
    place start = {0, 0};
    if (member->kind == FWD_TYPE_BIT_FIELD) {
      uint64_t position = 0;
      if (!fwd_bit_field_letter(self->encoding, member, &position) && is_struct) {
        refuse(self->type, FWD_UNSUPPORTED, member->text_offset,
               "expected the members' offsets to be stated, too: the encoding has not those of bit-fields");
        return false;
      }
      if (is_struct) start = (place){position / 8, position % 8};
    } else {
      if (is_struct) start.byte = round_up(end.byte + (end.bit > 0), member->layout.alignment);
      if (member->layout.alignment > alignment) alignment = member->layout.alignment;
    }
    // Both ends are in the size, so that nothing wraps.
    if (is_struct && is_before(start, end)) {
      return wrong(self, member->text_offset, "expected the member to begin behind the one in front of it");
    }
    if (is_before(size, start) || is_before(size, end_of(member, start))) {
      return wrong(self, member->text_offset, "expected a stated size that has room for the members, or their offsets");
    }
    put(member, start);
    end = end_of(member, start);
    uint64_t bytes = end.byte + (end.bit > 0);
    if (bytes > whole) whole = bytes;
  }
  if (round_up(whole, self->stated->alignment) != size.byte ||
      (is_struct && alignment > self->stated->alignment)) {
    return wrong(self, self->type->text_offset,
                 is_struct ? "expected the members' offsets to be stated, too: the usual ones give another layout"
                           : "expected a stated size that is that of the largest member, rounded up to the alignment");
  }
  return true;
}

static void lay_out_stated(fwd_encoding *encoding, fwd_type *type, const fwd_stated_layout *stated) {
  stated_record self = {encoding, stated, type};
  if (!check_statement(&self) || !check_members(&self)) return;
  // One that has no members here may have them elsewhere: clang spells what was only declared `{S=}`.
  if (type->child_count > 0) {
    bool is_placed = stated->members
                         ? place_as_stated(&self)
                         : (type->kind == FWD_TYPE_STRUCT && place_side_by_side(&self)) || place_as_usual(&self);
    if (!is_placed) return;
  }
  size_t members = stated->member_alignment;
  if (members > 0) type->member_alignment = members < 16 ? (uint8_t)members : 16;
  type->is_stated = true;
  set_layout(type, stated->size, stated->alignment);
}

// MARK: All

static void lay_out(fwd_encoding *encoding, fwd_type *type) {
  fwd_type *types = encoding->types;
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
      refuse_unknown(type, "expected a type of known layout, or a stated layout round it, not a bit-field");
      return;
    case FWD_TYPE_ARRAY:
      lay_out_array(type, &types[type->first_child]);
      return;
    case FWD_TYPE_COMPLEX: {
      // C11 6.2.5p13: laid out and aligned as an array of two parts. Complex integers are clang's and gcc's.
      const fwd_layout *part = &types[type->first_child].layout;
      set_layout(type, 2 * part->size, part->alignment);
      make_atomic(type);
      return;
    }
    case FWD_TYPE_STRUCT:
    case FWD_TYPE_UNION: {
      const fwd_stated_layout *stated = fwd_stated_layouts_find(encoding, type);
      if (stated) {
        lay_out_stated(encoding, type, stated);
      } else {
        lay_out_record(type, types);
      }
      make_atomic(type);
      return;
    }
    default:
      lay_out_scalar(type);
      return;
  }
}

bool fwd_encoding_lay_out(fwd_encoding *encoding, fwd_fault *fault) {
  // From the last to the first: a node's children stand behind it. So no recursion is needed.
  for (uint32_t index = encoding->type_count; index-- > 0;) lay_out(encoding, &encoding->types[index]);
  for (uint32_t index = 0; encoding->stated && index < encoding->type_count; index++) {
    const fwd_type *type = &encoding->types[index];
    if (type->layout_status != FWD_WRONG_LAYOUT) continue;
    *fault = (fwd_fault){type->layout_status, type->layout_offset, type->layout_reason};
    return false;
  }
  return true;
}

fwd_status fwd_type_layout_stating(const char *text, size_t length, const fwd_stated_layout *stated, size_t count,
                                   fwd_layout *layout, fwd_error *error) {
  if (!layout) return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "fwd_type_layout: no place for the layout");
  fwd_encoding *encoding;
  fwd_status status = fwd_encoding_create_stating(text, length, FWD_FORM_TYPE, stated, count, &encoding, error);
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

fwd_status fwd_type_layout(const char *text, size_t length, fwd_layout *layout, fwd_error *error) {
  return fwd_type_layout_stating(text, length, NULL, 0, layout, error);
}
