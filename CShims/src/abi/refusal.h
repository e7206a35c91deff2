// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Errors for types that cannot be passed by value.

#ifndef FWD_SRC_REFUSAL_H
#define FWD_SRC_REFUSAL_H

#include "fwd_encoding.h"

/// Fails with a reason about the type at byte `offset` of the encoding.
fwd_status fwd_refuse(const fwd_encoding *encoding, fwd_status status, size_t offset, const char *reason,
                      fwd_error *error);

/// Finds the first array of 0 elements in the values of a type; FWD_NO_TYPE if there is none. Clang also spells a
/// flexible array member in this way.
///
/// No ABI says how a struct with either is passed, and compilers differ: clang passes one with a flexible member in
/// memory; gcc passes it in registers, and counts a 0-element array's class to the eightbyte in which it stands.
uint32_t fwd_find_empty_array(const fwd_encoding *encoding, uint32_t index);

/// Fails for the array that `fwd_find_empty_array` found.
fwd_status fwd_refuse_empty_array(const fwd_encoding *encoding, uint32_t index, fwd_error *error);

#endif
