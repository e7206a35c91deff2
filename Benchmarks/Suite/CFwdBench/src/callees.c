// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "callees.h"

#include <string.h>

bench_values bench_arguments = {
    .pointer = &bench_arguments,
    .integers = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22},
    .doubles = {0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5},
    .narrow = -7,
    .single = 0.25f,
    .large = {31, 32, 33},
    .mixed = {4.25, 34},
};

// MARK: Recording

uint64_t bench_recorded;

static const unsigned char sizes[BENCH_SHAPE_COUNT][BENCH_ARGUMENT_LIMIT] = {
    [BENCH_NOTIFY] = {8, 8, 8},
    [BENCH_SIX] = {8, 8, 8, 4, 4, 8},
    [BENCH_TAKE_LARGE] = {24},
    [BENCH_TAKE_MIXED] = {16},
    [BENCH_GIVE_LARGE] = {8},
    [BENCH_GIVE_MIXED] = {8},
    [BENCH_MANY] = {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8},
};

uint64_t bench_hash(bench_shape shape, void *const *arguments) {
  uint64_t hash = 1;
  for (size_t i = 0; i < BENCH_ARGUMENT_LIMIT && sizes[shape][i] > 0; i++) {
    for (size_t offset = 0; offset < sizes[shape][i]; offset += 8) {
      size_t rest = sizes[shape][i] - offset;
      uint64_t word = 0;
      memcpy(&word, (const char *)arguments[i] + offset, rest < 8 ? rest : 8);
      hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
      hash ^= hash >> 32;
    }
  }
  return hash;
}

static void record(bench_shape shape, void *const *arguments) { bench_recorded += bench_hash(shape, arguments); }

// MARK: Functions

#define LARGE_RESULT ((bench_large){51, 52, 53})
#define MIXED_RESULT ((bench_mixed){6.5, 62})
enum { six_result = 71 };

static void notify_quiet(void *pointer, int64_t integer, double real) { (void)pointer, (void)integer, (void)real; }
static void notify_recording(void *pointer, int64_t integer, double real) {
  record(BENCH_NOTIFY, (void *[]){&pointer, &integer, &real});
}

static int64_t six_quiet(void *pointer, int64_t integer, double real, int narrow, float single, int64_t last) {
  (void)pointer, (void)integer, (void)real, (void)narrow, (void)single, (void)last;
  return six_result;
}
static int64_t six_recording(void *pointer, int64_t integer, double real, int narrow, float single, int64_t last) {
  record(BENCH_SIX, (void *[]){&pointer, &integer, &real, &narrow, &single, &last});
  return six_result;
}

static void take_large_quiet(bench_large large) { (void)large; }
static void take_large_recording(bench_large large) { record(BENCH_TAKE_LARGE, (void *[]){&large}); }

static void take_mixed_quiet(bench_mixed mixed) { (void)mixed; }
static void take_mixed_recording(bench_mixed mixed) { record(BENCH_TAKE_MIXED, (void *[]){&mixed}); }

static bench_large give_large_quiet(void *pointer) {
  (void)pointer;
  return LARGE_RESULT;
}
static bench_large give_large_recording(void *pointer) {
  record(BENCH_GIVE_LARGE, (void *[]){&pointer});
  return LARGE_RESULT;
}

static bench_mixed give_mixed_quiet(void *pointer) {
  (void)pointer;
  return MIXED_RESULT;
}
static bench_mixed give_mixed_recording(void *pointer) {
  record(BENCH_GIVE_MIXED, (void *[]){&pointer});
  return MIXED_RESULT;
}

#define MANY_PARAMETERS                                                                                   \
  int64_t i0, int64_t i1, int64_t i2, int64_t i3, int64_t i4, int64_t i5, int64_t i6, int64_t i7,         \
      int64_t i8, int64_t i9, int64_t i10, int64_t i11, double d0, double d1, double d2, double d3,       \
      double d4, double d5, double d6, double d7, double d8, double d9

static void many_quiet(MANY_PARAMETERS) {
  (void)i0, (void)i1, (void)i2, (void)i3, (void)i4, (void)i5, (void)i6, (void)i7, (void)i8, (void)i9;
  (void)i10, (void)i11, (void)d0, (void)d1, (void)d2, (void)d3, (void)d4, (void)d5, (void)d6, (void)d7;
  (void)d8, (void)d9;
}
static void many_recording(MANY_PARAMETERS) {
  record(BENCH_MANY, (void *[]){&i0, &i1, &i2, &i3, &i4, &i5, &i6, &i7, &i8, &i9, &i10, &i11,
                                &d0, &d1, &d2, &d3, &d4, &d5, &d6, &d7, &d8, &d9});
}

const uint64_t bench_results[BENCH_SHAPE_COUNT][BENCH_RESULT_WORDS] = {
    [BENCH_SIX] = {six_result},
    [BENCH_GIVE_LARGE] = {51, 52, 53},
    // 6.5 by IEEE 754.
    [BENCH_GIVE_MIXED] = {0x401A000000000000u, 62},
};

// MARK: Handlers

#define HANDLERS(name, shape, give)                                                                       \
  static void name##_quiet_ffi(ffi_cif *cif, void *result, void **arguments, void *context) {             \
    (void)cif, (void)result, (void)arguments, (void)context;                                              \
    give;                                                                                                 \
  }                                                                                                       \
  static void name##_recording_ffi(ffi_cif *cif, void *result, void **arguments, void *context) {         \
    (void)cif, (void)result, (void)context;                                                               \
    record(shape, arguments);                                                                             \
    give;                                                                                                 \
  }                                                                                                       \
  static void name##_quiet_fwd(void *context, void *const *arguments, void *result) {                     \
    (void)context, (void)arguments, (void)result;                                                         \
    give;                                                                                                 \
  }                                                                                                       \
  static void name##_recording_fwd(void *context, void *const *arguments, void *result) {                 \
    (void)context, (void)result;                                                                          \
    record(shape, arguments);                                                                             \
    give;                                                                                                 \
  }

HANDLERS(notify, BENCH_NOTIFY, (void)0)
HANDLERS(six, BENCH_SIX, *(int64_t *)result = six_result)
HANDLERS(take_large, BENCH_TAKE_LARGE, (void)0)
HANDLERS(take_mixed, BENCH_TAKE_MIXED, (void)0)
HANDLERS(give_large, BENCH_GIVE_LARGE, *(bench_large *)result = LARGE_RESULT)
HANDLERS(give_mixed, BENCH_GIVE_MIXED, *(bench_mixed *)result = MIXED_RESULT)
HANDLERS(many, BENCH_MANY, (void)0)

#define CALLEES(name)                                                                             \
  {(bench_function)name##_quiet, (bench_function)name##_recording, name##_quiet_ffi, name##_recording_ffi, \
   name##_quiet_fwd, name##_recording_fwd}
const bench_callees bench_callees_of[BENCH_SHAPE_COUNT] = {
    [BENCH_NOTIFY] = CALLEES(notify),         [BENCH_SIX] = CALLEES(six),
    [BENCH_TAKE_LARGE] = CALLEES(take_large), [BENCH_TAKE_MIXED] = CALLEES(take_mixed),
    [BENCH_GIVE_LARGE] = CALLEES(give_large), [BENCH_GIVE_MIXED] = CALLEES(give_mixed),
    [BENCH_MANY] = CALLEES(many),
};
