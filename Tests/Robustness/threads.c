// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Eight threads create, share, call and release signatures, closures, selectors and subscriptions, under a sanitizer:
/// `threads [ROUNDS [SEED]]`. The threads keep to the contract of the library. In particular, a thread calls a closure
/// only if it knows that the closure has not been destroyed before the call. The closure may be destroyed during the
/// call.

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
#include "objects.h"
#include "call/signature.h"
#include "members/subscriber_list.h"
#include "proxies.h"

enum { thread_count = 8, shared_count = 16 };

void __real_free(void *block);

/// Overwrites each block before it is freed (run.sh links with `--wrap`). clang's thread sanitizer reports neither a
/// free nor a `memset` that races with another thread's earlier read of the block, but it reports single writes that
/// do. Without a sanitizer, code that uses the block after the free finds invalid contents.
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

/// Something that threads do. Each activity is a test.
typedef struct activity {
  void (*act)(worker *self);
  /// How often threads choose it, relative to the others.
  unsigned weight;
  check_case test;
} activity;

/// An object that counts its uses and detects uses after its destruction.
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

/// Makes one of 700 signatures that differ only in the frame size. The library's cache is smaller, so they evict one
/// another.
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
  fwd_signature_release(old);
}

static void use_signature(worker *self) {
  fwd_signature *signature = take_signature(self);
  token *context = token_create();
  fwd_layout layout;
  EXPECT(fwd_signature_argument_count(signature) == 4 && fwd_signature_frame_size(signature) == 40);
  EXPECT(fwd_signature_argument(signature, 3, &layout) == FWD_OK && layout.offset == 16 && layout.size == 24);
  call_add(signature, (void (*)(void))add_all, context, (int)(next_random(self) % 1000));
  fwd_signature *dropped = NULL;
  EXPECT(fwd_signature_replace_hidden(signature, SIZE_MAX, &dropped, NULL) == FWD_OK);
  EXPECT(fwd_signature_argument_count(dropped) == 3);
  EXPECT(fwd_signature_compatible(signature, signature) && !fwd_signature_equal(signature, dropped));
  fwd_signature_release(dropped);
  fwd_signature_release(signature);
  token_destroy(context);
}

/// Checks that each thread has its own last error.
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

/// A closure that several threads share. The last holder destroys it.
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
  fwd_signature_release(shared->signature);
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

/// A closure that is destroyed during its own call, by its handler or by another thread.
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
  // On the heap, so that a release which comes too late fails this test and not the next one.
  ending_closure *made = malloc(sizeof *made);
  NEED(made);
  *made = (ending_closure){.owned = token_create()};
  fwd_signature *signature;
  NEED(fwd_signature_create("v", 1, &signature, NULL) == FWD_OK);
  NEED(fwd_closure_create_owning(signature, handler, made, release_ending, &made->closure, NULL) == FWD_OK);
  fwd_signature_release(signature);
  return made;
}

/// Checks, after the last call and the destruction, that one of the two has released the owner.
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
  // The closure has been destroyed, but this call may still use its context.
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

static void never_called(void *context, void *const *arguments, void *result) {
  (void)context, (void)arguments, (void)result;
  EXPECT(!"a call");
}
/// Checks that a closure without running calls releases its owner when it is destroyed.
static void destroy_uncalled(worker *self) {
  (void)self;
  ending_closure *ending = make_ending(never_called);
  fwd_closure_destroy(ending->closure);
  end_ending(ending);
}

/// Switches between libffi and call plans. Calls and closures of both kinds run at the same time.
static void switch_ways(worker *self) { fwd_use_libffi(next_random(self) % 2); }

/// Whether jumps are enabled if and only if libffi is not forced, after all threads have switched.
static bool ways_agree(void) {
#if FWD_HAS_CALL_JUMPS
  fwd_signature *signature = NULL;
  if (fwd_signature_create("v", 1, &signature, NULL) != FWD_OK) return false;
  bool jumps = *fwd_cif_call_head(fwd_signature_cif(signature)).head.jump != NULL;
  fwd_signature_release(signature);
  return jumps != atomic_load(&fwd_libffi_is_forced);
#else
  return true;
#endif
}

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

