// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "mailbox_checks.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forwarding.h"

static atomic_int failures;

static void check(bool holds, const char *condition, int line) {
  if (holds) return;
  atomic_fetch_add(&failures, 1);
  fprintf(stderr, "mailbox_checks.c:%d: %s (%s)\n", line, condition, fwd_error_message());
}

#define CHECK(condition) check((condition), #condition, __LINE__)

static bool says(const fwd_error *error, fwd_status status, const char *words) {
  bool found = error->status == status && strstr(error->message, words);
  if (!found) fprintf(stderr, "expected %s in %s: %s: ", words, fwd_status_name(error->status), error->message);
  return found;
}

// MARK: A subscriber

enum { thread_count = 3, text_size = 64 };

typedef struct listener {
  fwd_subscription subscription;
  int deliveries, destroyed;
  /// Senders and the thread that drains call `wake`.
  atomic_int wakes;
  atomic_int attempts;
  bool is_delivering;
  int64_t last;
  int64_t next[thread_count];
  char text[text_size];
  fwd_mailbox *mailbox;
  fwd_proxy *proxy;
  void (*action)(struct listener *self);
} listener;

static void take(void *context, int64_t number, const char *text) {
  listener *self = context;
  CHECK(self->destroyed == 0 && !self->is_delivering);
  self->is_delivering = true;
  self->deliveries++;
  self->last = number;
  snprintf(self->text, sizeof self->text, "%s", text ? text : "NULL");
  if (self->action) self->action(self);
  self->is_delivering = false;
}

static void destroy(void *context) {
  listener *self = context;
  CHECK(self->destroyed++ == 0);
  CHECK(!self->is_delivering);
}

static void wake(void *context) { ((listener *)context)->wakes++; }

static const fwd_method methods[] = {{"take:text:", "v^vq*", (void (*)(void))take}};

static fwd_proxy *make_proxy(const fwd_proxy_options *options) {
  static const fwd_requirement requirements[] = {
      {"take:text:", "v^vq*", false}, {"bytes:count:", "v^v^vQ", false}, {"ask:", "i^vi", false}};
  const fwd_protocol *protocol = NULL;
  fwd_proxy *proxy = NULL;
  CHECK(fwd_protocol_register("Mailed", requirements, 3, &protocol, NULL) == FWD_OK);
  CHECK(fwd_proxy_create(&protocol, 1, options, &proxy, NULL) == FWD_OK);
  return proxy;
}

static void join(listener *self, fwd_overflow overflow, size_t limit) {
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  options.mailbox = self->mailbox;
  options.overflow = overflow;
  options.mailbox_limit = limit;
  CHECK(fwd_proxy_subscribe(self->proxy, self, methods, 1, destroy, &options, &self->subscription, NULL) == FWD_OK);
}

/// Makes a listener with a proxy and a mailbox of its own.
static listener *open_listener(void (*notify)(void *context)) {
  listener *self = calloc(1, sizeof *self);
  if (!self) abort();
  self->proxy = make_proxy(NULL);
  CHECK(fwd_mailbox_create(notify, self, NULL, &self->mailbox, NULL) == FWD_OK);
  return self;
}

static void close_listener(listener *self) {
  fwd_proxy_release(self->proxy);
  fwd_mailbox_release(self->mailbox);
  CHECK(self->destroyed == 1);
  free(self);
}

static void send(const listener *self, int64_t number, const char *text) {
  struct {
    int64_t number;
    const char *text;
  } frame = {number, text};
  CHECK(fwd_forward_named(self->proxy, "take:text:", &frame, sizeof frame, NULL, 0) == FWD_OK);
}

// MARK: A loop

enum { rounds = 5000 };

typedef struct loop {
  listener listener;
  int descriptor;
} loop;

static void wake_loop(void *context) {
  uint64_t one = 1;
  CHECK(write(((loop *)context)->descriptor, &one, sizeof one) == sizeof one);
}

typedef struct sender {
  listener *to;
  int64_t thread;
} sender;

static void *send_all(void *argument) {
  const sender *self = argument;
  char text[text_size];
  for (int64_t i = 0; i < rounds; i++) {
    snprintf(text, sizeof text, "%lld of %lld", (long long)i, (long long)self->thread);
    send(self->to, self->thread << 32 | i, text);
    // The copy is the message's.
    memset(text, '?', sizeof text - 1);
  }
  return NULL;
}

