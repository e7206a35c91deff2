// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A table of hostile sequences: every function of forwarding.h, called at every moment when a C program gets control
/// inside the library. To add a function, write a `call_...` and a row in `calls`. To add a moment, write an
/// `arrange_...`, a constant in `situation`, and a row in `arrangements`; the expected statuses in `calls` follow it.

#include "sequences.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forwarding.h"

// MARK: Situations

/// When the function under test is called.
typedef enum situation {
  /// Inside the destroy notifier of a subscription that `fwd_proxy_unsubscribe` has ended.
  IN_NOTIFIER_OF_UNSUBSCRIBE,
  /// Inside the destroy notifier of a subscription that its limit of deliveries has ended.
  IN_NOTIFIER_OF_LIMIT,
  /// Inside a destroy notifier that the last `fwd_proxy_release` runs.
  IN_NOTIFIER_OF_RELEASE,
  /// Inside a delivery of `fwd_forward`.
  IN_DELIVERY,
  /// Inside a delivery of `fwd_batch_forward`.
  IN_BATCH,
  /// Inside a delivery of `fwd_batch_forward`, after the program has released the proxy: the batch retains it.
  IN_BATCH_AFTER_RELEASE,
  /// Inside a delivery through a function pointer, after the program has released the proxy: the closure retains it.
  IN_CLOSURE_AFTER_RELEASE,
  /// Inside an interceptor around a delivery.
  IN_INTERCEPTOR,
  /// Inside the destroy notifier of an interception that `fwd_proxy_end_interception` has ended.
  IN_NOTIFIER_OF_INTERCEPTION,
  /// Inside the destroy notifier of an interception that the last `fwd_proxy_release` runs.
  IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE,
  /// Inside a visitor of `fwd_collect`.
  IN_COLLECTION,
  /// Inside a visitor of `fwd_proxy_visit_subscribers`, after the program has released the proxy.
  IN_VISIT_AFTER_RELEASE,
  SITUATION_COUNT
} situation;

static const char *const situation_names[SITUATION_COUNT] = {
    [IN_NOTIFIER_OF_UNSUBSCRIBE] = "a notifier of fwd_proxy_unsubscribe",
    [IN_NOTIFIER_OF_LIMIT] = "a notifier of a limit",
    [IN_NOTIFIER_OF_RELEASE] = "a notifier of the last fwd_proxy_release",
    [IN_DELIVERY] = "a delivery",
    [IN_BATCH] = "a delivery of a batch",
    [IN_BATCH_AFTER_RELEASE] = "a delivery of a batch that alone retains the proxy",
    [IN_CLOSURE_AFTER_RELEASE] = "a delivery of a closure that alone retains the proxy",
    [IN_INTERCEPTOR] = "an interceptor",
    [IN_NOTIFIER_OF_INTERCEPTION] = "a notifier of fwd_proxy_end_interception",
    [IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE] = "an interception's notifier of the last fwd_proxy_release",
    [IN_COLLECTION] = "a visitor of fwd_collect",
    [IN_VISIT_AFTER_RELEASE] = "a visitor of fwd_proxy_visit_subscribers that alone retains the proxy",
};

// MARK: The scene

typedef struct call call;

/// One proxy with two subscriptions: the actor makes the call under test, the sibling is what it may act on.
typedef struct scene {
  const call *call;
  situation when;
  fwd_proxy *proxy;
  fwd_subscription actor, sibling;
  fwd_batch *batch;
  /// Contexts whose subscription has begun, and those whose notifier has run.
  int contexts, destroyed;
  int acted;
  int failures;
} scene;

/// What a subscription of the scene gets as its context.
typedef struct context {
  scene *scene;
  bool is_actor;
  bool is_destroyed;
} context;

static void fail(scene *scene, const char *what) {
  scene->failures++;
  fprintf(stderr, "sequences.c: %s: %s (%s)\n", situation_names[scene->when], what, fwd_error_message());
}

