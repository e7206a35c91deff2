// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The classification of C types by the procedure call standard for AArch64 (AAPCS64, "Parameter passing rules").

#ifndef FWD_SRC_AAPCS64_CLASSIFY_H
#define FWD_SRC_AAPCS64_CLASSIFY_H

#include "fwd_encoding.h"

/// How a value is passed as an argument and returned as a result.
typedef enum fwd_aapcs64_class {
  /// A type of size 0: nothing is passed. gcc and clang do so in C; the AAPCS64 has no such type.
  FWD_AAPCS64_NO_CLASS,
  /// An integer, a pointer, or a composite of up to 16 bytes that is no homogeneous aggregate: in one or two x
  /// registers, 8 bytes in each.
  FWD_AAPCS64_INTEGER,
  /// A floating number, or a homogeneous floating aggregate: each member is in the low bytes of a v register.
  FWD_AAPCS64_VECTOR,
  /// A composite of over 16 bytes (stage B.4): an argument is the address of a copy, and a result is written
  /// to the address in x8.
  FWD_AAPCS64_MEMORY,
} fwd_aapcs64_class;

/// The most members of a homogeneous aggregate.
enum { FWD_AAPCS64_MEMBERS = 4 };

typedef struct fwd_aapcs64_passing {
  fwd_aapcs64_class class;
  /// How many registers hold it. MEMORY: 1, of the address of an argument.
  uint8_t registers;
  /// VECTOR: the bytes of one member: 4, 8, or 16 of a quad.
  uint8_t member_size;
} fwd_aapcs64_passing;

/// Classifies the type at `index`, whose layout must be known.
fwd_aapcs64_passing fwd_aapcs64_classify(const fwd_encoding *encoding, uint32_t index);

/// Returns the alignment of an argument on the stack; from 16 on, it also begins at an even register. B.6: the alignment of
/// the members counts, not an attribute on the whole struct.
size_t fwd_aapcs64_alignment(const fwd_type *type);

/// Finds a part of the type at `index` for which compilers disagree, or no rule says, how the whole is passed;
/// FWD_NO_TYPE if there is none. Clang does not treat a type with an array of 0 elements or an `_Atomic` member as a
/// homogeneous aggregate; gcc does. `*reason` then says what was expected; it is NULL for such an array.
uint32_t fwd_aapcs64_find_contested(const fwd_encoding *encoding, uint32_t index, bool is_argument,
                                    const char **reason);

#endif
