// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Eight threads that create, share, call and drop signatures, closures, selectors and subscriptions, for the
/// sanitizers to watch: threads [ROUNDS [SEED]]. What the contract forbids is not done: a closure is called
/// only by those who know that it has not been destroyed yet, though it may be destroyed while they call it.

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "fwd_closure.h"
#include "fwd_fan_out.h"
#include "fwd_signature.h"

enum { thread_count = 8, shared_count = 16 };

void __real_free(void *block);

/// Writes over what is freed (run.sh links with `--wrap`): clang's thread sanitizer does not tell that a block
/// was freed without an order after another thread's reads of it, nor after a `memset`, but of single writes it
/// does. And without a sanitizer whoever uses the block afterwards finds rubbish.
void __wrap_free(void *block) {
  volatile uint64_t *words = block;
  size_t count = block ? malloc_usable_size(block) / sizeof *words : 0;
  for (size_t i = 0; i < count; i++) words[i] = 0xddddddddddddddddu;
  __real_free(block);
}

static unsigned rounds = 10000;
static uint64_t seed;

typedef struct worker {
  pthread_t thread;
  uint64_t random;
  unsigned number;
} worker;

static uint64_t next_random(worker *self) {
  self->random ^= self->random << 13;
  self->random ^= self->random >> 7;
  self->random ^= self->random << 17;
  return self->random >> 11;
}

/// What threads do, each a test.
typedef struct activity {
  void (*act)(worker *self);
  /// How often it is chosen, beside the others.
  unsigned weight;
  check_case test;
} activity;

/// What is freed when it should be, and found out if it is used afterwards.
typedef struct token {
  uint64_t alive;
  atomic_size_t uses;
} token;
static const uint64_t is_alive = 0xa11feba11feba11f;
static atomic_long live_tokens;

static token *token_create(void) {
  token *made = malloc(sizeof *made);
  NEED(made);
  made->alive = is_alive;
  atomic_init(&made->uses, 0);
  atomic_fetch_add(&live_tokens, 1);
  return made;
}
static void token_use(token *self) {
  EXPECT(self->alive == is_alive);
  atomic_fetch_add_explicit(&self->uses, 1, memory_order_relaxed);
}
static void token_destroy(void *context) {
  token *self = context;
  EXPECT(self->alive == is_alive);
  self->alive = 0;
  free(self);
  atomic_fetch_sub(&live_tokens, 1);
}

// MARK: Signatures

typedef struct triple {
  long long first;
  double second;
  int third;
} triple;

static long long add_all(void *context, int left, double right, triple value) {
  token_use(context);
  return left + (long long)right + value.first + (long long)value.second + value.third;
}

/// More texts of one meaning than the library keeps signatures, so that they push one another out.
static fwd_signature *make_signature(uint64_t random) {
  char text[64];
  int length = snprintf(text, sizeof text, "q%u^vid{T=qdi}", (unsigned)(random % 700));
  fwd_signature *signature = NULL;
  NEED(fwd_signature_create(text, (size_t)length, &signature, NULL) == FWD_OK);
  return signature;
}

static void call_add(const fwd_signature *signature, void (*function)(void), token *context, int number) {
  double right = number + 1;
  triple value = {number + 2, number + 3, number + 4};
  void *arguments[] = {&context, &number, &right, &value};
  long long result = 0;
  EXPECT(fwd_call(signature, function, arguments, &result) == FWD_OK);
  EXPECT(result == 5LL * number + 10);
}

static struct {
  pthread_mutex_t lock;
  fwd_signature *signature;
} shared_signatures[shared_count];

static fwd_signature *take_signature(worker *self) {
  size_t place = next_random(self) % shared_count;
  pthread_mutex_lock(&shared_signatures[place].lock);
  fwd_signature *signature = fwd_signature_retain(shared_signatures[place].signature);
  pthread_mutex_unlock(&shared_signatures[place].lock);
  return signature;
}

