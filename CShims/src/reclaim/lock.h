// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The inline part of the lock, for the changes that a program makes most often. lock.c explains it.

#ifndef FWD_SRC_LOCK_H
#define FWD_SRC_LOCK_H

#include <stdatomic.h>

#include "base/one_thread.h"
#include "fwd_lock.h"
#include "reclaim/thread.h"

// MARK: The gate of forks

/// How many threads are about to fork.
extern FWD_HIDDEN atomic_uint fwd_forks;

static inline void fwd_set_locks(fwd_thread_block *block, uint32_t count) {
  // Release: a fork that sees 0 sees what was done under the lock.
  atomic_store_explicit(&block->locks, count, memory_order_release);
}

static inline uint32_t fwd_locks_of(const fwd_thread_block *block) {
  return atomic_load_explicit(&block->locks, memory_order_relaxed);
}

/// Passes the gate while it may be closed. The thread has said that it holds a lock.
__attribute__((cold)) void fwd_fork_gate_pass_slowly(fwd_thread_block *block);

/// Says that the thread holds a lock, or waits for one.
static inline void fwd_fork_gate_pass(fwd_thread_block *block) {
  fwd_set_locks(block, fwd_locks_of(block) + 1);
  fwd_fence_light();
  if (FWD_RARELY(atomic_load_explicit(&fwd_forks, memory_order_relaxed) > 0)) fwd_fork_gate_pass_slowly(block);
}

// MARK: The lock

// These functions do not pass the gate of forks. Only lock.c and the functions at the end of this file call them.

#if !defined(__APPLE__)

// "Futexes are tricky" (U. Drepper, 2011), the third mutex: a thread that waited locks with `FWD_LOCK_CONTENDED`, since there
// may be others.
enum { FWD_LOCK_OPEN = 0, FWD_LOCK_LOCKED = 1, FWD_LOCK_CONTENDED = 2 };

static inline bool fwd_lock_try(fwd_lock *lock) {
  uint32_t expected = FWD_LOCK_OPEN;
  // The store comes before a thread that is started while the lock is held.
  if (fwd_has_one_thread() && __atomic_load_n(&lock->word, __ATOMIC_RELAXED) == FWD_LOCK_OPEN) {
    __atomic_store_n(&lock->word, FWD_LOCK_LOCKED, __ATOMIC_RELAXED);
    return true;
  }
  return __atomic_compare_exchange_n(&lock->word, &expected, FWD_LOCK_LOCKED, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/// Waits until the lock is open, and takes it.
__attribute__((cold)) void fwd_lock_wait(fwd_lock *lock);
/// Wakes a thread that waits.
__attribute__((cold)) void fwd_lock_wake(fwd_lock *lock);

static inline void fwd_lock_acquire(fwd_lock *lock) {
  if (FWD_RARELY(!fwd_lock_try(lock))) fwd_lock_wait(lock);
}

static inline void fwd_lock_give_up(fwd_lock *lock) {
  if (fwd_has_one_thread()) {
    __atomic_store_n(&lock->word, FWD_LOCK_OPEN, __ATOMIC_RELAXED);
    return;
  }
  uint32_t word = __atomic_exchange_n(&lock->word, FWD_LOCK_OPEN, __ATOMIC_RELEASE);
  if (FWD_RARELY(word == FWD_LOCK_CONTENDED)) fwd_lock_wake(lock);
}

#endif

// MARK: Entering and leaving

/// `fwd_lock_lock`, inline. Returns what `fwd_lock_leave` takes.
static inline fwd_thread_block *fwd_lock_enter(fwd_lock *lock) {
#if !defined(__APPLE__)
  fwd_thread_block *block = fwd_thread_blocks;
  if (FWD_USUALLY(block != NULL)) {
    fwd_fork_gate_pass(block);
    fwd_lock_acquire(lock);
    return block;
  }
#endif
  fwd_lock_lock(lock);
  return NULL;
}

/// `fwd_lock_unlock`, inline. `block` is what `fwd_lock_enter` has returned.
static inline void fwd_lock_leave(fwd_lock *lock, fwd_thread_block *block) {
#if !defined(__APPLE__)
  if (FWD_USUALLY(block != NULL)) {
    fwd_lock_give_up(lock);
    fwd_set_locks(block, fwd_locks_of(block) - 1);
    return;
  }
#endif
  (void)block;
  fwd_lock_unlock(lock);
}

#endif
