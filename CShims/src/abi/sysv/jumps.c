// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Jumps: how `fwd_call` calls functions of the commonest shapes on System V x86-64.
///
/// A *jump* is a piece of assembly that loads the argument registers and then jumps to the function, which returns to
/// the caller of the jump: a tail call. At run time it tests only whether each argument has an address, and a result in memory.
/// All else is fixed by the *shape* of the signature, so there is one jump for each shape (signatures with stack words share two,
/// see below). A shape has:
///
///   - up to four integer and two vector registers (with a result in memory three and one),
///   - each loaded from a whole argument, which has 4 or 8 bytes,
///   - no stack words, and
///   - a result in rax, in xmm0, in one of each, in memory, or none.
///
/// What `int64_t f(void *a, double b, int c)` goes through:
///
///     fwd_signature            enabled_jumps                the shape's jump
///     +----------------+       +----------------+           +--------------------------+
///     | head.jump    --|------>| shape's      --|---------->| argument 1 to xmm0       |
///     | head.result    |       | ...            |           | 4 bytes, arg. 2, to esi  |
///     | order  1,2,0 --|---.   +----------------+           | argument 0 to rdi        |
///     | plan           |   |   all NULL while libffi        | jump to f                |--> f
///     +----------------+   |   is forced                    +--------------------------+
///                          '--- a byte for each register: which argument it is loaded from
///
/// The index of a shape follows from the number of registers of each kind and from which of them load 8 bytes
/// (SHAPE_INDEX). C and the assembler use one formula, and the assembler checks that each jump is where its index says. A
/// result in memory needs one more integer register, the first, for the memory's address. Shapes with such a result
/// come after all others; the extra register does not count in their index, nor as one of the three.
///
/// Most signatures of 8-byte arguments have those for integer registers first and those for vector registers last, as
/// `(void *, int64_t, double)` has. For these there are 14 *straight* jumps, one for each pair of numbers of registers, which do
/// not read the order.
///
/// Jumps are written in assembly because compilers add 12 instructions to the 38 of the largest jump: they keep a frame
/// pointer, and clear registers for a missing argument. A jump of a shape changes neither the stack nor a callee-saved
/// register, so one unwind entry covers them all. callers.c explains why calling through a type of whole registers is sound.

#include "abi/sysv/jumps.h"

#if FWD_IS_SYSV

#include <string.h>

#include "abi/missing.h"
#include "abi/sysv/assembly.h"

// MARK: The numbers of shapes

enum { max_integers = 4, max_vectors = 2, max_integers_in_memory = 3, max_vectors_in_memory = 1 };

/// Numbers the shapes of `i` integer registers, of which those in the mask `wide_i` take 8 bytes, and `v` vector
/// registers with the mask `wide_v`; `in_memory` is 1 for a result in memory, else 0. There are 2^k masks of k registers,
/// and those of fewer registers come first: masks of k bits begin at 2^k - 1. There are 7 masks of up to two vector
/// registers, and 3 of up to one. C and the assembler read this.
#define SHAPE_INDEX(in_memory, i, wide_i, v, wide_v) \
  ((in_memory) * SHAPE_COUNT + ((1 << (i)) - 1 + (wide_i)) * (7 - 4 * (in_memory)) + ((1 << (v)) - 1 + (wide_v)))
#define SHAPE_COUNT 217
#define SHAPE_COUNT_IN_MEMORY 45
#define JUMP_COUNT 262
/// Numbers the straight jumps, which load at least one register.
#define STRAIGHT_INDEX(i, v) (JUMP_COUNT - 1 + 3 * (i) + (v))
/// The indices of the two jumps with stack words: one for arguments of 8 bytes only, one for those of 4 and 8.
#define JUMP_WITH_STACK_WIDE 276
#define JUMP_WITH_STACK_ANY 277
#define ALL_JUMP_COUNT 278

