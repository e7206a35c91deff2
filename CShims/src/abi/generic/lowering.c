// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Lowers a signature to libffi's own types, for calling conventions without a port: one piece for each argument. Types
/// that libffi does not have are refused.

#include "abi/libffi/pieces.h"

#if !FWD_PLACES_SYSV && !FWD_PLACES_AAPCS64

#include <stdlib.h>

#include "abi/refusal.h"
#include "base/error.h"

// libffi takes the elements of an array one by one. ABIs that look at them do so for small structs only.
enum { element_limit = 1024 };

static ffi_type *integer_type(size_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? &ffi_type_sint8 : &ffi_type_uint8;
    case 2:
      return is_signed ? &ffi_type_sint16 : &ffi_type_uint16;
    case 4:
      return is_signed ? &ffi_type_sint32 : &ffi_type_uint32;
    default:
      return &ffi_type_uint64;
  }
}

/// Returns libffi's complex type; NULL if it has none.
static ffi_type *complex_type(fwd_type_kind part) {
#ifdef FFI_TARGET_HAS_COMPLEX_TYPE
  switch (part) {
    case FWD_TYPE_FLOAT:
      return &ffi_type_complex_float;
    case FWD_TYPE_DOUBLE:
      return &ffi_type_complex_double;
    case FWD_TYPE_LONG_DOUBLE:
      return &ffi_type_complex_longdouble;
    default:
      return NULL;
  }
#else
  (void)part;
  return NULL;
#endif
}

typedef struct type_maker {
  fwd_ffi_interface *interface;
  const fwd_encoding *encoding;
  fwd_error *error;
  fwd_status status;
} type_maker;

static ffi_type *refuse(type_maker *maker, const fwd_type *type, const char *reason) {
  maker->status = fwd_refuse(maker->encoding, FWD_UNSUPPORTED, type->text_offset, reason, maker->error);
  return NULL;
}

// Counts the elements of a struct, each element of an array by itself, and stores their types if `elements` is not NULL.
// Stops above the limit. Skips parts of size 0: libffi refuses them, and nothing is passed.
static ffi_type *make_type(type_maker *maker, uint32_t index);

static size_t list_elements(type_maker *maker, uint32_t index, ffi_type **elements, size_t count) {
  const fwd_type *type = fwd_encoding_type(maker->encoding, index);
  if (type->layout.size == 0 || count > element_limit || maker->status != FWD_OK) return count;
  if (type->kind == FWD_TYPE_ARRAY) {
    for (uint64_t i = 0; i < type->count && count <= element_limit; i++)
      count = list_elements(maker, type->first_child, elements, count);
    return count;
  }
  if (elements) elements[count] = make_type(maker, index);
  return count + 1;
}

static ffi_type *make_struct(type_maker *maker, const fwd_type *type) {
  size_t count = 0;
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE;
       child = fwd_encoding_type(maker->encoding, child)->next_sibling)
    count = list_elements(maker, child, NULL, count);
  if (count > element_limit) return refuse(maker, type, "expected a struct of at most 1024 elements");
  struct storage {
    void *next;
    ffi_type type;
    ffi_type *elements[];
  } *made = calloc(1, sizeof *made + (count + 1) * sizeof made->elements[0]);
  if (!made) {
    maker->status = fwd_fail(maker->error, FWD_NO_MEMORY, 0, "no memory for a call interface");
    return NULL;
  }
  made->next = maker->interface->type_storage;
  maker->interface->type_storage = made;
  // Since the size is set, libffi does not lay the type out, which would write to memory that threads share.
  made->type = (ffi_type){type->layout.size, (unsigned short)type->layout.alignment, FFI_TYPE_STRUCT,
                          made->elements};
  count = 0;
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE;
       child = fwd_encoding_type(maker->encoding, child)->next_sibling)
    count = list_elements(maker, child, made->elements, count);
  return &made->type;
}

