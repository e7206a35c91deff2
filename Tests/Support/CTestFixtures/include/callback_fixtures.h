// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A library that is given a struct of callbacks, each of which has its context in another place.

#ifndef CALLBACK_FIXTURES_H
#define CALLBACK_FIXTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy_fixtures.h"

#pragma clang assume_nonnull begin

typedef struct fixture_pair {
  double x;
  int32_t n;
} fixture_pair;

/// Larger than what registers return.
typedef struct fixture_five {
  int64_t words[5];
} fixture_five;

typedef struct fixture_callbacks {
  int32_t version;
  size_t size;
  int32_t (*_Nullable none)(int32_t a, double b);
  int32_t (*_Nullable first)(void *_Nullable context, int32_t a, double b);
  int32_t (*_Nullable second)(int32_t a, void *_Nullable context, double b);
  int32_t (*_Nullable last)(int32_t a, double b, void *_Nullable context);
  /// The context is in the sixth integer register, in the seventh place (on the stack), or behind all.
  int64_t (*_Nullable sixth)(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, void *_Nullable context, int64_t f,
                             int64_t g);
  int64_t (*_Nullable seventh)(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f,
                               void *_Nullable context, int64_t g);
  int64_t (*_Nullable eighth)(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g,
                              void *_Nullable context);
  double (*_Nullable doubles)(double a, double b, double c, double d, double e, void *_Nullable context, double f,
                              double g, double h, double i, double j);
  /// The result is in memory, and its address takes the first register.
  fixture_five (*_Nullable large)(void *_Nullable context, fixture_five value, int32_t n);
  fixture_five (*_Nullable large_last)(fixture_five value, int32_t n, void *_Nullable context);
  fixture_pair (*_Nullable pair)(fixture_pair value, void *_Nullable context, int8_t n);
  void *_Nullable user;
} fixture_callbacks;

/// Calls each callback of the struct with a context that is no valid address, and counts wrong results. The callbacks add
/// all numbers that they get; those of structs add `n` to each number of the struct.
int fixture_check_callbacks(const fixture_callbacks *callbacks);

/// Reads a member as a library does that another thread changes.
void *_Nullable fixture_load(const void *member);

/// Reads a member again and again and calls it if it is not null, with 1, until `*stops` is set. Returns the sum of the
/// results.
int64_t fixture_poll(const void *member, const int32_t *stops);
void fixture_stop(int32_t *stops);

#pragma clang assume_nonnull end

#endif
