// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a caller stated about the structs and unions of one encoding, copied.

#ifndef FWD_SRC_STATED_LAYOUTS_H
#define FWD_SRC_STATED_LAYOUTS_H

#include "fwd_encoding.h"

typedef struct fwd_stated_layouts {
  size_t count;
  /// Whether all names have to be in the encoding.
  bool is_complete;
  /// Behind it in one block: the members, then the names.
  fwd_stated_layout layouts[];
} fwd_stated_layouts;

/// Copies what is stated for an encoding of `length` bytes. Refuses names that cannot be in it and those stated
/// twice. What is said of a type is looked at when the type is laid out.
fwd_status fwd_stated_layouts_copy(const fwd_stated_layout *stated, size_t count, size_t length,
                                   fwd_stated_layouts **layouts, fwd_error *error);

/// What is stated for the struct or union at `type`, else NULL.
const fwd_stated_layout *fwd_stated_layouts_find(const fwd_encoding *encoding, const fwd_type *type);

/// Refuses the first name that no struct or union of the encoding has.
fwd_status fwd_stated_layouts_check_names(const fwd_encoding *encoding, fwd_error *error);

#endif
