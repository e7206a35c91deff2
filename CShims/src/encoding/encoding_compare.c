// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Whether two types mean the same, or go together in a call.
//
// Names left out and types behind pointers known by name only go with any: so neither relation is
// transitive (`{A=i}` equals `{?=i}`, which equals `{B=i}`), while both are reflexive and symmetric.

#include "encoding/encoding.h"

#include <string.h>

/// One comparison.
typedef struct comparison {
  const fwd_encoding *left;
  const fwd_encoding *right;
  /// By `fwd_encoding_compatible` rather than by `fwd_encoding_equal`.
  bool in_call;
} comparison;

static bool same_types(const comparison *context, uint32_t left_index, uint32_t right_index, bool behind_pointer);

static bool same_children(const comparison *context, const fwd_type *left, const fwd_type *right,
                          bool behind_pointer) {
  if (left->child_count != right->child_count) return false;
  uint32_t left_child = left->first_child, right_child = right->first_child;
  while (left_child != FWD_NO_TYPE) {
    if (!same_types(context, left_child, right_child, behind_pointer)) return false;
    left_child = context->left->types[left_child].next_sibling;
    right_child = context->right->types[right_child].next_sibling;
  }
  return true;
}

/// Whether the bytes of two records with the same children lie alike. Without a statement they surely do.
static bool same_layouts(const comparison *context, const fwd_type *left, const fwd_type *right) {
  if (!left->is_stated && !right->is_stated) return true;
  if (left->layout_status != right->layout_status) return false;
  if (left->layout_status != FWD_OK) return true;
  if (left->layout.size != right->layout.size || left->layout.alignment != right->layout.alignment) return false;
  // How the members are aligned shows in a call. Who does not state that states less, but nothing else.
  if (left->member_alignment != right->member_alignment && left->is_stated && right->is_stated) return false;
  uint32_t left_index = left->first_child, right_index = right->first_child;
  while (left_index != FWD_NO_TYPE && right_index != FWD_NO_TYPE) {
    const fwd_type *left_member = &context->left->types[left_index];
    const fwd_type *right_member = &context->right->types[right_index];
    if (left_member->layout.offset != right_member->layout.offset) return false;
    if (left_member->bit_offset != right_member->bit_offset) return false;
    left_index = left_member->next_sibling;
    right_index = right_member->next_sibling;
  }
  return true;
}

static bool same_records(const comparison *context, const fwd_type *left, const fwd_type *right,
                         bool behind_pointer) {
  if (left->name_length && right->name_length &&
      (left->name_length != right->name_length ||
       memcmp(context->left->text + left->name_offset, context->right->text + right->name_offset,
              left->name_length) != 0)) {
    return false;
  }
  // clang spells a struct that was only declared `{S=}`, as an empty one, and one behind two pointers `{S}`.
  if (behind_pointer && (left->child_count == 0 || right->child_count == 0)) return true;
  return left->is_opaque == right->is_opaque && same_children(context, left, right, behind_pointer) &&
         same_layouts(context, left, right);
}

static bool same_bit_fields(const comparison *context, const fwd_type *left, const fwd_type *right) {
  if (left->count != right->count) return false;
  // Apple's encodings have no letter; the position is an offset, and offsets do not count.
  uint64_t position;
  char left_letter = fwd_bit_field_letter(context->left, left, &position);
  char right_letter = fwd_bit_field_letter(context->right, right, &position);
  return !left_letter || !right_letter || left_letter == right_letter;
}

static bool is_object(fwd_type_kind kind) {
  // Not classes: a result that is an object is released.
  return kind == FWD_TYPE_OBJECT || kind == FWD_TYPE_BLOCK;
}

/// What a pointer points to, with the character's kind for `*`.
static fwd_type_kind pointee_kind(const fwd_encoding *encoding, const fwd_type *type) {
  return type->kind == FWD_TYPE_C_STRING ? FWD_TYPE_CHAR : encoding->types[type->first_child].kind;
}

/// The pairs that only a call takes for the same.
static bool go_together(const comparison *context, const fwd_type *left, const fwd_type *right) {
  if (left->kind != right->kind && is_object(left->kind) && is_object(right->kind)) return true;
  bool left_string = left->kind == FWD_TYPE_C_STRING, right_string = right->kind == FWD_TYPE_C_STRING;
  if ((!left_string && left->kind != FWD_TYPE_POINTER) || (!right_string && right->kind != FWD_TYPE_POINTER)) {
    return false;
  }
  fwd_type_kind left_pointee = pointee_kind(context->left, left);
  fwd_type_kind right_pointee = pointee_kind(context->right, right);
  if (left_pointee == FWD_TYPE_VOID || right_pointee == FWD_TYPE_VOID) return true;
  fwd_type_kind other = left_string ? right_pointee : left_pointee;
  return left_string != right_string && (other == FWD_TYPE_CHAR || other == FWD_TYPE_UCHAR);
}

// Recursive: the parser has bounded the depth. Each step consumes a node on both sides, so the time is
// linear in the shorter text.
static bool same_types(const comparison *context, uint32_t left_index, uint32_t right_index, bool behind_pointer) {
  const fwd_type *left = &context->left->types[left_index], *right = &context->right->types[right_index];
  if (context->in_call && go_together(context, left, right)) return true;
  if (left->kind != right->kind) return false;
  switch (left->kind) {
    case FWD_TYPE_POINTER:
      return same_children(context, left, right, true);
    case FWD_TYPE_STRUCT:
    case FWD_TYPE_UNION:
      return same_records(context, left, right, behind_pointer);
    case FWD_TYPE_ARRAY:
      return left->count == right->count && same_children(context, left, right, behind_pointer);
    case FWD_TYPE_BIT_FIELD:
      return same_bit_fields(context, left, right);
    case FWD_TYPE_BLOCK:
      // clang writes a block's signature in some places and leaves it out in others, as with class names.
      return left->child_count == 0 || right->child_count == 0 || same_children(context, left, right, false);
    default:
      return same_children(context, left, right, behind_pointer);
  }
}

bool fwd_encoding_equal(const fwd_encoding *left, size_t left_index, const fwd_encoding *right, size_t right_index) {
  comparison context = {.left = left, .right = right, .in_call = false};
  return same_types(&context, (uint32_t)left_index, (uint32_t)right_index, false);
}

bool fwd_encoding_compatible(const fwd_encoding *left, size_t left_index, const fwd_encoding *right,
                             size_t right_index) {
  comparison context = {.left = left, .right = right, .in_call = true};
  return same_types(&context, (uint32_t)left_index, (uint32_t)right_index, false);
}

/// FNV-1a, a byte at a time: the inputs are short.
static uint64_t mix(uint64_t hash, uint64_t value) {
  do {
    hash = (hash ^ (value & 0xff)) * UINT64_C(0x100000001b3);
    value >>= 8;
  } while (value);
  return hash;
}

/// Leaves out whatever may differ between equal types: names, and all behind pointers and blocks.
static uint64_t mix_type(uint64_t hash, const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = &encoding->types[index];
  hash = mix(hash, (uint64_t)type->kind);
  if (type->kind == FWD_TYPE_POINTER || type->kind == FWD_TYPE_BLOCK) return hash;
  hash = mix(hash, type->count);
  hash = mix(hash, type->child_count);
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE; child = encoding->types[child].next_sibling) {
    hash = mix_type(hash, encoding, child);
  }
  return hash;
}

uint64_t fwd_encoding_hash(const fwd_encoding *encoding, size_t index) {
  return mix_type(UINT64_C(0xcbf29ce484222325), encoding, (uint32_t)index);
}
