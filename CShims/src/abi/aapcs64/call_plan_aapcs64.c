// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Compiles call plans by the AAPCS64, "Parameter passing rules" (stages A to C, whose rules the comments
/// name) and "Result return", as Linux has it.
///
/// Apple's arm64 is not compiled for here. It would differ in three ways: `long double` is a double; the
/// caller extends integers to 32 bits; and arguments on the stack are aligned as their types are, not to 8
/// bytes, so that two ints share a word.

#include "abi/call_plan.h"

#if FWD_HAS_CALL_PLANS && defined(__aarch64__)

#include <stdlib.h>

#include "abi/aapcs64/aapcs64_classify.h"
#include "base/error.h"
#include "abi/lowering.h"

_Static_assert(__LDBL_MANT_DIG__ == 113 && sizeof(long double) == 16, "long double is a quad");

typedef struct plan_maker {
  fwd_call_plan *plan;
  fwd_reference *references;
  /// The next register of each kind: NGRN and NSRN. The plan's counts are those of registers in use.
  unsigned next_integer;
  unsigned next_vector;
} plan_maker;

// MARK: Registers

static void add_integers(plan_maker *maker, size_t argument, const fwd_type *type, unsigned registers) {
  fwd_call_plan *plan = maker->plan;
  for (unsigned i = 0; i < registers; i++) {
    size_t rest = type->layout.size - i * 8;
    plan->integers[maker->next_integer++] = (fwd_move){
        .argument = (uint16_t)argument,
        .offset = (uint16_t)(i * 8),
        .size = rest < 8 ? (uint8_t)rest : 8,
        // The callee extends small integers; extended ones do no harm. But a bool is to have 8 bits.
        .is_signed = fwd_type_is_signed(type->kind),
        .high = rest < 8 ? 0 : 4,
    };
  }
  plan->integer_count = (uint8_t)maker->next_integer;
}

// C.2: each member of a homogeneous aggregate has a register of its own.
static void add_vectors(plan_maker *maker, size_t argument, fwd_aapcs64_passing passing) {
  fwd_call_plan *plan = maker->plan;
  for (unsigned i = 0; i < passing.registers; i++) {
    plan->vectors[maker->next_vector++] = (fwd_move){
        .argument = (uint16_t)argument,
        .offset = (uint16_t)(i * passing.member_size),
        .size = passing.member_size,
        .high = passing.member_size == 4 ? 0 : 4,
    };
  }
  plan->vector_count = (uint8_t)maker->next_vector;
}

// MARK: The stack

/// Takes the next words of the stack for `size` bytes. C.4 and C.14: they are aligned to 8, or as the type is.
static uint32_t take_stack(fwd_call_plan *plan, size_t size, size_t alignment) {
  uint32_t place = alignment > 8 ? (plan->stack_size + 15) & ~15u : plan->stack_size;
  plan->stack_size = place + (((uint32_t)size + 7) & ~7u);
  return place;
}

static void add_stack(fwd_call_plan *plan, size_t argument, const fwd_type *type) {
  plan->stack[plan->stack_move_count++] = (fwd_stack_move){
      .argument = (uint16_t)argument,
      .is_signed = fwd_type_is_signed(type->kind),
      .size = (uint32_t)type->layout.size,
      .place = take_stack(plan, type->layout.size, fwd_aapcs64_alignment(type)),
  };
}

// MARK: Arguments

// B.4: the address takes the place of the composite. Each copy is aligned to 16, as no type needs more.
static void add_reference(plan_maker *maker, size_t argument, const fwd_type *type) {
  fwd_call_plan *plan = maker->plan;
  fwd_reference *reference = &maker->references[plan->reference_count++];
  *reference = (fwd_reference){
      .argument = (uint16_t)argument,
      .size = (uint32_t)type->layout.size,
      .place = plan->copy_size,
  };
  plan->copy_size += (reference->size + 15) & ~15u;
  if (maker->next_integer < FWD_PLAN_INTEGERS) {
    // The move that stands for this register stays one of 0 bytes.
    reference->target = (uint16_t)maker->next_integer++;
    plan->integer_count = (uint8_t)maker->next_integer;
  } else {
    reference->target = (uint16_t)(FWD_PLAN_INTEGERS + take_stack(plan, 8, 8) / 8);
  }
}

