// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Prints the canonical spelling of a type.

#include "encoding/encoding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

/// The output buffer. `length` counts the whole spelling, also the part that did not fit.
typedef struct writer {
  const fwd_encoding *encoding;
  char *buffer;
  size_t capacity;
  size_t length;
  /// The last byte of the spelling so far, even if it did not fit.
  char last;
} writer;

static void write_bytes(writer *out, const char *bytes, size_t count) {
  if (count == 0) return;
  // One byte is reserved for the NUL.
  if (out->length + 1 < out->capacity) {
    size_t room = out->capacity - 1 - out->length;
    memcpy(out->buffer + out->length, bytes, count < room ? count : room);
  }
  out->length += count;
  out->last = bytes[count - 1];
}

static void write_byte(writer *out, char byte) { write_bytes(out, &byte, 1); }

static void write_text(writer *out, uint32_t offset, uint32_t length) {
  write_bytes(out, out->encoding->text + offset, length);
}

static void write_quoted(writer *out, uint32_t offset, uint32_t length) {
  write_byte(out, '"');
  write_text(out, offset, length);
  write_byte(out, '"');
}

static void write_number(writer *out, uint64_t number) {
  char digits[24];
  write_bytes(out, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number));
}

static void write_type(writer *out, uint32_t index);

static void write_children(writer *out, const fwd_type *type) {
  const fwd_type *types = out->encoding->types;
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE; child = types[child].next_sibling) {
    // Test the offset, not the length: clang writes `""` for an unnamed field. Without it, the quoted string after a
    // following `@` would be read as a class. No field's name is at offset 0.
    if (types[child].field_name_offset) {
      write_quoted(out, types[child].field_name_offset, types[child].field_name_length);
    }
    write_type(out, child);
  }
}

static void write_function(writer *out, const fwd_type *type) {
  const fwd_type *types = out->encoding->types;
  uint64_t count = 0;
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE; child = types[child].next_sibling) {
    write_type(out, child);
    if (++count == type->count) write_bytes(out, "...", 3);
  }
}

static void write_record(writer *out, const fwd_type *type, char close) {
  write_byte(out, (char)type->kind);
  if (type->name_length) {
    write_text(out, type->name_offset, type->name_length);
  } else {
    write_byte(out, '?');
  }
  if (!type->is_opaque) {
    write_byte(out, '=');
    write_children(out, type);
  }
  write_byte(out, close);
}

static void write_bit_field(writer *out, const fwd_type *type) {
  uint64_t position = 0;
  char letter = fwd_bit_field_letter(out->encoding, type, &position);
  write_byte(out, 'b');
  if (letter) {
    write_number(out, position);
    write_byte(out, letter);
  }
  write_number(out, type->count);
}

// Recursive: the parser has bounded the depth.
static void write_type(writer *out, uint32_t index) {
  static const char qualifiers[] = "rnNoORVA";
  const fwd_type *type = &out->encoding->types[index];
  for (uint32_t bit = 0; bit < sizeof qualifiers - 1; bit++) {
    if (type->qualifiers & 1u << bit) write_byte(out, qualifiers[bit]);
  }
  switch (type->kind) {
    case FWD_TYPE_STRUCT:
      write_record(out, type, '}');
      return;
    case FWD_TYPE_UNION:
      write_record(out, type, ')');
      return;
    case FWD_TYPE_BIT_FIELD:
      write_bit_field(out, type);
      return;
    case FWD_TYPE_FUNCTION:
      write_function(out, type);
      return;
    case FWD_TYPE_ARRAY:
      write_byte(out, '[');
      write_number(out, type->count);
      write_children(out, type);
      write_byte(out, ']');
      return;
    case FWD_TYPE_BLOCK:
      write_bytes(out, "@?", 2);
      if (type->child_count == 0) return;
      write_byte(out, '<');
      write_children(out, type);
      write_byte(out, '>');
      return;
    case FWD_TYPE_UNKNOWN:
      // Without the digits, the two arguments `@8?` would become the block `@?`. A 0 keeps them apart.
      if (out->last == '@') write_byte(out, '0');
      write_byte(out, '?');
      return;
    case FWD_TYPE_OBJECT:
      write_byte(out, '@');
      // Test the offset, as for fields: without an empty class name the next field's name would be read as one.
      if (type->name_offset) write_quoted(out, type->name_offset, type->name_length);
      return;
    default:
      write_byte(out, (char)type->kind);
      write_children(out, type);
      return;
  }
}

size_t fwd_encoding_print(const fwd_encoding *encoding, size_t index, char *buffer, size_t capacity) {
  writer out = {.encoding = encoding, .buffer = buffer, .capacity = capacity};
  write_type(&out, (uint32_t)index);
  if (capacity) buffer[out.length < capacity ? out.length : capacity - 1] = 0;
  return out.length;
}

FWD_SMALL_CODE_END
