// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Fan-outs that deliver to one record after another (fan_out/deciding.c):
///
/// - In a recursion, C functions are called by a filler (`fwd_has_filler`). Each method of filled_methods.h is forwarded inside
///   of two, three and four other fan-outs, with and without libffi.
/// - A C function pointer is buried or destroyed while a call of it runs, and called again afterwards.
/// - An interceptor cancels the one that replaces the subscribers, and the forward target gets the delivery.
/// - Closures are called until one returns a result that is not zero.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fan_out/method_set.h"
#include "fan_out/nesting.h"
#include "fan_out/replay_state.h"
#include "forwarding.h"
#include "fwd_fan_out.h"
#include "fwd_taps.h"
#include "members/swift_closure.h"
#include "objects.h"
#include "proxies.h"

/// The receiver of a subscriber's functions.
typedef struct answerer {
  size_t number;
  bool is_last;
} answerer;

/// Notes a call of a subscriber. `selector` is NULL for a function without a selector.
static void note_call(const answerer *self, fwd_selector selector, bool arguments_are_right);

#include "filled_methods.h"

static fake_object *owner;

/// Creates a proxy with one method.
static fwd_proxy *make_proxy(const char *encoding, fwd_result_policy policy, const fwd_proxy_operations *operations,
                             fwd_selector selector) {
  fwd_proxy_method method = {.selector = selector, .policy = policy, .no_responder = FWD_NO_RESPONDER_FAIL};
  NEED(fwd_signature_create(encoding, strlen(encoding), &method.signature, NULL) == FWD_OK);
  fwd_proxy *proxy = new_proxy(&method, 1, owner, operations);
  NEED(proxy);
  // The proxy has retained the signature.
  fwd_signature_release(method.signature);
  return proxy;
}

static fwd_subscription subscribe(fwd_proxy *proxy, fwd_implementation implementation, fwd_subscriber subscriber) {
  fwd_dispatch_table *table = fwd_dispatch_table_create(1, NULL);
  NEED(table);
  *fwd_dispatch_table_entry(table, 0) = implementation;
  fwd_garbage garbage = {.first = NULL};
  fwd_subscription made = fwd_list_insert(fwd_proxy_core_list(proxy), &subscriber, table, FWD_LIST_END, &garbage);
  NEED(made);
  fwd_garbage_collect(garbage);
  fwd_dispatch_table_release(table);
  return made;
}

static const fwd_proxy_operations quiet = QUIET_OPERATIONS;

// MARK: Recursion

static struct {
  fwd_proxy *proxy;
  fwd_selector selector;
  size_t levels;
  void (*body)(void);
} recursion;

/// Runs the body of the recursion inside of so many fan-outs.
static void descend(size_t levels) {
  recursion.levels = levels;
  if (levels > 0) {
    EXPECT(fwd_forward(recursion.proxy, recursion.selector, NULL, 0, NULL, 0) == FWD_OK);
  } else {
    recursion.body();
  }
}

static void descend_further(void *receiver, fwd_selector selector) {
  (void)receiver, (void)selector;
  descend(recursion.levels - 1);
}

static void run_inside(size_t levels, void (*body)(void)) {
  recursion.body = body;
  descend(levels);
}

static void make_recursion(void) {
  recursion.selector = fwd_selector_register("descend");
  recursion.proxy = make_proxy("v@:", FWD_RESULT_DEFAULT, &quiet, recursion.selector);
  subscribe(recursion.proxy, (fwd_implementation){.function = (void (*)(void))descend_further}, (fwd_subscriber){0});
}

// MARK: Calls with a filler

/// The second subscriber is a packed function. The third gets one delivery only.
enum { subscriber_count = 4, packed_number = 1, limited_number = 2, argument_limit = 12 };

/// How a method is forwarded.
typedef enum call_way { BY_FRAME, BY_POINTERS, BY_FUNCTION, way_count } call_way;
static const char *const way_names[way_count] = {"a frame", "pointers", "a C function pointer"};

