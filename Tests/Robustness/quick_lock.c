// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The quick lock: threads that lock it often, and threads that have to sleep because another one holds it for long.

#include <pthread.h>
#include <time.h>

#include "check.h"
#include "fwd_quick_lock.h"

enum { thread_count = 4, round_count = FWD_IS_SANITIZED ? 20000 : 200000 };

static fwd_quick_lock lock;
/// Only changed under the lock, and not atomic: a thread that does not hold the lock would lose changes of others.
static size_t sum;
/// Every so many rounds a thread sleeps while it holds the lock.
static size_t long_round;

static void *work(void *context) {
  (void)context;
  for (size_t i = 1; i <= round_count; i++) {
    fwd_quick_lock_lock(&lock);
    sum++;
    if (i % long_round == 0) {
      struct timespec time = {.tv_nsec = 200000};
      nanosleep(&time, NULL);
    }
    fwd_quick_lock_unlock(&lock);
  }
  return NULL;
}

/// If a wake-up were missed, a thread would sleep for ever, and so would the program.
static void run(const char *name, size_t period) {
  check_begin(name);
  long_round = period;
  sum = 0;
  fwd_quick_lock_init(&lock);
  pthread_t threads[thread_count];
  for (size_t i = 0; i < thread_count; i++) NEED(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (size_t i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
  EXPECT(sum == (size_t)thread_count * round_count);
  EXPECT(lock.is_locked == 0 && lock.sleeping == 0);
}

int main(void) {
  run("threads that lock for moments", SIZE_MAX);
  run("threads that sleep while another one holds the lock", round_count / 200);
  return check_finish();
}
