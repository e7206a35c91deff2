// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The signatures that are called: as encodings, as libffi's types, and with the addresses of their arguments.

#ifndef BENCH_CALL_SHAPES_H
#define BENCH_CALL_SHAPES_H

#include "callees.h"

typedef struct bench_signature {
  const char *encoding;
  /// A format for printf with one place, in which any number stands: the same signature, spelled anew.
  const char *numbered_encoding;
  /// What fwd_signature_frame_size gives.
  size_t frame_size;
  size_t argument_count;
  void *arguments[BENCH_ARGUMENT_LIMIT];
  ffi_type *types[BENCH_ARGUMENT_LIMIT];
  ffi_type *result_type;
  size_t result_size;
} bench_signature;

/// Not constant: libffi takes the arrays as pointers to what it may write, and does.
extern bench_signature bench_signatures[BENCH_SHAPE_COUNT];

#endif
