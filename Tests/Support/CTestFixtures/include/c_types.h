// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FIXTURE_C_TYPES_H
#define FIXTURE_C_TYPES_H

#include <stddef.h>

/// What the compiler says about a C type.
struct fixture_c_type {
  /// The type as C spells it.
  const char *_Nonnull name;
  /// By `@encode`.
  const char *_Nonnull encoding;
  size_t size;
  size_t alignment;
};

/// The type of a name among those of the page "Encodings and Swift types", or NULL.
const struct fixture_c_type *_Nullable fixture_c_type_named(const char *_Nonnull name);

#endif
