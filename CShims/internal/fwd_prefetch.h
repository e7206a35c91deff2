// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Prefetching.

#ifndef FWD_PREFETCH_H
#define FWD_PREFETCH_H

#include "forwarding.h"

/// Gets the cache line of an address for writing. The address need not be valid.
static inline void fwd_prefetch_to_write(const void *FWD_NONNULL address) {
#if defined(__x86_64__)
  // The builtin would get the line for reading unless the compiler is told that each processor has this instruction. Those
  // that do not know it ignore it.
  __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
  __builtin_prefetch(address, 1);
#endif
}

#endif