_Static_assert(SHAPE_INDEX(0, max_integers, 15, max_vectors, 3) == SHAPE_COUNT - 1, "the last shape");
_Static_assert(SHAPE_INDEX(1, max_integers_in_memory, 7, max_vectors_in_memory, 1) == JUMP_COUNT - 1, "the last in memory");
_Static_assert(SHAPE_COUNT + SHAPE_COUNT_IN_MEMORY == JUMP_COUNT, "all shapes have jumps");
_Static_assert(STRAIGHT_INDEX(0, 1) == JUMP_COUNT, "straight jumps come after those of shapes");
_Static_assert(STRAIGHT_INDEX(max_integers, max_vectors) == JUMP_WITH_STACK_WIDE - 1, "the last straight jump");
_Static_assert(FWD_ARGUMENT_LIMIT <= UINT8_MAX + 1, "an argument's number fits a byte of `order`");

// MARK: Refused calls

// Jumps call this in place of the function if an argument has no address, or if the result is in memory and the caller has
// passed NULL for it. The register of `result` has been overwritten by then, so the parameter is not read.
__attribute__((used, cold, visibility("hidden"))) fwd_call_returned fwd_refuse_call(const fwd_call_head *head,
                                                                                    void *result,
                                                                                    void *const *arguments,
                                                                                    fwd_status *status,
                                                                                    void (*function)(void)) {
  (void)result;
  const fwd_call_plan *plan = ((const fwd_jump_head *)head)->plan;
  bool is_complete = plan->result == FWD_RESULT_MEMORY && fwd_has_addresses(plan->encoding, arguments);
  *status = is_complete ? fwd_call_plan_discard(plan, function, arguments) : fwd_call_plan_fail(plan, arguments);
  return (fwd_call_returned){0, 0};
}

// MARK: The jumps

#if defined(__ELF__)
#define CONSTANTS ".data.rel.ro,\"aw\",%progbits"
#else
#define CONSTANTS "__DATA,__const"
#endif

#define ORDER_OFFSET 16
_Static_assert(offsetof(fwd_jump_head, order) == ORDER_OFFSET, "jumps read `order` there");

