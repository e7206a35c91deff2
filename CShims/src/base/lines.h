// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Allocates whole cache lines.
///
/// If one thread writes to a cache line and another one uses it, the line goes from processor to processor, also if they
/// use different bytes of it. The transfer takes longer than most operations on the bytes.

#ifndef FWD_SRC_BASE_LINES_H
#define FWD_SRC_BASE_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// The bytes of a cache line. Some AArch64 processors have 128, where this saves less.
enum { FWD_LINE = 64 };

/// Allocates zeroed memory that shares no cache line with other allocations. `free` frees it.
static inline void *fwd_calloc_lines(size_t size) {
  if (size > PTRDIFF_MAX - FWD_LINE) return NULL;
  size_t whole = (size + FWD_LINE - 1) & ~(size_t)(FWD_LINE - 1);
  void *made = aligned_alloc(FWD_LINE, whole);
  return made ? memset(made, 0, whole) : NULL;
}

#endif
