// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Interns many selectors, on one thread and on several: `selectors [COUNT]`. Each name must always give the same
/// pointer, however often the table has grown. The last names must cost about as much as the first.

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "fwd_selector.h"

enum { thread_count = 4, window_count = 5, window = 10000, measured = window_count * window };

static size_t total = 800000;
/// The selectors, by the number in the name.
static _Atomic(fwd_selector) *known;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static size_t name_of(char *name, size_t size, size_t number) {
  return (size_t)snprintf(name, size, "selector:number:%zu:", number);
}

/// Registers one name, and compares the selector with the one that other threads got.
static void use(size_t number) {
  char name[64];
  size_t length = name_of(name, sizeof name, number);
  fwd_selector found = fwd_selector_find(name), selector = fwd_selector_register(name), other = NULL;
  EXPECT(selector && (!found || found == selector));
  EXPECT(strcmp(fwd_selector_name(selector), name) == 0);
  if (!atomic_compare_exchange_strong(&known[number], &other, selector)) EXPECT(other == selector);
  EXPECT(fwd_selector_find(name) == selector && fwd_selector_find_bytes(name, length) == selector);
  name[length - 1] = '!';
  EXPECT(!fwd_selector_find(name));
}

/// Returns the mean time to register and find a name of the fastest window, which other processes disturb least.
static double measure(size_t first) {
  double shortest = INFINITY;
  for (size_t i = 0; i < window_count; i++, first += window) {
    double start = seconds();
    for (size_t j = first; j < first + window; j++) use(j);
    double each = (seconds() - start) / window * 1e9;
    if (each < shortest) shortest = each;
  }
  return shortest;
}

static void *run(void *pointer) {
  check_case *checks = pointer;
  check_current = checks;
  // Every thread registers all names. The order differs between threads.
  size_t step = 7919 + 2 * (size_t)(uintptr_t)checks % 64, index = 0, limit = total / 16;
  for (size_t i = 0; i < limit; i++, index = (index + step) % limit) use(index);
  return NULL;
}

int main(int argument_count, char **arguments) {
  if (argument_count > 1) total = strtoull(arguments[1], NULL, 10);
  if (total < 3 * measured) total = 3 * measured;
  known = calloc(total, sizeof *known);
  NEED(known);
  check_case checks[thread_count];
  pthread_t threads[thread_count];
  for (size_t i = 0; i < thread_count; i++) {
    checks[i] = (check_case){.name = "selectors of several threads"};
    atomic_init(&checks[i].failures, 0);
    NEED(pthread_create(&threads[i], NULL, run, &checks[i]) == 0);
  }
  for (size_t i = 0; i < thread_count; i++) {
    pthread_join(threads[i], NULL);
    check_count(&checks[i]);
  }
  check_begin("the cost of the last selectors");
  double first = measure(total / 16);
  for (size_t i = total / 16 + measured; i < total - measured; i++) use(i);
  double last = measure(total - measured);
  printf("%zu selectors: ns each %.0f after %zu, %.0f after %zu\n", total, first, total / 16, last, total - measured);
  // The last names are not cached, so each costs a few cache misses. A table of fixed size would cost tens of
  // microseconds.
  if (!FWD_IS_SANITIZED) EXPECT(last < 5 * first + 1000);
  check_begin("all selectors are found at the end");
  for (size_t i = 0; i < total; i += 97) {
    char name[64];
    name_of(name, sizeof name, i);
    EXPECT(fwd_selector_find(name) == atomic_load(&known[i]));
  }
  return check_finish();
}
