// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Compares mailboxes with a simple model of them, and uses one from many threads: `mailboxes [EPISODES [SEED]]`.

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "fwd_mailbox.h"
#include "fwd_selector.h"
#include "mailbox/parts.h"
#include "members/dispatch_table.h"

static uint64_t seed = 1;

static uint64_t random_below(uint64_t limit) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed % limit;
}

// MARK: A recipient

/// A subscriber that counts what it gets.
typedef struct listener {
  fwd_recipient *recipient;
  fwd_implementation implementation, posting;
  fwd_overflow overflow;
  size_t limit;
  fwd_mail_account account;
  unsigned number;
  bool has_ended, destroyed;
  atomic_size_t *alive;
  // For threads: the next number of each thread.
  int64_t next[4];
  atomic_size_t delivered;
} listener;

static fwd_selector selector;
static fwd_signature *signature;

static void ignore_failure(void *context, fwd_selector named, const fwd_error *error) {
  (void)context, (void)named;
  printf("unexpected: %s\n", error->message);
  EXPECT(false);
}

static void destroy_listener(void *receiver) {
  listener *self = receiver;
  EXPECT(!self->destroyed);
  self->destroyed = true;
  if (self->alive) atomic_fetch_sub(self->alive, 1);
}

static void add_listener(listener *self, fwd_mailbox *mailbox, void (*function)(void *, int64_t, const char *)) {
  self->implementation = (fwd_implementation){.function = (void (*)(void))(uintptr_t)function};
  fwd_recipient_options options = {
      .hold = FWD_HOLD_NONE,
      .receiver = self,
      .overflow = self->overflow,
      .limit = self->limit,
      .method_count = 1,
      .account = &self->account,
      .report = ignore_failure,
  };
  NEED((self->recipient = fwd_recipient_create(mailbox, &options)));
  fwd_recipient_adopt(self->recipient, destroy_listener);
  NEED(fwd_recipient_add(self->recipient, selector, signature, &self->implementation, NULL, &self->posting, NULL) ==
       FWD_OK);
}

static fwd_status post_to(listener *self, int64_t number, const char *text) {
  void *receiver = self;
  unsigned char nothing;
  void *arguments[] = {&receiver, &number, &text};
  return self->posting.packed(self->posting.context, self, arguments, &nothing, NULL);
}

// MARK: The model

enum { listener_count = 6, waiting_limit = 4096 };

/// A message that waits.
typedef struct expected {
  unsigned listener;
  int64_t number;
  unsigned length;
  /// The number of the drain in which it was posted, or 0.
  size_t drain;
} expected;

static listener listeners[listener_count];
static expected waiting[waiting_limit];
static size_t waiting_count, delivered_count, dropped_count;
static bool is_notified, is_paced, is_draining;
static size_t drain_number;
/// The number of the last message.
static int64_t last_value;

static void notify_model(void *context) {
  (void)context;
  EXPECT(!is_notified);
  is_notified = true;
}

static void forget(size_t index) {
  memmove(&waiting[index], &waiting[index + 1], (--waiting_count - index) * sizeof waiting[0]);
}

/// Removes what has been dropped with its subscription, up to the next message that must come.
static void skip_ended(void) {
  while (waiting_count > 0 && listeners[waiting[0].listener].has_ended) forget(0);
}

static void post_one(void);

static void take(void *receiver, int64_t number, const char *text) {
  listener *self = receiver;
  skip_ended();
  NEED(waiting_count > 0);
  // What is posted in a drain of a paced mailbox waits for the next one.
  EXPECT(!is_paced || waiting[0].drain != drain_number);
  EXPECT(!self->has_ended && !self->destroyed);
  EXPECT(waiting[0].listener == self->number && waiting[0].number == number);
  size_t length = text ? strlen(text) + 1 : 0;
  EXPECT(waiting[0].length == length);
  for (size_t i = 0; i + 1 < length; i++) EXPECT(text[i] == 'a' + (char)(number % 26));
  forget(0);
  delivered_count++;
  if (random_below(12) == 0) post_one();
}

