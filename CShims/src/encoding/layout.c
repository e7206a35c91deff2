// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The sizes, alignments and offsets of a parsed encoding's types.

#include "encoding/encoding.h"
#include "encoding/stated_layouts.h"

#include <stdint.h>

/// The size of the largest object: a pointer difference inside a larger one would overflow.
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

/// Refuses a whole for the same reason as its part. Returns false if the part has a layout.
static bool inherit_refusal(fwd_type *whole, const fwd_type *part) {
  if (part->layout_status == FWD_OK) return false;
  refuse(whole, part->layout_status, part->layout_offset, part->layout_reason);
  return true;
}

static bool is_atomic(const fwd_type *type) { return type->qualifiers & FWD_QUALIFIER_ATOMIC; }

/// Raises the alignment of an _Atomic struct, union or complex number to its size, as the hardware's instructions
/// need. Other sizes than powers of two are refused: clang pads them, gcc does not. (clang spells only the name of an
/// atomic struct: `A{S}`.)
static void align_atomic(fwd_type *type) {
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
  // An _Atomic scalar may be aligned more strictly than the scalar (long long on 32-bit x86).
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
  if (inherit_refusal(type, element)) return;
  if (is_atomic(type)) {
    refuse_unknown(type, "expected an atomic element (C has no atomic arrays)");
    return;
  }
  size_t size = element->layout.size;
  if (size > 0 && type->count > SIZE_LIMIT / size) {
    refuse(type, FWD_OVERFLOW, type->text_offset, "expected an array of at most PTRDIFF_MAX bytes");
    return;
  }
  // If the count does not fit a size_t, the element's size is 0, and so is the product.
  set_layout(type, size * (size_t)type->count, element->layout.alignment);
}

