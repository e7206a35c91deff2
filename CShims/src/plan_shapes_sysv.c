// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How functions of the commonest shapes are called on System V x86-64: up to four integer and two vector registers,
/// each from a whole argument of 4 or 8 bytes. For each combination there are functions of their own, which decide
/// nothing during the call and, where the result allows, leave for the function by a jump. plan_callers_sysv.c says
/// why such calls are sound.

#include "plan_callers.h"

#if FWD_HAS_CALL_PLANS && defined(__x86_64__)

#include <string.h>

/// Loads an argument of 4 or 8 bytes.
static inline uint64_t load(const void *bytes, bool is_wide) {
  if (is_wide) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
  }
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

// MARK: Loading

// Everything but the pointers is constant where this is inlined. Bit i of `wide_integers` says that register i
// takes 8 bytes. `order` gives the arguments, a byte for each register; two are read before it is shifted, since
// x86-64 has names for the two low bytes of a register. Left to themselves, compilers shift anew for each.
// Each address is tested by itself: compilers make one test of tests that stand together, and that costs more.
#define REGISTER_COUNT (integer_count + vector_count)
#define LOAD_ADDRESS(register)                                               \
  if ((register) > 0 && (register) % 2 == 0) {                               \
    order >>= 16;                                                            \
    __asm__("" : "+r"(order));                                               \
  }                                                                          \
  const void *bytes = arguments[(uint8_t)(order >> 8 * ((register) % 2))];   \
  if (looks && !bytes) FAIL;
#define LOAD_INTEGER(i)                                    \
  uint64_t integer_##i = 0;                                \
  if ((i) >= hidden_count && integer_count > (i)) {        \
    LOAD_ADDRESS(i)                                        \
    integer_##i = load(bytes, (wide_integers >> (i)) & 1); \
  }
