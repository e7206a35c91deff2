// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The callers that carry out call plans on System V x86-64.
///
/// Each calls the function through a pointer of another type than its own: one that takes as many `long` and
/// `double` arguments as registers are to be loaded. ISO C leaves this undefined; the ABI does not. Integer
/// and vector registers are assigned independently, each in order, so the types and order of the function's
/// own arguments do not matter once they are broken into eightbytes. Unused registers are the callee's to
/// ignore, and the caller pops the stack. What is needed is that the compiler cannot see both sides and draw
/// conclusions: the callee's address comes from outside, and everything goes through memory copies, never
/// through pointer casts.

#include "plan_callers.h"

#if FWD_HAS_CALL_PLANS && defined(__x86_64__)

#include <string.h>

// What comes back in rax and rdx, and in xmm0 and xmm1.
typedef struct returned_integers {
  uint64_t integers[2];
} returned_integers;
typedef struct returned_vectors {
  double vectors[2];
} returned_vectors;

// MARK: Straight-line callers

// One for each number of integer and of vector registers, for plans whose moves are all of 4 or 8 bytes and
// whose result comes in rax and xmm0: nothing is decided during the call but what to store.

#define INTEGER_TYPE(i) uint64_t
#define VECTOR_TYPE(i) double
#define INTEGER_VALUE(i) fwd_load_word(&plan->integers[i], arguments)
#define VECTOR_VALUE(i) fwd_load_vector(&plan->vectors[i], arguments)

// A list of both kinds needs a comma only between two that are not empty.
#define TYPES_I(n, m) FWD_LIST_##n(INTEGER_TYPE)
#define TYPES_V(n, m) FWD_LIST_##m(VECTOR_TYPE)
#define TYPES_IV(n, m) FWD_LIST_##n(INTEGER_TYPE), FWD_LIST_##m(VECTOR_TYPE)
#define TYPES_0(n, m) void
#define VALUES_I(n, m) FWD_LIST_##n(INTEGER_VALUE)
#define VALUES_V(n, m) FWD_LIST_##m(VECTOR_VALUE)
#define VALUES_IV(n, m) FWD_LIST_##n(INTEGER_VALUE), FWD_LIST_##m(VECTOR_VALUE)
#define VALUES_0(n, m)

