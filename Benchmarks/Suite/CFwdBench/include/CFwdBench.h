// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The hot loops of fwd-bench, which are in C so that what is measured is the calls and not the loop's language.
/// The Swift part repeats them, judges and prints.

#ifndef CFWDBENCH_H
#define CFWDBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CFwdMeasure.h"
#include "bench_fan_out.h"

// MARK: Calls

/// The signature that is called, and received.
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

/// How the call is made.
typedef enum bench_way {
  /// Through a C function pointer, arguments loaded from memory as the others load them.
  BENCH_DIRECT,
  /// libffi's ffi_call, with a call interface prepared beforehand.
  BENCH_FFI_CALL,
  /// libffi's ffi_call_plan_invoke, from 3.7 on.
  BENCH_FFI_PLAN,
  BENCH_FWD_CALL,
  /// fwd_call while libffi is forced.
  BENCH_FWD_CALL_LIBFFI,
  /// Through the function pointer of a closure of libffi's.
  BENCH_FFI_CLOSURE,
  /// Through the function pointer of a closure of ours.
  BENCH_FWD_CLOSURE,
  /// Through the function pointer of a closure of ours that was made while libffi was forced.
  BENCH_FWD_CLOSURE_LIBFFI,
} bench_way;

/// Whether there is such a call here. The first time, prepares what calls need; false if that fails.
bool bench_call_is_available(bench_shape shape, bench_way way);

/// Makes `iterations` calls of functions, or of closures with handlers, that only return. The sum is of what
/// they return.
bench_sample bench_call(bench_shape shape, bench_way way, size_t iterations);

/// The same with functions and handlers that look at all of their arguments. The sum is of these.
bench_sample bench_call_recording(bench_shape shape, bench_way way, size_t iterations);

// MARK: Signatures

/// Creates the signature of a shape `iterations` times, and destroys it each time. The sum is of what it says
/// of itself.
bench_sample bench_signature_seen(bench_shape shape, size_t iterations);
/// The same with texts none of which has been read lately. They differ in stack offsets, as compilers write them.
bench_sample bench_signature_new(bench_shape shape, size_t iterations);

#endif
