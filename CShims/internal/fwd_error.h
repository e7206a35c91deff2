// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Functions by which the Swift module stores and reads errors.

#ifndef FWD_ERROR_H
#define FWD_ERROR_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Stores an error in `error`, which may be NULL, and as the calling thread's last error. Returns `status`.
fwd_status fwd_error_set(fwd_error *FWD_NULLABLE error, fwd_status status, size_t offset,
                         const char *FWD_NONNULL message);

/// Copies the calling thread's last error. Fan-outs report their errors in no other way, so that a caller reads one only after
/// a failure.
void fwd_error_last(fwd_error *FWD_NONNULL error);

/// What the Swift module adds to an error that passes through C: the code and the argument of a value that a closure could
/// not take (Errors/ForwardingError+Status.swift). C programs do not see it. Other errors have the detail 0.
typedef uint64_t fwd_error_detail;

/// Adds a detail to the thread's last error. The next error has none.
void fwd_error_set_detail(fwd_error_detail detail);

/// Returns the detail of the thread's last error.
fwd_error_detail fwd_error_last_detail(void);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
