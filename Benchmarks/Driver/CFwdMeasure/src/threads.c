// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Measures on several threads at once.

#include <pthread.h>
#include <stdatomic.h>

#include "CFwdMeasure.h"

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define BENCH_ASKS_FOR_THREADS 1
#endif

enum { thread_limit = 8 };

typedef struct start_line {
  size_t count;
  atomic_size_t arrived;
  uint64_t (*body)(void *context, size_t thread);
  void *context;
} start_line;

typedef struct runner {
  start_line *line;
  size_t index;
  bench_sample sample;
} runner;

static void *run(void *argument) {
  runner *self = argument;
  start_line *line = self->line;
  // Threads spin: waking a sleeping thread takes longer than the loop that is measured.
  atomic_fetch_add(&line->arrived, 1);
  while (atomic_load(&line->arrived) < line->count) continue;
  bench_sample start = bench_start();
  uint64_t sum = line->body(line->context, self->index);
  self->sample = bench_finish(start, sum, 0);
  return NULL;
}

static uint64_t plus(uint64_t left, uint64_t right) {
  return left == UINT64_MAX || right == UINT64_MAX ? UINT64_MAX : left + right;
}

bench_sample bench_on_threads(size_t count, uint64_t (*body)(void *context, size_t thread), void *context,
                              uint64_t expected_sum) {
  if (count > thread_limit) count = thread_limit;
  start_line line = {.count = count, .body = body, .context = context};
  runner runners[thread_limit];
  pthread_t threads[thread_limit];
  size_t started = 1;
  for (size_t i = 0; i < count; i++) runners[i] = (runner){.line = &line, .index = i};
  while (started < count && pthread_create(&threads[started], NULL, run, &runners[started]) == 0) started++;
  // Only started threads are waited for.
  atomic_fetch_add(&line.arrived, count - started);
  run(&runners[0]);
  bench_sample all = {.expected_sum = expected_sum};
  for (size_t i = 0; i < started; i++) {
    if (i > 0) pthread_join(threads[i], NULL);
    all.nanoseconds += runners[i].sample.nanoseconds;
    all.allocations = plus(all.allocations, runners[i].sample.allocations);
    all.locks = plus(all.locks, runners[i].sample.locks);
    all.sum += runners[i].sample.sum;
  }
  all.nanoseconds /= started;
  return all;
}

static void *return_at_once(void *argument) { return argument; }

void bench_start_and_join_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, return_at_once, NULL) == 0) pthread_join(thread, NULL);
}

bool bench_has_one_thread(void) {
#if defined(BENCH_ASKS_FOR_THREADS)
  return __libc_single_threaded;
#else
  return false;
#endif
}
