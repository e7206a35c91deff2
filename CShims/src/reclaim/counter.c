// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The counter. The first thread that takes a number owns the counter: it takes numbers by plain loads and stores. The first
/// call by another thread ends that for good, since an atomic addition must not meet a plain load and store of the owner:
///
///     the owner takes a number                     another thread shares the counter, under the lock
///       is_counting = 1                              owner = sharing
///       light fence                                  heavy fence
///       is the owner still this thread?              wait until the owner's is_counting is 0
///         number = next, next = number + 1           owner = shared
///       is_counting = 0
///
/// The fences make this Dekker's pattern (fence.h): either the other thread sees `is_counting`, or the owner sees that it is
/// no longer the owner. `is_counting` stands in the owner's block (thread.h) and not in the counter: in a child of fork(2) it is
/// cleared with the other threads' blocks, so nobody waits for a thread that exists only in the parent.
///
/// An owner is known by its first block. When the owner has ended, another thread may take the block, and owns the counter
/// then. It sees the earlier owner's stores, as it sees all that its block's earlier thread has done.

// For nanosleep(2).
#define _GNU_SOURCE 1

#include "fwd_counter.h"

#include "base/pause.h"
#include "reclaim/fence.h"
#include "reclaim/thread.h"

/// What `owner` points to once the counter has no owner any more. Before, it is NULL until the first call, and then the first
/// block of the owner.
static const char sharing, shared;

void fwd_counter_init(fwd_counter *counter, uint64_t first) { *counter = (fwd_counter){.next = first}; }

static const void *owner_of(const fwd_counter *counter) { return __atomic_load_n(&counter->owner, __ATOMIC_ACQUIRE); }

static void set_owner(fwd_counter *counter, const void *owner) {
  __atomic_store_n(&counter->owner, owner, __ATOMIC_RELEASE);
}

/// Waits until the owner, which has been replaced, takes no number.
static void wait_for(const fwd_thread_block *owner) {
  if (!fwd_thread_fence_heavy()) {
    // The system refuses the fence, which a sandbox that is entered later may do. A processor makes its stores visible
    // within microseconds, so `is_counting` is right after this.
    fwd_sleep_ns(10000000);
  }
  // Acquire: the additions to come find the owner's last store.
  for (unsigned count = 0; atomic_load_explicit(&owner->is_counting, memory_order_acquire);) fwd_pause_briefly(count++);
}

/// Makes the calling thread the owner if the counter has no owner yet. Otherwise shares the counter.
__attribute__((cold, noinline)) static void settle_owner(fwd_counter *counter) {
  fwd_lock_lock(&counter->lock);
  const void *owner = owner_of(counter);
  if (!owner) {
    // The lock has given the thread a block, unless memory is short. If the light fence is a full one, it costs an owner as
    // much as the atomic addition would.
    const void *mine = fwd_light_fence_is_full ? NULL : fwd_thread_blocks;
    set_owner(counter, mine ? mine : &shared);
  } else if (owner != &shared && owner != fwd_thread_blocks) {
    set_owner(counter, &sharing);
    wait_for(owner);
    set_owner(counter, &shared);
  }
  // Otherwise another thread has shared the counter, or the lock has given this thread the block of the owner, which has ended.
  fwd_lock_unlock(&counter->lock);
}

/// Takes a number if the calling thread is the owner.
static inline bool take_as_owner(fwd_counter *counter, uint64_t *number) {
  fwd_thread_block *mine = fwd_thread_blocks;
  // Asked before the fence as well, so that a shared counter costs no fence.
  if (FWD_RARELY(!mine || __atomic_load_n(&counter->owner, __ATOMIC_RELAXED) != mine)) return false;
  atomic_store_explicit(&mine->is_counting, 1, memory_order_relaxed);
  fwd_fence_light();
  bool is_owner = __atomic_load_n(&counter->owner, __ATOMIC_RELAXED) == mine;
  if (FWD_USUALLY(is_owner)) {
    *number = __atomic_load_n(&counter->next, __ATOMIC_RELAXED);
    __atomic_store_n(&counter->next, *number + 1, __ATOMIC_RELAXED);
  }
  // Release: a thread that shares the counter finds the number taken.
  atomic_store_explicit(&mine->is_counting, 0, memory_order_release);
  return is_owner;
}

/// Takes a number on any thread.
__attribute__((noinline)) static uint64_t take_slowly(fwd_counter *counter) {
  uint64_t number;
  while (owner_of(counter) != &shared) {
    settle_owner(counter);
    if (take_as_owner(counter, &number)) return number;
  }
  return __atomic_fetch_add(&counter->next, 1, __ATOMIC_RELAXED);
}

uint64_t fwd_counter_take(fwd_counter *counter) {
  uint64_t number;
  return FWD_USUALLY(take_as_owner(counter, &number)) ? number : take_slowly(counter);
}
