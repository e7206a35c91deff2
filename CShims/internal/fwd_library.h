// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Libraries that are opened at run time, by the system's loader.

#ifndef FWD_LIBRARY_H
#define FWD_LIBRARY_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Opens a library, which stays open for the life of the process. NULL opens the program with all that it has loaded.
/// Binds all of its symbols at once. If it cannot be opened, returns NULL, and `error` has the loader's reason.
void *FWD_NULLABLE fwd_library_open(const char *FWD_NULLABLE name, fwd_error *FWD_NULLABLE error);

/// Finds the address of a function. `version` is the version of the symbol; NULL means the default version. Returns NULL
/// if the library has no such symbol, or if the symbol is a variable. `error` then has the reason.
void *FWD_NULLABLE fwd_library_function(void *FWD_NONNULL library, const char *FWD_NONNULL symbol,
                                        const char *FWD_NULLABLE version, fwd_error *FWD_NULLABLE error);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
