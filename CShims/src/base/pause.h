// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Pauses of threads that wait for a few instructions of another thread. Includers define _GNU_SOURCE, for nanosleep(2).

#ifndef FWD_SRC_PAUSE_H
#define FWD_SRC_PAUSE_H

#include <errno.h>
#include <sched.h>
#include <time.h>

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
