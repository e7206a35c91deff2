// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The counter: each number is given once, whether one thread owns the counter, others join it, or the process forks.

#define _GNU_SOURCE 1

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fwd_counter.h"

enum {
  thread_count = 4,
  round_count = FWD_IS_SANITIZED ? 100 : 2000,
  numbers_each = 500,
  number_count = thread_count * numbers_each,
  fork_count = FWD_IS_SANITIZED ? 30 : 200,
};

static fwd_counter counter;

// MARK: One thread at a time

static void *take_ten(void *context) {
  const uint64_t *first = context;
  for (uint64_t i = 0; i < 10; i++) EXPECT(fwd_counter_take(&counter) == *first + i);
  return NULL;
}

static void count_one_after_another(void) {
  check_begin("threads that count one after another, each on the block of the one before");
  uint64_t first = 7;
  fwd_counter_init(&counter, first);
  const void *owner = NULL;
  for (int i = 0; i < 5; i++, first += 10) {
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, take_ten, &first) == 0);
    pthread_join(thread, NULL);
    if (!owner) owner = counter.owner;
    // The next thread takes over the block, and so owns the counter.
    EXPECT(counter.owner == owner);
  }
  // This thread has another block, and so shares the counter.
  take_ten(&first);
  check_begin("the largest number is followed by 0");
  fwd_counter_init(&counter, UINT64_MAX);
  EXPECT(fwd_counter_take(&counter) == UINT64_MAX && fwd_counter_take(&counter) == 0);
}

// MARK: Several threads

static atomic_uchar taken[number_count];
/// The numbers that have been taken in this round, about.
static atomic_size_t progress;

static void *take_some(void *context) {
  // The thread takes its first number when the others have taken so many.
  size_t start = *(const size_t *)context;
  while (atomic_load_explicit(&progress, memory_order_relaxed) < start) sched_yield();
  uint64_t last = 0;
  for (size_t i = 0; i < numbers_each; i++) {
    uint64_t number = fwd_counter_take(&counter);
    NEED(number >= 1 && number <= number_count);
    EXPECT(number > last);
    last = number;
    atomic_fetch_add_explicit(&taken[number - 1], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&progress, 1, memory_order_relaxed);
  }
  return NULL;
}

/// If an addition met the owner's load and store, a number would be given twice.
static void join_the_owner(void) {
  check_begin("threads that join an owner while it counts");
  for (size_t round = 0; round < round_count; round++) {
    fwd_counter_init(&counter, 1);
    atomic_store(&progress, 0);
    for (size_t i = 0; i < number_count; i++) atomic_store_explicit(&taken[i], 0, memory_order_relaxed);
    size_t starts[thread_count] = {0, 1 + round % 300, 1 + round % 300, numbers_each};
    pthread_t threads[thread_count];
    for (size_t i = 0; i < thread_count; i++) NEED(pthread_create(&threads[i], NULL, take_some, &starts[i]) == 0);
    for (size_t i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
    for (size_t i = 0; i < number_count; i++) EXPECT(atomic_load_explicit(&taken[i], memory_order_relaxed) == 1);
    EXPECT(fwd_counter_take(&counter) == number_count + 1);
  }
}

// MARK: fork(2)

static atomic_bool is_over;

static void *count_until_over(void *context) {
  (void)context;
  while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
    fwd_counter_take(&counter);
    atomic_fetch_add_explicit(&progress, 1, memory_order_relaxed);
  }
  return NULL;
}

/// In a child, an owner that was taking a number when the process forked must not be waited for.
static void fork_while_another_thread_counts(void) {
  check_begin("a child whose parent's owner was counting");
  for (size_t i = 0; i < fork_count; i++) {
    fwd_counter_init(&counter, 1);
    atomic_store(&progress, 0);
    atomic_store(&is_over, false);
    pthread_t owner;
    NEED(pthread_create(&owner, NULL, count_until_over, NULL) == 0);
    while (atomic_load(&progress) < 100) sched_yield();
    pid_t child = fork();
    if (child == 0) {
      // Ends a child that waits for ever.
      alarm(60);
      uint64_t first = fwd_counter_take(&counter);
      _exit(first >= 100 && fwd_counter_take(&counter) == first + 1 ? 0 : 1);
    }
    int status = 0;
    NEED(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    atomic_store(&is_over, true);
    pthread_join(owner, NULL);
  }
}

int main(void) {
  count_one_after_another();
  join_the_owner();
  fork_while_another_thread_counts();
  return check_finish();
}
