// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/libffi/pieces.h"

#include <stdlib.h>

#include "abi/refusal.h"
#include "base/error.h"
#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

// A closure can pass the address of a piece on if the whole argument is there, aligned for its type. It is not if one of
// the argument's eightbytes is padding, or if an attribute aligns the struct to more than its piece.
static bool is_scattered(const fwd_ffi_interface *interface, const fwd_argument_pieces *argument,
                         const fwd_type *type) {
  if (argument->count == 0) return false;
  const fwd_piece *first = &interface->pieces[argument->first];
  if (first->source == FWD_PIECE_REFERENCE) return false;
  return first->size != type->layout.size ||
         (type->is_stated && interface->piece_types[argument->first]->alignment < type->layout.alignment);
}

static void find_scattered(fwd_ffi_interface *interface, const fwd_encoding *encoding) {
  const fwd_type *type = fwd_encoding_type(encoding, fwd_encoding_type(encoding, 0)->first_child);
  for (uint32_t i = 0; i < interface->argument_count; i++) {
    type = fwd_encoding_type(encoding, type->next_sibling);
    fwd_argument_pieces *argument = &interface->arguments[i];
    argument->scattered = is_scattered(interface, argument, type);
    if (argument->scattered) interface->scattered_count++;
  }
}

/// Whether libffi takes the pieces.
static bool prepare(fwd_ffi_interface *interface, const fwd_encoding *encoding, const fwd_placement *placement) {
  ffi_cif *ffi = &interface->ffi;
  uint32_t count = interface->piece_count;
  // Where the placement is known, a variadic function gets its arguments in the same places as others. Elsewhere libffi
  // has the rules. On x86-64 it always passes in al the number of vector registers, which a variadic function reads.
  if (placement || !fwd_encoding_is_variadic(encoding)) {
    return ffi_prep_cif(ffi, FFI_DEFAULT_ABI, count, interface->result_type, interface->piece_types) == FFI_OK;
  }
  size_t named_count = fwd_encoding_named_count(encoding);
  uint32_t named = 0;
  while (named < count && interface->pieces[named].argument < named_count) named++;
  return ffi_prep_cif_var(ffi, FFI_DEFAULT_ABI, named, count, interface->result_type, interface->piece_types) == FFI_OK;
}

// Pieces are numbered by 16 bits.
_Static_assert(2 * FWD_ARGUMENT_LIMIT + 1 <= UINT16_MAX, "two pieces an argument, and the result's address");
_Static_assert(sizeof(fwd_ffi_interface) % _Alignof(fwd_piece) == 0 && sizeof(fwd_piece) % _Alignof(ffi_type *) == 0 &&
                   _Alignof(ffi_type *) % _Alignof(fwd_argument_pieces) == 0,
               "the arrays stand behind the interface");

fwd_status fwd_ffi_interface_create(const fwd_encoding *encoding, const fwd_placement *placement,
                                    fwd_ffi_interface **interface, fwd_error *error) {
  size_t count = fwd_encoding_type(encoding, 0)->child_count - 1;
  size_t capacity = placement ? placement->part_count + 2 : 2 * count + 1;
  size_t piece_bytes = capacity * sizeof(fwd_piece), type_bytes = capacity * sizeof(ffi_type *);
  fwd_ffi_interface *made =
      calloc(1, sizeof *made + piece_bytes + type_bytes + count * sizeof(fwd_argument_pieces));
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a call interface");
  atomic_init(&made->references, 1);
  // The encoding is immutable but for its reference count.
  made->encoding = fwd_encoding_retain((fwd_encoding *)(uintptr_t)encoding);
  made->argument_count = (uint32_t)count;
  made->pieces = (fwd_piece *)(void *)(made + 1);
  made->piece_types = (ffi_type **)(void *)((char *)made->pieces + piece_bytes);
  made->arguments = (fwd_argument_pieces *)(void *)((char *)made->piece_types + type_bytes);
  fwd_status status = fwd_lower(made, encoding, placement, error);
  if (status == FWD_OK && !prepare(made, encoding, placement)) {
    status = fwd_refuse(encoding, FWD_UNSUPPORTED, 0, "expected a signature that libffi can call", error);
  }
  if (status != FWD_OK) {
    fwd_ffi_interface_release(made);
    return status;
  }
  find_scattered(made, encoding);
  *interface = made;
  return FWD_OK;
}

void fwd_ffi_interface_release(fwd_ffi_interface *interface) {
  // Release: what this thread read comes before the memory is freed. Acquire: the thread that frees it sees that.
  if (!interface || atomic_fetch_sub_explicit(&interface->references, 1, memory_order_acq_rel) != 1) return;
  while (interface->type_storage) {
    void *storage = interface->type_storage;
    interface->type_storage = *(void **)storage;
    free(storage);
  }
  fwd_encoding_release(interface->encoding);
  free(interface);
}

FWD_SMALL_CODE_END
