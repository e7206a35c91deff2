// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Whether the process has only one thread, so that nothing needs to be atomic.

#ifndef FWD_SRC_ONE_THREAD_H
#define FWD_SRC_ONE_THREAD_H

#include <stdbool.h>

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
// glibc 2.32 and later. libstdc++ asks the same variable for the counts of `shared_ptr`.
#include <sys/single_threaded.h>
#define FWD_ASKS_FOR_THREADS 1
#endif
#endif

/// Whether the process certainly has one thread. Any function that is called may start another one, so the answer holds
/// until the next call.
static inline bool fwd_has_one_thread(void) {
#if defined(FWD_ASKS_FOR_THREADS)
  // Expected to be false: most programs in Swift have several threads.
  return __builtin_expect(__libc_single_threaded, 0);
#else
  return false;
#endif
}

#endif
