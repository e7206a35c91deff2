// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The package's lock, which fork(2) waits for.

#ifndef FWD_LOCK_H
#define FWD_LOCK_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// A mutex of four bytes. All zeroes is an open lock; nothing needs to be destroyed. It is not recursive, and no
/// foreign code may run under it.
///
/// Every lock of the package is one of these, since they stay usable in a child of fork(2): no lock is ever held by a
/// thread that the child does not have. See lock.c. (`pthread_mutex_t` has no such property, and Swift's `Mutex` keeps
/// the owner's thread identifier, which is another one in the child.)
typedef struct fwd_lock {
  uint32_t word;
} fwd_lock;

#define FWD_LOCK_INITIALIZER {0}

/// Waits until no other thread holds the lock, then holds it.
void fwd_lock_lock(fwd_lock *FWD_NONNULL lock);

/// Gives up the lock, which the calling thread holds.
void fwd_lock_unlock(fwd_lock *FWD_NONNULL lock);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
