// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What is kept for readers, and for how long: reclaim.

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "adding.h"
#include "call/closure.h"
#include "fan_out/batch.h"
#include "reclaim/hazard.h"
#include "stage.h"

static void come_and_go(stage *self, size_t number, fwd_subscription *members) {
  (void)members;
  fwd_subscription last = stage_join(self, FWD_HOLD_NONE, NULL, NULL, NULL, number % 2 ? FWD_LIST_END : 0);
  EXPECT(last && stage_leave(self, last));
}

/// A change of one proxy frees what it leaves behind at once, however much another proxy keeps.
static void keep_apart(void) {
  check_begin("what one proxy keeps is not in the way of another");
  stage *kept = stage_create(), *other = stage_create();
  static fwd_subscription members[1000];
  for (size_t i = 0; i < 1000; i++) members[i] = stage_join(kept, FWD_HOLD_NONE, NULL, NULL, NULL, FWD_LIST_END);
  fwd_batch *batch;
  NEED(fwd_batch_begin(kept->proxy, &batch, NULL) == FWD_OK);
  for (size_t i = 0; i < 1000; i++) EXPECT(stage_leave(kept, members[i]));
  EXPECT(fwd_domain_waiting(&kept->list->domain) >= 1000);
  for (size_t i = 0; i < 1000; i++) {
    come_and_go(other, i, NULL);
    EXPECT(fwd_domain_waiting(&other->list->domain) == 0);
  }
  fwd_batch_end(batch);
  EXPECT(fwd_domain_waiting(&kept->list->domain) == 0);
  stage_destroy(kept);
  stage_destroy(other);
}

// MARK: Notifiers

static void count_destroy(void *context) { atomic_fetch_add((atomic_size_t *)context, 1); }

// MARK: More readers than are told apart

static void read_many_times(void) {
  check_begin("fifty batches, ended in another order");
  enum { batch_count = 50 };
  stage *self = stage_create();
  fwd_batch *batches[batch_count];
  atomic_size_t destroyed = 0;
  for (size_t i = 0; i < batch_count; i++) {
    fwd_subscription made = stage_join(self, FWD_HOLD_NONE, NULL, &destroyed, count_destroy, i % 2 ? 0 : FWD_LIST_END);
    NEED(fwd_batch_begin(self->proxy, &batches[i], NULL) == FWD_OK);
    EXPECT(made && stage_leave(self, made));
  }
  EXPECT(atomic_load(&destroyed) == 0);
  for (size_t i = 0; i < batch_count; i++) fwd_batch_end(batches[i * 7 % batch_count]);
  EXPECT(atomic_load(&destroyed) == batch_count && fwd_domain_waiting(&self->list->domain) == 0);
  stage_destroy(self);
}

// MARK: Visits inside of others

static size_t count_blocks(void) {
  size_t count = 0;
  for (fwd_thread_block *block = atomic_load(&fwd_all_thread_blocks); block; block = block->next) count++;
  return count;
}

enum { levels = 1000 };
static stage *alternating[2];
static size_t level;
static fwd_subscription bystanders[2];

/// Forwards to the other list, until the deepest level ends a subscription of each.
static void forward_within(void *context, fwd_selector selector) {
  (void)context, (void)selector;
  stage *other = alternating[++level % 2];
  if (level < levels) {
    EXPECT(stage_forward(other) == FWD_OK);
    return;
  }
  for (size_t i = 0; i < 2; i++) {
    EXPECT(stage_leave(alternating[i], bystanders[i]));
    EXPECT(fwd_domain_waiting(&alternating[i]->list->domain) > 0);
  }
}

/// A recursion takes as many hazard pointers as it reads lists. Changes of other lists look at all of them.
static void recur(void) {
  check_begin("a recursion shares its hazard pointers");
  atomic_size_t destroyed = 0;
  for (size_t i = 0; i < 2; i++) {
    alternating[i] = stage_create();
    bystanders[i] = stage_join(alternating[i], FWD_HOLD_NONE, NULL, &destroyed, count_destroy, FWD_LIST_END);
    EXPECT(bystanders[i]);
    fwd_dispatch_table_entry(alternating[i]->table, 0)->function = (void (*)(void))forward_within;
    // The recursion goes on here, and ends at the bystander.
    EXPECT(stage_join(alternating[i], FWD_HOLD_NONE, NULL, NULL, NULL, 0));
  }
  size_t blocks = count_blocks();
  EXPECT(stage_forward(alternating[0]) == FWD_OK && level == levels);
  EXPECT(count_blocks() == blocks && atomic_load(&destroyed) == 2);
  for (size_t i = 0; i < 2; i++) {
    fwd_domain *domain = &alternating[i]->list->domain;
    EXPECT(!fwd_domain_is_read(domain) && fwd_domain_waiting(domain) == 0);
    stage_destroy(alternating[i]);
  }
}

