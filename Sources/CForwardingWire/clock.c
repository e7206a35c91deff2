// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// For CLOCK_REALTIME_COARSE, which C11 hides.
#define _GNU_SOURCE

#include <time.h>

#include "fwd_wire.h"

int64_t fwd_wire_time(void) {
  struct timespec now;
#ifdef CLOCK_REALTIME_COARSE
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
#else
  clock_gettime(CLOCK_REALTIME, &now);
#endif
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
