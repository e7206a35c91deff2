// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A table of hostile sequences: every function of forwarding.h, called inside each kind of function that a C program
/// passes to the library, in threads' exit handlers, in forked children, and without memory. The rows are in
/// sequence_calls.c. To add a moment, add a constant in `situation`, write an `arrange_...`, and add a row in
/// `arrangements`; the expected statuses of the rows follow it.

#include "sequences.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "scene.h"

// glibc hides it from strict C11.
#if !defined(PTHREAD_DESTRUCTOR_ITERATIONS)
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
#endif

const char *const situation_names[SITUATION_COUNT] = {
    [IN_NOTIFIER_OF_UNSUBSCRIBE] = "a notifier of fwd_proxy_unsubscribe",
    [IN_NOTIFIER_OF_LIMIT] = "a notifier of a limit",
    [IN_NOTIFIER_OF_RELEASE] = "a notifier of the last fwd_proxy_release",
    [IN_NOTIFIER_OF_RELEASE_IN_CALLBACK] = "a notifier of a release inside of a callback",
    [IN_DELIVERY] = "a delivery",
    [IN_BATCH] = "a delivery of a batch",
    [IN_BATCH_AFTER_RELEASE] = "a delivery of a batch that alone retains the proxy",
    [IN_CLOSURE_AFTER_RELEASE] = "a delivery of a closure that alone retains the proxy",
    [IN_INTERCEPTOR] = "an interceptor",
    [IN_NOTIFIER_OF_INTERCEPTION] = "a notifier of fwd_proxy_end_interception",
    [IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE] = "an interception's notifier of the last fwd_proxy_release",
    [IN_COLLECTION] = "a visitor of fwd_collect",
    [IN_VISIT_AFTER_RELEASE] = "a visitor of fwd_proxy_visit_subscribers that alone retains the proxy",
    [IN_METHOD_VISIT_AFTER_RELEASE] = "a visitor of fwd_proxy_visit_methods that alone retains the proxy",
    [IN_ERROR_HANDLER] = "on_error",
    [IN_CLOSURE_HANDLER] = "the handler of a closure",
    [IN_BATCH_RUN_AFTER_RELEASE] = "a function of fwd_batch_run, whose batch alone retains the proxy",
    [IN_CHANGE] = "a function of fwd_proxy_change",
    [IN_MAIL_NOTIFIER] = "a mailbox's notify",
    [IN_MAIL_DELIVERY] = "a delivery of fwd_mailbox_drain",
    [IN_NOTIFIER_OF_DRAIN] = "a notifier of fwd_mailbox_drain",
    [IN_NOTIFIER_OF_MAILBOX] = "a mailbox's destroy",
    [IN_EARLY_EXIT_HANDLER] = "a thread's exit handler before the library's own",
    [IN_LATE_EXIT_HANDLER] = "a thread's exit handler after the library's own",
    [IN_LAST_EXIT_HANDLER] = "a thread's last exit handler",
    [IN_LAST_EXIT_HANDLER_OF_NEW_THREAD] = "the last exit handler of a thread that has not called the library",
    [IN_CHILD] = "a forked child",
    [BESIDE_FORK] = "a thread beside others that fork and change the proxy",
    [WITHOUT_MEMORY] = "a call whose allocations fail",
};

// MARK: Scenes

void scene_fail(scene *self, const char *what) {
  atomic_fetch_add(&self->failures, 1);
  fprintf(stderr, "sequences.c: %s in %s: %s (%s)\n", self->call ? self->call->name : "the scene",
          situation_names[self->when], what, fwd_error_message());
}

bool scene_is_closing(const scene *self) {
  return self->when == IN_NOTIFIER_OF_RELEASE || self->when == IN_NOTIFIER_OF_RELEASE_IN_CALLBACK ||
         self->when == IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE;
}

size_t scene_expected_count(const scene *self) {
  if (scene_is_closing(self)) return 0;
  return self->when == IN_NOTIFIER_OF_UNSUBSCRIBE || self->when == IN_NOTIFIER_OF_LIMIT ? 1 : 2;
}

bool scene_has_count(const scene *self, size_t count, size_t expected) {
  return self->is_shared ? count >= expected : count == expected;
}