static void replace_signature(worker *self) {
  fwd_signature *made = make_signature(next_random(self));
  size_t place = next_random(self) % shared_count;
  pthread_mutex_lock(&shared_signatures[place].lock);
  fwd_signature *old = shared_signatures[place].signature;
  shared_signatures[place].signature = made;
  pthread_mutex_unlock(&shared_signatures[place].lock);
  fwd_signature_destroy(old);
}

static void use_signature(worker *self) {
  fwd_signature *signature = take_signature(self);
  token *context = token_create();
  fwd_layout layout;
  EXPECT(fwd_signature_argument_count(signature) == 4 && fwd_signature_frame_size(signature) == 40);
  EXPECT(fwd_signature_argument(signature, 3, &layout) == FWD_OK && layout.offset == 16 && layout.size == 24);
  call_add(signature, (void (*)(void))add_all, context, (int)(next_random(self) % 1000));
  fwd_signature *dropped = NULL;
  EXPECT(fwd_signature_drop_hidden(signature, &dropped, NULL) == FWD_OK);
  EXPECT(fwd_signature_argument_count(dropped) == 3);
  EXPECT(fwd_signature_compatible(signature, signature) && !fwd_signature_equal(signature, dropped));
  fwd_signature_destroy(dropped);
  fwd_signature_destroy(signature);
  token_destroy(context);
}

/// Each thread sees its own errors.
static void fail(worker *self) {
  char text[32], expected[32];
  int length = snprintf(text, sizeof text, "{Thread%u=", self->number);
  snprintf(expected, sizeof expected, "{Thread%u=", self->number);
  fwd_signature *signature = NULL;
  fwd_error error;
  EXPECT(fwd_signature_create(text, (size_t)length, &signature, &error) == FWD_MALFORMED);
  sched_yield();
  EXPECT(strstr(fwd_error_message(), expected) && strcmp(error.message, fwd_error_message()) == 0);
}

// MARK: Closures

static void handle_add(void *context, void *const *arguments, void *result) {
  token *owner = context, *passed;
  int left;
  double right;
  triple value;
  memcpy(&passed, arguments[0], sizeof passed);
  memcpy(&left, arguments[1], sizeof left);
  memcpy(&right, arguments[2], sizeof right);
  memcpy(&value, arguments[3], sizeof value);
  token_use(owner);
  long long sum = add_all(passed, left, right, value);
  memcpy(result, &sum, sizeof sum);
}

/// A closure that several threads know: the last of them destroys it.
typedef struct shared_closure {
  fwd_closure *closure;
  fwd_signature *signature;
  atomic_int holders;
} shared_closure;

static struct {
  pthread_mutex_t lock;
  shared_closure *closure;
} shared_closures[shared_count];

static shared_closure *make_closure(worker *self) {
  shared_closure *made = malloc(sizeof *made);
  NEED(made);
  made->signature = take_signature(self);
  atomic_init(&made->holders, 1);
  NEED(fwd_closure_create_owning(made->signature, handle_add, token_create(), token_destroy, &made->closure, NULL) ==
       FWD_OK);
  return made;
}

static void drop_closure(shared_closure *shared) {
  if (atomic_fetch_sub(&shared->holders, 1) != 1) return;
  fwd_closure_destroy(shared->closure);
  fwd_signature_destroy(shared->signature);
  free(shared);
}

static void replace_closure(worker *self) {
  shared_closure *made = make_closure(self);
  size_t place = next_random(self) % shared_count;
  pthread_mutex_lock(&shared_closures[place].lock);
  shared_closure *old = shared_closures[place].closure;
  shared_closures[place].closure = made;
  pthread_mutex_unlock(&shared_closures[place].lock);
  drop_closure(old);
}

static void use_closure(worker *self) {
  size_t place = next_random(self) % shared_count;
  pthread_mutex_lock(&shared_closures[place].lock);
  shared_closure *shared = shared_closures[place].closure;
  atomic_fetch_add(&shared->holders, 1);
  pthread_mutex_unlock(&shared_closures[place].lock);
  int number = (int)(next_random(self) % 1000);
  token *context = token_create();
  void (*function)(void) = fwd_closure_function(shared->closure);
  call_add(shared->signature, function, context, number);
  long long (*add)(void *, int, double, triple) = (long long (*)(void *, int, double, triple))function;
  EXPECT(add(context, 1, 2, (triple){3, 4, 5}) == 15);
  EXPECT(atomic_load(&context->uses) == 2);
  token_destroy(context);
  drop_closure(shared);
}

