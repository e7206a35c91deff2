// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Lowers a placement of System V x86-64 to libffi. libffi gets only words, doubles, blocks of stack and pairs of
/// registers, which it cannot place wrongly.

#include "abi/libffi/pieces.h"
#include "base/small_code.h"

#if FWD_PLACES_SYSV

FWD_SMALL_CODE_BEGIN

// MARK: libffi types with a preset size, which it does not lay out

// Blocks are structs with this element, which is MEMORY since it has over four eightbytes. A struct with a field in
// memory is in memory as a whole, however small it is: it goes to the stack and takes no registers.
static ffi_type *word_elements[] = {&ffi_type_uint64, NULL};
static ffi_type large_type = {40, 8, FFI_TYPE_STRUCT, word_elements};
static ffi_type *block_elements[] = {&large_type, NULL};

// Results in two registers.
static ffi_type *integer_integer_elements[] = {&ffi_type_uint64, &ffi_type_uint64, NULL};
static ffi_type *integer_vector_elements[] = {&ffi_type_uint64, &ffi_type_double, NULL};
static ffi_type *vector_integer_elements[] = {&ffi_type_double, &ffi_type_uint64, NULL};
static ffi_type *vector_vector_elements[] = {&ffi_type_double, &ffi_type_double, NULL};
static ffi_type integer_integer_type = {16, 8, FFI_TYPE_STRUCT, integer_integer_elements};
static ffi_type integer_vector_type = {16, 8, FFI_TYPE_STRUCT, integer_vector_elements};
static ffi_type vector_integer_type = {16, 8, FFI_TYPE_STRUCT, vector_integer_elements};
static ffi_type vector_vector_type = {16, 8, FFI_TYPE_STRUCT, vector_vector_elements};

// MARK: Arguments

static fwd_piece_source source_of(const fwd_part *part) {
  if (part->size >= 8) return FWD_PIECE_IN_PLACE;
  return part->is_signed ? FWD_PIECE_SIGN_EXTENDED : FWD_PIECE_ZERO_EXTENDED;
}

// libffi counts registers as the placement does, so that each piece gets the register meant.
static void lower_part(fwd_ffi_interface *interface, const fwd_part *part) {
  fwd_piece piece = {
      .source = source_of(part),
      .argument = part->argument,
      .offset = part->offset,
      .size = part->size,
  };
  switch (part->carrier) {
    case FWD_IN_INTEGER_REGISTER: fwd_ffi_add_piece(interface, &ffi_type_uint64, piece); break;
    // A lone float travels as the low half of a double: the function does not read the rest.
    case FWD_IN_VECTOR_REGISTER: fwd_ffi_add_piece(interface, &ffi_type_double, piece); break;
    default: {
      // libffi aligns a block as its type says. An offset that is a multiple of 16 is where 16 leads to, too.
      size_t size = part->size < 8 ? 8 : part->size;
      piece.block = (ffi_type){size, part->index % 16 == 0 ? 16 : 8, FFI_TYPE_STRUCT, block_elements};
      fwd_ffi_add_piece(interface, NULL, piece);
    }
  }
}

// MARK: The result

static void lower_result(fwd_ffi_interface *interface, const fwd_placement *placement) {
  interface->result_size = placement->result_size;
  interface->result_is_signed = placement->result_is_signed;
  interface->result = FWD_FFI_REGISTERS;
  switch ((fwd_result_kind)placement->result) {
    case FWD_RESULT_INTEGER:
      interface->result_type = &ffi_type_uint64;
      if (interface->result_size < 8) interface->result = FWD_FFI_WORD;
      break;
    case FWD_RESULT_VECTOR: interface->result_type = &ffi_type_double; break;
    case FWD_RESULT_INTEGER_INTEGER: interface->result_type = &integer_integer_type; break;
    case FWD_RESULT_INTEGER_VECTOR: interface->result_type = &integer_vector_type; break;
    case FWD_RESULT_VECTOR_INTEGER: interface->result_type = &vector_integer_type; break;
    case FWD_RESULT_VECTOR_VECTOR: interface->result_type = &vector_vector_type; break;
    // A struct or union too, which libffi would not return so.
    case FWD_RESULT_X87: interface->result_type = &ffi_type_longdouble; break;
    case FWD_RESULT_COMPLEX_X87: interface->result_type = &ffi_type_complex_longdouble; break;
    case FWD_RESULT_MEMORY:
      interface->result = FWD_FFI_MEMORY;
      interface->result_type = &ffi_type_pointer;
      fwd_ffi_add_piece(interface, &ffi_type_pointer, (fwd_piece){.source = FWD_PIECE_RESULT_ADDRESS, .size = 8});
      break;
    default:
      interface->result = FWD_FFI_NOTHING;
      interface->result_type = &ffi_type_void;
  }
}

fwd_status fwd_lower(fwd_ffi_interface *interface, const fwd_encoding *encoding, const fwd_placement *placement,
                     fwd_error *error) {
  (void)encoding, (void)error;
  lower_result(interface, placement);
  for (uint32_t i = 0; i < placement->part_count; i++) lower_part(interface, &placement->parts[i]);
  return FWD_OK;
}

FWD_SMALL_CODE_END

#endif