/// Visits of fibers, which leave in any order. What was retired stays until the last visit has left that began before.
static void leave_in_any_order(void) {
  check_begin("visits of one thread that leave in any order");
  enum { visit_count = 9 };
  stage *self = stage_create();
  fwd_domain *domain = &self->list->domain;
  EXPECT(stage_join(self, FWD_HOLD_NONE, NULL, NULL, NULL, FWD_LIST_END));
  for (size_t step = 1; step < visit_count; step++) {
    // Steps that have no divisor in common with the number reach all visits.
    if (step % 3 == 0) continue;
    atomic_size_t destroyed = 0;
    fwd_subscription made = stage_join(self, FWD_HOLD_NONE, NULL, &destroyed, count_destroy, 0);
    fwd_guard guards[visit_count];
    for (size_t i = 0; i < visit_count; i++) guards[i] = fwd_hazard_enter_within(domain, i > 0);
    // The first two, and all others together.
    EXPECT(fwd_hazard_is_own(guards[0].hazard) && fwd_hazard_is_own(guards[1].hazard));
    for (size_t i = 2; i < visit_count; i++) {
      EXPECT(guards[i].hazard == guards[2].hazard && !fwd_hazard_is_own(guards[i].hazard));
    }
    EXPECT(made && stage_leave(self, made));
    for (size_t i = 0; i < visit_count; i++) {
      EXPECT(atomic_load(&destroyed) == 0 && fwd_domain_is_read(domain));
      fwd_hazard_leave(guards[(i * step + step) % visit_count]);
    }
    EXPECT(atomic_load(&destroyed) == 1 && !fwd_domain_is_read(domain) && fwd_domain_waiting(domain) == 0);
  }
  stage_destroy(self);
}

/// One shared hazard pointer counts up to 65,535 visits. The next ones share another.
static void share_to_the_limit(void) {
  check_begin("more visits than a shared hazard pointer counts");
  enum { last_of_first = FWD_HAZARD_VISITS / FWD_HAZARD_VISIT + 1, visit_count = last_of_first + 5 };
  stage *self = stage_create();
  fwd_domain *domain = &self->list->domain;
  atomic_size_t destroyed = 0;
  fwd_subscription made = stage_join(self, FWD_HOLD_NONE, NULL, &destroyed, count_destroy, FWD_LIST_END);
  static fwd_guard visits[visit_count];
  for (size_t i = 0; i < visit_count; i++) visits[i] = fwd_hazard_enter_within(domain, i > 0);
  EXPECT(visits[2].hazard == visits[last_of_first].hazard);
  EXPECT(visits[last_of_first].hazard != visits[last_of_first + 1].hazard);
  EXPECT(made && stage_leave(self, made));
  // Those that share the second one leave first, and the own ones.
  for (size_t i = last_of_first + 1; i < visit_count; i++) fwd_hazard_leave(visits[i]);
  bool is_kept = true;
  for (size_t i = 0; i <= last_of_first; i++) {
    is_kept = is_kept && atomic_load(&destroyed) == 0;
    fwd_hazard_leave(visits[i]);
  }
  EXPECT(is_kept && atomic_load(&destroyed) == 1 && !fwd_domain_is_read(domain));
  stage_destroy(self);
}

