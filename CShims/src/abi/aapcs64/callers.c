// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The functions that carry call plans out on AArch64.
///
/// Each calls the function through a pointer of another type than the function's own: a type whose parameters fill the
/// registers and stack words from which the function reads its own. ISO C leaves this undefined; the AAPCS64 does not,
/// since the place of an argument depends only on the arguments before it:
///
///   x0-x7        Eight uint64_t (C.7 to C.11): integers, pieces of composites, addresses of copies.
///   v0-v7        Eight doubles, or eight quads where a register is needed in full (C.1). The two kinds are
///                counted apart, so the order among arguments of different kinds does not matter, and a float
///                or double is the low bytes of its register.
///   the stack    With all sixteen registers taken, further arguments lie on the stack in order. Ours are
///                structs of four quads: homogeneous aggregates, of which C.3 to C.6 put each in the next 64
///                bytes. The first is at the stack pointer, aligned to 16, so that offsets in an array of
///                them are offsets from the first stack word.
///   results      A composite of two uint64_t comes back in x0 and x1, a homogeneous aggregate of four
///                members in v0-v3. The function may leave anything in those that its result does not use.
///                With a result in memory the function writes its own size to the address in x8: to the
///                front of a local struct that is as large or larger.
///   the rest     A function ignores registers and stack words beyond its own, and the caller pops the stack.
///
/// The compiler must not see both sides and draw conclusions: the function's address comes from outside, and all values
/// go through memcpy and unions, never through pointer casts.

#include "abi/aapcs64/callers.h"

#include <string.h>

#include "abi/callers.h"

#if FWD_IS_AAPCS64

// MARK: Results

typedef struct returned_integers {
  uint64_t integers[2];
} returned_integers;
typedef struct returned_doubles {
  double members[4];
} returned_doubles;
typedef struct returned_quads {
  long double members[4];
} returned_quads;

static inline void store_integers(const fwd_call_plan *plan, returned_integers returned, void *result) {
  // The usual sizes come first: a copy of constant size is one store.
  if (plan->result_size == 8) {
    memcpy(result, &returned, 8);
  } else if (plan->result_size == 4) {
    memcpy(result, &returned, 4);
  } else {
    memcpy(result, &returned, plan->result_size);
  }
}

static inline void store_doubles(const fwd_call_plan *plan, returned_doubles returned, void *result) {
  if (plan->result_size == 8 && plan->result_member_size == 8) {
    memcpy(result, &returned, 8);
  } else if (plan->result_member_size == 8) {
    memcpy(result, &returned, plan->result_size);
  } else {
    for (uint32_t i = 0; i < plan->result_size / 4; i++) memcpy((char *)result + i * 4, &returned.members[i], 4);
  }
}

/// A float or double is in the low bytes of its register; a quad fills it.
static inline void store_quads(const fwd_call_plan *plan, returned_quads returned, void *result) {
  uint32_t size = plan->result_member_size, count = plan->result_size / size;
  for (uint32_t i = 0; i < count; i++) {
    char *member = (char *)result + i * size;
    if (size == 8) {
      memcpy(member, &returned.members[i], 8);
    } else if (size == 4) {
      memcpy(member, &returned.members[i], 4);
    } else {
      memcpy(member, &returned.members[i], 16);
    }
  }
}

/// Whether the result comes in vector registers.
static inline bool is_floating(const fwd_call_plan *plan) {
  return plan->result == FWD_RESULT_VECTOR || plan->result == FWD_RESULT_HOMOGENEOUS;
}

// MARK: Straight-line callers

// For plans whose moves are all of 4 or 8 bytes: a caller for each number of integer and of vector registers and each
// kind of result. A call decides nothing but which bytes of the result to store.

#define INTEGER_TYPE(i) uint64_t
#define DOUBLE_TYPE(i) double
#define INTEGER_VALUE(i) fwd_load_word(&plan->integers[i], arguments)
#define DOUBLE_VALUE(i) fwd_load_vector(&plan->vectors[i], arguments)

