// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// C methods for the tests of proxies: results of many sizes, and a library whose callbacks a proxy fills.

#ifndef PROXY_FIXTURES_H
#define PROXY_FIXTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// MARK: Results

typedef struct fixture_row_1 { uint8_t bytes[1]; } fixture_row_1;
typedef struct fixture_row_2 { uint8_t bytes[2]; } fixture_row_2;
typedef struct fixture_row_4 { uint8_t bytes[4]; } fixture_row_4;
typedef struct fixture_row_8 { uint8_t bytes[8]; } fixture_row_8;
typedef struct fixture_row_16 { uint8_t bytes[16]; } fixture_row_16;
typedef struct fixture_row_24 { uint8_t bytes[24]; } fixture_row_24;
typedef struct fixture_row_64 { uint8_t bytes[64]; } fixture_row_64;
typedef struct fixture_row_100 { uint8_t bytes[100]; } fixture_row_100;

/// Returns a method `{fixture_row_N=[NC]}@:i` whose result has N bytes that count up from the argument. NULL for other
/// sizes.
const void *_Nullable fixture_row_method(size_t size);

/// A method `{fixture_large=qqqd}@:{fixture_large=qqqd}` that adds 1 to each field of its argument in place.
extern const void *const fixture_spoil_method;

// MARK: A library with callbacks

typedef struct fixture_handlers {
  int32_t version;
  void (*_Nullable on_start)(void *_Nullable context, int32_t depth);
  double (*_Nullable on_value)(void *_Nullable context, double value, const char *text);
  void *_Nullable user;
  int64_t count;
} fixture_handlers;

/// Calls both handlers as such a library would, and returns the second one's result.
double fixture_parse(const fixture_handlers *handlers, void *_Nullable context, int32_t depth, double value,
                     const char *text);

/// Calls a callback without context.
int32_t fixture_visit(int32_t (*visit)(const char *path, int32_t kind), const char *path, int32_t kind);
void fixture_notify(void (*notify)(void *_Nullable context, int32_t number), void *_Nullable context, int32_t number);

#pragma clang assume_nonnull end

#endif
