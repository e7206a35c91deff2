// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The closures that are called before, after or instead of a method's subscribers.

#ifndef FWD_TAPS_H
#define FWD_TAPS_H

#include "fwd_dispatch.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Whether an interceptor has not ended, and how many calls of it may still begin.
typedef struct fwd_liveness fwd_liveness;

/// Creates one that is live, for `limit` calls; 0 is for any number. Returns NULL if memory is short.
fwd_liveness *FWD_NULLABLE fwd_liveness_create(size_t limit);
void fwd_liveness_destroy(fwd_liveness *FWD_NULLABLE liveness);
/// Whether a call may begin. Acquire: a thread that sees the end sees what was done before it.
bool fwd_liveness_holds(const fwd_liveness *FWD_NONNULL liveness);
/// Counts a call that is about to begin. Returns false if it must not.
bool fwd_liveness_take(fwd_liveness *FWD_NONNULL liveness);
/// Ends it. Returns whether a call could still have begun.
bool fwd_liveness_end(fwd_liveness *FWD_NONNULL liveness);

/// One closure that intercepts a method. What it points to is valid as long as the owner of its taps.
typedef struct fwd_tap {
  /// `packed`, its context, and `closure` if C can call it.
  fwd_implementation implementation;
  fwd_liveness *FWD_NONNULL liveness;
} fwd_tap;

/// All interceptors of one method, if they are closures. Immutable: each change makes a new one.
typedef struct fwd_taps fwd_taps;

/// Creates taps: those that are called before the subscribers, then the one that is called instead of them, if there is
/// one, then those after them. Retains `owner`, which may be NULL. Returns NULL if memory is short.
fwd_taps *FWD_NULLABLE fwd_taps_create(size_t before_count, bool has_stub, size_t after_count, void *FWD_NULLABLE owner);
/// Returns one, which the caller may change before the taps are used.
fwd_tap *FWD_NONNULL fwd_taps_at(fwd_taps *FWD_NONNULL taps, size_t index);

/// Results of at most so many bytes can be given by the closure that is called instead of the subscribers.
enum { FWD_STUB_RESULT_SIZE = 64 };

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
