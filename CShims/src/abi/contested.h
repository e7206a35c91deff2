// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Types for which compilers disagree, or no ABI says, how a small struct with such a member is passed by value.

#ifndef FWD_SRC_CONTESTED_H
#define FWD_SRC_CONTESTED_H

#include "fwd_encoding.h"

/// Says why a small struct that contains `type` cannot be passed. Returns NULL if it can. Looks at `type` only, and not at
/// its parts.
const char *fwd_contested_reason(const fwd_encoding *encoding, const fwd_type *type);

/// The reason for `_Atomic` members.
extern const char fwd_atomic_reason[];

#endif
