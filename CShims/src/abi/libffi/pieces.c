// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/libffi/pieces.h"

#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

void fwd_ffi_add_piece(fwd_ffi_interface *interface, ffi_type *type, fwd_piece piece) {
  fwd_piece *added = &interface->pieces[interface->piece_count];
  *added = piece;
  interface->piece_types[interface->piece_count] = type ? type : &added->block;
  if (piece.source == FWD_PIECE_ZERO_EXTENDED || piece.source == FWD_PIECE_SIGN_EXTENDED) interface->word_count++;
  if (piece.source == FWD_PIECE_REFERENCE) {
    interface->word_count++;
    interface->copy_size += fwd_copy_size(piece.size);
  }
  if (piece.source != FWD_PIECE_RESULT_ADDRESS) {
    fwd_argument_pieces *argument = &interface->arguments[piece.argument];
    if (argument->count == 0) argument->first = (uint16_t)interface->piece_count;
    argument->count++;
  }
  interface->piece_count++;
}

FWD_SMALL_CODE_END
