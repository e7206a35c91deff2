// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Time and allocations of a loop.

#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "CBenchmarks.h"

/// Loops begin at a cache line, so that how fast one is does not depend on what was linked before it.
#define BENCH_LOOP __attribute__((noinline, aligned(64)))

/// Begins to measure.
bench_sample bench_start(void);
/// Gives what it took since `start`.
bench_sample bench_finish(bench_sample start, uint64_t sum, uint64_t expected_sum);

#endif
