// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The hot loops of fwd-bench. They are in C, so that only the calls are measured. The Swift part repeats them, compares
/// them with the goals and prints them.

#ifndef CFWDBENCH_H
#define CFWDBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CFwdMeasure.h"
#include "bench_closures.h"
#include "bench_fan_out.h"

// MARK: Calls

/// The signature of the calls.
typedef enum bench_shape {
  /// (pointer, int64, double) -> void
  BENCH_NOTIFY,
  /// (pointer, int64, double, int, float, int64) -> int64
  BENCH_SIX,
  /// (24-byte struct) -> void
  BENCH_TAKE_LARGE,
  /// (16-byte {double, int64}) -> void
  BENCH_TAKE_MIXED,
  /// (pointer) -> 24-byte struct
  BENCH_GIVE_LARGE,
  /// (pointer) -> {double, int64}
  BENCH_GIVE_MIXED,
  /// (12 x int64, 10 x double) -> void
  BENCH_MANY,
} bench_shape;

/// The way in which the call is made.
typedef enum bench_way {
  /// Through a C function pointer, with arguments that are loaded from memory as in the other ways.
  BENCH_DIRECT,
  /// By libffi's ffi_call, with a prepared call interface.
  BENCH_FFI_CALL,
  /// By libffi's ffi_call_plan_invoke (3.7 and later).
  BENCH_FFI_PLAN,
  BENCH_FWD_CALL,
  /// By fwd_call while libffi is forced.
  BENCH_FWD_CALL_LIBFFI,
  /// Through the function pointer of one of libffi's closures.
  BENCH_FFI_CLOSURE,
  /// Through the function pointer of one of our closures.
  BENCH_FWD_CLOSURE,
  /// Through the function pointer of one of our closures, made while libffi was forced.
  BENCH_FWD_CLOSURE_LIBFFI,
} bench_way;

/// Returns whether this build can make such calls. The first call prepares them, and returns false if that fails.
bool bench_call_is_available(bench_shape shape, bench_way way);

/// Makes `iterations` calls of functions or closures that only return. The sum adds their results.
bench_sample bench_call(bench_shape shape, bench_way way, size_t iterations);

/// The same with functions and handlers that read all arguments. The sum adds the arguments.
bench_sample bench_call_recording(bench_shape shape, bench_way way, size_t iterations);

// MARK: Signatures

/// Creates and releases the signature of a shape `iterations` times. The sum adds its frame sizes.
bench_sample bench_signature_seen(bench_shape shape, size_t iterations);
/// The same with texts that are in no cache. They differ in stack offsets, which compilers write into encodings.
bench_sample bench_signature_new(bench_shape shape, size_t iterations);

#endif
