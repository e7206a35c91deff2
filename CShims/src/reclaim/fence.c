// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// For syscall(2).
#define _GNU_SOURCE 1

#include "reclaim/fence.h"

#include "forwarding.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FWD_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FWD_THREAD_SANITIZER 1
#endif

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

bool fwd_light_fence_is_full = true;

/// Makes all running threads of the process execute a full fence. False where the system cannot: on kernels before
/// 4.14, and where a sandbox forbids it.
static bool all_threads_fence(void) {
#if defined(__linux__) && defined(SYS_membarrier) && !defined(FWD_THREAD_SANITIZER)
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return true;
  // The process must register before its first call; so must a child of fork(2).
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
  return false;
#endif
}

void fwd_fence_set_up(void) { fwd_light_fence_is_full = !all_threads_fence(); }

bool fwd_fence_heavy(void) {
  atomic_thread_fence(memory_order_seq_cst);
  return fwd_light_fence_is_full || all_threads_fence();
}
