// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Makes parsed encodings: copies the text, parses it, lays its types out.

#include "encoding/encoding.h"
#include "encoding/stated_layouts.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const char *form_name(fwd_encoding_form form) {
  return form == FWD_FORM_METHOD ? "method signature" : "type encoding";
}

/// Takes ownership of `stated`, which may be NULL, even on failure.
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
    // The message quotes the copy, which is what was parsed even if another thread changes the caller's text.
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
  // Not by fwd_encoding_fail, which quotes the text: a length this wrong may exceed the caller's memory.
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

// MARK: Layouts of single types

fwd_status fwd_type_layout_stating(const char *text, size_t length, const fwd_stated_layout *stated, size_t count,
                                   fwd_layout *layout, fwd_error *error) {
  if (!layout) return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "fwd_type_layout: no place for the layout");
  fwd_encoding *encoding;
  fwd_status status = fwd_encoding_create_stating(text, length, FWD_FORM_TYPE, stated, count, &encoding, error);
  if (status != FWD_OK) return status;
  const fwd_type *type = fwd_encoding_type(encoding, 0);
  status = type->layout_status;
  if (status == FWD_OK) {
    *layout = type->layout;
  } else {
    fwd_encoding_fail(error, status, "type encoding", fwd_encoding_text(encoding), length, type->layout_offset,
                      type->layout_reason);
  }
  fwd_encoding_release(encoding);
  return status;
}

fwd_status fwd_type_layout(const char *text, size_t length, fwd_layout *layout, fwd_error *error) {
  return fwd_type_layout_stating(text, length, NULL, 0, layout, error);
}