/// A visit shares with those of the same list only, keeps their earlier time, and does not share with batches.
static void share_with_few(void) {
  check_begin("which visits share a hazard pointer");
  stage *self = stage_create(), *other = stage_create();
  fwd_domain *domain = &self->list->domain;
  atomic_size_t destroyed = 0;
  fwd_subscription made = stage_join(self, FWD_HOLD_NONE, NULL, &destroyed, count_destroy, FWD_LIST_END);
  fwd_batch *batches[2];
  // It has the thread's last hazard pointer, for which another batch would look first.
  NEED(fwd_batch_begin(other->proxy, &batches[0], NULL) == FWD_OK);
  fwd_guard outer[2];
  for (size_t i = 0; i < 2; i++) outer[i] = fwd_hazard_enter_within(domain, i);
  fwd_guard elsewhere = fwd_hazard_enter_within(&other->list->domain, 1), first = fwd_hazard_enter_within(domain, 1);
  EXPECT(!fwd_hazard_is_own(elsewhere.hazard) && !fwd_hazard_is_own(first.hazard) && elsewhere.hazard != first.hazard);
  NEED(fwd_batch_begin(self->proxy, &batches[1], NULL) == FWD_OK);
  EXPECT(fwd_hazard_is_own(batches[1]->guard.hazard) && (uintptr_t)batches[1]->guard.hazard != (uintptr_t)first.hazard - 1);
  fwd_batch_end(batches[1]);
  EXPECT(made && stage_leave(self, made));
  fwd_guard later = fwd_hazard_enter_within(domain, 1);
  EXPECT(later.hazard == first.hazard && later.entered != first.entered);
  for (size_t i = 0; i < 2; i++) fwd_hazard_leave(outer[i]);
  fwd_hazard_leave(elsewhere);
  EXPECT(atomic_load(&destroyed) == 0 && fwd_domain_is_read(domain));
  // Another change looks at the hazard pointers again.
  come_and_go(self, 0, NULL);
  EXPECT(atomic_load(&destroyed) == 0);
  fwd_hazard_leave(first);
  fwd_hazard_leave(later);
  EXPECT(atomic_load(&destroyed) == 1 && !fwd_domain_is_read(domain));
  fwd_batch_end(batches[0]);
  stage_destroy(self);
  stage_destroy(other);
}

// MARK: Limits

/// A subscription whose last delivery a batch makes ends with it, and its notifier runs.
static void use_up_in_batch(void) {
  check_begin("a batch makes the last delivery of a subscription");
  stage *self = stage_create();
  atomic_size_t destroyed = 0;
  fwd_subscriber subscriber = {
      .hold = FWD_HOLD_NONE, .receiver = &destroyed, .destroy = count_destroy, .limit = 1};
  fwd_garbage garbage = {.first = NULL};
  NEED(fwd_list_insert(self->list, &subscriber, self->table, FWD_LIST_END, &garbage));
  fwd_garbage_collect(garbage);
  fwd_batch *batch;
  NEED(fwd_batch_begin(self->proxy, &batch, NULL) == FWD_OK);
  atomic_store(&stage_met, 0);
  EXPECT(fwd_batch_forward(batch, stage_note, NULL, 0, NULL, 0) == FWD_OK);
  // The Swift part then ends it.
  EXPECT(atomic_load(&stage_met) == 1);
  fwd_batch_end(batch);
  stage_destroy(self);
}

static stage *growing;

static void grow(void *context, fwd_selector selector) {
  (void)context, (void)selector;
  EXPECT(stage_join(growing, FWD_HOLD_NONE, NULL, NULL, NULL, 0));
}

/// The last delivery of a subscription puts another one before it: the fan-out has it looked for behind what it visited.
static void use_up_and_insert(void) {
  check_begin("a fan-out makes the last delivery of a subscription, which inserts another before it");
  growing = stage_create();
  fwd_dispatch_table_entry(growing->table, 0)->function = (void (*)(void))grow;
  fwd_subscriber subscriber = {.hold = FWD_HOLD_NONE, .limit = 1};
  fwd_garbage garbage = {.first = NULL};
  NEED(fwd_list_insert(growing->list, &subscriber, growing->table, FWD_LIST_END, &garbage));
  fwd_garbage_collect(garbage);
  atomic_store(&stage_met, 0);
  EXPECT(stage_forward(growing) == FWD_OK);
  EXPECT(atomic_load(&stage_met) >= 2);
  stage_destroy(growing);
}

// MARK: Threads that begin

/// What a subscriber's context is: it is freed with the subscription, so a delivery behind that is found by the address
/// sanitizer, and by this value.
typedef struct token {
  uint64_t alive;
} token;

static void free_token(void *context) {
  ((token *)context)->alive = 0;
  free(context);
}

static atomic_int forwards_once;

