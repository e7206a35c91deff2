// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the rows that compare closures with C functions deliver to. All of it does the same: it adds its first and its
/// last argument to one sum.

#ifndef BENCH_CLOSURES_H
#define BENCH_CLOSURES_H

#include <stdint.h>

/// Only `bench_closures_add` writes it, on one thread.
extern int64_t bench_closures_total;

/// Inline, so that a Swift closure need not call anything either.
static inline void bench_closures_add(int64_t value) { bench_closures_total += value; }
static inline int64_t bench_closures_sum(void) { return bench_closures_total; }

void bench_closures_one(void *receiver, int64_t a);
void bench_closures_two(void *receiver, int64_t a, double b);
void bench_closures_four(void *receiver, int64_t a, double b, int64_t c, double d);
void bench_closures_eight(void *receiver, int64_t a, double b, int64_t c, double d, int64_t e, double f, int64_t g,
                          double h);
/// The last eight are on the stack.
void bench_closures_thirteen(void *receiver, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f,
                             int64_t g, int64_t h, int64_t i, int64_t j, int64_t k, int64_t l, int64_t m);
int64_t bench_closures_result(void *receiver, int64_t a, double b);

#endif
