// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Asymmetric fences: a full fence between a store and a later load that costs the frequent side almost nothing.
///
/// Two threads that each store to one variable and then load the other's need a fence between the two steps, or both
/// may load the old value (Dekker's pattern; C11 7.17.4 orders it by sequentially consistent fences). Here one side
/// runs at every fan-out and the other only when membership changes or the process forks. So the frequent side runs a
/// *light* fence, which only keeps the compiler from reordering, and the rare side runs a *heavy* fence, membarrier(2),
/// which makes every running thread of the process execute a full fence at that moment. Wherever the frequent side
/// then is, its store is either before the heavy fence, and the rare side sees it, or its load is after it, and sees
/// what the rare side stored.
///
/// Where the system has no membarrier, and under the thread sanitizer, which does not know it, both fences are
/// sequentially consistent fences of C11.

#ifndef FWD_SRC_FENCE_H
#define FWD_SRC_FENCE_H

#include <stdatomic.h>
#include <stdbool.h>

// Code of a shared library looks up the address of its own variables unless they are hidden.
#define FWD_HIDDEN __attribute__((visibility("hidden")))

// The hot path falls through: taken branches dominate code this short.
#define FWD_USUALLY(condition) __builtin_expect(!!(condition), 1)
#define FWD_RARELY(condition) __builtin_expect(!!(condition), 0)

/// Whether light fences are full fences. Set once, before a thread gets its first block (thread.h).
extern FWD_HIDDEN bool fwd_light_fence_is_full;

/// Sets `fwd_light_fence_is_full`. Must be called once before the first light fence.
void fwd_fence_set_up(void);

/// Orders the calling thread's earlier stores before its later loads, against a heavy fence of another thread.
static inline void fwd_fence_light(void) {
  if (FWD_RARELY(fwd_light_fence_is_full)) {
    atomic_thread_fence(memory_order_seq_cst);
  } else {
    atomic_signal_fence(memory_order_seq_cst);
  }
}

/// Orders the calling thread's earlier stores before its later loads, against light fences of all threads. False if
/// the system refuses, which a sandbox that is entered later may do: then nothing is known about other threads.
bool fwd_fence_heavy(void);

#endif
