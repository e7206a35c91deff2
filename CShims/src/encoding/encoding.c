// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Parsed encodings as objects: their life, and access to their nodes.

#include "encoding/encoding.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const char *form_name(fwd_encoding_form form) {
  return form == FWD_FORM_METHOD ? "method signature" : "type encoding";
}

/// Takes over `stated`, which may be NULL, on failure too.
static fwd_status create(const char *text, size_t length, fwd_encoding_form form, fwd_stated_layouts *stated,
                         fwd_encoding **encoding, fwd_error *error) {
  const char *what = form_name(form);
  fwd_encoding *made = malloc(sizeof *made + length + 1);
  if (!made) {
    free(stated);
    return fwd_fail(error, FWD_NO_MEMORY, 0, "%s of %zu bytes: out of memory", what, length);
  }
  made->length = (uint32_t)length;
  made->stated = stated;
  made->types = NULL;
  made->type_count = 0;
  atomic_init(&made->references, 1);
  memcpy(made->text, text, length);
  made->text[length] = 0;

  fwd_fault fault;
  fwd_status status = FWD_OK;
  if (!fwd_encoding_parse(made, form, &fault) || !fwd_encoding_lay_out(made, &fault)) {
    // The copy is quoted: it is what was read, should the caller's text be changing.
    status = fault.status == FWD_NO_MEMORY
                 ? fwd_fail(error, fault.status, 0, "%s of %zu bytes: out of memory", what, length)
                 : fwd_encoding_fail(error, fault.status, what, made->text, length, fault.offset, fault.reason);
  } else if (stated) {
    status = fwd_stated_layouts_check_names(made, error);
  }
  if (status != FWD_OK) {
    fwd_encoding_release(made);
    return status;
  }
  *encoding = made;
  return FWD_OK;
}

fwd_status fwd_encoding_create(const char *text, size_t length, fwd_encoding_form form, fwd_encoding **encoding,
                               fwd_error *error) {
  return fwd_encoding_create_stating(text, length, form, NULL, 0, encoding, error);
}

fwd_status fwd_encoding_create_stating(const char *text, size_t length, fwd_encoding_form form,
                                       const fwd_stated_layout *stated, size_t count, fwd_encoding **encoding,
                                       fwd_error *error) {
  const char *what = form_name(form);
  if (!text) return fwd_encoding_fail(error, FWD_MALFORMED, what, NULL, 0, 0, "expected a type");
  // Not by fwd_encoding_fail: a length as wrong as this may not be that of the text, so none of it is read.
  if (length > FWD_ENCODING_LENGTH_LIMIT) {
    return fwd_fail(error, FWD_OVERFLOW, FWD_ENCODING_LENGTH_LIMIT, "%s of %zu bytes: expected at most %d", what,
                    length, FWD_ENCODING_LENGTH_LIMIT);
  }
  fwd_stated_layouts *copy = NULL;
  if (count > 0) {
    fwd_status status = fwd_stated_layouts_copy(stated, count, length, &copy, error);
    if (status != FWD_OK) return status;
  }
  return create(text, length, form, copy, encoding, error);
}

fwd_status fwd_encoding_create_part(const fwd_encoding *whole, const char *text, size_t length,
                                    fwd_encoding **encoding, fwd_error *error) {
  fwd_stated_layouts *copy = NULL;
  if (whole->stated) {
    fwd_status status = fwd_stated_layouts_copy(whole->stated->layouts, whole->stated->count, whole->length, &copy,
                                                error);
    if (status != FWD_OK) return status;
    copy->is_complete = false;
  }
  return create(text, length, FWD_FORM_METHOD, copy, encoding, error);
}

fwd_encoding *fwd_encoding_retain(fwd_encoding *encoding) {
  atomic_fetch_add_explicit(&encoding->references, 1, memory_order_relaxed);
  return encoding;
}

void fwd_encoding_release(fwd_encoding *encoding) {
  // Release, so that this thread's reads come before the free; acquire, so that the free comes after others'.
  if (!encoding || atomic_fetch_sub_explicit(&encoding->references, 1, memory_order_acq_rel) != 1) return;
  free(encoding->types);
  free(encoding->stated);
  free(encoding);
}

const char *fwd_encoding_text(const fwd_encoding *encoding) { return encoding->text; }

size_t fwd_encoding_length(const fwd_encoding *encoding) { return encoding->length; }

size_t fwd_encoding_type_count(const fwd_encoding *encoding) { return encoding->type_count; }

const fwd_type *fwd_encoding_type(const fwd_encoding *encoding, size_t index) { return &encoding->types[index]; }

char fwd_bit_field_letter(const fwd_encoding *encoding, const fwd_type *type, uint64_t *position) {
  // Read again from the text rather than kept: two more members in each node would serve this kind only.
  const char *at = encoding->text + type->text_offset;
  while (*at != 'b') at++;
  uint64_t number = 0;
  // The parser has found the number to fit.
  for (at++; *at >= '0' && *at <= '9'; at++) number = number * 10 + (uint64_t)(*at - '0');
  if (at == encoding->text + type->text_offset + type->text_length) return 0;
  *position = number;
  return *at;
}