static void ping(void *receiver, fwd_selector selector, int number) {
  (void)selector, (void)number;
  context *own = receiver;
  if (atomic_load(&own->state) == CONTEXT_DESTROYED) scene_fail(own->scene, "a delivery after the notifier");
  situation when = own->scene->when;
  if (when == IN_NOTIFIER_OF_RELEASE_IN_CALLBACK) {
    if (!own->scene->table) scene_fail(own->scene, "a delivery after the proxy's death");
    fwd_callback_table_destroy(own->scene->table);
    own->scene->table = NULL;
  }
  bool acts = when == IN_DELIVERY || when == IN_BATCH || when == IN_BATCH_AFTER_RELEASE ||
              when == IN_CLOSURE_AFTER_RELEASE;
  if ((own->is_actor && acts) || (own->is_mailed && when == IN_MAIL_DELIVERY)) scene_act(own->scene);
}

static int add(void *receiver, fwd_selector selector, int number) {
  (void)selector;
  context *own = receiver;
  if (atomic_load(&own->state) == CONTEXT_DESTROYED) scene_fail(own->scene, "a delivery after the notifier");
  return number + 1;
}

/// The actor's functions in the scene of `on_error`: `ping:` fails until the handler has been called.
static bool handle(void *pointer, fwd_selector selector, void *const *arguments, void *result, fwd_error *error) {
  (void)error;
  context *own = pointer;
  int number;
  memcpy(&number, arguments[2], sizeof number);
  if (selector == own->scene->ping) {
    ping(own, selector, number);
    return own->scene->acted > 0;
  }
  number = add(own, selector, number);
  memcpy(result, &number, sizeof number);
  return true;
}

static void destroy(void *pointer) {
  context *own = pointer;
  scene *self = own->scene;
  bool is_actor = own->is_actor, is_mailed = own->is_mailed;
  atomic_fetch_add(&self->destroyed, 1);
  // Another thread of a shared scene may use the context again from here on.
  if (atomic_exchange(&own->state, CONTEXT_DESTROYED) != CONTEXT_SUBSCRIBED) scene_fail(self, "a notifier ran twice");
  bool acts = self->when == IN_NOTIFIER_OF_UNSUBSCRIBE || self->when == IN_NOTIFIER_OF_LIMIT ||
              self->when == IN_NOTIFIER_OF_RELEASE || self->when == IN_NOTIFIER_OF_RELEASE_IN_CALLBACK;
  if ((is_actor && acts) || (is_mailed && self->when == IN_NOTIFIER_OF_DRAIN)) scene_act(self);
}

static const fwd_method methods[] = {
    {"ping:", "v@:i", (void (*)(void))ping},
    {"add:", "i@:i", (void (*)(void))add},
};
static const fwd_handled_method handled_methods[] = {{"ping:", NULL, handle}, {"add:", NULL, handle}};

/// A context for a new subscription, or NULL if all are in use.
static context *unused_context(scene *self) {
  for (size_t i = 0; i < CONTEXT_COUNT; i++) {
    int state = atomic_load(&self->contexts[i].state);
    // Not again in a scene of one thread, so that a notifier that runs twice is found.
    if (state == CONTEXT_UNUSED || (state == CONTEXT_DESTROYED && self->is_shared)) return &self->contexts[i];
  }
  return NULL;
}

fwd_status scene_subscribe(scene *self, bool is_actor, const fwd_subscribe_options *options,
                           fwd_subscription *subscription) {
  context *made = unused_context(self);
  if (!made) {
    if (self->is_shared) return FWD_OK;
    abort();
  }
  made->scene = self;
  made->is_actor = is_actor;
  made->is_mailed = options && options->mailbox;
  int before = atomic_exchange(&made->state, CONTEXT_SUBSCRIBED);
  fwd_status status;
  if (is_actor && self->when == IN_ERROR_HANDLER) {
    status = fwd_proxy_subscribe_handlers(self->proxy, made, handled_methods, 2, destroy, options,
                                          &made->subscription, NULL);
  } else {
    status = fwd_proxy_subscribe(self->proxy, made, methods, made->is_mailed ? 1 : 2, destroy, options,
                                 &made->subscription, NULL);
  }
  if (status != FWD_OK) {
    // On failure the notifier is not called.
    if (atomic_exchange(&made->state, before) != CONTEXT_SUBSCRIBED) scene_fail(self, "a notifier of no subscription");
    return status;
  }
  atomic_fetch_add(&self->subscribed, 1);
  if (subscription) *subscription = made->subscription;
  return FWD_OK;
}

