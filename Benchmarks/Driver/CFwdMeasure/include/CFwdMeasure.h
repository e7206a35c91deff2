// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a loop takes: CPU time, allocations and locks. In C, so that loops in C, in C++ and in Swift are measured
/// alike.

#ifndef CFWDMEASURE_H
#define CFWDMEASURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Loops begin at a cache line, so that how fast one is does not depend on what was linked before it.
#define BENCH_LOOP __attribute__((noinline, aligned(64)))

/// What one run of a loop took.
typedef struct bench_sample {
  /// CPU time of the thread; of several threads the mean.
  uint64_t nanoseconds;
  /// Allocations of the thread, of several threads all; UINT64_MAX where they cannot be counted.
  uint64_t allocations;
  /// The times that it took a lock of the threads library, or waited; UINT64_MAX where they cannot be counted.
  uint64_t locks;
  /// What came out, and what had to.
  uint64_t sum;
  uint64_t expected_sum;
} bench_sample;

/// Begins to measure.
bench_sample bench_start(void);
/// Gives what it took since `start`.
bench_sample bench_finish(bench_sample start, uint64_t sum, uint64_t expected_sum);

/// The bytes that the process has allocated and not freed; UINT64_MAX where they cannot be counted.
uint64_t bench_allocated_bytes(void);

/// Runs `body` on `count` threads (8 at most), which begin at the same moment, and gives what it took. The sum is
/// that of what the bodies give; that of one that could not be started is missing from it.
bench_sample bench_on_threads(size_t count, uint64_t (*body)(void *context, size_t thread), void *context,
                              uint64_t expected_sum);

#ifdef __cplusplus
}
#endif

#endif
