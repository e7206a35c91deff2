// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_ERROR_H
#define FWD_SRC_ERROR_H

#include "forwarding.h"

/// Stores an error in `error`, which may be NULL, and as the calling thread's last error. Returns `status`.
fwd_status fwd_fail(fwd_error *error, fwd_status status, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
