// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "stress_support.h"

#include <errno.h>
#include <forwarding.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define HAS_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define HAS_THREAD_SANITIZER 0
#endif

bool stress_has_thread_sanitizer(void) { return HAS_THREAD_SANITIZER; }

// MARK: Threads

static _Thread_local void *thread_pointer;

void *stress_thread_pointer(void) { return thread_pointer; }

void stress_set_thread_pointer(void *pointer) { thread_pointer = pointer; }

// MARK: Children

int stress_fork(unsigned seconds) {
  pid_t child = fork();
  if (child == 0) {
    // The parent's handler would report the parent's threads.
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
  }
  return child;
}

stress_end stress_wait(int child, unsigned seconds, int *detail) {
  const struct timespec pause = {.tv_nsec = 1000000};
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const time_t deadline = now.tv_sec + (time_t)seconds;
  bool is_late = false;
  *detail = 0;
  for (;;) {
    int status = 0;
    // A child that has been killed ends soon.
    pid_t ended = waitpid(child, &status, is_late ? 0 : WNOHANG);
    if (ended == child) {
      *detail = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
      if (is_late) return STRESS_HUNG;
      if (!WIFEXITED(status)) return STRESS_ABORTED;
      return *detail == 0 ? STRESS_RIGHT : STRESS_WRONG;
    }
    if (ended < 0 && errno != EINTR) return STRESS_LOST;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!is_late && now.tv_sec > deadline) {
      is_late = true;
      kill(child, SIGKILL);
    } else {
      nanosleep(&pause, NULL);
    }
  }
}

// MARK: The plain proxy

/// A fan-out of the plain proxy.
typedef struct plain_fan {
  int64_t ticket;
  /// The member that is to be called next, of those that stay.
  unsigned next;
  bool is_wrong;
} plain_fan;

/// The contexts of the members that stay, and of the others.
static unsigned plain_numbers[STRESS_PLAIN_COUNT + 1];

static void take_strike(void *context, fwd_selector selector, int64_t ticket, int64_t address) {
  (void)selector;
  plain_fan *fan = (plain_fan *)(uintptr_t)address;
  unsigned number = (unsigned)((unsigned *)context - plain_numbers);
  if (fan->ticket != ticket) fan->is_wrong = true;
  if (number == STRESS_PLAIN_COUNT) return;
  if (fan->next != number) fan->is_wrong = true;
  fan->next++;
}

fwd_status stress_plain_subscribe(fwd_proxy *proxy, unsigned number, fwd_subscription *subscription) {
  static const fwd_method method = {"strike:fan:", "v^v:qq", (void (*)(void))take_strike};
  if (number > STRESS_PLAIN_COUNT) number = STRESS_PLAIN_COUNT;
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  // Those that come and go stand before the others, which must be found behind changing ones.
  if (number == STRESS_PLAIN_COUNT) options.position.kind = FWD_POSITION_FIRST;
  return fwd_proxy_subscribe(proxy, &plain_numbers[number], &method, 1, NULL, &options, subscription, NULL);
}

bool stress_plain_forward(fwd_proxy *proxy, int64_t ticket) {
  plain_fan fan = {.ticket = ticket};
  struct {
    int64_t ticket, fan;
  } frame = {ticket, (int64_t)(uintptr_t)&fan};
  fwd_status status = fwd_forward(proxy, fwd_selector_find("strike:fan:"), &frame, sizeof frame, NULL, 0);
  return status == FWD_OK && !fan.is_wrong && fan.next == STRESS_PLAIN_COUNT;
}

// MARK: Calls

static int add_one(void *context, int value) { return context ? value + 1 : 0; }

static void handle_add(void *context, void *const *arguments, void *result) {
  (void)context;
  int value;
  memcpy(&value, arguments[1], sizeof value);
  value++;
  memcpy(result, &value, sizeof value);
}

bool stress_use_calls(unsigned number) {
  char text[32];
  // The number behind the result type is a frame size. It makes the text a new one.
  int length = snprintf(text, sizeof text, "i%u^v8i16", 20 + number % 5000);
  fwd_signature *signature;
  if (fwd_signature_create(text, (size_t)length, &signature, NULL) != FWD_OK) return false;
  void *context = text;
  int value = 41, result = 0;
  void *arguments[] = {&context, &value};
  bool is_right =
      fwd_call(signature, (void (*)(void))add_one, arguments, &result) == FWD_OK && result == 42;
  fwd_closure *closure;
  if (fwd_closure_create(signature, handle_add, NULL, &closure, NULL) == FWD_OK) {
    is_right = is_right && ((int (*)(void *, int))fwd_closure_function(closure))(context, 41) == 42;
    fwd_closure_destroy(closure);
  } else {
    is_right = false;
  }
  fwd_signature_release(signature);
  snprintf(text, sizeof text, "stress:%u:", number % 5000);
  fwd_selector selector = fwd_selector_register(text);
  return is_right && selector && selector == fwd_selector_find(text);
}

bool stress_act_plain(fwd_proxy *proxy, int64_t ticket, unsigned number) {
  bool is_right = true;
  for (unsigned i = 0; i < 10; i++) is_right = stress_plain_forward(proxy, ticket + i) && is_right;
  is_right = stress_use_calls(number) && is_right;
  return stress_use_calls(0) && is_right;
}
