// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Counts of the calling thread.

#ifndef BENCH_COUNTERS_H
#define BENCH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

// A program's own malloc replaces the C library's in the whole process. Sanitizers replace it already.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BENCH_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(BENCH_SANITIZED)
#define BENCH_COUNTS 1
#else
#define BENCH_COUNTS 0
#endif

/// UINT64_MAX where they cannot be counted.
uint64_t bench_allocation_count(void);
uint64_t bench_lock_count(void);

/// Counts the allocations of all threads from now on, or stops it. Returns their number so far.
uint64_t bench_count_all_allocations(bool counts);

#endif
