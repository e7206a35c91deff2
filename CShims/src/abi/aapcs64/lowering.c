// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Lowers a placement of AArch64 to libffi. libffi gets words, pairs of words, and homogeneous structs, so that it
/// passes types that it does not know: unions, `__int128`, complex integers. It does not know of even registers either.
/// For a struct of over 16 bytes it gets the address of our copy: libffi 3.4.4 aligns that address on the stack as the
/// struct is aligned, and has no room for many such addresses beside its copies.

#include "abi/libffi/pieces.h"

#if FWD_PLACES_AAPCS64

// MARK: libffi types with a preset size, which it does not lay out

enum { member_limit = 4 };

static ffi_type *word_elements[] = {&ffi_type_uint64, NULL};
static ffi_type *pair_elements[] = {&ffi_type_uint64, &ffi_type_uint64, NULL};
static ffi_type pair_type = {16, 8, FFI_TYPE_STRUCT, pair_elements};

#define HOMOGENEOUS(name, member, size)                                             \
  static ffi_type *name##_elements[] = {&member, &member, &member, &member, NULL};  \
  static ffi_type name##_types[member_limit + 1] = {                                \
      [2] = {2 * (size), (size), FFI_TYPE_STRUCT, name##_elements + 2},             \
      [3] = {3 * (size), (size), FFI_TYPE_STRUCT, name##_elements + 1},             \
      [4] = {4 * (size), (size), FFI_TYPE_STRUCT, name##_elements},                 \
  };
HOMOGENEOUS(float, ffi_type_float, 4)
HOMOGENEOUS(double, ffi_type_double, 8)
HOMOGENEOUS(quad, ffi_type_longdouble, 16)

/// Returns the type of `count` floating numbers of `size` bytes.
static ffi_type *vector_type(uint32_t count, uint32_t size) {
  switch (size) {
    case 4: return count == 1 ? &ffi_type_float : &float_types[count];
    case 8: return count == 1 ? &ffi_type_double : &double_types[count];
    default: return count == 1 ? &ffi_type_longdouble : &quad_types[count];
  }
}

/// The same as a struct of another alignment.
static ffi_type aligned_vector_type(uint32_t count, uint32_t size, unsigned short alignment) {
  ffi_type **end = size == 4   ? &float_elements[member_limit]
                   : size == 8 ? &double_elements[member_limit]
                               : &quad_elements[member_limit];
  return (ffi_type){(size_t)count * size, alignment, FFI_TYPE_STRUCT, end - count};
}

// With an integer in it no struct is homogeneous: up to 16 bytes it goes to x registers.
static ffi_type block_type(size_t size, unsigned short alignment) {
  return (ffi_type){size, alignment, FFI_TYPE_STRUCT, word_elements};
}

// MARK: Arguments

static fwd_piece_source source_of(const fwd_part *part) {
  if (part->is_address) return FWD_PIECE_REFERENCE;
  if (part->size >= 8 || part->member_size > 0) return FWD_PIECE_IN_PLACE;
  return part->is_signed ? FWD_PIECE_SIGN_EXTENDED : FWD_PIECE_ZERO_EXTENDED;
}

/// Lowers an argument of `size` bytes, which is `count` parts: one piece each.
static void lower_argument(fwd_ffi_interface *interface, const fwd_part *parts, uint32_t count, uint32_t size,
                           uint32_t *next_integer) {
  fwd_piece piece = {.source = source_of(parts), .argument = parts->argument, .size = size};
  bool on_stack = parts->carrier == FWD_ON_STACK;
  // libffi aligns as a piece's type says. An alignment of 16 does not move an offset that is already a multiple of 16.
  unsigned short alignment = on_stack && parts->index % 16 == 0 ? 16 : 8;
  if (parts->carrier == FWD_IN_INTEGER_REGISTER) {
    // libffi does not skip odd registers (C.8). A word of no bytes takes one up.
    for (; *next_integer < parts->index; ++*next_integer) {
      fwd_ffi_add_piece(interface, &ffi_type_uint64,
                        (fwd_piece){.source = FWD_PIECE_ZERO_EXTENDED, .argument = parts->argument});
    }
    *next_integer += count;
  }
  if (parts->member_size > 0) {
    uint32_t members = size / parts->member_size;
    ffi_type *type = vector_type(members, parts->member_size);
    // Closures find a struct in vector registers where libffi has stored them, aligned to 16.
    if (!on_stack && members > 1) alignment = 16;
    if ((on_stack || members > 1) && (type->alignment < 8 ? 8 : type->alignment) != alignment) {
      piece.block = aligned_vector_type(members, parts->member_size, alignment);
      type = NULL;
    }
    fwd_ffi_add_piece(interface, type, piece);
  } else if (size <= 8 || parts->is_address) {
    fwd_ffi_add_piece(interface, &ffi_type_uint64, piece);
  } else {
    piece.block = block_type(size, alignment);
    fwd_ffi_add_piece(interface, NULL, piece);
  }
}

// MARK: The result

static void lower_result(fwd_ffi_interface *interface, const fwd_placement *placement) {
  uint32_t size = placement->result_size;
  interface->result_size = size;
  interface->result_is_signed = placement->result_is_signed;
  switch ((fwd_result_kind)placement->result) {
    case FWD_RESULT_VECTOR:
    case FWD_RESULT_HOMOGENEOUS:
      interface->result_type =
          vector_type(size / placement->result_member_size, placement->result_member_size);
      interface->result = FWD_FFI_AS_TYPED;
      break;
    case FWD_RESULT_MEMORY:
      interface->result_block = block_type(size, 16);
      interface->result_type = &interface->result_block;
      interface->result = FWD_FFI_AS_TYPED;
      break;
    case FWD_RESULT_INTEGER:
      interface->result_type = &ffi_type_uint64;
      interface->result = size < 8 ? FWD_FFI_WORD : FWD_FFI_REGISTERS;
      break;
    case FWD_RESULT_INTEGER_INTEGER:
      interface->result_type = &pair_type;
      interface->result = FWD_FFI_REGISTERS;
      break;
    default:
      interface->result_type = &ffi_type_void;
  }
}

fwd_status fwd_lower(fwd_ffi_interface *interface, const fwd_encoding *encoding, const fwd_placement *placement,
                     fwd_error *error) {
  (void)encoding, (void)error;
  lower_result(interface, placement);
  uint32_t next_integer = 0;
  for (uint32_t i = 0, count; i < placement->part_count; i += count) {
    const fwd_part *parts = &placement->parts[i];
    uint32_t size = 0;
    for (count = 0; i + count < placement->part_count && parts[count].argument == parts->argument; count++) {
      size += parts[count].size;
    }
    lower_argument(interface, parts, count, size, &next_integer);
  }
  return FWD_OK;
}

#endif