static void act(scene *scene);

static void ping(void *receiver, fwd_selector selector, int number) {
  (void)selector, (void)number;
  context *self = receiver;
  if (self->is_destroyed) fail(self->scene, "a delivery after the notifier");
  situation when = self->scene->when;
  bool acts = when == IN_DELIVERY || when == IN_BATCH || when == IN_BATCH_AFTER_RELEASE ||
              when == IN_CLOSURE_AFTER_RELEASE;
  if (self->is_actor && acts) act(self->scene);
}

static void destroy(void *pointer) {
  context *self = pointer;
  scene *scene = self->scene;
  if (self->is_destroyed) fail(scene, "a notifier ran twice");
  self->is_destroyed = true;
  scene->destroyed++;
  bool acts = scene->when == IN_NOTIFIER_OF_UNSUBSCRIBE || scene->when == IN_NOTIFIER_OF_LIMIT ||
              scene->when == IN_NOTIFIER_OF_RELEASE;
  if (self->is_actor && acts) act(scene);
}

static const fwd_method methods[] = {{"ping:", "v@:i", (void (*)(void))ping}};

static context contexts[16];

/// Subscribes another context of the scene. `times` is 0 for no limit.
static fwd_status subscribe(scene *scene, bool is_actor, size_t times, fwd_subscription *subscription) {
  if (scene->contexts == sizeof contexts / sizeof *contexts) abort();
  context *made = &contexts[scene->contexts];
  *made = (context){.scene = scene, .is_actor = is_actor};
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  options.times = times;
  fwd_status status = fwd_proxy_subscribe(scene->proxy, made, methods, 1, destroy, &options, subscription, NULL);
  // On failure the notifier is not called.
  if (status == FWD_OK) scene->contexts++;
  return status;
}

/// Whether the call comes from inside the last release.
static bool is_closing(const scene *scene) {
  return scene->when == IN_NOTIFIER_OF_RELEASE || scene->when == IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE;
}

static fwd_selector ping_selector(void) { return fwd_selector_register("ping:"); }

static fwd_status forward(scene *scene) {
  int number = 1;
  return fwd_forward(scene->proxy, ping_selector(), &number, sizeof number, NULL, 0);
}

// MARK: Calls

static fwd_status call_retain(scene *scene) {
  if (fwd_proxy_retain(scene->proxy) != scene->proxy) fail(scene, "fwd_proxy_retain gave another proxy");
  fwd_proxy_release(scene->proxy);
  return FWD_OK;
}

/// Takes a reference and keeps it. Inside the last release that is not counted; elsewhere the scene gives it up.
static fwd_status call_retain_only(scene *scene) {
  fwd_proxy_retain(scene->proxy);
  if (!is_closing(scene)) fwd_proxy_release(scene->proxy);
  return FWD_OK;
}

static fwd_status call_subscribe(scene *scene) {
  fwd_subscription made = 0;
  return subscribe(scene, false, 0, &made);
}

static fwd_status call_move(scene *scene) {
  const fwd_position position = {.kind = FWD_POSITION_FIRST};
  return fwd_proxy_move(scene->proxy, scene->sibling, &position, NULL);
}

static fwd_status call_subscribe_limited(scene *scene) {
  fwd_subscription made = 0;
  return subscribe(scene, false, 3, &made);
}

static fwd_status call_subscribe_many(scene *scene) {
  fwd_status status = FWD_OK;
  for (int i = 0; i < 10 && status == FWD_OK; i++) status = call_subscribe(scene);
  return status;
}

static fwd_status call_unsubscribe_sibling(scene *scene) {
  return fwd_proxy_unsubscribe(scene->proxy, scene->sibling);
}

static fwd_status call_unsubscribe_self(scene *scene) { return fwd_proxy_unsubscribe(scene->proxy, scene->actor); }

