// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "encoding/promotions.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "encoding/encoding.h"

char fwd_promoted_letter(const fwd_type *type) {
  switch (type->kind) {
    case FWD_TYPE_CHAR:
    case FWD_TYPE_UCHAR:
    case FWD_TYPE_SHORT:
    case FWD_TYPE_USHORT:
    case FWD_TYPE_BOOL:
      return 'i';
    case FWD_TYPE_FLOAT:
      return 'd';
    default:
      return 0;
  }
}

fwd_status fwd_encoding_promote(const fwd_encoding *encoding, fwd_encoding **promoted, fwd_error *error) {
  // Each type is spelled as in the text, or by one letter, so the text has room.
  char *text = malloc(encoding->length + 1);
  if (!text) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a method signature");
  const fwd_type *root = fwd_encoding_type(encoding, 0);
  size_t length = 0;
  uint64_t count = 0;
  for (uint32_t index = root->first_child; index != FWD_NO_TYPE;) {
    const fwd_type *type = fwd_encoding_type(encoding, index);
    char letter = count >= root->count ? fwd_promoted_letter(type) : 0;
    if (letter) {
      text[length++] = letter;
    } else {
      memcpy(text + length, encoding->text + type->text_offset, type->text_length);
      length += type->text_length;
    }
    if (++count == root->count) {
      memcpy(text + length, "...", 3);
      length += 3;
    }
    index = type->next_sibling;
  }
  fwd_status status = fwd_encoding_create_part(encoding, text, length, promoted, error);
  free(text);
  return status;
}