#define LOAD_VECTOR(i, type)                       \
  type vector_##i = 0;                             \
  if (vector_count > (i)) {                        \
    LOAD_ADDRESS(integer_count + (i))              \
    memcpy(&vector_##i, bytes, sizeof vector_##i); \
  }
#define LOAD                                                                                          \
  uint64_t order = head->order;                                                                       \
  if (looks && REGISTER_COUNT > hidden_count && !arguments) FAIL;                                     \
  LOAD_INTEGER(0) LOAD_INTEGER(1) LOAD_INTEGER(2) LOAD_INTEGER(3) LOAD_VECTOR(0, D) LOAD_VECTOR(1, E) \
  (void)integer_0, (void)integer_1, (void)integer_2, (void)integer_3, (void)vector_0, (void)vector_1; \
  (void)order, (void)arguments;

// The types of two vector registers, by the mask of those that take 8 bytes.
#define FIRST_0 float
#define FIRST_1 double
#define FIRST_2 float
#define FIRST_3 double
#define SECOND_0 float
#define SECOND_1 float
#define SECOND_2 double
#define SECOND_3 double

// MARK: Calling

#define I(i) integer_##i
#define V(i) vector_##i
#define U uint64_t
#define CALL(returned, types, values) (((returned(*) types)function)values)
#define CALL_BY_COUNT(returned, integers, vectors)                             \
  ((integers) == 0   ? (vectors) == 0   ? CALL(returned, (void), ())           \
                       : (vectors) == 1 ? CALL(returned, (D), (V(0)))          \
                                        : CALL(returned, (D, E), (V(0), V(1))) \
   : (integers) == 1 ? (vectors) == 0   ? CALL(returned, (U), (I(0)))          \
                       : (vectors) == 1 ? CALL(returned, (U, D), (I(0), V(0))) \
                                        : CALL(returned, (U, D, E), (I(0), V(0), V(1))) \
   : (integers) == 2 ? (vectors) == 0   ? CALL(returned, (U, U), (I(0), I(1))) \
                       : (vectors) == 1 ? CALL(returned, (U, U, D), (I(0), I(1), V(0))) \
                                        : CALL(returned, (U, U, D, E), (I(0), I(1), V(0), V(1))) \
   : (integers) == 3 ? (vectors) == 0   ? CALL(returned, (U, U, U), (I(0), I(1), I(2))) \
                       : (vectors) == 1 ? CALL(returned, (U, U, U, D), (I(0), I(1), I(2), V(0))) \
                                        : CALL(returned, (U, U, U, D, E), (I(0), I(1), I(2), V(0), V(1))) \
   : (vectors) == 0  ? CALL(returned, (U, U, U, U), (I(0), I(1), I(2), I(3)))  \
   : (vectors) == 1  ? CALL(returned, (U, U, U, U, D), (I(0), I(1), I(2), I(3), V(0))) \
                     : CALL(returned, (U, U, U, U, D, E), (I(0), I(1), I(2), I(3), V(0), V(1))))

// MARK: The shapes

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
// With an address in the first register.
#define SHAPES_WITH_MEMORY(X)                                                                            \
  VECTORS(X, 1, 1) VECTORS(X, 2, 1) VECTORS(X, 2, 3) VECTORS(X, 3, 1) VECTORS(X, 3, 3) VECTORS(X, 3, 5)   \
  VECTORS(X, 3, 7) VECTORS(X, 4, 1) VECTORS(X, 4, 3) VECTORS(X, 4, 5) VECTORS(X, 4, 7) VECTORS(X, 4, 9)   \
  VECTORS(X, 4, 11) VECTORS(X, 4, 13) VECTORS(X, 4, 15)
#define SHAPES(X) INTEGERS_0(X) INTEGERS_1(X) INTEGERS_2(X) INTEGERS_3(X) INTEGERS_4(X)

// MARK: The callers

#define BEGIN(n, wide_i, m, wide_v, looking, hidden)                                                    \
  enum { integer_count = n, vector_count = m, wide_integers = wide_i, looks = looking, hidden_count = hidden }; \
  typedef FIRST_##wide_v D;                                                                             \
  typedef SECOND_##wide_v E;                                                                            \
  LOAD
// Each begins a cache line: where one lies otherwise, a call may have to wait for two, and costs up to a third more.
#define JUMP_NAMED(name, n, wide_i, m, wide_v)                                                                \
  FWD_CALLS_ANY_TYPE __attribute__((aligned(64))) static uint64_t name##_##n##_##wide_i##_##m##_##wide_v(     \
      const fwd_call_head *call_head, void (*function)(void), void *const *arguments, bool *is_refused,       \
      void *result)
#define JUMP_HEAD const fwd_jump_head *head = (const fwd_jump_head *)call_head;
#define FAIL            \
  {                     \
    *is_refused = true; \
    return 0;           \
  }

// What is to be done behind the call is done by `fwd_call`, so that the function is reached by a jump. One that gives
// nothing leaves in the register what it likes, and nobody looks.
#define JUMP(n, wide_i, m, wide_v)           \
  JUMP_NAMED(jump, n, wide_i, m, wide_v) {   \
    JUMP_HEAD                                \
    BEGIN(n, wide_i, m, wide_v, 1, 0)        \
    (void)is_refused, (void)result;          \
    return CALL_BY_COUNT(uint64_t, n, m);    \
  }
SHAPES(JUMP)

// For results in memory, whose address is in the first register.
#define JUMP_FILLING(n, wide_i, m, wide_v)           \
  JUMP_NAMED(jump_filling, n, wide_i, m, wide_v) {   \
    if (!result) FAIL;                               \
    JUMP_HEAD                                        \
    BEGIN(n, wide_i, m, wide_v, 1, 1)                \
    integer_0 = (uint64_t)(uintptr_t)result;         \
    return CALL_BY_COUNT(uint64_t, n, m);            \
  }
SHAPES_WITH_MEMORY(JUMP_FILLING)