// A jump is called as a fwd_call_jump:
//   rdi  the head                    rdx  the arguments' addresses     r8  the function
//   rsi  the memory of the result    rcx  the status
// The function stays in r8, which no shape loads. The addresses stay in rdx, or move to r10 if rdx is to be loaded. The status's
// address stays in rcx, or moves to r9 if rcx is to be loaded. The head stays in rdi, which is loaded last, by way of rax.
// Before fwd_refuse_call, the jump moves all of them back to the registers in which they came, except the memory of the result.
//
// A register is first loaded with the argument's address, then with the argument. A straight jump knows the argument's number.
// All other jumps first load the argument's number from `order`: by a load for each number if there are few. If there are many,
// these loads would take longest, so one load puts all eight numbers into rax, and al and ah give them two by two.
__asm__(
    // Puts the address of the jump that follows into the table.
    ".set fwd_jump_count, 0\n"
    ".macro fwd_index index\n"
    "  .ifne fwd_jump_count - (\\index)\n"
    "    .error \"a jump is not where its index says\"\n"
    "  .endif\n"
    "  .set fwd_jump_count, fwd_jump_count + 1\n"
    // Each begins a cache line: at another address a call may wait for two, which costs up to a third more.
    "  .p2align 6, 0xCC\n"
    "7:\n"
    "  .pushsection " CONSTANTS "\n"
    "  .quad 7b\n"
    "  .popsection\n"
    ".endm\n"

    // Loads the address of an argument, whose number is next in the order, or is `number` in a straight jump.
    ".macro fwd_load_address number, wide, narrow\n"
    "  .if fwd_is_straight\n"
    "  .elseif fwd_is_short\n"
    "    movzbl " EXPAND(ORDER_OFFSET) "+fwd_position(%rdi), %\\narrow\n"
    "  .elseif fwd_position & 1\n"
    "    movzbl %ah, %\\narrow\n"
    "  .else\n"
    "    .if fwd_position\n"
    "      shr $16, %rax\n"
    "    .endif\n"
    "    movzbl %al, %\\narrow\n"
    "  .endif\n"
    "  .set fwd_position, fwd_position + 1\n"
    "  .if fwd_is_straight & fwd_keeps_addresses\n"
    "    mov 8*(\\number)(%rdx), %\\wide\n"
    "  .elseif fwd_is_straight\n"
    "    mov 8*(\\number)(%r10), %\\wide\n"
    "  .elseif fwd_keeps_addresses\n"
    "    mov (%rdx,%\\wide,8), %\\wide\n"
    "  .else\n"
    "    mov (%r10,%\\wide,8), %\\wide\n"
    "  .endif\n"
    "  test %\\wide, %\\wide\n"
    "  jz 9f\n"
    ".endm\n"

    // Loads an integer register from an argument whose address goes to the register `address` first.
    ".macro fwd_load_integer number, wide, narrow, address, address_narrow\n"
    "  .if fwd_integers > \\number\n"
    "    fwd_load_address \\number, \\address, \\address_narrow\n"
    "    .if (fwd_wide_integers >> \\number) & 1\n"
    "      mov (%\\address), %\\wide\n"
    "    .else\n"
    "      mov (%\\address), %\\narrow\n"
    "    .endif\n"
    "  .endif\n"
    ".endm\n"

    ".macro fwd_load_vector number, register\n"
    "  .if fwd_vectors > \\number\n"
    "    fwd_load_address \"fwd_integers+\\number\", rsi, esi\n"
    "    .if (fwd_wide_vectors >> \\number) & 1\n"
    "      movsd (%rsi), %\\register\n"
    "    .else\n"
    "      movss (%rsi), %\\register\n"
    "    .endif\n"
    "  .endif\n"
    ".endm\n"

    ".macro fwd_jump\n"
    LANDING
    "  .set fwd_position, 0\n"
    "  .set fwd_is_short, (fwd_integers + fwd_vectors < 4) & 1\n"
    "  .set fwd_keeps_addresses, (fwd_integers + fwd_in_memory < 3) & 1\n"
    "  .ifeq fwd_is_short | fwd_is_straight\n"
    "    mov " EXPAND(ORDER_OFFSET) "(%rdi), %rax\n"
    "  .endif\n"
    // Done before the first jump to a refusal, which reads r9.
    "  .if fwd_integers + fwd_in_memory > 3\n"
    "    mov %rcx, %r9\n"
    "  .endif\n"
    "  .ifeq fwd_keeps_addresses\n"
    "    mov %rdx, %r10\n"
    "  .endif\n"
    // A result that is not wanted needs memory, which fwd_refuse_call provides.
    "  .if fwd_in_memory\n"
    "    test %rsi, %rsi\n"
    "    jz 9f\n"
    "    mov %rsi, %r11\n"
    "  .endif\n"
    "  .if fwd_integers + fwd_vectors\n"
    "    test %rdx, %rdx\n"
    "    jz 9f\n"
    "  .endif\n"
    "  fwd_load_vector 0, xmm0\n"
    "  fwd_load_vector 1, xmm1\n"
    "  .if fwd_in_memory\n"
    "    fwd_load_integer 0, rsi, esi, rsi, esi\n"
    "    fwd_load_integer 1, rdx, edx, rdx, edx\n"
    "    fwd_load_integer 2, rcx, ecx, rcx, ecx\n"
    "    mov %r11, %rdi\n"
    "  .else\n"
    "    fwd_load_integer 1, rsi, esi, rsi, esi\n"
    "    fwd_load_integer 2, rdx, edx, rdx, edx\n"
    "    fwd_load_integer 3, rcx, ecx, rcx, ecx\n"
    "    fwd_load_integer 0, rdi, edi, rax, eax\n"
    "  .endif\n"
    "  jmp *%r8\n"
    "9:\n"
    "  .if fwd_integers + fwd_in_memory > 3\n"
    "    mov %r9, %rcx\n"
    "  .endif\n"
    "  .ifeq fwd_keeps_addresses\n"
    "    mov %r10, %rdx\n"
    "  .endif\n"
    "  jmp " SYMBOL(fwd_refuse_call) "\n"
    ".endm\n");

