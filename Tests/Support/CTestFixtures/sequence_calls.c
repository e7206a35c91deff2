// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The rows of the table of hostile sequences. To add a public function, write a `call_...` and a row at the end of
/// this file: SequenceTests fails if a function of forwarding.h has neither a row nor a stated exception.
///
/// A row may run while allocations fail, and while other threads run all rows on the same proxy. So it gives up what it
/// made before it returns a failure, and asks `scene_has_count` whether a number is right.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "scene.h"

/// A number that differs at each call: names and encodings made with it are new, until 4,096 of them exist.
static unsigned next_number(void) {
  static atomic_uint number;
  return atomic_fetch_add(&number, 1) % 4096;
}

/// Fails if a function that failed has set its output.
static fwd_status expect_untouched(scene *self, fwd_status status, const void *output) {
  if (status != FWD_OK && output) scene_fail(self, "a function that failed has set its output");
  return status;
}

static fwd_status forward_add(scene *self, fwd_proxy *proxy, int number, int *result) {
  return fwd_forward(proxy, self->add, &number, sizeof number, result, sizeof *result);
}

/// Makes another proxy of the scene's protocol.
static fwd_status create_own(scene *self, const fwd_proxy_options *options, fwd_proxy **proxy) {
  return expect_untouched(self, fwd_proxy_create(&self->protocol, 1, options, proxy, NULL), *proxy);
}

// MARK: Versions, errors, types

static fwd_status call_version(scene *self) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", FWD_VERSION_MAJOR, FWD_VERSION_MINOR, FWD_VERSION_PATCH);
  if (fwd_version() != FWD_VERSION || strcmp(fwd_version_string(), text) != 0) scene_fail(self, "the wrong version");
  return FWD_OK;
}

static fwd_status call_errors(scene *self) {
  fwd_layout layout;
  fwd_error error;
  fwd_status status = fwd_type_layout("{P=", 3, &layout, &error);
  if (status == FWD_NO_MEMORY) return status;
  if (status != FWD_MALFORMED || strcmp(fwd_error_message(), error.message) != 0 ||
      strcmp(fwd_status_name(error.status), "FWD_MALFORMED") != 0) {
    scene_fail(self, "the wrong error");
  }
  return FWD_OK;
}

static const fwd_stated_layout packed = {"P", 5, 1, NULL, 0, 0};

static fwd_status call_layouts(scene *self) {
  fwd_layout layout = {0, 0, 0};
  fwd_status status = fwd_type_layout("{P=id}", 6, &layout, NULL);
  if (status != FWD_OK) return status;
  if (layout.size != 16) scene_fail(self, "the wrong layout");
  status = fwd_type_layout_stating("{P=ci}", 6, &packed, 1, &layout, NULL);
  if (status == FWD_OK && layout.size != 5) scene_fail(self, "the wrong stated layout");
  return status;
}

static fwd_status call_signature_create(scene *self) {
  char text[32];
  int length = snprintf(text, sizeof text, "i%u^v8i16", 20 + next_number());
  fwd_signature *signature = NULL;
  fwd_status status = fwd_signature_create(text, (size_t)length, &signature, NULL);
  if (status != FWD_OK) return expect_untouched(self, status, signature);
  if (fwd_signature_retain(signature) != signature) scene_fail(self, "fwd_signature_retain gave another one");
  fwd_signature_release(signature);
  fwd_signature_release(signature);
  return FWD_OK;
}

static fwd_status call_signature_stating(scene *self) {
  char text[32];
  int length = snprintf(text, sizeof text, "v%u^v8{P=ci}16", 20 + next_number());
  fwd_signature *signature = NULL;
  fwd_status status = fwd_signature_create_stating(text, (size_t)length, &packed, 1, &signature, NULL);
  if (status != FWD_OK) return expect_untouched(self, status, signature);
  if (fwd_signature_frame_size(signature) != 5) scene_fail(self, "the wrong frame of a stated layout");
  fwd_signature_release(signature);
  return FWD_OK;
}

static fwd_status call_signature_queries(scene *self) {
  const fwd_signature *signature = fwd_proxy_signature(self->proxy, self->add);
  fwd_layout argument = {0, 0, 0}, result = {0, 0, 0};
  if (!signature || fwd_signature_argument_count(signature) != 3 ||
      fwd_signature_argument(signature, 2, &argument) != FWD_OK || argument.size != sizeof(int) ||
      fwd_signature_argument(signature, 3, &argument) != FWD_OUT_OF_RANGE ||
      fwd_signature_result(signature, &result) != FWD_OK || result.size != sizeof(int) ||
      fwd_signature_frame_size(signature) != sizeof(int)) {
    scene_fail(self, "the wrong signature");
  }
  return FWD_OK;
}

// MARK: Calls and closures

static int add_one(void *pointer, int number) { return pointer ? number + 1 : 0; }
static short add_one_short(void *pointer, short number) { return (short)(pointer ? number + 1 : 0); }

static fwd_status call_calls(scene *self) {
  fwd_signature *signature = NULL, *shorter = NULL;
  fwd_status status = fwd_signature_create("i^vi", 4, &signature, NULL);
  if (status != FWD_OK) return status;
  status = fwd_signature_create("s^vs", 4, &shorter, NULL);
  if (status == FWD_OK) {
    void *pointer = self;
    int number = 41, result = 0;
    short short_number = 41, short_result = 0;
    void *arguments[] = {&pointer, &number}, *short_arguments[] = {&pointer, &short_number};
    if (fwd_call(signature, (void (*)(void))add_one, arguments, &result) != FWD_OK || result != 42) {
      scene_fail(self, "fwd_call failed");
    }
    result = 0;
    if (fwd_call_any(signature, (void (*)(void))add_one, arguments, &result) != FWD_OK || result != 42) {
      scene_fail(self, "fwd_call_any failed");
    }
    if (fwd_call(shorter, (void (*)(void))add_one_short, short_arguments, &short_result) != FWD_OK ||
        short_result != 42) {
      scene_fail(self, "fwd_call of a short function failed");
    }
    // Only where calls have jumps, for which fwd_call_store is.
    const fwd_call_head *head = (const fwd_call_head *)(const void *)shorter;
    if (*head->jump) {
      fwd_call_store(head, (fwd_call_returned){.integer = 7}, &short_result);
      if (short_result != 7) scene_fail(self, "fwd_call_store failed");
    }
    fwd_signature_release(shorter);
  }
  fwd_signature_release(signature);
  return status;
}

