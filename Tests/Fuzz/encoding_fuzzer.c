// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Parses any bytes as a type and as a method signature, and checks the properties of each result: the nodes lie in
/// the text, layouts are possible for C types, the canonical spelling is parsed as the same type, equality is an
/// equivalence relation, and the other comparisons and the hash are consistent with it.

#include "encoding/encoding.h"
#include "fuzz.h"

/// Comparisons are of all pairs among so many nodes.
enum { compared_types = 8 };

static void check_layout(const fwd_type *type) {
  REQUIRE((type->layout_status == FWD_OK) == (type->layout_reason == NULL));
  if (type->layout_status != FWD_OK) {
    REQUIRE(type->layout_status == FWD_UNSUPPORTED || type->layout_status == FWD_OVERFLOW);
    return;
  }
  size_t alignment = type->layout.alignment;
  REQUIRE(alignment > 0 && (alignment & (alignment - 1)) == 0 && alignment <= _Alignof(max_align_t));
  REQUIRE(type->layout.size <= PTRDIFF_MAX && type->layout.size % alignment == 0);
}

/// The first bit of a member and the first bit after it. Widths and sizes in a record with a layout are bounded.
static void find_bits(const fwd_type *member, size_t *start, size_t *end) {
  bool is_bit_field = member->kind == FWD_TYPE_BIT_FIELD;
  REQUIRE(member->bit_offset < 8 && (is_bit_field || member->bit_offset == 0));
  *start = member->layout.offset * 8 + member->bit_offset;
  *end = *start + (is_bit_field ? (size_t)member->count : member->layout.size * 8);
}

/// The members of a record with a layout lie in it, in order. Checked where offsets in bits fit a size_t.
static void check_members(const fwd_encoding *encoding, const fwd_type *record) {
  if (record->layout.size > SIZE_MAX / 16) return;
  size_t last_end = 0;
  for (uint32_t at = record->first_child; at != FWD_NO_TYPE;) {
    const fwd_type *member = fwd_encoding_type(encoding, at);
    size_t start, end;
    find_bits(member, &start, &end);
    REQUIRE(end <= record->layout.size * 8);
    if (member->kind != FWD_TYPE_BIT_FIELD) REQUIRE(member->layout.offset % member->layout.alignment == 0);
    if (record->kind == FWD_TYPE_STRUCT) REQUIRE(start >= last_end);
    if (record->kind == FWD_TYPE_UNION) REQUIRE(start == 0);
    last_end = end;
    at = member->next_sibling;
  }
}

/// Children follow their parent in the array, in order, and lie in its text and in its bytes. An array argument has
/// become a pointer.
static void check_children(const fwd_encoding *encoding, size_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  size_t last = index;
  uint32_t count = 0;
  for (uint32_t at = type->first_child; at != FWD_NO_TYPE; count++) {
    REQUIRE(at > last && at < fwd_encoding_type_count(encoding));
    const fwd_type *child = fwd_encoding_type(encoding, at);
    REQUIRE(child->text_offset >= type->text_offset);
    REQUIRE(child->text_offset + child->text_length <= type->text_offset + type->text_length);
    bool is_argument = type->kind == FWD_TYPE_FUNCTION && count > 0;
    REQUIRE(!is_argument || child->kind != FWD_TYPE_ARRAY || child->layout_status != FWD_OK);
    last = at;
    at = child->next_sibling;
  }
  REQUIRE(count == type->child_count);
  bool is_record = type->kind == FWD_TYPE_STRUCT || type->kind == FWD_TYPE_UNION;
  if (is_record && type->layout_status == FWD_OK) check_members(encoding, type);
}

static void check_tree(const fwd_encoding *encoding, const char *text, size_t size) {
  REQUIRE(fwd_encoding_length(encoding) == size);
  REQUIRE(memcmp(fwd_encoding_text(encoding), text, size) == 0 && fwd_encoding_text(encoding)[size] == 0);
  size_t count = fwd_encoding_type_count(encoding);
  REQUIRE(count > 0 && count <= size + 1);
  for (size_t i = 0; i < count; i++) {
    const fwd_type *type = fwd_encoding_type(encoding, i);
    REQUIRE(type->text_length > 0 && (size_t)type->text_offset + type->text_length <= size);
    REQUIRE((size_t)type->name_offset + type->name_length <= size);
    REQUIRE((size_t)type->field_name_offset + type->field_name_length <= size);
    REQUIRE(type->layout_offset < size);
    check_layout(type);
    check_children(encoding, i);
  }
}

/// The canonical spelling of a node, to be freed.
static char *print(const fwd_encoding *encoding, size_t index, size_t *length) {
  *length = fwd_encoding_print(encoding, index, NULL, 0);
  char *text = allocate(*length + 1);
  REQUIRE(fwd_encoding_print(encoding, index, text, *length + 1) == *length);
  REQUIRE(strlen(text) == *length);
  // Cut like snprintf does.
  char cut[8];
  memset(cut, '!', sizeof cut);
  REQUIRE(fwd_encoding_print(encoding, index, cut, 4) == *length);
  size_t kept = *length < 3 ? *length : 3;
  REQUIRE(memcmp(cut, text, kept) == 0 && cut[kept] == 0 && cut[4] == '!');
  return text;
}

static void require_same_type(const fwd_type *left, const fwd_type *right) {
  REQUIRE(left->kind == right->kind && left->qualifiers == right->qualifiers && left->count == right->count);
  REQUIRE(left->is_opaque == right->is_opaque && left->child_count == right->child_count);
  REQUIRE(left->name_length == right->name_length && left->field_name_length == right->field_name_length);
  REQUIRE(left->layout_status == right->layout_status && left->layout.size == right->layout.size);
  REQUIRE(left->layout.alignment == right->layout.alignment && left->layout.offset == right->layout.offset);
}

