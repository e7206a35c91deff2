// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Lowers a signature by the System V x86-64 psABI, section 3.2.3. libffi gets only words, doubles, blocks of
/// stack and register pairs, about which it cannot be wrong.

#include "abi/lowering.h"

#if FWD_SYSV_LOWERING

#include "abi/sysv/sysv_classify.h"

// MARK: libffi types with a preset size, which it does not lay out

// Blocks are structs with this element. Over four eightbytes are MEMORY, and a struct with a field in
// memory is in memory as a whole, however small it is: it goes to the stack and takes no registers.
static ffi_type *word_elements[] = {&ffi_type_uint64, NULL};
static ffi_type large_type = {40, 8, FFI_TYPE_STRUCT, word_elements};
static ffi_type *block_elements[] = {&large_type, NULL};

// Results in two registers.
static ffi_type *integer_integer_elements[] = {&ffi_type_uint64, &ffi_type_uint64, NULL};
static ffi_type *integer_vector_elements[] = {&ffi_type_uint64, &ffi_type_double, NULL};
static ffi_type *vector_integer_elements[] = {&ffi_type_double, &ffi_type_uint64, NULL};
static ffi_type *vector_vector_elements[] = {&ffi_type_double, &ffi_type_double, NULL};
static ffi_type pair_types[2][2] = {
    {{16, 8, FFI_TYPE_STRUCT, integer_integer_elements}, {16, 8, FFI_TYPE_STRUCT, integer_vector_elements}},
    {{16, 8, FFI_TYPE_STRUCT, vector_integer_elements}, {16, 8, FFI_TYPE_STRUCT, vector_vector_elements}},
};

static ffi_type *eightbyte_type(fwd_sysv_class class) {
  // A lone float travels as the low half of a double: the callee does not look at the rest.
  return class == FWD_SYSV_SSE ? &ffi_type_double : &ffi_type_uint64;
}

// MARK: Arguments

typedef struct register_use {
  unsigned integers;
  unsigned vectors;
} register_use;

// One piece for each eightbyte that is not padding. libffi counts registers as we do, so that it puts the
// pieces into the registers meant, or the only one of an argument for which none is left on the stack.
static void add_eightbytes(fwd_cif *cif, uint32_t argument, const fwd_type *type, fwd_sysv_classes classes) {
  for (uint32_t i = 0; i < 2; i++) {
    if (classes.eightbyte[i] == FWD_SYSV_NO_CLASS) continue;
    size_t rest = type->layout.size - i * 8;
    fwd_piece piece = {.argument = argument, .offset = i * 8, .size = rest < 8 ? (uint32_t)rest : 8};
    // clang's callees rely on small integers being extended to 32 bits, though the psABI does not say so.
    if (rest >= 8) {
      piece.source = FWD_PIECE_IN_PLACE;
    } else {
      piece.source = fwd_type_is_signed(type->kind) ? FWD_PIECE_SIGN_EXTENDED : FWD_PIECE_ZERO_EXTENDED;
    }
    fwd_cif_add_piece(cif, eightbyte_type(classes.eightbyte[i]), piece);
  }
}

static void lower_argument(fwd_cif *cif, uint32_t argument, const fwd_encoding *encoding, uint32_t index,
                           register_use *used) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if (type->layout.size == 0) return;
  fwd_sysv_classes classes = fwd_sysv_classify(encoding, index);
  unsigned integers = fwd_sysv_classes_count(classes, FWD_SYSV_INTEGER);
  unsigned vectors = fwd_sysv_classes_count(classes, FWD_SYSV_SSE);
  bool in_registers = fwd_sysv_classes_fit_registers(classes) &&
                      used->integers + integers <= FWD_SYSV_INTEGER_REGISTERS &&
                      used->vectors + vectors <= FWD_SYSV_VECTOR_REGISTERS;
  if (in_registers) {
    used->integers += integers;
    used->vectors += vectors;
  }
  // One eightbyte lies on the stack as it lies in a register, if it is not there while registers are left: packed.
  // Anything larger must not be split between the two, and what is left of the registers stays free for later
  // arguments.
  if (in_registers || (type->layout.size <= 8 && classes.eightbyte[0] != FWD_SYSV_MEMORY)) {
    add_eightbytes(cif, argument, type, classes);
    return;
  }
  size_t alignment = type->layout.alignment < 8 ? 8 : type->layout.alignment;
  fwd_piece piece = {
      .block = {type->layout.size, (unsigned short)alignment, FFI_TYPE_STRUCT, block_elements},
      .source = FWD_PIECE_IN_PLACE,
      .argument = argument,
      .size = (uint32_t)type->layout.size,
  };
  fwd_cif_add_piece(cif, NULL, piece);
}