// For results in other registers: of C functions only one that gives a single number can be left by a jump.
#define JUMP_STORING(n, wide_i, m, wide_v)                                 \
  JUMP_NAMED(jump_storing, n, wide_i, m, wide_v) {                         \
    JUMP_HEAD                                                              \
    BEGIN(n, wide_i, m, wide_v, 1, 0)                                      \
    (void)is_refused;                                                      \
    fwd_returned_mixed returned = CALL_BY_COUNT(fwd_returned_mixed, n, m); \
    if (result) fwd_store_mixed(head->plan, returned, result);             \
    return 0;                                                              \
  }
SHAPES(JUMP_STORING)
#undef FAIL

// For who knows the arguments: without looking, and so without a status.
#define FAIL return
#define UNCHECKED(name, n, wide_i, m, wide_v)                          \
  FWD_CALLS_ANY_TYPE static void name##_##n##_##wide_i##_##m##_##wide_v( \
      const fwd_call_plan *plan, void (*function)(void), void *const *arguments, void *result)
#define UNCHECKED_JUMP(n, wide_i, m, wide_v)           \
  UNCHECKED(unchecked_jump, n, wide_i, m, wide_v) {    \
    const fwd_jump_head *head = &plan->head;           \
    BEGIN(n, wide_i, m, wide_v, 0, 0)                  \
    (void)result;                                      \
    CALL_BY_COUNT(void, n, m);                         \
  }
SHAPES(UNCHECKED_JUMP)

// The commonest result.
#define UNCHECKED_WORD(n, wide_i, m, wide_v)            \
  UNCHECKED(unchecked_word, n, wide_i, m, wide_v) {     \
    const fwd_jump_head *head = &plan->head;            \
    BEGIN(n, wide_i, m, wide_v, 0, 0)                   \
    uint64_t returned = CALL_BY_COUNT(uint64_t, n, m);  \
    if (result) memcpy(result, &returned, 8);           \
  }
SHAPES(UNCHECKED_WORD)
#undef FAIL

#define UNCHECKED_ENTRY(n, wide_i, m, wide_v) \
  {unchecked_jump_##n##_##wide_i##_##m##_##wide_v, unchecked_word_##n##_##wide_i##_##m##_##wide_v},
static const struct {
  fwd_plan_caller giving_nothing;
  fwd_plan_caller giving_word;
} unchecked[] = {SHAPES(UNCHECKED_ENTRY)};

enum { shape_count = sizeof unchecked / sizeof unchecked[0] };

// MARK: The jumps where heads find them

#define JUMP_ENTRY(n, wide_i, m, wide_v) jump_##n##_##wide_i##_##m##_##wide_v,
#define JUMP_STORING_ENTRY(n, wide_i, m, wide_v) jump_storing_##n##_##wide_i##_##m##_##wide_v,
#define JUMP_FILLING_ENTRY(n, wide_i, m, wide_v) jump_filling_##n##_##wide_i##_##m##_##wide_v,
#define ALL_JUMPS {SHAPES(JUMP_ENTRY) SHAPES(JUMP_STORING_ENTRY) SHAPES_WITH_MEMORY(JUMP_FILLING_ENTRY)}
static const fwd_call_jump jumps[] = ALL_JUMPS;
/// NULL while they are disabled: that spares a call the look at a switch.
static fwd_call_jump enabled_jumps[] = ALL_JUMPS;

void fwd_call_jumps_enable(bool enabled) {
  for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
    // Relaxed: either way of calling is right.
    __atomic_store_n(&enabled_jumps[i], enabled ? jumps[i] : NULL, __ATOMIC_RELAXED);
  }
}

/// Stores the lowest bytes of a register: 0, 1, 2, 4 or 8.
static inline void store_word(uint64_t word, size_t size, void *result) {
  // Of a constant size each is one store. By comparisons of order: of others compilers make a jump table.
  if (size >= 8) {
    memcpy(result, &word, 8);
  } else if (size >= 4) {
    memcpy(result, &word, 4);
  } else if (size >= 2) {
    memcpy(result, &word, 2);
  } else if (size >= 1) {
    memcpy(result, &word, 1);
  }
}