// A list of both kinds needs a comma only between two that are not empty.
#define TYPES_I(n, m) FWD_LIST_##n(INTEGER_TYPE)
#define TYPES_V(n, m) FWD_LIST_##m(DOUBLE_TYPE)
#define TYPES_IV(n, m) FWD_LIST_##n(INTEGER_TYPE), FWD_LIST_##m(DOUBLE_TYPE)
#define TYPES_0(n, m) void
#define VALUES_I(n, m) FWD_LIST_##n(INTEGER_VALUE)
#define VALUES_V(n, m) FWD_LIST_##m(DOUBLE_VALUE)
#define VALUES_IV(n, m) FWD_LIST_##n(INTEGER_VALUE), FWD_LIST_##m(DOUBLE_VALUE)
#define VALUES_0(n, m)

#define CALLER_RETURNING(kind, n, m, kinds)                                                               \
  FWD_CALLS_ANY_TYPE static void kind##_##n##_##m(const fwd_call_plan *plan, void (*function)(void),      \
                                                  void *const *arguments, void *result) {                 \
    (void)arguments;                                                                                      \
    returned_##kind returned =                                                                            \
        ((returned_##kind(*)(TYPES_##kinds(n, m)))function)(VALUES_##kinds(n, m));                        \
    if (result) store_##kind(plan, returned, result);                                                     \
  }
#define CALLER(n, m, kinds)               \
  CALLER_RETURNING(integers, n, m, kinds) \
  CALLER_RETURNING(doubles, n, m, kinds)

#define CALLERS(n, kinds_0, kinds) \
  CALLER(n, 0, kinds_0)            \
  CALLER(n, 1, kinds)              \
  CALLER(n, 2, kinds)              \
  CALLER(n, 3, kinds)              \
  CALLER(n, 4, kinds)              \
  CALLER(n, 5, kinds)              \
  CALLER(n, 6, kinds)              \
  CALLER(n, 7, kinds)              \
  CALLER(n, 8, kinds)

CALLERS(0, 0, V)
CALLERS(1, I, IV)
CALLERS(2, I, IV)
CALLERS(3, I, IV)
CALLERS(4, I, IV)
CALLERS(5, I, IV)
CALLERS(6, I, IV)
CALLERS(7, I, IV)
CALLERS(8, I, IV)

#define ENTRY(n, m) {integers_##n##_##m, doubles_##n##_##m}
#define ROW(n)                                                                          \
  {ENTRY(n, 0), ENTRY(n, 1), ENTRY(n, 2), ENTRY(n, 3), ENTRY(n, 4), ENTRY(n, 5), ENTRY(n, 6), \
   ENTRY(n, 7), ENTRY(n, 8)}
static const struct {
  fwd_unchecked_call returning_integers;
  fwd_unchecked_call returning_doubles;
} straight_callers[FWD_INTEGER_REGISTERS + 1][FWD_VECTOR_REGISTERS + 1] = {
    ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7), ROW(8),
};

// MARK: General callers

// For all other plans: registers and stack words are collected first, then all registers are loaded, whether
// the function looks at them or not.

typedef union vector_register {
  uint64_t words[2];
  long double quad;
} vector_register;

typedef struct register_file {
  uint64_t integers[FWD_INTEGER_REGISTERS];
  vector_register vectors[FWD_VECTOR_REGISTERS];
} register_file;

/// Eight stack words.
typedef struct stack_block {
  long double quads[4];
} stack_block;

static inline uint64_t load_part(const fwd_move *move, size_t offset, void *const *arguments) {
  uint64_t word;
  memcpy(&word, (const char *)arguments[move->argument] + move->offset + offset, sizeof word);
  return word;
}

static inline void load(const fwd_call_plan *plan, void *const *arguments, register_file *file,
                        unsigned char *stack, unsigned char *copies) {
  size_t i;
  for (i = 0; i < plan->integer_count; i++) {
    const fwd_move *move = &plan->integers[i];
    file->integers[i] = move->size == 0 ? 0 : fwd_load_any(move, arguments);
  }
  for (; i < FWD_INTEGER_REGISTERS; i++) file->integers[i] = 0;
  for (i = 0; i < plan->vector_count; i++) {
    const fwd_move *move = &plan->vectors[i];
    vector_register *vector = &file->vectors[i];
    vector->words[0] = move->size == 16 ? load_part(move, 0, arguments) : fwd_load_word(move, arguments);
    vector->words[1] = move->size == 16 ? load_part(move, 8, arguments) : 0;
  }
  for (; i < FWD_VECTOR_REGISTERS; i++) file->vectors[i] = (vector_register){{0, 0}};
  fwd_load_stack(plan, arguments, stack);
  for (i = 0; i < plan->reference_count; i++) {
    // A copy for each call, since the function may write to it.
    const fwd_reference *reference = &plan->references[i];
    unsigned char *copy = copies + reference->offset;
    memcpy(copy, arguments[reference->argument], reference->size);
    uint64_t address = (uint64_t)(uintptr_t)copy;
    if (reference->target < FWD_INTEGER_REGISTERS) {
      file->integers[reference->target] = address;
    } else {
      memcpy(stack + (reference->target - FWD_INTEGER_REGISTERS) * (size_t)8, &address, sizeof address);
    }
  }
}

#define QUAD_TYPE(i) long double
#define BLOCK_TYPE(i) , stack_block
#define FILE_INTEGER(i) file.integers[i]
#define FILE_QUAD(i) file.vectors[i].quad
#define FILE_BLOCK(i) , stack[i]

#define BLOCKS_0(item, i)
#define BLOCKS_1(item, i) item(i)
#define BLOCKS_4(item, i) item(i) item(i + 1) item(i + 2) item(i + 3)
#define BLOCKS_16(item, i) BLOCKS_4(item, i) BLOCKS_4(item, i + 4) BLOCKS_4(item, i + 8) BLOCKS_4(item, i + 12)
#define BLOCKS_64(item, i) \
  BLOCKS_16(item, i) BLOCKS_16(item, i + 16) BLOCKS_16(item, i + 32) BLOCKS_16(item, i + 48)
#define BLOCKS_256(item, i) \
  BLOCKS_64(item, i) BLOCKS_64(item, i + 64) BLOCKS_64(item, i + 128) BLOCKS_64(item, i + 192)

#define CALL(returned, blocks)                                                                              \
  (((returned(*)(FWD_LIST_8(INTEGER_TYPE), FWD_LIST_8(QUAD_TYPE) BLOCKS_##blocks(BLOCK_TYPE, 0)))function)( \
      FWD_LIST_8(FILE_INTEGER), FWD_LIST_8(FILE_QUAD) BLOCKS_##blocks(FILE_BLOCK, 0)))

// ISO C has no arrays of 0 elements.
#define LOAD(blocks, copy_size)                                     \
  register_file file;                                               \
  stack_block stack[(blocks) > 0 ? (blocks) : 1];                   \
  vector_register copies[(copy_size) / sizeof(vector_register) + 1]; \
  load(plan, arguments, &file, (unsigned char *)stack, (unsigned char *)copies);

// Results in registers.
#define GENERAL_CALLER(name, blocks, copy_size)                                                        \
  FWD_CALLS_ANY_TYPE static void name(const fwd_call_plan *plan, void (*function)(void),               \
                                      void *const *arguments, void *result) {                          \
    LOAD(blocks, copy_size)                                                                            \
    if (is_floating(plan)) {                                                                           \
      returned_quads returned = CALL(returned_quads, blocks);                                          \
      if (result) store_quads(plan, returned, result);                                                 \
    } else {                                                                                           \
      returned_integers returned = CALL(returned_integers, blocks);                                    \
      if (result) store_integers(plan, returned, result);                                              \
    }                                                                                                  \
  }

// Results in memory come in a local struct that is as large or larger. It consists of quads, which aligns it to 16, and
// of too many to be homogeneous. The part that the function does not write costs nothing but room on the stack.
#define MEMORY_CALLER(name, blocks, result_bytes)                                                      \
  FWD_CALLS_ANY_TYPE static void name(const fwd_call_plan *plan, void (*function)(void),               \
                                      void *const *arguments, void *result) {                          \
    typedef struct returned_memory {                                                                   \
      long double quads[(result_bytes) / 16];                                                          \
    } returned_memory;                                                                                 \
    LOAD(blocks, plan->copy_size)                                                                      \
    returned_memory returned = CALL(returned_memory, blocks);                                          \
    if (result) memcpy(result, &returned, plan->result_size);                                          \
  }

enum { small_result = FWD_SMALL_MEMORY_RESULT, large_result = FWD_BY_VALUE_LIMIT };

#define STACK_CALLERS(blocks)                                    \
  GENERAL_CALLER(call_stack_##blocks, blocks, plan->copy_size)   \
  MEMORY_CALLER(call_small_stack_##blocks, blocks, small_result) \
  MEMORY_CALLER(call_large_stack_##blocks, blocks, large_result)

GENERAL_CALLER(call_registers, 0, 0)
STACK_CALLERS(0)
STACK_CALLERS(1)
STACK_CALLERS(4)
STACK_CALLERS(16)
GENERAL_CALLER(call_stack_256, 256, plan->copy_size)
MEMORY_CALLER(call_large_stack_256, 256, large_result)

_Static_assert(16 * sizeof(stack_block) == FWD_MIDDLE_STACK && 256 * sizeof(stack_block) == FWD_LARGEST_STACK,
               "fan-outs count what these callers take of the stack");

// An argument takes at most four quads of the stack, since a larger composite is passed by address.
_Static_assert(FWD_ARGUMENT_LIMIT <= 256, "the largest caller takes all arguments");

#define STACK_ENTRY(blocks) \
  {(blocks) * sizeof(stack_block), call_stack_##blocks, call_small_stack_##blocks, call_large_stack_##blocks}
static const struct {
  size_t stack_size;
  fwd_unchecked_call returning_registers;
  fwd_unchecked_call returning_small;
  fwd_unchecked_call returning_large;
} stack_callers[] = {
    STACK_ENTRY(0), STACK_ENTRY(1), STACK_ENTRY(4), STACK_ENTRY(16),
    {256 * sizeof(stack_block), call_stack_256, call_large_stack_256, call_large_stack_256},
};

// MARK: The choice

static bool are_words(const fwd_move *moves, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (moves[i].size != 4 && moves[i].size != 8) return false;
  }
  return true;
}

static bool is_straight(const fwd_call_plan *plan) {
  return plan->stack_size == 0 && plan->result != FWD_RESULT_MEMORY && plan->result_member_size < 16 &&
         are_words(plan->integers, plan->integer_count) && are_words(plan->vectors, plan->vector_count);
}

fwd_unchecked_call fwd_aapcs64_choose_caller(const fwd_call_plan *plan) {
  if (is_straight(plan)) {
    return is_floating(plan) ? straight_callers[plan->integer_count][plan->vector_count].returning_doubles
                             : straight_callers[plan->integer_count][plan->vector_count].returning_integers;
  }
  size_t i = 0;
  while (stack_callers[i].stack_size < plan->stack_size) i++;
  if (plan->result == FWD_RESULT_MEMORY) {
    return plan->result_size <= small_result ? stack_callers[i].returning_small : stack_callers[i].returning_large;
  }
  if (plan->stack_size == 0 && plan->copy_size == 0) return call_registers;
  return stack_callers[i].returning_registers;
}

#endif
