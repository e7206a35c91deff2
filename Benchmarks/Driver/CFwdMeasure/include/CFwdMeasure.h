// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Measures a loop: CPU time, allocations and locks. It is in C so that loops in C, C++ and Swift are measured alike.

#ifndef CFWDMEASURE_H
#define CFWDMEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Aligns a loop's function to a cache line, so that its speed does not depend on the code linked before it.
#define BENCH_LOOP __attribute__((noinline, aligned(64)))

/// The cost of one run of a loop.
typedef struct bench_sample {
  /// CPU time of the thread, in nanoseconds; the mean of several threads.
  uint64_t nanoseconds;
  /// Allocations of all threads that took part; UINT64_MAX where they cannot be counted.
  uint64_t allocations;
  /// The number of pthread locks taken and of waits; UINT64_MAX where they cannot be counted.
  uint64_t locks;
  /// The loop's sum, and the sum that is right.
  uint64_t sum;
  uint64_t expected_sum;
} bench_sample;

/// Starts measuring on this thread.
bench_sample bench_start(void);
/// Returns the cost since `start`.
bench_sample bench_finish(bench_sample start, uint64_t sum, uint64_t expected_sum);

/// Starts measuring the whole process: CPU time and allocations of all threads. Locks are not counted.
bench_sample bench_start_process(void);
/// Returns the cost since `start`. No other measurement of the process may have begun meanwhile.
bench_sample bench_finish_process(bench_sample start, uint64_t sum, uint64_t expected_sum);

/// Returns the bytes that the process has allocated and not freed; UINT64_MAX where they cannot be counted.
uint64_t bench_allocated_bytes(void);

/// Runs `body` on `count` threads (at most 8), which start together, and returns the cost. The result's sum adds those
/// of all bodies. If a thread cannot be started, its sum is missing.
bench_sample bench_on_threads(size_t count, uint64_t (*body)(void *context, size_t thread), void *context,
                              uint64_t expected_sum);

/// Starts a thread that returns at once, so that the process is one with several threads from here on.
void bench_start_and_join_thread(void);
/// Returns whether the C library knows that the process has never had a second thread.
bool bench_has_one_thread(void);

#ifdef __cplusplus
}
#endif

#endif