/// Rounds up to a multiple of an alignment. Cannot wrap: both are at most `SIZE_LIMIT` + 1.
static uint64_t round_up(uint64_t size, uint64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

// MARK: Bit positions

/// A bit in a record: a byte's offset, and the bit in that byte, below 8.
typedef struct bit_position {
  uint64_t byte;
  uint64_t bit;
} bit_position;

static bool is_before(bit_position left, bit_position right) {
  return left.byte < right.byte || (left.byte == right.byte && left.bit < right.bit);
}

/// The first byte at or after a position.
static uint64_t next_byte(bit_position position) { return position.byte + (position.bit > 0); }

/// The position after a member that begins at `start`, which is at most `SIZE_LIMIT`. Cannot wrap: a width is below
/// 2^63.
static bit_position position_after(const fwd_type *member, bit_position start) {
  if (member->kind != FWD_TYPE_BIT_FIELD) return (bit_position){start.byte + member->layout.size, 0};
  uint64_t bits = start.bit + member->count;
  return (bit_position){start.byte + bits / 8, bits % 8};
}

static void set_position(fwd_type *member, bit_position start) {
  member->layout.offset = (size_t)start.byte;
  member->bit_offset = (uint8_t)start.bit;
}

// MARK: Bit-fields

// The compiler that builds this file says whether bit-fields without names align the struct that holds them. On
// x86-64 they do not; the AArch64 ABI (AAPCS64, "Bit-fields") says that they do.
struct holds_unnamed {
  char c;
  int : 5;
};
struct holds_width_0 {
  char c;
  int : 0;
};
enum {
  unnamed_aligns = _Alignof(struct holds_unnamed) > 1,
  width_0_aligns = _Alignof(struct holds_width_0) > 1,
};

static bool aligns_record(const fwd_type *field) {
  if (field->count == 0) return width_0_aligns;
  return unnamed_aligns || !fwd_bit_field_is_unnamed(field);
}

/// Finds where C puts a GNU bit-field such as `b8I4`, and checks that the encoding says the same. `*start` is the
/// first free bit, and becomes the field's first bit. `*alignment` becomes the alignment that the field asks of the
/// record.
///
/// The rule (System V ABI, "Bit-Fields", and AAPCS64 alike): a bit-field lies in one storage unit of its type, aligned
/// as that type is. It begins at the next bit if it still fits there, else at the next unit. Width 0 ends the unit.
static bool place_bit_field(const fwd_encoding *encoding, fwd_type *record, const fwd_type *field,
                            bit_position *start, uint64_t *alignment) {
  uint64_t encoded = 0;
  fwd_type unit = {.kind = (fwd_type_kind)fwd_bit_field_letter(encoding, field, &encoded)};
  if (!unit.kind) {
    refuse(record, FWD_UNSUPPORTED, field->text_offset,
           "expected a stated layout: a bit-field without a position and a type does not tell where it lies");
    return false;
  }
  lay_out_scalar(&unit);
  if (unit.layout_status != FWD_OK) {
    refuse(record, unit.layout_status, field->text_offset, unit.layout_reason);
    return false;
  }
  uint64_t unit_bits = (uint64_t)unit.layout.size * 8;
  if (field->count > unit_bits) {
    refuse(record, FWD_UNSUPPORTED, field->text_offset, "expected a bit-field that is no wider than its type");
    return false;
  }
  uint64_t used_bits = start->byte % unit.layout.alignment * 8 + start->bit;
  bool begins_unit = field->count == 0 ? used_bits > 0 : used_bits + field->count > unit_bits;
  if (begins_unit) *start = (bit_position){round_up(next_byte(*start), unit.layout.alignment), 0};
  if (encoded / 8 != start->byte || encoded % 8 != start->bit) {
    refuse(record, FWD_UNSUPPORTED, field->text_offset,
           "expected the position that C gives this bit-field; if the type is packed or aligned, state its layout");
    return false;
  }
  *alignment = aligns_record(field) ? unit.layout.alignment : 1;
  return true;
}

// MARK: Structs and unions

/// Finds where C puts a member, as `place_bit_field` does for bit-fields.
static bool place_member(const fwd_encoding *encoding, fwd_type *record, const fwd_type *member,
                         bit_position *start, uint64_t *alignment) {
  if (member->kind == FWD_TYPE_BIT_FIELD) return place_bit_field(encoding, record, member, start, alignment);
  if (member->kind == FWD_TYPE_VOID) {
    refuse(record, FWD_UNSUPPORTED, member->text_offset, "expected a field with a size, not void");
    return false;
  }
  if (inherit_refusal(record, member)) return false;
  *alignment = member->layout.alignment;
  *start = (bit_position){round_up(next_byte(*start), *alignment), 0};
  return true;
}

/// Lays out a struct, or a union, whose members all lie at offset 0, as C does without attributes.
static void lay_out_record(const fwd_encoding *encoding, fwd_type *record) {
  if (record->is_opaque) {
    refuse_unknown(record, record->kind == FWD_TYPE_STRUCT
                               ? "expected the struct's fields, or a stated layout, not its name only"
                               : "expected the union's members, or a stated layout, not its name only");
    return;
  }
  fwd_type *types = encoding->types;
  uint64_t size = 0, alignment = 1;
  bit_position end = {0, 0};
  for (uint32_t index = record->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling) {
    fwd_type *member = &types[index];
    bit_position start = record->kind == FWD_TYPE_STRUCT ? end : (bit_position){0, 0};
    uint64_t member_alignment;
    if (!place_member(encoding, record, member, &start, &member_alignment)) return;
    end = position_after(member, start);
    if (next_byte(end) > size) size = next_byte(end);
    if (member_alignment > alignment) alignment = member_alignment;
    if (round_up(size, alignment) > SIZE_LIMIT) {
      refuse(record, FWD_OVERFLOW, member->text_offset, "expected fields of at most PTRDIFF_MAX bytes in all");
      return;
    }
    set_position(member, start);
  }
  set_layout(record, (size_t)round_up(size, alignment), (size_t)alignment);
}

// MARK: Stated layouts

/// The largest alignment that gcc and clang accept in an attribute.
static const size_t alignment_limit = (size_t)1 << 28;

/// A record, and the layout that is stated for it.
typedef struct stated_record {
  const fwd_encoding *encoding;
  const fwd_stated_layout *stated;
  fwd_type *type;
} stated_record;

static bool reject(stated_record *self, uint32_t offset, const char *reason) {
  refuse(self->type, FWD_WRONG_LAYOUT, offset, reason);
  return false;
}

static bool is_power_of_two(size_t number) { return number > 0 && (number & (number - 1)) == 0; }

static bool check_statement(stated_record *self) {
  const fwd_stated_layout *stated = self->stated;
  uint32_t offset = self->type->text_offset;
  if (!is_power_of_two(stated->alignment) || stated->alignment > alignment_limit) {
    return reject(self, offset, "expected a stated alignment that is a power of two of at most 2^28");
  }
  if (stated->size > SIZE_LIMIT) return reject(self, offset, "expected a stated size of at most PTRDIFF_MAX");
  if (stated->size % stated->alignment != 0) {
    return reject(self, offset, "expected a stated size that is a multiple of the stated alignment");
  }
  if (stated->member_alignment != 0 &&
      (!is_power_of_two(stated->member_alignment) || stated->member_alignment > stated->alignment)) {
    return reject(self, offset, "expected members' alignment to be a power of two of at most the stated alignment");
  }
  return true;
}

/// Refuses the record if a member has no layout. Bit-fields need none: the statement gives their positions.
static bool check_members(stated_record *self) {
  fwd_type *types = self->encoding->types;
  for (uint32_t index = self->type->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling) {
    fwd_type *member = &types[index];
    if (member->kind == FWD_TYPE_BIT_FIELD) continue;
    if (member->kind == FWD_TYPE_VOID) {
      refuse(self->type, FWD_UNSUPPORTED, member->text_offset, "expected a field with a size, not void");
      return false;
    }
    if (inherit_refusal(self->type, member)) return false;
  }
  return true;
}

static bool place_at_stated_offsets(stated_record *self) {
  const fwd_stated_layout *stated = self->stated;
  if (stated->member_count != self->type->child_count) {
    return reject(self, self->type->text_offset, "expected one stated member for each member of the type");
  }
  fwd_type *types = self->encoding->types;
  const bit_position size = {stated->size, 0};
  bit_position end = {0, 0};
  const fwd_stated_member *next = stated->members;
  for (uint32_t index = self->type->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling, next++) {
    fwd_type *member = &types[index];
    if (next->offset > stated->size || next->bit_offset / 8 > stated->size - next->offset) {
      return reject(self, member->text_offset, "expected the member's stated offset to be in the stated size");
    }
    bit_position start = {next->offset + next->bit_offset / 8, next->bit_offset % 8};
    uint64_t position;
    if (member->kind != FWD_TYPE_BIT_FIELD) {
      if (next->bit_offset != 0) {
        return reject(self, member->text_offset, "expected a bit offset for bit-fields only");
      }
    } else if (fwd_bit_field_letter(self->encoding, member, &position) &&
               (position / 8 != start.byte || position % 8 != start.bit)) {
      return reject(self, member->text_offset, "expected the stated bit offset to be that of the encoding");
    }
    if (is_before(size, position_after(member, start))) {
      return reject(self, member->text_offset, "expected the member to end in the stated size");
    }
    if (self->type->kind == FWD_TYPE_UNION) {
      if (start.byte > 0 || start.bit > 0) {
        return reject(self, member->text_offset, "expected offset 0 for the members of a union");
      }
    } else if (is_before(start, end)) {
      return reject(self, member->text_offset, "expected the member to begin after the one before it");
    }
    set_position(member, start);
    end = position_after(member, start);
  }
  return true;
}

/// Places the members of a struct one after the other, without padding. Succeeds if they fill the stated size, since
/// then no other placement is possible.
static bool place_contiguously(stated_record *self) {
  fwd_type *types = self->encoding->types;
  uint64_t end = 0;
  for (uint32_t index = self->type->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling) {
    if (types[index].kind == FWD_TYPE_BIT_FIELD) return false;
    set_position(&types[index], (bit_position){end, 0});
    end += types[index].layout.size;
    if (end > self->stated->size) return false;
  }
  return end == self->stated->size;
}

/// Places the members as C does without attributes on members. The members of unions all lie at offset 0.
static bool place_by_alignment(stated_record *self) {
  fwd_type *types = self->encoding->types;
  bool is_struct = self->type->kind == FWD_TYPE_STRUCT;
  const bit_position size = {self->stated->size, 0};
  uint64_t alignment = 1, whole = 0;
  bit_position end = {0, 0};
  for (uint32_t index = self->type->first_child; index != FWD_NO_TYPE; index = types[index].next_sibling) {
    fwd_type *member = &types[index];
    bit_position start = {0, 0};
    if (member->kind == FWD_TYPE_BIT_FIELD) {
      uint64_t position = 0;
      if (!fwd_bit_field_letter(self->encoding, member, &position) && is_struct) {
        refuse(self->type, FWD_UNSUPPORTED, member->text_offset,
               "expected the members' offsets to be stated, too: the encoding does not tell those of bit-fields");
        return false;
      }
      if (is_struct) start = (bit_position){position / 8, position % 8};
    } else {
      if (is_struct) start.byte = round_up(next_byte(end), member->layout.alignment);
      if (member->layout.alignment > alignment) alignment = member->layout.alignment;
    }
    // Checking both ends against the size also rules out a wrap in the next step.
    if (is_struct && is_before(start, end)) {
      return reject(self, member->text_offset, "expected the member to begin after the one before it");
    }
    if (is_before(size, start) || is_before(size, position_after(member, start))) {
      return reject(self, member->text_offset,
                    "expected a stated size that has room for the members, or their offsets");
    }
    set_position(member, start);
    end = position_after(member, start);
    uint64_t bytes = next_byte(end);
    if (bytes > whole) whole = bytes;
  }
  if (round_up(whole, self->stated->alignment) != size.byte ||
      (is_struct && alignment > self->stated->alignment)) {
    return reject(self, self->type->text_offset,
                  is_struct ? "expected the members' offsets to be stated, too: the usual ones give another layout"
                            : "expected a stated size that is that of the largest member, rounded up to the alignment");
  }
  return true;
}

static void lay_out_stated(fwd_encoding *encoding, fwd_type *type, const fwd_stated_layout *stated) {
  stated_record self = {encoding, stated, type};
  if (!check_statement(&self) || !check_members(&self)) return;
  // Without members there is nothing to place: clang spells a struct that was only declared `{S=}`.
  if (type->child_count > 0) {
    bool is_placed = stated->members
                         ? place_at_stated_offsets(&self)
                         : (type->kind == FWD_TYPE_STRUCT && place_contiguously(&self)) || place_by_alignment(&self);
    if (!is_placed) return;
  }
  size_t members = stated->member_alignment;
  if (members > 0) type->member_alignment = members < 16 ? (uint8_t)members : 16;
  type->is_stated = true;
  set_layout(type, stated->size, stated->alignment);
}

// MARK: All types

/// Turns array parameters into pointers to their elements, as C does (C11 6.7.6.3p7). clang and gcc leave them arrays
/// in the encodings of methods: `(const uint8_t[16])` is `[16C]`.
static void decay_array_parameters(const fwd_type *function, fwd_type *types) {
  // The first child is the result. C has no functions that return arrays; signatures refuse them.
  for (uint32_t index = types[function->first_child].next_sibling; index != FWD_NO_TYPE;) {
    fwd_type *parameter = &types[index];
    // An array without a layout stays, so that its own reason is reported.
    if (parameter->kind == FWD_TYPE_ARRAY && parameter->layout_status == FWD_OK) {
      parameter->kind = FWD_TYPE_POINTER;
      parameter->count = 0;
      lay_out_scalar(parameter);
    }
    index = parameter->next_sibling;
  }
}

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
      decay_array_parameters(type, types);
      refuse_unknown(type, "expected a type with a size, not a function");
      return;
    case FWD_TYPE_BIT_FIELD:
      refuse_unknown(type, "expected a type with a size of its own, not a bit-field");
      return;
    case FWD_TYPE_ARRAY:
      lay_out_array(type, &types[type->first_child]);
      return;
    case FWD_TYPE_COMPLEX: {
      // C11 6.2.5p13: laid out and aligned as an array of two parts. Complex integers are extensions of gcc and clang.
      const fwd_layout *part = &types[type->first_child].layout;
      set_layout(type, 2 * part->size, part->alignment);
      align_atomic(type);
      return;
    }
    case FWD_TYPE_STRUCT:
    case FWD_TYPE_UNION: {
      const fwd_stated_layout *stated = fwd_stated_layouts_find(encoding, type);
      if (stated) {
        lay_out_stated(encoding, type, stated);
      } else {
        lay_out_record(encoding, type);
      }
      align_atomic(type);
      return;
    }
    default:
      lay_out_scalar(type);
      return;
  }
}

bool fwd_encoding_lay_out(fwd_encoding *encoding, fwd_fault *fault) {
  // Children follow their parents in the array, so a backward pass lays them out first. No recursion is needed.
  for (uint32_t index = encoding->type_count; index-- > 0;) lay_out(encoding, &encoding->types[index]);
  for (uint32_t index = 0; encoding->stated && index < encoding->type_count; index++) {
    const fwd_type *type = &encoding->types[index];
    if (type->layout_status != FWD_WRONG_LAYOUT) continue;
    *fault = (fwd_fault){type->layout_status, type->layout_offset, type->layout_reason};
    return false;
  }
  return true;
}