/// A closure that ends itself, and one that another thread ends, while they run.
typedef struct ending_closure {
  fwd_closure *closure;
  token *owned;
  atomic_int entered, destroyed, released;
} ending_closure;

static void release_ending(void *context) {
  ending_closure *ending = context;
  token_destroy(ending->owned);
  atomic_fetch_add(&ending->released, 1);
}

static ending_closure *make_ending(fwd_closure_handler handler) {
  // Not on the stack: a release that comes too late is to be a failure of this test, not of the next.
  ending_closure *made = malloc(sizeof *made);
  NEED(made);
  *made = (ending_closure){.owned = token_create()};
  fwd_signature *signature;
  NEED(fwd_signature_create("v", 1, &signature, NULL) == FWD_OK);
  NEED(fwd_closure_create_owning(signature, handler, made, release_ending, &made->closure, NULL) == FWD_OK);
  fwd_signature_destroy(signature);
  return made;
}

/// After the last call and the destruction: the owner has been released by one of the two.
static void end_ending(ending_closure *ending) {
  EXPECT(atomic_load(&ending->released) == 1);
  while (!atomic_load(&ending->released)) sched_yield();
  free(ending);
}

static void end_itself(void *context, void *const *arguments, void *result) {
  (void)arguments, (void)result;
  ending_closure *ending = context;
  fwd_closure_destroy(ending->closure);
  token_use(ending->owned);
  EXPECT(atomic_load(&ending->released) == 0);
}

static void destroy_inside(worker *self) {
  (void)self;
  ending_closure *ending = make_ending(end_itself);
  fwd_closure_function(ending->closure)();
  end_ending(ending);
}

static void wait_for_end(void *context, void *const *arguments, void *result) {
  (void)arguments, (void)result;
  ending_closure *ending = context;
  atomic_store(&ending->entered, 1);
  while (!atomic_load(&ending->destroyed)) sched_yield();
  // Destroyed, but this call still has what it needs.
  token_use(ending->owned);
  EXPECT(atomic_load(&ending->released) == 0);
}

static void *destroy_when_entered(void *context) {
  ending_closure *ending = context;
  while (!atomic_load(&ending->entered)) sched_yield();
  fwd_closure_destroy(ending->closure);
  atomic_store(&ending->destroyed, 1);
  return NULL;
}

static void destroy_outside(worker *self) {
  (void)self;
  ending_closure *ending = make_ending(wait_for_end);
  pthread_t destroyer;
  NEED(pthread_create(&destroyer, NULL, destroy_when_entered, ending) == 0);
  fwd_closure_function(ending->closure)();
  pthread_join(destroyer, NULL);
  end_ending(ending);
}

/// As long as nobody calls it, it is released when it is destroyed.
static void never_called(void *context, void *const *arguments, void *result) {
  (void)context, (void)arguments, (void)result;
  EXPECT(!"a call");
}
static void destroy_uncalled(worker *self) {
  (void)self;
  ending_closure *ending = make_ending(never_called);
  fwd_closure_destroy(ending->closure);
  end_ending(ending);
}

/// The two ways of calls and of closures stand side by side.
static void switch_ways(worker *self) { fwd_use_libffi(next_random(self) % 2); }

// MARK: Selectors

enum { selector_count = 400 };
static _Atomic(fwd_selector) known_selectors[selector_count];

static void use_selector(worker *self) {
  size_t index = next_random(self) % selector_count;
  char name[32];
  snprintf(name, sizeof name, "selector:%zu:", index);
  fwd_selector found = fwd_selector_find(name), selector = fwd_selector_register(name), known = NULL;
  EXPECT(selector && (!found || found == selector));
  EXPECT(strcmp(fwd_selector_name(selector), name) == 0);
  if (!atomic_compare_exchange_strong(&known_selectors[index], &known, selector)) EXPECT(known == selector);
}