fwd_status scene_forward(scene *self) {
  int number = 1;
  return fwd_forward(self->proxy, self->ping, &number, sizeof number, NULL, 0);
}

void scene_act(scene *self) {
  if (self->acted++ > 0) return;
  fwd_status expected = sequence_expected(self->call, self->when), given = self->call->make(self);
  if (given == expected) return;
  atomic_fetch_add(&self->failures, 1);
  fprintf(stderr, "sequences.c: %s in %s gave %s, expected %s (%s)\n", self->call->name,
          situation_names[self->when], fwd_status_name(given), fwd_status_name(expected), fwd_error_message());
}

static void note_error(void *pointer, fwd_selector selector, const fwd_error *error) {
  (void)selector;
  scene *self = pointer;
  if (self->when == IN_ERROR_HANDLER && self->acted == 0) {
    scene_act(self);
  } else {
    scene_fail(self, error->message);
  }
}

static const fwd_protocol *protocol_of_scenes(void) {
  static const fwd_requirement requirements[] = {{"ping:", "v@:i", false}, {"add:", "i@:i", false}};
  const fwd_protocol *protocol = NULL;
  if (fwd_protocol_register("Sequences", requirements, 2, &protocol, NULL) != FWD_OK) abort();
  return protocol;
}

bool scene_open(scene *self, const call *row, situation when) {
  self->call = row;
  self->when = when;
  self->protocol = protocol_of_scenes();
  self->ping = fwd_selector_register("ping:");
  self->add = fwd_selector_register("add:");
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.on_error = note_error;
  options.on_error_context = self;
  if (fwd_proxy_create(&self->protocol, 1, &options, &self->proxy, NULL) == FWD_OK) return true;
  scene_fail(self, "fwd_proxy_create failed");
  return false;
}

void scene_join(scene *self, bool is_actor_first) {
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  for (int i = 0; i < 2; i++) {
    bool is_actor = is_actor_first == (i == 0);
    options.times = is_actor && self->when == IN_NOTIFIER_OF_LIMIT ? 1 : 0;
    if (scene_subscribe(self, is_actor, &options, is_actor ? &self->actor : &self->sibling) != FWD_OK) {
      scene_fail(self, "fwd_proxy_subscribe failed");
    }
  }
}

// MARK: Arrangements

static void forward_well(scene *self) {
  if (scene_forward(self) != FWD_OK) scene_fail(self, "fwd_forward failed");
}

static void arrange_unsubscribe(scene *self) {
  if (fwd_proxy_unsubscribe(self->proxy, self->actor) != FWD_OK) scene_fail(self, "fwd_proxy_unsubscribe failed");
  fwd_proxy_release(self->proxy);
}

/// The actor's limit is one delivery.
static void arrange_limit(scene *self) {
  forward_well(self);
  fwd_proxy_release(self->proxy);
}

static void arrange_release(scene *self) { fwd_proxy_release(self->proxy); }

static void arrange_release_in_callback(scene *self) {
  const fwd_callback callback = {.selector = fwd_selector_name(self->ping)};
  fwd_status status = fwd_callback_table_create(self->proxy, NULL, sizeof(void *), &callback, 1, sizeof callback,
                                                &self->table, NULL);
  fwd_proxy_release(self->proxy);
  if (status != FWD_OK) {
    scene_fail(self, "fwd_callback_table_create failed");
    return;
  }
  (*(void (**)(int))fwd_callback_table_struct(self->table))(1);
}

static void arrange_delivery(scene *self) {
  forward_well(self);
  fwd_proxy_release(self->proxy);
}

static void forward_batch(scene *self, bool is_released) {
  fwd_batch *batch = NULL;
  if (fwd_batch_begin(self->proxy, &batch, NULL) != FWD_OK) {
    scene_fail(self, "fwd_batch_begin failed");
    return;
  }
  if (is_released) fwd_proxy_release(self->proxy);
  int number = 1;
  if (fwd_batch_forward(batch, self->ping, &number, sizeof number, NULL, 0) != FWD_OK) {
    scene_fail(self, "fwd_batch_forward failed");
  }
  fwd_batch_end(batch);
  if (!is_released) fwd_proxy_release(self->proxy);
}

