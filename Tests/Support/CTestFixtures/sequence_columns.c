// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Two columns of the table of hostile sequences: forked children, and allocations that fail.

// For signal masks, which glibc hides from strict C11.
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1
#endif

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "columns.h"
#include "sequences.h"

// MARK: Forked children

enum { most_workers = 3, children_of_row = 6 };
// No other threads under the address sanitizer: a thread that frees holds a lock of its quarantine, which stays locked
// in a child. Tests/Robustness/fork.c allocates less, and does run with threads there.
static const size_t worker_count = HAS_ADDRESS_SANITIZER ? 0 : most_workers;

static atomic_bool is_over;

/// Ends the subscriptions that a row has left.
static void leave(scene *self) {
  for (size_t i = 0; i < CONTEXT_COUNT; i++) {
    context *left = &self->contexts[i];
    if (atomic_load(&left->state) == CONTEXT_SUBSCRIBED) (void)fwd_proxy_unsubscribe(self->proxy, left->subscription);
  }
}

/// Runs all rows, again and again, on the proxy that the forking thread has too.
static void *work(void *pointer) {
  scene *self = pointer;
  for (size_t i = (size_t)self->round; !atomic_load(&is_over); i++) {
    self->call = &sequence_calls[i % sequence_call_count];
    self->acted = 0;
    self->actor = self->sibling = 0;
    scene_join(self, i % 2);
    // All contexts may be in use, while other threads still read them.
    if (self->actor && self->sibling) scene_act(self);
    leave(self);
  }
  return NULL;
}

/// Prints where a child hangs, and ends it.
static void tell_where(int signal) {
  void *frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(signal, &action, NULL);
  raise(signal);
}

/// All that a child does. Its exit status says whether something failed.
static void live_as_child(scene *self, const call *row) {
  // The threads of Swift's concurrency, on one of which a test runs, block signals.
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
  // A first backtrace loads a library, which allocates.
  void *frame;
  backtrace(&frame, 1);
  struct sigaction action = {.sa_handler = tell_where};
  sigaction(SIGALRM, &action, NULL);
  alarm(120);
  // The failures of the parent's threads are counted in the parent.
  atomic_store(&self->failures, 0);
  self->call = row;
  scene_act(self);
  if (scene_forward(self) != FWD_OK) scene_fail(self, "fwd_forward failed in a child");
  // No fan-out of a thread that the child does not have keeps a notifier from running.
  leave(self);
  if (self->destroyed != self->subscribed) scene_fail(self, "a notifier waits for a thread of the parent");
  // A proxy that no thread of the parent knows: exact counts, and every notifier runs.
  atomic_fetch_add(&self->failures, sequences_run_row(row, SEQUENTIAL_COUNT));
  _exit(atomic_load(&self->failures) > 0);
}

/// Forks one child and waits for it. Returns whether it did well.
static bool fork_child(scene *self, const call *row) {
  pid_t child = fork();
  if (child == 0) live_as_child(self, row);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) abort();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  self->call = row;
  scene_fail(self, WIFEXITED(status)              ? "a child failed"
                    : WTERMSIG(status) == SIGALRM ? "a child hung"
                                                   : "a child crashed");
  return false;
}

// What the Swift runtime calls for each thrown error. The testing library sets them, and takes a lock there.
extern void *_swift_willThrow __attribute__((weak));
extern void *_swift_willThrowTypedImpl __attribute__((weak));

/// Has thrown errors call nobody: a child cannot open a lock of the testing library that another thread held, and a thread
/// that waits for it inside one of our locks keeps the fork waiting.
static void forget_throw_hooks(void) {
  if (&_swift_willThrow) __atomic_store_n(&_swift_willThrow, NULL, __ATOMIC_SEQ_CST);
  if (&_swift_willThrowTypedImpl) __atomic_store_n(&_swift_willThrowTypedImpl, NULL, __ATOMIC_SEQ_CST);
}

int sequences_run_forked(void) {
  if (HAS_THREAD_SANITIZER) return 0;
  forget_throw_hooks();
  // Once before any fork: the Swift runtime makes its metadata under locks of its own, which a child cannot open if a
  // thread of the parent held them.
  int failures = sequences_run();
  scene *shared = calloc(1 + most_workers, sizeof *shared);
  if (!shared || !scene_open(shared, NULL, IN_CHILD)) abort();
  shared->is_shared = true;
  scene_join(shared, true);
  pthread_t threads[most_workers];
  atomic_store(&is_over, false);
  for (size_t i = 0; i < worker_count; i++) {
    scene *self = &shared[1 + i];
    self->when = BESIDE_FORK;
    self->protocol = shared->protocol;
    self->ping = shared->ping;
    self->add = shared->add;
    self->proxy = shared->proxy;
    self->is_shared = true;
    // Each begins at another row.
    self->round = (int)(i * sequence_call_count / most_workers);
    if (pthread_create(&threads[i], NULL, work, self) != 0) abort();
  }
  for (size_t i = 0; i < children_of_row * sequence_call_count; i++) {
    // A child that hangs takes half a minute, so a few failures are enough.
    if (!fork_child(shared, &sequence_calls[i % sequence_call_count]) && atomic_load(&shared->failures) > 3) break;
  }
  atomic_store(&is_over, true);
  for (size_t i = 0; i < worker_count; i++) pthread_join(threads[i], NULL);
  fwd_proxy_release(shared->proxy);
  for (size_t i = 0; i <= worker_count; i++) {
    if (shared[i].destroyed != shared[i].subscribed) scene_fail(&shared[i], "a notifier has not run");
    failures += shared[i].failures;
  }
  free(shared);
  return failures;
}

