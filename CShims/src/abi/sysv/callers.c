// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The functions that carry call plans out on System V x86-64.
///
/// Each calls the function through a pointer of another type than the function's own: a type with as many `long` and
/// `double` parameters as registers are to be loaded. ISO C leaves this undefined; the ABI does not. Integer and vector
/// registers are assigned independently, each in order, so the types and order of the function's own parameters do not
/// matter once they are broken into eightbytes. A function ignores registers and stack words beyond its own, and the
/// caller pops the stack. The compiler must not see both sides and draw conclusions: the function's address comes from
/// outside, and all values go through memcpy, never through pointer casts.
///
/// There are three kinds of callers, the fastest first. `fwd_sysv_choose_caller` takes the first that fits:
///
///   by a jump       whole arguments in few registers, and most signatures with a few stack words: see jumps.c
///   straight-line   no stack words, and all moves are of 4 or 8 bytes: a caller for some numbers of registers, without a loop
///   general         everything else: fills all registers by loops, and pushes the stack words
///
/// A fan-out may choose the general caller for any plan, and fill the register file itself (`fwd_filled_call`): that takes more
/// time, and less of the stack.
///
/// A caller that loads more registers than the function has loads repeated moves (plan.c), so the numbers of registers
/// of a plan are rounded up to those that there are callers for.

#include "abi/sysv/callers.h"

#include <string.h>

#include "abi/callers.h"
#include "abi/sysv/assembly.h"

#if FWD_IS_SYSV

// MARK: Results

// A function's result comes back in rax, rdx, xmm0 and xmm1. Its C type tells the compiler which two to read. The pair
// of rax and xmm0 (fwd_call_returned) serves structs of an integer and a floating eightbyte in either order, results in
// one register, and none.
typedef struct returned_integers {
  uint64_t integers[2];
} returned_integers;
typedef struct returned_vectors {
  double vectors[2];
} returned_vectors;

/// Stores a result of an unusual size: a struct of up to 15 bytes.
__attribute__((noinline)) static void store_odd(uint64_t first, uint64_t second, uint32_t size, void *result) {
  uint64_t eightbytes[2] = {first, second};
  memcpy(result, eightbytes, size);
}

static inline void store_mixed(const fwd_call_plan *plan, fwd_call_returned returned, void *result) {
  uint64_t integer = returned.integer, vector;
  memcpy(&vector, &returned.vector, sizeof vector);
  // Selected without a branch; and the usual sizes come first. A taken branch costs as much as loading an argument.
  bool is_vector_first = (plan->result == FWD_RESULT_VECTOR) | (plan->result == FWD_RESULT_VECTOR_INTEGER);
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
    store_odd(first, second, size, result);
  }
}

/// Stores a result of two words.
static inline void store_two(uint64_t first, uint64_t second, uint32_t size, void *result) {
  if (size == 16) {
    memcpy(result, &first, 8);
    memcpy((char *)result + 8, &second, 8);
  } else {
    store_odd(first, second, size, result);
  }
}

static inline void store_pair(const fwd_call_plan *plan, const void *pair, void *result) {
  if (plan->result_size == 16) {
    memcpy(result, pair, 16);
  } else {
    memcpy(result, pair, plan->result_size);
  }
}

void fwd_call_plan_store(const fwd_call_plan *plan, fwd_call_returned returned, void *result) {
  store_mixed(plan, returned, result);
}

// MARK: Callers by a jump

static inline fwd_call_returned jump(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                     void *result, fwd_status *status) {
  return plan->jump(&plan->head.head, result, arguments, status, function);
}

FWD_CALLS_ANY_TYPE static fwd_status jump_checked(const fwd_call_plan *plan, void (*function)(void),
                                                  void *const *arguments, void *result) {
  fwd_status status = FWD_OK;
  fwd_call_returned returned = jump(plan, function, arguments, result, &status);
  if (status != FWD_OK || !result || plan->result == FWD_RESULT_MEMORY || plan->result == FWD_RESULT_VOID) return status;
  store_mixed(plan, returned, result);
  return FWD_OK;
}

// All arguments have addresses, so these calls are never refused. A local variable for the status would take stack at each
// level of a recursion, and keep the first of these functions from making a tail call.

/// Never written.
static fwd_status never_refused;

