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

#include "abi/plan_callers.h"

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

// For plans whose moves are all of 4 or 8 bytes: one for each number of integer and of vector registers, and
// each way for the result to come back, so that nothing is decided during the call but what to store. Numbers
// between the ones that there are callers for are rounded up: a register more is the callee's to ignore.

#define INTEGER_TYPE(i) uint64_t
#define VECTOR_TYPE(i) double
#define INTEGER_VALUE(i) integer_##i
#define VECTOR_VALUE(i) vector_##i

// Where all moves are of 8 bytes, that is one load.
static inline uint64_t load(const fwd_move *move, const void *argument, bool is_wide) {
  const char *bytes = (const char *)argument + move->offset;
  if (!is_wide) return fwd_load_halves(move, bytes);
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

// Everything but the pointers is constant where this is inlined. Values are loaded right behind the test of
// their address: compilers make one test of tests that stand together, and that costs more than a branch for
// each.
#define LOAD_WORD(word, move)                               \
  {                                                         \
    const void *argument = arguments[(move)->argument];     \
    if (!argument) return fwd_call_plan_fail(plan, arguments); \
    word = load(move, argument, is_wide);                   \
  }
#define LOAD_INTEGER(i)    \
  uint64_t integer_##i = 0; \
  if ((i) >= hidden_count && (i) < integer_count) LOAD_WORD(integer_##i, &plan->integers[i])
#define LOAD_VECTOR(i)                              \
  double vector_##i = 0;                            \
  if ((i) < vector_count) {                         \
    uint64_t word;                                  \
    LOAD_WORD(word, &plan->vectors[i])              \
    memcpy(&vector_##i, &word, sizeof vector_##i);  \
  }
#define LOAD_REGISTERS                                                                             \
  if (integer_count + vector_count > hidden_count && !arguments) return fwd_call_plan_fail(plan, arguments); \
  LOAD_INTEGER(0) LOAD_INTEGER(1) LOAD_INTEGER(2) LOAD_INTEGER(3) LOAD_INTEGER(4) LOAD_INTEGER(5)  \
  LOAD_VECTOR(0) LOAD_VECTOR(1) LOAD_VECTOR(2) LOAD_VECTOR(3)                                      \
  LOAD_VECTOR(4) LOAD_VECTOR(5) LOAD_VECTOR(6) LOAD_VECTOR(7)                                      \
  (void)integer_0, (void)integer_1, (void)integer_2, (void)integer_3, (void)integer_4;             \
  (void)integer_5, (void)vector_0, (void)vector_1, (void)vector_2, (void)vector_3, (void)vector_4; \
  (void)vector_5, (void)vector_6, (void)vector_7;

// A list of both kinds needs a comma only between two that are not empty.
#define TYPES_I(n, m) FWD_LIST_##n(INTEGER_TYPE)
#define TYPES_V(n, m) FWD_LIST_##m(VECTOR_TYPE)
#define TYPES_IV(n, m) FWD_LIST_##n(INTEGER_TYPE), FWD_LIST_##m(VECTOR_TYPE)
#define TYPES_0(n, m) void
#define VALUES_I(n, m) FWD_LIST_##n(INTEGER_VALUE)
#define VALUES_V(n, m) FWD_LIST_##m(VECTOR_VALUE)
#define VALUES_IV(n, m) FWD_LIST_##n(INTEGER_VALUE), FWD_LIST_##m(VECTOR_VALUE)
#define VALUES_0(n, m)
#define CALL_STRAIGHT(returned, n, m, list) \
  (((returned(*)(TYPES_##list(n, m)))function)(VALUES_##list(n, m)))

// The ways to come back: how many hidden arguments that takes, and what is done. `CALL` calls a function that
// returns the type that is its first argument.
#define HIDDEN_mixed 0
#define HIDDEN_integers 0
#define HIDDEN_vectors 0
#define HIDDEN_memory 1
#define FINISH_mixed(CALL, ...)                                        \
  fwd_returned_mixed returned = CALL(fwd_returned_mixed, __VA_ARGS__); \
  if (result) fwd_store_mixed(plan, returned, result);
#define FINISH_integers(CALL, ...)                                   \
  returned_integers returned = CALL(returned_integers, __VA_ARGS__); \
  if (result) store_pair(plan, &returned, result);
#define FINISH_vectors(CALL, ...)                                  \
  returned_vectors returned = CALL(returned_vectors, __VA_ARGS__); \
  if (result) store_pair(plan, &returned, result);
#define FINISH_memory(CALL, ...)           \
  integer_0 = (uint64_t)(uintptr_t)result; \
  CALL(void, __VA_ARGS__);

static inline void store_pair(const fwd_call_plan *plan, const void *pair, void *result) {
  if (plan->result_size == 16) {
    memcpy(result, pair, 16);
  } else {
    memcpy(result, pair, plan->result_size);
  }
}

#define CALLER(name, kind, n, m, wide)                                                         \
  FWD_CALLS_ANY_TYPE static fwd_status name(const fwd_caller *caller, void (*function)(void),  \
                                            void *const *arguments, void *result) {            \
    enum { integer_count = n, vector_count = m, hidden_count = HIDDEN_##kind, is_wide = wide }; \
    const fwd_call_plan *plan = (const fwd_call_plan *)caller;                                 \
    if (hidden_count > 0 && !result) return fwd_call_plan_discard(plan, function, arguments);  \
    if (integer_count + vector_count > hidden_count && !arguments) return fwd_call_plan_fail(plan, arguments); \
    LOAD_REGISTERS

#define STRAIGHT(kind, n, m, wide, list)                 \
  CALLER(kind##_##n##_##m##_##wide, kind, n, m, wide)    \
    FINISH_##kind(CALL_STRAIGHT, n, m, list)             \
    return FWD_OK;                                       \
  }

#define BY_VECTORS(X, kind, n, wide, none, some) \
  X(kind, n, 0, wide, none)                      \
  X(kind, n, 1, wide, some)                      \
  X(kind, n, 2, wide, some)                      \
  X(kind, n, 4, wide, some)                      \
  X(kind, n, 8, wide, some)
#define BY_INTEGERS(X, kind, wide)                                                                 \
  BY_VECTORS(X, kind, 1, wide, I, IV) BY_VECTORS(X, kind, 2, wide, I, IV)                          \
  BY_VECTORS(X, kind, 3, wide, I, IV) BY_VECTORS(X, kind, 4, wide, I, IV)                          \
  BY_VECTORS(X, kind, 5, wide, I, IV) BY_VECTORS(X, kind, 6, wide, I, IV)
// With a hidden argument there is an integer register at least.
#define ALL_mixed(X, wide) BY_VECTORS(X, mixed, 0, wide, 0, V) BY_INTEGERS(X, mixed, wide)
#define ALL_integers(X, wide) BY_VECTORS(X, integers, 0, wide, 0, V) BY_INTEGERS(X, integers, wide)
#define ALL_vectors(X, wide) BY_VECTORS(X, vectors, 0, wide, 0, V) BY_INTEGERS(X, vectors, wide)
#define ALL_memory(X, wide) BY_INTEGERS(X, memory, wide)

ALL_mixed(STRAIGHT, 0)
ALL_mixed(STRAIGHT, 1)
ALL_integers(STRAIGHT, 0)
ALL_integers(STRAIGHT, 1)
ALL_vectors(STRAIGHT, 0)
ALL_vectors(STRAIGHT, 1)
ALL_memory(STRAIGHT, 0)
ALL_memory(STRAIGHT, 1)

typedef enum result_kind {
  RESULT_MIXED,
  RESULT_INTEGERS,
  RESULT_VECTORS,
  RESULT_MEMORY,
  RESULT_KIND_COUNT,
} result_kind;

enum { vector_choices = 5 };
static const uint8_t vector_choice[vector_choices] = {0, 1, 2, 4, 8};

#define STRAIGHT_ENTRY(kind, n, m, wide, list) kind##_##n##_##m##_##wide,
static const fwd_caller_call straight_callers[RESULT_KIND_COUNT][2][(FWD_PLAN_INTEGERS + 1) * vector_choices] = {
    [RESULT_MIXED] = {{ALL_mixed(STRAIGHT_ENTRY, 0)}, {ALL_mixed(STRAIGHT_ENTRY, 1)}},
    [RESULT_INTEGERS] = {{ALL_integers(STRAIGHT_ENTRY, 0)}, {ALL_integers(STRAIGHT_ENTRY, 1)}},
    [RESULT_VECTORS] = {{ALL_vectors(STRAIGHT_ENTRY, 0)}, {ALL_vectors(STRAIGHT_ENTRY, 1)}},
    [RESULT_MEMORY] = {{ALL_memory(STRAIGHT_ENTRY, 0)}, {ALL_memory(STRAIGHT_ENTRY, 1)}},
};

// MARK: Straight-line callers with stack words

// As above, and then some words for the stack, as arguments behind those that take up all integer registers: not
// as a struct, which compilers build in one place and copy to another, and reading in larger pieces what was
// just written in smaller ones stalls.

#define LOAD_STACK(i)       \
  uint64_t word_##i = 0;    \
  if ((i) < word_count) LOAD_WORD(word_##i, &plan->words[i])
#define LOAD_STACK_WORDS                                                                                \
  LOAD_STACK(0) LOAD_STACK(1) LOAD_STACK(2) LOAD_STACK(3) LOAD_STACK(4) LOAD_STACK(5) LOAD_STACK(6)     \
  LOAD_STACK(7) LOAD_STACK(8) LOAD_STACK(9) LOAD_STACK(10) LOAD_STACK(11) LOAD_STACK(12) LOAD_STACK(13) \
  LOAD_STACK(14) LOAD_STACK(15)                                                                         \
  (void)word_0, (void)word_1, (void)word_2, (void)word_3, (void)word_4, (void)word_5, (void)word_6;     \
  (void)word_7, (void)word_8, (void)word_9, (void)word_10, (void)word_11, (void)word_12, (void)word_13; \
  (void)word_14, (void)word_15;

#define WORD_VALUE(i) word_##i
#define STACK_LIST_4(item) FWD_LIST_4(item)
#define STACK_LIST_8(item) FWD_LIST_8(item)
#define STACK_LIST_16(item) \
  FWD_LIST_8(item), item(8), item(9), item(10), item(11), item(12), item(13), item(14), item(15)
#define STACK_TYPES_0(s) FWD_LIST_6(INTEGER_TYPE), STACK_LIST_##s(INTEGER_TYPE)
#define STACK_TYPES_2(s) FWD_LIST_2(VECTOR_TYPE), STACK_TYPES_0(s)
#define STACK_TYPES_8(s) FWD_LIST_8(VECTOR_TYPE), STACK_TYPES_0(s)
#define STACK_VALUES_0(s) FWD_LIST_6(INTEGER_VALUE), STACK_LIST_##s(WORD_VALUE)
#define STACK_VALUES_2(s) FWD_LIST_2(VECTOR_VALUE), STACK_VALUES_0(s)
#define STACK_VALUES_8(s) FWD_LIST_8(VECTOR_VALUE), STACK_VALUES_0(s)
#define CALL_STACK(returned, m, s) (((returned(*)(STACK_TYPES_##m(s)))function)(STACK_VALUES_##m(s)))

#define STACK(kind, n, m, s, wide)                                \
  CALLER(kind##_##n##_##m##_stack_##s##_##wide, kind, n, m, wide) \
    enum { word_count = s };                                      \
    if (!arguments) return fwd_call_plan_fail(plan, arguments);   \
    LOAD_STACK_WORDS                                              \
    FINISH_##kind(CALL_STACK, m, s)                               \
    return FWD_OK;                                                \
  }

#define STACK_BY_WORDS(X, kind, n, m, wide) X(kind, n, m, 4, wide) X(kind, n, m, 8, wide) X(kind, n, m, 16, wide)
#define STACK_BY_VECTORS(X, kind, n, wide) \
  STACK_BY_WORDS(X, kind, n, 0, wide) STACK_BY_WORDS(X, kind, n, 2, wide) STACK_BY_WORDS(X, kind, n, 8, wide)
#define STACK_ALL(X, kind, wide) STACK_BY_VECTORS(X, kind, 1, wide) STACK_BY_VECTORS(X, kind, 6, wide)

STACK_ALL(STACK, mixed, 0)
STACK_ALL(STACK, mixed, 1)
STACK_ALL(STACK, memory, 0)
STACK_ALL(STACK, memory, 1)

enum { stack_choices = 3 };
static const uint8_t stack_integer_choice[2] = {1, 6};
static const uint8_t stack_vector_choice[stack_choices] = {0, 2, 8};
static const uint8_t stack_word_choice[stack_choices] = {4, 8, FWD_PLAN_WORDS};

#define STACK_ENTRY(kind, n, m, s, wide) kind##_##n##_##m##_stack_##s##_##wide,
static const fwd_caller_call stack_word_callers[RESULT_KIND_COUNT][2][2 * stack_choices * stack_choices] = {
    [RESULT_MIXED] = {{STACK_ALL(STACK_ENTRY, mixed, 0)}, {STACK_ALL(STACK_ENTRY, mixed, 1)}},
    [RESULT_MEMORY] = {{STACK_ALL(STACK_ENTRY, memory, 0)}, {STACK_ALL(STACK_ENTRY, memory, 1)}},
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
      if (result && plan->result != FWD_PLAN_MEMORY) fwd_store_mixed(plan, returned, result);            \
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

/// A `call` for plans whose caller has no reason not to look at arguments.
static void call_looking(const fwd_call_plan *plan, void (*function)(void), void *const *arguments, void *result) {
  plan->caller.call(&plan->caller, function, arguments, result);
}

static result_kind kind_of(const fwd_call_plan *plan) {
  switch (plan->result) {
    case FWD_PLAN_INTEGER_INTEGER: return RESULT_INTEGERS;
    case FWD_PLAN_VECTOR_VECTOR: return RESULT_VECTORS;
    case FWD_PLAN_MEMORY: return RESULT_MEMORY;
    case FWD_PLAN_X87:
    case FWD_PLAN_COMPLEX_X87: return RESULT_KIND_COUNT;
    default: return RESULT_MIXED;
  }
}

typedef enum move_width {
  /// Some are of other sizes than 4 and 8.
  NO_WIDTH,
  ANY_WIDTH,
  ALL_WIDE,
} move_width;

static move_width width_of(const fwd_move *moves, size_t count) {
  move_width width = ALL_WIDE;
  for (size_t i = 0; i < count; i++) {
    if (moves[i].size != 4 && moves[i].size != 8) return NO_WIDTH;
    if (moves[i].size != 8) width = ANY_WIDTH;
  }
  return width;
}

static move_width narrower(move_width left, move_width right) { return left < right ? left : right; }

/// Gives the place of the smallest choice that is not below `count`.
static size_t round_up(const uint8_t *choices, size_t count) {
  size_t i = 0;
  while (choices[i] < count) i++;
  return i;
}

/// Lets registers that a caller loads beyond those of the plan be loaded as another, which can be read.
static void pad(fwd_move *moves, size_t count, size_t rounded, const fwd_move *as) {
  for (size_t i = count; i < rounded; i++) moves[i] = *as;
}

/// Chooses a caller that loads registers only. False if there is none.
static bool select_straight(fwd_call_plan *plan, result_kind kind, move_width width) {
  if (kind == RESULT_MIXED || kind == RESULT_MEMORY) fwd_call_plan_select_jump(plan);
  if (kind == RESULT_MIXED && fwd_call_plan_select_shape(plan)) return true;
  size_t choice = round_up(vector_choice, plan->vector_count);
  pad(plan->vectors, plan->vector_count, vector_choice[choice], &plan->vectors[0]);
  size_t hidden_count = kind == RESULT_MEMORY;
  plan->caller.call = straight_callers[kind][width == ALL_WIDE]
                                      [(plan->integer_count - hidden_count) * vector_choices + choice];
  return true;
}

/// Chooses a caller that loads stack words too. False if there is none.
static bool select_stack(fwd_call_plan *plan, result_kind kind, move_width width) {
  if (!plan->words || (kind != RESULT_MIXED && kind != RESULT_MEMORY)) return false;
  const fwd_move *words = plan->words;
  width = narrower(width, width_of(words, FWD_PLAN_WORDS));
  size_t integers = round_up(stack_integer_choice, plan->integer_count);
  size_t vectors = round_up(stack_vector_choice, plan->vector_count);
  size_t stack = round_up(stack_word_choice, plan->stack_size / 8);
  pad(plan->integers, plan->integer_count, stack_integer_choice[integers], &words[0]);
  pad(plan->vectors, plan->vector_count, stack_vector_choice[vectors], &words[0]);
  plan->caller.call = stack_word_callers[kind][width == ALL_WIDE]
                                        [(integers * stack_choices + vectors) * stack_choices + stack];
  return true;
}

static bool select_straight_line(fwd_call_plan *plan) {
  result_kind kind = kind_of(plan);
  size_t hidden_count = kind == RESULT_MEMORY;
  move_width width = narrower(width_of(plan->integers + hidden_count, plan->integer_count - hidden_count),
                              width_of(plan->vectors, plan->vector_count));
  if (kind == RESULT_KIND_COUNT || width == NO_WIDTH) return false;
  return plan->stack_size == 0 ? select_straight(plan, kind, width) : select_stack(plan, kind, width);
}

void fwd_call_plan_select(fwd_call_plan *plan) {
  plan->call = call_looking;
  if (select_straight_line(plan)) return;
  if (plan->stack_size == 0) {
    plan->call = call_registers;
    return;
  }
  size_t i = 0;
  while (stack_callers[i].words * 8 < plan->stack_size) i++;
  plan->call = stack_callers[i].call;
}

#endif
