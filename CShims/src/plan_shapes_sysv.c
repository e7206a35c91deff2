// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Callers for the commonest shapes of signatures on System V x86-64: up to four integer and two vector
/// registers, each from a whole argument of 4 or 8 bytes. One caller for each combination, so that an argument
/// costs three loads, and a void function is reached by a jump. plan_callers_sysv.c says why such calls are
/// sound.

#include "plan_callers.h"

#if FWD_HAS_CALL_PLANS && defined(__x86_64__)

#include <string.h>

/// Loads an argument of 4 or 8 bytes.
static inline uint64_t load(const fwd_move *move, bool is_wide, void *const *arguments) {
  const void *bytes = arguments[move->argument];
  if (is_wide) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
  }
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static inline double load_vector(const fwd_move *move, bool is_wide, void *const *arguments) {
  // A float is the low half of its register; the callee does not look at the rest.
  double value = 0;
  memcpy(&value, arguments[move->argument], is_wide ? sizeof(double) : sizeof(float));
  return value;
}

// Everything but the pointers is constant where this is inlined. Bit i of a mask says that register i takes 8
// bytes.
#define I(i) load(&plan->integers[i], (wide_integers >> (i)) & 1, arguments)
#define V(i) load_vector(&plan->vectors[i], (wide_vectors >> (i)) & 1, arguments)
#define U uint64_t
#define D double
#define CALL(returned, types, values) (((returned(*) types)function)values)
#define CALL_BY_COUNT(returned, integers, vectors)                             \
  ((integers) == 0   ? (vectors) == 0   ? CALL(returned, (void), ())           \
                       : (vectors) == 1 ? CALL(returned, (D), (V(0)))          \
                                        : CALL(returned, (D, D), (V(0), V(1))) \
   : (integers) == 1 ? (vectors) == 0   ? CALL(returned, (U), (I(0)))          \
                       : (vectors) == 1 ? CALL(returned, (U, D), (I(0), V(0))) \
                                        : CALL(returned, (U, D, D), (I(0), V(0), V(1))) \
   : (integers) == 2 ? (vectors) == 0   ? CALL(returned, (U, U), (I(0), I(1))) \
                       : (vectors) == 1 ? CALL(returned, (U, U, D), (I(0), I(1), V(0))) \
                                        : CALL(returned, (U, U, D, D), (I(0), I(1), V(0), V(1))) \
   : (integers) == 3 ? (vectors) == 0   ? CALL(returned, (U, U, U), (I(0), I(1), I(2))) \
                       : (vectors) == 1 ? CALL(returned, (U, U, U, D), (I(0), I(1), I(2), V(0))) \
                                        : CALL(returned, (U, U, U, D, D), (I(0), I(1), I(2), V(0), V(1))) \
   : (vectors) == 0  ? CALL(returned, (U, U, U, U), (I(0), I(1), I(2), I(3)))  \
   : (vectors) == 1  ? CALL(returned, (U, U, U, U, D), (I(0), I(1), I(2), I(3), V(0))) \
                     : CALL(returned, (U, U, U, U, D, D), (I(0), I(1), I(2), I(3), V(0), V(1))))

#define SHAPE(n, wide_i, m, wide_v)                                                                     \
  FWD_CALLS_ANY_TYPE static void void_##n##_##wide_i##_##m##_##wide_v(                                  \
      const fwd_call_plan *plan, void (*function)(void), void *const *arguments, void *result) {        \
    enum { wide_integers = wide_i, wide_vectors = wide_v };                                             \
    (void)result, (void)plan, (void)arguments;                                                          \
    CALL_BY_COUNT(void, n, m);                                                                          \
  }                                                                                                     \
  FWD_CALLS_ANY_TYPE static void word_##n##_##wide_i##_##m##_##wide_v(                                  \
      const fwd_call_plan *plan, void (*function)(void), void *const *arguments, void *result) {        \
    enum { wide_integers = wide_i, wide_vectors = wide_v };                                             \
    (void)plan, (void)arguments;                                                                        \
    uint64_t returned = CALL_BY_COUNT(uint64_t, n, m);                                                  \
    if (result) memcpy(result, &returned, sizeof returned);                                             \
  }                                                                                                     \
  FWD_CALLS_ANY_TYPE static void mixed_##n##_##wide_i##_##m##_##wide_v(                                 \
      const fwd_call_plan *plan, void (*function)(void), void *const *arguments, void *result) {        \
    enum { wide_integers = wide_i, wide_vectors = wide_v };                                             \
    (void)arguments;                                                                                    \
    fwd_returned_mixed returned = CALL_BY_COUNT(fwd_returned_mixed, n, m);                              \
    if (result) fwd_store_mixed(plan, returned, result);                                                \
  }