static void add_argument(plan_maker *maker, size_t argument, const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  fwd_aapcs64_passing passing = fwd_aapcs64_classify(encoding, index);
  switch (passing.class) {
    case FWD_AAPCS64_NO_CLASS:
      break;
    case FWD_AAPCS64_MEMORY:
      add_reference(maker, argument, type);
      break;
    case FWD_AAPCS64_VECTOR:
      if (maker->next_vector + passing.registers <= FWD_PLAN_VECTORS) {
        add_vectors(maker, argument, passing);
      } else {
        // C.3: nothing later goes to a register that is left.
        maker->next_vector = FWD_PLAN_VECTORS;
        add_stack(maker->plan, argument, type);
      }
      break;
    case FWD_AAPCS64_INTEGER:
      // C.8 (C.10 since 2020): an alignment of 16 starts at an even register.
      if (fwd_aapcs64_alignment(type) > 8) maker->next_integer = (maker->next_integer + 1) & ~1u;
      if (maker->next_integer + passing.registers <= FWD_PLAN_INTEGERS) {
        add_integers(maker, argument, type, passing.registers);
      } else {
        // C.11 (C.13): never split between the two, and again nothing goes to what is left.
        maker->next_integer = FWD_PLAN_INTEGERS;
        add_stack(maker->plan, argument, type);
      }
      break;
  }
}

// MARK: The result

// It comes back as a first argument of its type would be passed; but x8, with the address of one in memory, is
// a register besides those of the arguments.
static void set_result(fwd_call_plan *plan, const fwd_encoding *encoding, uint32_t index) {
  fwd_aapcs64_passing passing = fwd_aapcs64_classify(encoding, index);
  plan->result_size = (uint32_t)fwd_encoding_type(encoding, index)->layout.size;
  plan->result_member_size = passing.member_size;
  switch (passing.class) {
    case FWD_AAPCS64_NO_CLASS:
      plan->result = FWD_PLAN_VOID;
      break;
    case FWD_AAPCS64_INTEGER:
      plan->result = passing.registers == 1 ? FWD_PLAN_INTEGER : FWD_PLAN_INTEGER_INTEGER;
      break;
    case FWD_AAPCS64_VECTOR:
      plan->result = passing.registers == 1 ? FWD_PLAN_VECTOR : FWD_PLAN_HOMOGENEOUS;
      break;
    case FWD_AAPCS64_MEMORY:
      plan->result = FWD_PLAN_MEMORY;
      break;
  }
}

// MARK: Plans

fwd_status fwd_call_plan_create(const fwd_encoding *encoding, fwd_call_plan **plan, fwd_error *error) {
  const fwd_type *root = fwd_encoding_type(encoding, 0);
  size_t count = root->child_count - 1;
  _Static_assert(sizeof(fwd_stack_move) % _Alignof(fwd_reference) == 0, "references stand behind stack moves");
  // An argument takes at most one of either.
  fwd_call_plan *made = calloc(1, sizeof *made + count * (sizeof made->stack[0] + sizeof(fwd_reference)));
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a call plan");
  plan_maker maker = {.plan = made, .references = (fwd_reference *)(void *)(made->stack + count)};
  made->references = maker.references;
  uint32_t type = root->first_child;
  const char *reason;
  bool is_contested = fwd_aapcs64_find_contested(encoding, type, false, &reason) != FWD_NO_TYPE;
  set_result(made, encoding, type);
  for (size_t i = 0; i < count; i++) {
    type = fwd_encoding_type(encoding, type)->next_sibling;
    is_contested = is_contested || fwd_aapcs64_find_contested(encoding, type, true, &reason) != FWD_NO_TYPE;
    add_argument(&maker, i, encoding, type);
  }
  if (is_contested) {
    // The signature is refused elsewhere, or should be.
    fwd_call_plan_destroy(made);
    made = NULL;
  } else {
    fwd_call_plan_select(made);
  }
  *plan = made;
  return FWD_OK;
}

void fwd_call_plan_destroy(fwd_call_plan *plan) { free(plan); }

#endif
