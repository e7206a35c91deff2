// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the files that read, measure, compare and print encodings share.

#ifndef FWD_SRC_ENCODING_H
#define FWD_SRC_ENCODING_H

#include "fwd_encoding.h"

#include "encoding/stated_layouts.h"

#include <stdatomic.h>

struct fwd_encoding {
  atomic_size_t references;
  /// What the caller stated; NULL if nothing.
  fwd_stated_layouts *stated;
  uint32_t length;
  uint32_t type_count;
  /// In the order of the text, so a node stands before its children and a subtree is one run of nodes.
  fwd_type *types;
  /// `length` bytes and a NUL.
  char text[];
};

/// What could not be read, and where.
typedef struct fwd_fault {
  fwd_status status;
  size_t offset;
  /// A static string.
  const char *reason;
} fwd_fault;

/// Fills `types` and `type_count` from the text. On failure they are NULL and 0, and `*fault` says why.
bool fwd_encoding_parse(fwd_encoding *encoding, fwd_encoding_form form, fwd_fault *fault);

/// Fills the layout of each node. False, with why in `*fault`, if one that is stated is wrong.
bool fwd_encoding_lay_out(fwd_encoding *encoding, fwd_fault *fault);

/// Reads part of the text of an encoding as a method, with what was stated for the whole, of which not all need
/// be in the part.
fwd_status fwd_encoding_create_part(const fwd_encoding *whole, const char *text, size_t length,
                                    fwd_encoding **encoding, fwd_error *error);

/// The letter of a bit-field's type, and its position in `*position`, both of which only GNU encodings give.
/// 0 for Apple's `b3`.
char fwd_bit_field_letter(const fwd_encoding *encoding, const fwd_type *type, uint64_t *position);

#endif