static void count_call(void *pointer, void *const *arguments, void *result) {
  (void)arguments;
  scene *self = pointer;
  atomic_fetch_add(&self->counter, 1);
  memset(result, 0, sizeof(int));
}

/// A closure that its own call destroys.
typedef struct ending {
  scene *scene;
  fwd_closure *closure;
} ending;

static void end_closure(void *pointer, void *const *arguments, void *result) {
  ending *own = pointer;
  fwd_closure_destroy(own->closure);
  count_call(own->scene, arguments, result);
}

static fwd_status call_closures(scene *self) {
  fwd_signature *signature = NULL;
  fwd_status status = fwd_signature_create("i^vi", 4, &signature, NULL);
  if (status != FWD_OK) return status;
  fwd_closure *closure = NULL;
  ending last = {self, NULL};
  size_t before = atomic_load(&self->counter);
  status = expect_untouched(self, fwd_closure_create(signature, count_call, self, &closure, NULL), closure);
  if (status == FWD_OK) {
    status = fwd_closure_create(signature, end_closure, &last, &last.closure, NULL);
    if (status == FWD_OK) {
      ((int (*)(void *, int))fwd_closure_function(closure))(NULL, 1);
      ((int (*)(void *, int))fwd_closure_function(last.closure))(NULL, 1);
      if (!scene_has_count(self, atomic_load(&self->counter) - before, 2)) scene_fail(self, "a closure was not called");
    }
    fwd_closure_destroy(closure);
  }
  fwd_signature_release(signature);
  return status;
}

static fwd_status call_use_libffi(scene *self) {
  fwd_use_libffi(true);
  fwd_status status = call_calls(self);
  if (status == FWD_OK) status = call_closures(self);
  if (status == FWD_OK && !scene_is_closing(self)) status = scene_forward(self);
  fwd_use_libffi(false);
  return status;
}

// MARK: Selectors and protocols

static fwd_status call_selectors(scene *self) {
  char name[32];
  snprintf(name, sizeof name, "sequence%u:", next_number());
  fwd_selector made = fwd_selector_register(name);
  if (!made) return FWD_NO_MEMORY;
  if (fwd_selector_find(name) != made || fwd_selector_register(name) != made ||
      strcmp(fwd_selector_name(made), name) != 0 || fwd_selector_find("sequence of none:")) {
    scene_fail(self, "the wrong selector");
  }
  return FWD_OK;
}

static fwd_status call_protocols(scene *self) {
  char name[32], encoding[32];
  unsigned number = next_number() % 512;
  snprintf(name, sizeof name, "Sequence%u", number);
  snprintf(encoding, sizeof encoding, "v%u@0:8i16", 20 + number);
  const fwd_requirement requirement = {"ping:", encoding, false};
  const fwd_protocol *made = NULL;
  fwd_status status = fwd_protocol_register(name, &requirement, 1, &made, NULL);
  if (status == FWD_OK && fwd_protocol_find(name) != made) scene_fail(self, "a protocol was not found");
  return expect_untouched(self, status, made);
}

static fwd_status call_protocols_stating(scene *self) {
  char name[32], encoding[32];
  unsigned number = next_number() % 512;
  snprintf(name, sizeof name, "Stating%u", number);
  snprintf(encoding, sizeof encoding, "v%u@0{P=ci}8", 20 + number);
  const fwd_requirement requirement = {"ping:", encoding, false};
  const fwd_protocol *made = NULL;
  fwd_status status = fwd_protocol_register_stating(name, &requirement, 1, &packed, 1, &made, NULL);
  return expect_untouched(self, status, made);
}

// MARK: Proxies

static fwd_status call_create(scene *self) {
  const int answer = 7, failure = -1;
  const fwd_method_options method = {"add:",         FWD_RESULT_ALL_LAST, &answer, sizeof answer, &failure,
                                     sizeof failure};
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.methods = &method;
  options.method_count = 1;
  fwd_proxy *proxy = NULL;
  fwd_status status = create_own(self, &options, &proxy);
  if (status != FWD_OK) return status;
  int result = 0;
  status = forward_add(self, proxy, 1, &result);
  if (status == FWD_OK && result != answer) scene_fail(self, "the wrong default result");
  fwd_proxy_release(proxy);
  return status;
}

static fwd_status call_retain(scene *self) {
  if (fwd_proxy_retain(self->proxy) != self->proxy) scene_fail(self, "fwd_proxy_retain gave another proxy");
  fwd_proxy_release(self->proxy);
  return FWD_OK;
}

/// Takes a reference and keeps it. Inside the last release that is not counted; elsewhere the scene gives it up.
static fwd_status call_retain_only(scene *self) {
  fwd_proxy_retain(self->proxy);
  if (!scene_is_closing(self)) fwd_proxy_release(self->proxy);
  return FWD_OK;
}

static fwd_status call_responds(scene *self) {
  char text[64];
  if ((fwd_proxy_explain(self->proxy, self->ping, text, sizeof text) == 0) != scene_is_closing(self)) {
    scene_fail(self, "no explanation, or one of a proxy that is being released");
  }
  if (fwd_proxy_responds(self->proxy, self->ping) != !scene_is_closing(self)) {
    scene_fail(self, "the wrong answer of fwd_proxy_responds");
  }
  return FWD_OK;
}

