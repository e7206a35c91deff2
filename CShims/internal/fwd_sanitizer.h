// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SANITIZER_H
#define FWD_SANITIZER_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FWD_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FWD_THREAD_SANITIZER 1
#endif

/// Tell the thread sanitizer that the lock at an address was taken or will be given up. Nothing in other
/// builds. `Synchronization.Mutex` waits in the kernel by itself on Linux, where the sanitizer does not see
/// it, and then reports races that are none.
void fwd_sanitizer_acquire(const void *FWD_NONNULL address);
void fwd_sanitizer_release(const void *FWD_NONNULL address);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