/// For results in memory, and none.
FWD_CALLS_ANY_TYPE static void jump_for_nothing(const fwd_call_plan *plan, void (*function)(void),
                                                void *const *arguments, void *result) {
  jump(plan, function, arguments, result, &never_refused);
}

/// For integers of 8 bytes and pointers, the commonest results.
FWD_CALLS_ANY_TYPE static void jump_for_word(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                             void *result) {
  uint64_t word = jump(plan, function, arguments, result, &never_refused).integer;
  if (result) memcpy(result, &word, sizeof word);
}

FWD_CALLS_ANY_TYPE static void jump_for_result(const fwd_call_plan *plan, void (*function)(void),
                                               void *const *arguments, void *result) {
  fwd_call_returned returned = jump(plan, function, arguments, result, &never_refused);
  if (result) store_mixed(plan, returned, result);
}

// MARK: Straight-line callers

// Everything but pointers and values is a constant where these macros are expanded. The numbers in a caller's name are
// those of its integer and vector registers; `wide` says that all moves are of 8 bytes, so that each is one load.

typedef enum result_kind {
  RESULT_MIXED,
  RESULT_INTEGERS,
  RESULT_VECTORS,
  RESULT_MEMORY,
  /// On the x87 stack: only the general caller takes it from there.
  RESULT_X87,
} result_kind;