static fwd_status call_count(scene *self) {
  if (!scene_has_count(self, fwd_proxy_subscriber_count(self->proxy), scene_expected_count(self))) {
    scene_fail(self, "the wrong count");
  }
  return FWD_OK;
}

// MARK: Subscribing

static fwd_status call_subscribe(scene *self) {
  fwd_subscription made = 0;
  fwd_status status = scene_subscribe(self, false, NULL, &made);
  if (status != FWD_OK && made) scene_fail(self, "fwd_proxy_subscribe has set its output");
  return status;
}

static fwd_status call_subscribe_limited(scene *self) {
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  options.times = 3;
  return scene_subscribe(self, false, &options, NULL);
}

static fwd_status call_subscribe_many(scene *self) {
  fwd_status status = FWD_OK;
  for (int i = 0; i < 10 && status == FWD_OK; i++) status = call_subscribe(self);
  return status;
}

static void do_nothing(void *receiver, fwd_selector selector, int number) {
  (void)receiver, (void)selector, (void)number;
}

/// The encoding is a new one, which the library reads and keeps.
static fwd_status call_subscribe_new_encoding(scene *self) {
  char encoding[32];
  snprintf(encoding, sizeof encoding, "v%u@0:8i16", 1000 + next_number());
  const fwd_method method = {"ping:", encoding, (void (*)(void))do_nothing};
  fwd_subscription made = 0;
  fwd_status status = fwd_proxy_subscribe(self->proxy, NULL, &method, 1, NULL, NULL, &made, NULL);
  return status == FWD_OK ? fwd_proxy_unsubscribe(self->proxy, made) : status;
}

static bool handle_nothing(void *context, fwd_selector selector, void *const *arguments, void *result,
                           fwd_error *error) {
  (void)context, (void)selector, (void)arguments, (void)result, (void)error;
  return true;
}

static fwd_status call_subscribe_handlers(scene *self) {
  const fwd_handled_method method = {"ping:", NULL, handle_nothing};
  fwd_subscription made = 0;
  fwd_status status = fwd_proxy_subscribe_handlers(self->proxy, NULL, &method, 1, NULL, NULL, &made, NULL);
  if (status != FWD_OK && made) scene_fail(self, "fwd_proxy_subscribe_handlers has set its output");
  return status == FWD_OK ? fwd_proxy_unsubscribe(self->proxy, made) : status;
}

/// One position of each kind, around the sibling.
static size_t positions_of(const scene *self, fwd_position positions[6]) {
  positions[0] = (fwd_position){.kind = FWD_POSITION_LAST};
  positions[1] = (fwd_position){.kind = FWD_POSITION_FIRST};
  positions[2] = (fwd_position){.kind = FWD_POSITION_BEFORE, .anchor = self->sibling};
  positions[3] = (fwd_position){.kind = FWD_POSITION_AFTER, .anchor = self->sibling};
  positions[4] = (fwd_position){.kind = FWD_POSITION_INDEX, .index = 0};
  positions[5] = (fwd_position){.kind = FWD_POSITION_PRIORITY, .priority = 5};
  return 6;
}

static fwd_status call_subscribe_at_positions(scene *self) {
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  fwd_position positions[6];
  fwd_status status = FWD_OK;
  for (size_t i = 0, count = positions_of(self, positions); i < count && status == FWD_OK; i++) {
    options.position = positions[i];
    status = scene_subscribe(self, false, &options, NULL);
  }
  return status;
}

static fwd_status call_move(scene *self) {
  fwd_subscription made = 0;
  fwd_status status = scene_subscribe(self, false, NULL, &made);
  fwd_position positions[6];
  for (size_t i = 0, count = positions_of(self, positions); i < count && status == FWD_OK && made; i++) {
    status = fwd_proxy_move(self->proxy, made, &positions[i], NULL);
  }
  return status;
}

static fwd_status call_move_sibling(scene *self) {
  const fwd_position position = {.kind = FWD_POSITION_FIRST};
  return fwd_proxy_move(self->proxy, self->sibling, &position, NULL);
}

static fwd_status call_unsubscribe_sibling(scene *self) {
  return fwd_proxy_unsubscribe(self->proxy, self->sibling);
}

static fwd_status call_unsubscribe_self(scene *self) { return fwd_proxy_unsubscribe(self->proxy, self->actor); }

static fwd_status call_replace_sibling(scene *self) {
  // Not again, if this is the second try after a failure.
  fwd_status status = self->sibling ? call_unsubscribe_sibling(self) : FWD_OK;
  if (status != FWD_OK) return status;
  self->sibling = 0;
  return scene_subscribe(self, false, NULL, &self->sibling);
}

static fwd_status begin_and_end(void *context) {
  scene *self = context;
  fwd_subscription made = 0;
  fwd_status status = scene_subscribe(self, false, NULL, &made);
  return status == FWD_OK && made ? fwd_proxy_unsubscribe(self->proxy, made) : status;
}

static fwd_status swap_sibling(void *context) {
  scene *self = context;
  fwd_subscription made = 0;
  fwd_status status = scene_subscribe(self, false, NULL, &made);
  if (status != FWD_OK) return status;
  if (self->sibling) status = fwd_proxy_unsubscribe(self->proxy, self->sibling);
  if (status == FWD_OK && made) status = fwd_proxy_move(self->proxy, made, &(fwd_position){FWD_POSITION_FIRST, 0, 0, 0}, NULL);
  if (status == FWD_OK) self->sibling = made;
  return status;
}

