// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Compiles call plans by the System V x86-64 psABI, section 3.2.3.

#include "abi/call_plan.h"

#if FWD_HAS_CALL_PLANS && defined(__x86_64__)

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "abi/lowering.h"
#include "abi/sysv/sysv_classify.h"

static fwd_plan_result result_place(fwd_sysv_classes classes) {
  fwd_sysv_class first = classes.eightbyte[0], second = classes.eightbyte[1];
  switch (first) {
    case FWD_SYSV_MEMORY: return FWD_PLAN_MEMORY;
    case FWD_SYSV_X87: return FWD_PLAN_X87;
    case FWD_SYSV_COMPLEX_X87: return FWD_PLAN_COMPLEX_X87;
    case FWD_SYSV_INTEGER:
      if (second == FWD_SYSV_INTEGER) return FWD_PLAN_INTEGER_INTEGER;
      return second == FWD_SYSV_SSE ? FWD_PLAN_INTEGER_VECTOR : FWD_PLAN_INTEGER;
    case FWD_SYSV_SSE:
      if (second == FWD_SYSV_INTEGER) return FWD_PLAN_VECTOR_INTEGER;
      return second == FWD_SYSV_SSE ? FWD_PLAN_VECTOR_VECTOR : FWD_PLAN_VECTOR;
    default: return FWD_PLAN_VOID;
  }
}

static void add_eightbyte(fwd_call_plan *plan, size_t argument, const fwd_type *type, size_t index,
                          fwd_sysv_class class) {
  size_t rest = type->layout.size - index * 8;
  size_t size = rest < 8 ? rest : 8;
  fwd_move move = {
      .argument = (uint16_t)argument,
      .offset = (uint16_t)(index * 8),
      .size = (uint8_t)size,
      .is_signed = fwd_type_is_signed(type->kind),
      .high = size == 8 ? 4 : 0,
  };
  if (class == FWD_SYSV_INTEGER) plan->integers[plan->integer_count++] = move;
  if (class == FWD_SYSV_SSE) plan->vectors[plan->vector_count++] = move;
}

static void add_argument(fwd_call_plan *plan, fwd_stack_move *stack, size_t argument, const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if (type->layout.size == 0) return;
  fwd_sysv_classes classes = fwd_sysv_classify(encoding, index);
  unsigned integers = fwd_sysv_classes_count(classes, FWD_SYSV_INTEGER);
  unsigned vectors = fwd_sysv_classes_count(classes, FWD_SYSV_SSE);
  if (fwd_sysv_classes_fit_registers(classes) && plan->integer_count + integers <= FWD_PLAN_INTEGERS &&
      plan->vector_count + vectors <= FWD_PLAN_VECTORS) {
    add_eightbyte(plan, argument, type, 0, classes.eightbyte[0]);
    add_eightbyte(plan, argument, type, 1, classes.eightbyte[1]);
    return;
  }
  // On the stack as a whole, in whole words, aligned to 16 if the type is.
  uint32_t place = type->layout.alignment > 8 ? (plan->stack_size + 15) & ~15u : plan->stack_size;
  stack[plan->stack_move_count++] = (fwd_stack_move){
      .argument = (uint16_t)argument,
      .is_signed = fwd_type_is_signed(type->kind),
      .size = (uint32_t)type->layout.size,
      .place = place,
  };
  plan->stack_size = place + (((uint32_t)type->layout.size + 7) & ~7u);
}

/// Breaks the stack into words that are loaded one by one. False if there are too many, or one that is not of 4
/// or 8 bytes.
static bool split_stack(const fwd_call_plan *plan, const fwd_stack_move *stack, fwd_move *words) {
  if (plan->stack_size == 0 || plan->stack_size > 8 * FWD_PLAN_WORDS) return false;
  size_t count = 0;
  for (size_t i = 0; i < plan->stack_move_count; i++) {
    // Padding in front of what is aligned to 16 may be anything.
    while (count < stack[i].place / 8) words[count++] = words[0];
    for (uint32_t offset = 0; offset < stack[i].size; offset += 8) {
      uint32_t size = stack[i].size - offset < 8 ? stack[i].size - offset : 8;
      if (size != 4 && size != 8) return false;
      words[count++] = (fwd_move){
          .argument = stack[i].argument,
          .offset = (uint16_t)offset,
          .size = (uint8_t)size,
          .high = size == 8 ? 4 : 0,
      };
    }
  }
  // What a caller passes beyond the last nobody looks at.
  while (count < FWD_PLAN_WORDS) words[count++] = words[0];
  return true;
}

/// Whether a value in registers takes one for its first eightbyte only, as one that is aligned by an attribute
/// may (`struct { _Alignas(16) int a; }`). A closure must copy it to where it is aligned and has all its bytes.
static bool is_half_padding(const fwd_encoding *encoding, uint32_t index) {
  fwd_sysv_classes classes = fwd_sysv_classify(encoding, index);
  return fwd_encoding_type(encoding, index)->layout.size > 8 && fwd_sysv_classes_fit_registers(classes) &&
         classes.eightbyte[1] == FWD_SYSV_NO_CLASS;
}

fwd_status fwd_call_plan_create(const fwd_encoding *encoding, fwd_call_plan **plan, fwd_error *error) {
  const fwd_type *root = fwd_encoding_type(encoding, 0);
  size_t count = root->child_count - 1;
  fwd_call_plan made = {.head = {.head = {.jump = &fwd_no_call_jump}}};
  fwd_stack_move stack[FWD_ARGUMENT_LIMIT];
  uint32_t type = root->first_child;
  const fwd_type *result = fwd_encoding_type(encoding, type);
  made.result_size = (uint32_t)result->layout.size;
  made.result = result->layout.size == 0 ? FWD_PLAN_VOID : (uint8_t)result_place(fwd_sysv_classify(encoding, type));
  if (is_half_padding(encoding, type)) {
    *plan = NULL;
    return FWD_OK;
  }
  // The hidden first argument: its register is loaded by the caller.
  if (made.result == FWD_PLAN_MEMORY) made.integer_count = 1;
  for (size_t i = 0; i < count; i++) {
    type = fwd_encoding_type(encoding, type)->next_sibling;
    if (is_half_padding(encoding, type)) {
      // Left to libffi, whose closures copy what is scattered.
      *plan = NULL;
      return FWD_OK;
    }
    add_argument(&made, stack, i, encoding, type);
  }

  fwd_move words[FWD_PLAN_WORDS];
  bool has_words = split_stack(&made, stack, words);
  size_t stack_bytes = made.stack_move_count * sizeof *stack;
  fwd_call_plan *kept = malloc(sizeof made + stack_bytes + (has_words ? sizeof words : 0));
  if (!kept) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a call plan");
  *kept = made;
  memcpy(kept->stack, stack, stack_bytes);
  if (has_words) {
    fwd_move *kept_words = (fwd_move *)(void *)((char *)kept->stack + stack_bytes);
    memcpy(kept_words, words, sizeof words);
    kept->words = kept_words;
  }
  fwd_call_plan_select(kept);
  *plan = kept;
  return FWD_OK;
}

void fwd_call_plan_destroy(fwd_call_plan *plan) { free(plan); }

#endif
