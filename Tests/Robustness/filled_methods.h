// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The methods of filled_calls.c: each list of arguments with each type of result. For each method there are two C functions
/// that implement it, with and without a selector, and one that calls it through a C function pointer. Include it once in a
/// program, after a definition of `answerer` and a declaration of `note_call`.

#ifndef FWD_FILLED_METHODS_H
#define FWD_FILLED_METHODS_H

#include <complex.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "forwarding.h"
#include "pairs.h"

// MARK: Arguments

/// Each list takes more than eight registers, whether or not there is a selector, and no stack.
typedef enum list_kind {
  /// All registers are loaded from eight bytes. With a selector, all integer registers are loaded.
  WORDS,
  /// Some registers are loaded from four bytes. All vector registers are loaded.
  HALVES,
  /// Some integer registers are loaded from one or two bytes, which must be extended to four.
  SMALL,
  list_count,
} list_kind;

static const char *const list_encodings[list_count] = {
    [WORDS] = "{integers=qq}{integers=qq}{doubles=dd}{doubles=dd}{doubles=dd}d",
    [HALVES] = "iqIfdfdfdfd",
    [SMALL] = "csSIfdffd",
};

// The arguments as frames.
static const struct {
  integers a, b;
  doubles c, d, e;
  double f;
} words = {{1, -2}, {3, -4}, {5.5, -6.5}, {7.5, -8.5}, {9.5, -10.5}, 11.5};
static const struct {
  int32_t a;
  int64_t b;
  uint32_t c;
  float d;
  double e;
  float f;
  double g;
  float h;
  double i;
  float j;
  double k;
} halves = {-1, -2, 4000000003u, 4.5f, -5.5, 6.5f, -7.5, 8.5f, -9.5, 10.5f, -11.5};
static const struct {
  signed char a;
  short b;
  unsigned short c;
  unsigned d;
  float e;
  double f;
  float g, h;
  double i;
} small = {-1, -300, 65003, 4000000004u, 5.5f, -6.5, 7.5f, -8.5f, 9.5};

static const void *const list_frames[list_count] = {[WORDS] = &words, [HALVES] = &halves, [SMALL] = &small};

#define WORDS_PARAMETERS integers a, integers b, doubles c, doubles d, doubles e, double f
#define WORDS_VALUES words.a, words.b, words.c, words.d, words.e, words.f
#define HALVES_PARAMETERS \
  int32_t a, int64_t b, uint32_t c, float d, double e, float f, double g, float h, double i, float j, double k
#define HALVES_VALUES                                                                                                \
  halves.a, halves.b, halves.c, halves.d, halves.e, halves.f, halves.g, halves.h, halves.i, halves.j, halves.k
#define SMALL_PARAMETERS signed char a, short b, unsigned short c, unsigned d, float e, double f, float g, float h, double i
#define SMALL_VALUES small.a, small.b, small.c, small.d, small.e, small.f, small.g, small.h, small.i

// Whether a function's parameters have the values. They are compared as they are in registers: clang's functions rely on the
// caller's extension of small integers.
#define IS_PAIR(x, y) ((x).a == (y).a && (x).b == (y).b)
#define WORDS_ARE_RIGHT                                                                                              \
  (IS_PAIR(a, words.a) && IS_PAIR(b, words.b) && IS_PAIR(c, words.c) && IS_PAIR(d, words.d) && IS_PAIR(e, words.e) && \
   f == words.f)
#define HALVES_ARE_RIGHT                                                                                           \
  (a == halves.a && b == halves.b && c == halves.c && d == halves.d && e == halves.e && f == halves.f &&           \
   g == halves.g && h == halves.h && i == halves.i && j == halves.j && k == halves.k)
#define SMALL_ARE_RIGHT                                                                                           \
  (a == small.a && b == small.b && c == small.c && d == small.d && e == small.e && f == small.f && g == small.g && \
   h == small.h && i == small.i)

// MARK: Results

typedef struct integer_first {
  int64_t a;
  double b;
} integer_first;
typedef struct double_first {
  double a;
  int64_t b;
} double_first;
typedef struct three_bytes {
  unsigned char a[3];
} three_bytes;

#define IS_SCALAR(x, y) ((x) == (y))
#define IS_BYTES(x, y) (memcmp((x).a, (y).a, sizeof(x).a) == 0)

