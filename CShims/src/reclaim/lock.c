// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Locks, and the gate that closes them all while the process forks.
///
/// A child of fork(2) has a copy of the memory but only the thread that forked. A lock that another thread held at that
/// moment would stay locked in the child for good, and what it protects might be half changed. Taking every lock before
/// the fork is not possible, since each proxy has locks of its own. Instead each thread counts, in its block (thread.h), the
/// locks that it holds or waits for, and the fork waits until the count of every other thread is 0:
///
///     a thread that locks                          the thread that forks (pthread_atfork, prepare)
///       locks = locks + 1                            forks = forks + 1
///       light fence                                  heavy fence
///       forks > 0 ? step back and wait               wait until `locks` of every other thread is 0
///       ... the critical section ...                 fork(2)
///       locks = locks - 1                            parent: forks = forks - 1, child: forks = 0
///
/// The fences make this Dekker's pattern: either the fork sees `locks`, or the thread sees `forks`. A critical section
/// runs no foreign code, so the fork waits for microseconds, or for the time of a heavy fence (counter.c). The forking thread
/// itself passes the gate: fork handlers that other libraries registered before ours run while the gate is closed, and may use
/// the package.
///
/// Neither side waits for ever. A fork handler of another library may wait for a lock of its own, held by a thread that
/// waits at our gate; and a critical section may wait for the lock of an allocator whose fork handler ran before ours.
/// After `fwd_fork_patience_ns` each goes on. Only in such a program, or in one where two threads fork at the same time and a
/// fork handler of another library uses the package, can a child find a lock held.

// For syscall(2).
#define _GNU_SOURCE 1

#include "reclaim/lock.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "base/pause.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <os/lock.h>
#endif

// MARK: The lock

#if defined(__APPLE__)

_Static_assert(sizeof(os_unfair_lock) == sizeof(fwd_lock), "os_unfair_lock is one word");
static void acquire(fwd_lock *lock) { os_unfair_lock_lock((os_unfair_lock_t)lock); }
static void give_up(fwd_lock *lock) { os_unfair_lock_unlock((os_unfair_lock_t)lock); }
// The word of `os_unfair_lock` is private.
bool fwd_lock_is_open(const fwd_lock *lock) {
  (void)lock;
  return false;
}

#else

void fwd_lock_wait(fwd_lock *lock) {
  // Critical sections are short: mostly the lock is open again before a system call would have begun.
  for (unsigned i = 0; i < 100; i++) {
    if (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) == FWD_LOCK_OPEN && fwd_lock_try(lock)) return;
    fwd_pause_processor();
  }
  while (__atomic_exchange_n(&lock->word, FWD_LOCK_CONTENDED, __ATOMIC_ACQUIRE) != FWD_LOCK_OPEN) {
#if defined(__linux__)
    syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, FWD_LOCK_CONTENDED, NULL, NULL, 0);
#else
    sched_yield();
#endif
  }
}