enum { method_add, method_note, method_sum, method_count };
static const char *const selector_names[method_count] = {"add:to:", "note", "sum:"};
static const char *const encodings[method_count] = {"i@:ii", "v@:", "i@:i"};
static fwd_selector selectors[method_count];

/// A subscriber: a C context, or the tag of an object.
typedef struct guest {
  uint64_t alive;
  /// The number of a guest that stays. The others have `passing`.
  unsigned rank;
  /// The limit of its deliveries or 0, and the number of deliveries that have begun.
  size_t limit;
  atomic_size_t deliveries;
  /// For each thread, the number of the last fan-out that has called it.
  uint64_t seen[thread_count + 1];
} guest;

/// The first `fixed_count` guests stay and keep their order. The others of the first `staying_count` stay and are
/// moved. All other guests come and go.
enum { fixed_count = 3, staying_count = 6, passing = 99 };

static atomic_long live_guests;

static void guest_destroy(void *context) {
  guest *self = context;
  EXPECT(self->alive == is_alive);
  self->alive = 0;
  free(self);
  atomic_fetch_sub_explicit(&live_guests, 1, memory_order_relaxed);
}
static void destroy_guest_of(fake_object *object) { guest_destroy(object->tag); }

/// A fan-out that runs on this thread, or all fan-outs of a batch.
typedef struct fan {
  struct fan *outer;
  size_t method;
  uint64_t number;
  /// The staying guests that have been called, as bits by rank, and the number of fixed ones among them.
  unsigned called, fixed;
  /// The guests whose subscriptions this thread has ended since the fan-out began.
  const void *ended[16];
  size_t ended_count;
} fan;

static _Thread_local fan *innermost;
static _Thread_local worker *me;
static _Thread_local uint64_t fans_of_thread;
static _Thread_local unsigned depth;

static void begin_fan(fan *self, size_t method) {
  self->method = method;
  self->number = ++fans_of_thread;
  self->called = self->fixed = 0;
  self->outer = innermost;
  innermost = self;
  depth++;
}

/// Checks that each staying guest has been called once, and the fixed ones in order.
static void end_fan(fan *self) {
  innermost = self->outer;
  depth--;
  if (self->method == method_add) {
    EXPECT(self->called != 0);
  } else {
    EXPECT(self->called == (1u << staying_count) - 1 && self->fixed == fixed_count);
  }
}

static void act_inside(void);

static void guest_deliver(void *receiver, fwd_selector selector, size_t method) {
  guest *self = receiver;
  fan *current = innermost;
  EXPECT(self->alive == is_alive && selector == selectors[method] && current->method == method);
  EXPECT(self->seen[me->number] != current->number);
  self->seen[me->number] = current->number;
  for (size_t i = 0; i < current->ended_count; i++) EXPECT(current->ended[i] != receiver);
  size_t number = atomic_fetch_add_explicit(&self->deliveries, 1, memory_order_relaxed) + 1;
  EXPECT(self->limit == 0 || number <= self->limit);
  if (self->rank == passing) {
    if (depth < 3 && next_random(me) % 64 == 0) act_inside();
    return;
  }
  EXPECT((current->called & 1u << self->rank) == 0);
  current->called |= 1u << self->rank;
  if (self->rank < fixed_count) EXPECT(self->rank == current->fixed++);
}

static int guest_add(void *receiver, fwd_selector selector, int left, int right) {
  // The policy is the default one, so only the first responder is called. This bit says that one was.
  guest_deliver(receiver, selector, method_add);
  innermost->called |= 1u << staying_count;
  return left + right;
}
static void guest_note(void *receiver, fwd_selector selector) { guest_deliver(receiver, selector, method_note); }
static int guest_sum(void *receiver, fwd_selector selector, int value) {
  guest_deliver(receiver, selector, method_sum);
  return value + 1;
}
static fwd_status guest_note_packed(const void *context, void *receiver, void *const *arguments, void *result,
                                    fwd_error *error) {
  (void)context, (void)arguments, (void)result, (void)error;
  guest_deliver(receiver, selectors[method_note], method_note);
  return FWD_OK;
}

