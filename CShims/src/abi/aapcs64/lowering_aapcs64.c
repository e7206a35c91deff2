// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Lowers a signature by the AAPCS64, "Parameter passing rules". libffi gets words, pairs of words, and
/// homogeneous structs, so that it passes what it has no type for: unions, `__int128`, complex integers. It
/// does not know of even registers. For a struct of over 16 bytes it gets the address of our copy: libffi 3.4.4 aligns
/// that on the stack as the struct is aligned, and has no room for many such addresses beside its copies.

#include "abi/lowering.h"

#if FWD_AAPCS64_LOWERING

#include <stdlib.h>

#include "abi/aapcs64/aapcs64_classify.h"
#include "base/error.h"

// MARK: libffi types with a preset size, which it does not lay out

static ffi_type *word_elements[] = {&ffi_type_uint64, NULL};

#define HOMOGENEOUS(name, member, size)                                                             \
  static ffi_type *name##_elements[] = {&member, &member, &member, &member, NULL};                  \
  static ffi_type name##_types[FWD_AAPCS64_MEMBERS + 1] = {                                         \
      {0, 0, 0, NULL},                                                                              \
      {0, 0, 0, NULL},                                                                              \
      {2 * (size), (size), FFI_TYPE_STRUCT, name##_elements + 2},                                   \
      {3 * (size), (size), FFI_TYPE_STRUCT, name##_elements + 1},                                   \
      {4 * (size), (size), FFI_TYPE_STRUCT, name##_elements},                                       \
  };
HOMOGENEOUS(float, ffi_type_float, 4)
HOMOGENEOUS(double, ffi_type_double, 8)
HOMOGENEOUS(quad, ffi_type_longdouble, 16)

static ffi_type *vector_type(fwd_aapcs64_passing passing) {
  bool is_lone = passing.registers == 1;
  switch (passing.member_size) {
    case 4: return is_lone ? &ffi_type_float : &float_types[passing.registers];
    case 8: return is_lone ? &ffi_type_double : &double_types[passing.registers];
    default: return is_lone ? &ffi_type_longdouble : &quad_types[passing.registers];
  }
}

// One, or several in a struct of which alignment is not theirs: packed, or with members that are aligned to more.
static ffi_type aligned_vector_type(fwd_aapcs64_passing passing, size_t alignment) {
  ffi_type **last = passing.member_size == 4   ? &float_elements[FWD_AAPCS64_MEMBERS]
                    : passing.member_size == 8 ? &double_elements[FWD_AAPCS64_MEMBERS]
                                               : &quad_elements[FWD_AAPCS64_MEMBERS];
  return (ffi_type){(size_t)passing.registers * passing.member_size, (unsigned short)alignment, FFI_TYPE_STRUCT,
                    last - passing.registers};
}

static size_t at_least_word(size_t alignment) { return alignment < 8 ? 8 : alignment; }

// With an integer in it no struct is homogeneous: up to 16 bytes it goes to x registers.
static ffi_type block_type(size_t size, size_t alignment) {
  return (ffi_type){size, (unsigned short)alignment, FFI_TYPE_STRUCT, word_elements};
}

// MARK: Arguments

// C.8: libffi starts at an odd register. A word of no bytes takes it up.
static void skip_odd_register(fwd_cif *cif, uint32_t argument, unsigned *next_integer) {
  if (*next_integer >= 8 || *next_integer % 2 == 0) return;
  ++*next_integer;
  fwd_cif_add_piece(cif, &ffi_type_uint64, (fwd_piece){.source = FWD_PIECE_ZERO_EXTENDED, .argument = argument});
}

/// `next_integer` is the NGRN of the AAPCS64.
static void lower_argument(fwd_cif *cif, uint32_t argument, const fwd_encoding *encoding, uint32_t index,
                           unsigned *next_integer) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  size_t size = type->layout.size;
  fwd_piece piece = {.source = FWD_PIECE_IN_PLACE, .argument = argument, .size = (uint32_t)size};
  fwd_aapcs64_passing passing = fwd_aapcs64_classify(encoding, index);
  switch (passing.class) {
    case FWD_AAPCS64_NO_CLASS:
      break;
    case FWD_AAPCS64_VECTOR: {
      ffi_type *usual = vector_type(passing);
      size_t alignment = at_least_word(fwd_aapcs64_alignment(type));
      if (at_least_word(usual->alignment) != alignment) {
        piece.block = aligned_vector_type(passing, alignment);
        usual = NULL;
      }
      fwd_cif_add_piece(cif, usual, piece);
      break;
    }
    case FWD_AAPCS64_MEMORY:
      piece.source = FWD_PIECE_REFERENCE;
      fwd_cif_add_piece(cif, &ffi_type_uint64, piece);
      if (*next_integer < 8) ++*next_integer;
      break;
    case FWD_AAPCS64_INTEGER:
      if (fwd_aapcs64_alignment(type) > 8) skip_odd_register(cif, argument, next_integer);
      // Nothing goes to registers after what does not fit.
      *next_integer = *next_integer + passing.registers <= 8 ? *next_integer + passing.registers : 8;
      if (size <= 8) {
        if (size < 8)
          piece.source = fwd_type_is_signed(type->kind) ? FWD_PIECE_SIGN_EXTENDED : FWD_PIECE_ZERO_EXTENDED;
        fwd_cif_add_piece(cif, &ffi_type_uint64, piece);
      } else {
        piece.block = block_type(size, fwd_aapcs64_alignment(type));
        fwd_cif_add_piece(cif, NULL, piece);
      }
      break;
  }
}

// MARK: The result

static ffi_type *pair_elements[] = {&ffi_type_uint64, &ffi_type_uint64, NULL};
static ffi_type pair_type = {16, 8, FFI_TYPE_STRUCT, pair_elements};

static fwd_status lower_result(fwd_cif *cif, const fwd_encoding *encoding, uint32_t index, fwd_error *error) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  size_t size = cif->result_size = type->layout.size;
  cif->result_is_signed = fwd_type_is_signed(type->kind);
  fwd_aapcs64_passing passing = fwd_aapcs64_classify(encoding, index);
  switch (passing.class) {
    case FWD_AAPCS64_NO_CLASS:
      cif->result_type = &ffi_type_void;
      break;
    case FWD_AAPCS64_VECTOR:
      cif->result_type = vector_type(passing);
      cif->result_place = FWD_RESULT_AS_TYPED;
      break;
    case FWD_AAPCS64_MEMORY: {
      struct storage {
        void *next;
        ffi_type type;
      } *made = calloc(1, sizeof *made);
      if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a call interface");
      made->next = cif->type_storage;
      made->type = block_type(size, type->layout.alignment);
      cif->type_storage = made;
      cif->result_type = &made->type;
      cif->result_place = FWD_RESULT_AS_TYPED;
      break;
    }
    case FWD_AAPCS64_INTEGER:
      cif->result_type = size > 8 ? &pair_type : &ffi_type_uint64;
      cif->result_place = size < 8 ? FWD_RESULT_WORD : FWD_RESULT_REGISTERS;
      break;
  }
  return FWD_OK;
}

