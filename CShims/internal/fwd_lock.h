// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The package's lock. fork(2) waits until no thread holds one.

#ifndef FWD_LOCK_H
#define FWD_LOCK_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// A mutex of four bytes. All zeros is an unlocked mutex. It need not be destroyed. It is not recursive, and no
/// foreign code may run while it is held.
///
/// Every lock that proxies use is one of these, since they stay usable in a child of fork(2): in the child, no lock is
/// held by a thread that exists only in the parent. lock.c explains how. The journal's queue has a `fwd_quick_lock`, which
/// may stay locked in the child. A `pthread_mutex_t` does not have this
/// property. Neither does Swift's `Mutex`, which stores the thread identifier of its owner: the identifier differs in
/// the child.
typedef struct fwd_lock {
  uint32_t word;
} fwd_lock;

#define FWD_LOCK_INITIALIZER {0}

/// Waits until no other thread holds the lock, then holds it.
void fwd_lock_lock(fwd_lock *FWD_NONNULL lock);

/// Returns true only if certainly no thread holds the lock. The caller then sees what was done under the lock before. Only
/// useful if no other thread can take the lock any more.
bool fwd_lock_is_open(const fwd_lock *FWD_NONNULL lock);

/// Unlocks the lock, which the calling thread must hold.
void fwd_lock_unlock(fwd_lock *FWD_NONNULL lock);

/// How long fork(2) and a thread that wants to lock wait for each other. Tests shorten it.
extern __attribute__((visibility("hidden"))) int64_t fwd_fork_patience_ns;

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
