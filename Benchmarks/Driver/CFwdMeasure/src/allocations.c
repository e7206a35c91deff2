// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Counts allocations.

#include <errno.h>
#include <stdlib.h>

#include "CFwdMeasure.h"
#include "counters.h"

#if BENCH_COUNTS

#include <malloc.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Thread_local uint64_t allocations;
/// Counts those of all threads while somebody asks.
static bool counts_all;
static uint64_t all_allocations;

static inline void count_one(void) {
  allocations++;
  if (__builtin_expect(__atomic_load_n(&counts_all, __ATOMIC_RELAXED), 0)) {
    __atomic_fetch_add(&all_allocations, 1, __ATOMIC_RELAXED);
  }
}

void *malloc(size_t size) {
  count_one();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  count_one();
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  count_one();
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) {
  count_one();
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

uint64_t bench_allocation_count(void) { return allocations; }

uint64_t bench_count_all_allocations(bool counts) {
  __atomic_store_n(&counts_all, counts, __ATOMIC_RELAXED);
  return __atomic_load_n(&all_allocations, __ATOMIC_RELAXED);
}

uint64_t bench_allocated_bytes(void) {
#if __GLIBC_PREREQ(2, 33)
  struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
#else
  return UINT64_MAX;
#endif
}

#else

uint64_t bench_allocation_count(void) { return UINT64_MAX; }
uint64_t bench_count_all_allocations(bool counts) {
  (void)counts;
  return UINT64_MAX;
}
uint64_t bench_allocated_bytes(void) { return UINT64_MAX; }

#endif
