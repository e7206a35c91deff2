// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Placements by the System V x86-64 psABI, section 3.2.3.

#include "abi/placement.h"

#if FWD_PLACES_SYSV

#include "abi/refusal.h"
#include "abi/sysv/classify.h"

/// Fails for types that compilers pass each in their own way.
static fwd_status check_agreed(const fwd_encoding *encoding, uint32_t index, fwd_sysv_classes classes,
                               fwd_error *error) {
  const char *reason = NULL;
  if (fwd_sysv_is_scalar(fwd_encoding_type(encoding, index))) return FWD_OK;
  uint32_t found = fwd_sysv_find_contested(encoding, index, classes, &reason);
  if (found != FWD_NO_TYPE) {
    return fwd_refuse(encoding, FWD_UNSUPPORTED, fwd_encoding_type(encoding, found)->text_offset, reason, error);
  }
  // Above 16 bytes a struct is in memory whatever it holds; of size 0, nothing is passed.
  size_t size = fwd_encoding_type(encoding, index)->layout.size;
  found = size > 0 && size <= 16 ? fwd_find_empty_array(encoding, index) : FWD_NO_TYPE;
  return found == FWD_NO_TYPE ? FWD_OK : fwd_refuse_empty_array(encoding, found, error);
}

/// Whether a value in registers has an eightbyte of padding, as `struct { _Alignas(16) int a; }` has.
static bool has_gap(const fwd_type *type, fwd_sysv_classes classes) {
  return type->layout.size > 8 && fwd_sysv_fits_registers(classes) && classes.eightbyte[1] == FWD_SYSV_NO_CLASS;
}

static void place_eightbyte(fwd_placer *placer, uint32_t argument, const fwd_type *type, unsigned index,
                            fwd_sysv_class class) {
  if (class == FWD_SYSV_NO_CLASS) return;
  size_t rest = type->layout.size - index * 8;
  fwd_part part = {
      .argument = (uint16_t)argument,
      .offset = (uint8_t)(index * 8),
      .size = rest < 8 ? (uint32_t)rest : 8,
      // The psABI does not say so, but clang's callees rely on small integers being extended to 32 bits.
      .is_signed = fwd_type_is_signed(type->kind),
  };
  fwd_placer_add_register(placer, class == FWD_SYSV_SSE ? FWD_IN_VECTOR_REGISTER : FWD_IN_INTEGER_REGISTER, part);
}

static fwd_status place_argument(fwd_placer *placer, uint32_t argument, const fwd_encoding *encoding, uint32_t index,
                                 fwd_error *error) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if (type->layout.size == 0) return FWD_OK;
  fwd_sysv_classes classes = fwd_sysv_classify(encoding, index);
  fwd_status status = check_agreed(encoding, index, classes, error);
  if (status != FWD_OK) return status;
  if (has_gap(type, classes)) placer->placement.has_gaps = true;
  bool fits = fwd_sysv_fits_registers(classes) &&
              placer->next_integer + fwd_sysv_count(classes, FWD_SYSV_INTEGER) <= FWD_INTEGER_REGISTERS &&
              placer->next_vector + fwd_sysv_count(classes, FWD_SYSV_SSE) <= FWD_VECTOR_REGISTERS;
  if (fits) {
    place_eightbyte(placer, argument, type, 0, classes.eightbyte[0]);
    place_eightbyte(placer, argument, type, 1, classes.eightbyte[1]);
    return FWD_OK;
  }
  // An argument is never split between registers and the stack. Registers that are left stay free for later arguments.
  placer->parts[placer->placement.part_count++] = (fwd_part){
      .argument = (uint16_t)argument,
      .carrier = FWD_ON_STACK,
      .index = fwd_placer_take_stack(placer, type->layout.size, type->layout.alignment),
      .size = (uint32_t)type->layout.size,
      .is_signed = fwd_type_is_signed(type->kind),
  };
  return FWD_OK;
}

static fwd_result_kind result_kind(fwd_sysv_classes classes) {
  fwd_sysv_class first = classes.eightbyte[0], second = classes.eightbyte[1];
  switch (first) {
    case FWD_SYSV_MEMORY: return FWD_RESULT_MEMORY;
    case FWD_SYSV_X87: return FWD_RESULT_X87;
    case FWD_SYSV_COMPLEX_X87: return FWD_RESULT_COMPLEX_X87;
    case FWD_SYSV_INTEGER:
      if (second == FWD_SYSV_INTEGER) return FWD_RESULT_INTEGER_INTEGER;
      return second == FWD_SYSV_SSE ? FWD_RESULT_INTEGER_VECTOR : FWD_RESULT_INTEGER;
    case FWD_SYSV_SSE:
      if (second == FWD_SYSV_INTEGER) return FWD_RESULT_VECTOR_INTEGER;
      return second == FWD_SYSV_SSE ? FWD_RESULT_VECTOR_VECTOR : FWD_RESULT_VECTOR;
    default: return FWD_RESULT_VOID;
  }
}

static fwd_status place_result(fwd_placer *placer, const fwd_encoding *encoding, uint32_t index, fwd_error *error) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if (type->layout.size == 0) return FWD_OK;
  fwd_sysv_classes classes = fwd_sysv_classify(encoding, index);
  fwd_placement *placement = &placer->placement;
  placement->result = (uint8_t)result_kind(classes);
  placement->result_size = (uint32_t)type->layout.size;
  placement->result_is_signed = fwd_type_is_signed(type->kind);
  placement->has_gaps = has_gap(type, classes);
  // The address of the memory is a hidden first argument.
  if (placement->result == FWD_RESULT_MEMORY) placement->integer_count = (uint8_t)++placer->next_integer;
  return check_agreed(encoding, index, classes, error);
}

fwd_status fwd_placement_create(const fwd_encoding *encoding, fwd_placement **placement, fwd_error *error) {
  // An argument has at most two eightbytes in registers, or one part on the stack.
  fwd_part parts[2 * FWD_ARGUMENT_LIMIT];
  const fwd_type *root = fwd_encoding_type(encoding, 0);
  fwd_placer placer = {.placement = {.argument_count = root->child_count - 1}, .parts = parts};
  uint32_t index = root->first_child;
  fwd_status status = place_result(&placer, encoding, index, error);
  for (uint32_t argument = 0; argument < placer.placement.argument_count && status == FWD_OK; argument++) {
    index = fwd_encoding_type(encoding, index)->next_sibling;
    status = place_argument(&placer, argument, encoding, index, error);
  }
  return status == FWD_OK ? fwd_placer_finish(&placer, placement, error) : status;
}

#endif