static void take_in_order(listener *self) {
  int64_t thread = self->last >> 32, number = self->last & 0xffffffff;
  CHECK(number == self->next[thread]);
  self->next[thread] = number + 1;
  char expected[text_size];
  snprintf(expected, sizeof expected, "%lld of %lld", (long long)number, (long long)thread);
  CHECK(strcmp(self->text, expected) == 0);
}

int mailbox_check_loop(void) {
  failures = 0;
  loop made = {.listener = {.proxy = make_proxy(NULL), .action = take_in_order}, .descriptor = eventfd(0, EFD_NONBLOCK)};
  listener *self = &made.listener;
  CHECK(fwd_mailbox_create(wake_loop, &made, NULL, &self->mailbox, NULL) == FWD_OK);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  pthread_t threads[thread_count];
  sender senders[thread_count];
  for (int i = 0; i < thread_count; i++) {
    senders[i] = (sender){self, i};
    CHECK(pthread_create(&threads[i], NULL, send_all, &senders[i]) == 0);
  }
  while (self->deliveries < thread_count * rounds) {
    struct pollfd descriptor = {.fd = made.descriptor, .events = POLLIN};
    // A message without a wake would make the loop wait for ever.
    if (poll(&descriptor, 1, 60000) <= 0) break;
    uint64_t count;
    CHECK(read(made.descriptor, &count, sizeof count) == sizeof count);
    CHECK(fwd_mailbox_drain(self->mailbox, 100) <= 100);
  }
  for (int i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
  CHECK(self->deliveries == thread_count * rounds);
  fwd_proxy_release(self->proxy);
  fwd_mailbox_release(self->mailbox);
  CHECK(self->destroyed == 1);
  close(made.descriptor);
  return failures;
}

// MARK: Arguments

int mailbox_check_arguments(void) {
  failures = 0;
  fwd_error error;
  fwd_mailbox *const untouched = (fwd_mailbox *)(uintptr_t)8;
  fwd_mailbox *mailbox = untouched;
  CHECK(fwd_mailbox_create(NULL, NULL, NULL, &mailbox, &error) == FWD_NULL_ARGUMENT && mailbox == untouched);
  CHECK(says(&error, FWD_NULL_ARGUMENT, "fwd_mailbox_create: no notifier"));
  CHECK(fwd_mailbox_create(wake, NULL, NULL, NULL, &error) == FWD_NULL_ARGUMENT);
  CHECK(says(&error, FWD_NULL_ARGUMENT, "fwd_mailbox_create: no mailbox to fill"));
  CHECK(fwd_mailbox_retain(NULL) == NULL && fwd_mailbox_drain(NULL, 0) == 0);
  fwd_mailbox_release(NULL);

  listener *self = open_listener(wake);
  struct {
    fwd_mailbox *mailbox;
    unsigned overflow, flags;
    size_t limit;
    fwd_status status;
    const char *words;
  } rows[] = {
      {self->mailbox, FWD_OVERFLOW_DROP_OLDEST, 0, 0, FWD_OUT_OF_RANGE, "mailbox_limit 0, expected at least 1"},
      {self->mailbox, FWD_OVERFLOW_UNBOUNDED, 0, 3, FWD_OUT_OF_RANGE, "mailbox_limit 3, expected 0"},
      {self->mailbox, 4, 0, 3, FWD_OUT_OF_RANGE, "overflow 4"},
      {self->mailbox, FWD_OVERFLOW_UNBOUNDED, 6, 0, FWD_WRONG_VERSION, "mailbox_flags 0x6"},
      {NULL, FWD_OVERFLOW_BLOCK, 0, 3, FWD_NULL_ARGUMENT, "no mailbox"},
      {NULL, FWD_OVERFLOW_UNBOUNDED, FWD_MAILBOX_KEEPS_POINTERS, 0, FWD_NULL_ARGUMENT, "no mailbox"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
    options.mailbox = rows[i].mailbox;
    options.overflow = (fwd_overflow)rows[i].overflow;
    options.mailbox_flags = rows[i].flags;
    options.mailbox_limit = rows[i].limit;
    CHECK(fwd_proxy_subscribe(self->proxy, self, methods, 1, destroy, &options, NULL, &error) == rows[i].status);
    CHECK(says(&error, rows[i].status, rows[i].words));
  }
  CHECK(fwd_proxy_subscriber_count(self->proxy) == 0 && self->destroyed == 0);
  // A limit that is never reached.
  join(self, FWD_OVERFLOW_DROP_OLDEST, SIZE_MAX);
  for (int i = 0; i < 10; i++) send(self, i, "");
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 10);
  close_listener(self);
  return failures;
}

// MARK: Lifetimes

static void unsubscribe_itself(listener *self) {
  CHECK(fwd_proxy_unsubscribe(self->proxy, self->subscription) == FWD_OK);
  CHECK(self->destroyed == 0);
}

static void release_all(listener *self) {
  fwd_proxy_release(self->proxy);
  fwd_mailbox_release(self->mailbox);
  self->proxy = NULL;
  self->mailbox = NULL;
}

int mailbox_check_lifetimes(void) {
  failures = 0;
  // The subscription ends first, while it is idle.
  listener *self = open_listener(wake);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  send(self, 1, "a");
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 1 && self->destroyed == 0);
  CHECK(fwd_proxy_unsubscribe(self->proxy, self->subscription) == FWD_OK && self->destroyed == 1);
  close_listener(self);

  // It ends with messages: they are dropped, and the notifier runs in the drain.
  self = open_listener(wake);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  send(self, 1, "a");
  CHECK(fwd_proxy_unsubscribe(self->proxy, self->subscription) == FWD_OK && self->destroyed == 0);
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 0 && self->destroyed == 1 && self->deliveries == 0);
  close_listener(self);

  // Messages that nobody drains.
  self = open_listener(wake);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  send(self, 1, "a");
  close_listener(self);

  // The program releases the mailbox first: the subscription has a reference.
  self = open_listener(wake);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  fwd_mailbox *mailbox = self->mailbox;
  fwd_mailbox_release(mailbox);
  send(self, 1, "a");
  CHECK(self->wakes == 1 && fwd_mailbox_drain(mailbox, 0) == 1 && self->deliveries == 1);
  fwd_proxy_release(self->proxy);
  CHECK(self->destroyed == 1);
  free(self);

  // The proxy has gone, and what it left is delivered, with a limit of deliveries or without.
  for (size_t times = 0; times <= 3; times += 3) {
    self = open_listener(wake);
    fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
    options.mailbox = self->mailbox;
    options.times = times;
    CHECK(fwd_proxy_subscribe(self->proxy, self, methods, 1, destroy, &options, &self->subscription, NULL) == FWD_OK);
    for (int i = 0; i < 5; i++) send(self, i, "a");
    fwd_proxy_release(self->proxy);
    self->proxy = NULL;
    CHECK(self->destroyed == 0 && fwd_mailbox_drain(self->mailbox, 0) == (times ? times : 5));
    close_listener(self);
  }

  // Inside the delivery.
  self = open_listener(wake);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  self->action = unsubscribe_itself;
  for (int i = 0; i < 5; i++) send(self, i, "a");
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 1 && self->destroyed == 1);
  close_listener(self);

  self = open_listener(wake);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  send(self, 1, "a");
  self->action = release_all;
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 1 && self->destroyed == 1);
  free(self);
  return failures;
}

