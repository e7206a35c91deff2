// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The parsed encoding as the files of this folder share it.
///
/// The files are layers. Each one calls only the files above it:
///
///     stated_layouts     the caller's statements about structs and unions
///     encoding           lifetime of a parsed encoding, access to its nodes
///     encoding_fail      error messages that quote an encoding
///     encoding_parse     text to nodes                     layout    sizes, alignments and offsets of nodes
///     encoding_create    parses and lays out; the entry points
///     encoding_compare, encoding_print, promotions         read finished encodings

#ifndef FWD_SRC_ENCODING_H
#define FWD_SRC_ENCODING_H

#include <stdatomic.h>

#include "fwd_encoding.h"

/// The layouts that the caller stated: see stated_layouts.h.
typedef struct fwd_stated_layouts fwd_stated_layouts;

struct fwd_encoding {
  atomic_size_t references;
  /// The layouts that the caller stated; NULL if there are none.
  fwd_stated_layouts *stated;
  uint32_t length;
  uint32_t type_count;
  /// In the order of the text: a node precedes its children, so a subtree is one contiguous run of nodes.
  fwd_type *types;
  /// `length` bytes and a NUL.
  char text[];
};

/// Why an encoding is refused, and at which byte.
typedef struct fwd_fault {
  fwd_status status;
  size_t offset;
  /// A static string.
  const char *reason;
} fwd_fault;

/// Fills `types` and `type_count` from the text. On failure they are NULL and 0, and `*fault` gives the reason.
bool fwd_encoding_parse(fwd_encoding *encoding, fwd_encoding_form form, fwd_fault *fault);

/// Fills the layout of each node, and turns array parameters into pointers. A type without a known size is no
/// failure: its node records the reason. Fails, with the reason in `*fault`, if a stated layout is wrong.
bool fwd_encoding_lay_out(fwd_encoding *encoding, fwd_fault *fault);

/// Parses a method encoding made from parts of `whole`, with the layouts stated for `whole`. Names that the part
/// does not contain are no error.
fwd_status fwd_encoding_create_part(const fwd_encoding *whole, const char *text, size_t length,
                                    fwd_encoding **encoding, fwd_error *error);

/// Returns the letter of a GNU bit-field's type, and its first bit in `*position`. Returns 0 for Apple's `b3`, which
/// has neither.
char fwd_bit_field_letter(const fwd_encoding *encoding, const fwd_type *type, uint64_t *position);

/// Whether a bit-field is known to have no name. Its name may also be unknown: most encodings have no field names.
static inline bool fwd_bit_field_is_unnamed(const fwd_type *type) {
  // C gives no name to a bit-field of width 0. clang spells the empty name of others `""`.
  return type->count == 0 || (type->field_name_offset > 0 && type->field_name_length == 0);
}

#endif
