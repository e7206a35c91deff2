// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Three relations of types, each one wider than the one before:
//
//     equal        one type, up to qualifiers and the names of fields and classes: an equivalence relation
//     equivalent   also tolerates what one of the two spellings leaves out, such as a struct's name
//     compatible   also takes types for one another that are passed alike, such as pointers
//
// All are reflexive and symmetric. Only the first is transitive: `{A=i}` is equivalent to `{?=i}`, which is
// equivalent to `{B=i}`, but `{A=i}` is not equivalent to `{B=i}`. So only the first has a hash.

#include "encoding/encoding.h"

#include <string.h>

#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

typedef enum relation {
  EQUAL,
  EQUIVALENT,
  COMPATIBLE,
} relation;

/// One comparison.
typedef struct comparison {
  const fwd_encoding *left;
  const fwd_encoding *right;
  relation relation;
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

// MARK: Structs and unions

/// Whether the bytes of two records with the same children lie alike. They do if neither is stated.
static bool same_layouts(const comparison *context, const fwd_type *left, const fwd_type *right) {
  if (!left->is_stated && !right->is_stated) return true;
  if (left->layout_status != right->layout_status) return false;
  if (left->layout_status != FWD_OK) return true;
  if (left->layout.size != right->layout.size || left->layout.alignment != right->layout.alignment) return false;
  // The alignment of members decides how AArch64 passes an argument. A record that does not state it tells less, but
  // nothing else.
  if (left->member_alignment != right->member_alignment &&
      (context->relation == EQUAL || (left->is_stated && right->is_stated))) {
    return false;
  }
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

static bool same_names(const comparison *context, const fwd_type *left, const fwd_type *right) {
  if (context->relation != EQUAL && (left->name_length == 0 || right->name_length == 0)) return true;
  return left->name_length == right->name_length &&
         memcmp(context->left->text + left->name_offset, context->right->text + right->name_offset,
                left->name_length) == 0;
}

static bool same_records(const comparison *context, const fwd_type *left, const fwd_type *right,
                         bool behind_pointer) {
  if (!same_names(context, left, right)) return false;
  // After a pointer clang spells a struct that was only declared `{S=}`, and any struct after two pointers `{S}`.
  if (context->relation != EQUAL && behind_pointer && (left->child_count == 0 || right->child_count == 0)) return true;
  return left->is_opaque == right->is_opaque && same_children(context, left, right, behind_pointer) &&
         same_layouts(context, left, right);
}

// MARK: Other kinds

static bool same_bit_fields(const comparison *context, const fwd_type *left, const fwd_type *right) {
  if (left->count != right->count) return false;
  uint64_t left_position = 0, right_position = 0;
  char left_letter = fwd_bit_field_letter(context->left, left, &left_position);
  char right_letter = fwd_bit_field_letter(context->right, right, &right_position);
  if (context->relation == EQUAL) return left_letter == right_letter && left_position == right_position;
  // Apple's encodings have neither a letter nor a position.
  return !left_letter || !right_letter || left_letter == right_letter;
}

static bool same_blocks(const comparison *context, const fwd_type *left, const fwd_type *right) {
  // clang writes a block's signature in some places and leaves it out in others.
  if (context->relation != EQUAL && (left->child_count == 0 || right->child_count == 0)) return true;
  return same_children(context, left, right, false);
}

static bool is_object(fwd_type_kind kind) {
  // Not classes: the caller releases a result that is an object.
  return kind == FWD_TYPE_OBJECT || kind == FWD_TYPE_BLOCK;
}

/// The kind of the type that a pointer points to; for `*` that of a character.
static fwd_type_kind pointee_kind(const fwd_encoding *encoding, const fwd_type *type) {
  return type->kind == FWD_TYPE_C_STRING ? FWD_TYPE_CHAR : encoding->types[type->first_child].kind;
}

/// Whether two types are passed alike although they are not equivalent: pairs that only a call takes for the same.
static bool are_passed_alike(const comparison *context, const fwd_type *left, const fwd_type *right) {
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

/// Whether _Atomic, the one qualifier that can change a layout, makes two otherwise equal types differ.
static bool same_atomicity(const comparison *context, const fwd_type *left, const fwd_type *right) {
  uint32_t differing = (left->qualifiers ^ right->qualifiers) & FWD_QUALIFIER_ATOMIC;
  if (!differing) return true;
  if (context->relation == EQUAL || left->layout_status != right->layout_status) return false;
  return left->layout_status != FWD_OK ||
         (left->layout.size == right->layout.size && left->layout.alignment == right->layout.alignment);
}

// Recursive: the parser has bounded the depth. Each step consumes a node on both sides, so the time is
// linear in the shorter text.
static bool same_types(const comparison *context, uint32_t left_index, uint32_t right_index, bool behind_pointer) {
  const fwd_type *left = &context->left->types[left_index], *right = &context->right->types[right_index];
  if (context->relation == COMPATIBLE && are_passed_alike(context, left, right)) return true;
  if (left->kind != right->kind || !same_atomicity(context, left, right)) return false;
  switch (left->kind) {
    case FWD_TYPE_POINTER:
      return same_children(context, left, right, true);
    case FWD_TYPE_STRUCT:
    case FWD_TYPE_UNION:
      return same_records(context, left, right, behind_pointer);
    case FWD_TYPE_ARRAY:
    case FWD_TYPE_FUNCTION:
      return left->count == right->count && same_children(context, left, right, behind_pointer);
    case FWD_TYPE_BIT_FIELD:
      return same_bit_fields(context, left, right);
    case FWD_TYPE_BLOCK:
      return same_blocks(context, left, right);
    default:
      return same_children(context, left, right, behind_pointer);
  }
}

static bool compare(const fwd_encoding *left, size_t left_index, const fwd_encoding *right, size_t right_index,
                    relation asked) {
  comparison context = {.left = left, .right = right, .relation = asked};
  return same_types(&context, (uint32_t)left_index, (uint32_t)right_index, false);
}

bool fwd_encoding_equal(const fwd_encoding *left, size_t left_index, const fwd_encoding *right, size_t right_index) {
  return compare(left, left_index, right, right_index, EQUAL);
}

bool fwd_encoding_equivalent(const fwd_encoding *left, size_t left_index, const fwd_encoding *right,
                             size_t right_index) {
  return compare(left, left_index, right, right_index, EQUIVALENT);
}

bool fwd_encoding_compatible(const fwd_encoding *left, size_t left_index, const fwd_encoding *right,
                             size_t right_index) {
  return compare(left, left_index, right, right_index, COMPATIBLE);
}

// MARK: The hash

/// FNV-1a, a byte at a time: the inputs are short.
static uint64_t mix(uint64_t hash, uint64_t value) {
  do {
    hash = (hash ^ (value & 0xff)) * UINT64_C(0x100000001b3);
    value >>= 8;
  } while (value);
  return hash;
}

static uint64_t mix_name(uint64_t hash, const char *name, size_t length) {
  hash = mix(hash, length);
  for (size_t i = 0; i < length; i++) hash = mix(hash, (unsigned char)name[i]);
  return hash;
}

/// Mixes in what `same_types` compares for EQUAL, except for stated layouts, which few types have.
static uint64_t mix_type(uint64_t hash, const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = &encoding->types[index];
  hash = mix(hash, (uint64_t)type->kind);
  hash = mix(hash, (type->qualifiers & FWD_QUALIFIER_ATOMIC) | type->is_opaque);
  hash = mix(hash, type->count);
  if (type->kind == FWD_TYPE_STRUCT || type->kind == FWD_TYPE_UNION) {
    hash = mix_name(hash, encoding->text + type->name_offset, type->name_length);
  } else if (type->kind == FWD_TYPE_BIT_FIELD) {
    uint64_t position = 0;
    hash = mix(hash, (unsigned char)fwd_bit_field_letter(encoding, type, &position));
    hash = mix(hash, position);
  }
  hash = mix(hash, type->child_count);
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE; child = encoding->types[child].next_sibling) {
    hash = mix_type(hash, encoding, child);
  }
  return hash;
}

uint64_t fwd_encoding_hash(const fwd_encoding *encoding, size_t index) {
  return mix_type(UINT64_C(0xcbf29ce484222325), encoding, (uint32_t)index);
}

FWD_SMALL_CODE_END