typedef struct call_trial {
  const result_type *result;
  list_kind list;
  bool has_selector;
  call_way way;
  /// The thread has entered a batch of the proxy.
  bool is_in_batch;
  /// The subscribers are objects that are held weakly.
  bool is_weak;
  /// The C function pointer is one that nobody destroys.
  bool is_owned;
  /// An owned function has a failure result, which is that of the first subscriber.
  bool has_failure_result;
  /// The function pointer is made by libffi.
  bool has_libffi_entry;
  /// The result of the first subscriber is the fan-out's result, rather than that of the last one.
  bool keeps_first;
} call_trial;

static answerer subscribers[subscriber_count];
/// Marks the type of the owner of a function.
static const char owner_type;
static fake_object *reporter;
static size_t late_calls;

/// The state of the current trial.
static struct {
  call_trial trial;
  fwd_proxy *proxy;
  fwd_selector selector;
  fwd_signature *signature;
  size_t argument_count, hidden_count, frame_size;
  void *arguments[argument_limit];
  size_t sizes[argument_limit];
  fwd_closure *closure;
  fwd_owned_function *owned;
  /// The function pointer of `closure` or of `owned`.
  void (*function)(void);
  /// How often the closure has released its owner.
  size_t releases;
  fake_object *object;
  /// Whether the calls are to be made by a filler.
  bool is_filled;
  /// The numbers of the subscribers that the fan-out has called.
  size_t called[subscriber_count];
  size_t call_count;
  /// Runs inside of the first call, unless it is NULL.
  void (*act)(void);
} now;

static void __attribute__((noinline)) note_call(const answerer *self, fwd_selector selector, bool arguments_are_right) {
  EXPECT(arguments_are_right);
  EXPECT(selector == (now.trial.has_selector ? now.selector : NULL));
  // The ABI requires an aligned stack.
  if (FWD_HAS_FILLED_CALLS) EXPECT((uintptr_t)__builtin_frame_address(0) % 16 == 0);
  EXPECT(fwd_nesting_of_thread.innermost->is_filled == now.is_filled);
  if (!EXPECT(self >= subscribers && self < subscribers + subscriber_count)) return;
  if (EXPECT(now.call_count < subscriber_count)) now.called[now.call_count++] = self->number;
  void (*act)(void) = now.act;
  now.act = NULL;
  if (act) act();
}

static fwd_status answer_packed(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error) {
  (void)context, (void)error;
  bool are_right = *(void *const *)arguments[0] == receiver;
  for (size_t i = 0; i < now.argument_count; i++) {
    are_right = are_right && memcmp(arguments[now.hidden_count + i], now.arguments[i], now.sizes[i]) == 0;
  }
  note_call(receiver, now.trial.has_selector ? *(const fwd_selector *)arguments[1] : NULL, are_right);
  const result_type *type = now.trial.result;
  if (type->is) memcpy(result, type->results, type->size);
  return FWD_OK;
}

static void release_owner(void *unused) {
  (void)unused;
  now.releases++;
}

static void note_late_call(void *told, fwd_selector selector, const void *type) {
  EXPECT(told == reporter && selector == now.selector && type == &owner_type);
  late_calls++;
}

static void make_function(const call_trial *trial) {
  const fwd_proxy_method *method = fwd_proxy_core_method(now.proxy, now.selector);
  fwd_use_libffi(trial->has_libffi_entry);
  if (trial->is_owned) {
    const fwd_owned_function_request request = {.proxy = now.proxy,
                                                .method = method,
                                                .form = FWD_FUNCTION_ARGUMENTS,
                                                .failure_result = trial->has_failure_result ? trial->result->results : NULL,
                                                .owner_type = &owner_type,
                                                .reporter = reporter,
                                                .report = note_late_call};
    NEED(fwd_owned_function_create(&request, &now.owned, NULL) == FWD_OK);
    now.function = fwd_owned_function_pointer(now.owned);
  } else {
    NEED(fwd_proxy_closure_create(now.proxy, method, FWD_FUNCTION_ARGUMENTS, NULL, release_owner, NULL, &now.closure,
                                  NULL) == FWD_OK);
    now.function = fwd_closure_function(now.closure);
  }
  fwd_use_libffi(false);
}