#define ENTRY(n, wide_i, m, wide_v)                                                                     \
  {void_##n##_##wide_i##_##m##_##wide_v, word_##n##_##wide_i##_##m##_##wide_v,                          \
   mixed_##n##_##wide_i##_##m##_##wide_v},

// All masks of m vectors, then of n integers. The order is that of `shape_index`.
#define VECTORS_0(X, n, wide_i) X(n, wide_i, 0, 0)
#define VECTORS_1(X, n, wide_i) X(n, wide_i, 1, 0) X(n, wide_i, 1, 1)
#define VECTORS_2(X, n, wide_i) X(n, wide_i, 2, 0) X(n, wide_i, 2, 1) X(n, wide_i, 2, 2) X(n, wide_i, 2, 3)
#define VECTORS(X, n, wide_i) VECTORS_0(X, n, wide_i) VECTORS_1(X, n, wide_i) VECTORS_2(X, n, wide_i)
#define INTEGERS_0(X) VECTORS(X, 0, 0)
#define INTEGERS_1(X) VECTORS(X, 1, 0) VECTORS(X, 1, 1)
#define INTEGERS_2(X) VECTORS(X, 2, 0) VECTORS(X, 2, 1) VECTORS(X, 2, 2) VECTORS(X, 2, 3)
#define INTEGERS_3(X)                                                                                   \
  VECTORS(X, 3, 0) VECTORS(X, 3, 1) VECTORS(X, 3, 2) VECTORS(X, 3, 3) VECTORS(X, 3, 4) VECTORS(X, 3, 5) \
  VECTORS(X, 3, 6) VECTORS(X, 3, 7)
#define INTEGERS_4(X)                                                                                   \
  VECTORS(X, 4, 0) VECTORS(X, 4, 1) VECTORS(X, 4, 2) VECTORS(X, 4, 3) VECTORS(X, 4, 4) VECTORS(X, 4, 5) \
  VECTORS(X, 4, 6) VECTORS(X, 4, 7) VECTORS(X, 4, 8) VECTORS(X, 4, 9) VECTORS(X, 4, 10)                 \
  VECTORS(X, 4, 11) VECTORS(X, 4, 12) VECTORS(X, 4, 13) VECTORS(X, 4, 14) VECTORS(X, 4, 15)
#define SHAPES(X) INTEGERS_0(X) INTEGERS_1(X) INTEGERS_2(X) INTEGERS_3(X) INTEGERS_4(X)

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpedantic"
#endif
SHAPES(SHAPE)

static const struct {
  fwd_plan_caller returning_void;
  fwd_plan_caller returning_word;
  fwd_plan_caller returning_mixed;
} shapes[] = {SHAPES(ENTRY)};

/// Numbers the strings of up to four, and up to two, bits: those of length k begin at 2^k - 1.
static size_t shape_index(size_t integers, size_t wide_integers, size_t vectors, size_t wide_vectors) {
  return (((size_t)1 << integers) - 1 + wide_integers) * 7 + ((size_t)1 << vectors) - 1 + wide_vectors;
}

/// Gives the mask of the moves of 8 bytes, or SIZE_MAX if one is not of a whole argument of 4 or 8 bytes.
static size_t wide_mask(const fwd_move *moves, size_t count) {
  size_t mask = 0;
  for (size_t i = 0; i < count; i++) {
    if (moves[i].offset != 0 || (moves[i].size != 4 && moves[i].size != 8)) return SIZE_MAX;
    if (moves[i].size == 8) mask |= (size_t)1 << i;
  }
  return mask;
}

fwd_plan_caller fwd_plan_shape_caller(const fwd_call_plan *plan) {
  if (plan->integer_count > 4 || plan->vector_count > 2) return NULL;
  size_t wide_integers = wide_mask(plan->integers, plan->integer_count);
  size_t wide_vectors = wide_mask(plan->vectors, plan->vector_count);
  if (wide_integers == SIZE_MAX || wide_vectors == SIZE_MAX) return NULL;
  size_t index = shape_index(plan->integer_count, wide_integers, plan->vector_count, wide_vectors);
  if (plan->result == FWD_PLAN_VOID) return shapes[index].returning_void;
  bool is_word = plan->result == FWD_PLAN_INTEGER && plan->result_size == 8;
  return is_word ? shapes[index].returning_word : shapes[index].returning_mixed;
}

#endif