__asm__(
    // The table.
    ".pushsection " CONSTANTS "\n"
    ".globl " SYMBOL(fwd_jumps) "\n" HIDE(fwd_jumps)
    ".p2align 3\n"
    SYMBOL(fwd_jumps) ":\n"
    ".popsection\n"

    ".text\n"
    ".p2align 6, 0xCC\n"
    // For debuggers and profilers.
    SYMBOL(fwd_jump) ":\n"
    ".cfi_startproc\n"
    // The shapes.
    ".set fwd_is_straight, 0\n"
    ".set fwd_in_memory, 0\n"
    ".rept 2\n"
    "  .set fwd_integers, 0\n"
    "  .rept 5 - fwd_in_memory\n"
    "    .set fwd_wide_integers, 0\n"
    "    .rept 1 << fwd_integers\n"
    "      .set fwd_vectors, 0\n"
    "      .rept 3 - fwd_in_memory\n"
    "        .set fwd_wide_vectors, 0\n"
    "        .rept 1 << fwd_vectors\n"
    "          fwd_index \""
    EXPAND(SHAPE_INDEX(fwd_in_memory, fwd_integers, fwd_wide_integers, fwd_vectors, fwd_wide_vectors)) "\"\n"
    "          fwd_jump\n"
    "          .set fwd_wide_vectors, fwd_wide_vectors + 1\n"
    "        .endr\n"
    "        .set fwd_vectors, fwd_vectors + 1\n"
    "      .endr\n"
    "      .set fwd_wide_integers, fwd_wide_integers + 1\n"
    "    .endr\n"
    "    .set fwd_integers, fwd_integers + 1\n"
    "  .endr\n"
    "  .set fwd_in_memory, fwd_in_memory + 1\n"
    ".endr\n"
    // The straight ones.
    ".set fwd_is_straight, 1\n"
    ".set fwd_in_memory, 0\n"
    ".set fwd_wide_integers, 15\n"
    ".set fwd_wide_vectors, 3\n"
    ".set fwd_integers, 0\n"
    ".rept 5\n"
    "  .set fwd_vectors, 0\n"
    "  .rept 3\n"
    "    .if fwd_integers + fwd_vectors\n"
    "      fwd_index \"" EXPAND(STRAIGHT_INDEX(fwd_integers, fwd_vectors)) "\"\n"
    "      fwd_jump\n"
    "    .endif\n"
    "    .set fwd_vectors, fwd_vectors + 1\n"
    "  .endr\n"
    "  .set fwd_integers, fwd_integers + 1\n"
    ".endr\n"
    ".cfi_endproc\n");

// MARK: The jumps with stack words

// They take all plans whose moves are of 4 and 8 bytes, with up to FWD_PLAN_WORDS stack words, and whose result is not in
// memory. They push the stack words and load the registers as the moves of the plan say, so they have a frame. A compiler
// would load all values before it pushes the first, which takes three times as much of the stack.
//
// The function moves to r11, the addresses to r10, the plan to rdi; the status's address is in rcx. rdi and rcx are loaded
// last.

#define PLAN_OFFSET 24
#define HEAD_OFFSET 24
#define WORDS_OFFSET 64
#define INTEGER_COUNT_OFFSET 80
#define VECTOR_COUNT_OFFSET 81
#define STACK_SIZE_OFFSET 84
#define INTEGERS_OFFSET 92
#define VECTORS_OFFSET 140
_Static_assert(offsetof(fwd_jump_head, plan) == PLAN_OFFSET && offsetof(fwd_call_plan, head) == HEAD_OFFSET &&
                   offsetof(fwd_call_plan, words) == WORDS_OFFSET &&
                   offsetof(fwd_call_plan, integer_count) == INTEGER_COUNT_OFFSET &&
                   offsetof(fwd_call_plan, vector_count) == VECTOR_COUNT_OFFSET &&
                   offsetof(fwd_call_plan, stack_size) == STACK_SIZE_OFFSET &&
                   offsetof(fwd_call_plan, integers) == INTEGERS_OFFSET &&
                   offsetof(fwd_call_plan, vectors) == VECTORS_OFFSET,
               "jumps read the plan there");
_Static_assert(sizeof(fwd_move) == 8 && offsetof(fwd_move, argument) == 0 && offsetof(fwd_move, offset) == 2 &&
                   offsetof(fwd_move, high) == 6,
               "jumps read moves there");