// MARK: Without memory

/// One call whose allocation `which` fails.
typedef struct attempt {
  const sequences_allocator *allocator;
  const call *row;
  size_t which;
  bool has_failed;
  int failures;
} attempt;

static bool is_short_of_memory(fwd_status status) {
  return status == FWD_NO_MEMORY || status == FWD_NO_EXECUTABLE_MEMORY;
}

static void *try_once(void *pointer) {
  attempt *self = pointer;
  const call *row = self->row;
  static scene made;
  made = (scene){.failures = 0};
  self->has_failed = false;
  if (!scene_open(&made, row, WITHOUT_MEMORY)) abort();
  scene_join(&made, self->which % 2);
  self->allocator->arm(self->which);
  fwd_status given = row->make(&made), expected = sequence_expected(row, WITHOUT_MEMORY);
  self->has_failed = self->allocator->disarm();
  if (self->has_failed && is_short_of_memory(given)) {
    if (!fwd_error_message()[0]) scene_fail(&made, "no message");
  } else if (given != expected) {
    scene_fail(&made, fwd_status_name(given));
  }
  // Whatever the status is, the scene has the subscribers that it knows, and the row works again.
  size_t count = made.subscribed - made.destroyed;
  if (fwd_proxy_subscriber_count(made.proxy) != count) scene_fail(&made, "the wrong count after a failure");
  if (is_short_of_memory(given) && row->make(&made) != expected) scene_fail(&made, "a second try failed");
  if (fwd_proxy_responds(made.proxy, made.ping) && scene_forward(&made) != FWD_OK) {
    scene_fail(&made, "fwd_forward failed after a failure");
  }
  fwd_proxy_release(made.proxy);
  if (made.destroyed != made.subscribed) scene_fail(&made, "a notifier has not run");
  self->failures += made.failures;
  return NULL;
}

/// Makes each allocation of a row fail in turn. Returns how many there were.
static size_t try_each(attempt *self, bool is_in_new_thread) {
  for (self->which = 0; self->which < 10000; self->which++) {
    if (is_in_new_thread) {
      pthread_t thread;
      if (pthread_create(&thread, NULL, try_once, self) != 0) abort();
      pthread_join(thread, NULL);
    } else {
      try_once(self);
    }
    if (!self->has_failed) return self->which;
  }
  fprintf(stderr, "sequences.c: %s never ends to allocate\n", self->row->name);
  self->failures++;
  return self->which;
}

static void handle_nothing(void *pointer, void *const *arguments, void *result) {
  (void)pointer, (void)arguments, (void)result;
}

/// The library keeps the last few hundred destroyed closures, since a late call may still come. Fills that place, so
/// that what is live later can be compared.
static void settle(void) {
  enum { count = 1536 };
  static fwd_closure *closures[count];
  fwd_signature *signature = NULL;
  if (fwd_signature_create("v", 1, &signature, NULL) != FWD_OK) abort();
  for (size_t i = 0; i < count; i++) {
    if (fwd_closure_create(signature, handle_nothing, NULL, &closures[i], NULL) != FWD_OK) abort();
  }
  for (size_t i = 0; i < count; i++) fwd_closure_destroy(closures[i]);
  fwd_signature_release(signature);
}

int sequences_run_without_memory(const sequences_allocator *allocator) {
  int failures = sequences_run();
  settle();
  size_t all = 0;
  enum { warm = 2, rounds = 8 };
  for (size_t i = 0; i < sequence_call_count; i++) {
    attempt made = {.allocator = allocator, .row = &sequence_calls[i]};
    long live = 0;
    for (int round = 0; round < warm + rounds; round++) {
      if (round == warm) live = allocator->live();
      all += try_each(&made, false) + try_each(&made, true);
      // The situations from this one on leave memory behind: a block of each thread (`fwd_thread_add_block`), and what
      // a dead function keeps for late calls.
      made.failures += sequences_run_row(made.row, IN_LAST_EXIT_HANDLER_OF_NEW_THREAD);
    }
    // Caches may grow by a few blocks; a leak grows in every round.
    long grown = allocator->live() - live;
    if (grown >= rounds && !made.row->keeps_memory) {
      fprintf(stderr, "sequences.c: %s leaks: %ld blocks more after %d rounds\n", made.row->name, grown, rounds);
      made.failures++;
    }
    failures += made.failures;
  }
  printf("%zu allocations failed\n", all);
  return failures;
}