static fwd_status call_replace_sibling(scene *scene) {
  fwd_status status = call_unsubscribe_sibling(scene);
  return status == FWD_OK ? call_subscribe(scene) : status;
}

static fwd_status call_block(scene *scene) { return fwd_proxy_block(scene->proxy, scene->sibling); }

static fwd_status call_unblock(scene *scene) { return fwd_proxy_unblock(scene->proxy, scene->sibling); }

static fwd_status call_block_and_unblock(scene *scene) {
  fwd_status status = fwd_proxy_block(scene->proxy, scene->sibling);
  return status == FWD_OK ? fwd_proxy_unblock(scene->proxy, scene->sibling) : status;
}

/// The number of live subscriptions in a situation.
static size_t expected_count(const scene *scene) {
  if (is_closing(scene)) return 0;
  return scene->when == IN_NOTIFIER_OF_UNSUBSCRIBE || scene->when == IN_NOTIFIER_OF_LIMIT ? 1 : 2;
}

static fwd_status call_count(scene *scene) {
  if (fwd_proxy_subscriber_count(scene->proxy) != expected_count(scene)) fail(scene, "the wrong count");
  return FWD_OK;
}

static bool count_subscriber(void *counter, const fwd_subscriber_info *subscriber) {
  (void)subscriber;
  ++*(size_t *)counter;
  return true;
}

static bool count_method(void *counter, const fwd_method_info *method) {
  (void)method;
  ++*(size_t *)counter;
  return true;
}

static bool count_result(void *counter, fwd_subscription subscription, const void *result) {
  (void)subscription, (void)result;
  ++*(size_t *)counter;
  return true;
}

static fwd_status call_visit(scene *scene) {
  size_t subscribers = 0, methods = 0;
  fwd_status status = fwd_proxy_visit_subscribers(scene->proxy, count_subscriber, &subscribers);
  if (status == FWD_OK) status = fwd_proxy_visit_methods(scene->proxy, count_method, &methods);
  if (subscribers != expected_count(scene) || methods != 1) fail(scene, "the wrong number of visits");
  return status;
}

static fwd_status call_collect(scene *scene) {
  size_t results = 0;
  int number = 1;
  fwd_status status = fwd_collect(scene->proxy, ping_selector(), &number, sizeof number, count_result, &results);
  if (results != expected_count(scene)) fail(scene, "the wrong number of results");
  return status;
}

static fwd_status pass_on(void *context, fwd_invocation *invocation) {
  ++*(size_t *)context;
  return fwd_invocation_proceed(invocation);
}

static void count_end(void *context) { *(size_t *)context += 100; }

static fwd_status call_intercept(scene *scene) {
  size_t calls = 0;
  fwd_interception interception = 0;
  fwd_status status = fwd_proxy_intercept(scene->proxy, ping_selector(), FWD_INTERCEPT_AROUND, pass_on, &calls,
                                          count_end, &interception, NULL);
  if (status == FWD_OK && forward(scene) != FWD_OK) fail(scene, "an intercepted invocation failed");
  if (calls != (status == FWD_OK)) fail(scene, "an interceptor was not called once");
  if (status == FWD_OK) status = fwd_proxy_end_interception(scene->proxy, interception);
  if (calls != (status == FWD_OK ? 101 : 0)) fail(scene, "an interception's notifier has not run");
  return status;
}

static fwd_status call_end_interception(scene *scene) { return fwd_proxy_end_interception(scene->proxy, UINT64_MAX); }

static fwd_status call_responds(scene *scene) {
  bool expected = !is_closing(scene);
  if (fwd_proxy_responds(scene->proxy, ping_selector()) != expected) fail(scene, "the wrong answer of fwd_proxy_responds");
  return FWD_OK;
}

static fwd_status call_signature(scene *scene) {
  const fwd_signature *signature = fwd_proxy_signature(scene->proxy, ping_selector());
  if (!signature || fwd_signature_argument_count(signature) != 3) fail(scene, "the wrong signature");
  return FWD_OK;
}

