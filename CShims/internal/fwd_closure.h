// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the Swift module knows of closures beyond forwarding.h.

#ifndef FWD_CLOSURE_H
#define FWD_CLOSURE_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// As `fwd_closure_create`, for a context that the closure owns: `release` is called with it once, when no
/// call can use it any more. That is in `fwd_closure_destroy`, or later, when the last of the running calls
/// returns, on its thread. On failure it is not called.
fwd_status fwd_closure_create_owning(const fwd_signature *FWD_NONNULL signature,
                                     fwd_closure_handler FWD_NONNULL handler, void *FWD_NULLABLE context,
                                     void (*FWD_NONNULL release)(void *FWD_NULLABLE context),
                                     fwd_closure *FWD_NULLABLE *FWD_NONNULL closure,
                                     fwd_error *FWD_NULLABLE error);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
