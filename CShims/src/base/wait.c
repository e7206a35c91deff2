// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// For syscall(2).
#define _GNU_SOURCE 1

#include "fwd_wait.h"

#include <time.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

void fwd_wait_begin(const uint32_t *word, uint32_t seen) {
#if defined(__linux__)
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
#else
  struct timespec time = {.tv_nsec = 100000};
  if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == seen) nanosleep(&time, NULL);
#endif
}

void fwd_wait_end(uint32_t *word) {
  __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
#if defined(__linux__)
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
#endif
}