static fwd_status call_change(scene *self) {
  fwd_status status = fwd_proxy_change(self->proxy, begin_and_end, self, NULL);
  fwd_subscription sibling = self->sibling;
  if (status == FWD_OK) status = fwd_proxy_change(self->proxy, swap_sibling, self, NULL);
  // Nothing has changed.
  if (status != FWD_OK) self->sibling = sibling;
  return status;
}

static fwd_status swap_and_refuse(void *context) {
  fwd_status status = swap_sibling(context);
  return status == FWD_OK ? FWD_NOT_ALLOWED : status;
}

static fwd_status call_refused_change(scene *self) {
  fwd_subscription sibling = self->sibling;
  fwd_status status = fwd_proxy_change(self->proxy, swap_and_refuse, self, NULL);
  self->sibling = sibling;
  return status == FWD_NOT_ALLOWED ? FWD_OK : status;
}

static fwd_status call_block(scene *self) { return fwd_proxy_block(self->proxy, self->sibling); }

static fwd_status call_unblock(scene *self) { return fwd_proxy_unblock(self->proxy, self->sibling); }

static fwd_status call_block_and_unblock(scene *self) {
  fwd_status status = fwd_proxy_block(self->proxy, self->sibling);
  return status == FWD_OK ? fwd_proxy_unblock(self->proxy, self->sibling) : status;
}

// MARK: Visiting

static bool visit_subscriber(void *counter, const fwd_subscriber_info *subscriber) {
  ++*(size_t *)counter;
  return subscriber->size >= sizeof *subscriber && subscriber->subscription;
}

static bool visit_one_subscriber(void *counter, const fwd_subscriber_info *subscriber) {
  (void)visit_subscriber(counter, subscriber);
  return false;
}

static bool visit_method(void *counter, const fwd_method_info *method) {
  ++*(size_t *)counter;
  return method->size >= sizeof *method;
}

static fwd_status call_visit(scene *self) {
  size_t all = 0, one = 0, methods = 0, expected = scene_expected_count(self);
  fwd_status status = fwd_proxy_visit_subscribers(self->proxy, visit_subscriber, &all);
  if (status == FWD_OK) status = fwd_proxy_visit_subscribers(self->proxy, visit_one_subscriber, &one);
  if (status == FWD_OK) status = fwd_proxy_visit_methods(self->proxy, visit_method, &methods);
  if (status == FWD_OK && (!scene_has_count(self, all, expected) || one != (expected > 0) || methods != 2)) {
    scene_fail(self, "the wrong number of visits");
  }
  return status;
}

/// Ends each subscription that began in this row, from the visitor.
static bool end_visited(void *pointer, const fwd_subscriber_info *subscriber) {
  scene *self = pointer;
  context *visited = subscriber->context;
  if (!visited || visited->scene != self || subscriber->subscription == self->actor ||
      subscriber->subscription == self->sibling) {
    return true;
  }
  if (fwd_proxy_unsubscribe(self->proxy, subscriber->subscription) != FWD_OK) {
    scene_fail(self, "a visitor could not end a subscription");
  }
  if (atomic_load(&visited->state) == CONTEXT_DESTROYED) {
    scene_fail(self, "a context was destroyed while it was visited");
  }
  return true;
}

static fwd_status call_visit_and_end(scene *self) {
  fwd_status status = call_subscribe(self);
  return status == FWD_OK ? fwd_proxy_visit_subscribers(self->proxy, end_visited, self) : status;
}

// MARK: Forwarding

static fwd_status call_forward(scene *self) {
  fwd_status status = scene_forward(self);
  int result = 0;
  if (status == FWD_OK) status = forward_add(self, self->proxy, 1, &result);
  // Other threads' interceptors change results.
  if (status == FWD_OK && !self->is_shared && result != 2) scene_fail(self, "the wrong result");
  return status;
}

static fwd_status call_forward_arguments(scene *self) {
  int number = 1;
  void *arguments[] = {&number};
  return fwd_forward_arguments(self->proxy, self->ping, arguments, 1, NULL, 0);
}

static bool take_result(void *counter, fwd_subscription subscription, const void *result) {
  (void)subscription;
  *(size_t *)counter += result ? 1 : 100;
  return true;
}

/// Arguments that are not aligned are copied to memory that is allocated.
static fwd_status call_forward_unaligned(scene *self) {
  _Alignas(int) char bytes[sizeof(int) + 1] = {0};
  void *arguments[] = {bytes + 1};
  size_t results = 0;
  fwd_status status = fwd_forward_arguments(self->proxy, self->ping, arguments, 1, NULL, 0);
  if (status == FWD_OK) status = fwd_forward(self->proxy, self->ping, bytes + 1, sizeof(int), NULL, 0);
  return status == FWD_OK ? fwd_collect(self->proxy, self->add, bytes + 1, sizeof(int), take_result, &results) : status;
}

static fwd_status call_forward_named(scene *self) {
  int number = 1;
  return fwd_forward_named(self->proxy, "ping:", &number, sizeof number, NULL, 0);
}

static bool take_nothing(void *counter, fwd_subscription subscription, const void *result) {
  (void)subscription;
  *(size_t *)counter += result ? 100 : 1;
  return true;
}

static bool take_one(void *counter, fwd_subscription subscription, const void *result) {
  (void)take_result(counter, subscription, result);
  return false;
}

static fwd_status call_collect(scene *self) {
  size_t results = 0, pings = 0, first = 0, expected = scene_expected_count(self);
  int number = 1;
  fwd_status status = fwd_collect(self->proxy, self->add, &number, sizeof number, take_result, &results);
  if (status == FWD_OK) status = fwd_collect(self->proxy, self->ping, &number, sizeof number, take_nothing, &pings);
  if (status == FWD_OK) status = fwd_collect(self->proxy, self->add, &number, sizeof number, take_one, &first);
  if (status == FWD_OK && (!scene_has_count(self, results, expected) || !scene_has_count(self, pings, expected) ||
                           first != (expected > 0))) {
    scene_fail(self, "the wrong number of results");
  }
  return status;
}

