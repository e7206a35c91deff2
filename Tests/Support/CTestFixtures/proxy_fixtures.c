// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "CTestFixtures.h"

// MARK: Results

#define SIZES(X) X(1) X(2) X(4) X(8) X(16) X(24) X(64) X(100)

#define ROW(n)                                                                          \
  static fixture_row_##n row_##n(void *receiver, const void *selector, int32_t start) { \
    (void)receiver, (void)selector;                                                     \
    fixture_row_##n row;                                                                \
    for (int32_t i = 0; i < n; i++) row.bytes[i] = (uint8_t)(start + i);                \
    return row;                                                                         \
  }
SIZES(ROW)

const void *fixture_row_method(size_t size) {
  switch (size) {
#define CASE(n) \
  case n:       \
    return (const void *)row_##n;
    SIZES(CASE)
    default:
      return NULL;
  }
}

static fixture_large spoil(void *receiver, const void *selector, fixture_large value) {
  (void)receiver, (void)selector;
  // Volatile, so that the argument itself is written to.
  volatile fixture_large *argument = &value;
  argument->a++, argument->b++, argument->c++, argument->d++;
  return value;
}
const void *const fixture_spoil_method = (const void *)spoil;

// MARK: A library with callbacks

double fixture_parse(const fixture_handlers *handlers, void *context, int32_t depth, double value, const char *text) {
  if (handlers->on_start) handlers->on_start(context, depth);
  return handlers->on_value ? handlers->on_value(context, value, text) : -1;
}

int32_t fixture_visit(int32_t (*visit)(const char *path, int32_t kind), const char *path, int32_t kind) {
  return visit(path, kind);
}

void fixture_notify(void (*notify)(void *context, int32_t number), void *context, int32_t number) {
  notify(context, number);
}
