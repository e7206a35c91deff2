// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Copies of the layouts that a caller states for structs and unions of one encoding.

#ifndef FWD_SRC_STATED_LAYOUTS_H
#define FWD_SRC_STATED_LAYOUTS_H

#include "fwd_encoding.h"

typedef struct fwd_stated_layouts {
  size_t count;
  /// Whether each name must occur in the encoding.
  bool is_complete;
  /// The same block of memory goes on with the members, then the names.
  fwd_stated_layout layouts[];
} fwd_stated_layouts;

/// Copies the layouts stated for an encoding of `length` bytes. Refuses names longer than the encoding, names stated
/// twice, and missing addresses. The layouts themselves are checked when the types are laid out.
fwd_status fwd_stated_layouts_copy(const fwd_stated_layout *stated, size_t count, size_t length,
                                   fwd_stated_layouts **layouts, fwd_error *error);

/// The layout stated for the struct or union `type`; NULL if there is none.
const fwd_stated_layout *fwd_stated_layouts_find(const fwd_encoding *encoding, const fwd_type *type);

/// Fails if a stated name is not the name of a struct or union in the encoding.
fwd_status fwd_stated_layouts_check_names(const fwd_encoding *encoding, fwd_error *error);

#endif