static inline uint64_t load(const fwd_move *move, const void *argument, bool is_wide) {
  const char *bytes = (const char *)argument + move->offset;
  if (!is_wide) return fwd_load_halves(move, bytes);
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

// Each value is loaded right after the test of its address. Compilers merge tests that stand together into one that
// costs more than a branch for each.
#define LOAD_WORD(word, move)                                  \
  {                                                            \
    const void *argument = arguments[(move)->argument];        \
    if (!argument) return fwd_call_plan_fail(plan, arguments); \
    word = load(move, argument, is_wide);                      \
  }
#define LOAD_INTEGER(i)     \
  uint64_t integer_##i = 0; \
  if ((i) >= hidden_count && (i) < integer_count) LOAD_WORD(integer_##i, &plan->integers[i])
#define LOAD_VECTOR(i)                             \
  double vector_##i = 0;                           \
  if ((i) < vector_count) {                        \
    uint64_t word;                                 \
    LOAD_WORD(word, &plan->vectors[i])             \
    memcpy(&vector_##i, &word, sizeof vector_##i); \
  }
#define LOAD_ALL                                                                                        \
  LOAD_INTEGER(0) LOAD_INTEGER(1) LOAD_INTEGER(2) LOAD_INTEGER(3) LOAD_INTEGER(4) LOAD_INTEGER(5)       \
  LOAD_VECTOR(0) LOAD_VECTOR(1) LOAD_VECTOR(2) LOAD_VECTOR(3)                                           \
  LOAD_VECTOR(4) LOAD_VECTOR(5) LOAD_VECTOR(6) LOAD_VECTOR(7)                                           \
  (void)integer_0, (void)integer_1, (void)integer_2, (void)integer_3, (void)integer_4;                  \
  (void)integer_5, (void)vector_0, (void)vector_1, (void)vector_2, (void)vector_3, (void)vector_4;      \
  (void)vector_5, (void)vector_6, (void)vector_7;

// Lists of parameter types and of values.
#define INTEGER_TYPE(i) uint64_t
#define VECTOR_TYPE(i) double
#define INTEGER_VALUE(i) integer_##i
#define VECTOR_VALUE(i) vector_##i
#define INTEGERS_1(item) FWD_LIST_1(item)
#define INTEGERS_6(item) FWD_LIST_6(item)
#define VECTORS_0(item)
#define VECTORS_2(item) , FWD_LIST_2(item)
#define VECTORS_8(item) , FWD_LIST_8(item)
#define CALL(returned, integers, vectors)                                                          \
  (((returned(*)(INTEGERS_##integers(INTEGER_TYPE) VECTORS_##vectors(VECTOR_TYPE)))function)(      \
      INTEGERS_##integers(INTEGER_VALUE) VECTORS_##vectors(VECTOR_VALUE)))

// For each result: how many integer registers its address takes, and what is done after the loads.
#define HIDDEN_MIXED 0
#define HIDDEN_INTEGERS 0
#define HIDDEN_VECTORS 0
#define HIDDEN_MEMORY 1
#define FINISH_MIXED(...)                                          \
  fwd_call_returned returned = CALL(fwd_call_returned, __VA_ARGS__); \
  if (result) store_mixed(plan, returned, result);
#define FINISH_INTEGERS(...)                                         \
  returned_integers returned = CALL(returned_integers, __VA_ARGS__); \
  if (result) store_pair(plan, &returned, result);
#define FINISH_VECTORS(...)                                        \
  returned_vectors returned = CALL(returned_vectors, __VA_ARGS__); \
  if (result) store_pair(plan, &returned, result);
#define FINISH_MEMORY(...)                 \
  integer_0 = (uint64_t)(uintptr_t)result; \
  CALL(void, __VA_ARGS__);

#define CALLER_NAME(kind, integers, vectors, wide) call_##kind##_##integers##_##vectors##_##wide
#define CALLER(kind, integers, vectors, wide)                                                                  \
  FWD_CALLS_ANY_TYPE static fwd_status CALLER_NAME(kind, integers, vectors, wide)(                             \
      const fwd_call_plan *plan, void (*function)(void), void *const *arguments, void *result) {               \
    enum { integer_count = integers, vector_count = vectors };                                                 \
    enum { hidden_count = HIDDEN_##kind, is_wide = wide };                                                     \
    if (hidden_count > 0 && !result) return fwd_call_plan_discard(plan, function, arguments);                  \
    if (!arguments) return fwd_call_plan_fail(plan, arguments);                                                \
    LOAD_ALL                                                                                                   \
    FINISH_##kind(integers, vectors)                                                                           \
    return FWD_OK;                                                                                             \
  }

// All straight-line callers. The first that fits a plan is taken, so a smaller one stands before a larger one. Each has 250
// to 1,500 bytes of code; loading a register too many costs a third of a nanosecond.
#define BY_WIDTH(X, kind, integers, vectors) X(kind, integers, vectors, 0) X(kind, integers, vectors, 1)
#define BY_VECTORS(X, kind, integers) \
  BY_WIDTH(X, kind, integers, 0) BY_WIDTH(X, kind, integers, 2) BY_WIDTH(X, kind, integers, 8)
#define IN_REGISTERS(X, kind) BY_VECTORS(X, kind, 1) BY_VECTORS(X, kind, 6)
#define ALL_CALLERS(X) \
  IN_REGISTERS(X, MIXED) IN_REGISTERS(X, INTEGERS) IN_REGISTERS(X, VECTORS) IN_REGISTERS(X, MEMORY)
ALL_CALLERS(CALLER)

/// A caller takes plans with one kind of result, and loads up to so many registers.
typedef struct straight_caller {
  fwd_checked_call call;
  result_kind kind;
  bool is_wide;
  uint8_t integers, vectors;
} straight_caller;

#define CALLER_ENTRY(kind, integers, vectors, wide) \
  {CALLER_NAME(kind, integers, vectors, wide), RESULT_##kind, wide, integers, vectors},
static const straight_caller straight_callers[] = {ALL_CALLERS(CALLER_ENTRY)};

/// An `unchecked` for plans with a straight caller: there is no variant of these without the check for missing arguments.
static void call_by_checked(const fwd_call_plan *plan, void (*function)(void), void *const *arguments, void *result) {
  plan->checked(plan, function, arguments, result);
}

// MARK: General callers

typedef void (*any_function)(void);

/// The filler whose source is an array of pointers to all arguments.
static any_function fill_from_pointers(const fwd_call_plan *plan, any_function function, const void *source, void *result,
                                       fwd_call_file *file) {
  void *const *arguments = source;
  uint64_t *integers = file->registers, *vectors = integers + FWD_INTEGER_REGISTERS;
  size_t i = 0;
  if (plan->result == FWD_RESULT_MEMORY) integers[i++] = (uint64_t)(uintptr_t)result;
  for (; i < plan->integer_count; i++) integers[i] = fwd_load_any(&plan->integers[i], arguments);
  for (; i < FWD_INTEGER_REGISTERS; i++) integers[i] = 0;
  for (i = 0; i < plan->vector_count; i++) vectors[i] = fwd_load_any(&plan->vectors[i], arguments);
  for (; i < FWD_VECTOR_REGISTERS; i++) vectors[i] = 0;
  fwd_load_stack(plan, arguments, file->stack);
  return function;
}

// Calls a function with all registers, and with the stack words of a plan. No C compiler makes a call whose stack words are as
// many as the plan says. The file is made below the place of the stack words, and ends there before the call: it would take
// stack at each level of a recursion. The pages for both are touched one by one, so that a stack without room for them ends at
// its guard page.
//   rdi  the plan     rsi  the function     rdx  the source     rcx  the memory of the result     r9  the filler
#define CALL_STACK_SIZE_OFFSET 84
_Static_assert(offsetof(fwd_call_plan, stack_size) == CALL_STACK_SIZE_OFFSET && offsetof(fwd_call_file, stack) == 112,
               "the assembly reads them there");
__asm__(
    ".text\n"
    ".p2align 4, 0xCC\n"
    ".globl " SYMBOL(fwd_sysv_call_with_stack) "\n" HIDE(fwd_sysv_call_with_stack)
    SYMBOL(fwd_sysv_call_with_stack) ":\n"
    ".cfi_startproc\n" LANDING
    "  push %rbp\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbp, -16\n"
    "  mov %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "  mov " EXPAND(CALL_STACK_SIZE_OFFSET) "(%rdi), %eax\n"
    "  add $15, %rax\n"
    "  and $-16, %rax\n"
    "  add $112, %rax\n"
    "1:\n"
    "  cmp $4096, %rax\n"
    "  jb 2f\n"
    "  sub $4096, %rsp\n"
    "  orq $0, (%rsp)\n"
    "  sub $4096, %rax\n"
    "  jmp 1b\n"
    "2:\n"
    "  sub %rax, %rsp\n"
    "  mov %rsp, %r8\n"
    "  call *%r9\n"
    "  mov %rax, %r11\n"
    "  mov (%rsp), %rdi\n"
    "  mov 8(%rsp), %rsi\n"
    "  mov 16(%rsp), %rdx\n"
    "  mov 24(%rsp), %rcx\n"
    "  mov 32(%rsp), %r8\n"
    "  mov 40(%rsp), %r9\n"
    "  movsd 48(%rsp), %xmm0\n"
    "  movsd 56(%rsp), %xmm1\n"
    "  movsd 64(%rsp), %xmm2\n"
    "  movsd 72(%rsp), %xmm3\n"
    "  movsd 80(%rsp), %xmm4\n"
    "  movsd 88(%rsp), %xmm5\n"
    "  movsd 96(%rsp), %xmm6\n"
    "  movsd 104(%rsp), %xmm7\n"
    "  add $112, %rsp\n"
    "  call *%r11\n"
    "  leave\n"
    ".cfi_def_cfa %rsp, 8\n"
    "  ret\n"
    ".cfi_endproc\n");

// It comes back with what the function returned, wherever that is, so it has a name for each type of a result. It makes the
// file itself.
#define DECLARE_CALL(name, returned)                                                                                  \
  __attribute__((visibility("hidden"))) returned name(const fwd_call_plan *plan, any_function function,               \
                                                      const void *source, void *result, fwd_call_file *ignored_file, \
                                                      fwd_call_filler fill) __asm__(SYMBOL(fwd_sysv_call_with_stack));
DECLARE_CALL(call_for_nothing, void)
DECLARE_CALL(call_for_mixed, fwd_call_returned)
DECLARE_CALL(call_for_integers, returned_integers)
DECLARE_CALL(call_for_vectors, returned_vectors)
DECLARE_CALL(call_for_x87, long double)
DECLARE_CALL(call_for_complex_x87, _Complex long double)

// A function for each kind of result, with a stack frame of the size that it needs.

static void call_general_for_nothing(const fwd_call_plan *plan, any_function function, const void *source, void *result,
                                     fwd_call_filler fill) {
  call_for_nothing(plan, function, source, result, NULL, fill);
}

static void call_general(const fwd_call_plan *plan, any_function function, const void *source, void *result,
                         fwd_call_filler fill) {
  fwd_call_returned returned = call_for_mixed(plan, function, source, result, NULL, fill);
  if (result) store_mixed(plan, returned, result);
}

static void call_general_for_integers(const fwd_call_plan *plan, any_function function, const void *source, void *result,
                                      fwd_call_filler fill) {
  returned_integers returned = call_for_integers(plan, function, source, result, NULL, fill);
  if (result) store_two(returned.integers[0], returned.integers[1], plan->result_size, result);
}

static void call_general_for_vectors(const fwd_call_plan *plan, any_function function, const void *source, void *result,
                                     fwd_call_filler fill) {
  returned_vectors returned = call_for_vectors(plan, function, source, result, NULL, fill);
  uint64_t words[2];
  memcpy(words, returned.vectors, sizeof words);
  if (result) store_two(words[0], words[1], plan->result_size, result);
}

static void call_general_for_x87(const fwd_call_plan *plan, any_function function, const void *source, void *result,
                                 fwd_call_filler fill) {
  if (plan->result == FWD_RESULT_X87) {
    long double returned = call_for_x87(plan, function, source, result, NULL, fill);
    if (result) memcpy(result, &returned, plan->result_size);
  } else {
    _Complex long double returned = call_for_complex_x87(plan, function, source, result, NULL, fill);
    if (result) memcpy(result, &returned, plan->result_size);
  }
}

/// Has pointers to all arguments.
static void call_general_with_pointers(const fwd_call_plan *plan, any_function function, void *const *arguments,
                                       void *result) {
  plan->filled(plan, function, arguments, result, fill_from_pointers);
}

static fwd_filled_call choose_filled(const fwd_call_plan *plan) {
  switch (plan->result) {
    case FWD_RESULT_VOID:
    case FWD_RESULT_MEMORY: return call_general_for_nothing;
    case FWD_RESULT_INTEGER_INTEGER: return call_general_for_integers;
    case FWD_RESULT_VECTOR_VECTOR: return call_general_for_vectors;
    case FWD_RESULT_X87:
    case FWD_RESULT_COMPLEX_X87: return call_general_for_x87;
    default: return call_general;
  }
}

// MARK: The choice

static result_kind kind_of(const fwd_call_plan *plan) {
  switch (plan->result) {
    case FWD_RESULT_INTEGER_INTEGER: return RESULT_INTEGERS;
    case FWD_RESULT_VECTOR_VECTOR: return RESULT_VECTORS;
    case FWD_RESULT_MEMORY: return RESULT_MEMORY;
    case FWD_RESULT_X87:
    case FWD_RESULT_COMPLEX_X87: return RESULT_X87;
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

/// Finds the straight-line caller for a plan. Returns NULL if no such caller fits the plan.
static fwd_checked_call choose_straight(const fwd_call_plan *plan) {
  result_kind kind = kind_of(plan);
  size_t hidden_count = kind == RESULT_MEMORY, integer_count = plan->integer_count;
  if (kind == RESULT_X87 || plan->stack_size > 0) return NULL;
  // Without a move there is none to repeat.
  if (integer_count == hidden_count && plan->vector_count == 0) return NULL;
  move_width width = narrower(width_of(plan->integers + hidden_count, integer_count - hidden_count),
                              width_of(plan->vectors, plan->vector_count));
  if (width == NO_WIDTH) return NULL;
  for (size_t i = 0; i < sizeof straight_callers / sizeof *straight_callers; i++) {
    const straight_caller *caller = &straight_callers[i];
    if (caller->kind != kind || caller->is_wide != (width == ALL_WIDE)) continue;
    if (caller->integers >= integer_count && caller->vectors >= plan->vector_count) return caller->call;
  }
  return NULL;
}

fwd_caller_choice fwd_sysv_choose_caller(const fwd_call_plan *plan, bool has_jump) {
  fwd_filled_call filled = choose_filled(plan);
  if (has_jump) {
    bool is_nothing = plan->result == FWD_RESULT_VOID || plan->result == FWD_RESULT_MEMORY;
    bool is_word = plan->result == FWD_RESULT_INTEGER && plan->result_size == 8;
    fwd_unchecked_call unchecked = is_nothing ? jump_for_nothing : is_word ? jump_for_word : jump_for_result;
    return (fwd_caller_choice){jump_checked, unchecked, filled};
  }
  fwd_checked_call straight = choose_straight(plan);
  if (straight) return (fwd_caller_choice){straight, call_by_checked, filled};
  return (fwd_caller_choice){fwd_call_plan_check_first, call_general_with_pointers, filled};
}

#endif
