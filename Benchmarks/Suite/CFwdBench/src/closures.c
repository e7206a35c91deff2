// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "bench_closures.h"

int64_t bench_closures_total;

void bench_closures_one(void *receiver, int64_t a) {
  (void)receiver;
  bench_closures_add(2 * a);
}

void bench_closures_two(void *receiver, int64_t a, double b) {
  (void)receiver;
  bench_closures_add(a + (int64_t)b);
}

void bench_closures_four(void *receiver, int64_t a, double b, int64_t c, double d) {
  (void)receiver, (void)b, (void)c;
  bench_closures_add(a + (int64_t)d);
}

void bench_closures_eight(void *receiver, int64_t a, double b, int64_t c, double d, int64_t e, double f, int64_t g,
                          double h) {
  (void)receiver, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g;
  bench_closures_add(a + (int64_t)h);
}

void bench_closures_thirteen(void *receiver, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f,
                             int64_t g, int64_t h, int64_t i, int64_t j, int64_t k, int64_t l, int64_t m) {
  (void)receiver, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, (void)j, (void)k, (void)l;
  bench_closures_add(a + m);
}

int64_t bench_closures_result(void *receiver, int64_t a, double b) {
  (void)receiver;
  bench_closures_add(a + (int64_t)b);
  return a;
}
