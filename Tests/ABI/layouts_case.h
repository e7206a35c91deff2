// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Random types with bit-fields, as layouts.py writes them, for the driver. Compiled once by each compiler, under its
/// name as the prefix.

#ifndef LAYOUTS_CASE_H
#define LAYOUTS_CASE_H

#include <stddef.h>

#define LAYOUT_JOIN(prefix, name) prefix##_##name
#define LAYOUT_EXPAND(prefix, name) LAYOUT_JOIN(prefix, name)
#define NAME(name) LAYOUT_EXPAND(PREFIX, name)

typedef struct layout_case {
  size_t size;
  size_t alignment;
  size_t member_count;
  /// Each sets all bits of one member of the type at an address. NULL for a member without a name.
  void (*const *fills)(void *type);
} layout_case;

typedef struct layout_table {
  const layout_case *cases;
  size_t count;
} layout_table;

#endif