static void expect_posted(unsigned number, int64_t value, unsigned length) {
  listener *self = &listeners[number];
  size_t own = 0, oldest = waiting_count;
  for (size_t i = waiting_count; i-- > 0;) {
    if (waiting[i].listener == number) own++, oldest = i;
  }
  if (self->overflow != FWD_OVERFLOW_UNBOUNDED && own >= self->limit) {
    dropped_count++;
    if (self->overflow == FWD_OVERFLOW_DROP_NEWEST) return;
    forget(oldest);
  }
  waiting[waiting_count++] = (expected){number, value, length, is_draining ? drain_number : 0};
}

static void renew(unsigned number, fwd_mailbox *mailbox) {
  listeners[number] = (listener){.number = number, .overflow = (fwd_overflow)random_below(3)};
  if (listeners[number].overflow != FWD_OVERFLOW_UNBOUNDED) listeners[number].limit = 1 + random_below(5);
  add_listener(&listeners[number], mailbox, take);
}

/// Ends a listener and gives it up, as the end of a subscription does. Its messages are dropped.
static void end(unsigned number) {
  listener *self = &listeners[number];
  self->has_ended = true;
  fwd_dispatch_table *table = fwd_dispatch_table_create(1, NULL);
  NEED(table);
  fwd_recipient_observe(self->recipient, table);
  table->ended(table->ended_context);
  fwd_dispatch_table_destroy(table);
  fwd_recipient_release(self->recipient);
}

/// Posts a random message to a listener that has not ended.
static void post_one(void) {
  // A message with one of the longest texts brings its block.
  static char text[6000];
  unsigned number = (unsigned)random_below(listener_count);
  if (listeners[number].has_ended) return;
  int64_t value = ++last_value;
  unsigned length = random_below(4) > 0 ? (unsigned)random_below(40) : (unsigned)random_below(sizeof text);
  bool is_null = random_below(10) == 0;
  memset(text, 'a' + (int)(value % 26), length);
  text[length] = 0;
  EXPECT(post_to(&listeners[number], value, is_null ? NULL : text) == FWD_OK);
  expect_posted(number, value, is_null ? 0 : length + 1);
}

/// Drains the mailbox, which has called for it.
static void drain(fwd_mailbox *mailbox, size_t limit) {
  is_notified = false;
  is_draining = true;
  drain_number++;
  size_t before = delivered_count, count = fwd_mailbox_drain(mailbox, limit);
  is_draining = false;
  EXPECT(count == delivered_count - before);
  EXPECT(limit == 0 || count <= limit);
  skip_ended();
  if (!is_notified) EXPECT(waiting_count == 0);
}

static void run_episode(void) {
  fwd_mailbox *mailbox;
  NEED(fwd_mailbox_create(notify_model, NULL, NULL, &mailbox, NULL) == FWD_OK);
  waiting_count = 0;
  is_notified = false;
  is_paced = random_below(2) > 0;
  if (is_paced) fwd_mailbox_pace(mailbox);
  for (unsigned i = 0; i < listener_count; i++) renew(i, mailbox);
  last_value = 0;
  uint64_t dropped = 0;
  delivered_count = dropped_count = 0;
  for (size_t step = 0; step < 400; step++) {
    if (random_below(8) > 0) {
      post_one();
      EXPECT(is_notified);
    } else if (random_below(3) > 0) {
      size_t limit = random_below(30);
      if (is_notified) {
        drain(mailbox, limit);
      } else {
        EXPECT(fwd_mailbox_drain(mailbox, limit) == 0);
      }
    } else if (random_below(4) == 0) {
      // Under a new number only when the old messages are gone, or the model would mix them up.
      unsigned number = (unsigned)random_below(listener_count);
      end(number);
      while (is_notified) drain(mailbox, 0);
      skip_ended();
      EXPECT(waiting_count == 0 && listeners[number].destroyed);
      dropped += fwd_mail_account_drop_count(&listeners[number].account);
      renew(number, mailbox);
    }
  }
  // Some of the messages are left for the end of the mailbox.
  for (unsigned i = 0; i < listener_count; i++) {
    dropped += fwd_mail_account_drop_count(&listeners[i].account);
    fwd_recipient_release(listeners[i].recipient);
  }
  fwd_mailbox_release(mailbox);
  for (unsigned i = 0; i < listener_count; i++) EXPECT(listeners[i].destroyed);
  EXPECT(dropped == dropped_count);
}

