// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Children of fork(2), forked while four threads change proxies and forward: fork [CHILDREN].

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "adding.h"
#include "fwd_lock.h"
#include "stage.h"

enum { thread_count = 4, stage_count = 3 };

static stage *stages[stage_count];
static atomic_bool is_over;

/// Makes a call, a closure and a signature; `number` makes the signature a new one.
static void use_calls(unsigned number) {
  char text[32];
  int length = snprintf(text, sizeof text, "i%u^v8i16", 20 + number % 5000);
  fwd_signature *signature;
  NEED(fwd_signature_create(text, (size_t)length, &signature, NULL) == FWD_OK);
  void *context = text;
  int value = 41, result = 0;
  void *arguments[] = {&context, &value};
  EXPECT(fwd_call(signature, (void (*)(void))add_one, arguments, &result) == FWD_OK && result == 42);
  fwd_closure *closure;
  NEED(fwd_closure_create(signature, handle_add, NULL, &closure, NULL) == FWD_OK);
  EXPECT(((int (*)(void *, int))fwd_closure_function(closure))(context, 41) == 42);
  fwd_closure_destroy(closure);
  fwd_signature_release(signature);
  snprintf(text, sizeof text, "fork:%u:", number % 5000);
  EXPECT(fwd_selector_register(text) && fwd_selector_find(text));
}

/// Subscribes, forwards, and unsubscribes.
static void use_stage_with(stage *self, atomic_size_t *deliveries) {
  fwd_subscription first = stage_join(self, FWD_HOLD_NONE, NULL, deliveries, NULL, 0);
  fwd_subscription last = stage_join(self, FWD_HOLD_STRONG, stage_owner, NULL, NULL, FWD_LIST_END);
  EXPECT(first && last && stage_forward(self) == FWD_OK);
  fwd_batch *batch;
  NEED(fwd_batch_begin(self->proxy, &batch, NULL) == FWD_OK);
  EXPECT(fwd_batch_forward(batch, stage_note, NULL, 0, NULL, 0) == FWD_OK && atomic_load(deliveries) >= 2);
  EXPECT(stage_leave(self, last));
  fwd_batch_end(batch);
  EXPECT(stage_leave(self, first));
}

static void use_stage(stage *self) {
  // Not on the stack: in a child, new threads use the stacks of vanished ones, whose subscriptions go on.
  atomic_size_t *deliveries = calloc(1, sizeof *deliveries);
  NEED(deliveries);
  use_stage_with(self, deliveries);
  // Fan-outs of other threads may be reading the context: they end first.
  while (fwd_domain_waiting(&self->list->domain) > 0 && fwd_domain_is_read(&self->list->domain)) sched_yield();
  free(deliveries);
}

static void *work(void *context) {
  unsigned number = (unsigned)(uintptr_t)context;
  while (!atomic_load(&is_over)) {
    use_stage(stages[number % stage_count]);
    use_calls(number += 7);
  }
  return NULL;
}

#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define HAS_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define HAS_THREAD_SANITIZER 0
#endif

#if !HAS_THREAD_SANITIZER
static void *use_in_thread(void *context) {
  for (unsigned i = 0; i < 20; i++) {
    use_stage(context);
    use_calls(i);
  }
  return NULL;
}
#endif

/// All that a child does. Its exit status says whether something failed.
static void live_as_child(unsigned number) {
  alarm(60);
  check_begin("a child");
#if HAS_THREAD_SANITIZER
  // The thread sanitizer itself does not survive more.
  EXPECT(stage_forward(stages[number % stage_count]) == FWD_OK);
#else
  for (size_t i = 0; i < stage_count; i++) EXPECT(stage_forward(stages[i]) == FWD_OK);
  for (size_t i = 0; i < stage_count; i++) use_stage(stages[i]);
  use_calls(number + 10000);
  use_calls(number);
  stage *own = stage_create();
  use_stage(own);
  // Nothing of threads that are not there is in the way.
  EXPECT(!fwd_domain_is_read(&stages[0]->list->domain));
  if (number % 10 == 0) {
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++) NEED(pthread_create(&threads[i], NULL, use_in_thread, stages[0]) == 0);
    use_in_thread(stages[0]);
    for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  }
  for (size_t i = 0; i < stage_count; i++) EXPECT(fwd_domain_waiting(&stages[i]->list->domain) == 0);
  stage_destroy(own);
#endif
  _exit(atomic_load(&check_sequential.failures) > 0);
}

// MARK: Another library's fork handler

