// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The quick lock. An unlocking thread stores to `is_locked` and then loads `sleeping`; a thread that goes to sleep stores to
/// `sleeping` and then loads `is_locked`. If both loaded the old value, the sleeper would not be woken (Dekker's pattern,
/// see fence.h). Other mutexes prevent this by an atomic exchange in each unlocking. Here the rare sleeper runs a heavy fence:
///
///     a thread that unlocks                        a thread that goes to sleep
///       is_locked = 0                                sleeping = sleeping + 1
///       light fence                                  heavy fence
///       sleeping > 0 ? wake one                      is_locked ? sleep while it is : locked
///
/// For each unlocking, the heavy fence comes either after the store, and the sleeper sees 0, or before the load, and the
/// unlocking thread sees that a thread sleeps.

// For syscall(2).
#define _GNU_SOURCE 1

#include "fwd_quick_lock.h"

#include <sched.h>
#include <time.h>

#include "base/pause.h"
#include "reclaim/fence.h"
#include "reclaim/thread.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

void fwd_quick_lock_init(fwd_quick_lock *lock) {
  // Sets `fwd_light_fence_is_full`.
  fwd_thread_set_up();
  *lock = (fwd_quick_lock){0};
}

static inline bool try_acquire(fwd_quick_lock *lock) {
  uint32_t expected = 0;
  return __atomic_compare_exchange_n(&lock->is_locked, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/// Sleeps until the lock is unlocked. May return early.
///
/// - is_seen: whether every thread that unlocks sees that this thread sleeps.
static void sleep_while_locked(fwd_quick_lock *lock, bool is_seen) {
#if defined(__linux__)
  // A thread that is not seen has to look for itself.
  struct timespec time = {.tv_nsec = 1000000};
  syscall(SYS_futex, &lock->is_locked, FUTEX_WAIT_PRIVATE, 1, is_seen ? NULL : &time, NULL, 0);
#else
  (void)lock;
  (void)is_seen;
  sched_yield();
#endif
}

__attribute__((cold, noinline)) static void wait_for(fwd_quick_lock *lock) {
  // Critical sections are short: mostly the lock is open again before a system call would have begun.
  for (unsigned i = 0; i < 40; i++) {
    if (__atomic_load_n(&lock->is_locked, __ATOMIC_RELAXED) == 0 && try_acquire(lock)) return;
    fwd_pause_processor();
  }
  // Otherwise the thread that holds it has probably been preempted. To let it run costs less than to sleep.
  for (unsigned i = 0; i < 4; i++) {
    sched_yield();
    if (try_acquire(lock)) return;
  }
  __atomic_fetch_add(&lock->sleeping, 1, __ATOMIC_SEQ_CST);
  bool is_seen = fwd_fence_heavy();
  while (!try_acquire(lock)) sleep_while_locked(lock, is_seen);
  __atomic_fetch_sub(&lock->sleeping, 1, __ATOMIC_RELAXED);
}

void fwd_quick_lock_lock(fwd_quick_lock *lock) {
  if (FWD_RARELY(!try_acquire(lock))) wait_for(lock);
}

__attribute__((cold, noinline)) static void wake_one(fwd_quick_lock *lock) {
#if defined(__linux__)
  syscall(SYS_futex, &lock->is_locked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#else
  (void)lock;
#endif
}

void fwd_quick_lock_unlock(fwd_quick_lock *lock) {
  __atomic_store_n(&lock->is_locked, 0, __ATOMIC_RELEASE);
  fwd_fence_light();
  if (FWD_RARELY(__atomic_load_n(&lock->sleeping, __ATOMIC_RELAXED) > 0)) wake_one(lock);
}
