// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// C's default argument promotions (C11 6.5.2.2), which the unnamed arguments of a variadic function undergo: a float
/// becomes a double, and an integer narrower than int becomes an int.

#ifndef FWD_SRC_PROMOTIONS_H
#define FWD_SRC_PROMOTIONS_H

#include "fwd_encoding.h"

/// Returns the letter of the type that a type is promoted to, or 0 if it is passed as it is.
char fwd_promoted_letter(const fwd_type *type);

/// Makes the encoding of a variadic function with its unnamed arguments promoted. It has the same number of arguments.
fwd_status fwd_encoding_promote(const fwd_encoding *encoding, fwd_encoding **promoted, fwd_error *error);

#endif