__asm__(
    // The address of the argument of the move at `move`, in rax.
    ".macro fwd_find_argument move:vararg\n"
    "  movzwl \\move, %eax\n"
    "  mov (%r10,%rax,8), %rax\n"
    ".endm\n"

    // Loads a register by the move at `at` bytes from the register `base`, from an argument whose address is in rax. `base`
    // may be the register to load; `free` may be too, unless it is `base`. Loads 4 bytes twice as fwd_load_halves does.
    ".macro fwd_load_move is_wide, at, base, wide, narrow, free, free_narrow\n"
    "  movzwl \\at+2(%\\base), %\\free_narrow\n"
    "  .if \\is_wide\n"
    "    mov (%rax,%\\free), %\\wide\n"
    "  .else\n"
    "    add %\\free, %rax\n"
    "    movzbl \\at+6(%\\base), %\\narrow\n"
    "    mov (%rax,%\\wide), %\\narrow\n"
    "    shl $32, %\\wide\n"
    "    mov (%rax), %eax\n"
    "    or %rax, %\\wide\n"
    "  .endif\n"
    ".endm\n"

    // Loads a register from the argument of a move; refuses the call if that has no address.
    ".macro fwd_load_checked is_wide, at, base, wide, narrow\n"
    "  fwd_find_argument \\at(%\\base)\n"
    "  test %rax, %rax\n"
    "  jz 9f\n"
    "  fwd_load_move \\is_wide, \\at, \\base, \\wide, \\narrow, \\wide, \\narrow\n"
    ".endm\n"

    ".macro fwd_load_plan_integer is_wide, number, wide, narrow\n"
    "  fwd_load_checked \\is_wide, " EXPAND(INTEGERS_OFFSET) "+8*\\number, rdi, \\wide, \\narrow\n"
    ".endm\n"

    ".macro fwd_load_plan_vector is_wide, number\n"
    "  fwd_load_checked \\is_wide, " EXPAND(VECTORS_OFFSET) "+8*\\number, rdi, r9, r9d\n"
    "  movq %r9, %xmm\\number\n"
    ".endm\n"

    ".macro fwd_jump_with_stack is_wide\n"
    ".cfi_startproc\n"
    LANDING
    "  push %rbp\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbp, -16\n"
    "  mov %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    // Done before the first jump to a refusal, which reads r11 and r10.
    "  mov %r8, %r11\n"
    "  mov %rdx, %r10\n"
    "  mov " EXPAND(PLAN_OFFSET) "(%rdi), %rdi\n"
    "  test %r10, %r10\n"
    "  jz 9f\n"
    // An even number of words, from the last to the first.
    "  mov " EXPAND(STACK_SIZE_OFFSET) "(%rdi), %r8d\n"
    "  add $15, %r8\n"
    "  and $-16, %r8\n"
    "  add " EXPAND(WORDS_OFFSET) "(%rdi), %r8\n"
    "1:\n"
    "  sub $8, %r8\n"
    "  fwd_load_checked \\is_wide, 0, r8, r9, r9d\n"
    "  push %r9\n"
    "  cmp %r8, " EXPAND(WORDS_OFFSET) "(%rdi)\n"
    "  jne 1b\n"
    "  cmpb $0, " EXPAND(VECTOR_COUNT_OFFSET) "(%rdi)\n"
    "  je 2f\n"
    "  .irp number, 0, 1, 2, 3, 4, 5, 6, 7\n"
    "    fwd_load_plan_vector \\is_wide, \\number\n"
    "  .endr\n"
    "2:\n"
    "  cmpb $1, " EXPAND(INTEGER_COUNT_OFFSET) "(%rdi)\n"
    "  jbe 3f\n"
    "  fwd_load_plan_integer \\is_wide, 5, r9, r9d\n"
    "  fwd_load_plan_integer \\is_wide, 4, r8, r8d\n"
    "  fwd_load_plan_integer \\is_wide, 2, rdx, edx\n"
    "  fwd_load_plan_integer \\is_wide, 1, rsi, esi\n"
    "3:\n"
    "  fwd_find_argument " EXPAND(INTEGERS_OFFSET) "(%rdi)\n"
    "  test %rax, %rax\n"
    "  jz 9f\n"
    // No jump to a refusal behind this, so rcx, which has the status's address, may be loaded.
    "  fwd_load_plan_integer \\is_wide, 3, rcx, ecx\n"
    "  fwd_find_argument " EXPAND(INTEGERS_OFFSET) "(%rdi)\n"
    "  fwd_load_move \\is_wide, " EXPAND(INTEGERS_OFFSET) ", rdi, rdi, edi, r10, r10d\n"
    "  call *%r11\n"
    "  leave\n"
    ".cfi_remember_state\n"
    ".cfi_def_cfa %rsp, 8\n"
    "  ret\n"
    ".cfi_restore_state\n"
    "9:\n"
    "  leave\n"
    ".cfi_def_cfa %rsp, 8\n"
    "  add $" EXPAND(HEAD_OFFSET) ", %rdi\n"
    "  mov %r10, %rdx\n"
    "  mov %r11, %r8\n"
    "  jmp " SYMBOL(fwd_refuse_call) "\n"
    ".cfi_endproc\n"
    ".endm\n"

    ".text\n"
    ".p2align 6, 0xCC\n"
    SYMBOL(fwd_jump_with_stack) ":\n"
    "fwd_index " EXPAND(JUMP_WITH_STACK_WIDE) "\n"
    "fwd_jump_with_stack 1\n"
    "fwd_index " EXPAND(JUMP_WITH_STACK_ANY) "\n"
    "fwd_jump_with_stack 0\n");

