// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a signature's call plan does, for those who want to look at it: nothing of this is used by a call.

#ifndef FWD_PLAN_H
#define FWD_PLAN_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Where the bytes of an argument or a result are.
typedef enum fwd_place_kind {
  /// `index` counts in the order of the calling convention: 0 is rdi for an argument and rax for a result.
  FWD_PLACE_INTEGER_REGISTER = 0,
  FWD_PLACE_VECTOR_REGISTER = 1,
  /// `index` is the offset in bytes from the first stack word of the arguments.
  FWD_PLACE_STACK = 2,
  /// Results on x86-64 only: the x87 stack.
  FWD_PLACE_X87_REGISTER = 3,
  /// Results only: memory of the caller's, whose address a move with FWD_PLAN_RESULT_ADDRESS passes.
  FWD_PLACE_MEMORY = 4,
} fwd_place_kind;

/// Instead of the index of an argument: the address of the memory for the result.
#define FWD_PLAN_RESULT_ADDRESS UINT32_MAX

/// Bytes of an argument or of the result, and where they are while the call begins or ends.
typedef struct fwd_plan_move {
  /// The argument, or FWD_PLAN_RESULT_ADDRESS; 0 for the result.
  uint32_t argument;
  /// Which bytes of it.
  uint32_t offset;
  uint32_t size;
  fwd_place_kind kind;
  uint32_t index;
  /// Whether the place holds the address of a copy of these bytes (large structs on AArch64).
  bool is_address;
} fwd_plan_move;

/// Whether there is a call plan for the signature; if not, calls of it go through libffi.
bool fwd_plan_exists(const fwd_signature *FWD_NONNULL signature);

/// Gives what the plan loads before the call: the first `capacity` of the moves, in no order that means
/// anything. Gives their number, which may be more; 0 if there is no plan.
size_t fwd_plan_moves(const fwd_signature *FWD_NONNULL signature, fwd_plan_move *FWD_NULLABLE moves, size_t capacity);

/// The bytes of stack words that the plan fills.
size_t fwd_plan_stack_size(const fwd_signature *FWD_NONNULL signature);

enum { FWD_PLAN_RESULT_PLACES = 4 };

/// Gives where the result is after the call, by its bytes in order. Gives how many there are: 0 for `void` or
/// if there is no plan, at most FWD_PLAN_RESULT_PLACES.
size_t fwd_plan_result_places(const fwd_signature *FWD_NONNULL signature, fwd_plan_move *FWD_NONNULL places);

/// The name of a register of the processor that this is compiled for, "?" for one that is none. Registers of
/// results have an order of their own. Valid for the life of the process.
const char *FWD_NONNULL fwd_plan_register_name(fwd_place_kind kind, uint32_t index, bool is_result);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
