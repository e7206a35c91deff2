// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Finds selectors for the Swift module.

#ifndef FWD_SELECTOR_H
#define FWD_SELECTOR_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Does what `fwd_selector_find` does, for a name of `length` bytes that need not end with a NUL. Returns NULL for a
/// name that contains a NUL.
fwd_selector FWD_NULLABLE fwd_selector_find_bytes(const char *FWD_NONNULL name, size_t length);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
