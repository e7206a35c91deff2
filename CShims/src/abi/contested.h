// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Parts of types for which no ABI, or not each compiler, says how a small whole is passed by value.

#ifndef FWD_SRC_CONTESTED_H
#define FWD_SRC_CONTESTED_H

#include "fwd_encoding.h"

/// Why `type`, apart from what it consists of, keeps a small whole from being passed; NULL if it does not.
const char *fwd_contested_reason(const fwd_encoding *encoding, const fwd_type *type);

extern const char fwd_atomic_reason[];

#endif