// MARK: The result

static void lower_result(fwd_cif *cif, const fwd_encoding *encoding, uint32_t index, register_use *used) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  cif->result_size = type->layout.size;
  cif->result_is_signed = fwd_type_is_signed(type->kind);
  cif->result_type = &ffi_type_void;
  if (cif->result_size == 0) return;
  fwd_sysv_classes classes = fwd_sysv_classify(encoding, index);
  fwd_sysv_class first = classes.eightbyte[0], second = classes.eightbyte[1];
  cif->result_place = FWD_RESULT_REGISTERS;
  switch (first) {
    case FWD_SYSV_MEMORY:
      cif->result_place = FWD_RESULT_MEMORY;
      cif->result_type = &ffi_type_pointer;
      used->integers++;
      fwd_cif_add_piece(cif, &ffi_type_pointer, (fwd_piece){.source = FWD_PIECE_RESULT_ADDRESS, .size = 8});
      break;
    case FWD_SYSV_X87:
      // Of a struct or union too, as libffi would not.
      cif->result_type = &ffi_type_longdouble;
      break;
    case FWD_SYSV_COMPLEX_X87:
      cif->result_type = &ffi_type_complex_longdouble;
      break;
    default:
      if (second == FWD_SYSV_NO_CLASS) {
        cif->result_type = eightbyte_type(first);
        if (first == FWD_SYSV_INTEGER && cif->result_size < 8) cif->result_place = FWD_RESULT_WORD;
      } else {
        cif->result_type = &pair_types[first == FWD_SYSV_SSE][second == FWD_SYSV_SSE];
      }
  }
}

// Above 16 bytes a struct is in memory whatever it holds; of size 0, nothing is passed.
static fwd_status check_empty_arrays(const fwd_encoding *encoding, uint32_t index, fwd_error *error) {
  size_t size = fwd_encoding_type(encoding, index)->layout.size;
  uint32_t found = size > 0 && size <= 16 ? fwd_find_empty_array(encoding, index) : FWD_NO_TYPE;
  return found == FWD_NO_TYPE ? FWD_OK : fwd_cif_refuse_empty_array(encoding, found, error);
}

static fwd_status check_agreed(const fwd_encoding *encoding, uint32_t index, fwd_error *error) {
  const char *reason = NULL;
  uint32_t found = fwd_sysv_find_contested(encoding, index, &reason);
  if (found == FWD_NO_TYPE) return check_empty_arrays(encoding, index, error);
  return fwd_cif_refuse(encoding, FWD_UNSUPPORTED, fwd_encoding_type(encoding, found)->text_offset, reason, error);
}

fwd_status fwd_lower(fwd_cif *cif, const fwd_encoding *encoding, fwd_error *error) {
  register_use used = {0, 0};
  uint32_t index = fwd_encoding_type(encoding, 0)->first_child;
  fwd_status status = check_agreed(encoding, index, error);
  lower_result(cif, encoding, index, &used);
  for (uint32_t argument = 0; argument < cif->argument_count && status == FWD_OK; argument++) {
    index = fwd_encoding_type(encoding, index)->next_sibling;
    status = check_agreed(encoding, index, error);
    lower_argument(cif, argument, encoding, index, &used);
  }
  return status;
}

#endif
