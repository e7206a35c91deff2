// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The functions that are called and the handlers that receive calls. In a file of their own, so that no loop
/// sees what they do.

#ifndef BENCH_CALLEES_H
#define BENCH_CALLEES_H

#include <ffi.h>

#include "CFwdBench.h"

enum { BENCH_SHAPE_COUNT = BENCH_MANY + 1, BENCH_ARGUMENT_LIMIT = 22, BENCH_RESULT_WORDS = 3 };

/// The arguments of all calls. Not constant, and visible to all functions: each call has to load them.
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

/// Who is called. A recording one adds its arguments to `bench_recorded`.
typedef struct bench_callees {
  bench_function quiet;
  bench_function recording;
  bench_ffi_handler quiet_ffi;
  bench_ffi_handler recording_ffi;
  bench_fwd_handler quiet_fwd;
  bench_fwd_handler recording_fwd;
} bench_callees;
extern const bench_callees bench_callees_of[BENCH_SHAPE_COUNT];

/// What all of them return, word by word.
extern const uint64_t bench_results[BENCH_SHAPE_COUNT][BENCH_RESULT_WORDS];

extern uint64_t bench_recorded;

/// The hash of the arguments that a recording function adds, computed from the arguments themselves.
uint64_t bench_hash(bench_shape shape, void *const *arguments);

#endif