// MARK: Memory

static void notify_nobody(void *context) { (void)context; }

/// Small messages between large ones share the blocks of these.
static void check_blocks(size_t large) {
  fwd_mailbox *mailbox;
  NEED(fwd_mailbox_create(notify_nobody, NULL, NULL, &mailbox, NULL) == FWD_OK);
  listener self = {.overflow = FWD_OVERFLOW_UNBOUNDED};
  add_listener(&self, mailbox, take);
  static char text[6000];
  memset(text, 'x', sizeof text - 1);
  for (int64_t i = 0; i < 1000; i++) EXPECT(post_to(&self, i, text + sizeof text - 1 - (i % 2 ? large : 20)) == FWD_OK);
  size_t room = 0;
  for (const fwd_mail_block *each = mailbox->filling.first; each; each = each->next) room += each->capacity;
  EXPECT(room < 2 * mailbox->filling.bytes);
  fwd_recipient_release(self.recipient);
  fwd_mailbox_release(mailbox);
  EXPECT(self.destroyed);
}

// MARK: Results

/// Writes the result of every second call, which nobody reads.
static fwd_status give_result(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error) {
  (void)context, (void)arguments, (void)error;
  listener *self = receiver;
  int64_t found;
  memcpy(&found, result, sizeof found);
  EXPECT(found == 0);
  if (atomic_fetch_add(&self->delivered, 1) % 2 == 0) memset(result, 1, sizeof found);
  return FWD_OK;
}

static void check_results(void) {
  fwd_mailbox *mailbox;
  fwd_signature *with_result;
  NEED(fwd_signature_create("q@q*", 4, &with_result, NULL) == FWD_OK);
  NEED(fwd_mailbox_create(notify_nobody, NULL, NULL, &mailbox, NULL) == FWD_OK);
  listener self = {.overflow = FWD_OVERFLOW_UNBOUNDED};
  fwd_signature *usual = signature;
  signature = with_result;
  add_listener(&self, mailbox, take);
  signature = usual;
  self.implementation = (fwd_implementation){.packed = give_result, .context = &self};
  for (int64_t i = 0; i < 10; i++) EXPECT(post_to(&self, i, "") == FWD_NO_RESPONDER);
  EXPECT(fwd_mailbox_drain(mailbox, 0) == 10);
  fwd_recipient_release(self.recipient);
  fwd_mailbox_release(mailbox);
  fwd_signature_release(with_result);
}

// MARK: Types

/// A struct of numbers can be mailed, whether its layout is stated or not, and one whose members are not known cannot.
static void check_types(void) {
  const struct {
    const char *encoding;
    size_t size;
    fwd_status expected;
  } cases[] = {{"v@{P=ci}", 5, FWD_OK}, {"v@{P}", 24, FWD_NOT_ALLOWED}, {"v@{P=c*}", 9, FWD_NOT_ALLOWED}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const fwd_stated_layout layout = {.name = "P", .size = cases[i].size, .alignment = 1};
    fwd_signature *stated;
    fwd_mailbox *mailbox;
    NEED(fwd_signature_create_stating(cases[i].encoding, strlen(cases[i].encoding), &layout, 1, &stated, NULL) == FWD_OK);
    NEED(fwd_mailbox_create(notify_nobody, NULL, NULL, &mailbox, NULL) == FWD_OK);
    fwd_mail_account account = {0};
    const fwd_recipient_options options = {
        .hold = FWD_HOLD_NONE, .method_count = 1, .account = &account, .report = ignore_failure};
    fwd_recipient *recipient = fwd_recipient_create(mailbox, &options);
    NEED(recipient);
    const fwd_implementation implementation = {0};
    fwd_implementation posting;
    EXPECT(fwd_recipient_add(recipient, selector, stated, &implementation, NULL, &posting, NULL) == cases[i].expected);
    fwd_recipient_release(recipient);
    fwd_mailbox_release(mailbox);
    fwd_signature_release(stated);
  }
}