/// Subscribes at each result: the new subscriptions are not asked.
static bool subscribe_at_result(void *pointer, fwd_subscription subscription, const void *result) {
  (void)subscription, (void)result;
  scene *self = pointer;
  if (call_subscribe(self) != FWD_OK) return false;
  return true;
}

static fwd_status call_collect_and_subscribe(scene *self) {
  int number = 1;
  size_t before = atomic_load(&self->subscribed);
  fwd_status status = fwd_collect(self->proxy, self->add, &number, sizeof number, subscribe_at_result, self);
  if (status != FWD_OK) return status;
  size_t made = atomic_load(&self->subscribed) - before;
  if (!self->is_shared && made > scene_expected_count(self)) scene_fail(self, "a new subscriber was asked");
  return made > 0 || self->is_shared ? FWD_OK : FWD_NO_MEMORY;
}

static void mark(void *receiver, fwd_selector selector, int number) {
  (void)selector, (void)number;
  scene *self = receiver;
  atomic_fetch_add(&self->counter, 1);
  fwd_mark_handled();
}

static void ask(scene *self, fwd_selector selector, int number) {
  (void)selector, (void)number;
  if (!fwd_current_proxy()) scene_fail(self, "a function has no current proxy");
  atomic_fetch_add(&self->counter, 1);
}

static fwd_status call_current_proxy(scene *self) {
  const fwd_method asking = {"ping:", "v^v:i", (void (*)(void))ask};
  fwd_subscription subscription;
  fwd_status status = fwd_proxy_subscribe(self->proxy, self, &asking, 1, NULL, NULL, &subscription, NULL);
  if (status != FWD_OK) return status;
  int number = 1;
  status = fwd_forward(self->proxy, self->ping, &number, sizeof number, NULL, 0);
  fwd_status ended = fwd_proxy_unsubscribe(self->proxy, subscription);
  return status == FWD_OK ? ended : status;
}

static fwd_status call_mark_handled(scene *self) {
  fwd_mark_handled();
  const fwd_method_options method = {"ping:", FWD_RESULT_UNTIL_HANDLED, NULL, 0, NULL, 0};
  const fwd_method marking = {"ping:", "v^v:i", (void (*)(void))mark};
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.methods = &method;
  options.method_count = 1;
  fwd_proxy *proxy = NULL;
  fwd_status status = create_own(self, &options, &proxy);
  size_t before = atomic_load(&self->counter);
  for (int i = 0; i < 2 && status == FWD_OK; i++) {
    status = fwd_proxy_subscribe(proxy, self, &marking, 1, NULL, NULL, NULL, NULL);
  }
  int number = 1;
  if (status == FWD_OK) status = fwd_forward(proxy, self->ping, &number, sizeof number, NULL, 0);
  if (status == FWD_OK && !scene_has_count(self, atomic_load(&self->counter) - before, 1)) {
    scene_fail(self, "fwd_mark_handled has not ended a fan-out");
  }
  fwd_proxy_release(proxy);
  return status;
}

// MARK: Intercepting

enum { ended = 100 };

static void count_end(void *pointer) { atomic_fetch_add(&((scene *)pointer)->counter, ended); }

static fwd_status pass_on(void *pointer, fwd_invocation *invocation) {
  atomic_fetch_add(&((scene *)pointer)->counter, 1);
  return fwd_invocation_proceed(invocation);
}

static fwd_status observe(void *pointer, fwd_invocation *invocation) {
  atomic_fetch_add(&((scene *)pointer)->counter, 1);
  return fwd_invocation_selector(invocation) ? FWD_OK : FWD_NULL_ARGUMENT;
}

/// Intercepts an invocation, forwards it, and ends the interception.
static fwd_status intercept_once(scene *self, fwd_selector selector, fwd_interception_point point,
                                 fwd_interceptor interceptor) {
  size_t before = atomic_load(&self->counter);
  fwd_interception interception = 0;
  fwd_status status = fwd_proxy_intercept(self->proxy, selector, point, interceptor, self, count_end, &interception,
                                          NULL);
  if (status != FWD_OK) {
    if (interception || (!self->is_shared && atomic_load(&self->counter) != before)) {
      scene_fail(self, "fwd_proxy_intercept has failed but changed something");
    }
    return status;
  }
  int number = 1, result = 0;
  bool has_result = selector == self->add;
  status = fwd_forward(self->proxy, selector, &number, sizeof number, has_result ? &result : NULL,
                       has_result ? sizeof result : 0);
  if (!scene_has_count(self, atomic_load(&self->counter) - before, status == FWD_OK)) {
    scene_fail(self, "an interceptor was not called once");
  }
  if (fwd_proxy_end_interception(self->proxy, interception) != FWD_OK) {
    scene_fail(self, "fwd_proxy_end_interception failed");
  }
  // With other threads, one of their invocations may be the last to use the interceptor.
  if (!self->is_shared && atomic_load(&self->counter) - before != (status == FWD_OK) + (size_t)ended) {
    scene_fail(self, "an interception's notifier has not run");
  }
  return status;
}

/// Blocks a method, or all methods, during one invocation.
static fwd_status block_once(scene *self, fwd_selector selector) {
  fwd_interception interception = 0;
  fwd_status status =
      fwd_proxy_intercept(self->proxy, selector, FWD_INTERCEPT_BLOCK, NULL, NULL, NULL, &interception, NULL);
  if (status != FWD_OK) return status;
  size_t before = atomic_load(&self->counter);
  int number = 1;
  status = fwd_forward(self->proxy, self->ping, &number, sizeof number, NULL, 0);
  if (atomic_load(&self->counter) != before) scene_fail(self, "a blocked method was called");
  if (fwd_proxy_end_interception(self->proxy, interception) != FWD_OK) {
    scene_fail(self, "fwd_proxy_end_interception failed");
  }
  return status;
}

