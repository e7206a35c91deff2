// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the files of callers share.

#ifndef FWD_SRC_PLAN_CALLERS_H
#define FWD_SRC_PLAN_CALLERS_H

#include <string.h>

#include "abi/call_plan.h"
#include "abi/lowering.h"

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

/// Loads a move of 4 or 8 bytes.
static inline uint64_t fwd_load_halves(const fwd_move *move, const char *bytes) {
  // Two halves without a branch. Of a 4-byte argument the upper half of the register is undefined, so it may
  // as well be the lower once more; nothing behind the argument is read.
  uint32_t low, high;
  memcpy(&low, bytes, sizeof low);
  memcpy(&high, bytes + move->high, sizeof high);
  return (uint64_t)high << 32 | low;
}

static inline uint64_t fwd_load_word(const fwd_move *move, void *const *arguments) {
  return fwd_load_halves(move, (const char *)arguments[move->argument] + move->offset);
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
typedef fwd_call_returned fwd_returned_mixed;

/// Stores a result of none of the usual sizes: a struct of up to 15 bytes.
__attribute__((noinline)) static void fwd_store_odd(uint64_t first, uint64_t second, uint32_t size, void *result) {
  uint64_t eightbytes[2] = {first, second};
  memcpy(result, eightbytes, size);
}

static inline void fwd_store_mixed(const fwd_call_plan *plan, fwd_returned_mixed returned, void *result) {
  uint64_t integer = returned.integer, vector;
  memcpy(&vector, &returned.vector, sizeof vector);
  // Selected, not branched to, and few branches are taken behind: each costs about as much as loading an argument.
  bool is_vector_first = (plan->result == FWD_PLAN_VECTOR) | (plan->result == FWD_PLAN_VECTOR_INTEGER);
  uint64_t first = is_vector_first ? vector : integer, second = is_vector_first ? integer : vector;
  uint32_t size = plan->result_size;
  if (size == 8) {
    memcpy(result, &first, 8);
  } else if (size == 16) {
    memcpy(result, &first, 8);
    memcpy((char *)result + 8, &second, 8);
  } else if (size == 4) {
    memcpy(result, &first, 4);
  } else if (size == 1) {
    memcpy(result, &first, 1);
  } else {
    fwd_store_odd(first, second, size, result);
  }
}

/// Chooses the jump of a plan of a common shape, whose result comes back in rax and xmm0 or in memory.
void fwd_call_plan_select_jump(fwd_call_plan *plan);

/// Chooses `call` and the caller of a plan that has been given a jump, and whose result is not in memory. False if it
/// has none.
bool fwd_call_plan_select_shape(fwd_call_plan *plan);

#endif

#endif