// MARK: The tables

extern __attribute__((visibility("hidden"))) const fwd_call_jump fwd_jumps[ALL_JUMP_COUNT];

/// What heads point into: all jumps, or NULL for each while libffi is forced. NULL also until the library's constructor has
/// run: calls of earlier constructors go through `fwd_call_any`.
static fwd_call_jump enabled_jumps[ALL_JUMP_COUNT];

void fwd_call_jumps_enable(bool enabled) {
  for (size_t i = 0; i < ALL_JUMP_COUNT; i++) {
    // Relaxed: a call may go either way while this runs.
    __atomic_store_n(&enabled_jumps[i], enabled ? fwd_jumps[i] : NULL, __ATOMIC_RELAXED);
  }
}

// MARK: The choice

/// Whether all arguments have 8 bytes, with those for integer registers before those for vector registers.
static bool is_straight(const fwd_call_plan *plan) {
  size_t integers = plan->integer_count, vectors = plan->vector_count;
  for (size_t i = 0; i < integers + vectors; i++) {
    const fwd_move *move = i < integers ? &plan->integers[i] : &plan->vectors[i - integers];
    if (move->argument != i || move->offset != 0 || move->size != 8) return false;
  }
  return integers + vectors > 0;
}

/// Returns the mask of the moves of 8 bytes, or SIZE_MAX if one is not of a whole argument of 4 or 8 bytes.
static size_t wide_mask(const fwd_move *moves, size_t count) {
  size_t mask = 0;
  for (size_t i = 0; i < count; i++) {
    if (moves[i].offset != 0 || (moves[i].size != 4 && moves[i].size != 8)) return SIZE_MAX;
    if (moves[i].size == 8) mask |= (size_t)1 << i;
  }
  return mask;
}

/// Whether moves are all of 4 and 8 bytes. Sets `*is_wide` to false if one is of 4.
static bool fit_words(const fwd_move *moves, size_t count, bool *is_wide) {
  for (size_t i = 0; i < count; i++) {
    if (moves[i].size != 4 && moves[i].size != 8) return false;
    if (moves[i].size == 4) *is_wide = false;
  }
  return true;
}

/// Returns the index of the jump that makes calls of a plan with stack words, or SIZE_MAX if no jump does.
static size_t find_jump_with_stack(const fwd_call_plan *plan) {
  bool is_wide = true;
  if (plan->result == FWD_RESULT_MEMORY || !plan->words || !fit_words(plan->words, FWD_PLAN_WORDS, &is_wide) ||
      !fit_words(plan->integers, FWD_INTEGER_REGISTERS, &is_wide) ||
      !fit_words(plan->vectors, FWD_VECTOR_REGISTERS, &is_wide)) {
    return SIZE_MAX;
  }
  return is_wide ? JUMP_WITH_STACK_WIDE : JUMP_WITH_STACK_ANY;
}