// MARK: Waiting for oneself

static listener full;

static void count_delivery(void *receiver, int64_t number, const char *text) {
  (void)number, (void)text;
  atomic_fetch_add(&((listener *)receiver)->delivered, 1);
}

/// Posts more than there is room for, on the draining thread.
static void post_in_destroy(void *receiver) {
  destroy_listener(receiver);
  for (int64_t i = 0; i < 3; i++) EXPECT(post_to(&full, i, NULL) == FWD_OK);
}

static void check_destroy(void) {
  fwd_mailbox *mailbox;
  NEED(fwd_mailbox_create(notify_nobody, NULL, NULL, &mailbox, NULL) == FWD_OK);
  listener first = {.overflow = FWD_OVERFLOW_UNBOUNDED};
  full = (listener){.overflow = FWD_OVERFLOW_BLOCK, .limit = 1};
  add_listener(&first, mailbox, count_delivery);
  add_listener(&full, mailbox, count_delivery);
  fwd_recipient_adopt(first.recipient, post_in_destroy);
  EXPECT(post_to(&first, 1, NULL) == FWD_OK);
  fwd_recipient_release(first.recipient);
  // The recipient goes inside of the drain, which delivers what is posted then.
  EXPECT(fwd_mailbox_drain(mailbox, 0) == 4 && first.destroyed && atomic_load(&full.delivered) == 3);
  fwd_recipient_release(full.recipient);
  fwd_mailbox_release(mailbox);
}

// MARK: Closing

static listener closing;
static fwd_mailbox *closed_mailbox;
static size_t ended_values;
static pthread_t drainer_of_closed;
static sem_t in_delivery, may_go_on, has_drained;
static check_case *closing_case;

static void copy_value(const void *context, void *to, const void *from) {
  (void)context;
  memcpy(to, from, sizeof(int64_t));
}

/// Ends the value of a message, which is there only as long as the recipient. Gives the recipient up at the first one.
static void end_value_and_recipient(const void *context, void *value) {
  (void)context, (void)value;
  EXPECT(!closing.destroyed);
  if (ended_values++ == 0) fwd_recipient_release(closing.recipient);
}

/// Ends the value of a message. If the drain does not do so, lets it end first.
static void end_value_after_drain(const void *context, void *value) {
  (void)context, (void)value;
  check_current = closing_case;
  if (!pthread_equal(pthread_self(), drainer_of_closed) && ended_values == 0) {
    sem_post(&may_go_on);
    sem_wait(&has_drained);
  }
  EXPECT(!closing.destroyed);
  ended_values++;
}

static void add_closing(void (*function)(void *, void *), void (*destroy)(const void *, void *)) {
  static fwd_carried_type carried;
  static const fwd_carried_type *const types[] = {NULL, &carried};
  static fwd_signature *with_value;
  if (!with_value) NEED(fwd_signature_create("v@^v", 4, &with_value, NULL) == FWD_OK);
  carried = (fwd_carried_type){.size = sizeof(int64_t), .alignment = 8, .copy = copy_value, .destroy = destroy};
  closing = (listener){.implementation = {.function = (void (*)(void))(uintptr_t)function}};
  ended_values = 0;
  fwd_recipient_options options = {.hold = FWD_HOLD_NONE,
                                   .receiver = &closing,
                                   .method_count = 1,
                                   .account = &closing.account,
                                   .report = ignore_failure};
  NEED(fwd_mailbox_create(notify_nobody, NULL, NULL, &closed_mailbox, NULL) == FWD_OK);
  NEED((closing.recipient = fwd_recipient_create(closed_mailbox, &options)));
  fwd_recipient_adopt(closing.recipient, destroy_listener);
  NEED(fwd_recipient_add(closing.recipient, selector, with_value, &closing.implementation, types, &closing.posting, NULL) ==
       FWD_OK);
}