/// The canonical spelling is read as the same tree, and is its own canonical spelling.
static void check_spelling(const fwd_encoding *encoding, fwd_encoding_form form) {
  size_t length, again_length;
  char *spelling = print(encoding, 0, &length);
  fwd_encoding *again = NULL;
  fwd_error error = untouched_error();
  fwd_status status = fwd_encoding_create(spelling, length, form, &again, &error);
  if (length > FWD_ENCODING_LENGTH_LIMIT) {
    // Names left out are spelled `?`, so the spelling may be longer than the text.
    REQUIRE(status == FWD_OVERFLOW && !again);
    free(spelling);
    return;
  }
  REQUIRE(status == FWD_OK);
  char *again_spelling = print(again, 0, &again_length);
  REQUIRE(again_length == length && memcmp(spelling, again_spelling, length) == 0);
  REQUIRE(fwd_encoding_equal(encoding, 0, again, 0) && fwd_encoding_equal(again, 0, encoding, 0));
  REQUIRE(fwd_encoding_compatible(encoding, 0, again, 0) && fwd_encoding_compatible(again, 0, encoding, 0));
  REQUIRE(fwd_encoding_hash(encoding, 0) == fwd_encoding_hash(again, 0));
  REQUIRE(fwd_encoding_type_count(encoding) == fwd_encoding_type_count(again));
  for (size_t i = 0; i < fwd_encoding_type_count(encoding); i++) {
    const fwd_type *left = fwd_encoding_type(encoding, i), *right = fwd_encoding_type(again, i);
    require_same_type(left, right);
    if (left->kind != FWD_TYPE_BIT_FIELD) continue;
    uint64_t left_position = 0, right_position = 0;
    REQUIRE(fwd_bit_field_letter(encoding, left, &left_position) ==
            fwd_bit_field_letter(again, right, &right_position));
    REQUIRE(left_position == right_position);
  }
  free(again_spelling);
  free(spelling);
  fwd_encoding_release(again);
}

/// All relations are symmetric, each includes the one before it, and equal types have equal hashes.
static bool check_pair(const fwd_encoding *left, size_t left_index, const fwd_encoding *right,
                       size_t right_index) {
  bool equal = fwd_encoding_equal(left, left_index, right, right_index);
  bool equivalent = fwd_encoding_equivalent(left, left_index, right, right_index);
  bool compatible = fwd_encoding_compatible(left, left_index, right, right_index);
  REQUIRE(equal == fwd_encoding_equal(right, right_index, left, left_index));
  REQUIRE(equivalent == fwd_encoding_equivalent(right, right_index, left, left_index));
  REQUIRE(compatible == fwd_encoding_compatible(right, right_index, left, left_index));
  REQUIRE(!equal || equivalent);
  REQUIRE(!equivalent || compatible);
  if (equal) REQUIRE(fwd_encoding_hash(left, left_index) == fwd_encoding_hash(right, right_index));
  return equal;
}

static void check_relations(const fwd_encoding *encoding) {
  // The one before, of either form: pairs that no single input has.
  static fwd_encoding *previous;
  size_t count = fwd_encoding_type_count(encoding);
  if (count > compared_types) count = compared_types;
  for (size_t i = 0; i < count; i++) {
    REQUIRE(fwd_encoding_equal(encoding, i, encoding, i));
    bool equals_previous = previous && check_pair(encoding, i, previous, 0);
    for (size_t j = i; j < count; j++) {
      if (!check_pair(encoding, i, encoding, j)) continue;
      // Transitive: equal types have the same relation to any third.
      if (previous) REQUIRE(fwd_encoding_equal(encoding, j, previous, 0) == equals_previous);
      for (size_t k = 0; k < count; k++) {
        REQUIRE(fwd_encoding_equal(encoding, i, encoding, k) == fwd_encoding_equal(encoding, j, encoding, k));
      }
    }
  }
  fwd_encoding_release(previous);
  previous = fwd_encoding_retain((fwd_encoding *)(uintptr_t)encoding);
}

static void check_type_layout(const char *text, size_t size, const fwd_encoding *encoding, fwd_status parsed) {
  const fwd_layout before = {11, 22, 33};
  fwd_layout layout = before;
  fwd_error error = untouched_error();
  fwd_status status = fwd_type_layout(text, size, &layout, &error);
  REQUIRE(fwd_type_layout(text, size, &layout, NULL) == status);
  if (status != FWD_OK) {
    require_refusal(status, &error, size);
    REQUIRE(memcmp(&layout, &before, sizeof layout) == 0);
    REQUIRE(status == (encoding ? fwd_encoding_type(encoding, 0)->layout_status : parsed));
    return;
  }
  require_untouched(&error);
  const fwd_layout *expected = &fwd_encoding_type(encoding, 0)->layout;
  REQUIRE(layout.size == expected->size && layout.alignment == expected->alignment && layout.offset == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data;
  for (int form = FWD_FORM_TYPE; form <= FWD_FORM_METHOD; form++) {
    fwd_error error = untouched_error();
    fwd_encoding *encoding = NULL;
    fwd_status status = fwd_encoding_create(text, size, (fwd_encoding_form)form, &encoding, &error);
    if (status == FWD_OK) {
      require_untouched(&error);
      check_tree(encoding, text, size);
      check_spelling(encoding, (fwd_encoding_form)form);
      check_relations(encoding);
    } else {
      REQUIRE(!encoding);
      require_refusal(status, &error, size);
    }
    if (form == FWD_FORM_TYPE) check_type_layout(text, size, encoding, status);
    fwd_encoding_release(encoding);
  }
  return 0;
}