/// Finds the jump for a plan's shape and returns its index. Returns SIZE_MAX if no jump has that shape.
static size_t find_jump(const fwd_call_plan *plan) {
  size_t in_memory = plan->result == FWD_RESULT_MEMORY;
  size_t integers = plan->integer_count - in_memory, vectors = plan->vector_count;
  bool fits = in_memory ? integers <= max_integers_in_memory && vectors <= max_vectors_in_memory
                        : integers <= max_integers && vectors <= max_vectors;
  if (!fits && plan->stack_size == 0) return SIZE_MAX;
  switch (plan->result) {
    case FWD_RESULT_INTEGER_INTEGER:
    case FWD_RESULT_VECTOR_VECTOR:
    case FWD_RESULT_X87:
    case FWD_RESULT_COMPLEX_X87: return SIZE_MAX;
    default: break;
  }
  if (plan->stack_size > 0) return find_jump_with_stack(plan);
  if (!in_memory && is_straight(plan)) return STRAIGHT_INDEX(integers, vectors);
  size_t wide_integers = wide_mask(plan->integers + in_memory, integers);
  size_t wide_vectors = wide_mask(plan->vectors, vectors);
  if (wide_integers == SIZE_MAX || wide_vectors == SIZE_MAX) return SIZE_MAX;
  return SHAPE_INDEX(in_memory, integers, wide_integers, vectors, wide_vectors);
}

/// The arguments in the order in which a jump of a shape loads their registers, a byte each: the vector registers, then the
/// integer registers, the first of them last. 0 for the jumps with stack words, which read the plan.
static uint64_t order_of(const fwd_call_plan *plan) {
  if (plan->stack_size > 0) return 0;
  uint64_t order = 0;
  size_t place = 0;
  for (size_t i = 0; i < plan->vector_count; i++) order |= (uint64_t)plan->vectors[i].argument << 8 * place++;
  for (size_t i = 1; i < plan->integer_count; i++) order |= (uint64_t)plan->integers[i].argument << 8 * place++;
  if (plan->result != FWD_RESULT_MEMORY && plan->integer_count > 0) {
    order |= (uint64_t)plan->integers[0].argument << 8 * place;
  }
  return order;
}

/// Returns what `fwd_call` does with the registers.
static fwd_call_result result_of(const fwd_call_plan *plan) {
  uint32_t size = plan->result_size;
  switch (plan->result) {
    case FWD_RESULT_VOID:
    case FWD_RESULT_MEMORY: return FWD_CALL_NOTHING;
    case FWD_RESULT_INTEGER:
      return size == 8   ? FWD_CALL_INTEGER_8
             : size == 4 ? FWD_CALL_INTEGER_4
             : size == 1 ? FWD_CALL_INTEGER_1
                         : FWD_CALL_OTHER;
    case FWD_RESULT_VECTOR: return size == 8 ? FWD_CALL_DOUBLE : FWD_CALL_OTHER;
    case FWD_RESULT_INTEGER_VECTOR: return size == 16 ? FWD_CALL_INTEGER_VECTOR : FWD_CALL_OTHER;
    case FWD_RESULT_VECTOR_INTEGER: return size == 16 ? FWD_CALL_VECTOR_INTEGER : FWD_CALL_OTHER;
    default: return FWD_CALL_OTHER;
  }
}

fwd_jump_choice fwd_sysv_choose_jump(const fwd_call_plan *plan) {
  size_t index = find_jump(plan);
  if (index == SIZE_MAX) return (fwd_jump_choice){.head = {.head = {.jump = &fwd_no_call_jump}}};
  return (fwd_jump_choice){
      .jump = fwd_jumps[index],
      .head = {.head = {.jump = &enabled_jumps[index], .result = result_of(plan)}, .order = order_of(plan)},
  };
}

#endif