static fwd_status call_intercept(scene *self) {
  fwd_status status = intercept_once(self, self->ping, FWD_INTERCEPT_AROUND, pass_on);
  if (status == FWD_OK) status = intercept_once(self, self->ping, FWD_INTERCEPT_BEFORE, observe);
  if (status == FWD_OK) status = intercept_once(self, self->add, FWD_INTERCEPT_AFTER, observe);
  // Only one thread at a time may have this one, and others miss its deliveries.
  if (status == FWD_OK && !self->is_shared) {
    status = intercept_once(self, self->ping, FWD_INTERCEPT_INSTEAD, observe);
    if (status == FWD_OK) status = block_once(self, self->ping);
    if (status == FWD_OK) status = block_once(self, NULL);
  }
  return status;
}

static fwd_status call_end_interception(scene *self) { return fwd_proxy_end_interception(self->proxy, UINT64_MAX); }

/// Calls every function that takes an invocation.
static fwd_status use_invocation(void *pointer, fwd_invocation *invocation) {
  scene *self = pointer;
  atomic_fetch_add(&self->counter, 1);
  int number = 0, result = 0;
  const fwd_signature *signature = fwd_invocation_signature(invocation);
  const void *argument = fwd_invocation_argument(invocation, 2);
  if (fwd_invocation_selector(invocation) != self->add || fwd_signature_argument_count(signature) != 3 || !argument ||
      fwd_invocation_argument(invocation, 3)) {
    scene_fail(self, "the wrong invocation");
    return FWD_OUT_OF_RANGE;
  }
  memcpy(&number, argument, sizeof number);
  number += 10;
  fwd_status status = fwd_invocation_set_argument(invocation, 2, &number, sizeof number);
  if (status == FWD_OK) status = fwd_invocation_proceed(invocation);
  if (status != FWD_OK) return status;
  const void *given = fwd_invocation_result(invocation);
  if (!given) {
    // Another thread's invocation may be that of fwd_collect, whose results go to its visitor.
    if (!self->is_shared) scene_fail(self, "an invocation has no result");
    return FWD_OK;
  }
  memcpy(&result, given, sizeof result);
  if (!self->is_shared && result != number + 1) scene_fail(self, "an invocation has the wrong result");
  result++;
  return fwd_invocation_set_result(invocation, &result, sizeof result);
}

static fwd_status call_invocation(scene *self) {
  return intercept_once(self, self->add, FWD_INTERCEPT_AROUND, use_invocation);
}

static fwd_status call_null_invocation(scene *self) {
  int number = 0;
  if (fwd_invocation_selector(NULL) || fwd_invocation_signature(NULL) || fwd_invocation_argument(NULL, 0) ||
      fwd_invocation_result(NULL) ||
      fwd_invocation_set_argument(NULL, 0, &number, sizeof number) != FWD_NULL_ARGUMENT ||
      fwd_invocation_set_result(NULL, &number, sizeof number) != FWD_NULL_ARGUMENT ||
      fwd_invocation_proceed(NULL) != FWD_NULL_ARGUMENT) {
    scene_fail(self, "NULL is taken for an invocation");
  }
  return FWD_OK;
}

static fwd_status refuse(void *pointer, fwd_invocation *invocation) {
  (void)pointer, (void)invocation;
  return FWD_OUT_OF_RANGE;
}

static void count_error(void *pointer, fwd_selector selector, const fwd_error *error) {
  scene *self = pointer;
  atomic_fetch_add(&self->counter, 1);
  if (selector != self->ping || !error->message[0]) scene_fail(self, "the wrong error in on_error");
}

/// The `on_error` of another proxy is told of an interceptor that fails.
static fwd_status call_on_error(scene *self) {
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.on_error = count_error;
  options.on_error_context = self;
  fwd_proxy *proxy = NULL;
  fwd_status status = create_own(self, &options, &proxy);
  if (status != FWD_OK) return status;
  size_t before = atomic_load(&self->counter);
  status = fwd_proxy_intercept(proxy, self->ping, FWD_INTERCEPT_BEFORE, refuse, NULL, NULL, NULL, NULL);
  int number = 1;
  if (status == FWD_OK) status = fwd_forward(proxy, self->ping, &number, sizeof number, NULL, 0);
  if (status == FWD_OK && !scene_has_count(self, atomic_load(&self->counter) - before, 1)) {
    scene_fail(self, "on_error was not called");
  }
  fwd_proxy_release(proxy);
  return status;
}

// MARK: Batches and function pointers

static fwd_status call_batch(scene *self) {
  fwd_batch *batch = NULL;
  fwd_status status = fwd_batch_begin(self->proxy, &batch, NULL);
  if (status != FWD_OK) return expect_untouched(self, status, batch);
  int number = 1;
  status = fwd_batch_forward(batch, self->ping, &number, sizeof number, NULL, 0);
  fwd_batch_end(batch);
  return status;
}

typedef struct run_in_batch {
  scene *scene;
  fwd_status status;
} run_in_batch;

static void forward_in_batch(void *context) {
  run_in_batch *self = context;
  int number = 1;
  self->status = fwd_forward(self->scene->proxy, self->scene->ping, &number, sizeof number, NULL, 0);
}

static fwd_status call_batch_run(scene *self) {
  fwd_batch *batch = NULL;
  fwd_status status = fwd_batch_begin(self->proxy, &batch, NULL);
  if (status != FWD_OK) return expect_untouched(self, status, batch);
  run_in_batch run = {.scene = self, .status = FWD_NOT_ALLOWED};
  status = fwd_batch_run(batch, forward_in_batch, &run);
  fwd_batch_end(batch);
  return status == FWD_OK ? run.status : status;
}

