// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Callers for the commonest shapes of signatures on System V x86-64: up to four integer and two vector
/// registers, each from a whole argument of 4 or 8 bytes. One caller for each combination, so that nothing is
/// decided during the call. plan_callers_sysv.c says why such calls are sound.

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

// Has compilers compute a value where it stands, and once.
#define KEEP_INTEGER(value) __asm__ volatile("" : "+r"(value))
#define KEEP_VECTOR(value) __asm__ volatile("" : "+x"(value))

// Everything but the pointers is constant where this is inlined. Bit i of `wide_integers` says that register i
// takes 8 bytes. A byte of `order` gives an argument; two are read before it is shifted, since x86-64 has names for
// the two low bytes of a register, and compilers left to themselves shift anew for each.
// Values are loaded right behind the test of their address. Compilers make one test of tests that stand together,
// which costs more than a branch for each, and put off all loads, for which they then lack registers.
#define REGISTER_COUNT (integer_count + vector_count)
#define ARGUMENT(register)                     \
  arguments[(uint8_t)(order >> 8 * ((register) % 2))]
#define LOAD_ADDRESS(register)                 \
  if ((register) > 0 && (register) % 2 == 0) { \
    order >>= 16;                              \
    KEEP_INTEGER(order);                       \
  }                                            \
  const void *bytes = ARGUMENT(register);      \
  if (looks && !bytes) FAIL;
