// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// For clock_gettime(2).
#define _POSIX_C_SOURCE 200809L

#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

// MARK: Allocations

// A program's own malloc stands in for the C library's everywhere in the process. Sanitizers have one already.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BENCH_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(BENCH_SANITIZED)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Thread_local uint64_t allocations;

void *malloc(size_t size) {
  allocations++;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  allocations++;
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  allocations++;
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) {
  allocations++;
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void *made = memalign(alignment, size);
  if (!made) return ENOMEM;
  *block = made;
  return 0;
}

static uint64_t allocation_count(void) { return allocations; }

#else

static uint64_t allocation_count(void) { return UINT64_MAX; }

#endif

// MARK: Time

static uint64_t thread_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bench_sample bench_start(void) {
  bench_sample start = {.allocations = allocation_count()};
  start.nanoseconds = thread_time();
  return start;
}

bench_sample bench_finish(bench_sample start, uint64_t sum, uint64_t expected_sum) {
  uint64_t now = thread_time(), count = allocation_count();
  return (bench_sample){
      .nanoseconds = now - start.nanoseconds,
      .allocations = count == UINT64_MAX ? UINT64_MAX : count - start.allocations,
      .sum = sum,
      .expected_sum = expected_sum,
  };
}
