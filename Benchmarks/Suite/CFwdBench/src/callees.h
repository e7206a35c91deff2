// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The called functions and the closures' handlers. They have a file of their own, so that no loop can inline them.

#ifndef BENCH_CALLEES_H
#define BENCH_CALLEES_H

#include <ffi.h>

#include "CFwdBench.h"

enum { BENCH_SHAPE_COUNT = BENCH_MANY + 1, BENCH_ARGUMENT_LIMIT = 22, BENCH_RESULT_WORDS = 3 };

/// The arguments of all calls. They are global and not constant, so that each call has to load them.
typedef struct bench_values {
  void *pointer;
  int64_t integers[12];
  double doubles[10];
  int narrow;
  float single;
  bench_large large;
  bench_mixed mixed;
} bench_values;
extern bench_values bench_arguments;

typedef void (*bench_function)(void);
typedef void (*bench_ffi_handler)(ffi_cif *cif, void *result, void **arguments, void *context);
typedef void (*bench_fwd_handler)(void *context, void *const *arguments, void *result);

/// The callee. A recording one adds its arguments to `bench_recorded`.
typedef struct bench_callees {
  bench_function quiet;
  bench_function recording;
  bench_ffi_handler quiet_ffi;
  bench_ffi_handler recording_ffi;
  bench_fwd_handler quiet_fwd;
  bench_fwd_handler recording_fwd;
} bench_callees;
extern const bench_callees bench_callees_of[BENCH_SHAPE_COUNT];

/// The words of every callee's result.
extern const uint64_t bench_results[BENCH_SHAPE_COUNT][BENCH_RESULT_WORDS];

extern uint64_t bench_recorded;

/// The hash that a recording function adds, computed from the arguments directly.
uint64_t bench_hash(bench_shape shape, void *const *arguments);

#endif