static void find_arguments(const call_trial *trial) {
  now.hidden_count = fwd_signature_hidden_count(now.signature);
  now.argument_count = fwd_signature_argument_count(now.signature) - now.hidden_count;
  now.frame_size = fwd_signature_frame_size(now.signature);
  NEED(now.argument_count <= argument_limit);
  for (size_t i = 0; i < now.argument_count; i++) {
    fwd_layout layout;
    NEED(fwd_signature_argument(now.signature, now.hidden_count + i, &layout) == FWD_OK);
    now.arguments[i] = (char *)(uintptr_t)list_frames[trial->list] + layout.offset;
    now.sizes[i] = layout.size;
  }
}

static void set_up(const call_trial *trial) {
  memset(&now, 0, sizeof now);
  now.trial = *trial;
  now.selector = fwd_selector_register("ask:");
  now.object = trial->is_weak ? object_create(NULL, NULL) : NULL;
  char encoding[128];
  snprintf(encoding, sizeof encoding, "%s@%s%s", trial->result->encoding, trial->has_selector ? ":" : "",
           list_encodings[trial->list]);
  bool is_void = !trial->result->is;
  fwd_result_policy policy = is_void              ? FWD_RESULT_DEFAULT
                             : trial->keeps_first ? FWD_RESULT_ALL_FIRST
                                                  : FWD_RESULT_ALL_LAST;
  now.proxy = make_proxy(encoding, policy, &quiet, now.selector);
  const fwd_proxy_method *method = fwd_proxy_core_method(now.proxy, now.selector);
  EXPECT(fwd_compiled_method_of(method)->is_filled == FWD_HAS_FILLED_CALLS);
  now.signature = method->signature;
  find_arguments(trial);
  for (size_t i = 0; i < subscriber_count; i++) {
    subscribers[i] = (answerer){.number = i, .is_last = i == subscriber_count - 1};
    fwd_implementation implementation = {.function = trial->has_selector ? trial->result->lists[trial->list].with_selector
                                                                         : trial->result->lists[trial->list].bare};
    if (i == packed_number) implementation = (fwd_implementation){.packed = answer_packed};
    fwd_subscriber made = {.object = now.object, .hold = now.object ? FWD_HOLD_WEAK : FWD_HOLD_NONE,
                           .receiver = &subscribers[i], .limit = i == limited_number ? 1 : 0};
    subscribe(now.proxy, implementation, made);
  }
  if (trial->way == BY_FUNCTION) make_function(trial);
}

static void tear_down(void) {
  fwd_closure_destroy(now.closure);
  if (now.owned) fwd_owned_function_bury(now.owned);
  fwd_proxy_core_release(now.proxy);
  if (now.object) swift_release(now.object);
}

enum { room_size = 64, filling = 0xA5 };

/// Forwards in the trial's way.
static fwd_status forward(void *result) {
  const call_trial *trial = &now.trial;
  size_t size = result ? trial->result->size : 0;
  switch (trial->way) {
    case BY_FRAME:
      return fwd_forward(now.proxy, now.selector, list_frames[trial->list], now.frame_size, size > 0 ? result : NULL, size);
    case BY_POINTERS:
      return fwd_forward_arguments(now.proxy, now.selector, now.arguments, now.argument_count, size > 0 ? result : NULL,
                                   size);
    default: {
      unsigned char ignored[room_size];
      trial->result->lists[trial->list].call(now.function, result ? result : ignored);
      return FWD_OK;
    }
  }
}