// MARK: Draining

static void drain_again(listener *self) {
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 0);
  if (self->last < 3) send(self, self->last + 1, "again");
}

static void drain_at_once(void *context) {
  listener *self = context;
  self->wakes++;
  fwd_mailbox_drain(self->mailbox, 0);
}

static void drain_one_at_once(void *context) {
  listener *self = context;
  self->wakes++;
  fwd_mailbox_drain(self->mailbox, 1);
}

static void drain_in_destroy(void *context) {
  listener *self = context;
  destroy(self);
  // The subscription's messages are gone; the other listener's may be there.
  fwd_mailbox_drain(self->mailbox, 0);
}

static void *drain_until_over(void *argument) {
  listener *self = argument;
  while (atomic_load((atomic_int *)&self->next[0]) == 0) fwd_mailbox_drain(self->mailbox, 7);
  return NULL;
}

static void check_two_drainers(void) {
  listener *self = open_listener(wake);
  join(self, FWD_OVERFLOW_BLOCK, 3);
  pthread_t drainers[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&drainers[i], NULL, drain_until_over, self) == 0);
  for (int i = 0; i < 3000; i++) send(self, i, "a");
  atomic_store((atomic_int *)&self->next[0], 1);
  for (int i = 0; i < 2; i++) pthread_join(drainers[i], NULL);
  fwd_mailbox_drain(self->mailbox, 0);
  CHECK(self->deliveries == 3000 && self->last == 2999);
  close_listener(self);
}