// MARK: A proxy

static fwd_proxy *proxy;
static fwd_selector add_selector, note_selector;
/// The list has one writer at a time; readers take no part in it.
static pthread_mutex_t writer_lock = PTHREAD_MUTEX_INITIALIZER;
static fwd_subscription next_identifier = 1;
static char proxy_owner;

static void report(void *owner, fwd_selector selector, const fwd_error *error) {
  (void)owner, (void)selector, (void)error;
  EXPECT(!"no report");
}
static void met_the_dead(void *owner) { (void)owner; }

static int subscriber_add(void *receiver, fwd_selector selector, int left, int right) {
  token_use(receiver);
  EXPECT(selector == add_selector);
  return left + right;
}
static void subscriber_note(void *receiver, fwd_selector selector) {
  token_use(receiver);
  EXPECT(selector == note_selector);
}

static fwd_record *make_record(void) {
  fwd_dispatch_table *table = fwd_dispatch_table_create(2, NULL, NULL);
  NEED(table);
  fwd_dispatch_table_entry(table, 0)->function = (void (*)(void))subscriber_add;
  fwd_dispatch_table_entry(table, 1)->function = (void (*)(void))subscriber_note;
  fwd_record_parts parts = {.identifier = next_identifier++, .receiver = token_create(), .destroy = token_destroy};
  fwd_record *record = fwd_record_create(&parts, table);
  NEED(record);
  return record;
}

static void change_list(worker *self) {
  fwd_subscriber_list *list = fwd_proxy_core_list(proxy);
  pthread_mutex_lock(&writer_lock);
  size_t count = fwd_list_count(list);
  uint64_t random = next_random(self);
  // One stays, so that there is always an answer.
  if (count < 4 || (count < 40 && random % 2)) {
    fwd_record *record = make_record();
    EXPECT(fwd_list_insert(list, record, random % 3 ? count : random % (count + 1)));
    fwd_record_release(record);
  } else if (random % 5 == 0) {
    EXPECT(fwd_list_move(list, 1 + random % (count - 1), 1 + random / 64 % (count - 1)));
  } else {
    fwd_list_remove(list, 1 + random % (count - 1));
  }
  pthread_mutex_unlock(&writer_lock);
}

static void forward(worker *self) {
  struct {
    int left, right;
  } frame = {(int)(next_random(self) % 1000), 7};
  int sum = 0;
  EXPECT(fwd_forward(proxy, add_selector, &frame, sizeof frame, &sum, sizeof sum) == FWD_OK);
  EXPECT(sum == frame.left + 7);
  EXPECT(fwd_forward_named(proxy, "note", NULL, 0, NULL, 0) == FWD_OK);
  EXPECT(fwd_proxy_responds(proxy, note_selector) && fwd_proxy_subscriber_count(proxy) > 0);
}

static void forward_by_function(worker *self) {
  fwd_closure *closure;
  token *owner = token_create();
  const fwd_proxy_method *method = fwd_proxy_core_method(proxy, add_selector);
  NEED(fwd_proxy_closure_create(proxy, method, FWD_FUNCTION_ARGUMENTS, token_destroy, owner, &closure, NULL) == FWD_OK);
  int (*add)(int, int) = (int (*)(int, int))fwd_closure_function(closure);
  int left = (int)(next_random(self) % 1000);
  EXPECT(add(left, 8) == left + 8);
  fwd_closure_destroy(closure);
}

// MARK: Alone with the library

// What follows takes no lock between threads, and no counter of this file's: what the library orders itself is
// all the order there is. Among the activities above, the order that their locks make would hide that it did not.

enum { alone_count = 300 };

typedef struct shared_object {
  fwd_signature *signature;
  fwd_encoding *encoding;
  fwd_dispatch_table *table;
} shared_object;
static shared_object objects[alone_count];
static pthread_barrier_t start;

static void release_table_owner(void *owner) { free(owner); }

