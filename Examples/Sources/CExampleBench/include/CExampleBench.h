// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The hand-written C callbacks of the benchmark, and a proxy whose subscribers are C functions.

#ifndef CEXAMPLEBENCH_H
#define CEXAMPLEBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The type of SQLite's update hook.
typedef void (*example_hook)(void *context, int operation, const char *database, const char *table, int64_t row);

/// Calls a hook `iterations` times for each row from 1 to `row_count`.
void example_call_hook(example_hook hook, void *context, size_t row_count, size_t iterations);

/// A hook by hand. Adds the row to the number at `context`.
void example_add_row(void *context, int operation, const char *database, const char *table, int64_t row);

/// Adds the row to a number of the process. The receiver is ignored.
void example_observe(void *receiver, int operation, const char *database, const char *table, int64_t row);

/// The number of `example_observe`.
int64_t example_observed_sum(void);

/// A hook and its context.
typedef struct example_observer {
  example_hook function;
  void *context;
} example_observer;

/// Several hooks by hand, in an array that does not change.
typedef struct example_multiplexer {
  size_t count;
  example_observer observers[8];
} example_multiplexer;

/// The hook that calls the hooks of a multiplexer, which is its context.
void example_multiplex(void *multiplexer, int operation, const char *database, const char *table, int64_t row);

/// A proxy with C functions as subscribers, and the hook that forwards to it. Both live as long as the process.
typedef struct example_shared {
  example_hook hook;
  int64_t sums[8];
} example_shared;

/// Makes a proxy with `count` subscribers, each of which is `example_add_row` with a number of its own. Returns NULL
/// if that fails.
example_shared *example_share(size_t count);

#endif