#define LOAD_INTEGER(i)                                    \
  uint64_t integer_##i = 0;                                \
  if (integer_count > (i)) {                               \
    LOAD_ADDRESS(i)                                        \
    integer_##i = load(bytes, (wide_integers >> (i)) & 1); \
    if (looks) KEEP_INTEGER(integer_##i);                  \
  }
#define LOAD_VECTOR(i, type)                         \
  type vector_##i = 0;                               \
  if (vector_count > (i)) {                          \
    LOAD_ADDRESS(integer_count + (i))                \
    memcpy(&vector_##i, bytes, sizeof vector_##i);   \
    if (looks) KEEP_VECTOR(vector_##i);              \
  }
#define LOAD                                                                                          \
  uint64_t order = head->order;                                                                       \
  if (looks && REGISTER_COUNT > 0 && !arguments) FAIL;                                                \
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
#define SHAPES(X) INTEGERS_0(X) INTEGERS_1(X) INTEGERS_2(X) INTEGERS_3(X) INTEGERS_4(X)

// MARK: The callers

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpedantic"
#endif

#define BEGIN(n, wide_i, m, wide_v)                                            \
  enum { integer_count = n, vector_count = m, wide_integers = wide_i };        \
  typedef FIRST_##wide_v D;                                                    \
  typedef SECOND_##wide_v E;
// Called for each call, each begins a cache line: where one lies otherwise, a call costs up to a third more.
#define SHAPED(returned, name, n, wide_i, m, wide_v) \
  FWD_CALLS_ANY_TYPE FWD_ALIGNED_CODE static returned name##_##n##_##wide_i##_##m##_##wide_v

// What `fwd_call` has to do behind the call it does itself, so that the function is reached by a jump. One that
// gives nothing leaves in the register what it likes, and nobody looks.
#define FAIL                \
  {                         \
    *is_missing = true;     \
    return 0;               \
  }
#define JUMP(n, wide_i, m, wide_v)                                                        \
  SHAPED(uint64_t, jump, n, wide_i, m, wide_v)                                            \
  (const fwd_call_head *head, void (*function)(void), void *const *arguments, bool *is_missing) { \
    enum { looks = 1 };                                                                   \
    BEGIN(n, wide_i, m, wide_v)                                                           \
    LOAD                                                                                  \
    (void)is_missing;                                                                     \
    return CALL_BY_COUNT(uint64_t, n, m);                                                 \
  }
SHAPES(JUMP)
#undef FAIL

// For results of other kinds, and for who does not inline `fwd_call`.
#define FAIL return fwd_call_plan_fail(plan, arguments)
#define CALLER(n, wide_i, m, wide_v)                                                             \
  SHAPED(fwd_status, call, n, wide_i, m, wide_v)                                                 \
  (const fwd_caller *caller, void (*function)(void), void *const *arguments, void *result) {     \
    enum { looks = 1 };                                                                          \
    const fwd_call_plan *plan = (const fwd_call_plan *)caller;                                   \
    const fwd_call_head *head = &plan->head;                                                     \
    BEGIN(n, wide_i, m, wide_v)                                                                  \
    LOAD                                                                                         \
    fwd_returned_mixed returned = CALL_BY_COUNT(fwd_returned_mixed, n, m);                       \
    if (result) fwd_store_mixed(plan, returned, result);                                         \
    return FWD_OK;                                                                               \
  }
SHAPES(CALLER)
#undef FAIL

// Without looking, and without a status, a function that gives nothing is reached by a jump here, too.
#define FAIL return
#define UNCHECKED_JUMP(n, wide_i, m, wide_v)                                                             \
  FWD_CALLS_ANY_TYPE static void unchecked_jump_##n##_##wide_i##_##m##_##wide_v(                         \
      const fwd_call_plan *plan, void (*function)(void), void *const *arguments, void *result) {        \
    enum { looks = 0 };                                                                                  \
    const fwd_call_head *head = &plan->head;                                                             \
    BEGIN(n, wide_i, m, wide_v)                                                                          \
    LOAD                                                                                                 \
    (void)result;                                                                                        \
    CALL_BY_COUNT(void, n, m);                                                                           \
  }
SHAPES(UNCHECKED_JUMP)
#undef FAIL

#define ENTRY(n, wide_i, m, wide_v)                                                              \
  {unchecked_jump_##n##_##wide_i##_##m##_##wide_v, jump_##n##_##wide_i##_##m##_##wide_v, \
   call_##n##_##wide_i##_##m##_##wide_v},
static const struct {
  fwd_plan_caller unchecked_jump;
  fwd_call_jump jump;
  fwd_caller_call call;
} shapes[] = {SHAPES(ENTRY)};

enum { shape_count = sizeof shapes / sizeof shapes[0] };

// MARK: The jumps where heads find them

#define JUMP_ENTRY(n, wide_i, m, wide_v) jump_##n##_##wide_i##_##m##_##wide_v,
/// NULL while they are disabled: that spares a call the look at a switch.
static fwd_call_jump enabled_jumps[] = {SHAPES(JUMP_ENTRY)};

void fwd_call_jumps_enable(bool enabled) {
  for (size_t i = 0; i < shape_count; i++) {
    // Relaxed: either way of calling is right.
    __atomic_store_n(&enabled_jumps[i], enabled ? shapes[i].jump : NULL, __ATOMIC_RELAXED);
  }
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

/// Whether the result is an integer of a size that `fwd_call` stores.
static bool is_integer(const fwd_call_plan *plan) {
  uint32_t size = plan->result_size;
  return plan->result == FWD_PLAN_INTEGER && (size == 1 || size == 2 || size == 4 || size == 8);
}

bool fwd_call_plan_select_shape(fwd_call_plan *plan) {
  if (plan->integer_count > 4 || plan->vector_count > 2) return false;
  size_t wide_integers = wide_mask(plan->integers, plan->integer_count);
  size_t wide_vectors = wide_mask(plan->vectors, plan->vector_count);
  if (wide_integers == SIZE_MAX || wide_vectors == SIZE_MAX) return false;
  size_t index = shape_index(plan->integer_count, wide_integers, plan->vector_count, wide_vectors);
  for (size_t i = 0; i < plan->integer_count; i++) {
    plan->head.order |= (uint64_t)plan->integers[i].argument << 8 * i;
  }
  for (size_t i = 0; i < plan->vector_count; i++) {
    plan->head.order |= (uint64_t)plan->vectors[i].argument << 8 * (plan->integer_count + i);
  }
  plan->caller.call = shapes[index].call;
  plan->call = plan->result == FWD_PLAN_VOID ? shapes[index].unchecked_jump : fwd_call_plan_call_looking;
  if (plan->result == FWD_PLAN_VOID || is_integer(plan)) {
    plan->head.jump = &enabled_jumps[index];
    plan->head.result_size = plan->result_size;
  }
  return true;
}

_Static_assert(FWD_ARGUMENT_LIMIT <= UINT8_MAX + 1, "an argument's number fits a byte of `order`");

#endif