/// Signatures that the library keeps no reference of: their text, by a long frame size, is too long for its cache.
static fwd_signature *make_long_signature(void) {
  char text[4096];
  memset(text, '7', sizeof text);
  text[0] = 'i';
  memcpy(text + sizeof text - 4, "@:ii", 4);
  fwd_signature *signature;
  NEED(fwd_signature_create(text, sizeof text, &signature, NULL) == FWD_OK);
  return signature;
}

/// One reference for each thread.
static void make_objects(void) {
  for (size_t i = 0; i < alone_count; i++) {
    shared_object *object = &objects[i];
    object->signature = make_long_signature();
    NEED(fwd_encoding_create("{S=i^{T=d}}", 11, FWD_FORM_TYPE, &object->encoding, NULL) == FWD_OK);
    void *owner = malloc(1);
    NEED(owner);
    object->table = fwd_dispatch_table_create(2, owner, release_table_owner);
    NEED(object->table);
    fwd_dispatch_table_entry(object->table, 1)->context = owner;
    for (unsigned t = 1; t < thread_count; t++) {
      fwd_signature_retain(object->signature);
      fwd_encoding_retain(object->encoding);
      fwd_dispatch_table_retain(object->table);
    }
  }
}

static int add_two(void *receiver, fwd_selector selector, int left, int right) {
  (void)receiver, (void)selector;
  return left + right;
}

// Each kind by itself and in the same order, or else the order that one makes would hide that another does not.
// Each uses all objects and gives them up; whoever is the last one frees.

static void drop_signatures(void) {
  for (size_t i = 0; i < alone_count; i++) {
    fwd_signature *signature = objects[i].signature;
    int left = 2, right = (int)i, sum = 0;
    void *receiver = NULL, *selector = NULL, *arguments[] = {&receiver, &selector, &left, &right};
    EXPECT(fwd_call(signature, (void (*)(void))add_two, arguments, &sum) == FWD_OK && sum == 2 + right);
    EXPECT(fwd_signature_hash(signature) != 0);
    fwd_signature_destroy(signature);
  }
}

static void drop_encodings(void) {
  for (size_t i = 0; i < alone_count; i++) {
    EXPECT(fwd_encoding_equal(objects[i].encoding, 0, objects[i].encoding, 0));
    fwd_encoding_release(objects[i].encoding);
  }
}

static void drop_tables(void) {
  for (size_t i = 0; i < alone_count; i++) {
    EXPECT(fwd_dispatch_table_entry(objects[i].table, 1)->context != NULL);
    fwd_dispatch_table_release(objects[i].table);
  }
}

/// Finds and registers names that are new to all.
static void register_new(void) {
  for (unsigned i = 0; i < 10 * alone_count; i++) {
    char name[32];
    snprintf(name, sizeof name, "new:%u", i);
    fwd_selector selector = fwd_selector_find(name);
    if (!selector) selector = fwd_selector_register(name);
    EXPECT(selector && strcmp(fwd_selector_name(selector), name) == 0);
  }
}

static void (*alone)(void);
static void *work_alone(void *context) {
  check_current = context;
  pthread_barrier_wait(&start);
  alone();
  return NULL;
}

static void run_alone(const char *name, void (*run)(void)) {
  check_case test = {.name = name};
  alone = run;
  pthread_t threads[thread_count];
  NEED(pthread_barrier_init(&start, NULL, thread_count) == 0);
  for (size_t i = 0; i < thread_count; i++) NEED(pthread_create(&threads[i], NULL, work_alone, &test) == 0);
  for (size_t i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&start);
  check_count(&test);
}

// MARK: The threads