enum { pool_count = 16, crowd_limit = 40 };

/// A proxy, with what its writer knows about it. There is one writer at a time. Readers do not use the other members.
typedef struct stage {
  fwd_proxy *proxy;
  fwd_subscriber_list *list;
  fwd_subscription staying[staying_count];
  /// The objects of staying guests.
  fake_object *kept[staying_count];
  /// The objects of other guests, which some thread releases later.
  _Atomic(fake_object *) pool[pool_count];
  fwd_dispatch_table *table;
} stage;

static stage shared_stage;
static pthread_mutex_t writer_lock = PTHREAD_MUTEX_INITIALIZER;
static fake_object *proxy_owner;

static void report(void *owner, fwd_selector selector, const fwd_error *error) {
  (void)owner, (void)selector, (void)error;
  EXPECT(!"no report");
}
static void met_the_dead(void *owner, size_t visited) { (void)owner, (void)visited; }
static void find_responders(void *owner, size_t method) {
  (void)owner;
  fwd_garbage garbage = {.first = NULL};
  pthread_mutex_lock(&writer_lock);
  fwd_list_find_responders(shared_stage.list, method, &garbage);
  pthread_mutex_unlock(&writer_lock);
  fwd_garbage_collect(garbage);
}

/// Makes a table. With 0 it has all methods; other values of `random` may leave one out.
static fwd_dispatch_table *make_table(uint64_t random) {
  fwd_dispatch_table *table = fwd_dispatch_table_create(method_count, NULL);
  NEED(table);
  if (random % 8 != 1) fwd_dispatch_table_entry(table, method_add)->function = (void (*)(void))guest_add;
  if (random % 8 == 2) {
    fwd_dispatch_table_entry(table, method_note)->packed = guest_note_packed;
  } else if (random % 8 != 3) {
    fwd_dispatch_table_entry(table, method_note)->function = (void (*)(void))guest_note;
  }
  if (random % 8 != 4) fwd_dispatch_table_entry(table, method_sum)->function = (void (*)(void))guest_sum;
  return table;
}

static fwd_subscription insert(stage *on, fwd_hold hold, unsigned rank, size_t index, fake_object **object,
                               uint64_t random, fwd_garbage *garbage) {
  guest *made = calloc(1, sizeof *made);
  NEED(made);
  made->alive = is_alive;
  made->rank = rank;
  atomic_fetch_add_explicit(&live_guests, 1, memory_order_relaxed);
  // Some of the guests that come and go have a limit of deliveries.
  made->limit = rank == passing && random / 7 % 4 == 0 ? 1 + random / 28 % 5 : 0;
  fwd_subscriber subscriber = {.hold = hold, .receiver = made, .limit = made->limit};
  if (hold == FWD_HOLD_NONE) {
    subscriber.destroy = guest_destroy;
  } else {
    subscriber.object = *object = object_create(destroy_guest_of, made);
  }
  // A table of its own, or one that many guests share.
  bool is_shared = random % 3 == 0;
  fwd_dispatch_table *table = is_shared ? on->table : make_table(rank == passing ? random / 3 : 0);
  fwd_subscription identifier = fwd_list_insert(on->list, &subscriber, table, index, garbage);
  NEED(identifier);
  if (!is_shared) fwd_dispatch_table_release(table);
  return identifier;
}

static void come(stage *on, size_t count, uint64_t random, fwd_garbage *garbage) {
  fwd_hold hold = (fwd_hold)(random % 3);
  fake_object *object = NULL;
  size_t index = random / 4 % 2 ? FWD_LIST_END : random / 8 % (count + 1);
  insert(on, hold, passing, index, &object, random / 16, garbage);
  // From now on the subscription keeps a strongly held object alive, and the pool keeps a weakly held one alive.
  if (hold == FWD_HOLD_STRONG) swift_release(object);
  if (hold != FWD_HOLD_WEAK) return;
  fake_object *old = atomic_exchange(&on->pool[random / 64 % pool_count], object);
  if (old) swift_release(old);
}

