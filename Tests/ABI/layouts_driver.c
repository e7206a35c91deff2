// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Compares the layouts that the library derives from GNU encodings with bit-fields with those of two compilers, bit
/// by bit. The encodings come from clang, and from gcc where it has an Objective-C front end.

#include "layouts_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd_encoding.h"

extern const layout_table clang_layouts, gcc_layouts;
extern const char *const clang_encodings[];
#ifdef HAS_GCC_ENCODINGS
extern const char *const gcc_encodings[];
#endif

static size_t passed, failed;

static void fail(const char *encoding, const char *compiler, const char *what, size_t expected, size_t got) {
  failed++;
  printf("%s: %s: expected %zu as %s, got %zu\n", encoding, what, expected, compiler, got);
}

/// The first bit of a member by what the compiler's function fills, and the number of bits.
static void find_bits(const layout_case *row, size_t member, size_t *first, size_t *count) {
  unsigned char *bytes = calloc(1, row->size);
  if (!bytes) abort();
  row->fills[member](bytes);
  *first = *count = 0;
  for (size_t bit = 0; bit < row->size * 8; bit++) {
    if (!(bytes[bit / 8] >> bit % 8 & 1)) continue;
    if (*count == 0) *first = bit;
    ++*count;
  }
  free(bytes);
}

static void check_members(const fwd_encoding *encoding, const layout_case *row, const char *compiler) {
  const fwd_type *record = fwd_encoding_type(encoding, 0);
  const char *text = fwd_encoding_text(encoding);
  if (record->child_count != row->member_count) {
    fail(text, compiler, "the number of members", row->member_count, record->child_count);
    return;
  }
  const fwd_type *type = NULL;
  for (size_t i = 0; i < row->member_count; i++) {
    type = fwd_encoding_type(encoding, type ? type->next_sibling : record->first_child);
    if (!row->fills[i]) continue;
    size_t first, count;
    find_bits(row, i, &first, &count);
    size_t got = type->layout.offset * 8 + type->bit_offset;
    size_t width = type->kind == FWD_TYPE_BIT_FIELD ? (size_t)type->count : type->layout.size * 8;
    // A member without bits, such as a union of nothing but bit-fields of width 0, lies nowhere.
    if (got != first && count > 0) fail(text, compiler, "the first bit of a member", first, got);
    if (width != count) fail(text, compiler, "the width of a member", count, width);
  }
}

static void check(const char *text, const layout_case *row, const char *compiler) {
  size_t before = failed;
  fwd_encoding *encoding = NULL;
  fwd_error error = {FWD_OK, 0, ""};
  if (fwd_encoding_create(text, strlen(text), FWD_FORM_TYPE, &encoding, &error) != FWD_OK) {
    failed++;
    printf("%s\n", error.message);
    return;
  }
  const fwd_type *type = fwd_encoding_type(encoding, 0);
  if (type->layout_status != FWD_OK) {
    failed++;
    printf("%s: refused: %s\n", text, type->layout_reason);
  } else {
    if (type->layout.size != row->size) fail(text, compiler, "the size", row->size, type->layout.size);
    if (type->layout.alignment != row->alignment) {
      fail(text, compiler, "the alignment", row->alignment, type->layout.alignment);
    }
    check_members(encoding, row, compiler);
  }
  fwd_encoding_release(encoding);
  if (failed == before) passed++;
}

int main(void) {
  for (size_t i = 0; i < clang_layouts.count; i++) {
    check(clang_encodings[i], &clang_layouts.cases[i], "clang");
    check(clang_encodings[i], &gcc_layouts.cases[i], "gcc");
#ifdef HAS_GCC_ENCODINGS
    if (gcc_encodings[i]) check(gcc_encodings[i], &gcc_layouts.cases[i], "gcc");
#endif
  }
  printf("%zu passed, %zu failed\n", passed, failed);
  return failed > 0;
}