static void take_token(void *context, fwd_selector selector) {
  (void)selector;
  EXPECT(((const token *)context)->alive == 1);
}

static void *forward_once(void *context) {
  atomic_fetch_add(&forwards_once, 1);
  EXPECT(stage_forward(context) == FWD_OK);
  return NULL;
}

/// A list notes whether several threads have read it, or one, and which.
static void note_readers(void) {
  check_begin("a list knows whether one thread has read it, or several");
  stage *self = stage_create();
  fwd_domain *domain = &self->list->domain;
  atomic_size_t deliveries = 0;
  fwd_subscription made = stage_join(self, FWD_HOLD_NONE, NULL, &deliveries, NULL, FWD_LIST_END);
  EXPECT(made && atomic_load(&domain->readers) == FWD_READERS_NONE);
  EXPECT(stage_forward(self) == FWD_OK && stage_forward(self) == FWD_OK);
  EXPECT(atomic_load(&domain->readers) == fwd_thread_blocks->number);
  pthread_t thread;
  NEED(pthread_create(&thread, NULL, forward_once, self) == 0);
  pthread_join(thread, NULL);
  EXPECT(atomic_load(&domain->readers) == FWD_READERS_UNKNOWN);
  EXPECT(stage_forward(self) == FWD_OK && atomic_load(&domain->readers) == FWD_READERS_UNKNOWN);
  stage_destroy(self);
}

/// A change skips the heavy fence while no other thread has read the list. A new thread's first fan-out must still see it. With
/// `reads`, the writer's thread also forwards.
static void begin_beside_a_writer(bool reads) {
  check_begin(reads ? "a thread's first fan-out beside a writer that was the only reader"
                    : "a thread's first fan-out beside a writer of a list without readers");
  enum { thread_count = 500 };
  static token permanent = {.alive = 1};
  for (int i = 0; i < thread_count; i++) {
    stage *self = stage_create();
    fwd_dispatch_table_entry(self->table, 0)->function = (void (*)(void))take_token;
    // A fan-out does not read a list without subscribers.
    NEED(stage_join(self, FWD_HOLD_NONE, NULL, &permanent, NULL, FWD_LIST_END));
    atomic_store(&forwards_once, 0);
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, forward_once, self) == 0);
    for (int changes = 0; changes < 50 || atomic_load(&forwards_once) == 0; changes++) {
      token *made = malloc(sizeof *made);
      NEED(made);
      made->alive = 1;
      fwd_subscription subscription = stage_join(self, FWD_HOLD_NONE, NULL, made, free_token, FWD_LIST_END);
      if (reads) EXPECT(stage_forward(self) == FWD_OK);
      EXPECT(subscription && stage_leave(self, subscription));
    }
    pthread_join(thread, NULL);
    EXPECT(fwd_domain_waiting(&self->list->domain) == 0);
    stage_destroy(self);
  }
}

// MARK: Heavy fences that are refused

