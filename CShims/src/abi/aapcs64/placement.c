// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Placements by the AAPCS64, "Parameter passing rules" (stages A to C; comments give the rules' numbers) and "Result
/// return", as on Linux.

#include "abi/placement.h"

#if FWD_PLACES_AAPCS64

#include "abi/aapcs64/classify.h"
#include "abi/refusal.h"

/// Fails for types that compilers pass each in their own way; and for small structs with empty arrays, which x86-64
/// refuses, so that a signature is good everywhere.
static fwd_status check_agreed(const fwd_encoding *encoding, uint32_t index, bool is_argument, fwd_error *error) {
  size_t size = fwd_encoding_type(encoding, index)->layout.size;
  const char *reason = NULL;
  uint32_t found = size > 0 && size <= 16 ? fwd_find_empty_array(encoding, index) : FWD_NO_TYPE;
  if (found == FWD_NO_TYPE) found = fwd_aapcs64_find_contested(encoding, index, is_argument, &reason);
  if (found == FWD_NO_TYPE) return FWD_OK;
  if (!reason) return fwd_refuse_empty_array(encoding, found, error);
  return fwd_refuse(encoding, FWD_UNSUPPORTED, fwd_encoding_type(encoding, found)->text_offset, reason, error);
}

// MARK: Arguments

// The callee extends small integers, so that extended ones do no harm; but a bool must have 8 bits.
static void place_integers(fwd_placer *placer, fwd_part part, unsigned registers) {
  uint32_t size = part.size;
  for (unsigned i = 0; i < registers; i++) {
    part.offset = (uint8_t)(i * 8);
    part.size = size - i * 8 < 8 ? size - i * 8 : 8;
    fwd_placer_add_register(placer, FWD_IN_INTEGER_REGISTER, part);
  }
}

// C.2: each member of a homogeneous aggregate has a register of its own.
static void place_vectors(fwd_placer *placer, fwd_part part, unsigned registers) {
  for (unsigned i = 0; i < registers; i++) {
    part.offset = (uint8_t)(i * part.member_size);
    part.size = part.member_size;
    fwd_placer_add_register(placer, FWD_IN_VECTOR_REGISTER, part);
  }
}

// C.4 and C.14: words of the stack are aligned to 8, or as the type is.
static void place_on_stack(fwd_placer *placer, fwd_part part, uint32_t size, size_t alignment) {
  part.carrier = FWD_ON_STACK;
  part.index = fwd_placer_take_stack(placer, size, alignment);
  placer->parts[placer->placement.part_count++] = part;
}

// B.4: the address of a copy takes the place of the composite. Each copy is aligned to 16; no type needs more.
static void place_address(fwd_placer *placer, fwd_part part) {
  part.is_address = true;
  placer->placement.copy_size += fwd_copy_size(part.size);
  if (placer->next_integer < FWD_INTEGER_REGISTERS) {
    fwd_placer_add_register(placer, FWD_IN_INTEGER_REGISTER, part);
  } else {
    place_on_stack(placer, part, 8, 8);
  }
}

static void place_argument(fwd_placer *placer, uint32_t argument, const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  fwd_aapcs64_passing passing = fwd_aapcs64_classify(encoding, index);
  size_t alignment = fwd_aapcs64_alignment(type);
  fwd_part part = {
      .argument = (uint16_t)argument,
      .size = (uint32_t)type->layout.size,
      .member_size = passing.member_size,
      .is_signed = fwd_type_is_signed(type->kind),
  };
  switch (passing.class) {
    case FWD_AAPCS64_NO_CLASS: break;
    case FWD_AAPCS64_MEMORY: place_address(placer, part); break;
    case FWD_AAPCS64_VECTOR:
      if (placer->next_vector + passing.registers <= FWD_VECTOR_REGISTERS) {
        place_vectors(placer, part, passing.registers);
      } else {
        // C.3: nothing later goes to a register that is left.
        placer->next_vector = FWD_VECTOR_REGISTERS;
        place_on_stack(placer, part, part.size, alignment);
      }
      break;
    case FWD_AAPCS64_INTEGER:
      // C.8 (C.10 since 2020): an alignment of 16 starts at an even register.
      if (alignment > 8) placer->next_integer = (placer->next_integer + 1) & ~1u;
      if (placer->next_integer + passing.registers <= FWD_INTEGER_REGISTERS) {
        place_integers(placer, part, passing.registers);
      } else {
        // C.11 (C.13): never split between the two, and again nothing later goes to a register that is left.
        placer->next_integer = FWD_INTEGER_REGISTERS;
        place_on_stack(placer, part, part.size, alignment);
      }
      break;
  }
}

// MARK: The result

// It comes back as a first argument of its type would be passed. But x8, with the address of a result in memory, is no
// register of the arguments.
static void place_result(fwd_placement *placement, const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  fwd_aapcs64_passing passing = fwd_aapcs64_classify(encoding, index);
  placement->result_size = (uint32_t)type->layout.size;
  placement->result_is_signed = fwd_type_is_signed(type->kind);
  placement->result_member_size = passing.member_size;
  bool is_single = passing.registers == 1;
  switch (passing.class) {
    case FWD_AAPCS64_NO_CLASS: placement->result = FWD_RESULT_VOID; break;
    case FWD_AAPCS64_INTEGER:
      placement->result = is_single ? FWD_RESULT_INTEGER : FWD_RESULT_INTEGER_INTEGER;
      break;
    case FWD_AAPCS64_VECTOR: placement->result = is_single ? FWD_RESULT_VECTOR : FWD_RESULT_HOMOGENEOUS; break;
    case FWD_AAPCS64_MEMORY: placement->result = FWD_RESULT_MEMORY; break;
  }
}

fwd_status fwd_placement_create(const fwd_encoding *encoding, fwd_placement **placement, fwd_error *error) {
  fwd_part parts[FWD_AAPCS64_MEMBERS * FWD_ARGUMENT_LIMIT];
  const fwd_type *root = fwd_encoding_type(encoding, 0);
  fwd_placer placer = {.placement = {.argument_count = root->child_count - 1}, .parts = parts};
  uint32_t index = root->first_child;
  fwd_status status = check_agreed(encoding, index, false, error);
  if (status == FWD_OK) place_result(&placer.placement, encoding, index);
  for (uint32_t argument = 0; argument < placer.placement.argument_count && status == FWD_OK; argument++) {
    index = fwd_encoding_type(encoding, index)->next_sibling;
    status = check_agreed(encoding, index, true, error);
    if (status == FWD_OK) place_argument(&placer, argument, encoding, index);
  }
  return status == FWD_OK ? fwd_placer_finish(&placer, placement, error) : status;
}

#endif