int mailbox_check_draining(void) {
  failures = 0;
  // Inside of a delivery a drain does nothing, and what is forwarded is delivered behind.
  listener *self = open_listener(wake);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  self->action = drain_again;
  send(self, 0, "a");
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 4 && self->deliveries == 4 && self->wakes == 1);
  close_listener(self);

  // A limit leaves messages and says so.
  self = open_listener(wake);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  for (int i = 0; i < 5; i++) send(self, i, "a");
  CHECK(self->wakes == 1 && fwd_mailbox_drain(self->mailbox, 2) == 2 && self->wakes == 2);
  CHECK(fwd_mailbox_drain(self->mailbox, 3) == 3 && self->wakes == 2);
  CHECK(fwd_mailbox_drain(self->mailbox, 3) == 0);
  send(self, 5, "a");
  CHECK(self->wakes == 3);
  close_listener(self);

  // The notifier drains.
  void (*const notifiers[])(void *context) = {drain_at_once, drain_one_at_once};
  for (int i = 0; i < 2; i++) {
    self = open_listener(notifiers[i]);
    join(self, FWD_OVERFLOW_UNBOUNDED, 0);
    self->action = drain_again;
    send(self, 0, "a");
    CHECK(self->deliveries == 4);
    for (int64_t number = 10; number < 20; number++) send(self, number, "a");
    CHECK(self->deliveries == 14 && self->last == 19);
    close_listener(self);
  }

  // The notifier of a subscription drains.
  self = open_listener(wake);
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  options.mailbox = self->mailbox;
  listener other = {.mailbox = self->mailbox};
  fwd_subscription subscription;
  CHECK(fwd_proxy_subscribe(self->proxy, &other, methods, 1, drain_in_destroy, &options, &subscription, NULL) == FWD_OK);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  send(self, 1, "a");
  CHECK(fwd_proxy_unsubscribe(self->proxy, subscription) == FWD_OK && other.destroyed == 0);
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 1 && other.destroyed == 1 && other.deliveries == 0);
  close_listener(self);

  check_two_drainers();
  return failures;
}

// MARK: Limits

static void *send_ten(void *argument) {
  listener *self = argument;
  for (int i = 0; i < 10; i++) {
    atomic_fetch_add(&self->attempts, 1);
    send(self, i, "a");
  }
  return NULL;
}

static void send_more(listener *self) {
  self->action = NULL;
  for (int i = 100; i < 110; i++) send(self, i, "b");
}

int mailbox_check_limits(void) {
  failures = 0;
  static const struct {
    fwd_overflow overflow;
    int64_t last;
  } rows[] = {{FWD_OVERFLOW_DROP_OLDEST, 9}, {FWD_OVERFLOW_DROP_NEWEST, 1}};
  for (size_t i = 0; i < 2; i++) {
    listener *self = open_listener(wake);
    join(self, rows[i].overflow, 2);
    send_ten(self);
    CHECK(fwd_mailbox_drain(self->mailbox, 0) == 2 && self->last == rows[i].last && self->wakes == 1);
    close_listener(self);
  }
  // A thread waits; the one that drains exceeds the limit.
  listener *self = open_listener(wake);
  join(self, FWD_OVERFLOW_BLOCK, 2);
  self->action = send_more;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, send_ten, self) == 0);
  while (self->deliveries < 20) fwd_mailbox_drain(self->mailbox, 1);
  pthread_join(thread, NULL);
  close_listener(self);
  // The end of the subscription wakes it.
  self = open_listener(wake);
  join(self, FWD_OVERFLOW_BLOCK, 1);
  CHECK(pthread_create(&thread, NULL, send_ten, self) == 0);
  // The second message has no room.
  while (atomic_load(&self->attempts) < 2) poll(NULL, 0, 1);
  poll(NULL, 0, 5);
  CHECK(atomic_load(&self->attempts) == 2);
  CHECK(fwd_proxy_unsubscribe(self->proxy, self->subscription) == FWD_OK);
  pthread_join(thread, NULL);
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 0);
  close_listener(self);
  return failures;
}

