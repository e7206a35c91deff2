// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How functions of the commonest shapes are called on System V x86-64: up to four integer and two vector registers,
/// each from a whole argument of 4 or 8 bytes. For each combination there are functions of their own, which decide
/// nothing during the call and, where the result allows, leave for the function by a jump. plan_callers_sysv.c says
/// why such calls are sound.

#include "abi/plan_callers.h"

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
#define RARELY(condition) __builtin_expect_with_probability(condition, 0, 1.0)
#define REGISTER_COUNT (integer_count + vector_count)
#define LOAD_ADDRESS(register)                                               \
  if ((register) > 0 && (register) % 2 == 0) {                               \
    order >>= 16;                                                            \
    __asm__("" : "+r"(order));                                               \
  }                                                                          \
  const void *bytes = arguments[(uint8_t)(order >> 8 * ((register) % 2))];   \
  if (looks && RARELY(!bytes)) FAIL;
#define LOAD_INTEGER(i)                                    \
  if ((i) >= hidden_count && integer_count > (i)) {        \
    LOAD_ADDRESS(i)                                        \
    integer_##i = load(bytes, (wide_integers >> (i)) & 1); \
  }
#define LOAD_VECTOR(i)                             \
  if (vector_count > (i)) {                        \
    LOAD_ADDRESS(integer_count + (i))              \
    memcpy(&vector_##i, bytes, sizeof vector_##i); \
  }
#define LOAD                                                                                          \
  uint64_t order = head->order, integer_0 = 0, integer_1 = 0, integer_2 = 0, integer_3 = 0;           \
  D vector_0 = 0;                                                                                     \
  E vector_1 = 0;                                                                                     \
  if (looks && REGISTER_COUNT > hidden_count && RARELY(!arguments)) FAIL;                             \
  LOAD_INTEGER(0) LOAD_INTEGER(1) LOAD_INTEGER(2) LOAD_INTEGER(3) LOAD_VECTOR(0) LOAD_VECTOR(1)       \
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

static fwd_call_returned refuse(bool *is_refused) {
  *is_refused = true;
  return (fwd_call_returned){0, 0};
}

// What is to be done behind the call is done by `fwd_call`, so that the function is reached by a jump. One that gives
// nothing leaves in the registers what it likes, and nobody looks. To refuse is to call another function: with a
// `return` for each, compilers would make no jump of either.
//
// Each begins a cache line: where one lies otherwise, a call may have to wait for two, and costs up to a third more.
#define FAIL goto refused
#define JUMP_NAMED(name, n, wide_i, m, wide_v, hidden)                                                    \
  FWD_CALLS_ANY_TYPE __attribute__((aligned(64))) static fwd_call_returned                                \
      name##_##n##_##wide_i##_##m##_##wide_v(const fwd_call_head *call_head, void (*function)(void),      \
                                             void *const *arguments, bool *is_refused, void *result) {    \
    const fwd_jump_head *head = (const fwd_jump_head *)call_head;                                         \
    BEGIN(n, wide_i, m, wide_v, 1, hidden)                                                                \
    if (hidden_count > 0) {                                                                               \
      if (RARELY(!result)) FAIL;                                                                          \
      integer_0 = (uint64_t)(uintptr_t)result;                                                            \
    }                                                                                                     \
  enter:                                                                                                  \
    return CALL_BY_COUNT(fwd_call_returned, (n) > 0 ? (n) : 1, m);                                        \
  refused:                                                                                                \
    integer_0 = (uint64_t)(uintptr_t)is_refused;                                                          \
    function = (void (*)(void))refuse;                                                                    \
    goto enter;                                                                                           \
  }
#define JUMP(n, wide_i, m, wide_v) JUMP_NAMED(jump, n, wide_i, m, wide_v, 0)
SHAPES(JUMP)

// For results in memory, whose address is in the first register.
#define JUMP_FILLING(n, wide_i, m, wide_v) JUMP_NAMED(jump_filling, n, wide_i, m, wide_v, 1)
SHAPES_WITH_MEMORY(JUMP_FILLING)
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
#define JUMP_FILLING_ENTRY(n, wide_i, m, wide_v) jump_filling_##n##_##wide_i##_##m##_##wide_v,
#define ALL_JUMPS {SHAPES(JUMP_ENTRY) SHAPES_WITH_MEMORY(JUMP_FILLING_ENTRY)}
static const fwd_call_jump jumps[] = ALL_JUMPS;
/// NULL while they are disabled: that spares a call the look at a switch.
static fwd_call_jump enabled_jumps[] = ALL_JUMPS;

void fwd_call_jumps_enable(bool enabled) {
  for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
    // Relaxed: either way of calling is right.
    __atomic_store_n(&enabled_jumps[i], enabled ? jumps[i] : NULL, __ATOMIC_RELAXED);
  }
}

void fwd_call_plan_store(const fwd_call_plan *plan, fwd_call_returned returned, void *result) {
  fwd_store_mixed(plan, returned, result);
}

/// For who does not inline `fwd_call`, of plans whose result is not in memory. False if the jump is refused.
static inline bool call_by_jump(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                void *result) {
  bool is_refused = false;
  fwd_call_returned returned = plan->jump(&plan->head.head, function, arguments, &is_refused, result);
  if (is_refused) return false;
  if (result && plan->result != FWD_PLAN_VOID) fwd_store_mixed(plan, returned, result);
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
  return shape_count + (before + mask / 2) * 7 + index % 7;
}

static fwd_call_result result_of(const fwd_call_plan *plan) {
  uint32_t size = plan->result_size;
  switch (plan->result) {
    case FWD_PLAN_VOID:
    case FWD_PLAN_MEMORY: return FWD_CALL_NOTHING;
    case FWD_PLAN_INTEGER:
      return size == 8   ? FWD_CALL_INTEGER_8
             : size == 4 ? FWD_CALL_INTEGER_4
             : size == 1 ? FWD_CALL_INTEGER_1
                         : FWD_CALL_OTHER;
    case FWD_PLAN_VECTOR: return size == 8 ? FWD_CALL_DOUBLE : FWD_CALL_OTHER;
    case FWD_PLAN_INTEGER_VECTOR: return size == 16 ? FWD_CALL_INTEGER_VECTOR : FWD_CALL_OTHER;
    case FWD_PLAN_VECTOR_INTEGER: return size == 16 ? FWD_CALL_VECTOR_INTEGER : FWD_CALL_OTHER;
    default: return FWD_CALL_OTHER;
  }
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
  size_t jump = is_filled ? filling_index(plan, index) : index;
  plan->head.plan = plan;
  plan->head.head = (fwd_call_head){.jump = &enabled_jumps[jump], .result = result_of(plan)};
  plan->jump = jumps[jump];
}

bool fwd_call_plan_select_shape(fwd_call_plan *plan) {
  if (plan->head.head.jump == &fwd_no_call_jump) return false;
  size_t index = (size_t)(plan->head.head.jump - enabled_jumps);
  plan->caller.call = call_checked;
  plan->call = plan->result == FWD_PLAN_VOID                  ? unchecked[index].giving_nothing
               : plan->head.head.result == FWD_CALL_INTEGER_8 ? unchecked[index].giving_word
                                                              : call_without_status;
  return true;
}

_Static_assert(FWD_ARGUMENT_LIMIT <= UINT8_MAX + 1, "an argument's number fits a byte of `order`");

#endif
