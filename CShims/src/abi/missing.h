// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Arguments without an address, which `fwd_call` refuses.

#ifndef FWD_SRC_MISSING_H
#define FWD_SRC_MISSING_H

#include "fwd_encoding.h"

/// Whether each argument that has bytes has an address.
bool fwd_has_addresses(const fwd_encoding *encoding, void *const *arguments);

/// Fails with FWD_NULL_ARGUMENT for the first argument that has bytes but no address.
fwd_status fwd_fail_missing(const fwd_encoding *encoding, void *const *arguments);

#endif