static fwd_status call_forward(scene *scene) { return forward(scene); }

static fwd_status call_forward_arguments(scene *scene) {
  int number = 1;
  void *arguments[] = {&number};
  return fwd_forward_arguments(scene->proxy, ping_selector(), arguments, 1, NULL, 0);
}

static fwd_status call_forward_named(scene *scene) {
  int number = 1;
  return fwd_forward_named(scene->proxy, "ping:", &number, sizeof number, NULL, 0);
}

static fwd_status call_batch(scene *scene) {
  fwd_batch *batch = NULL;
  fwd_status status = fwd_batch_begin(scene->proxy, &batch, NULL);
  if (status != FWD_OK) return status;
  int number = 1;
  status = fwd_batch_forward(batch, ping_selector(), &number, sizeof number, NULL, 0);
  fwd_batch_end(batch);
  return status;
}

static fwd_status call_function(scene *scene) {
  fwd_closure *closure = NULL;
  fwd_status status = fwd_proxy_function(scene->proxy, ping_selector(), FWD_FUNCTION_ARGUMENTS, &closure, NULL);
  if (status != FWD_OK) return status;
  ((void (*)(int))fwd_closure_function(closure))(1);
  fwd_closure_destroy(closure);
  return FWD_OK;
}

static fwd_status call_mark_handled(scene *scene) {
  (void)scene;
  fwd_mark_handled();
  return FWD_OK;
}

static void count_call(void *pointer, void *const *arguments, void *result) {
  (void)arguments;
  ++*(int *)pointer;
  memset(result, 0, sizeof(int));
}

/// The functions that concern no proxy: layouts, signatures, calls, closures, selectors and protocols.
static fwd_status call_without_proxy(scene *scene) {
  fwd_layout layout;
  fwd_status status = fwd_type_layout("{P=id}", 6, &layout, NULL);
  fwd_signature *signature = NULL;
  if (status == FWD_OK) status = fwd_signature_create("i^vi", 4, &signature, NULL);
  if (status != FWD_OK) return status;
  int called = 0, number = 1, result = -1;
  fwd_closure *closure = NULL;
  status = fwd_closure_create(signature, count_call, &called, &closure, NULL);
  if (status == FWD_OK) {
    void *pointer = NULL, *arguments[] = {&pointer, &number};
    status = fwd_call(signature, fwd_closure_function(closure), arguments, &result);
    fwd_closure_destroy(closure);
    if (called != 1 || result != 0) fail(scene, "a closure was not called");
  }
  fwd_signature_release(signature);
  if (fwd_selector_find("ping:") != ping_selector()) fail(scene, "a selector was not found");
  if (!fwd_protocol_find("Sequences")) fail(scene, "a protocol was not found");
  return status;
}

struct call {
  const char *name;
  fwd_status (*make)(scene *scene);
  fwd_status expected[SITUATION_COUNT];
};

// The rows below name what differs from FWD_OK, which is 0.
#define REFUSED_WHEN_CLOSING \
  {[IN_NOTIFIER_OF_RELEASE] = FWD_DEAD, [IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE] = FWD_DEAD}
#define ALWAYS_OK {0}

