// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The calls of the benchmark group "call": each signature in each way.

#include <string.h>

#include "call_shapes.h"
#include "forwarding.h"
#include "CFwdMeasure.h"

#if defined(FFI_VERSION_NUMBER) && FFI_VERSION_NUMBER >= 30700
#define HAS_FFI_PLANS 1
#else
#define HAS_FFI_PLANS 0
// Never called. With it, the loop needs no #if.
typedef void ffi_call_plan;
static void ffi_call_plan_invoke(ffi_call_plan *plan, void (*function)(void), void *result, void **arguments) {
  (void)plan, (void)function, (void)result, (void)arguments;
}
#endif

// MARK: Preparation

typedef struct closure_pair {
  bench_function quiet;
  bench_function recording;
} closure_pair;

typedef struct prepared_shape {
  bool is_tried;
  bool is_good;
  ffi_cif cif;
  ffi_call_plan *plan;
  fwd_signature *signature;
  closure_pair ffi_closures;
  closure_pair fwd_closures;
  closure_pair fwd_libffi_closures;
} prepared_shape;

// Never freed.
static prepared_shape prepared[BENCH_SHAPE_COUNT];

static bench_function make_ffi_closure(prepared_shape *shape, bench_ffi_handler handler) {
  void *code = NULL;
  bench_function function = NULL;
  ffi_closure *closure = ffi_closure_alloc(sizeof *closure, &code);
  if (!closure || ffi_prep_closure_loc(closure, &shape->cif, handler, NULL, code) != FFI_OK) return NULL;
  // ISO C does not convert an object pointer to a function pointer, but POSIX does.
  memcpy(&function, &code, sizeof function);
  return function;
}

static bench_function make_fwd_closure(prepared_shape *shape, bench_fwd_handler handler) {
  fwd_closure *closure = NULL;
  fwd_status status = fwd_closure_create(shape->signature, handler, NULL, &closure, NULL);
  return status == FWD_OK ? fwd_closure_function(closure) : NULL;
}

static bool make_closures(prepared_shape *shape, const bench_callees *callees) {
  shape->ffi_closures.quiet = make_ffi_closure(shape, callees->quiet_ffi);
  shape->ffi_closures.recording = make_ffi_closure(shape, callees->recording_ffi);
  shape->fwd_closures.quiet = make_fwd_closure(shape, callees->quiet_fwd);
  shape->fwd_closures.recording = make_fwd_closure(shape, callees->recording_fwd);
  fwd_use_libffi(true);
  shape->fwd_libffi_closures.quiet = make_fwd_closure(shape, callees->quiet_fwd);
  shape->fwd_libffi_closures.recording = make_fwd_closure(shape, callees->recording_fwd);
  fwd_use_libffi(false);
  return shape->fwd_closures.quiet && shape->fwd_closures.recording;
}

static prepared_shape *prepare(bench_shape which) {
  prepared_shape *shape = &prepared[which];
  if (shape->is_tried) return shape;
  shape->is_tried = true;
  bench_signature *signature = &bench_signatures[which];
  if (ffi_prep_cif(&shape->cif, FFI_DEFAULT_ABI, (unsigned)signature->argument_count, signature->result_type,
                   signature->types) != FFI_OK) {
    return shape;
  }
#if HAS_FFI_PLANS
  shape->plan = ffi_call_plan_alloc(&shape->cif);
#endif
  if (fwd_signature_create(signature->encoding, strlen(signature->encoding), &shape->signature, NULL) != FWD_OK) {
    return shape;
  }
  shape->is_good = make_closures(shape, &bench_callees_of[which]);
  return shape;
}

static const closure_pair *closures(const prepared_shape *shape, bench_way way) {
  switch (way) {
    case BENCH_FFI_CLOSURE: return &shape->ffi_closures;
    case BENCH_FWD_CLOSURE: return &shape->fwd_closures;
    case BENCH_FWD_CLOSURE_LIBFFI: return &shape->fwd_libffi_closures;
    default: return NULL;
  }
}

bool bench_call_is_available(bench_shape which, bench_way way) {
  const prepared_shape *shape = prepare(which);
  if (!shape->is_good) return false;
  if (way == BENCH_FFI_PLAN) return shape->plan != NULL;
  const closure_pair *pair = closures(shape, way);
  return !pair || (pair->quiet && pair->recording);
}

// MARK: Direct calls

// The sum of the results' last words, and the last result.
typedef struct outcome {
  uint64_t sum;
  uint64_t words[BENCH_RESULT_WORDS];
} outcome;

#define A bench_arguments

#define DIRECT_VOID(name, types, values)                                                \
  BENCH_LOOP static outcome direct_##name(bench_function function, size_t iterations) { \
    void(*callee) types = (void(*) types)function;                                      \
    for (size_t i = 0; i < iterations; i++) callee values;                              \
    return (outcome){0};                                                                \
  }
// Only the last result is read as a whole. Reading each in other parts than it was written in would defeat store
// forwarding and cost more than the call.
#define DIRECT(name, result_type, last, types, values)                                  \
  BENCH_LOOP static outcome direct_##name(bench_function function, size_t iterations) { \
    result_type(*callee) types = (result_type(*) types)function;                        \
    outcome all = {0};                                                                  \
    if (iterations == 0) return all;                                                    \
    for (size_t i = 1; i < iterations; i++) all.sum += (uint64_t)callee values last;    \
    result_type result = callee values;                                                 \
    all.sum += (uint64_t)result last;                                                   \
    memcpy(all.words, &result, sizeof result);                                          \
    return all;                                                                         \
  }