static bool stays(const stage *on, const fwd_record *record, size_t limit) {
  for (size_t i = 0; i < limit; i++) {
    if (fwd_record_identifier(record) == on->staying[i]) return true;
  }
  return false;
}

static void note_end(const void *receiver) {
  for (fan *each = innermost; each; each = each->outer) {
    if (each->ended_count < sizeof each->ended / sizeof *each->ended) each->ended[each->ended_count++] = receiver;
  }
}

static void change(stage *on, uint64_t random, fwd_garbage *garbage) {
  size_t count = fwd_list_count(on->list), choice = random % 16;
  random /= 16;
  if (count < 2 * staying_count || (count < crowd_limit && choice < 7)) {
    come(on, count, random, garbage);
    return;
  }
  fwd_record *record = fwd_list_record(on->list, random % count);
  if (choice == 7 || choice == 8) {
    if (!stays(on, record, fixed_count)) {
      EXPECT(fwd_list_move(on->list, random % count, random / 64 % count, 0, garbage));
    }
  } else if (choice == 14) {
    fwd_list_find_responders(on->list, random % method_count, garbage);
  } else if (choice == 9) {
    EXPECT(fwd_list_prune(on->list, garbage));
    EXPECT(fwd_list_count(on->list) <= count);
  } else if (choice >= 11 && choice <= 13 && !stays(on, record, staying_count)) {
    // No test expects calls of the guests that come and go, so they may be blocked.
    if (fwd_list_find(on->list, fwd_record_identifier(record)) != record) return;
    bool was_blocked = fwd_record_is_blocked(record);
    if (choice == 13) {
      EXPECT(fwd_list_unblock(on->list, record, garbage) == was_blocked);
    } else {
      EXPECT(fwd_list_block(on->list, record) && fwd_record_is_blocked(record));
    }
  } else if (!stays(on, record, staying_count)) {
    fwd_subscription identifier = fwd_record_identifier(record);
    const void *receiver = record->receiver, *object = fwd_list_find(on->list, identifier) == record
                                                           ? fwd_record_object(record)
                                                           : NULL;
    // The memory of a dead object's guest may belong to a new guest by now, which is called.
    bool was_live = fwd_record_is_live(record);
    if (choice == 10 && object) {
      // None is counted if the limit of the subscription is used up, which may have happened meanwhile.
      bool is_gated = fwd_held_is_gated(fwd_record_held(record));
      size_t ended = fwd_list_end_object(on->list, object, garbage);
      EXPECT(ended == 1 || (ended == 0 && is_gated));
    } else if (fwd_list_find(on->list, identifier) == record) {
      fwd_list_end(on->list, record, garbage);
    } else {
      return;
    }
    EXPECT(!fwd_list_find(on->list, identifier));
    if (was_live) note_end(receiver);
  }
}

static void change_list(worker *self) {
  fwd_garbage garbage = {.first = NULL};
  pthread_mutex_lock(&writer_lock);
  change(&shared_stage, next_random(self), &garbage);
  pthread_mutex_unlock(&writer_lock);
  fwd_garbage_collect(garbage);
}

static void kill_guest(worker *self) {
  fake_object *object = atomic_exchange(&shared_stage.pool[next_random(self) % pool_count], NULL);
  if (object) swift_release(object);
}

static fwd_status call(stage *on, fwd_batch *batch, size_t method, int value) {
  struct {
    int left, right;
  } frame = {value, 7};
  int result = 0;
  size_t size = method == method_add ? sizeof frame : method == method_sum ? sizeof frame.left : 0;
  fwd_status status =
      batch ? fwd_batch_forward(batch, selectors[method], size ? &frame : NULL, size, size ? &result : NULL,
                                size ? sizeof result : 0)
            : fwd_forward(on->proxy, selectors[method], size ? &frame : NULL, size, size ? &result : NULL,
                          size ? sizeof result : 0);
  EXPECT(status == FWD_OK);
  if (method == method_add) EXPECT(result == value + 7);
  if (method == method_sum) EXPECT(result == value + 1);
  return status;
}