static activity activities[] = {
    {replace_signature, 8, {.name = "replacing a shared signature"}},
    {use_signature, 8, {.name = "calling by a shared signature"}},
    {fail, 4, {.name = "failing, with a message of one's own"}},
    {replace_closure, 4, {.name = "replacing a shared closure"}},
    {use_closure, 8, {.name = "calling a shared closure"}},
    {destroy_inside, 4, {.name = "a closure that destroys itself"}},
    // With a thread of its own each time, so not as often.
    {destroy_outside, 1, {.name = "destroying a closure during its call"}},
    {destroy_uncalled, 4, {.name = "destroying a closure that nobody calls"}},
    {switch_ways, 1, {.name = "switching between libffi and plans"}},
    {use_selector, 4, {.name = "registering selectors"}},
    {change_list, 8, {.name = "subscribing and unsubscribing"}},
    {forward, 8, {.name = "forwarding"}},
    {forward_by_function, 4, {.name = "forwarding by a function pointer"}},
};
enum { activity_count = sizeof activities / sizeof *activities };

static void *work(void *context) {
  worker *self = context;
  unsigned total = 0;
  for (size_t i = 0; i < activity_count; i++) total += activities[i].weight;
  for (unsigned round = 0; round < rounds; round++) {
    unsigned choice = (unsigned)(next_random(self) % total);
    activity *chosen = activities;
    for (; choice >= chosen->weight; chosen++) choice -= chosen->weight;
    check_current = &chosen->test;
    chosen->act(self);
  }
  return NULL;
}

static void set_up(worker *self) {
  for (size_t i = 0; i < shared_count; i++) {
    pthread_mutex_init(&shared_signatures[i].lock, NULL);
    pthread_mutex_init(&shared_closures[i].lock, NULL);
    shared_signatures[i].signature = make_signature(i);
  }
  for (size_t i = 0; i < shared_count; i++) shared_closures[i].closure = make_closure(self);
  static const fwd_proxy_operations operations = {report, met_the_dead};
  add_selector = fwd_selector_register("add:to:");
  note_selector = fwd_selector_register("note");
  fwd_proxy_method methods[2] = {{.selector = add_selector}, {.selector = note_selector}};
  NEED(fwd_signature_create("i@:ii", 5, &methods[0].signature, NULL) == FWD_OK);
  NEED(fwd_signature_create("v@:", 3, &methods[1].signature, NULL) == FWD_OK);
  proxy = fwd_proxy_core_create(methods, 2, false, &proxy_owner, &operations);
  NEED(proxy);
  for (size_t i = 0; i < 2; i++) fwd_signature_destroy(methods[i].signature);
  change_list(self);
}

static void tear_down(void) {
  for (size_t i = 0; i < shared_count; i++) {
    drop_closure(shared_closures[i].closure);
    fwd_signature_destroy(shared_signatures[i].signature);
  }
  fwd_proxy_core_destroy(proxy);
}

static void tell_of_hanging(int signal_number) {
  (void)signal_number;
  static const char words[] = "does not end\n0 passed, 1 failed\n";
  (void)!write(STDOUT_FILENO, words, sizeof words - 1);
  _exit(1);
}

int main(int count, char **values) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGALRM, tell_of_hanging);
  alarm(120);
  if (count > 1) rounds = (unsigned)strtoul(values[1], NULL, 10);
  seed = count > 2 ? strtoull(values[2], NULL, 10) : (uint64_t)time(NULL);
  printf("%u rounds, seed %llu\n", rounds, (unsigned long long)seed);
  worker main_worker = {.random = seed * 2 + 1};
  set_up(&main_worker);
  worker workers[thread_count];
  for (unsigned i = 0; i < thread_count; i++) {
    // Spread, since neighbouring seeds make similar beginnings.
    workers[i] = (worker){.random = (seed * thread_count + i) * 0x9E3779B97F4A7C15u | 1, .number = i};
    NEED(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  for (unsigned i = 0; i < thread_count; i++) pthread_join(workers[i].thread, NULL);
  for (size_t i = 0; i < activity_count; i++) check_count(&activities[i].test);
  make_objects();
  run_alone("signatures that the last of several threads frees", drop_signatures);
  run_alone("encodings that the last of several threads frees", drop_encodings);
  run_alone("dispatch tables that the last of several threads frees", drop_tables);
  run_alone("finding what another thread registers", register_new);
  check_begin("what is left at the end");
  tear_down();
  // Whatever was owned has been released, once.
  EXPECT(atomic_load(&live_tokens) == 0);
  return check_finish();
}
