// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Runs the main dispatch queue in a program whose main thread does other work, too. A run loop does the same by these
/// functions of libdispatch, but allocates memory each time, which would be counted.

#include <poll.h>
#include <unistd.h>

#include "CFwdBench.h"

#if defined(__linux__)

// An eventfd, which is signalled when the queue has work.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

void bench_run_main_queue(void) {
  struct pollfd wake = {.fd = _dispatch_get_main_queue_handle_4CF(), .events = POLLIN};
  if (poll(&wake, 1, 10) <= 0) return;
  uint64_t count;
  (void)!read(wake.fd, &count, sizeof count);
  _dispatch_main_queue_callback_4CF(NULL);
}

#else

void bench_run_main_queue(void) {}

#endif
