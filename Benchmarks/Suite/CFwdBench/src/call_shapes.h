// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The signatures of the calls: as encodings, as libffi's types, and with the addresses of their arguments.

#ifndef BENCH_CALL_SHAPES_H
#define BENCH_CALL_SHAPES_H

#include "callees.h"

typedef struct bench_signature {
  const char *encoding;
  /// A printf format with one number, a stack offset: each number gives another text of the same signature.
  const char *numbered_encoding;
  /// The result of fwd_signature_frame_size.
  size_t frame_size;
  size_t argument_count;
  void *arguments[BENCH_ARGUMENT_LIMIT];
  ffi_type *types[BENCH_ARGUMENT_LIMIT];
  ffi_type *result_type;
  size_t result_size;
} bench_signature;

/// Not constant, since libffi writes to these arrays.
extern bench_signature bench_signatures[BENCH_SHAPE_COUNT];

#endif