/// Forwards once. Checks which subscribers were called, and the result. `calls_limited` is whether the subscriber with a limit
/// still gets a delivery. Unless `is_wanted`, the caller passes no memory for the result.
static void check_call(bool calls_limited, bool is_wanted) {
  const result_type *type = now.trial.result;
  unsigned char room[room_size];
  memset(room, filling, sizeof room);
  now.call_count = 0;
  EXPECT(forward(is_wanted ? room : NULL) == FWD_OK);
  size_t count = 0;
  bool order_is_right = true;
  for (size_t i = 0; i < subscriber_count; i++) {
    if (i == limited_number && !calls_limited) continue;
    order_is_right = order_is_right && count < now.call_count && now.called[count] == i;
    count++;
  }
  EXPECT(order_is_right && now.call_count == count);
  if (is_wanted && type->is) {
    EXPECT(type->is(room, (const char *)type->results + (now.trial.keeps_first ? 0 : type->size)));
  }
  // Exactly the bytes of the result are written.
  for (size_t i = is_wanted ? type->size : 0; i < sizeof room; i++) EXPECT(room[i] == filling);
}

static void turn_libffi_on(void) { fwd_use_libffi(true); }

static void check_calls(void) {
  bool is_filled = now.is_filled;
  fwd_batch *batch = NULL;
  fwd_batch_use use = {.batch = NULL};
  if (now.trial.is_in_batch) {
    NEED(use.batch = batch = fwd_batch_create(now.proxy));
    fwd_batch_enter(&use);
  }
  check_call(true, true);
  check_call(false, true);
  check_call(false, false);
  // Libffi is switched on between two calls, then between two deliveries of one call, which still uses the filler.
  fwd_use_libffi(true);
  now.is_filled = false;
  check_call(false, true);
  fwd_use_libffi(false);
  now.is_filled = is_filled;
  now.act = turn_libffi_on;
  check_call(false, true);
  fwd_use_libffi(false);
  check_call(false, true);
  if (batch) {
    fwd_batch_leave(&use);
    fwd_batch_destroy(batch);
  }
}

/// Each bit of the number is one of the trial's properties.
static void run_trial(call_trial trial, size_t number) {
  trial.is_in_batch = number & 1;
  trial.is_weak = number & 2;
  trial.keeps_first = number & 4;
  for (size_t levels = 2; levels <= 4; levels++) {
    set_up(&trial);
    now.is_filled = FWD_HAS_FILLED_CALLS && levels >= 3;
    run_inside(levels, check_calls);
    tear_down();
  }
}

static const char *list_name(list_kind list) {
  return list == WORDS ? "words" : list == HALVES ? "words and halves" : "small arguments";
}

static void check_filled_calls(const result_type *result, list_kind list) {
  for (call_way way = 0; way < way_count; way++) {
    for (int has_selector = 0; has_selector < 2; has_selector++) {
      static char name[128];
      snprintf(name, sizeof name, "calls with a filler: %s of %s%s, by %s", result->name, list_name(list),
               has_selector ? " and a selector" : "", way_names[way]);
      check_begin(name);
      const call_trial trial = {.result = result, .list = list, .has_selector = has_selector, .way = way};
      for (size_t number = 0; number < 8; number++) run_trial(trial, number);
    }
  }
}

// MARK: Functions that end inside of their own calls

/// Buries the function and releases the proxy. Until the call returns, the function keeps the proxy's memory.
static void bury(void) {
  fwd_owned_function_bury(now.owned);
  now.owned = NULL;
  fwd_proxy_core_release(now.proxy);
  now.proxy = NULL;
}

static void destroy(void) {
  fwd_closure_destroy(now.closure);
  now.closure = NULL;
  // The closure releases its owner when the call has returned.
  EXPECT(now.releases == 0);
}

/// Calls a function pointer whose function has ended. Checks that the result is the failure result, or zero without one.
static void call_late(void) {
  static const unsigned char zeros[room_size];
  const result_type *type = now.trial.result;
  unsigned char room[room_size];
  memset(room, filling, sizeof room);
  now.call_count = 0;
  forward(room);
  EXPECT(now.call_count == 0);
  EXPECT(!type->is || type->is(room, now.trial.has_failure_result ? type->results : zeros));
}

