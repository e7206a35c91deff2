// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Pauses of threads that wait for another thread. Includers define _GNU_SOURCE, for nanosleep(2).

#ifndef FWD_SRC_PAUSE_H
#define FWD_SRC_PAUSE_H

#include <errno.h>
#include <sched.h>
#include <time.h>

/// Makes the processor wait for some of its cycles, between two looks at a variable that another thread changes.
static inline void fwd_pause_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/// Lets other threads run. `count` is the number of pauses before this one. From the 20th on it sleeps: a thread of a high
/// real-time priority would otherwise keep the thread that it waits for from running.
static inline void fwd_pause_briefly(unsigned count) {
  if (count < 20) {
    sched_yield();
    return;
  }
  struct timespec time = {.tv_nsec = 50000};
  nanosleep(&time, NULL);
}

/// Sleeps for so many nanoseconds, fewer than a second, also if signals arrive meanwhile.
static inline void fwd_sleep_ns(long ns) {
  struct timespec time = {.tv_nsec = ns};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) {
  }
}

#endif