static void forward_on(stage *on, worker *self) {
  fan current = {.ended_count = 0};
  begin_fan(&current, next_random(self) % method_count);
  call(on, NULL, current.method, (int)(next_random(self) % 1000));
  end_fan(&current);
}

static void forward(worker *self) {
  forward_on(&shared_stage, self);
  fan current = {.ended_count = 0};
  begin_fan(&current, method_note);
  EXPECT(fwd_forward_named(shared_stage.proxy, "note", NULL, 0, NULL, 0) == FWD_OK);
  end_fan(&current);
  EXPECT(fwd_proxy_responds(shared_stage.proxy, selectors[method_note]));
  EXPECT(fwd_proxy_subscriber_count(shared_stage.proxy) >= staying_count);
}

static void forward_batch_on(stage *on, worker *self, void (*between)(worker *self)) {
  fwd_batch *batch;
  fan current = {.ended_count = 0};
  NEED(fwd_batch_begin(on->proxy, &batch, NULL) == FWD_OK);
  bool enters = next_random(self) % 2 == 0;
  fwd_batch_use use = {.batch = batch};
  if (enters) fwd_batch_enter(&use);
  for (unsigned i = 0; i < 4; i++) {
    begin_fan(&current, next_random(self) % method_count);
    call(on, enters ? NULL : batch, current.method, (int)i);
    // A subscription that ends here must not be called by the rest of the batch.
    if (between) between(self);
    end_fan(&current);
  }
  if (enters) fwd_batch_leave(&use);
  fwd_batch_end(batch);
}
static void forward_batch(worker *self) { forward_batch_on(&shared_stage, self, change_list); }

static void act_inside(void) {
  switch (next_random(me) % 4) {
    case 0: forward_on(&shared_stage, me); break;
    case 1: forward_batch(me); break;
    case 2: kill_guest(me); break;
    default: change_list(me); break;
  }
}

static void forward_by_function(worker *self) {
  fwd_closure *closure;
  token *owner = token_create();
  const fwd_proxy_method *method = fwd_proxy_core_method(shared_stage.proxy, selectors[method_add]);
  NEED(fwd_proxy_closure_create(shared_stage.proxy, method, FWD_FUNCTION_ARGUMENTS, NULL, token_destroy, owner, &closure,
                                NULL) == FWD_OK);
  int (*add)(int, int) = (int (*)(int, int))fwd_closure_function(closure);
  int left = (int)(next_random(self) % 1000);
  fan current = {.ended_count = 0};
  begin_fan(&current, method_add);
  EXPECT(add(left, 8) == left + 8);
  end_fan(&current);
  fwd_closure_destroy(closure);
}

static void make_stage(stage *on) {
  static const fwd_proxy_operations operations = {
      .report = report, .met_the_dead = met_the_dead, .find_responders = find_responders};
  fwd_proxy_method methods[method_count];
  memset(methods, 0, sizeof methods);
  for (size_t i = 0; i < method_count; i++) {
    methods[i].selector = selectors[i];
    NEED(fwd_signature_create(encodings[i], strlen(encodings[i]), &methods[i].signature, NULL) == FWD_OK);
  }
  methods[method_sum].policy = FWD_RESULT_ALL_LAST;
  on->proxy = new_proxy(methods, method_count, proxy_owner, &operations);
  NEED(on->proxy);
  for (size_t i = 0; i < method_count; i++) fwd_signature_release(methods[i].signature);
  on->list = fwd_proxy_core_list(on->proxy);
  on->table = make_table(0);
  fwd_garbage garbage = {.first = NULL};
  for (unsigned i = 0; i < staying_count; i++) {
    on->staying[i] = insert(on, (fwd_hold)(i % 3), i, FWD_LIST_END, &on->kept[i], i, &garbage);
  }
  fwd_garbage_collect(garbage);
}

static void end_stage(stage *on) {
  fwd_proxy_core_release(on->proxy);
  fwd_dispatch_table_release(on->table);
  for (size_t i = 0; i < staying_count; i++) {
    if (on->kept[i]) swift_release(on->kept[i]);
  }
  for (size_t i = 0; i < pool_count; i++) {
    fake_object *object = atomic_load(&on->pool[i]);
    if (object) swift_release(object);
  }
}