static void post_value(void) {
  int64_t value = 7;
  void *pointer = &value, *receiver = &closing, *arguments[] = {&receiver, &pointer};
  unsigned char nothing;
  EXPECT(closing.posting.packed(closing.posting.context, &closing, arguments, &nothing, NULL) == FWD_OK);
}

static void never_called(void *receiver, void *value) {
  (void)receiver, (void)value;
  EXPECT(false);
}

static void wait_in_delivery(void *receiver, void *value) {
  (void)receiver, (void)value;
  sem_post(&in_delivery);
  sem_wait(&may_go_on);
}

static void *drain_closed(void *argument) {
  fwd_mailbox_drain(closed_mailbox, 0);
  sem_post(&has_drained);
  return argument;
}

/// The recipient of messages that are discarded is freed after them.
static void check_closing(void) {
  add_closing(never_called, end_value_and_recipient);
  for (int i = 0; i < 3; i++) post_value();
  fwd_mailbox_close(closed_mailbox);
  EXPECT(ended_values == 3 && closing.destroyed);
  fwd_mailbox_release(closed_mailbox);

  closing_case = check_current;
  sem_init(&in_delivery, 0, 0), sem_init(&may_go_on, 0, 0), sem_init(&has_drained, 0, 0);
  add_closing(wait_in_delivery, end_value_after_drain);
  post_value();
  NEED(pthread_create(&drainer_of_closed, NULL, drain_closed, NULL) == 0);
  sem_wait(&in_delivery);
  for (int i = 0; i < 2; i++) post_value();
  fwd_recipient_release(closing.recipient);
  fwd_mailbox_close(closed_mailbox);
  sem_post(&may_go_on);
  pthread_join(drainer_of_closed, NULL);
  EXPECT(ended_values == 3 && closing.destroyed);
  fwd_mailbox_release(closed_mailbox);
}

// MARK: Long rows

/// A drain skips many messages that were dropped, but not without end.
static void check_skipping(void) {
  fwd_mailbox *mailbox;
  NEED(fwd_mailbox_create(notify_nobody, NULL, NULL, &mailbox, NULL) == FWD_OK);
  listener latest = {.overflow = FWD_OVERFLOW_DROP_OLDEST, .limit = 1};
  add_listener(&latest, mailbox, count_delivery);
  size_t delivered = 0, drains = 0;
  // Fewer than a compaction would remove.
  for (int64_t i = 0; i < 500; i++) EXPECT(post_to(&latest, i, NULL) == FWD_OK);
  while (delivered == 0 && ++drains < 100) delivered = fwd_mailbox_drain(mailbox, 2);
  EXPECT(delivered == 1 && drains <= 4);
  EXPECT(fwd_mail_account_drop_count(&latest.account) == 499);
  fwd_recipient_release(latest.recipient);
  fwd_mailbox_release(mailbox);
}

// MARK: Threads

