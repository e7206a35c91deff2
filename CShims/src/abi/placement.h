// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The placement of a signature: where the calling convention puts each argument and the result. A *part* says which
/// bytes of an argument one register, or adjoining stack words, carry.
///
/// The placement only describes. A call plan (plan.h) is made from it, and holds the same assignment as loads and
/// copies, together with the functions that execute them. Closure entries, the lowering to libffi and `fwd_plan_moves`
/// read the placement too, so calls and closures cannot disagree.
///
/// A *port* is the code for one calling convention: a folder of abi/. Its placement.c computes the placement once for
/// each signature, and no other code classifies types.
///
/// For `void f(struct { double x; int64_t n; } a, int b)` on x86-64:
///
///     parts[0]  argument 0, bytes 0 to 7    vector register 0   (xmm0)
///     parts[1]  argument 0, bytes 8 to 15   integer register 0  (rdi)
///     parts[2]  argument 1, bytes 0 to 3    integer register 1  (rsi), sign-extended

#ifndef FWD_SRC_PLACEMENT_H
#define FWD_SRC_PLACEMENT_H

#include "abi/convention.h"
#include "fwd_encoding.h"

/// What carries a part.
typedef enum fwd_carrier {
  FWD_IN_INTEGER_REGISTER,
  FWD_IN_VECTOR_REGISTER,
  FWD_ON_STACK,
} fwd_carrier;

/// Bytes of one argument that one register carries, or that lie together on the stack.
typedef struct fwd_part {
  uint32_t size;
  /// The number of the register, or the offset in bytes from the first stack word.
  uint32_t index;
  uint16_t argument;
  /// Which bytes of the argument.
  uint8_t offset;
  /// A `fwd_carrier`.
  uint8_t carrier;
  /// AArch64: the bytes of each member of a homogeneous floating aggregate or floating number; 0 for other types.
  uint8_t member_size;
  /// How a part of fewer than 8 bytes fills its register or word: by its sign, or by zeros.
  bool is_signed;
  /// AArch64: the carrier has the address of a copy of these bytes.
  bool is_address;
} fwd_part;

_Static_assert(sizeof(fwd_part) == 16, "an argument's parts fill a cache line at most");

/// In which registers a result comes back.
typedef enum fwd_result_kind {
  FWD_RESULT_VOID,
  FWD_RESULT_INTEGER,
  FWD_RESULT_VECTOR,
  FWD_RESULT_INTEGER_INTEGER,
  FWD_RESULT_INTEGER_VECTOR,
  FWD_RESULT_VECTOR_INTEGER,
  FWD_RESULT_VECTOR_VECTOR,
  FWD_RESULT_X87,
  FWD_RESULT_COMPLEX_X87,
  /// In memory whose address the caller passes: in the first integer register on x86-64, in x8 on AArch64.
  FWD_RESULT_MEMORY,
  /// AArch64: in up to four vector registers, `result_member_size` bytes in each.
  FWD_RESULT_HOMOGENEOUS,
} fwd_result_kind;

/// Immutable once made.
typedef struct fwd_placement {
  uint32_t argument_count;
  uint32_t part_count;
  /// How many registers of each kind are used up. This includes the hidden register that has the address of a result in memory,
  /// and registers that the convention skips: AArch64 begins some arguments at an even register.
  uint8_t integer_count;
  uint8_t vector_count;
  /// A `fwd_result_kind`.
  uint8_t result;
  uint8_t result_member_size;
  uint32_t result_size;
  bool result_is_signed;
  /// Whether some argument or the result has an eightbyte of padding that no register carries. Such signatures have no
  /// call plan.
  bool has_gaps;
  /// The bytes of stack words.
  uint32_t stack_size;
  /// AArch64: the bytes of all copies of arguments that are passed by address; each is aligned to 16.
  uint32_t copy_size;
  /// The parts, sorted by argument, and by offset in the argument. Arguments of size 0 have none. The array stands behind the
  /// placement, in the same memory.
  const fwd_part *parts;
} fwd_placement;

/// Works the placement of a function type out. The types have layouts and can be passed by value (call_interface.c has
/// checked). Sets `*placement` to NULL on machines of the generic port.
///
/// Fails with FWD_UNSUPPORTED for a type that gcc and clang pass differently, and with FWD_NO_MEMORY. Free the placement by
/// `free`.
fwd_status fwd_placement_create(const fwd_encoding *encoding, fwd_placement **placement, fwd_error *error);

/// Whether an integer of this kind is widened by its sign.
static inline bool fwd_type_is_signed(fwd_type_kind kind) {
  return kind == FWD_TYPE_CHAR || kind == FWD_TYPE_SHORT || kind == FWD_TYPE_INT || kind == FWD_TYPE_LONG;
}

/// The bytes that a copy takes up.
static inline uint32_t fwd_copy_size(uint32_t size) { return (size + 15) & ~15u; }

// MARK: For ports

/// A placement that is being made.
typedef struct fwd_placer {
  fwd_placement placement;
  /// The next register of each kind. It is ahead of the placement's count after a register has been skipped.
  unsigned next_integer;
  unsigned next_vector;
  fwd_part *parts;
} fwd_placer;

/// Adds a part in a register, which is then in use.
void fwd_placer_add_register(fwd_placer *placer, fwd_carrier carrier, fwd_part part);

/// Takes the next words of the stack for `size` bytes, aligned to 8 or to 16. Returns their offset.
uint32_t fwd_placer_take_stack(fwd_placer *placer, size_t size, size_t alignment);

/// Copies the finished placement to a new allocation.
fwd_status fwd_placer_finish(const fwd_placer *placer, fwd_placement **placement, fwd_error *error);

#endif
