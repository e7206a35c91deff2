// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tests for the programs in this folder. A test has any number of checks.

#ifndef FWD_CHECK_H
#define FWD_CHECK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

// gcc and clang announce sanitizers by different macros.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FWD_IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FWD_IS_SANITIZED 1
#endif
#ifndef FWD_IS_SANITIZED
#define FWD_IS_SANITIZED 0
#endif

/// One test. It passes if none of its checks fails on any thread.
typedef struct check_case {
  const char *name;
  atomic_size_t failures;
} check_case;

static check_case check_sequential = {.name = "the start"};
/// The test that the thread's checks belong to.
static _Thread_local check_case *check_current = &check_sequential;

static size_t check_passed, check_failed;

/// Counts a test that has ended.
static inline void check_count(const check_case *ended) {
  if (atomic_load(&ended->failures) > 0) {
    check_failed++;
  } else {
    check_passed++;
  }
}

static bool check_is_open;

/// Ends the current test and begins the next one, for programs that run their tests one after another.
static inline void check_begin(const char *name) {
  if (check_is_open) check_count(&check_sequential);
  check_is_open = true;
  check_sequential.name = name;
  atomic_store(&check_sequential.failures, 0);
}

static inline bool check_that(bool good, const char *file, int line, const char *expected) {
  if (good) return true;
  // Prints the first ten failures of a test: one cause may fail a million checks.
  if (atomic_fetch_add_explicit(&check_current->failures, 1, memory_order_relaxed) < 10) {
    printf("%s:%d: %s: expected %s\n", file, line, check_current->name, expected);
  }
  return false;
}
#define EXPECT(condition) check_that((condition), __FILE__, __LINE__, #condition)

/// Checks a condition without which the program cannot go on. Exits if it is false.
#define NEED(condition)                             \
  do {                                              \
    if (!EXPECT(condition)) {                       \
      printf("0 passed, 1 failed\n");               \
      exit(1);                                      \
    }                                               \
  } while (0)

/// Prints the last line and returns the exit status.
static inline int check_finish(void) {
  if (check_is_open) check_count(&check_sequential);
  printf("%zu passed, %zu failed\n", check_passed, check_failed);
  return check_failed > 0;
}

#endif