void fwd_lock_wake(fwd_lock *lock) {
#if defined(__linux__)
  syscall(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#else
  (void)lock;
#endif
}

static void acquire(fwd_lock *lock) { fwd_lock_acquire(lock); }
static void give_up(fwd_lock *lock) { fwd_lock_give_up(lock); }
bool fwd_lock_is_open(const fwd_lock *lock) { return __atomic_load_n(&lock->word, __ATOMIC_ACQUIRE) == FWD_LOCK_OPEN; }

#endif

// MARK: The gate

atomic_uint fwd_forks;
static FWD_FAST_THREAD_LOCAL bool is_forking;
/// The number of the last fork.
static atomic_uint last_fork;
/// The number of the last fork that this thread has waited for in vain.
static FWD_FAST_THREAD_LOCAL unsigned fork_given_up;
/// The same as `locks` of a thread's block, for all threads that have no block because memory was short.
static atomic_uint locks_without_block;
static FWD_FAST_THREAD_LOCAL unsigned my_locks_without_block;

/// How long one side of the gate waits for the other.
// Longer than a thread that holds a lock waits for a page of the program from a busy disk.
int64_t fwd_fork_patience_ns = 10000000000;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_closed(void) {
  return atomic_load_explicit(&fwd_forks, memory_order_acquire) > 0 && !is_forking;
}

/// How long a thread waits at the gate.
typedef struct gate_wait {
  /// The number of the fork that it waits for.
  unsigned fork;
  int64_t deadline;
} gate_wait;

/// Begins to wait. A thread that has waited for this fork in vain waits a hundredth as long at its next locks. They would
/// otherwise wait for minutes in all. Once it has released what the fork waits for, that still is time enough to fork.
static gate_wait begin_waiting(void) {
  unsigned fork = atomic_load_explicit(&last_fork, memory_order_relaxed);
  int64_t time = fork == fork_given_up ? fwd_fork_patience_ns / 100 : fwd_fork_patience_ns;
  return (gate_wait){fork, now_ns() + time};
}

static bool still_waits(gate_wait self) { return is_closed() && now_ns() < self.deadline; }

static void end_waiting(gate_wait self) {
  if (is_closed()) fork_given_up = self.fork;
}

/// Waits while another thread forks. The thread holds no lock.
__attribute__((cold, noinline)) static void wait_at_gate(fwd_thread_block *block) {
  gate_wait waiting = begin_waiting();
  unsigned count = 0;
  do {
    fwd_set_locks(block, 0);
    while (still_waits(waiting)) fwd_pause_briefly(count++);
    fwd_set_locks(block, 1);
    fwd_fence_light();
  } while (still_waits(waiting));
  end_waiting(waiting);
}

__attribute__((cold, noinline)) static void pass_gate_without_block(void) {
  my_locks_without_block++;
  atomic_fetch_add(&locks_without_block, 1);
  atomic_thread_fence(memory_order_seq_cst);
  // A thread that holds a lock goes on, since the fork waits for it.
  if (my_locks_without_block > 1 || !is_closed()) return;
  gate_wait waiting = begin_waiting();
  for (unsigned count = 0; still_waits(waiting);) {
    atomic_fetch_sub(&locks_without_block, 1);
    while (still_waits(waiting)) fwd_pause_briefly(count++);
    atomic_fetch_add(&locks_without_block, 1);
    atomic_thread_fence(memory_order_seq_cst);
  }
  end_waiting(waiting);
}

void fwd_fork_gate_pass_slowly(fwd_thread_block *block) {
  // A thread that holds another lock goes on, since the fork waits for it.
  if (fwd_locks_of(block) == 1 && is_closed()) wait_at_gate(block);
}

__attribute__((cold, noinline)) static void pass_gate_first(void) {
  fwd_thread_block *block = fwd_thread_add_block();
  if (block) {
    fwd_fork_gate_pass(block);
  } else {
    pass_gate_without_block();
  }
}

static void pass_gate(void) {
  fwd_thread_block *block = fwd_thread_blocks;
  if (FWD_USUALLY(block)) {
    fwd_fork_gate_pass(block);
  } else {
    pass_gate_first();
  }
}

static void leave_gate(void) {
  // In which order a thread's two counts fall does not matter, as long as their sum is right.
  if (FWD_RARELY(my_locks_without_block > 0)) {
    my_locks_without_block--;
    atomic_fetch_sub(&locks_without_block, 1);
  } else {
    fwd_set_locks(fwd_thread_blocks, fwd_locks_of(fwd_thread_blocks) - 1);
  }
}

// lock.h repeats both functions inline, for a thread that has a block.
void fwd_lock_lock(fwd_lock *lock) {
  pass_gate();
  acquire(lock);
}

void fwd_lock_unlock(fwd_lock *lock) {
  give_up(lock);
  leave_gate();
}

// MARK: fork(2)

/// Whether a thread other than the calling one holds or waits for a lock.
static bool is_any_held(void) {
  if (atomic_load(&locks_without_block) > my_locks_without_block) return true;
  fwd_thread_block *block = atomic_load(&fwd_all_thread_blocks);
  for (; block; block = block->next) {
    // Acquire: see `fwd_set_locks`.
    if (block != fwd_thread_blocks && atomic_load_explicit(&block->locks, memory_order_acquire) > 0) return true;
  }
  return false;
}

static void before_fork(void) {
  fwd_thread_set_up();
  is_forking = true;
  atomic_fetch_add(&last_fork, 1);
  atomic_fetch_add(&fwd_forks, 1);
  if (!fwd_fence_heavy()) {
    // Without the fence a thread that has just begun to lock may not be seen yet. A store takes far less than this.
    fwd_sleep_ns(1000000);
  }
  int64_t deadline = now_ns() + fwd_fork_patience_ns;
  for (unsigned count = 0; is_any_held() && now_ns() < deadline;) fwd_pause_briefly(count++);
}

static void after_fork_in_parent(void) {
  atomic_fetch_sub(&fwd_forks, 1);
  is_forking = false;
}

static void after_fork_in_child(void) {
  fwd_thread_reset_others();
  atomic_store(&locks_without_block, my_locks_without_block);
  atomic_store(&fwd_forks, 0);
  is_forking = false;
}

// Before main: handlers that programs register later then run before ours, while the gate is open. If there is no memory
// for the registration, forks are not waited for.
__attribute__((constructor)) static void register_fork_handlers(void) {
  (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