static void check_end(void) {
  check_call(true, true);
  EXPECT(late_calls == 0);
  now.act = now.trial.is_owned ? bury : destroy;
  // The call goes on: it calls the other subscribers, and the caller gets the result.
  check_call(false, true);
  EXPECT(late_calls == 0);
  if (!now.trial.is_owned) EXPECT(now.releases == 1);
  for (size_t i = 1; i <= 2; i++) {
    call_late();
    EXPECT(late_calls == (now.trial.is_owned ? i : 0));
  }
}

static void check_ends(const result_type *result) {
  static char name[128];
  for (int is_owned = 0; is_owned < 2; is_owned++) {
    snprintf(name, sizeof name, "a function is %s inside of its own call: %s", is_owned ? "buried" : "destroyed",
             result->name);
    check_begin(name);
    // Each bit of the number is one of the properties.
    for (size_t number = 0; number < 8; number++) {
      size_t levels = number & 1 ? 4 : 0;
      late_calls = 0;
      set_up(&(call_trial){.result = result,
                      .list = SMALL,
                      .has_selector = true,
                      .way = BY_FUNCTION,
                      .is_owned = is_owned,
                      .has_libffi_entry = number & 2,
                      .has_failure_result = is_owned && (number & 4)});
      now.is_filled = FWD_HAS_FILLED_CALLS && levels >= 3;
      run_inside(levels, check_end);
      tear_down();
    }
  }
}

// MARK: An interceptor is cancelled by one before it

static struct {
  fwd_proxy *proxy;
  fwd_liveness *before, *stub;
  size_t intercepted, forwarded;
} cancelling;

static void set_taps(fwd_taps *taps) {
  fwd_garbage garbage = {.first = NULL};
  fwd_list_intercept(fwd_proxy_core_list(cancelling.proxy), 0, taps, (fwd_interceptors){.exist = true, .respond = true},
                     &garbage);
  fwd_garbage_collect(garbage);
}

/// Cancels the interceptor that replaces the subscribers. From now on some interceptor is no closure, so Swift calls all.
static fwd_status cancel_stub(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error) {
  (void)context, (void)receiver, (void)arguments, (void)result, (void)error;
  fwd_liveness_end(cancelling.stub);
  set_taps(NULL);
  return FWD_OK;
}

static fwd_status call_stub(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error) {
  (void)context, (void)receiver, (void)arguments, (void)result, (void)error;
  EXPECT(false);
  return FWD_OK;
}

/// Goes on, as the Swift module does without an interceptor that replaces the subscribers.
static fwd_status intercept(void *told, const fwd_proxy_method *method, const fwd_delivery *delivery) {
  EXPECT(told == owner);
  // The outer fan-out calls the other closures, so Swift must not call them again.
  EXPECT(delivery->is_tapped);
  cancelling.intercepted++;
  fwd_delivery inner = *delivery;
  inner.is_intercepted = inner.is_nested = true;
  return fwd_fan_out(cancelling.proxy, method, &inner);
}

/// The forward target. Its own interceptors have not run, so no flag says that they have.
static fwd_status forward_unhandled(void *told, fwd_selector selector, const fwd_delivery *delivery) {
  (void)selector;
  EXPECT(told == owner);
  EXPECT(!delivery->is_tapped);
  EXPECT(!delivery->is_intercepted);
  EXPECT(!delivery->is_unpinned && !delivery->batch);
  cancelling.forwarded++;
  return FWD_OK;
}

