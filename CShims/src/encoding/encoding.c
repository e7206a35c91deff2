// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Lifetime of parsed encodings, and access to their nodes.

#include "encoding/encoding.h"

#include <stdlib.h>

fwd_encoding *fwd_encoding_retain(fwd_encoding *encoding) {
  atomic_fetch_add_explicit(&encoding->references, 1, memory_order_relaxed);
  return encoding;
}

void fwd_encoding_release(fwd_encoding *encoding) {
  // Release orders this thread's reads before the free; acquire orders the free after the reads of other threads.
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
  // Read from the text each time: two more members in every node would serve bit-fields only.
  const char *at = encoding->text + type->text_offset;
  while (*at != 'b') at++;
  uint64_t number = 0;
  // The parser has checked that the number fits.
  for (at++; *at >= '0' && *at <= '9'; at++) number = number * 10 + (uint64_t)(*at - '0');
  if (at == encoding->text + type->text_offset + type->text_length) return 0;
  *position = number;
  return *at;
}
