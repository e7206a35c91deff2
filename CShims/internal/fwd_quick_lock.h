// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A lock whose unlocking is a store.

#ifndef FWD_QUICK_LOCK_H
#define FWD_QUICK_LOCK_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// A mutex for short critical sections that mostly one thread at a time enters, often. Unlocking costs no atomic
/// read-modify-write operation, but a thread that has to sleep interrupts all running threads once (membarrier(2)).
///
/// It is not recursive, and need not be destroyed. It takes no part in the gate of `fwd_lock`: in a child of fork(2) it stays
/// locked if another thread held it.
typedef struct fwd_quick_lock {
  uint32_t is_locked;
  /// How many threads sleep, or are about to.
  uint32_t sleeping;
} fwd_quick_lock;

/// Makes an unlocked lock. Must be called before any other function.
void fwd_quick_lock_init(fwd_quick_lock *FWD_NONNULL lock);

/// Waits until no other thread holds the lock, then holds it.
void fwd_quick_lock_lock(fwd_quick_lock *FWD_NONNULL lock);

/// Unlocks the lock, which the calling thread must hold. The lock must stay valid until this returns, also if another
/// thread locks it meanwhile.
void fwd_quick_lock_unlock(fwd_quick_lock *FWD_NONNULL lock);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
