// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the files of callers share.

#ifndef FWD_SRC_PLAN_CALLERS_H
#define FWD_SRC_PLAN_CALLERS_H

#include <string.h>

#include "call_plan.h"
#include "lowering.h"

// clang's -fsanitize=function reports calls through another type, which is what callers are for.
#if defined(__clang__)
#define FWD_CALLS_ANY_TYPE __attribute__((no_sanitize("function")))
#else
#define FWD_CALLS_ANY_TYPE
#endif

#if FWD_HAS_CALL_PLANS

// MARK: Lists of registers

#define FWD_LIST_1(item) item(0)
#define FWD_LIST_2(item) FWD_LIST_1(item), item(1)
#define FWD_LIST_3(item) FWD_LIST_2(item), item(2)
#define FWD_LIST_4(item) FWD_LIST_3(item), item(3)
#define FWD_LIST_5(item) FWD_LIST_4(item), item(4)
#define FWD_LIST_6(item) FWD_LIST_5(item), item(5)
#define FWD_LIST_7(item) FWD_LIST_6(item), item(6)
#define FWD_LIST_8(item) FWD_LIST_7(item), item(7)

// MARK: Loading

static inline uint64_t fwd_load_word(const fwd_move *move, void *const *arguments) {
  // Two halves without a branch. Of a 4-byte argument the upper half of the register is undefined, so it may
  // as well be the lower once more; nothing behind the argument is read.
  const char *bytes = (const char *)arguments[move->argument] + move->offset;
  uint32_t low, high;
  memcpy(&low, bytes, sizeof low);
  memcpy(&high, bytes + move->high, sizeof high);
  return (uint64_t)high << 32 | low;
}

/// The same for a vector register. A float is the low half of a double: the callee does not look at the rest.
static inline double fwd_load_vector(const fwd_move *move, void *const *arguments) {
  uint64_t word = fwd_load_word(move, arguments);
  double value;
  memcpy(&value, &word, sizeof value);
  return value;
}

/// Loads a move of up to 8 bytes, small integers extended.
static inline uint64_t fwd_load_any(const fwd_move *move, void *const *arguments) {
  if (move->size == 4 || move->size == 8) return fwd_load_word(move, arguments);
  return fwd_extend((const char *)arguments[move->argument] + move->offset, move->size, move->is_signed);
}

/// Fills the stack words.
static inline void fwd_load_stack(const fwd_call_plan *plan, void *const *arguments, unsigned char *stack) {
  for (uint32_t i = 0; i < plan->stack_move_count; i++) {
    const fwd_stack_move *move = &plan->stack[i];
    if (move->size < 8) {
      uint64_t word = fwd_extend(arguments[move->argument], move->size, move->is_signed);
      memcpy(stack + move->place, &word, sizeof word);
    } else {
      memcpy(stack + move->place, arguments[move->argument], move->size);
    }
  }
}

#endif

#if FWD_HAS_CALL_PLANS && defined(__x86_64__)

/// What comes back in rax and xmm0. A struct of an integer and a floating eightbyte does so whichever is
/// first, and so do a lone one, and nothing.
typedef struct fwd_returned_mixed {
  uint64_t integer;
  double vector;
} fwd_returned_mixed;

static inline void fwd_store_mixed(const fwd_call_plan *plan, fwd_returned_mixed returned, void *result) {
  // The usual ones apart, since a copy of constant size is one store, and a comparison costs less than a
  // jump through a table.
  if (plan->result == FWD_PLAN_INTEGER && plan->result_size == 8) {
    memcpy(result, &returned.integer, 8);
    return;
  }
  if (plan->result == FWD_PLAN_INTEGER && plan->result_size == 4) {
    memcpy(result, &returned.integer, 4);
    return;
  }
  if (plan->result == FWD_PLAN_VECTOR && plan->result_size == 8) {
    memcpy(result, &returned.vector, 8);
    return;
  }
  switch (plan->result) {
    case FWD_PLAN_INTEGER:
      memcpy(result, &returned.integer, plan->result_size);
      break;
    case FWD_PLAN_VECTOR:
      memcpy(result, &returned.vector, plan->result_size);
      break;
    case FWD_PLAN_INTEGER_VECTOR:
      memcpy(result, &returned.integer, 8);
      memcpy((char *)result + 8, &returned.vector, plan->result_size - 8);
      break;
    case FWD_PLAN_VECTOR_INTEGER:
      memcpy(result, &returned.vector, 8);
      memcpy((char *)result + 8, &returned.integer, plan->result_size - 8);
      break;
    default:
      break;
  }
}

/// The caller for a plan of a common shape that comes back in rax and xmm0, NULL if there is none.
fwd_plan_caller fwd_plan_shape_caller(const fwd_call_plan *plan);

#endif

#endif