/// Makes the libffi type of a type whose size is not 0. If libffi has no such type, sets `maker->status` and returns NULL.
static ffi_type *make_type(type_maker *maker, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(maker->encoding, index);
  switch (type->kind) {
    case FWD_TYPE_FLOAT:
      return &ffi_type_float;
    case FWD_TYPE_DOUBLE:
      return &ffi_type_double;
    case FWD_TYPE_LONG_DOUBLE:
      return &ffi_type_longdouble;
    case FWD_TYPE_INT128:
    case FWD_TYPE_UINT128:
      return refuse(maker, type, "expected a type that libffi passes on this architecture, not __int128");
    case FWD_TYPE_UNION:
      return refuse(maker, type, "expected a type that libffi passes on this architecture, not a union");
    case FWD_TYPE_COMPLEX: {
      ffi_type *made = complex_type(fwd_encoding_type(maker->encoding, type->first_child)->kind);
      if (made) return made;
      return refuse(maker, type, "expected a complex type that libffi passes on this architecture");
    }
    case FWD_TYPE_STRUCT:
      return make_struct(maker, type);
    default:
      return integer_type(type->layout.size, fwd_type_is_signed(type->kind));
  }
}

// Finds a struct with a stated layout, which libffi would lay out otherwise, or an atomic member, which compilers pass
// each in their own way.
static uint32_t find_unusual(const fwd_encoding *encoding, uint32_t index, bool is_part) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  bool is_scalar = type->kind != FWD_TYPE_STRUCT && type->kind != FWD_TYPE_UNION && type->kind != FWD_TYPE_ARRAY &&
                   type->kind != FWD_TYPE_COMPLEX;
  bool is_atomic = type->qualifiers & FWD_QUALIFIER_ATOMIC;
  if (type->is_stated || type->kind == FWD_TYPE_BIT_FIELD || (is_atomic && (is_part || !is_scalar))) return index;
  uint32_t found = FWD_NO_TYPE;
  uint32_t child = is_scalar ? FWD_NO_TYPE : type->first_child;
  for (; child != FWD_NO_TYPE && found == FWD_NO_TYPE; child = fwd_encoding_type(encoding, child)->next_sibling)
    found = find_unusual(encoding, child, true);
  return found;
}

static ffi_type *make_value_type(type_maker *maker, uint32_t index) {
  uint32_t unusual = find_unusual(maker->encoding, index, false);
  if (unusual != FWD_NO_TYPE) {
    const fwd_type *type = fwd_encoding_type(maker->encoding, unusual);
    return refuse(maker, type, "expected no bit-field, no stated layout and no _Atomic member for what is passed "
                               "by value on this architecture");
  }
  uint32_t found = fwd_find_empty_array(maker->encoding, index);
  if (found == FWD_NO_TYPE) return make_type(maker, index);
  maker->status = fwd_refuse_empty_array(maker->encoding, found, maker->error);
  return NULL;
}

static void lower_result(type_maker *maker, uint32_t index) {
  fwd_ffi_interface *interface = maker->interface;
  const fwd_type *type = fwd_encoding_type(maker->encoding, index);
  interface->result_size = type->layout.size;
  interface->result_is_signed = fwd_type_is_signed(type->kind);
  interface->result_type = &ffi_type_void;
  if (interface->result_size == 0) return;
  interface->result_type = make_value_type(maker, index);
  if (!interface->result_type) return;
  // libffi widens integers only.
  unsigned kind = interface->result_type->type;
  bool is_integer = kind != FFI_TYPE_STRUCT && kind != FFI_TYPE_COMPLEX && kind != FFI_TYPE_FLOAT;
  bool is_widened = is_integer && interface->result_size < sizeof(ffi_arg);
  interface->result = is_widened ? FWD_FFI_WORD : FWD_FFI_AS_TYPED;
}

fwd_status fwd_lower(fwd_ffi_interface *interface, const fwd_encoding *encoding, const fwd_placement *placement,
                     fwd_error *error) {
  (void)placement;
  type_maker maker = {interface, encoding, error, FWD_OK};
  uint32_t index = fwd_encoding_type(encoding, 0)->first_child;
  lower_result(&maker, index);
  for (uint32_t argument = 0; argument < interface->argument_count && maker.status == FWD_OK; argument++) {
    index = fwd_encoding_type(encoding, index)->next_sibling;
    size_t size = fwd_encoding_type(encoding, index)->layout.size;
    if (size == 0) continue;
    ffi_type *made = make_value_type(&maker, index);
    if (made) fwd_ffi_add_piece(interface, made, (fwd_piece){.argument = argument, .size = (uint32_t)size});
  }
  return maker.status;
}

#endif
