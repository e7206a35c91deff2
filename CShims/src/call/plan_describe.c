// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Describes placements, for `fwd inspect --plan`.

#include "fwd_plan.h"

#include "abi/placement.h"
#include "base/small_code.h"
#include "call/signature.h"

// MARK: Registers

#if FWD_IS_SYSV
// The psABI, section 3.2.3: the orders in which registers are assigned.
static const char *const integer_names[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
static const char *const integer_result_names[] = {"rax", "rdx"};
static const char *const vector_names[] = {"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"};
#else
// x8 holds the address of a result in memory.
static const char *const integer_names[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"};
static const char *const integer_result_names[] = {"x0", "x1"};
static const char *const vector_names[] = {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"};
#endif
static const char *const x87_names[] = {"st0", "st1"};

#define NAME_OF(names, index) ((index) < sizeof(names) / sizeof *(names) ? (names)[index] : "?")

FWD_SMALL_CODE_BEGIN

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

/// Returns the placement if there is a plan that carries it out.
static const fwd_placement *planned(const fwd_signature *signature) {
  const fwd_cif *cif = fwd_signature_cif(signature);
  return fwd_cif_plan(cif) ? fwd_cif_placement(cif) : NULL;
}

bool fwd_plan_exists(const fwd_signature *signature) { return planned(signature) != NULL; }

size_t fwd_plan_stack_size(const fwd_signature *signature) {
  const fwd_placement *placement = planned(signature);
  return placement ? placement->stack_size : 0;
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

static void add_result_address(move_list *list) {
  add(list, (fwd_plan_move){
                .argument = FWD_PLAN_RESULT_ADDRESS,
                .size = sizeof(void *),
                .kind = FWD_PLACE_INTEGER_REGISTER,
                // rdi; or x8, which is no register of the arguments.
                .index = FWD_IS_SYSV ? 0 : 8,
            });
}

static void add_part(move_list *list, const fwd_part *part) {
  static const fwd_place_kind kinds[] = {
      [FWD_IN_INTEGER_REGISTER] = FWD_PLACE_INTEGER_REGISTER,
      [FWD_IN_VECTOR_REGISTER] = FWD_PLACE_VECTOR_REGISTER,
      [FWD_ON_STACK] = FWD_PLACE_STACK,
  };
  add(list, (fwd_plan_move){
                .argument = part->argument,
                .offset = part->offset,
                .size = part->size,
                .kind = kinds[part->carrier],
                .index = part->index,
                .is_address = part->is_address,
            });
}

size_t fwd_plan_moves(const fwd_signature *signature, fwd_plan_move *moves, size_t capacity) {
  const fwd_placement *placement = planned(signature);
  if (!placement) return 0;
  move_list list = {.moves = moves, .capacity = moves ? capacity : 0};
  if (placement->result == FWD_RESULT_MEMORY) add_result_address(&list);
  for (uint32_t i = 0; i < placement->part_count; i++) add_part(&list, &placement->parts[i]);
  return list.count;
}

// MARK: The result

/// Adds up to `size` bytes of a result of `total` bytes.
static void add_result(move_list *list, uint32_t offset, uint32_t size, uint32_t total, fwd_place_kind kind,
                       uint32_t index) {
  uint32_t rest = total - offset;
  add(list, (fwd_plan_move){.offset = offset, .size = size < rest ? size : rest, .kind = kind, .index = index});
}

size_t fwd_plan_result_places(const fwd_signature *signature, fwd_plan_move *places) {
  const fwd_placement *placement = planned(signature);
  if (!placement) return 0;
  move_list list = {.moves = places, .capacity = FWD_PLAN_RESULT_PLACES};
  const fwd_place_kind integer = FWD_PLACE_INTEGER_REGISTER, vector = FWD_PLACE_VECTOR_REGISTER;
  // An x87 register holds 80 bits; a long double's other 6 bytes are padding.
  const uint32_t x87_bytes = 10;
  uint32_t total = placement->result_size;
  switch ((fwd_result_kind)placement->result) {
    case FWD_RESULT_VOID:
      break;
    case FWD_RESULT_INTEGER:
      add_result(&list, 0, 8, total, integer, 0);
      break;
    case FWD_RESULT_VECTOR:
      // Only a quad, on AArch64, has 16.
      add_result(&list, 0, 16, total, vector, 0);
      break;
    case FWD_RESULT_INTEGER_INTEGER:
      add_result(&list, 0, 8, total, integer, 0);
      add_result(&list, 8, 8, total, integer, 1);
      break;
    case FWD_RESULT_INTEGER_VECTOR:
      add_result(&list, 0, 8, total, integer, 0);
      add_result(&list, 8, 8, total, vector, 0);
      break;
    case FWD_RESULT_VECTOR_INTEGER:
      add_result(&list, 0, 8, total, vector, 0);
      add_result(&list, 8, 8, total, integer, 0);
      break;
    case FWD_RESULT_VECTOR_VECTOR:
      add_result(&list, 0, 8, total, vector, 0);
      add_result(&list, 8, 8, total, vector, 1);
      break;
    case FWD_RESULT_X87:
      add_result(&list, 0, x87_bytes, total, FWD_PLACE_X87_REGISTER, 0);
      break;
    case FWD_RESULT_COMPLEX_X87:
      add_result(&list, 0, x87_bytes, total, FWD_PLACE_X87_REGISTER, 0);
      add_result(&list, 16, x87_bytes, total, FWD_PLACE_X87_REGISTER, 1);
      break;
    case FWD_RESULT_MEMORY:
      add_result(&list, 0, total, total, FWD_PLACE_MEMORY, 0);
      break;
    case FWD_RESULT_HOMOGENEOUS: {
      uint32_t size = placement->result_member_size;
      for (uint32_t i = 0; i * size < total && i < FWD_PLAN_RESULT_PLACES; i++) {
        add_result(&list, i * size, size, total, vector, i);
      }
      break;
    }
  }
  return list.count < FWD_PLAN_RESULT_PLACES ? list.count : FWD_PLAN_RESULT_PLACES;
}

FWD_SMALL_CODE_END