// MARK: Without locks of the test

// The tests below use no lock and no shared counter of this file. So the threads are ordered only by the library, and
// the thread sanitizer finds missing synchronization. In the activities above, the locks of this file could hide it.

enum { alone_count = 300 };

typedef struct shared_object {
  fwd_signature *signature;
  fwd_encoding *encoding;
  fwd_dispatch_table *table;
} shared_object;
static shared_object objects[alone_count];
static pthread_barrier_t start;

/// Makes a signature that the library does not cache, since a long frame size makes its text too long.
static fwd_signature *make_long_signature(void) {
  char text[4096];
  memset(text, '7', sizeof text);
  text[0] = 'i';
  memcpy(text + sizeof text - 4, "@:ii", 4);
  fwd_signature *signature;
  NEED(fwd_signature_create(text, sizeof text, &signature, NULL) == FWD_OK);
  return signature;
}

/// Makes objects that have one reference for each thread.
static void make_objects(void) {
  for (size_t i = 0; i < alone_count; i++) {
    shared_object *object = &objects[i];
    object->signature = make_long_signature();
    NEED(fwd_encoding_create("{S=i^{T=d}}", 11, FWD_FORM_TYPE, &object->encoding, NULL) == FWD_OK);
    object->table = fwd_dispatch_table_create(2, object);
    NEED(object->table);
    fwd_dispatch_table_entry(object->table, 1)->context = object;
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

// There is a test for each kind of object, and all threads go through the objects in the same order: otherwise the
// synchronization of one kind could hide that another has none. Each thread uses all objects and releases them. The
// last thread frees them.

static void drop_signatures(void) {
  for (size_t i = 0; i < alone_count; i++) {
    fwd_signature *signature = objects[i].signature;
    int left = 2, right = (int)i, sum = 0;
    void *receiver = NULL, *selector = NULL, *arguments[] = {&receiver, &selector, &left, &right};
    EXPECT(fwd_call(signature, (void (*)(void))add_two, arguments, &sum) == FWD_OK && sum == 2 + right);
    EXPECT(fwd_signature_hash(signature) != 0);
    fwd_signature_release(signature);
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

/// Finds and registers names that no thread has registered before.
static void register_new(void) {
  for (unsigned i = 0; i < 10 * alone_count; i++) {
    char name[32];
    snprintf(name, sizeof name, "new:%u", i);
    fwd_selector selector = fwd_selector_find(name);
    if (!selector) selector = fwd_selector_register(name);
    EXPECT(selector && strcmp(fwd_selector_name(selector), name) == 0);
  }
}

/// A list that one thread writes and the others read. Readers must see complete records, and the writer must not free
/// what they read.
static stage alone_stage;
static atomic_uint alone_joined, alone_finished;

static void write_alone(worker *self) {
  while (atomic_load_explicit(&alone_finished, memory_order_relaxed) < thread_count - 1) {
    fwd_garbage garbage = {.first = NULL};
    change(&alone_stage, next_random(self), &garbage);
    fwd_garbage_collect(garbage);
  }
}

static void read_list(void) {
  unsigned number = atomic_fetch_add_explicit(&alone_joined, 1, memory_order_relaxed);
  worker self = {.random = (seed + number) * 0x9E3779B97F4A7C15u | 1, .number = number};
  me = &self;
  // This depth prevents nested changes: there is only one writer.
  depth = 3;
  if (number == 0) {
    write_alone(&self);
    return;
  }
  for (unsigned i = 0; i < alone_count; i++) {
    forward_on(&alone_stage, &self);
    forward_batch_on(&alone_stage, &self, NULL);
    EXPECT(fwd_proxy_subscriber_count(alone_stage.proxy) >= staying_count);
    EXPECT(fwd_proxy_responds(alone_stage.proxy, selectors[method_note]));
  }
  atomic_fetch_add_explicit(&alone_finished, 1, memory_order_relaxed);
}

/// Batches that have not been used. The first use of each finds the members of a method, on all threads at once.
static fwd_batch *batches[alone_count];

static void make_batches(void) {
  for (size_t i = 0; i < alone_count; i++) {
    NEED(fwd_batch_begin(alone_stage.proxy, &batches[i], NULL) == FWD_OK);
  }
}

static void use_batches(void) {
  static atomic_uint joined;
  worker self = {.number = atomic_fetch_add_explicit(&joined, 1, memory_order_relaxed)};
  me = &self;
  // A guest stores the number of its last fan-out for each thread. These numbers begin above all earlier ones, so that none
  // repeats.
  fans_of_thread = UINT64_C(1) << 32;
  // No subscriber changes the list.
  depth = 3;
  for (size_t i = 0; i < alone_count; i++) {
    for (size_t method = 0; method < method_count; method++) {
      fan current = {.ended_count = 0};
      begin_fan(&current, method);
      call(&alone_stage, batches[i], method, 7);
      end_fan(&current);
    }
  }
}

static void end_batches(void) {
  for (size_t i = 0; i < alone_count; i++) fwd_batch_end(batches[i]);
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
    // Less often, since each time starts a thread.
    {destroy_outside, 1, {.name = "destroying a closure during its call"}},
    {destroy_uncalled, 4, {.name = "destroying a closure that nobody calls"}},
    {switch_ways, 1, {.name = "switching between libffi and plans"}},
    {use_selector, 4, {.name = "registering selectors"}},
    {change_list, 8, {.name = "subscribing and unsubscribing"}},
    {kill_guest, 2, {.name = "the death of a subscriber"}},
    {forward, 8, {.name = "forwarding"}},
    {forward_batch, 3, {.name = "forwarding by a batch"}},
    {forward_by_function, 4, {.name = "forwarding by a function pointer"}},
};
enum { activity_count = sizeof activities / sizeof *activities };

static void *work(void *context) {
  worker *self = context;
  me = self;
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
  proxy_owner = object_create(NULL, NULL);
  for (size_t i = 0; i < method_count; i++) {
    selectors[i] = fwd_selector_register(selector_names[i]);
    NEED(selectors[i]);
  }
  make_stage(&shared_stage);
  make_stage(&alone_stage);
}

static void tear_down(void) {
  for (size_t i = 0; i < shared_count; i++) {
    drop_closure(shared_closures[i].closure);
    fwd_signature_release(shared_signatures[i].signature);
  }
  end_stage(&shared_stage);
  end_stage(&alone_stage);
  EXPECT(object_strong(proxy_owner) == 1);
  swift_release(proxy_owner);
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
  alarm(1800);
  if (count > 1) rounds = (unsigned)strtoul(values[1], NULL, 10);
  seed = count > 2 ? strtoull(values[2], NULL, 10) : (uint64_t)time(NULL);
  printf("%u rounds, seed %llu\n", rounds, (unsigned long long)seed);
  worker main_worker = {.random = seed * 2 + 1, .number = thread_count};
  me = &main_worker;
  set_up(&main_worker);
  worker workers[thread_count];
  for (unsigned i = 0; i < thread_count; i++) {
    // The seeds are spread, since similar seeds give similar first numbers.
    workers[i] = (worker){.random = (seed * thread_count + i) * 0x9E3779B97F4A7C15u | 1, .number = i};
    NEED(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  for (unsigned i = 0; i < thread_count; i++) pthread_join(workers[i].thread, NULL);
  for (size_t i = 0; i < activity_count; i++) check_count(&activities[i].test);
  make_objects();
  run_alone("signatures that the last of several threads frees", drop_signatures);
  run_alone("encodings that the last of several threads frees", drop_encodings);
  run_alone("dispatch tables that the last of several threads frees", drop_tables);
  run_alone("a list that one thread writes and others read", read_list);
  make_batches();
  run_alone("batches whose first use is on several threads", use_batches);
  end_batches();
  run_alone("finding what another thread registers", register_new);
  check_begin("what is left at the end");
  tear_down();
  // Every owner has been released exactly once.
  EXPECT(ways_agree());
  EXPECT(atomic_load(&live_tokens) == 0 && atomic_load(&live_guests) == 0);
  EXPECT(atomic_load(&objects_allocated) == 0);
  return check_finish();
}