static void arrange_batch(scene *self) { forward_batch(self, false); }
static void arrange_batch_after_release(scene *self) { forward_batch(self, true); }

static void arrange_closure_after_release(scene *self) {
  fwd_closure *closure = NULL;
  fwd_status status = fwd_proxy_function(self->proxy, self->ping, FWD_FUNCTION_ARGUMENTS, &closure, NULL);
  fwd_proxy_release(self->proxy);
  if (status != FWD_OK) {
    scene_fail(self, "fwd_proxy_function failed");
    return;
  }
  ((void (*)(int))fwd_closure_function(closure))(1);
  fwd_closure_destroy(closure);
}

static fwd_status act_around(void *pointer, fwd_invocation *invocation) {
  scene *self = pointer;
  if (self->when == IN_INTERCEPTOR) scene_act(self);
  return fwd_invocation_proceed(invocation);
}

static void act_after_interception(void *pointer) {
  scene *self = pointer;
  if (self->when != IN_INTERCEPTOR) scene_act(self);
}

static fwd_interception intercept_ping(scene *self) {
  fwd_interception interception = 0;
  if (fwd_proxy_intercept(self->proxy, self->ping, FWD_INTERCEPT_AROUND, act_around, self,
                          act_after_interception, &interception, NULL) != FWD_OK) {
    scene_fail(self, "fwd_proxy_intercept failed");
  }
  return interception;
}

static void arrange_interceptor(scene *self) {
  intercept_ping(self);
  forward_well(self);
  fwd_proxy_release(self->proxy);
}

static void arrange_end_of_interception(scene *self) {
  fwd_interception interception = intercept_ping(self);
  forward_well(self);
  if (fwd_proxy_end_interception(self->proxy, interception) != FWD_OK) {
    scene_fail(self, "fwd_proxy_end_interception failed");
  }
  fwd_proxy_release(self->proxy);
}

static void arrange_release_of_interception(scene *self) {
  intercept_ping(self);
  forward_well(self);
  fwd_proxy_release(self->proxy);
}

static bool act_on_result(void *pointer, fwd_subscription subscription, const void *result) {
  (void)subscription, (void)result;
  scene_act(pointer);
  return true;
}

static void arrange_collection(scene *self) {
  int number = 1;
  if (fwd_collect(self->proxy, self->ping, &number, sizeof number, act_on_result, self) != FWD_OK) {
    scene_fail(self, "fwd_collect failed");
  }
  fwd_proxy_release(self->proxy);
}

static bool act_on_subscriber(void *pointer, const fwd_subscriber_info *subscriber) {
  (void)subscriber;
  scene *self = pointer;
  if (self->acted == 0) {
    // The visit alone retains the proxy now.
    fwd_proxy_release(self->proxy);
    scene_act(self);
  }
  return true;
}

static void arrange_visit_after_release(scene *self) {
  if (fwd_proxy_visit_subscribers(self->proxy, act_on_subscriber, self) != FWD_OK) {
    scene_fail(self, "fwd_proxy_visit_subscribers failed");
  }
}

static void arrange_error_handler(scene *self) {
  fwd_status status = scene_forward(self);
  // If the row has ended or blocked the sibling, every delivery has failed.
  if (status != FWD_OK && status != FWD_DELIVERY_FAILED) scene_fail(self, "fwd_forward failed");
  fwd_proxy_release(self->proxy);
}

static bool act_on_method(void *pointer, const fwd_method_info *method) {
  (void)method;
  scene *self = pointer;
  if (self->acted == 0) {
    // The visit alone retains the proxy now.
    fwd_proxy_release(self->proxy);
    scene_act(self);
  }
  return true;
}

static void arrange_method_visit_after_release(scene *self) {
  if (fwd_proxy_visit_methods(self->proxy, act_on_method, self) != FWD_OK) {
    scene_fail(self, "fwd_proxy_visit_methods failed");
  }
}

static void act_in_closure(void *pointer, void *const *arguments, void *result) {
  (void)arguments, (void)result;
  scene_act(pointer);
}

