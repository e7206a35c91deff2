// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a signature is lowered to: the arguments that libffi is told of, which are not always the
/// function's own. libffi has no unions, no `__int128`, no complex integers and passes some structs wrongly,
/// so where the ABI is known (lowering_sysv.c, lowering_aapcs64.c) an argument becomes the pieces that the ABI
/// splits it into. Elsewhere (lowering_generic.c) it becomes one piece of a libffi type.

#ifndef FWD_SRC_LOWERING_H
#define FWD_SRC_LOWERING_H

#include <ffi.h>
#include <stdatomic.h>

#include "call/call_interface.h"
#include "base/word.h"

// FWD_GENERIC_LOWERING is for testing the generic file on a machine that would not use it.
#if defined(__x86_64__) && defined(__LP64__) && !defined(_WIN32) && !defined(FWD_GENERIC_LOWERING)
#define FWD_SYSV_LOWERING 1
#else
#define FWD_SYSV_LOWERING 0
#endif
#if FWD_HAS_CALL_PLANS && defined(__aarch64__) && !defined(FWD_GENERIC_LOWERING)
#define FWD_AAPCS64_LOWERING 1
#else
#define FWD_AAPCS64_LOWERING 0
#endif

/// Where libffi reads a piece.
typedef enum fwd_piece_source {
  /// From the argument itself.
  FWD_PIECE_IN_PLACE,
  /// From a word of our own: the piece has fewer bytes of the argument than libffi reads.
  FWD_PIECE_ZERO_EXTENDED,
  FWD_PIECE_SIGN_EXTENDED,
  /// From a word of our own: the address of a copy of the argument.
  FWD_PIECE_REFERENCE,
  /// It is the address of the result.
  FWD_PIECE_RESULT_ADDRESS,
} fwd_piece_source;

/// One argument of libffi's.
typedef struct fwd_piece {
  /// The type of a piece that goes to the stack as a whole; unused for the rest.
  ffi_type block;
  fwd_piece_source source;
  /// Which argument it is part of, from which byte, and how many bytes.
  uint32_t argument;
  uint32_t offset;
  uint32_t size;
} fwd_piece;

/// The pieces of one argument of the function.
typedef struct fwd_argument_pieces {
  uint16_t first;
  /// 0 for a type of size 0, 1, or 2 for the eightbytes of one.
  uint16_t count;
  /// Whether a closure has to copy the pieces together: they do not cover the argument in one place.
  bool scattered;
} fwd_argument_pieces;

/// How a result comes back from libffi.
typedef enum fwd_result_place {
  /// There is none.
  FWD_RESULT_NONE,
  /// In a `ffi_arg`, which is wider than the result.
  FWD_RESULT_WORD,
  /// In at most FWD_RESULT_REGISTER_BYTES, whole eightbytes: more than the result's size, perhaps.
  FWD_RESULT_REGISTERS,
  /// In memory whose address is the first piece. The function gives that address back.
  FWD_RESULT_MEMORY,
  /// As libffi writes the result's type: exactly its bytes.
  FWD_RESULT_AS_TYPED,
} fwd_result_place;

enum {
  /// A `_Complex long double` in st(0) and st(1).
  FWD_RESULT_REGISTER_BYTES = 32,
  /// The most that is copied together from pieces.
  FWD_SCATTERED_BYTES = 16,
};

struct fwd_cif {
  /// Calls through libffi. First, so that its address is the interface's.
  fwd_caller libffi;
  /// The plan's, or `libffi`.
  const fwd_caller *caller;
  /// Retained.
  fwd_encoding *encoding;
  /// Never written once prepared, so that threads can share it: every type in it has its size, which keeps
  /// libffi from laying it out.
  ffi_cif ffi;
  atomic_size_t references;
  fwd_call_plan *plan;
  ffi_type *result_type;
  fwd_result_place result_place;
  bool result_is_signed;
  size_t result_size;
  uint32_t argument_count;
  uint32_t piece_count;
  /// How many pieces are read from words of our own, and how many arguments are scattered.
  uint32_t word_count;
  uint32_t scattered_count;
  /// The bytes of all copies, a multiple of 16.
  uint32_t copy_size;
  /// `piece_count` of each, in the same order.
  fwd_piece *pieces;
  ffi_type **piece_types;
  /// Blocks of memory that the types need; each begins with the address of the next.
  void *type_storage;
  fwd_argument_pieces arguments[];
};

/// Fills the pieces and the result of `cif`, whose arrays are large enough for two pieces an argument and
/// one more. The types have been checked: they have layouts, and can be passed by value in C.
fwd_status fwd_lower(fwd_cif *cif, const fwd_encoding *encoding, fwd_error *error);

/// Adds a piece to the argument `piece.argument`. A NULL type stands for the piece's own block.
void fwd_cif_add_piece(fwd_cif *cif, ffi_type *type, fwd_piece piece);

/// Whether a small integer of this kind is sign-extended where it is widened.
bool fwd_type_is_signed(fwd_type_kind kind);

/// Another reference, given up by `fwd_cif_destroy`.
const fwd_cif *fwd_cif_retain(const fwd_cif *cif);

/// Fails with a reason about the type at byte `offset`.
fwd_status fwd_cif_refuse(const fwd_encoding *encoding, fwd_status status, size_t offset, const char *reason,
                          fwd_error *error);

/// The first array of 0 elements in the values of a type, else FWD_NO_TYPE. clang spells a flexible array
/// member in this way too. No ABI says how a struct with either is passed, and compilers differ: clang passes
/// one with a flexible member in memory; gcc passes it in registers, and counts a 0-element array's class to
/// the eightbyte in which it stands.
uint32_t fwd_find_empty_array(const fwd_encoding *encoding, uint32_t index);
fwd_status fwd_cif_refuse_empty_array(const fwd_encoding *encoding, uint32_t index, fwd_error *error);

#endif