static fwd_status call_batch_and_unsubscribe(scene *self) {
  fwd_subscription made = 0;
  fwd_status status = scene_subscribe(self, false, NULL, &made);
  if (status != FWD_OK || !made) return status;
  fwd_batch *batch = NULL;
  status = fwd_batch_begin(self->proxy, &batch, NULL);
  fwd_status after = fwd_proxy_unsubscribe(self->proxy, made);
  int number = 1;
  if (status == FWD_OK) status = fwd_batch_forward(batch, self->ping, &number, sizeof number, NULL, 0);
  fwd_batch_end(batch);
  return status == FWD_OK ? after : status;
}

static fwd_status call_function(scene *self) {
  fwd_closure *plain = NULL, *full = NULL;
  fwd_status status = fwd_proxy_function(self->proxy, self->ping, FWD_FUNCTION_ARGUMENTS, &plain, NULL);
  if (status != FWD_OK) return expect_untouched(self, status, plain);
  status = fwd_proxy_function(self->proxy, self->ping, FWD_FUNCTION_CONTEXT_FIRST, &full, NULL);
  if (status == FWD_OK) {
    ((void (*)(int))fwd_closure_function(plain))(1);
    ((void (*)(void *, int))fwd_closure_function(full))(NULL, 1);
  }
  fwd_closure_destroy(full);
  fwd_closure_destroy(plain);
  return status;
}

static fwd_status call_callback_table(scene *self) {
  struct members {
    void (*ping)(void *, int);
    void (*nullable)(int);
  };
  const fwd_callback callbacks[] = {
      {.offset = offsetof(struct members, ping),
       .selector = fwd_selector_name(self->ping),
       .form = FWD_FUNCTION_CONTEXT_FIRST},
      {.offset = offsetof(struct members, nullable),
       .selector = fwd_selector_name(self->ping),
       .flags = FWD_CALLBACK_NULL_IF_UNIMPLEMENTED},
  };
  fwd_callback_table *table = NULL;
  fwd_status status = fwd_callback_table_create(self->proxy, NULL, sizeof(struct members), callbacks, 2,
                                                sizeof *callbacks, &table, NULL);
  if (status != FWD_OK) return expect_untouched(self, status, table);
  struct members *made = fwd_callback_table_struct(table);
  made->ping(NULL, 1);
  if (made->nullable) made->nullable(1);
  fwd_callback_table_destroy(table);
  return status;
}

// MARK: Mailboxes

/// What a row's own mailbox and proxy report.
typedef struct mail {
  scene *scene;
  size_t wakes, deliveries, ends;
  fwd_status failed;
} mail;

static void note_wake(void *pointer) { ((mail *)pointer)->wakes++; }
static void note_end(void *pointer) { ((mail *)pointer)->ends++; }
static void note_mail(void *pointer, fwd_selector selector, int number) {
  (void)selector, (void)number;
  mail *self = pointer;
  self->deliveries++;
  if (self->ends > 0) scene_fail(self->scene, "a delivery after the notifier");
}
static void note_failed_post(void *pointer, fwd_selector selector, const fwd_error *error) {
  (void)selector;
  ((mail *)pointer)->failed = error->status;
}

/// Subscribes with a mailbox, and forwards twice. The mailbox has the messages then.
static fwd_status post_two(fwd_proxy *proxy, const scene *self, mail *own, fwd_mailbox *mailbox) {
  const fwd_method method = {"ping:", "v^v:i", (void (*)(void))note_mail};
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  options.mailbox = mailbox;
  fwd_status status = fwd_proxy_subscribe(proxy, own, &method, 1, note_end, &options, NULL, NULL);
  int number = 1;
  for (int i = 0; i < 2 && status == FWD_OK; i++) {
    status = fwd_forward(proxy, self->ping, &number, sizeof number, NULL, 0);
  }
  return status == FWD_OK ? own->failed : status;
}

/// The proxy is released before the messages are delivered, or the mailbox before it delivers them.
static fwd_status use_mailbox(scene *self, bool delivers) {
  mail own = {.scene = self};
  fwd_mailbox *mailbox = NULL;
  fwd_status status = expect_untouched(self, fwd_mailbox_create(note_wake, &own, note_end, &mailbox, NULL), mailbox);
  if (status != FWD_OK) return status;
  if (fwd_mailbox_retain(mailbox) != mailbox) scene_fail(self, "fwd_mailbox_retain gave another mailbox");
  fwd_mailbox_release(mailbox);
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.on_error = note_failed_post;
  options.on_error_context = &own;
  fwd_proxy *proxy = NULL;
  status = create_own(self, &options, &proxy);
  if (status == FWD_OK) status = post_two(proxy, self, &own, mailbox);
  fwd_proxy_release(proxy);
  if (delivers) {
    size_t delivered = fwd_mailbox_drain(mailbox, 1) + fwd_mailbox_drain(mailbox, 0);
    if (delivered != own.deliveries || (status == FWD_OK && (delivered != 2 || own.wakes != 2))) {
      scene_fail(self, "the wrong number of deliveries");
    }
  }
  fwd_mailbox_release(mailbox);
  if (own.ends == 0 || (status == FWD_OK && own.ends != 2)) scene_fail(self, "a notifier has not run once");
  return status;
}

static fwd_status call_mailbox(scene *self) { return use_mailbox(self, true); }

static fwd_status call_mailbox_full(scene *self) { return use_mailbox(self, false); }

// MARK: The table

