// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// C functions and types that stand for a C library in the tests.

#ifndef C_TEST_FIXTURES_H
#define C_TEST_FIXTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "c_interface_checks.h"
#include "sequences.h"
#include "callback_fixtures.h"
#include "proxy_fixtures.h"
#include "c_types.h"
#include "mailbox_checks.h"

#pragma clang assume_nonnull begin

typedef void (*fixture_function)(void);

// MARK: Numbers

// Each returns its argument plus one.
int8_t fixture_next_int8(int8_t value);
uint8_t fixture_next_uint8(uint8_t value);
int16_t fixture_next_int16(int16_t value);
uint16_t fixture_next_uint16(uint16_t value);
int32_t fixture_next_int32(int32_t value);
uint32_t fixture_next_uint32(uint32_t value);
int64_t fixture_next_int64(int64_t value);
uint64_t fixture_next_uint64(uint64_t value);
float fixture_next_float(float value);
double fixture_next_double(double value);
bool fixture_not(bool value);

/// For types that Swift does not import: `t` and `D`.
extern const fixture_function fixture_next_int128;
extern const fixture_function fixture_next_long_double;

/// 1 * a + 2 * b + ... + 10 * j: more arguments of each kind than there are registers.
double fixture_weigh(int8_t a, double b, uint16_t c, float d, int64_t e, double f, int32_t g, double h,
                     uint8_t i, int64_t j, int64_t k, double l, float m, double n, double o, double p, double q);

// MARK: Structs

typedef struct fixture_point {
  double x, y;
} fixture_point;

typedef struct fixture_mixed {
  int32_t number;
  double fraction;
  int8_t last;
} fixture_mixed;

typedef struct fixture_large {
  int64_t a, b, c;
  double d;
} fixture_large;

/// A packed struct. Its encoding does not say so.
typedef struct __attribute__((packed)) fixture_packed {
  char kind;
  int32_t length;
} fixture_packed;

/// A struct with bit-fields. Its encoding does not say where they are.
typedef struct fixture_flags {
  unsigned kind : 3;
  unsigned count : 20;
  double weight;
} fixture_flags;

/// Adds to the kind and negates the length.
fixture_packed fixture_turn_packed(int32_t added, fixture_packed value);
/// Calls a function of the same type with 2.
fixture_packed fixture_call_packed(fixture_function function, fixture_packed value);
/// Returns the sum of all.
double fixture_weigh_flags(fixture_flags flags, float more);

fixture_point fixture_swap(fixture_point point);
fixture_mixed fixture_double_mixed(fixture_mixed value, int32_t factor);
fixture_large fixture_double_large(fixture_large value);

/// Returns a function that takes a struct of `size` (1 to 64) unsigned characters and returns one with 1 added to each.
fixture_function fixture_bytes_function(size_t size);
/// Calls such a function with the struct at `bytes` and writes its result there.
void fixture_call_bytes(size_t size, fixture_function function, void *bytes);

// MARK: Pointers and callbacks

typedef enum fixture_color { fixture_red, fixture_green, fixture_blue } fixture_color;

fixture_color fixture_next_color(fixture_color color);
size_t fixture_length(const char *string);
void *_Nullable fixture_same(void *_Nullable pointer);
/// Writes to where the pointer points.
void fixture_set(int32_t *value, int32_t to);

/// A method, `d@:id`: returns number * scale, or -1 if the receiver is NULL.
double fixture_method(void *_Nullable receiver, const void *selector, int32_t number, double scale);
/// A callback with a context: adds to the context.
void fixture_add_to_context(int64_t *_Nullable context, int32_t number);
/// Returns how often this thread has called the two functions above.
int fixture_call_count(void);

int32_t fixture_call_int(int32_t (*function)(int32_t), int32_t value);
int8_t fixture_call_char(int8_t (*function)(int8_t), int8_t value);
double fixture_call_many(double (*function)(int8_t, double, fixture_point, float, const char *), const char *text);
fixture_mixed fixture_call_mixed(fixture_mixed (*function)(fixture_mixed, int32_t), fixture_mixed value,
                                 int32_t factor);
/// Calls `function` in `threads` threads, `calls` times each, and returns the sum of the results.
int64_t fixture_call_in_threads(int32_t (*function)(int32_t), int threads, int calls);

#pragma clang assume_nonnull end

#endif