static void check_cancelled_interceptor(void) {
  check_begin("the forward target gets a delivery whose interceptor has been cancelled");
  static const fwd_proxy_operations operations = {.report = report_nothing,
                                                  .met_the_dead = note_nothing,
                                                  .find_responders = note_nothing,
                                                  .intercept = intercept,
                                                  .forward_unhandled = forward_unhandled,
                                                  .interceptor_ended = note_nothing};
  fwd_selector selector = fwd_selector_register("take:");
  cancelling.proxy = make_proxy("v@:q", FWD_RESULT_DEFAULT, &operations, selector);
  fwd_proxy_core_set_forwards(cancelling.proxy, true);
  int64_t argument = 1;
  for (int by_frame = 0; by_frame < 2; by_frame++) {
    NEED(cancelling.before = fwd_liveness_create(0));
    NEED(cancelling.stub = fwd_liveness_create(0));
    fwd_taps *taps = fwd_taps_create(1, true, 0, NULL);
    NEED(taps);
    *fwd_taps_at(taps, 0) = (fwd_tap){.implementation = {.packed = cancel_stub}, .liveness = cancelling.before};
    *fwd_taps_at(taps, 1) = (fwd_tap){.implementation = {.packed = call_stub}, .liveness = cancelling.stub};
    set_taps(taps);
    cancelling.intercepted = cancelling.forwarded = 0;
    fwd_status status = by_frame ? fwd_forward(cancelling.proxy, selector, &argument, sizeof argument, NULL, 0)
                                 : fwd_forward_arguments(cancelling.proxy, selector, (void *[]){&argument}, 1, NULL, 0);
    EXPECT(status == FWD_OK && cancelling.intercepted == 1 && cancelling.forwarded == 1);
    fwd_liveness_destroy(cancelling.before);
    fwd_liveness_destroy(cancelling.stub);
  }
  fwd_proxy_core_release(cancelling.proxy);
}

// MARK: Closures with a policy

#if FWD_HAS_SWIFTCALL

enum { member_limit = 9000, dead_number = 1, ender_number = 2, ended_number = 4 };

typedef struct member {
  fwd_subscription subscription;
  /// NULL if the subscriber is held without a reference, or has died.
  fake_object *object;
  size_t calls;
} member;

typedef struct closures {
  size_t count;
  fwd_hold hold;
  /// An object that is held weakly has died before the fan-outs.
  bool has_dead;
  /// In the first fan-out a subscriber ends the subscription of a later one.
  bool ends_one;
  bool is_in_batch;
  /// The deliveries have pointers to the arguments, rather than a frame.
  bool has_pointers;
  /// Every third subscriber is a C function.
  bool is_mixed;
  /// The method is void, so that all subscribers are called.
  bool is_void;
} closures;

/// The state of the current trial.
static struct {
  closures closures;
  fwd_proxy *proxy;
  fwd_selector selector;
  member members[member_limit];
  /// The number of the member whose result is not zero; `member_limit` for none.
  size_t stop;
  /// The least number of a member that may be called next.
  size_t next;
  /// How many records the fan-out has visited, if it has met some to remove; else 0.
  size_t visited;
} asked;

static void note_visited(void *told, size_t visited) {
  EXPECT(told == owner);
  asked.visited = visited;
}

static void end_subscription(fwd_subscription subscription) {
  fwd_subscriber_list *list = fwd_proxy_core_list(asked.proxy);
  fwd_record *record = fwd_list_find(list, subscription);
  fwd_garbage garbage = {.first = NULL};
  if (record) fwd_list_end(list, record, &garbage);
  fwd_garbage_collect(garbage);
}

/// Notes a call of a member, and returns its result.
static __attribute__((noinline)) int32_t answer(member *self, int64_t argument) {
  size_t number = (size_t)(self - asked.members);
  EXPECT(argument == 77);
  EXPECT(number >= asked.next);
  asked.next = number + 1;
  self->calls++;
  // The program has one reference. The delivery, the batch or the list has the other.
  EXPECT(!self->object || object_strong(self->object) == 2);
  if (asked.closures.ends_one && number == ender_number) end_subscription(asked.members[ended_number].subscription);
  return number == asked.stop;
}