const call sequence_calls[] = {
    {"fwd_version, fwd_version_string", call_version, 0, 0, 0, false},
    {"fwd_error_message, fwd_status_name", call_errors, 0, 0, 0, false},
    {"fwd_type_layout, fwd_type_layout_stating", call_layouts, 0, 0, 0, false},
    {"fwd_signature_create, fwd_signature_retain, fwd_signature_release", call_signature_create, 0, 0, 0, true},
    {"fwd_signature_create_stating", call_signature_stating, 0, 0, 0, true},
    {"fwd_signature_argument_count, fwd_signature_argument, fwd_signature_result, fwd_signature_frame_size, "
     "fwd_proxy_signature",
     call_signature_queries, 0, 0, 0, false},
    {"fwd_call, fwd_call_any, fwd_call_store", call_calls, 0, 0, 0, false},
    {"fwd_closure_create, fwd_closure_function, fwd_closure_destroy", call_closures, 0, 0, 0, false},
    {"fwd_use_libffi", call_use_libffi, 0, 0, 0, false},
    {"fwd_selector_register, fwd_selector_find, fwd_selector_name", call_selectors, 0, 0, 0, true},
    {"fwd_protocol_register, fwd_protocol_find", call_protocols, 0, 0, 0, true},
    {"fwd_protocol_register_stating", call_protocols_stating, 0, 0, 0, true},
    {"fwd_proxy_create", call_create, 0, 0, 0, false},
    {"fwd_proxy_retain, fwd_proxy_release", call_retain, 0, 0, 0, false},
    {"fwd_proxy_retain without a release", call_retain_only, 0, 0, 0, false},
    {"fwd_proxy_responds, fwd_proxy_explain", call_responds, 0, 0, 0, false},
    {"fwd_proxy_subscriber_count", call_count, 0, 0, 0, false},
    {"fwd_proxy_subscribe", call_subscribe, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_subscribe, ten times", call_subscribe_many, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_subscribe with a limit", call_subscribe_limited, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_subscribe with a new encoding", call_subscribe_new_encoding, FWD_DEAD, 0, 0, true},
    {"fwd_proxy_subscribe_handlers", call_subscribe_handlers, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_subscribe at each kind of position", call_subscribe_at_positions, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_move of a sibling", call_move_sibling, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_move to each kind of position", call_move, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_unsubscribe of a sibling", call_unsubscribe_sibling, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_unsubscribe of itself", call_unsubscribe_self, FWD_DEAD, FWD_NOT_SUBSCRIBED, 0, false},
    {"fwd_proxy_unsubscribe, then fwd_proxy_subscribe", call_replace_sibling, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_change", call_change, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_change that is refused", call_refused_change, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_block", call_block, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_unblock of what is not blocked", call_unblock, FWD_DEAD, FWD_OUT_OF_RANGE, FWD_OUT_OF_RANGE, false},
    {"fwd_proxy_block, fwd_proxy_unblock", call_block_and_unblock, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_visit_subscribers, fwd_proxy_visit_methods", call_visit, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_visit_subscribers with a visitor that ends subscriptions", call_visit_and_end, FWD_DEAD, 0, 0, false},
    {"fwd_forward", call_forward, FWD_DEAD, 0, 0, false},
    {"fwd_forward_arguments", call_forward_arguments, FWD_DEAD, 0, 0, false},
    {"fwd_forward_arguments, fwd_forward, fwd_collect of unaligned arguments", call_forward_unaligned, FWD_DEAD, 0, 0, false},
    {"fwd_forward_named", call_forward_named, FWD_DEAD, 0, 0, false},
    {"fwd_collect", call_collect, FWD_DEAD, 0, 0, false},
    {"fwd_collect with a visitor that subscribes", call_collect_and_subscribe, FWD_DEAD, 0, 0, false},
    {"fwd_mark_handled", call_mark_handled, 0, 0, 0, false},
    {"fwd_current_proxy", call_current_proxy, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_intercept, fwd_proxy_end_interception", call_intercept, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_end_interception of none", call_end_interception, FWD_DEAD, FWD_NOT_SUBSCRIBED, FWD_NOT_SUBSCRIBED,
     false},
    {"fwd_invocation_selector, fwd_invocation_signature, fwd_invocation_argument, fwd_invocation_set_argument, "
     "fwd_invocation_proceed, fwd_invocation_result, fwd_invocation_set_result",
     call_invocation, FWD_DEAD, 0, 0, false},
    {"fwd_invocation_proceed and the like of NULL", call_null_invocation, 0, 0, 0, false},
    {"fwd_proxy_create with on_error", call_on_error, 0, 0, 0, false},
    {"fwd_batch_begin, fwd_batch_forward, fwd_batch_end", call_batch, FWD_DEAD, 0, 0, false},
    {"fwd_batch_run", call_batch_run, FWD_DEAD, 0, 0, false},
    {"fwd_batch_begin, then fwd_proxy_unsubscribe", call_batch_and_unsubscribe, FWD_DEAD, 0, 0, false},
    {"fwd_proxy_function", call_function, FWD_DEAD, 0, 0, false},
    {"fwd_callback_table_create, fwd_callback_table_struct, fwd_callback_table_destroy", call_callback_table, FWD_DEAD, 0,
     0, true},
    {"fwd_mailbox_create, fwd_mailbox_retain, fwd_mailbox_release, fwd_mailbox_drain", call_mailbox, 0, 0, 0, false},
    {"fwd_mailbox_release of a mailbox with messages", call_mailbox_full, 0, 0, 0, false},
};

const size_t sequence_call_count = sizeof sequence_calls / sizeof *sequence_calls;

fwd_status sequence_expected(const call *row, situation when) {
  switch (when) {
    case IN_NOTIFIER_OF_RELEASE:
    case IN_NOTIFIER_OF_RELEASE_IN_CALLBACK:
    case IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE:
      return row->closing;
    case IN_NOTIFIER_OF_UNSUBSCRIBE:
    case IN_NOTIFIER_OF_LIMIT:
      return row->ended;
    default:
      return row->usual;
  }
}
