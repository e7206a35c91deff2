// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Describes how the arguments and the result of a signature are passed, for `fwd inspect --plan` and the Swift type
/// `CallPlan`. Calls do not use this.

#ifndef FWD_PLAN_H
#define FWD_PLAN_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// What carries bytes of an argument or of the result: a register or memory.
typedef enum fwd_place_kind {
  /// `index` is the register's number in the order of the calling convention: 0 is rdi for arguments and rax for
  /// results.
  FWD_PLACE_INTEGER_REGISTER = 0,
  FWD_PLACE_VECTOR_REGISTER = 1,
  /// `index` is the offset in bytes from the first stack word of the arguments.
  FWD_PLACE_STACK = 2,
  /// Results on x86-64 only: the x87 stack.
  FWD_PLACE_X87_REGISTER = 3,
  /// Results only: the caller's memory. A move with FWD_PLAN_RESULT_ADDRESS passes its address.
  FWD_PLACE_MEMORY = 4,
} fwd_place_kind;

/// In place of the index of an argument: the address of the memory for the result.
#define FWD_PLAN_RESULT_ADDRESS UINT32_MAX

/// Bytes of an argument or of the result, and what carries them when the call begins or ends.
typedef struct fwd_plan_move {
  /// The argument, or FWD_PLAN_RESULT_ADDRESS; 0 for the result.
  uint32_t argument;
  /// Which bytes of it.
  uint32_t offset;
  uint32_t size;
  fwd_place_kind kind;
  uint32_t index;
  /// Whether the address of a copy of these bytes is passed (large structs on AArch64).
  bool is_address;
} fwd_plan_move;

/// Whether there is a call plan for the signature. If not, calls go through libffi.
bool fwd_plan_exists(const fwd_signature *FWD_NONNULL signature);

/// Writes the first `capacity` moves that a call makes, in the order of the arguments. Returns the number of all moves,
/// or 0 if there is no plan.
size_t fwd_plan_moves(const fwd_signature *FWD_NONNULL signature, fwd_plan_move *FWD_NULLABLE moves, size_t capacity);

/// Returns the size in bytes of the stack words that a call fills.
size_t fwd_plan_stack_size(const fwd_signature *FWD_NONNULL signature);

enum { FWD_PLAN_RESULT_PLACES = 4 };

/// Writes what carries the result after the call, in the order of its bytes. Returns how many moves there are, at most
/// FWD_PLAN_RESULT_PLACES; 0 for `void`, or if there is no plan.
size_t fwd_plan_result_places(const fwd_signature *FWD_NONNULL signature, fwd_plan_move *FWD_NONNULL places);

/// Returns the name of a register of this processor, or "?" if there is no such register. Registers for results are
/// numbered separately. The name is never freed.
const char *FWD_NONNULL fwd_plan_register_name(fwd_place_kind kind, uint32_t index, bool is_result);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