#define CALLER(n, m, kinds)                                                                              \
  FWD_CALLS_ANY_TYPE static void call_##n##_##m(const fwd_call_plan *plan, void (*function)(void),           \
                                            void *const *arguments, void *result) {                      \
    (void)arguments;                                                                                     \
    fwd_returned_mixed returned =                                                                            \
        ((fwd_returned_mixed(*)(TYPES_##kinds(n, m)))function)(VALUES_##kinds(n, m));                        \
    if (result) fwd_store_mixed(plan, returned, result);                                                     \
  }

#define CALLERS(n, kinds_0, kinds)                                                                       \
  CALLER(n, 0, kinds_0)                                                                                  \
  CALLER(n, 1, kinds)                                                                                    \
  CALLER(n, 2, kinds)                                                                                    \
  CALLER(n, 3, kinds)                                                                                    \
  CALLER(n, 4, kinds)                                                                                    \
  CALLER(n, 5, kinds)                                                                                    \
  CALLER(n, 6, kinds)                                                                                    \
  CALLER(n, 7, kinds)                                                                                    \
  CALLER(n, 8, kinds)

CALLERS(0, 0, V)
CALLERS(1, I, IV)
CALLERS(2, I, IV)
CALLERS(3, I, IV)
CALLERS(4, I, IV)
CALLERS(5, I, IV)
CALLERS(6, I, IV)

#define ROW(n)                                                                                           \
  {call_##n##_0, call_##n##_1, call_##n##_2, call_##n##_3, call_##n##_4,                                 \
   call_##n##_5, call_##n##_6, call_##n##_7, call_##n##_8}
static const fwd_plan_caller straight_callers[FWD_PLAN_INTEGERS + 1][FWD_PLAN_VECTORS + 1] = {
    ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6),
};

// MARK: General callers

// For all other plans: registers and stack words are collected first, then all registers are loaded, whether
// the function looks at them or not.

typedef struct register_file {
  uint64_t integers[FWD_PLAN_INTEGERS];
  double vectors[FWD_PLAN_VECTORS];
} register_file;

static inline void load_registers(const fwd_call_plan *plan, void *const *arguments, void *result,
                                  register_file *file) {
  size_t i = 0;
  if (plan->result == FWD_PLAN_MEMORY) file->integers[i++] = (uint64_t)(uintptr_t)result;
  for (; i < plan->integer_count; i++) file->integers[i] = fwd_load_any(&plan->integers[i], arguments);
  for (; i < FWD_PLAN_INTEGERS; i++) file->integers[i] = 0;
  for (i = 0; i < plan->vector_count; i++) {
    uint64_t word = fwd_load_any(&plan->vectors[i], arguments);
    memcpy(&file->vectors[i], &word, sizeof word);
  }
  for (; i < FWD_PLAN_VECTORS; i++) file->vectors[i] = 0;
}

#define REGISTER_TYPES FWD_LIST_6(INTEGER_TYPE), FWD_LIST_8(VECTOR_TYPE)
#define FILE_INTEGER(i) file.integers[i]
#define FILE_VECTOR(i) file.vectors[i]
#define REGISTER_VALUES FWD_LIST_6(FILE_INTEGER), FWD_LIST_8(FILE_VECTOR)

// Calls by the way that the result comes back. `types` and `values` are of the stack words, which stand behind
// all registers: one struct of longs by value, whose bytes lie on the stack in order, aligned to 16 at the
// call, so that places in it are places on the stack.
#define CALL_AND_STORE(types, values)                                                                    \
  switch (plan->result) {                                                                                \
    case FWD_PLAN_INTEGER_INTEGER: {                                                                     \
      returned_integers returned = ((returned_integers(*)(REGISTER_TYPES types))function)(REGISTER_VALUES values); \
      if (result) memcpy(result, &returned, plan->result_size);                                          \
      break;                                                                                             \
    }                                                                                                    \
    case FWD_PLAN_VECTOR_VECTOR: {                                                                       \
      returned_vectors returned = ((returned_vectors(*)(REGISTER_TYPES types))function)(REGISTER_VALUES values); \
      if (result) memcpy(result, &returned, plan->result_size);                                          \
      break;                                                                                             \
    }                                                                                                    \
    case FWD_PLAN_X87: {                                                                                 \
      long double returned = ((long double (*)(REGISTER_TYPES types))function)(REGISTER_VALUES values);  \
      if (result) memcpy(result, &returned, plan->result_size);                                          \
      break;                                                                                             \
    }                                                                                                    \
    case FWD_PLAN_COMPLEX_X87: {                                                                         \
      _Complex long double returned =                                                                    \
          ((_Complex long double (*)(REGISTER_TYPES types))function)(REGISTER_VALUES values);            \
      if (result) memcpy(result, &returned, plan->result_size);                                          \
      break;                                                                                             \
    }                                                                                                    \
    default: {                                                                                           \
      fwd_returned_mixed returned = ((fwd_returned_mixed(*)(REGISTER_TYPES types))function)(REGISTER_VALUES values); \
      if (result) fwd_store_mixed(plan, returned, result);                                                   \
    }                                                                                                    \
  }

FWD_CALLS_ANY_TYPE static void call_registers(const fwd_call_plan *plan, void (*function)(void),
                                          void *const *arguments, void *result) {
  register_file file;
  load_registers(plan, arguments, result, &file);
  CALL_AND_STORE(, )
}

#define WITH_STACK , stack_words
#define STACK_VALUE , stack
#define STACK_CALLER(words)                                                                              \
  FWD_CALLS_ANY_TYPE static void call_stack_##words(const fwd_call_plan *plan, void (*function)(void),       \
                                                void *const *arguments, void *result) {                  \
    typedef struct stack_words {                                                                         \
      uint64_t word[words];                                                                              \
    } stack_words;                                                                                       \
    register_file file;                                                                                  \
    load_registers(plan, arguments, result, &file);                                                      \
    stack_words stack;                                                                                   \
    fwd_load_stack(plan, arguments, (unsigned char *)&stack);                                                \
    CALL_AND_STORE(WITH_STACK, STACK_VALUE)                                                              \
  }

// Twice the size each, up to FWD_BY_VALUE_LIMIT: what is passed beyond the plan's words nobody looks at.
STACK_CALLER(3)
STACK_CALLER(6)
STACK_CALLER(12)
STACK_CALLER(24)
STACK_CALLER(48)
STACK_CALLER(96)
STACK_CALLER(256)
STACK_CALLER(1024)
STACK_CALLER(9216)

static const struct {
  uint32_t words;
  fwd_plan_caller call;
} stack_callers[] = {
    {3, call_stack_3},     {6, call_stack_6},       {12, call_stack_12},
    {24, call_stack_24},   {48, call_stack_48},     {96, call_stack_96},
    {256, call_stack_256}, {1024, call_stack_1024}, {9216, call_stack_9216},
};

// MARK: The choice

static bool is_straight(const fwd_call_plan *plan) {
  if (plan->stack_size > 0 || plan->result == FWD_PLAN_MEMORY || plan->result == FWD_PLAN_INTEGER_INTEGER ||
      plan->result == FWD_PLAN_VECTOR_VECTOR || plan->result == FWD_PLAN_X87 ||
      plan->result == FWD_PLAN_COMPLEX_X87) {
    return false;
  }
  for (size_t i = 0; i < plan->integer_count; i++) {
    if (plan->integers[i].size != 4 && plan->integers[i].size != 8) return false;
  }
  for (size_t i = 0; i < plan->vector_count; i++) {
    if (plan->vectors[i].size != 4 && plan->vectors[i].size != 8) return false;
  }
  return true;
}

void fwd_call_plan_select(fwd_call_plan *plan) {
  if (is_straight(plan)) {
    plan->call = fwd_plan_shape_caller(plan);
    if (plan->call) return;
    plan->call = straight_callers[plan->integer_count][plan->vector_count];
  } else if (plan->stack_size == 0) {
    plan->call = call_registers;
  } else {
    size_t i = 0;
    while (stack_callers[i].words * 8 < plan->stack_size) i++;
    plan->call = stack_callers[i].call;
  }
}

#endif
