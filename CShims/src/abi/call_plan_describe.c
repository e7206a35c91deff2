// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tells what a call plan does.

#include "fwd_plan.h"

#include "abi/call_plan.h"
#include "call/signature.h"

// MARK: Registers

#if defined(__x86_64__)
// The psABI, section 3.2.3: the orders in which registers are assigned.
static const char *const integer_names[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
static const char *const integer_result_names[] = {"rax", "rdx"};
static const char *const vector_names[] = {"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"};
#else
static const char *const integer_names[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"};
static const char *const integer_result_names[] = {"x0", "x1"};
static const char *const vector_names[] = {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"};
#endif
static const char *const x87_names[] = {"st0", "st1"};

#define NAME_OF(names, index) ((index) < sizeof(names) / sizeof *(names) ? (names)[index] : "?")

const char *fwd_plan_register_name(fwd_place_kind kind, uint32_t index, bool is_result) {
  switch (kind) {
    case FWD_PLACE_INTEGER_REGISTER:
      return is_result ? NAME_OF(integer_result_names, index) : NAME_OF(integer_names, index);
    case FWD_PLACE_VECTOR_REGISTER: return NAME_OF(vector_names, index);
    case FWD_PLACE_X87_REGISTER: return NAME_OF(x87_names, index);
    default: return "?";
  }
}

// MARK: Moves

static const fwd_call_plan *plan_of(const fwd_signature *signature) {
#if FWD_HAS_CALL_PLANS
  return fwd_cif_plan(fwd_signature_cif(signature));
#else
  (void)signature;
  return NULL;
#endif
}

bool fwd_plan_exists(const fwd_signature *signature) { return plan_of(signature) != NULL; }

size_t fwd_plan_stack_size(const fwd_signature *signature) {
  const fwd_call_plan *plan = plan_of(signature);
  return plan ? plan->stack_size : 0;
}

typedef struct move_list {
  fwd_plan_move *moves;
  size_t capacity;
  size_t count;
} move_list;

static void add(move_list *list, fwd_plan_move move) {
  if (list->count < list->capacity) list->moves[list->count] = move;
  list->count++;
}

static void add_registers(move_list *list, const fwd_move *moves, size_t count, fwd_place_kind kind) {
  for (size_t i = 0; i < count; i++) {
    // Of size 0: the address of the result or of a copy, or a register that is skipped.
    if (moves[i].size == 0) continue;
    add(list, (fwd_plan_move){
                  .argument = moves[i].argument,
                  .offset = moves[i].offset,
                  .size = moves[i].size,
                  .kind = kind,
                  .index = (uint32_t)i,
              });
  }
}

static void add_result_address(move_list *list) {
#if defined(__aarch64__)
  // x8, which is no register of the arguments.
  uint32_t index = 8;
#else
  uint32_t index = 0;
#endif
  add(list, (fwd_plan_move){
                .argument = FWD_PLAN_RESULT_ADDRESS,
                .size = sizeof(void *),
                .kind = FWD_PLACE_INTEGER_REGISTER,
                .index = index,
            });
}

static void add_references(move_list *list, const fwd_call_plan *plan) {
#if defined(__aarch64__)
  for (uint32_t i = 0; i < plan->reference_count; i++) {
    const fwd_reference *reference = &plan->references[i];
    bool on_stack = reference->target >= FWD_PLAN_INTEGERS;
    add(list, (fwd_plan_move){
                  .argument = reference->argument,
                  .size = reference->size,
                  .kind = on_stack ? FWD_PLACE_STACK : FWD_PLACE_INTEGER_REGISTER,
                  .index = on_stack ? (uint32_t)(reference->target - FWD_PLAN_INTEGERS) * 8 : reference->target,
                  .is_address = true,
              });
  }
#else
  (void)list, (void)plan;
#endif
}

size_t fwd_plan_moves(const fwd_signature *signature, fwd_plan_move *moves, size_t capacity) {
  const fwd_call_plan *plan = plan_of(signature);
  if (!plan) return 0;
  move_list list = {.moves = moves, .capacity = moves ? capacity : 0};
  if (plan->result == FWD_PLAN_MEMORY) add_result_address(&list);
  add_registers(&list, plan->integers, plan->integer_count, FWD_PLACE_INTEGER_REGISTER);
  add_registers(&list, plan->vectors, plan->vector_count, FWD_PLACE_VECTOR_REGISTER);
  add_references(&list, plan);
  for (uint32_t i = 0; i < plan->stack_move_count; i++) {
    add(&list, (fwd_plan_move){
                   .argument = plan->stack[i].argument,
                   .size = plan->stack[i].size,
                   .kind = FWD_PLACE_STACK,
                   .index = plan->stack[i].place,
               });
  }
  return list.count;
}

// MARK: The result

/// Adds the next `size` bytes of a result of `total`.
static void add_result(move_list *list, uint32_t offset, uint32_t size, uint32_t total, fwd_place_kind kind,
                       uint32_t index) {
  uint32_t rest = total - offset;
  add(list, (fwd_plan_move){.offset = offset, .size = size < rest ? size : rest, .kind = kind, .index = index});
}

size_t fwd_plan_result_places(const fwd_signature *signature, fwd_plan_move *places) {
  const fwd_call_plan *plan = plan_of(signature);
  if (!plan) return 0;
  move_list list = {.moves = places, .capacity = FWD_PLAN_RESULT_PLACES};
  const fwd_place_kind integer = FWD_PLACE_INTEGER_REGISTER, vector = FWD_PLACE_VECTOR_REGISTER;
  // An x87 register holds 80 bits; a long double's other 6 bytes are padding.
  const uint32_t x87_bytes = 10;
  uint32_t total = plan->result_size;
  switch ((fwd_plan_result)plan->result) {
    case FWD_PLAN_VOID:
      break;
    case FWD_PLAN_INTEGER:
      add_result(&list, 0, 8, total, integer, 0);
      break;
    case FWD_PLAN_VECTOR:
      // 16 bytes only for a quad on AArch64.
      add_result(&list, 0, 16, total, vector, 0);
      break;
    case FWD_PLAN_INTEGER_INTEGER:
      add_result(&list, 0, 8, total, integer, 0);
      add_result(&list, 8, 8, total, integer, 1);
      break;
    case FWD_PLAN_INTEGER_VECTOR:
      add_result(&list, 0, 8, total, integer, 0);
      add_result(&list, 8, 8, total, vector, 0);
      break;
    case FWD_PLAN_VECTOR_INTEGER:
      add_result(&list, 0, 8, total, vector, 0);
      add_result(&list, 8, 8, total, integer, 0);
      break;
    case FWD_PLAN_VECTOR_VECTOR:
      add_result(&list, 0, 8, total, vector, 0);
      add_result(&list, 8, 8, total, vector, 1);
      break;
    case FWD_PLAN_X87:
      add_result(&list, 0, x87_bytes, total, FWD_PLACE_X87_REGISTER, 0);
      break;
    case FWD_PLAN_COMPLEX_X87:
      add_result(&list, 0, x87_bytes, total, FWD_PLACE_X87_REGISTER, 0);
      add_result(&list, 16, x87_bytes, total, FWD_PLACE_X87_REGISTER, 1);
      break;
    case FWD_PLAN_MEMORY:
      add_result(&list, 0, total, total, FWD_PLACE_MEMORY, 0);
      break;
    case FWD_PLAN_HOMOGENEOUS: {
#if defined(__aarch64__)
      uint32_t size = plan->result_member_size;
      for (uint32_t i = 0; i * size < total && i < FWD_PLAN_RESULT_PLACES; i++) {
        add_result(&list, i * size, size, total, vector, i);
      }
#endif
      break;
    }
  }
  return list.count < FWD_PLAN_RESULT_PLACES ? list.count : FWD_PLAN_RESULT_PLACES;
}
