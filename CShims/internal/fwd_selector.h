// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SELECTOR_H
#define FWD_SELECTOR_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// As `fwd_selector_find`, for a name that does not end with a NUL. One that has a NUL in it is not
/// found.
fwd_selector FWD_NULLABLE fwd_selector_find_bytes(const char *FWD_NONNULL name, size_t length);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
