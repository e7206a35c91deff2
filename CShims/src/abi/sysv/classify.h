// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The System V x86-64 psABI's classification of C types (section 3.2.3, "Parameter Passing").

#ifndef FWD_SRC_SYSV_CLASSIFY_H
#define FWD_SRC_SYSV_CLASSIFY_H

#include "fwd_encoding.h"

/// The class of one eightbyte. The psABI's SSEUP is missing: no encoding spells a vector type or `__float128`.
typedef enum fwd_sysv_class {
  /// Padding only: no register carries it.
  FWD_SYSV_NO_CLASS,
  FWD_SYSV_INTEGER,
  FWD_SYSV_SSE,
  FWD_SYSV_X87,
  FWD_SYSV_X87UP,
  FWD_SYSV_COMPLEX_X87,
  FWD_SYSV_MEMORY,
} fwd_sysv_class;

/// The classes of a type's first two eightbytes, which decide how it is passed. A type in memory is MEMORY in the first.
/// COMPLEX_X87 stands in the first and covers all four.
typedef struct fwd_sysv_classes {
  fwd_sysv_class eightbyte[2];
} fwd_sysv_classes;

/// Whether a type, which is no bit-field, is no struct, union, array or complex number. Compilers agree on such types.
static inline bool fwd_sysv_is_scalar(const fwd_type *type) {
  return type->kind != FWD_TYPE_STRUCT && type->kind != FWD_TYPE_UNION && type->kind != FWD_TYPE_ARRAY &&
         type->kind != FWD_TYPE_COMPLEX;
}

/// Classifies the type at `index`, whose layout must be known. Types of size 0 are NO_CLASS in both.
fwd_sysv_classes fwd_sysv_classify(const fwd_encoding *encoding, uint32_t index);

/// Finds a part of the type at `index` for which compilers disagree, or no rule says, how the whole is passed;
/// FWD_NO_TYPE if there is none. `classes` are those of the type. `*reason` then says what was expected.
uint32_t fwd_sysv_find_contested(const fwd_encoding *encoding, uint32_t index, fwd_sysv_classes classes,
                                 const char **reason);

/// Whether an argument of these classes goes to registers if enough are left. The x87 classes do not: they are for
/// results.
bool fwd_sysv_fits_registers(fwd_sysv_classes classes);

/// How many of the eightbytes have the class.
unsigned fwd_sysv_count(fwd_sysv_classes classes, fwd_sysv_class which);

#endif