static const call calls[] = {
    {"fwd_proxy_retain and fwd_proxy_release", call_retain, ALWAYS_OK},
    {"fwd_proxy_retain", call_retain_only, ALWAYS_OK},
    {"fwd_proxy_subscribe", call_subscribe, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_subscribe, ten times", call_subscribe_many, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_subscribe with a limit", call_subscribe_limited, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_move", call_move, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_unsubscribe of a sibling", call_unsubscribe_sibling, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_unsubscribe of itself", call_unsubscribe_self,
     {[IN_NOTIFIER_OF_UNSUBSCRIBE] = FWD_NOT_SUBSCRIBED,
      [IN_NOTIFIER_OF_LIMIT] = FWD_NOT_SUBSCRIBED,
      [IN_NOTIFIER_OF_RELEASE] = FWD_DEAD,
      [IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE] = FWD_DEAD}},
    {"fwd_proxy_unsubscribe, then fwd_proxy_subscribe", call_replace_sibling, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_block", call_block, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_unblock of what is not blocked", call_unblock,
     {[IN_NOTIFIER_OF_UNSUBSCRIBE] = FWD_OUT_OF_RANGE,
      [IN_NOTIFIER_OF_LIMIT] = FWD_OUT_OF_RANGE,
      [IN_NOTIFIER_OF_RELEASE] = FWD_DEAD,
      [IN_DELIVERY] = FWD_OUT_OF_RANGE,
      [IN_BATCH] = FWD_OUT_OF_RANGE,
      [IN_BATCH_AFTER_RELEASE] = FWD_OUT_OF_RANGE,
      [IN_CLOSURE_AFTER_RELEASE] = FWD_OUT_OF_RANGE,
      [IN_INTERCEPTOR] = FWD_OUT_OF_RANGE,
      [IN_NOTIFIER_OF_INTERCEPTION] = FWD_OUT_OF_RANGE,
      [IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE] = FWD_DEAD,
      [IN_COLLECTION] = FWD_OUT_OF_RANGE,
      [IN_VISIT_AFTER_RELEASE] = FWD_OUT_OF_RANGE}},
    {"fwd_proxy_block and fwd_proxy_unblock", call_block_and_unblock, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_subscriber_count", call_count, ALWAYS_OK},
    {"fwd_proxy_responds", call_responds, ALWAYS_OK},
    {"fwd_proxy_signature", call_signature, ALWAYS_OK},
    {"fwd_forward", call_forward, REFUSED_WHEN_CLOSING},
    {"fwd_forward_arguments", call_forward_arguments, REFUSED_WHEN_CLOSING},
    {"fwd_forward_named", call_forward_named, REFUSED_WHEN_CLOSING},
    {"fwd_batch_begin, fwd_batch_forward, fwd_batch_end", call_batch, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_function", call_function, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_visit_subscribers and fwd_proxy_visit_methods", call_visit, ALWAYS_OK},
    {"fwd_collect", call_collect, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_intercept and fwd_proxy_end_interception", call_intercept, REFUSED_WHEN_CLOSING},
    {"fwd_proxy_end_interception of none", call_end_interception,
     {[IN_NOTIFIER_OF_UNSUBSCRIBE] = FWD_NOT_SUBSCRIBED,
      [IN_NOTIFIER_OF_LIMIT] = FWD_NOT_SUBSCRIBED,
      [IN_NOTIFIER_OF_RELEASE] = FWD_DEAD,
      [IN_DELIVERY] = FWD_NOT_SUBSCRIBED,
      [IN_BATCH] = FWD_NOT_SUBSCRIBED,
      [IN_BATCH_AFTER_RELEASE] = FWD_NOT_SUBSCRIBED,
      [IN_CLOSURE_AFTER_RELEASE] = FWD_NOT_SUBSCRIBED,
      [IN_INTERCEPTOR] = FWD_NOT_SUBSCRIBED,
      [IN_NOTIFIER_OF_INTERCEPTION] = FWD_NOT_SUBSCRIBED,
      [IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE] = FWD_DEAD,
      [IN_COLLECTION] = FWD_NOT_SUBSCRIBED,
      [IN_VISIT_AFTER_RELEASE] = FWD_NOT_SUBSCRIBED}},
    {"fwd_mark_handled", call_mark_handled, ALWAYS_OK},
    {"calls, closures, signatures, selectors, protocols", call_without_proxy, ALWAYS_OK},
};

/// Makes the call under test, once in a scene: a call that forwards comes here again.
static void act(scene *scene) {
  if (scene->acted++ > 0) return;
  fwd_status expected = scene->call->expected[scene->when], given = scene->call->make(scene);
  if (given == expected) return;
  scene->failures++;
  fprintf(stderr, "sequences.c: %s in %s gave %s, expected %s (%s)\n", scene->call->name,
          situation_names[scene->when], fwd_status_name(given), fwd_status_name(expected), fwd_error_message());
}

// MARK: Arrangements

static void forward_well(scene *scene) {
  if (forward(scene) != FWD_OK) fail(scene, "fwd_forward failed");
}

static void arrange_unsubscribe(scene *scene) {
  if (fwd_proxy_unsubscribe(scene->proxy, scene->actor) != FWD_OK) fail(scene, "fwd_proxy_unsubscribe failed");
  fwd_proxy_release(scene->proxy);
}

/// The actor's limit is one delivery.
static void arrange_limit(scene *scene) {
  forward_well(scene);
  fwd_proxy_release(scene->proxy);
}

static void arrange_release(scene *scene) { fwd_proxy_release(scene->proxy); }

static void arrange_delivery(scene *scene) {
  forward_well(scene);
  fwd_proxy_release(scene->proxy);
}

static void forward_batch(scene *scene, bool is_released) {
  fwd_batch *batch = NULL;
  if (fwd_batch_begin(scene->proxy, &batch, NULL) != FWD_OK) return fail(scene, "fwd_batch_begin failed");
  if (is_released) fwd_proxy_release(scene->proxy);
  int number = 1;
  if (fwd_batch_forward(batch, ping_selector(), &number, sizeof number, NULL, 0) != FWD_OK) {
    fail(scene, "fwd_batch_forward failed");
  }
  fwd_batch_end(batch);
  if (!is_released) fwd_proxy_release(scene->proxy);
}

static void arrange_batch(scene *scene) { forward_batch(scene, false); }
static void arrange_batch_after_release(scene *scene) { forward_batch(scene, true); }

static void arrange_closure_after_release(scene *scene) {
  fwd_closure *closure = NULL;
  fwd_status status = fwd_proxy_function(scene->proxy, ping_selector(), FWD_FUNCTION_ARGUMENTS, &closure, NULL);
  fwd_proxy_release(scene->proxy);
  if (status != FWD_OK) return fail(scene, "fwd_proxy_function failed");
  ((void (*)(int))fwd_closure_function(closure))(1);
  fwd_closure_destroy(closure);
}

static fwd_status act_around(void *pointer, fwd_invocation *invocation) {
  scene *scene = pointer;
  if (scene->when == IN_INTERCEPTOR) act(scene);
  return fwd_invocation_proceed(invocation);
}

static void act_after_interception(void *pointer) {
  scene *scene = pointer;
  if (scene->when != IN_INTERCEPTOR) act(scene);
}

static fwd_interception intercept_ping(scene *scene) {
  fwd_interception interception = 0;
  if (fwd_proxy_intercept(scene->proxy, ping_selector(), FWD_INTERCEPT_AROUND, act_around, scene,
                          act_after_interception, &interception, NULL) != FWD_OK) {
    fail(scene, "fwd_proxy_intercept failed");
  }
  return interception;
}

static void arrange_interceptor(scene *scene) {
  intercept_ping(scene);
  forward_well(scene);
  fwd_proxy_release(scene->proxy);
}

static void arrange_end_of_interception(scene *scene) {
  fwd_interception interception = intercept_ping(scene);
  forward_well(scene);
  if (fwd_proxy_end_interception(scene->proxy, interception) != FWD_OK) {
    fail(scene, "fwd_proxy_end_interception failed");
  }
  fwd_proxy_release(scene->proxy);
}

static void arrange_release_of_interception(scene *scene) {
  intercept_ping(scene);
  forward_well(scene);
  fwd_proxy_release(scene->proxy);
}

static bool act_on_result(void *pointer, fwd_subscription subscription, const void *result) {
  (void)subscription, (void)result;
  act(pointer);
  return true;
}

static void arrange_collection(scene *scene) {
  int number = 1;
  if (fwd_collect(scene->proxy, ping_selector(), &number, sizeof number, act_on_result, scene) != FWD_OK) {
    fail(scene, "fwd_collect failed");
  }
  fwd_proxy_release(scene->proxy);
}

static bool act_on_subscriber(void *pointer, const fwd_subscriber_info *subscriber) {
  (void)subscriber;
  scene *scene = pointer;
  if (scene->acted == 0) {
    // The visit alone retains the proxy now.
    fwd_proxy_release(scene->proxy);
    act(scene);
  }
  return true;
}

static void arrange_visit_after_release(scene *scene) {
  if (fwd_proxy_visit_subscribers(scene->proxy, act_on_subscriber, scene) != FWD_OK) {
    fail(scene, "fwd_proxy_visit_subscribers failed");
  }
}

static void (*const arrangements[SITUATION_COUNT])(scene *scene) = {
    [IN_NOTIFIER_OF_UNSUBSCRIBE] = arrange_unsubscribe,
    [IN_NOTIFIER_OF_LIMIT] = arrange_limit,
    [IN_NOTIFIER_OF_RELEASE] = arrange_release,
    [IN_DELIVERY] = arrange_delivery,
    [IN_BATCH] = arrange_batch,
    [IN_BATCH_AFTER_RELEASE] = arrange_batch_after_release,
    [IN_CLOSURE_AFTER_RELEASE] = arrange_closure_after_release,
    [IN_INTERCEPTOR] = arrange_interceptor,
    [IN_NOTIFIER_OF_INTERCEPTION] = arrange_end_of_interception,
    [IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE] = arrange_release_of_interception,
    [IN_COLLECTION] = arrange_collection,
    [IN_VISIT_AFTER_RELEASE] = arrange_visit_after_release,
};

static void note_error(void *pointer, fwd_selector selector, const fwd_error *error) {
  (void)selector, (void)error;
  fail(pointer, "the error handler was called");
}

/// Runs one cell of the table; `is_actor_first` says which subscription stands first.
static int run_scene(const fwd_protocol *protocol, const call *call, situation when, bool is_actor_first) {
  scene scene = {.call = call, .when = when};
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.on_error = note_error;
  options.on_error_context = &scene;
  if (fwd_proxy_create(&protocol, 1, &options, &scene.proxy, NULL) != FWD_OK) {
    fail(&scene, "fwd_proxy_create failed");
    return scene.failures;
  }
  size_t times = when == IN_NOTIFIER_OF_LIMIT ? 1 : 0;
  for (int i = 0; i < 2; i++) {
    bool is_actor = is_actor_first == (i == 0);
    fwd_subscription *subscription = is_actor ? &scene.actor : &scene.sibling;
    if (subscribe(&scene, is_actor, is_actor ? times : 0, subscription) != FWD_OK) fail(&scene, "fwd_proxy_subscribe failed");
  }
  arrangements[when](&scene);
  if (scene.acted == 0) fail(&scene, "the call was not made");
  // The proxy is gone, so every notifier has run.
  if (scene.destroyed != scene.contexts) fail(&scene, call->name), fail(&scene, "a notifier has not run");
  return scene.failures;
}

int sequences_run(void) {
  const fwd_requirement requirement = {"ping:", "v@:i", false};
  const fwd_protocol *protocol = NULL;
  if (fwd_protocol_register("Sequences", &requirement, 1, &protocol, NULL) != FWD_OK) return 1;
  int failures = 0;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    for (situation when = 0; when < SITUATION_COUNT; when++) {
      failures += run_scene(protocol, &calls[i], when, true);
      failures += run_scene(protocol, &calls[i], when, false);
    }
  }
  return failures;
}
