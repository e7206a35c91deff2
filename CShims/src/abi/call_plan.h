// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Call plans: which bytes of the arguments go to which register or stack word, and how the result comes
/// back, worked out once for a signature. A call then is one C function call with those registers loaded.

#ifndef FWD_SRC_CALL_PLAN_H
#define FWD_SRC_CALL_PLAN_H

#include "fwd_encoding.h"

#if defined(__x86_64__) && defined(__LP64__) && !defined(_WIN32)
#define FWD_HAS_CALL_PLANS 1
#define FWD_HAS_CALL_JUMPS 1
/// Registers, and the most stack words that are loaded one by one.
enum { FWD_PLAN_INTEGERS = 6, FWD_PLAN_VECTORS = 8, FWD_PLAN_WORDS = 16 };
#elif defined(__aarch64__) && defined(__AARCH64EL__) && defined(__LP64__) && defined(__linux__)
// Apple's differ in what call_plan_aapcs64.c says.
#define FWD_HAS_CALL_PLANS 1
enum { FWD_PLAN_INTEGERS = 8, FWD_PLAN_VECTORS = 8 };
#else
#define FWD_HAS_CALL_PLANS 0
enum { FWD_PLAN_INTEGERS = 8, FWD_PLAN_VECTORS = 8 };
#endif

#ifndef FWD_HAS_CALL_JUMPS
#define FWD_HAS_CALL_JUMPS 0
#endif

/// Moves up to eight bytes of an argument to a register, or sixteen to a vector register of AArch64. Size 0 is
/// a register that nothing is moved to: it holds the address of a copy, or is skipped.
typedef struct fwd_move {
  uint16_t argument;
  uint16_t offset;
  uint8_t size;
  bool is_signed;
  /// For moves of 4 and 8 bytes: where the upper half of the register is read from, 0 or 4.
  uint8_t high;
} fwd_move;

/// Copies an argument, or eight bytes of one, to the stack.
typedef struct fwd_stack_move {
  uint16_t argument;
  bool is_signed;
  uint32_t size;
  /// The place among the stack words, in bytes.
  uint32_t place;
} fwd_stack_move;

/// Copies an argument that AArch64 passes by reference, and moves the copy's address.
typedef struct fwd_reference {
  uint16_t argument;
  /// The integer register, or FWD_PLAN_INTEGERS and the index of the stack word.
  uint16_t target;
  uint32_t size;
  /// The place among the copies, in bytes.
  uint32_t place;
} fwd_reference;

typedef struct fwd_call_plan fwd_call_plan;

/// What jumps know of a signature behind what programs know.
typedef struct fwd_jump_head {
  fwd_call_head head;
  /// Which arguments the registers are loaded from, a byte for each, integer registers first.
  uint64_t order;
  const fwd_call_plan *plan;
} fwd_jump_head;

/// Where heads of signatures without a jump find none.
extern const fwd_call_jump fwd_no_call_jump;

/// In which registers a result comes back.
typedef enum fwd_plan_result {
  FWD_PLAN_VOID,
  FWD_PLAN_INTEGER,
  FWD_PLAN_VECTOR,
  FWD_PLAN_INTEGER_INTEGER,
  FWD_PLAN_INTEGER_VECTOR,
  FWD_PLAN_VECTOR_INTEGER,
  FWD_PLAN_VECTOR_VECTOR,
  FWD_PLAN_X87,
  FWD_PLAN_COMPLEX_X87,
  /// In memory whose address is the first integer register, x8 on AArch64.
  FWD_PLAN_MEMORY,
  /// AArch64: in up to four vector registers, `result_member_size` bytes in each.
  FWD_PLAN_HOMOGENEOUS,
} fwd_plan_result;

/// A way of calling functions of one signature: the first member of what it needs to know.
typedef struct fwd_caller fwd_caller;
typedef fwd_status (*fwd_caller_call)(const fwd_caller *caller, void (*function)(void), void *const *arguments,
                                      void *result);
struct fwd_caller {
  /// Calls a function with the values behind `arguments`. Gives FWD_NULL_ARGUMENT, with nothing called, if an
  /// argument that has bytes has no address. Writes exactly the result's bytes, or none if `result` is NULL.
  fwd_caller_call call;
};

/// Calls a function with the values behind `arguments`, all of which have addresses. `result` has room for the
/// result, or is NULL if it is not wanted (but for results in memory, which have to go somewhere).
typedef void (*fwd_plan_caller)(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                void *result);

/// Immutable once compiled.
struct fwd_call_plan {
  /// Looks whether arguments have addresses. `fwd_cif_create` sets it if `fwd_call_plan_select` has not.
  fwd_caller caller;
  /// May do without looking, and has no status: for who knows, and calls many functions with the same arguments.
  fwd_plan_caller call;
  /// What the plan is of, for messages. The call interface retains it.
  const fwd_encoding *encoding;
#if FWD_HAS_CALL_JUMPS
  /// For `fwd_call`.
  fwd_jump_head head;
  /// The jump itself, whatever `head` finds at the moment.
  fwd_call_jump jump;
#endif
#if defined(__x86_64__)
  /// What each stack word is loaded from, in the plan's memory; NULL if some are not of 4 or 8 bytes.
  const fwd_move *words;
#endif
  uint8_t integer_count;
  uint8_t vector_count;
  uint8_t result;
  uint32_t result_size;
  uint32_t stack_size;
  uint32_t stack_move_count;
  fwd_move integers[FWD_PLAN_INTEGERS];
  fwd_move vectors[FWD_PLAN_VECTORS];
#if defined(__aarch64__)
  uint8_t result_member_size;
  uint32_t reference_count;
  /// The bytes of all copies, a multiple of 16.
  uint32_t copy_size;
  /// Behind the stack moves, in the plan's memory.
  const fwd_reference *references;
#endif
  fwd_stack_move stack[];
};

/// Compiles a plan for a signature that has been checked: its types have layouts and can be passed by value.
/// NULL in `*plan` with FWD_OK where there is none for the signature.
fwd_status fwd_call_plan_create(const fwd_encoding *encoding, fwd_call_plan **plan, fwd_error *error);
void fwd_call_plan_destroy(fwd_call_plan *plan);

/// Chooses `plan->call`, and may choose `plan->caller` and `plan->head`.
void fwd_call_plan_select(fwd_call_plan *plan);

#if FWD_HAS_CALL_JUMPS
/// Says whether jumps are found where heads say. Not at the same time as another such call.
void fwd_call_jumps_enable(bool enabled);

/// Stores what a function of a plan with a jump has left in the registers.
void fwd_call_plan_store(const fwd_call_plan *plan, fwd_call_returned returned, void *result);
#endif

/// Fails for arguments of which one has no address.
fwd_status fwd_call_plan_fail(const fwd_call_plan *plan, void *const *arguments);
/// Calls a function whose result in memory is not wanted.
fwd_status fwd_call_plan_discard(const fwd_call_plan *plan, void (*function)(void), void *const *arguments);

#endif
