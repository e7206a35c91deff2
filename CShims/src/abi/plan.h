// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Call plans: a placement in the form that calls read, with the functions that carry it out.

#ifndef FWD_SRC_PLAN_H
#define FWD_SRC_PLAN_H

#include "abi/placement.h"

/// The most stack words that x86-64's jumps load one by one.
enum { FWD_PLAN_WORDS = 8 };

/// Loads a register or a stack word from up to 8 bytes of an argument, or a vector register of AArch64 from 16. Size 0
/// is a register that is not loaded from an argument: it holds an address, or is skipped.
typedef struct fwd_move {
  uint16_t argument;
  uint16_t offset;
  uint8_t size;
  bool is_signed;
  /// For moves of 4 and 8 bytes: from which byte on the upper half of the register is read, 0 or 4.
  uint8_t high;
} fwd_move;

/// Copies an argument to the stack.
typedef struct fwd_stack_move {
  uint16_t argument;
  bool is_signed;
  uint32_t size;
  /// The offset in bytes from the first stack word.
  uint32_t offset;
} fwd_stack_move;

/// AArch64: copies an argument that is passed by address, and passes the copy's address.
typedef struct fwd_reference {
  uint16_t argument;
  /// The integer register, or FWD_INTEGER_REGISTERS plus the index of the stack word.
  uint16_t target;
  uint32_t size;
  /// The offset in bytes among the copies.
  uint32_t offset;
} fwd_reference;

typedef struct fwd_call_plan fwd_call_plan;

/// Calls a function with the values that `arguments` point to. Returns FWD_NULL_ARGUMENT, with nothing called, if an argument
/// that has bytes has no address. Writes exactly the result's bytes, or none if `result` is NULL.
typedef fwd_status (*fwd_checked_call)(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                       void *result);

/// Calls a function with the values that `arguments` point to, all of which have addresses. `result` has room for the result.
/// It may be NULL if the result is not wanted and not in memory.
typedef void (*fwd_unchecked_call)(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                   void *result);

#if FWD_HAS_FILLED_CALLS
/// The register file of a call: the values of all argument registers, then the stack words.
typedef struct fwd_call_file {
  /// The integer registers, then the vector registers.
  uint64_t registers[FWD_INTEGER_REGISTERS + FWD_VECTOR_REGISTERS];
  unsigned char stack[];
} fwd_call_file;
/// Fills the register file of a call, and returns the function. `source` points to the arguments, in the form that this
/// filler documents. Registers that carry no argument need no value.
typedef void (*(*fwd_call_filler)(const fwd_call_plan *plan, void (*function)(void), const void *source, void *result,
                                  fwd_call_file *file))(void);
/// Fills the register file, then calls the function as a `fwd_unchecked_call` does. The filler's stack frame and the register
/// file are popped before the call, so they take no stack at the levels of a recursion.
typedef void (*fwd_filled_call)(const fwd_call_plan *plan, void (*function)(void), const void *source, void *result,
                                fwd_call_filler fill);
#endif

/// The first member of a signature: `fwd_call` reads `head`, the jump that it finds there reads the rest.
typedef struct fwd_jump_head {
  fwd_call_head head;
  /// The arguments that the registers are loaded from, a byte for each register, in the order of loading.
  uint64_t order;
  const fwd_call_plan *plan;
} fwd_jump_head;

/// Heads of signatures without a jump point here: it is NULL.
extern const fwd_call_jump fwd_no_call_jump;