static atomic_bool is_handling;
static pthread_mutex_t foreign_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool takes_lock;
/// Whether the thread that uses the package under the foreign lock has that lock.
static atomic_bool is_foreign_locked;
/// Whether the forking thread waits for the foreign lock, or has it. The gate is closed then.
static atomic_bool wants_foreign_lock;

static void use_in_handler(void) {
  // Static, since nobody can wait here for the fan-outs that read it: in the child their threads have vanished.
  static atomic_size_t deliveries;
  if (atomic_load(&is_handling)) use_stage_with(stages[0], &deliveries);
}

// Registered before the library's own handlers, this one runs behind them before a fork, while the gate is closed, and
// before them after it.
static void use_before_fork(void) {
  use_in_handler();
  if (!atomic_load(&takes_lock)) return;
  atomic_store(&wants_foreign_lock, true);
  pthread_mutex_lock(&foreign_lock);
}
static void use_after_fork(void) {
  use_in_handler();
  if (!atomic_load(&takes_lock)) return;
  atomic_store(&wants_foreign_lock, false);
  pthread_mutex_unlock(&foreign_lock);
}
__attribute__((constructor(101))) static void register_first(void) {
  (void)pthread_atfork(use_before_fork, use_after_fork, use_after_fork);
}

static void *use_under_foreign_lock(void *context) {
  while (!atomic_load(&is_over)) {
    pthread_mutex_lock(&foreign_lock);
    atomic_store(&is_foreign_locked, true);
    // Until the gate is closed, so that the thread waits at it while it has the foreign lock.
    while (!atomic_load(&wants_foreign_lock) && !atomic_load(&is_over)) sched_yield();
    use_stage(context);
    atomic_store(&is_foreign_locked, false);
    pthread_mutex_unlock(&foreign_lock);
    // The forking thread has the foreign lock now, or soon: these must wait until it has forked.
    for (int i = 0; i < 100; i++) use_stage(context);
  }
  return NULL;
}

// MARK: -

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/// Forks children one after another, and waits for each. Returns the seconds that the fastest fork(2) took.
static double fork_children(const char *name, unsigned count, unsigned threads, void *(*body)(void *)) {
  check_begin(name);
  atomic_store(&is_over, false);
  pthread_t workers[thread_count];
  for (size_t i = 0; i < threads; i++) {
    void *context = body == work ? (void *)(uintptr_t)i : stages[1];
    NEED(pthread_create(&workers[i], NULL, body, context) == 0);
  }
  unsigned hung = 0, aborted = 0, failed = 0;
  double fastest = INFINITY;
  for (unsigned i = 0; i < count; i++) {
    while (body == use_under_foreign_lock && !atomic_load(&is_foreign_locked)) sched_yield();
    double start = seconds();
    pid_t child = fork();
    if (child == 0) live_as_child(i);
    double duration = seconds() - start;
    if (duration < fastest) fastest = duration;
    int status = 0;
    NEED(child > 0 && waitpid(child, &status, 0) == child);
    hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    aborted += WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM;
    failed += WIFEXITED(status) && WEXITSTATUS(status) != 0;
  }
  atomic_store(&is_over, true);
  for (size_t i = 0; i < threads; i++) pthread_join(workers[i], NULL);
  printf("%s: of %u children %u hung, %u aborted, %u failed\n", name, count, hung, aborted, failed);
  EXPECT(hung == 0 && aborted == 0 && failed == 0);
  return fastest;
}

int main(int count, char **values) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  unsigned children = count > 1 ? (unsigned)strtoul(values[1], NULL, 10) : 300;
  for (size_t i = 0; i < stage_count; i++) {
    stages[i] = stage_create();
    NEED(stage_join(stages[i], FWD_HOLD_STRONG, stage_owner, NULL, NULL, FWD_LIST_END));
  }
  fork_children("children of four threads that change and forward", children, thread_count, work);
  atomic_store(&is_handling, true);
  fork_children("a fork handler that uses the package", children / 10, thread_count, work);
  atomic_store(&is_handling, false);
  atomic_store(&takes_lock, true);
  // In each of these forks the thread waits for as long once, and not at each of its locks.
  fwd_fork_patience_ns = 1000000000;
  double fastest =
      fork_children("a fork handler that waits for a thread which uses the package", 5, 1, use_under_foreign_lock);
  printf("the fastest of these forks took %.2f s\n", fastest);
  EXPECT(fastest > 0.9 && fastest < 4);
  for (size_t i = 0; i < stage_count; i++) stage_destroy(stages[i]);
  return check_finish();
}
