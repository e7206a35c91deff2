// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Helpers for functions that carry call plans out.

#ifndef FWD_SRC_CALLERS_H
#define FWD_SRC_CALLERS_H

#include <string.h>

#include "abi/plan.h"
#include "base/word.h"

// clang's -fsanitize=function reports calls through a pointer of another type than the function's own. Callers make
// nothing but such calls.
#if defined(__clang__)
#define FWD_CALLS_ANY_TYPE __attribute__((no_sanitize("function")))
#else
#define FWD_CALLS_ANY_TYPE
#endif

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
  // Two halves without a branch. The upper half of the register is undefined for a 4-byte argument, so it may repeat
  // the lower. Nothing after the argument is read.
  uint32_t low, high;
  memcpy(&low, bytes, sizeof low);
  memcpy(&high, bytes + move->high, sizeof high);
  return (uint64_t)high << 32 | low;
}

static inline uint64_t fwd_load_word(const fwd_move *move, void *const *arguments) {
  return fwd_load_halves(move, (const char *)arguments[move->argument] + move->offset);
}

/// Loads a move of 4 or 8 bytes for a vector register. A float is the low half of a double: the function does not read
/// the rest.
static inline double fwd_load_vector(const fwd_move *move, void *const *arguments) {
  uint64_t word = fwd_load_word(move, arguments);
  double value;
  memcpy(&value, &word, sizeof value);
  return value;
}

/// Loads a move of up to 8 bytes. Small integers are extended.
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
      memcpy(stack + move->offset, &word, sizeof word);
    } else {
      memcpy(stack + move->offset, arguments[move->argument], move->size);
    }
  }
}

#endif
