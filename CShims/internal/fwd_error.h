// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Errors as the Swift module fills and reads them.

#ifndef FWD_ERROR_H
#define FWD_ERROR_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Fills `error` (which may be NULL) and the thread's message, and gives `status`.
fwd_status fwd_error_set(fwd_error *FWD_NULLABLE error, fwd_status status, size_t offset,
                         const char *FWD_NONNULL message);

/// Gives the calling thread's last error: for who passed no `error`, which costs nothing where
/// nothing fails.
void fwd_error_last(fwd_error *FWD_NONNULL error);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
