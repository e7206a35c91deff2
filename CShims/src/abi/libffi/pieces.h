// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What libffi is told of a signature: its arguments, which are not always the function's own.
///
/// libffi has no unions, no `__int128` and no complex integers, and passes some structs wrongly. So where the placement
/// is known, each argument becomes the pieces that carry it: words, doubles and blocks of stack, about which libffi
/// cannot be wrong (sysv/lowering.c, aapcs64/lowering.c). Elsewhere an argument becomes one piece of a libffi type
/// (generic/lowering.c).
///
/// Only the files of this folder and the ports' lowering.c see <ffi.h>.

#ifndef FWD_SRC_LIBFFI_PIECES_H
#define FWD_SRC_LIBFFI_PIECES_H

#include <ffi.h>
#include <stdatomic.h>

#include "abi/libffi/libffi.h"

/// Where libffi reads a piece.
typedef enum fwd_piece_source {
  /// In the argument itself.
  FWD_PIECE_IN_PLACE,
  /// In a word of ours, because the argument has fewer bytes than libffi reads.
  FWD_PIECE_ZERO_EXTENDED,
  FWD_PIECE_SIGN_EXTENDED,
  /// In a word of ours: the address of a copy of the argument.
  FWD_PIECE_REFERENCE,
  /// The piece is the address of the result.
  FWD_PIECE_RESULT_ADDRESS,
} fwd_piece_source;

/// One of libffi's arguments.
typedef struct fwd_piece {
  /// The type of a piece that goes to the stack as a whole; unused for others.
  ffi_type block;
  fwd_piece_source source;
  /// Which argument it is part of, from which byte on, and how many bytes.
  uint32_t argument;
  uint32_t offset;
  uint32_t size;
} fwd_piece;

/// The pieces of one argument.
typedef struct fwd_argument_pieces {
  uint16_t first;
  /// 0 for a type of size 0, 1, or 2 for a struct in two registers.
  uint16_t count;
  /// Whether a closure has to copy the pieces together: they are not the whole argument in one place.
  bool scattered;
} fwd_argument_pieces;

/// How a result comes back from libffi.
typedef enum fwd_ffi_result {
  /// There is none.
  FWD_FFI_NOTHING,
  /// In an `ffi_arg`, which is wider than the result.
  FWD_FFI_WORD,
  /// In at most FWD_FFI_REGISTER_BYTES, in whole eightbytes, which may be more than the result's size.
  FWD_FFI_REGISTERS,
  /// In memory whose address is the first piece. The function returns that address.
  FWD_FFI_MEMORY,
  /// As libffi writes the result's type: exactly its bytes.
  FWD_FFI_AS_TYPED,
} fwd_ffi_result;

enum {
  /// A `_Complex long double` in st(0) and st(1).
  FWD_FFI_REGISTER_BYTES = 32,
  /// The most that is copied together from pieces.
  FWD_FFI_SCATTERED_BYTES = 16,
};

struct fwd_ffi_interface {
  /// Never written once prepared, so that threads can share it: every type in it has its size, which keeps libffi from
  /// laying it out.
  ffi_cif ffi;
  atomic_size_t references;
  /// Retained.
  fwd_encoding *encoding;
  ffi_type *result_type;
  /// The type of a result that is a struct in memory, on AArch64.
  ffi_type result_block;
  fwd_ffi_result result;
  bool result_is_signed;
  size_t result_size;
  uint32_t argument_count;
  uint32_t piece_count;
  /// How many pieces are read from words of ours, and how many arguments are scattered.
  uint32_t word_count;
  uint32_t scattered_count;
  /// The bytes of all copies, a multiple of 16.
  uint32_t copy_size;
  /// The pieces and their types in the same order, and the pieces of each argument. In the interface's memory.
  fwd_piece *pieces;
  ffi_type **piece_types;
  fwd_argument_pieces *arguments;
  /// Blocks of memory for libffi types of the generic port; each begins with the address of the next.
  void *type_storage;
};

/// Fills the pieces and the result of an interface that has room for two more pieces than the placement has parts, or for
/// `2 * argument_count + 1` if there is no placement. Each port has one.
fwd_status fwd_lower(fwd_ffi_interface *interface, const fwd_encoding *encoding, const fwd_placement *placement,
                     fwd_error *error);

/// Adds a piece to the argument `piece.argument`. A NULL type stands for the piece's own block.
void fwd_ffi_add_piece(fwd_ffi_interface *interface, ffi_type *type, fwd_piece piece);

#endif