// What compilers pass each in their own way is refused; and small structs with empty arrays too, which x86-64
// refuses, so that a signature is good everywhere.
static fwd_status check_agreed(const fwd_encoding *encoding, uint32_t index, bool is_argument, fwd_error *error) {
  size_t size = fwd_encoding_type(encoding, index)->layout.size;
  const char *reason = NULL;
  uint32_t found = size > 0 && size <= 16 ? fwd_find_empty_array(encoding, index) : FWD_NO_TYPE;
  if (found == FWD_NO_TYPE) found = fwd_aapcs64_find_contested(encoding, index, is_argument, &reason);
  if (found == FWD_NO_TYPE) return FWD_OK;
  if (!reason) return fwd_cif_refuse_empty_array(encoding, found, error);
  return fwd_cif_refuse(encoding, FWD_UNSUPPORTED, fwd_encoding_type(encoding, found)->text_offset, reason, error);
}

fwd_status fwd_lower(fwd_cif *cif, const fwd_encoding *encoding, fwd_error *error) {
  unsigned next_integer = 0;
  uint32_t index = fwd_encoding_type(encoding, 0)->first_child;
  fwd_status status = check_agreed(encoding, index, false, error);
  if (status == FWD_OK) status = lower_result(cif, encoding, index, error);
  for (uint32_t argument = 0; argument < cif->argument_count && status == FWD_OK; argument++) {
    index = fwd_encoding_type(encoding, index)->next_sibling;
    status = check_agreed(encoding, index, true, error);
    lower_argument(cif, argument, encoding, index, &next_integer);
  }
  return status;
}

#endif