#define DEFINE_FUNCTIONS(name, type, answer, KEEP, LIST)                                                           \
  static type name##_of_##LIST(answerer *self, fwd_selector selector, LIST##_PARAMETERS) {                        \
    note_call(self, selector, LIST##_ARE_RIGHT);                                                                    \
    answer;                                                                                                         \
  }                                                                                                                 \
  static type name##_of_bare_##LIST(answerer *self, LIST##_PARAMETERS) {                                          \
    note_call(self, NULL, LIST##_ARE_RIGHT);                                                                        \
    answer;                                                                                                         \
  }                                                                                                                 \
  static void call_for_##name##_of_##LIST(void (*function)(void), void *result) {                                   \
    KEEP(type, ((type(*)(LIST##_PARAMETERS))function)(LIST##_VALUES));                                              \
  }
#define DEFINE_FOR_LISTS(...)              \
  DEFINE_FUNCTIONS(__VA_ARGS__, WORDS)     \
  DEFINE_FUNCTIONS(__VA_ARGS__, HALVES)    \
  DEFINE_FUNCTIONS(__VA_ARGS__, SMALL)

#define KEEP_RESULT(type, call) \
  type returned = call;         \
  memcpy(result, &returned, sizeof returned)
#define KEEP_NOTHING(type, call) \
  (void)result;                  \
  call

/// Defines the functions of a type of result, the results of the last subscriber and of all others, and a comparison of two
/// results. The comparison leaves padding out, which a long double has, too.
#define DEFINE(name, type, IS, ...)                                                        \
  static const type name##_results[2] = {__VA_ARGS__};                                     \
  DEFINE_FOR_LISTS(name, type, return name##_results[self->is_last], KEEP_RESULT)          \
  static bool name##_is(const void *result, const void *expected) {                        \
    type x, y;                                                                             \
    memcpy(&x, result, sizeof x);                                                          \
    memcpy(&y, expected, sizeof y);                                                        \
    return IS(x, y);                                                                       \
  }

DEFINE(int8, int8_t, IS_SCALAR, 4, -3)
DEFINE(boolean, bool, IS_SCALAR, false, true)
DEFINE(int32, int32_t, IS_SCALAR, 5, -77)
DEFINE(int64, int64_t, IS_SCALAR, 6, -(INT64_C(1) << 40))
DEFINE(float, float, IS_SCALAR, 1.5f, -2.5f)
DEFINE(double, double, IS_SCALAR, 3.5, -4.5)
DEFINE(long_double, long double, IS_SCALAR, 5.25L, -6.25L)
DEFINE(complex_float, float _Complex, IS_SCALAR, 1.5f + 2.5f * I, 3.5f - 4.5f * I)
DEFINE(complex_double, double _Complex, IS_SCALAR, 1.5 + 2.5 * I, 3.5 - 4.5 * I)
DEFINE(complex_long_double, long double _Complex, IS_SCALAR, 1.5L + 2.5L * I, 3.5L - 4.5L * I)
DEFINE(integers, integers, IS_PAIR, {1, 2}, {-3, 4})
DEFINE(doubles, doubles, IS_PAIR, {1.5, 2.5}, {-3.5, 4.5})
DEFINE(integer_first, integer_first, IS_PAIR, {1, 2.5}, {-3, 4.5})
DEFINE(double_first, double_first, IS_PAIR, {1.5, 2}, {-3.5, 4})
DEFINE(three_bytes, three_bytes, IS_BYTES, {{1, 2, 3}}, {{253, 4, 251}})
DEFINE_FOR_LISTS(nothing, void, (void)0, KEEP_NOTHING)

typedef struct result_type {
  const char *name, *encoding;
  size_t size;
  /// That of the last subscriber comes second.
  const void *results;
  /// NULL for void.
  bool (*is)(const void *result, const void *expected);
  struct {
    void (*with_selector)(void), (*bare)(void);
    void (*call)(void (*function)(void), void *result);
  } lists[list_count];
} result_type;

#define FUNCTIONS(name, LIST)                                                                              \
  [LIST] = {(void (*)(void))name##_of_##LIST, (void (*)(void))name##_of_bare_##LIST, call_for_##name##_of_##LIST}
#define LISTS(name) .lists = {FUNCTIONS(name, WORDS), FUNCTIONS(name, HALVES), FUNCTIONS(name, SMALL)}
#define RESULT(name, text)                                                                                       \
  {#name, text, .size = sizeof *name##_results, .results = name##_results, .is = name##_is, LISTS(name)}

static const result_type result_types[] = {
    RESULT(int8, "c"),
    RESULT(boolean, "B"),
    RESULT(int32, "i"),
    RESULT(int64, "q"),
    RESULT(float, "f"),
    RESULT(double, "d"),
    RESULT(long_double, "D"),
    RESULT(complex_float, "jf"),
    RESULT(complex_double, "jd"),
    RESULT(complex_long_double, "jD"),
    RESULT(integers, "{integers=qq}"),
    RESULT(doubles, "{doubles=dd}"),
    RESULT(integer_first, "{integer_first=qd}"),
    RESULT(double_first, "{double_first=dq}"),
    RESULT(three_bytes, "{three_bytes=[3C]}"),
    {"void", "v", LISTS(nothing)},
};
enum { result_type_count = sizeof result_types / sizeof *result_types };

#endif