static void arrange_closure_handler(scene *self) {
  fwd_signature *signature = NULL;
  fwd_closure *closure = NULL;
  if (fwd_signature_create("v", 1, &signature, NULL) != FWD_OK ||
      fwd_closure_create(signature, act_in_closure, self, &closure, NULL) != FWD_OK) {
    scene_fail(self, "fwd_closure_create failed");
  } else {
    fwd_closure_function(closure)();
  }
  fwd_closure_destroy(closure);
  fwd_signature_release(signature);
  fwd_proxy_release(self->proxy);
}

static void act_in_batch(void *pointer) { scene_act(pointer); }

static void arrange_batch_run_after_release(scene *self) {
  fwd_batch *batch = NULL;
  if (fwd_batch_begin(self->proxy, &batch, NULL) != FWD_OK) {
    scene_fail(self, "fwd_batch_begin failed");
    return;
  }
  fwd_proxy_release(self->proxy);
  if (fwd_batch_run(batch, act_in_batch, self) != FWD_OK) scene_fail(self, "fwd_batch_run failed");
  fwd_batch_end(batch);
}

static fwd_status act_in_change(void *pointer) {
  scene_act(pointer);
  return FWD_OK;
}

static void arrange_change(scene *self) {
  if (fwd_proxy_change(self->proxy, act_in_change, self, NULL) != FWD_OK) scene_fail(self, "fwd_proxy_change failed");
  fwd_proxy_release(self->proxy);
}

// MARK: Mailboxes

static void act_in_notify(void *pointer) {
  scene *self = pointer;
  if (self->when == IN_MAIL_NOTIFIER) scene_act(self);
}

static void act_after_mailbox(void *pointer) {
  scene *self = pointer;
  if (self->when == IN_NOTIFIER_OF_MAILBOX) scene_act(self);
}

/// The limit of the subscription with the mailbox is one message, so the row finds the usual number of subscribers.
static void arrange_mailbox(scene *self) {
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  options.times = 1;
  if (fwd_mailbox_create(act_in_notify, self, act_after_mailbox, &options.mailbox, NULL) != FWD_OK ||
      scene_subscribe(self, false, &options, NULL) != FWD_OK) {
    scene_fail(self, "no subscription with a mailbox");
  }
  forward_well(self);
  if (fwd_mailbox_drain(options.mailbox, 0) != 1) scene_fail(self, "fwd_mailbox_drain has not delivered");
  fwd_mailbox_release(options.mailbox);
  fwd_proxy_release(self->proxy);
}

// MARK: Threads' exit handlers

// The key of `early_key` is made before the library's own, and glibc runs handlers in the order of the keys.
static pthread_key_t early_key, late_key;
static bool has_early_key;

static void act_at_exit(void *pointer) {
  scene *self = pointer;
  pthread_key_t key = self->when == IN_EARLY_EXIT_HANDLER ? early_key : late_key;
  bool is_last = self->when == IN_LAST_EXIT_HANDLER || self->when == IN_LAST_EXIT_HANDLER_OF_NEW_THREAD;
  // The address sanitizer ends a thread for itself in the last round.
  int last = HAS_ADDRESS_SANITIZER ? 2 : PTHREAD_DESTRUCTOR_ITERATIONS;
  if (is_last && ++self->round < last) {
    if (pthread_setspecific(key, self) != 0) scene_fail(self, "pthread_setspecific failed");
    return;
  }
  scene_act(self);
}

__attribute__((constructor(101))) static void make_early_key(void) {
  has_early_key = pthread_key_create(&early_key, act_at_exit) == 0;
}

static void *live_and_exit(void *pointer) {
  scene *self = pointer;
  if (self->when != IN_LAST_EXIT_HANDLER_OF_NEW_THREAD && scene_forward(self) != FWD_OK) {
    scene_fail(self, "fwd_forward failed");
  }
  bool is_early = self->when == IN_EARLY_EXIT_HANDLER;
  if ((is_early && !has_early_key) || pthread_setspecific(is_early ? early_key : late_key, self) != 0) {
    scene_fail(self, "pthread_setspecific failed");
  }
  return NULL;
}

static void arrange_exit_handler(scene *self) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, live_and_exit, self) != 0) abort();
  pthread_join(thread, NULL);
  // What the row has made is in order for the next thread.
  if (scene_forward(self) != FWD_OK && fwd_proxy_responds(self->proxy, self->ping)) {
    scene_fail(self, "fwd_forward failed after the thread");
  }
  fwd_proxy_release(self->proxy);
}