// A function of its own: clang takes the memory of a swiftcall function's result for that of a pointer, and may leave out what
// the function itself writes there.
static __attribute__((noinline)) void give_answer(member *self, int64_t argument, void *result) {
  int32_t given = answer(self, argument);
  if (!asked.closures.is_void) memcpy(result, &given, sizeof given);
}

static __attribute__((swiftcall)) void answer_by_closure(FWD_SWIFT_RESULT void *result, void *receiver,
                                                         void *const *arguments, FWD_SWIFT_CONTEXT const void *context) {
  (void)context;
  give_answer(receiver, *(const int64_t *)arguments[0], result);
}

static int32_t answer_by_function(member *self, fwd_selector selector, int64_t argument) {
  EXPECT(selector == asked.selector);
  return answer(self, argument);
}

/// The packed function of a closure, which these fan-outs do not call.
static fwd_status refuse(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error) {
  (void)context, (void)receiver, (void)arguments, (void)result;
  EXPECT(false);
  return fwd_error_set(error, FWD_DELIVERY_FAILED, 0, "a closure is called by its packed function");
}

/// Whether a member is called if no earlier one stops the fan-out.
static bool is_live(size_t number) {
  if (asked.closures.has_dead && number == dead_number) return false;
  return !(asked.closures.ends_one && number == ended_number);
}

static fwd_status fan_out(fwd_batch *batch, int32_t *result) {
  int64_t argument = 77;
  void *arguments[] = {&argument};
  fwd_delivery delivery = {.batch = batch, .result = asked.closures.is_void ? NULL : result};
  if (asked.closures.has_pointers) {
    delivery.arguments = arguments;
  } else {
    delivery.frame = &argument;
  }
  // A loop would deliver a void method, unless libffi is forced.
  fwd_use_libffi(asked.closures.is_void);
  fwd_status status = fwd_fan_out(asked.proxy, fwd_proxy_core_method(asked.proxy, asked.selector), &delivery);
  fwd_use_libffi(false);
  return status;
}

/// Fans out. Checks that each live member was called once, up to the one that stops, and that the list is told exactly how many
/// records have been visited. `changes` is whether a subscription ends meanwhile.
static void check_fan_out(fwd_batch *batch, size_t stop, bool changes) {
  const closures *trial = &asked.closures;
  for (size_t i = 0; i < trial->count; i++) asked.members[i].calls = 0;
  asked.stop = stop;
  asked.next = asked.visited = 0;
  int32_t result = -1;
  EXPECT(fan_out(batch, &result) == FWD_OK);
  bool stops = !trial->is_void && stop < trial->count && is_live(stop);
  size_t visited = stops ? stop + 1 : trial->count;
  for (size_t i = 0; i < trial->count; i++) EXPECT(asked.members[i].calls == (i < visited && is_live(i)));
  EXPECT(trial->is_void || result == stops);
  bool met_dead = (trial->has_dead && visited > dead_number) || (trial->ends_one && visited > ended_number);
  if (!met_dead || batch) visited = 0;
  // If the list has changed meanwhile, the fan-out does not know where the visited records are.
  EXPECT(asked.visited == visited || (changes && asked.visited > visited));
  // Each delivery has released its reference.
  for (size_t i = 0; i < trial->count; i++) {
    fake_object *object = asked.members[i].object;
    if (!object || !is_live(i)) continue;
    EXPECT(object_strong(object) == (batch || trial->hold == FWD_HOLD_STRONG ? 2 : 1));
  }
}

static void subscribe_members(void) {
  static const fwd_swift_closure closure = {.function = (void (*)(void))answer_by_closure, .takes_receiver = true};
  const closures *trial = &asked.closures;
  for (size_t i = 0; i < trial->count; i++) {
    member *made = &asked.members[i];
    *made = (member){.object = trial->hold == FWD_HOLD_NONE ? NULL : object_create(NULL, NULL)};
    fwd_implementation implementation = {.packed = refuse, .closure = &closure};
    if (trial->is_mixed && i % 3 == 2) {
      implementation = (fwd_implementation){.function = (void (*)(void))answer_by_function};
    }
    fwd_subscriber subscriber = {.object = made->object, .hold = trial->hold, .receiver = made};
    made->subscription = subscribe(asked.proxy, implementation, subscriber);
  }
}