/// Made by `fwd_call_plan_create`, and immutable.
struct fwd_call_plan {
  /// For callers that do not know whether arguments have addresses: `fwd_cif_call`.
  fwd_checked_call checked;
  /// For callers that know that all arguments have addresses: the fan-out.
  fwd_unchecked_call unchecked;
  /// For messages. It outlives the plan.
  const fwd_encoding *encoding;
#if FWD_HAS_CALL_JUMPS
  /// For `fwd_call`. While libffi is forced, `*head.head.jump` is NULL.
  fwd_jump_head head;
  /// The same jump, whether or not libffi is forced; NULL if the signature has none.
  fwd_call_jump jump;
  /// What each stack word is loaded from, FWD_PLAN_WORDS of them, in the plan's memory; NULL if there are none or more,
  /// or some are not of 4 or 8 bytes.
  const fwd_move *words;
#endif
  /// A `fwd_result_kind`.
  uint8_t result;
  uint8_t result_member_size;
  uint32_t result_size;
  /// The registers in use, a hidden address included.
  uint8_t integer_count;
  uint8_t vector_count;
  uint32_t stack_size;
  uint32_t stack_move_count;
  /// By register. On x86-64 the elements after the last move are copies of another move, so that callers may load more registers
  /// than are in use.
  fwd_move integers[FWD_INTEGER_REGISTERS];
  fwd_move vectors[FWD_VECTOR_REGISTERS];
#if FWD_HAS_FILLED_CALLS
  fwd_filled_call filled;
#endif
#if FWD_IS_AAPCS64
  uint32_t reference_count;
  /// The bytes of all copies, a multiple of 16.
  uint32_t copy_size;
  /// Behind the stack moves, in the plan's memory.
  const fwd_reference *references;
#endif
  fwd_stack_move stack[];
};

enum {
  /// The callers of abi/aapcs64 have a result in memory in a local struct, since C cannot name the register that takes its
  /// address. The struct has this size or, for larger results and for the largest caller, FWD_BY_VALUE_LIMIT.
  FWD_SMALL_MEMORY_RESULT = 512,
  /// The arguments on the stack from which on the largest of these callers is taken, and those that it passes.
  FWD_MIDDLE_STACK = 1024,
  FWD_LARGEST_STACK = 16384,
};

/// The bytes of the stack that a call takes, beside its arguments, more than most calls.
static inline size_t fwd_call_plan_extra_stack(const fwd_call_plan *plan) {
  if (!FWD_IS_AAPCS64) return 0;
  bool is_largest = plan->stack_size > FWD_MIDDLE_STACK;
  bool has_large_room = plan->result == FWD_RESULT_MEMORY && (is_largest || plan->result_size > FWD_SMALL_MEMORY_RESULT);
  return (is_largest ? FWD_LARGEST_STACK : 0) + (has_large_room ? FWD_BY_VALUE_LIMIT : 0);
}

/// Makes the plan of a placement. Sets `*plan` to NULL if the signature has none: on machines of the generic port, and
/// for placements with gaps. `placement` may be NULL. The plan refers to `encoding`. Free it by `free`. On failure `*plan`
/// is not written.
fwd_status fwd_call_plan_create(const fwd_placement *placement, const fwd_encoding *encoding, fwd_call_plan **plan,
                                fwd_error *error);

#if FWD_HAS_CALL_JUMPS
/// Sets whether heads find their jumps. Calls of this function must not overlap.
void fwd_call_jumps_enable(bool enabled);

/// Stores the result that a function called by a jump has left in the registers.
void fwd_call_plan_store(const fwd_call_plan *plan, fwd_call_returned returned, void *result);
#endif

// MARK: For ports

/// Returns the move of a part in a register.
static inline fwd_move fwd_move_of(const fwd_part *part) {
  return (fwd_move){
      .argument = part->argument,
      .offset = part->offset,
      .size = (uint8_t)part->size,
      .is_signed = part->is_signed,
      .high = part->size >= 8 ? 4 : 0,
  };
}

/// Returns the move of a part on the stack.
static inline fwd_stack_move fwd_stack_move_of(const fwd_part *part) {
  return (fwd_stack_move){
      .argument = part->argument,
      .is_signed = part->is_signed,
      .size = part->size,
      .offset = part->index,
  };
}

/// Checks that every argument has an address, then calls `plan->unchecked`. It is the `checked` of plans whose `unchecked` does
/// not check.
fwd_status fwd_call_plan_check_first(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                     void *result);

/// Calls by `plan->checked` a function whose result in memory is not wanted.
fwd_status fwd_call_plan_discard(const fwd_call_plan *plan, void (*function)(void), void *const *arguments);

/// Fails for the first argument without an address.
fwd_status fwd_call_plan_fail(const fwd_call_plan *plan, void *const *arguments);

#endif