int scene_prepare_threads(void) {
  static bool is_prepared;
  if (is_prepared) return 0;
  static scene made;
  // A thread that calls the library makes its key.
  if (!scene_open(&made, &sequence_calls[0], IN_DELIVERY)) return 1;
  scene_join(&made, true);
  if (scene_forward(&made) != FWD_OK) return 1;
  fwd_proxy_release(made.proxy);
  is_prepared = pthread_key_create(&late_key, act_at_exit) == 0;
  return is_prepared ? made.failures : 1;
}

static void (*const arrangements[SEQUENTIAL_COUNT])(scene *self) = {
    [IN_NOTIFIER_OF_UNSUBSCRIBE] = arrange_unsubscribe,
    [IN_NOTIFIER_OF_LIMIT] = arrange_limit,
    [IN_NOTIFIER_OF_RELEASE] = arrange_release,
    [IN_NOTIFIER_OF_RELEASE_IN_CALLBACK] = arrange_release_in_callback,
    [IN_DELIVERY] = arrange_delivery,
    [IN_BATCH] = arrange_batch,
    [IN_BATCH_AFTER_RELEASE] = arrange_batch_after_release,
    [IN_CLOSURE_AFTER_RELEASE] = arrange_closure_after_release,
    [IN_INTERCEPTOR] = arrange_interceptor,
    [IN_NOTIFIER_OF_INTERCEPTION] = arrange_end_of_interception,
    [IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE] = arrange_release_of_interception,
    [IN_COLLECTION] = arrange_collection,
    [IN_VISIT_AFTER_RELEASE] = arrange_visit_after_release,
    [IN_METHOD_VISIT_AFTER_RELEASE] = arrange_method_visit_after_release,
    [IN_ERROR_HANDLER] = arrange_error_handler,
    [IN_CLOSURE_HANDLER] = arrange_closure_handler,
    [IN_BATCH_RUN_AFTER_RELEASE] = arrange_batch_run_after_release,
    [IN_CHANGE] = arrange_change,
    [IN_MAIL_NOTIFIER] = arrange_mailbox,
    [IN_MAIL_DELIVERY] = arrange_mailbox,
    [IN_NOTIFIER_OF_DRAIN] = arrange_mailbox,
    [IN_NOTIFIER_OF_MAILBOX] = arrange_mailbox,
    [IN_EARLY_EXIT_HANDLER] = arrange_exit_handler,
    [IN_LATE_EXIT_HANDLER] = arrange_exit_handler,
    [IN_LAST_EXIT_HANDLER] = arrange_exit_handler,
    [IN_LAST_EXIT_HANDLER_OF_NEW_THREAD] = arrange_exit_handler,
};

/// Runs one cell of the table; `is_actor_first` says which subscription stands first.
static int run_scene(const call *row, situation when, bool is_actor_first) {
  static scene made;
  made = (scene){0};
  if (!scene_open(&made, row, when)) return 1;
  scene_join(&made, is_actor_first);
  arrangements[when](&made);
  if (made.acted == 0) scene_fail(&made, "the call was not made");
  // The proxy is gone, so every notifier has run.
  if (made.destroyed != made.subscribed) scene_fail(&made, "a notifier has not run");
  return made.failures;
}

static bool is_exit_handler(situation when) {
  return when == IN_EARLY_EXIT_HANDLER || when == IN_LATE_EXIT_HANDLER || when == IN_LAST_EXIT_HANDLER ||
         when == IN_LAST_EXIT_HANDLER_OF_NEW_THREAD;
}

int sequences_run_row(const call *row, situation end) {
  int failures = 0;
  for (situation when = 0; when < end; when++) {
    // The thread sanitizer crashes in threads' exit handlers.
    if (HAS_THREAD_SANITIZER && is_exit_handler(when)) continue;
    failures += run_scene(row, when, true);
    failures += run_scene(row, when, false);
  }
  return failures;
}

int sequences_run(void) {
  if (scene_prepare_threads() != 0) return 1;
  int failures = 0;
  for (size_t i = 0; i < sequence_call_count; i++) failures += sequences_run_row(&sequence_calls[i], SEQUENTIAL_COUNT);
  return failures;
}

const char *sequences_row(size_t index) {
  return index < sequence_call_count ? sequence_calls[index].name : NULL;
}