#define I int64_t
#define D double
#define N(i) A.integers[i]
#define R(i) A.doubles[i]

DIRECT_VOID(notify, (void *, I, D), (A.pointer, N(0), R(0)))
DIRECT(six, int64_t, , (void *, I, D, int, float, I), (A.pointer, N(0), R(0), A.narrow, A.single, N(1)))
DIRECT_VOID(take_large, (bench_large), (A.large))
DIRECT_VOID(take_mixed, (bench_mixed), (A.mixed))
DIRECT(give_large, bench_large, .third, (void *), (A.pointer))
DIRECT(give_mixed, bench_mixed, .integer, (void *), (A.pointer))
DIRECT_VOID(many, (I, I, I, I, I, I, I, I, I, I, I, I, D, D, D, D, D, D, D, D, D, D),
            (N(0), N(1), N(2), N(3), N(4), N(5), N(6), N(7), N(8), N(9), N(10), N(11), R(0), R(1), R(2), R(3),
             R(4), R(5), R(6), R(7), R(8), R(9)))

static outcome (*const direct[])(bench_function function, size_t iterations) = {
    [BENCH_NOTIFY] = direct_notify,         [BENCH_SIX] = direct_six,
    [BENCH_TAKE_LARGE] = direct_take_large, [BENCH_TAKE_MIXED] = direct_take_mixed,
    [BENCH_GIVE_LARGE] = direct_give_large, [BENCH_GIVE_MIXED] = direct_give_mixed,
    [BENCH_MANY] = direct_many,
};

// MARK: Calls by description

// One loop for void functions and one for the rest. `CALL` uses `arguments`, whose first element is `first`, and
// `result`.
#define LOOP(name, CALL)                                                                                \
  BENCH_LOOP static outcome name##_void(prepared_shape *shape, bench_signature *signature,              \
                                        bench_function function, size_t iterations) {                   \
    void **arguments = signature->arguments, *first = arguments[0], *result = NULL;                     \
    (void)first;                                                                                        \
    for (size_t i = 0; i < iterations; i++) CALL;                                                       \
    return (outcome){0};                                                                                \
  }                                                                                                     \
  BENCH_LOOP static outcome name##_valued(prepared_shape *shape, bench_signature *signature,            \
                                          bench_function function, size_t iterations) {                 \
    outcome all = {0};                                                                                  \
    void **arguments = signature->arguments, *first = arguments[0], *result = all.words;                \
    (void)first;                                                                                        \
    const uint64_t *last = &all.words[signature->result_size / 8 - 1];                                  \
    uint64_t sum = 0;                                                                                   \
    for (size_t i = 0; i < iterations; i++) {                                                           \
      CALL;                                                                                             \
      sum += *last;                                                                                     \
    }                                                                                                   \
    all.sum = sum;                                                                                      \
    return all;                                                                                         \
  }

// libffi 3.4 overwrites the elements of large structs with addresses on its own stack. They are restored.
LOOP(ffi_call, (ffi_call(&shape->cif, function, result, arguments), arguments[0] = first))
LOOP(ffi_plan, (ffi_call_plan_invoke(shape->plan, function, result, arguments), arguments[0] = first))
LOOP(fwd_call, fwd_call(shape->signature, function, arguments, result))

#undef A

static outcome run(bench_shape which, bench_way way, bool records, size_t iterations) {
  prepared_shape *shape = &prepared[which];
  bench_signature *signature = &bench_signatures[which];
  bench_function function = records ? bench_callees_of[which].recording : bench_callees_of[which].quiet;
  bool is_void = signature->result_size == 0;
  const closure_pair *pair = closures(shape, way);
  if (pair) function = records ? pair->recording : pair->quiet;
  switch (way) {
    case BENCH_FFI_CALL: return (is_void ? ffi_call_void : ffi_call_valued)(shape, signature, function, iterations);
    case BENCH_FFI_PLAN: return (is_void ? ffi_plan_void : ffi_plan_valued)(shape, signature, function, iterations);
    case BENCH_FWD_CALL:
    case BENCH_FWD_CALL_LIBFFI: {
      fwd_use_libffi(way == BENCH_FWD_CALL_LIBFFI);
      outcome all = (is_void ? fwd_call_void : fwd_call_valued)(shape, signature, function, iterations);
      fwd_use_libffi(false);
      return all;
    }
    default: return direct[which](function, iterations);
  }
}

// MARK: Measuring

/// A wrong result of any call shows in the sum. The last result is compared in full.
static uint64_t fold(outcome all) {
  for (size_t i = 0; i < BENCH_RESULT_WORDS; i++) all.sum = all.sum * 31 + all.words[i];
  return all.sum;
}

static uint64_t expected(bench_shape which, size_t iterations) {
  outcome all = {0};
  size_t count = bench_signatures[which].result_size / 8;
  for (size_t i = 0; i < count; i++) all.words[i] = bench_results[which][i];
  if (count > 0) all.sum = all.words[count - 1] * iterations;
  return fold(all);
}

bench_sample bench_call(bench_shape which, bench_way way, size_t iterations) {
  bench_sample start = bench_start();
  outcome all = run(which, way, false, iterations);
  return bench_finish(start, fold(all), expected(which, iterations));
}

bench_sample bench_call_recording(bench_shape which, bench_way way, size_t iterations) {
  bench_recorded = 0;
  bench_sample start = bench_start();
  outcome all = run(which, way, true, iterations);
  uint64_t hash = bench_hash(which, bench_signatures[which].arguments);
  return bench_finish(start, fold(all) + bench_recorded, expected(which, iterations) + hash * iterations);
}
