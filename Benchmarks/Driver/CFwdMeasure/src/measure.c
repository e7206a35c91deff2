// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Measures on the calling thread.

// For clock_gettime(2).
#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "CFwdMeasure.h"
#include "counters.h"

static uint64_t time_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t thread_time(void) { return time_of(CLOCK_THREAD_CPUTIME_ID); }

static uint64_t since(uint64_t start, uint64_t now) { return now == UINT64_MAX ? now : now - start; }

bench_sample bench_start(void) {
  bench_sample start = {.allocations = bench_allocation_count(), .locks = bench_lock_count()};
  start.nanoseconds = thread_time();
  return start;
}

bench_sample bench_finish(bench_sample start, uint64_t sum, uint64_t expected_sum) {
  uint64_t now = thread_time();
  return (bench_sample){
      .nanoseconds = now - start.nanoseconds,
      .allocations = since(start.allocations, bench_allocation_count()),
      .locks = since(start.locks, bench_lock_count()),
      .sum = sum,
      .expected_sum = expected_sum,
  };
}

bench_sample bench_start_process(void) {
  bench_sample start = {.allocations = bench_count_all_allocations(true)};
  start.nanoseconds = time_of(CLOCK_PROCESS_CPUTIME_ID);
  return start;
}

bench_sample bench_finish_process(bench_sample start, uint64_t sum, uint64_t expected_sum) {
  uint64_t now = time_of(CLOCK_PROCESS_CPUTIME_ID);
  return (bench_sample){
      .nanoseconds = now - start.nanoseconds,
      .allocations = since(start.allocations, bench_count_all_allocations(false)),
      .locks = UINT64_MAX,
      .sum = sum,
      .expected_sum = expected_sum,
  };
}
