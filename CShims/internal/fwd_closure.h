// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Closures for the Swift module, beyond forwarding.h.

#ifndef FWD_CLOSURE_H
#define FWD_CLOSURE_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Creates a closure that owns its context. Works as `fwd_closure_create`, and calls `release` with the context once,
/// as soon as no call can use the context any more: in `fwd_closure_destroy`, or, if calls are running then, when the
/// last of them returns, on its thread. On failure `release` is not called.
fwd_status fwd_closure_create_owning(const fwd_signature *FWD_NONNULL signature,
                                     fwd_closure_handler FWD_NONNULL handler, void *FWD_NULLABLE context,
                                     void (*FWD_NONNULL release)(void *FWD_NULLABLE context),
                                     fwd_closure *FWD_NULLABLE *FWD_NONNULL closure,
                                     fwd_error *FWD_NULLABLE error);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
