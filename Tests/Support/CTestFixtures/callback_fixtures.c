// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "callback_fixtures.h"

#include <stdio.h>
#include <string.h>

#define CHECK(condition) \
  do {                   \
    if (!(condition)) {  \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      wrong++;           \
    }                    \
  } while (0)

int fixture_check_callbacks(const fixture_callbacks *callbacks) {
  int wrong = 0;
  void *context = (void *)(uintptr_t)-1;
  CHECK(callbacks->none(3, 0.5) == 3);
  CHECK(callbacks->first(context, 4, 1.5) == 5);
  CHECK(callbacks->second(-5, context, 2.5) == -2);
  CHECK(callbacks->last(6, -0.5, context) == 5);
  CHECK(callbacks->sixth(1, 20, 300, 4000, 50000, context, 600000, 7000000) == 7654321);
  CHECK(callbacks->seventh(1, 20, 300, 4000, 50000, 600000, context, 7000000) == 7654321);
  CHECK(callbacks->eighth(1, 20, 300, 4000, 50000, 600000, 7000000, context) == 7654321);
  CHECK(callbacks->doubles(1, 2, 4, 8, 16, context, 32, 64, 128, 256, 512) == 1023);
  fixture_five large = {{1, 2, 3, 4, 5}}, sum = {{11, 12, 13, 14, 15}};
  fixture_five given = callbacks->large(context, large, 10);
  CHECK(memcmp(&given, &sum, sizeof sum) == 0);
  given = callbacks->large_last(large, 10, context);
  CHECK(memcmp(&given, &sum, sizeof sum) == 0);
  fixture_pair pair = callbacks->pair((fixture_pair){0.5, 7}, context, -3);
  CHECK(pair.x == -2.5 && pair.n == 4);
  return wrong;
}

void *fixture_load(const void *member) { return (void *)__atomic_load_n((const uintptr_t *)member, __ATOMIC_ACQUIRE); }

int64_t fixture_poll(const void *member, const int32_t *stops) {
  int64_t sum = 0;
  while (!__atomic_load_n(stops, __ATOMIC_ACQUIRE)) {
    int32_t (*function)(int32_t) = (int32_t(*)(int32_t))(uintptr_t)fixture_load(member);
    if (function) sum += function(1);
  }
  return sum;
}

void fixture_stop(int32_t *stops) { __atomic_store_n(stops, 1, __ATOMIC_RELEASE); }