enum { thread_count = 4, shared_count = 3 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool is_due, is_over;
static size_t rounds = 20000;
static listener shared[shared_count];
static check_case *thread_case;

static void notify_drainer(void *context) {
  (void)context;
  pthread_mutex_lock(&gate);
  is_due = true;
  pthread_cond_signal(&wake);
  pthread_mutex_unlock(&gate);
}

static void take_shared(void *receiver, int64_t number, const char *text) {
  listener *self = receiver;
  check_current = thread_case;
  size_t thread = (size_t)(number >> 32);
  int64_t low = number & 0xffffffff;
  NEED(thread < thread_count);
  // Each thread's messages come in its order; a bounded listener may miss some.
  if (self->overflow == FWD_OVERFLOW_UNBOUNDED || self->overflow == FWD_OVERFLOW_BLOCK) {
    EXPECT(low == self->next[thread]);
  } else {
    EXPECT(low >= self->next[thread]);
  }
  self->next[thread] = low + 1;
  EXPECT(text && strlen(text) == (size_t)(low % 60));
  atomic_fetch_add(&self->delivered, 1);
}

static void *drain_shared(void *argument) {
  check_current = thread_case;
  fwd_mailbox *mailbox = argument;
  pthread_mutex_lock(&gate);
  while (!is_over || is_due) {
    while (!is_due && !is_over) pthread_cond_wait(&wake, &gate);
    if (!is_due) break;
    is_due = false;
    pthread_mutex_unlock(&gate);
    fwd_mailbox_drain(mailbox, 100);
    pthread_mutex_lock(&gate);
  }
  pthread_mutex_unlock(&gate);
  return NULL;
}

static void *post_shared(void *argument) {
  check_current = thread_case;
  int64_t thread = (int64_t)(uintptr_t)argument;
  char text[64];
  for (size_t i = 0; i < rounds; i++) {
    memset(text, 'x', i % 60);
    text[i % 60] = 0;
    for (size_t each = 0; each < shared_count; each++) post_to(&shared[each], thread << 32 | (int64_t)i, text);
  }
  return NULL;
}

static void run_threads(void) {
  static const fwd_overflow rules[shared_count] = {FWD_OVERFLOW_UNBOUNDED, FWD_OVERFLOW_BLOCK, FWD_OVERFLOW_DROP_OLDEST};
  thread_case = check_current;
  fwd_mailbox *mailbox;
  NEED(fwd_mailbox_create(notify_drainer, NULL, NULL, &mailbox, NULL) == FWD_OK);
  atomic_size_t alive = shared_count;
  for (unsigned i = 0; i < shared_count; i++) {
    shared[i] = (listener){.number = i, .overflow = rules[i], .limit = i == 0 ? 0 : 50, .alive = &alive};
    add_listener(&shared[i], mailbox, take_shared);
  }
  is_due = is_over = false;
  pthread_t drainer, posters[thread_count];
  NEED(pthread_create(&drainer, NULL, drain_shared, mailbox) == 0);
  for (size_t i = 0; i < thread_count; i++) {
    NEED(pthread_create(&posters[i], NULL, post_shared, (void *)(uintptr_t)i) == 0);
  }
  for (size_t i = 0; i < thread_count; i++) pthread_join(posters[i], NULL);
  pthread_mutex_lock(&gate);
  is_over = true;
  pthread_cond_signal(&wake);
  pthread_mutex_unlock(&gate);
  pthread_join(drainer, NULL);
  size_t all = rounds * thread_count;
  EXPECT(atomic_load(&shared[0].delivered) == all && shared[0].account.dropped == 0);
  EXPECT(atomic_load(&shared[1].delivered) == all && shared[1].account.dropped == 0);
  EXPECT(atomic_load(&shared[2].delivered) + shared[2].account.dropped == all);
  for (unsigned i = 0; i < shared_count; i++) fwd_recipient_release(shared[i].recipient);
  fwd_mailbox_release(mailbox);
  EXPECT(atomic_load(&alive) == 0);
}

int main(int count, char **arguments) {
  size_t episodes = count > 1 ? strtoul(arguments[1], NULL, 10) : 300;
  if (count > 2) seed = strtoull(arguments[2], NULL, 10);
  if (seed == 0) seed = 1;
  printf("seed %llu\n", (unsigned long long)seed);
  NEED((selector = fwd_selector_register("take:text:")));
  NEED(fwd_signature_create("v@q*", 4, &signature, NULL) == FWD_OK);
  check_begin("a mailbox does what its model does");
  for (size_t i = 0; i < episodes; i++) run_episode();
  check_begin("blocks are used up");
  check_blocks(600);
  check_blocks(5000);
  check_begin("a result has zeros before each delivery");
  check_results();
  check_begin("structs of numbers are mailed, with a stated layout too");
  check_types();
  check_begin("a subscriber that ends inside of a drain may forward");
  check_destroy();
  check_begin("a mailbox is closed");
  check_closing();
  check_begin("dropped messages are skipped");
  check_skipping();
  check_begin("four threads post, one drains");
  run_threads();
  fwd_signature_release(signature);
  return check_finish();
}