/// For who does not inline `fwd_call`, of plans whose result is not in memory. False if the jump is refused.
static inline bool call_by_jump(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                void *result) {
  bool is_refused = false;
  uint64_t word = plan->jump(&plan->head.head, function, arguments, &is_refused, result);
  if (is_refused) return false;
  if (result) store_word(word, plan->head.head.result_size, result);
  return true;
}

static fwd_status call_checked(const fwd_caller *caller, void (*function)(void), void *const *arguments,
                               void *result) {
  const fwd_call_plan *plan = (const fwd_call_plan *)caller;
  return call_by_jump(plan, function, arguments, result) ? FWD_OK : fwd_call_plan_fail(plan, arguments);
}

/// Refused it cannot be: who calls without a status has all addresses.
static void call_without_status(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                void *result) {
  call_by_jump(plan, function, arguments, result);
}

// MARK: The choice

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

/// Finds the index of a plan's shape. False if it is of none.
static bool find_shape(const fwd_call_plan *plan, size_t *index) {
  if (plan->integer_count > 4 || plan->vector_count > 2) return false;
  size_t hidden_count = plan->result == FWD_PLAN_MEMORY;
  size_t wide_integers = wide_mask(plan->integers + hidden_count, plan->integer_count - hidden_count);
  size_t wide_vectors = wide_mask(plan->vectors, plan->vector_count);
  if (wide_integers == SIZE_MAX || wide_vectors == SIZE_MAX) return false;
  if (hidden_count > 0) wide_integers = wide_integers << 1 | 1;
  *index = shape_index(plan->integer_count, wide_integers, plan->vector_count, wide_vectors);
  return true;
}

/// Where the jump of a shape with a result in memory stands: only every second mask of integers has one.
static size_t filling_index(const fwd_call_plan *plan, size_t index) {
  size_t mask = index / 7 - (((size_t)1 << plan->integer_count) - 1);
  size_t before = ((size_t)1 << (plan->integer_count - 1)) - 1;
  return 2 * shape_count + (before + mask / 2) * 7 + index % 7;
}

/// Whether the result is an integer of a size that `fwd_call` stores.
static bool is_word(const fwd_call_plan *plan) {
  uint32_t size = plan->result_size;
  return plan->result == FWD_PLAN_INTEGER && (size == 1 || size == 2 || size == 4 || size == 8);
}

void fwd_call_plan_select_jump(fwd_call_plan *plan) {
  size_t index;
  if (!find_shape(plan, &index)) return;
  bool is_filled = plan->result == FWD_PLAN_MEMORY;
  for (size_t i = is_filled; i < plan->integer_count; i++) {
    plan->head.order |= (uint64_t)plan->integers[i].argument << 8 * i;
  }
  for (size_t i = 0; i < plan->vector_count; i++) {
    plan->head.order |= (uint64_t)plan->vectors[i].argument << 8 * (plan->integer_count + i);
  }
  if (is_word(plan)) plan->head.head.result_size = plan->result_size;
  bool is_stored = !is_filled && plan->result != FWD_PLAN_VOID && !is_word(plan);
  size_t jump = is_filled ? filling_index(plan, index) : is_stored ? shape_count + index : index;
  plan->head.plan = plan;
  plan->head.head.jump = &enabled_jumps[jump];
  plan->jump = jumps[jump];
}

bool fwd_call_plan_select_shape(fwd_call_plan *plan) {
  size_t index;
  if (!find_shape(plan, &index)) return false;
  plan->caller.call = call_checked;
  plan->call = plan->result == FWD_PLAN_VOID             ? unchecked[index].giving_nothing
               : plan->head.head.result_size == 8        ? unchecked[index].giving_word
                                                         : call_without_status;
  return true;
}

_Static_assert(FWD_ARGUMENT_LIMIT <= UINT8_MAX + 1, "an argument's number fits a byte of `order`");

#endif