#if defined(__linux__)
/// Makes membarrier(2) fail from now on, as a sandbox that is entered late does. Only for a child of fork.
static bool refuse_heavy_fences(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static sem_t has_forwarded, may_end;

static void *forward_and_wait(void *context) {
  EXPECT(stage_forward(context) == FWD_OK);
  sem_post(&has_forwarded);
  sem_wait(&may_end);
  return NULL;
}

/// Returns how many objects wait after a subscription has come and gone. They wait only if the change ran a heavy fence,
/// which fails.
static size_t waiting_after_change(stage *self) {
  come_and_go(self, 1, NULL);
  return fwd_domain_waiting(&self->list->domain);
}

/// A change runs a heavy fence if another thread has read the list, and only then.
static void change_without_heavy_fences(void) {
  check_begin("a change runs a heavy fence only if another thread has read the list");
  fwd_thread_set_up();
  if (fwd_light_fence_is_full) return;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    if (!refuse_heavy_fences()) _exit(77);
    stage *unread = stage_create(), *own = stage_create(), *others = stage_create();
    // A fan-out does not read a list without subscribers.
    NEED(stage_join(own, FWD_HOLD_NONE, NULL, NULL, NULL, FWD_LIST_END));
    NEED(stage_join(others, FWD_HOLD_NONE, NULL, NULL, NULL, FWD_LIST_END));
    sem_init(&has_forwarded, 0, 0), sem_init(&may_end, 0, 0);
    // A second thread has hazard pointers, so a heavy fence is a system call.
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, forward_and_wait, others) == 0);
    sem_wait(&has_forwarded);
    EXPECT(stage_forward(own) == FWD_OK);
    bool is_right = waiting_after_change(unread) == 0 && waiting_after_change(own) == 0 &&
                    waiting_after_change(others) > 0;
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  NEED(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
  EXPECT(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
  if (WEXITSTATUS(status) == 77) printf("not tested here: heavy fences refused (no seccomp)\n");
}
#endif

// MARK: Thread exit

static pthread_key_t late_key;
static stage *shared;

/// What the handler of a later key does with the batch of its thread.
typedef struct leaving {
  fwd_batch *batch;
  atomic_int step;
  unsigned rounds;
} leaving;

static void *read_beside(void *context) {
  leaving *self = context;
  fwd_batch *batch;
  NEED(fwd_batch_begin(shared->proxy, &batch, NULL) == FWD_OK);
  atomic_store(&self->step, 1);
  while (atomic_load(&self->step) != 2) sched_yield();
  // The other batch has ended; this one has not.
  EXPECT(fwd_domain_is_read(&shared->list->domain));
  fwd_batch_end(batch);
  return NULL;
}

/// Ends the thread's batch, after the library's own handler has run and while another thread begins one.
static void end_late(void *context) {
  leaving *self = context;
  pthread_t reader;
  NEED(pthread_create(&reader, NULL, read_beside, self) == 0);
  while (atomic_load(&self->step) != 1) sched_yield();
  EXPECT(fwd_batch_forward(self->batch, stage_note, NULL, 0, NULL, 0) == FWD_OK);
  fwd_batch_end(self->batch);
  atomic_store(&self->step, 2);
  pthread_join(reader, NULL);
}

static void *begin_and_exit(void *context) {
  leaving *self = context;
  NEED(fwd_batch_begin(shared->proxy, &self->batch, NULL) == FWD_OK);
  NEED(pthread_setspecific(late_key, self) == 0);
  return NULL;
}

static void run_thread(void *(*body)(void *), void *context) {
  pthread_t thread;
  NEED(pthread_create(&thread, NULL, body, context) == 0);
  pthread_join(thread, NULL);
}

static void end_batch_in_handler(void) {
  check_begin("a thread's exit handler ends a batch while another thread begins one");
  NEED(pthread_key_create(&late_key, end_late) == 0);
  for (unsigned i = 0; i < 20; i++) {
    leaving self = {.rounds = 0};
    run_thread(begin_and_exit, &self);
    EXPECT(!fwd_domain_is_read(&shared->list->domain));
  }
  NEED(pthread_key_delete(late_key) == 0);
}

/// Forks after the library's own handler has run: the child's batch still keeps what it reads.
static void fork_late(void *context) {
  leaving *self = context;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(fwd_domain_is_read(&shared->list->domain) ? 0 : 1);
  int status = 0;
  EXPECT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  fwd_batch_end(self->batch);
}

static void fork_in_handler(void) {
  check_begin("a thread's exit handler forks while it has a batch");
  NEED(pthread_key_create(&late_key, fork_late) == 0);
  leaving self = {.rounds = 0};
  run_thread(begin_and_exit, &self);
  EXPECT(!fwd_domain_is_read(&shared->list->domain));
  NEED(pthread_key_delete(late_key) == 0);
}

static void *begin_only(void *context) {
  leaving *self = context;
  NEED(fwd_batch_begin(shared->proxy, &self->batch, NULL) == FWD_OK);
  return NULL;
}

static void end_batch_elsewhere(void) {
  check_begin("a batch outlives its thread and is ended on another");
  atomic_size_t destroyed = 0;
  fwd_subscription made = stage_join(shared, FWD_HOLD_NONE, NULL, &destroyed, NULL, FWD_LIST_END);
  leaving self = {.rounds = 0};
  run_thread(begin_only, &self);
  size_t blocks = count_blocks();
  for (int i = 0; i < 100; i++) {
    leaving other = {.rounds = 0};
    run_thread(begin_only, &other);
    fwd_batch_end(other.batch);
  }
  // The threads' blocks are used again, also with a hazard pointer of a batch.
  EXPECT(count_blocks() == blocks);
  EXPECT(fwd_domain_is_read(&shared->list->domain));
  EXPECT(stage_leave(shared, made));
  EXPECT(fwd_domain_waiting(&shared->list->domain) > 0);
  EXPECT(fwd_batch_forward(self.batch, stage_note, NULL, 0, NULL, 0) == FWD_OK);
  fwd_batch_end(self.batch);
  EXPECT(!fwd_domain_is_read(&shared->list->domain) && fwd_domain_waiting(&shared->list->domain) == 0);
}

// MARK: Heirs of blocks

enum { inherited_count = FWD_HAZARDS_PER_BLOCK };

/// Batches that a thread has begun and left behind, with their hazard pointers in its second block. Two later threads take
/// its blocks.
static struct {
  stage *lists[inherited_count];
  fwd_batch *batches[inherited_count];
  fwd_subscription members[inherited_count];
  /// How many of the two threads have come to a batch.
  atomic_int met[inherited_count];
  /// How many have a block.
  atomic_int ready;
} inherited;

static void *begin_inherited(void *context) {
  fwd_batch **others = context;
  // They take the thread's first block.
  for (size_t i = 0; i < inherited_count; i++) NEED(fwd_batch_begin(shared->proxy, &others[i], NULL) == FWD_OK);
  for (size_t i = 0; i < inherited_count; i++) {
    NEED(fwd_batch_begin(inherited.lists[i]->proxy, &inherited.batches[i], NULL) == FWD_OK);
  }
  return NULL;
}

static void wait_for(atomic_int *count, int least) {
  while (atomic_load(count) < least) sched_yield();
}

/// Changes the lists if the thread passes for their reader, or ends the batches if it has their hazard pointers.
static void *use_inherited(void *context) {
  (void)context;
  // Stores to lines that another thread has keep what is stored after them from being seen at once.
  static _Alignas(64) volatile char lines[40][64];
  NEED(fwd_thread_add_block());
  bool is_reader = atomic_load(&inherited.lists[0]->list->domain.readers) == fwd_thread_blocks->number;
  bool is_owner = fwd_thread_owns(inherited.batches[0]->guard.hazard);
  atomic_fetch_add(&inherited.ready, 1);
  wait_for(&inherited.ready, 2);
  for (size_t i = 0; i < inherited_count; i++) {
    atomic_fetch_add(&inherited.met[i], 1);
    while (atomic_load(&inherited.met[i]) < 2) continue;
    if (is_reader) EXPECT(stage_leave(inherited.lists[i], inherited.members[i]));
    for (size_t line = 0; line < 40; line++) lines[line][0]++;
    if (is_owner) fwd_batch_end(inherited.batches[i]);
  }
  return (void *)(uintptr_t)(is_reader != is_owner);
}

/// A change skips the heavy fence, since its thread has the number of the list's only reader. Meanwhile another thread ends
/// that reader's batch. One of them must free what the change has retired.
static void end_beside_an_heir(void) {
  check_begin("a batch ends beside a change that skips the heavy fence");
  size_t apart = 0;
  for (int round = 0; round < 2000; round++) {
    fwd_batch *others[inherited_count];
    atomic_store(&inherited.ready, 0);
    for (size_t i = 0; i < inherited_count; i++) {
      inherited.lists[i] = stage_create();
      inherited.members[i] = stage_join(inherited.lists[i], FWD_HOLD_NONE, NULL, NULL, NULL, FWD_LIST_END);
      atomic_store(&inherited.met[i], 0);
    }
    run_thread(begin_inherited, others);
    for (size_t i = 0; i < inherited_count; i++) fwd_batch_end(others[i]);
    pthread_t first, second;
    void *is_first = NULL, *is_second = NULL;
    NEED(pthread_create(&first, NULL, use_inherited, NULL) == 0);
    wait_for(&inherited.ready, 1);
    NEED(pthread_create(&second, NULL, use_inherited, NULL) == 0);
    pthread_join(first, &is_first);
    pthread_join(second, &is_second);
    apart += is_first && is_second;
    for (size_t i = 0; i < inherited_count; i++) {
      EXPECT(fwd_domain_waiting(&inherited.lists[i]->list->domain) == 0);
      stage_destroy(inherited.lists[i]);
    }
  }
  EXPECT(apart > 0);
}

/// Everything that the C interface offers, at once.
static void use_everything(stage *self) {
  atomic_size_t deliveries = 0, destroyed = 0;
  fwd_subscription made = stage_join(self, FWD_HOLD_NONE, NULL, &deliveries, NULL, FWD_LIST_END);
  fwd_subscription strong = stage_join(self, FWD_HOLD_STRONG, stage_owner, NULL, NULL, 0);
  EXPECT(made && strong && stage_forward(self) == FWD_OK && atomic_load(&deliveries) >= 1);
  fwd_batch *batch;
  EXPECT(fwd_batch_begin(self->proxy, &batch, NULL) == FWD_OK);
  EXPECT(fwd_batch_forward(batch, stage_note, NULL, 0, NULL, 0) == FWD_OK && atomic_load(&deliveries) >= 2);
  EXPECT(stage_leave(self, made) && stage_leave(self, strong));
  fwd_batch_end(batch);
  fwd_signature *signature;
  EXPECT(fwd_signature_create("i^vi", 4, &signature, NULL) == FWD_OK);
  void *context = &destroyed;
  int value = 41, result = 0;
  void *arguments[] = {&context, &value};
  EXPECT(fwd_call(signature, (void (*)(void))add_one, arguments, &result) == FWD_OK && result == 42);
  fwd_closure *closure;
  EXPECT(fwd_closure_create(signature, handle_add, NULL, &closure, NULL) == FWD_OK);
  EXPECT(((int (*)(void *, int))fwd_closure_function(closure))(context, 41) == 42);
  fwd_closure_destroy(closure);
  fwd_signature_release(signature);
  EXPECT(fwd_selector_register("note") == stage_note);
}

/// The sanitizers end a thread for themselves in the last round.
enum { used_rounds = FWD_IS_SANITIZED ? 2 : 4 };

/// In each round of exit handlers, before and behind the library's own.
static void use_in_handler(void *context) {
  leaving *self = context;
  use_everything(shared);
  if (++self->rounds < used_rounds) NEED(pthread_setspecific(late_key, self) == 0);
}

static void *use_and_exit(void *context) {
  use_everything(shared);
  NEED(pthread_setspecific(late_key, context) == 0);
  return NULL;
}

static void use_in_handlers(void) {
  check_begin("exit handlers use everything in each of their rounds");
  NEED(pthread_key_create(&late_key, use_in_handler) == 0);
  leaving self = {.rounds = 0};
  run_thread(use_and_exit, &self);
  size_t before = count_blocks();
  for (unsigned i = 0; i < 200; i++) {
    self.rounds = 0;
    run_thread(use_and_exit, &self);
    EXPECT(self.rounds == used_rounds);
  }
  EXPECT(count_blocks() == before);
  NEED(pthread_key_delete(late_key) == 0);
}

/// In the last round only: the library's own handler, which ran in the first, will not run again.
static void use_in_last_handler(void *context) {
  leaving *self = context;
  if (++self->rounds == used_rounds) {
    use_everything(shared);
  } else {
    NEED(pthread_setspecific(late_key, self) == 0);
  }
}

static void use_in_last_handlers(void) {
  check_begin("the last exit handler uses everything, and no memory is lost");
  NEED(pthread_key_create(&late_key, use_in_last_handler) == 0);
  size_t before = count_blocks();
  for (unsigned i = 0; i < 200; i++) {
    leaving self = {.rounds = 0};
    run_thread(use_and_exit, &self);
    EXPECT(self.rounds == used_rounds);
  }
  EXPECT(count_blocks() == before);
  NEED(pthread_key_delete(late_key) == 0);
}

// MARK: -

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  keep_apart();
  read_many_times();
  recur();
  leave_in_any_order();
  share_to_the_limit();
  share_with_few();
  use_up_in_batch();
  use_up_and_insert();
  note_readers();
  begin_beside_a_writer(false);
  begin_beside_a_writer(true);
#if defined(__linux__)
  change_without_heavy_fences();
#endif
  shared = stage_create();
  end_beside_an_heir();
  end_batch_in_handler();
  fork_in_handler();
  end_batch_elsewhere();
  use_in_handlers();
  use_in_last_handlers();
  stage_destroy(shared);
  swift_release(stage_owner);
  check_begin("what is left at the end");
  EXPECT(atomic_load(&objects_allocated) == 0);
  return check_finish();
}