// MARK: What messages carry

static const void *last_bytes;
static void take_bytes(void *context, const void *bytes, size_t count) {
  (void)context, (void)count;
  last_bytes = bytes;
}

static int answer(void *context, int number) {
  (void)context;
  return number;
}

static bool fail_delivery(void *context, fwd_selector selector, void *const *arguments, void *result, fwd_error *error) {
  (void)context, (void)selector, (void)arguments, (void)result;
  snprintf(error->message, sizeof error->message, "this delivery has failed");
  return false;
}

static void note_error(void *context, fwd_selector selector, const fwd_error *error) {
  CHECK(strcmp(fwd_selector_name(selector), "take:text:") == 0);
  *(fwd_error *)context = *error;
}

int mailbox_check_carriage(void) {
  failures = 0;
  fwd_error error, reported = {0};
  fwd_proxy_options proxy_options = FWD_PROXY_OPTIONS_INIT;
  proxy_options.on_error = note_error;
  proxy_options.on_error_context = &reported;
  listener *self = open_listener(wake);
  fwd_proxy_release(self->proxy);
  self->proxy = make_proxy(&proxy_options);
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  options.mailbox = self->mailbox;
  // Pointers only if they are kept.
  const fwd_method bytes = {"bytes:count:", "v^v^vQ", (void (*)(void))take_bytes};
  CHECK(fwd_proxy_subscribe(self->proxy, self, &bytes, 1, NULL, &options, NULL, &error) == FWD_NOT_ALLOWED);
  CHECK(says(&error, FWD_NOT_ALLOWED, "parameter 1 of \"bytes:count:\" is \"^v\""));
  options.mailbox_flags = FWD_MAILBOX_KEEPS_POINTERS;
  CHECK(fwd_proxy_subscribe(self->proxy, self, &bytes, 1, NULL, &options, NULL, &error) == FWD_OK);
  const struct {
    const void *bytes;
    size_t count;
  } frame = {self, 8};
  CHECK(fwd_forward_named(self->proxy, "bytes:count:", &frame, sizeof frame, NULL, 0) == FWD_OK);
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 1 && last_bytes == self);
  options.mailbox_flags = 0;
  // No method with a result that the subscriber would give.
  const fwd_method asking = {"ask:", "i^vi", (void (*)(void))answer};
  CHECK(fwd_proxy_subscribe(self->proxy, self, &asking, 1, NULL, &options, NULL, &error) == FWD_NOT_ALLOWED);
  CHECK(says(&error, FWD_NOT_ALLOWED, "\"ask:\" has a result"));
  // Failures are reported by the proxy's notifier, also when the proxy has gone.
  const fwd_handled_method failing = {"take:text:", NULL, fail_delivery};
  CHECK(fwd_proxy_subscribe_handlers(self->proxy, self, &failing, 1, NULL, &options, NULL, &error) == FWD_OK);
  join(self, FWD_OVERFLOW_UNBOUNDED, 0);
  send(self, 7, NULL);
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 2 && strcmp(self->text, "NULL") == 0);
  CHECK(says(&reported, FWD_DELIVERY_FAILED, "this delivery has failed"));
  send(self, 8, "");
  reported.message[0] = 0;
  fwd_proxy_release(self->proxy);
  self->proxy = NULL;
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 2 && self->text[0] == 0 && self->last == 8);
  CHECK(says(&reported, FWD_DELIVERY_FAILED, "this delivery has failed"));
  close_listener(self);
  return failures;
}

// MARK: Fork

int mailbox_check_fork(void) {
  failures = 0;
  listener *self = open_listener(wake);
  join(self, FWD_OVERFLOW_DROP_OLDEST, 3);
  for (int i = 0; i < 5; i++) send(self, i, "before");
  pid_t child = fork();
  CHECK(child >= 0);
  // Both processes have the messages, and go on.
  CHECK(fwd_mailbox_drain(self->mailbox, 0) == 3 && self->last == 4);
  send(self, 9, "after");
  CHECK(self->wakes == 2 && fwd_mailbox_drain(self->mailbox, 0) == 1 && self->last == 9);
  close_listener(self);
  if (child == 0) _exit(failures > 0);
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return failures;
}