static void ask_closures(closures trial) {
  static const fwd_proxy_operations operations = {
      .report = report_nothing, .met_the_dead = note_visited, .find_responders = note_nothing};
  asked.closures = trial;
  asked.selector = fwd_selector_register("ask:");
  asked.proxy = make_proxy(trial.is_void ? "v@:q" : "i@:q",
                           trial.is_void ? FWD_RESULT_DEFAULT : FWD_RESULT_UNTIL_NONZERO, &operations, asked.selector);
  subscribe_members();
  if (trial.has_dead) {
    swift_release(asked.members[dead_number].object);
    asked.members[dead_number].object = NULL;
  }
  fwd_batch *batch = NULL;
  if (trial.is_in_batch) NEED(batch = fwd_batch_create(asked.proxy));
  // In the first fan-out a subscription ends.
  const size_t stops[] = {member_limit, 0, trial.count / 2, trial.count - 1};
  for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) check_fan_out(batch, stops[i], trial.ends_one && i == 0);
  fwd_batch_destroy(batch);
  fwd_proxy_core_release(asked.proxy);
  for (size_t i = 0; i < trial.count; i++) {
    if (asked.members[i].object) swift_release(asked.members[i].object);
  }
}

static void check_closures(size_t count) {
  static const fwd_hold holds[] = {FWD_HOLD_WEAK, FWD_HOLD_STRONG, FWD_HOLD_NONE};
  static char name[64];
  snprintf(name, sizeof name, "closures until a result is not zero, among %zu subscribers", count);
  check_begin(name);
  long before = atomic_load(&objects_allocated);
  for (size_t i = 0; i < sizeof holds / sizeof *holds; i++) {
    // Each bit of the number is one of the properties.
    for (size_t number = 0; number < 64; number++) {
      closures trial = {.count = count,
                        .hold = holds[i],
                        .has_dead = number & 1,
                        .ends_one = number & 2,
                        .is_in_batch = number & 4,
                        .has_pointers = number & 8,
                        .is_mixed = number & 16,
                        .is_void = number & 32};
      bool is_possible = (!trial.has_dead || (trial.hold == FWD_HOLD_WEAK && count > dead_number)) &&
                         (!trial.ends_one || count > ended_number);
      if (is_possible) ask_closures(trial);
    }
  }
  EXPECT(atomic_load(&objects_allocated) == before);
}
#endif

int main(void) {
  // Whatever the environment says.
  fwd_use_libffi(false);
  owner = object_create(NULL, NULL);
  reporter = object_create(NULL, NULL);
  make_recursion();
  for (size_t i = 0; i < result_type_count; i++) {
    for (list_kind list = 0; list < list_count; list++) check_filled_calls(&result_types[i], list);
  }
  for (size_t i = 0; i < result_type_count; i++) check_ends(&result_types[i]);
  check_cancelled_interceptor();
#if FWD_HAS_SWIFTCALL
  // Lists of FWD_PREFETCHED_COUNT records and more are prefetched. The longest list has several segments.
  const size_t counts[] = {1, 2, 3, 5, 40, FWD_PREFETCHED_COUNT - 1, FWD_PREFETCHED_COUNT, 3000, member_limit};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) check_closures(counts[i]);
#endif
  check_begin("nothing is left");
  fwd_proxy_core_release(recursion.proxy);
  swift_release(owner);
  // A buried function keeps its reporter for the life of the process.
  EXPECT(atomic_load(&objects_alive) == 1 && atomic_load(&objects_allocated) == 1);
  return check_finish();
}
