// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_ERROR_H
#define FWD_SRC_ERROR_H

#include "fwd_error.h"

/// Stores an error in `error`, which may be NULL, and as the calling thread's last error. Returns `status`.
fwd_status fwd_fail(fwd_error *error, fwd_status status, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/// An error that is kept while other code runs, which may fail in its own ways.
typedef struct fwd_kept_error {
  fwd_error error;
  fwd_error_detail detail;
} fwd_kept_error;

/// Copies the thread's last error.
void fwd_error_keep(fwd_kept_error *kept);

/// Makes a kept error the thread's last error again. Returns its status.
fwd_status fwd_error_restore(const fwd_kept_error *kept);

#endif
