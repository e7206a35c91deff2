// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Calls by libffi.

#include <stddef.h>
#include <string.h>

#include "abi/libffi/pieces.h"
#include "abi/missing.h"
#include "base/word.h"

// libffi takes pointers to non-const also for what it does not modify.
static void *unconst(const void *pointer) { return (void *)(uintptr_t)pointer; }

/// Makes the call. A result that does not come in registers goes to `memory`.
static void call(const fwd_ffi_interface *interface, void (*function)(void), void *const *arguments, void *result,
                 void *memory) {
  // One more than needed: an array of no elements is undefined.
  uint64_t words[interface->word_count + 1], *word = words;
  max_align_t copies[interface->copy_size / sizeof(max_align_t) + 1];
  char *copy = (char *)copies;
  // The array is ours, since libffi overwrites entries that stand for large structs.
  void *addresses[interface->piece_count + 1];
  for (uint32_t i = 0; i < interface->piece_count; i++) {
    const fwd_piece *piece = &interface->pieces[i];
    switch (piece->source) {
      case FWD_PIECE_IN_PLACE:
        addresses[i] = (char *)arguments[piece->argument] + piece->offset;
        break;
      case FWD_PIECE_RESULT_ADDRESS:
        addresses[i] = &memory;
        break;
      case FWD_PIECE_REFERENCE:
        memcpy(copy, arguments[piece->argument], piece->size);
        *word = (uint64_t)(uintptr_t)copy;
        addresses[i] = word++;
        copy += fwd_copy_size(piece->size);
        break;
      default:
        *word = fwd_extend((char *)arguments[piece->argument] + piece->offset, piece->size,
                           piece->source == FWD_PIECE_SIGN_EXTENDED);
        addresses[i] = word++;
    }
  }
  // libffi writes whole registers, which may be more than the caller's bytes.
  union {
    ffi_arg word;
    unsigned char bytes[FWD_FFI_REGISTER_BYTES];
    max_align_t alignment;
  } returned = {.bytes = {0}};
  void *written = interface->result == FWD_FFI_AS_TYPED ? memory : &returned;
  ffi_call(unconst(&interface->ffi), function, written, addresses);
  if (!result) return;
  if (interface->result == FWD_FFI_REGISTERS) {
    memcpy(result, returned.bytes, interface->result_size);
  } else if (interface->result == FWD_FFI_WORD) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy(result, returned.bytes + sizeof returned.word - interface->result_size, interface->result_size);
#else
    memcpy(result, returned.bytes, interface->result_size);
#endif
  }
}

// A separate function, so that other calls do not have its large frame.
__attribute__((noinline)) static void call_discarding(const fwd_ffi_interface *interface, void (*function)(void),
                                                      void *const *arguments) {
  // Bounded by FWD_BY_VALUE_LIMIT. No type that an encoding spells needs more than max_align_t's alignment.
  max_align_t memory[interface->result_size / sizeof(max_align_t) + 1];
  call(interface, function, arguments, NULL, memory);
}

fwd_status fwd_ffi_call(const fwd_ffi_interface *interface, void (*function)(void), void *const *arguments,
                        void *result) {
  if (!fwd_has_addresses(interface->encoding, arguments)) return fwd_fail_missing(interface->encoding, arguments);
  bool in_memory = interface->result == FWD_FFI_MEMORY || interface->result == FWD_FFI_AS_TYPED;
  if (in_memory && !result) {
    call_discarding(interface, function, arguments);
  } else {
    call(interface, function, arguments, result, result);
  }
  return FWD_OK;
}
