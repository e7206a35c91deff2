// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How the procedure call standard for AArch64 (AAPCS64, "Parameter passing rules") sees C types. It knows
/// nothing of libffi or of how calls are made, and allocates nothing.

#ifndef FWD_SRC_AAPCS64_CLASSIFY_H
#define FWD_SRC_AAPCS64_CLASSIFY_H

#include "fwd_encoding.h"

/// Where a value travels, as an argument and as a result.
typedef enum fwd_aapcs64_class {
  /// A type of size 0: nothing is passed. So do gcc and clang in C; the AAPCS64 knows no such type.
  FWD_AAPCS64_NO_CLASS,
  /// An integer, a pointer, or a composite of up to 16 bytes that is no homogeneous aggregate: one or two x
  /// registers, of consecutive bytes.
  FWD_AAPCS64_INTEGER,
  /// A floating number, or a homogeneous floating aggregate: each member the low bytes of a v register.
  FWD_AAPCS64_VECTOR,
  /// A composite of over 16 bytes (stage B.4): an argument is the address of a copy, and a result is written
  /// to the address in x8.
  FWD_AAPCS64_MEMORY,
} fwd_aapcs64_class;

/// A homogeneous aggregate has at most so many members.
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

/// By which an argument is aligned on the stack, and begins at an even register: B.6, the alignment of the members,
/// an attribute on the whole struct not counted.
size_t fwd_aapcs64_alignment(const fwd_type *type);

/// The part of the type at `index` for which it is not known how the whole is passed, or not all compilers pass it
/// alike, else FWD_NO_TYPE. To clang nothing is a homogeneous aggregate that has an array of 0 elements or an `_Atomic`
/// member; gcc looks at what they would be. `*reason` says what to do about it; NULL for such an array.
uint32_t fwd_aapcs64_find_contested(const fwd_encoding *encoding, uint32_t index, bool is_argument,
                                    const char **reason);

#endif
