// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "CTestFixtures.h"

#include <pthread.h>
#include <string.h>

// MARK: Numbers

#define NEXT(name, type) \
  type fixture_next_##name(type value) { return (type)(value + 1); }
NEXT(int8, int8_t)
NEXT(uint8, uint8_t)
NEXT(int16, int16_t)
NEXT(uint16, uint16_t)
NEXT(int32, int32_t)
NEXT(uint32, uint32_t)
NEXT(int64, int64_t)
NEXT(uint64, uint64_t)
NEXT(float, float)
NEXT(double, double)
bool fixture_not(bool value) { return !value; }

static __int128 next_int128(__int128 value) { return value + 1; }
static long double next_long_double(long double value) { return value + 1; }
const fixture_function fixture_next_int128 = (fixture_function)next_int128;
const fixture_function fixture_next_long_double = (fixture_function)next_long_double;

double fixture_weigh(int8_t a, double b, uint16_t c, float d, int64_t e, double f, int32_t g, double h,
                     uint8_t i, int64_t j, int64_t k, double l, float m, double n, double o, double p, double q) {
  return 1 * a + 2 * b + 3 * c + 4 * d + 5 * (double)e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * (double)j +
         11 * (double)k + 12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q;
}

// MARK: Structs

fixture_packed fixture_turn_packed(int32_t added, fixture_packed value) {
  value.kind = (char)(value.kind + added);
  value.length = -value.length;
  return value;
}

fixture_packed fixture_call_packed(fixture_function function, fixture_packed value) {
  return ((fixture_packed(*)(int32_t, fixture_packed))function)(2, value);
}

double fixture_weigh_flags(fixture_flags flags, float more) {
  return flags.kind + flags.count + flags.weight + more;
}

fixture_point fixture_swap(fixture_point point) { return (fixture_point){point.y, point.x}; }

fixture_mixed fixture_double_mixed(fixture_mixed value, int32_t factor) {
  return (fixture_mixed){value.number * factor, value.fraction * factor, (int8_t)(value.last * factor)};
}

fixture_large fixture_double_large(fixture_large value) {
  return (fixture_large){2 * value.a, 2 * value.b, 2 * value.c, 2 * value.d};
}

#define SIZES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) \
  X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32) \
  X(33) X(34) X(35) X(36) X(37) X(38) X(39) X(40) X(41) X(42) X(43) X(44) X(45) X(46) X(47) X(48) \
  X(49) X(50) X(51) X(52) X(53) X(54) X(55) X(56) X(57) X(58) X(59) X(60) X(61) X(62) X(63) X(64)

#define BYTES(n)                                    \
  struct bytes##n {                                 \
    unsigned char bytes[n];                         \
  };                                                \
  static struct bytes##n add##n(struct bytes##n value) { \
    for (size_t i = 0; i < n; i++) value.bytes[i]++; \
    return value;                                   \
  }                                                 \
  static void call##n(fixture_function function, void *bytes) { \
    struct bytes##n value;                          \
    memcpy(&value, bytes, n);                       \
    value = ((struct bytes##n(*)(struct bytes##n))function)(value); \
    memcpy(bytes, &value, n);                       \
  }
SIZES(BYTES)

#define ADD(n) [n] = (fixture_function)add##n,
#define CALL(n) [n] = call##n,

fixture_function fixture_bytes_function(size_t size) {
  static const fixture_function functions[] = {SIZES(ADD)};
  return functions[size];
}

void fixture_call_bytes(size_t size, fixture_function function, void *bytes) {
  static void (*const callers[])(fixture_function, void *) = {SIZES(CALL)};
  callers[size](function, bytes);
}

// MARK: Pointers and callbacks

static _Thread_local int calls;

fixture_color fixture_next_color(fixture_color color) { return (fixture_color)(color + 1); }
size_t fixture_length(const char *string) { return strlen(string); }
void *fixture_same(void *pointer) { return pointer; }
void fixture_set(int32_t *value, int32_t to) { *value = to; }

double fixture_method(void *receiver, const void *selector, int32_t number, double scale) {
  (void)selector;
  calls++;
  return receiver ? number * scale : -1;
}

void fixture_add_to_context(int64_t *context, int32_t number) {
  calls++;
  if (context) *context += number;
}

int fixture_call_count(void) { return calls; }

int32_t fixture_call_int(int32_t (*function)(int32_t), int32_t value) { return function(value); }
int8_t fixture_call_char(int8_t (*function)(int8_t), int8_t value) { return function(value); }

double fixture_call_many(double (*function)(int8_t, double, fixture_point, float, const char *), const char *text) {
  return function(-3, 0.5, (fixture_point){1.5, 2.5}, 0.25f, text);
}

fixture_mixed fixture_call_mixed(fixture_mixed (*function)(fixture_mixed, int32_t), fixture_mixed value,
                                 int32_t factor) {
  return function(value, factor);
}

struct work {
  int32_t (*function)(int32_t);
  int calls;
  int64_t sum;
};

static void *run(void *context) {
  struct work *work = context;
  for (int i = 0; i < work->calls; i++) work->sum += work->function(i);
  return NULL;
}

int64_t fixture_call_in_threads(int32_t (*function)(int32_t), int threads, int count) {
  pthread_t ids[64];
  struct work work[64];
  if (threads > 64) threads = 64;
  for (int i = 0; i < threads; i++) {
    work[i] = (struct work){function, count, 0};
    pthread_create(&ids[i], NULL, run, &work[i]);
  }
  int64_t sum = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(ids[i], NULL);
    sum += work[i].sum;
  }
  return sum;
}
