// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Forwards inside forwards: the stack that each level takes, and the error that stops a recursion before the
/// stack ends. Each way to forward recurses on a thread with a stack of 512 KB, on a fiber and in a signal handler.
///
/// With the argument `figures` it prints the bytes of stack of each way.

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"
#include "fan_out/method_set.h"
#include "fan_out/nesting.h"
#include "fan_out/replay_state.h"
#include "forwarding.h"
#include "fwd_fan_out.h"
#include "fwd_list.h"
#include "fwd_taps.h"
#include "members/swift_closure.h"
#include "objects.h"
#include "pairs.h"
#include "proxies.h"

#ifndef FWD_NESTING_STATUS
#define FWD_NESTING_STATUS FWD_NESTED_TOO_DEEP
#endif

enum {
  small_stack = 512 << 10,
  /// The bytes of the stack that a level may take, for methods of up to six arguments, in a release build.
  level_limit = 700,
  /// How much more it may take if the list has so many subscribers that it is prefetched.
  long_list_extra = 70,
  /// How much more each of the first levels may take if the arguments take more than eight registers.
  wide_extra = 260,
  /// The first of the deep levels, whose wide calls take no more than others.
  first_deep_level = 4,
  /// Far more levels than fit into the small stack.
  endless = 1 << 20,
  /// The stack of a fiber or a signal handler: enough for the levels that are allowed there, whatever the build.
  other_stack = 1 << 20,
};

// MARK: Proxies of C functions

static size_t reports;
static fwd_status reported;
static char reported_message[256];

static void report(void *owner, fwd_selector selector, const fwd_error *error) {
  (void)owner, (void)selector;
  reports++;
  reported = error->status;
  memcpy(reported_message, error->message, sizeof reported_message);
}

/// An interceptor that only goes on.
static fwd_status intercept(void *owner, const fwd_proxy_method *method, const fwd_delivery *delivery);

static const fwd_proxy_operations operations = {
    .report = report, .met_the_dead = note_nothing, .find_responders = note_nothing, .intercept = intercept};

typedef struct nesting_way {
  const char *name;
  const char *encoding;
  fwd_implementation implementation;
  /// Forwards once more: `call` by a call through the C function pointer, `forward` in another way.
  fwd_status (*forward)(void);
  fwd_status (*call)(void);
  bool is_intercepted;
  /// Whether a closure sees the invocation pass.
  bool is_observed;
  /// Whether the thread has entered a batch of the proxy.
  bool is_in_batch;
  fwd_result_policy policy;
  int64_t seen;
  /// How many subscribers there are besides the one that forwards, which is the first.
  size_t others;
} nesting_way;

/// What a way is tried with. Each bit of the number of a trial is one of these.
typedef struct nesting_trial {
  /// The subscribers are objects that are held weakly.
  bool is_weak;
  /// The subscribers are Swift closures.
  bool is_closure;
  /// The C function pointer is one that nobody destroys.
  bool is_owned;
} nesting_trial;
enum { trial_count = 8 };

static nesting_trial trial_of(size_t number) {
  return (nesting_trial){.is_weak = number & 1, .is_closure = number & 2, .is_owned = number & 4};
}

/// Of the way that is tried at the moment.
static struct {
  fwd_proxy *proxy;
  fwd_proxy_method method;
  const nesting_way *way;
  nesting_trial trial;
  fwd_closure *closure;
  fwd_owned_function *owned;
  /// That of one of the two.
  void (*function)(void);
  fwd_batch *batch;
  fake_object *owner;
  /// Held weakly; NULL if the subscriber is held without a reference.
  fake_object *object;
  size_t depth, limit;
  /// Where the stack was at the last levels.
  uintptr_t here, outer;
  fwd_status status;
  char message[256];
} now;

static fwd_status intercept(void *owner, const fwd_proxy_method *method, const fwd_delivery *delivery) {
  (void)owner;
  fwd_delivery inner = *delivery;
  inner.is_intercepted = true;
  inner.is_nested = true;
  return fwd_fan_out(now.proxy, method, &inner);
}

static inline fwd_status forward(void) { return now.way->call ? now.way->call() : now.way->forward(); }

/// A level has been reached: goes on to the next one.
static __attribute__((noinline)) void descend(void) {
  now.outer = now.here;
  now.here = (uintptr_t)__builtin_frame_address(0);
  if (++now.depth == now.limit) return;
  fwd_status status = forward();
  // The innermost failure is the first that returns.
  if (status != FWD_OK && now.status == FWD_OK) {
    now.status = status;
    memcpy(now.message, fwd_error_message(), sizeof now.message);
  }
}

static fwd_proxy *make_proxy(const char *name, const char *encoding, fwd_result_policy policy,
                             fwd_proxy_method *method) {
  fwd_signature *signature;
  NEED(fwd_signature_create(encoding, strlen(encoding), &signature, NULL) == FWD_OK);
  *method = (fwd_proxy_method){
      .selector = fwd_selector_register(name),
      .signature = signature,
      .policy = policy,
      .no_responder = FWD_NO_RESPONDER_FAIL,
  };
  fwd_proxy *proxy = new_proxy(method, 1, now.owner, &operations);
  NEED(proxy);
  // The proxy has retained the signature.
  fwd_signature_release(signature);
  return proxy;
}

/// Subscribes a function. The object is held weakly, or NULL.
static void subscribe(fwd_proxy *proxy, fwd_implementation implementation, fake_object *object) {
  fwd_dispatch_table *table = fwd_dispatch_table_create(1, NULL);
  NEED(table);
  *fwd_dispatch_table_entry(table, 0) = implementation;
  fwd_subscriber subscriber = {
      .object = object, .hold = object ? FWD_HOLD_WEAK : FWD_HOLD_NONE, .receiver = object};
  fwd_garbage garbage = {.first = NULL};
  NEED(fwd_list_insert(fwd_proxy_core_list(proxy), &subscriber, table, FWD_LIST_END, &garbage));
  fwd_garbage_collect(garbage);
  fwd_dispatch_table_release(table);
}

// MARK: Ways to forward

// The results are written behind the recursion, so that no call is a tail call.
static volatile int written;

/// The arguments that the last subscriber was given, as digits.
static int64_t seen;

static void take_none(void *receiver, fwd_selector selector) {
  (void)receiver, (void)selector;
  descend();
  written = 1;
}
static void take_four(void *receiver, fwd_selector selector, int64_t a, int64_t b, double c, double d) {
  (void)receiver, (void)selector;
  seen = 1000 * a + 100 * b + 10 * (int64_t)c + (int64_t)d;
  descend();
  written = 1;
}
static void take_six(void *receiver, fwd_selector selector, int64_t a, int64_t b, int64_t c, int64_t d,
                     int64_t e, int64_t f) {
  (void)receiver, (void)selector;
  seen = 100000 * a + 10000 * b + 1000 * c + 100 * d + 10 * e + f;
  descend();
  written = 1;
}
static void take_small(void *receiver, fwd_selector selector, float a, float b, float c, signed char d, short e, int f) {
  (void)receiver, (void)selector;
  seen = 100000 * (int64_t)a + 10000 * (int64_t)b + 1000 * (int64_t)c + 100 * d + 10 * e + f;
  descend();
  written = 1;
}
static int32_t answer_six(void *receiver, fwd_selector selector, int64_t a, int64_t b, int64_t c, int64_t d,
                          int64_t e, int64_t f) {
  take_six(receiver, selector, a, b, c, d, e, f);
  return 1;
}
static int32_t answer_four(void *receiver, fwd_selector selector, int64_t a, int64_t b, double c, double d) {
  take_four(receiver, selector, a, b, c, d);
  return 1;
}
static int32_t answer_small(void *receiver, fwd_selector selector, float a, float b, float c, signed char d, short e, int f) {
  take_small(receiver, selector, a, b, c, d, e, f);
  return 1;
}
static doubles answer_doubles(void *receiver, fwd_selector selector, int64_t a, int64_t b, int64_t c, int64_t d,
                              int64_t e, int64_t f) {
  take_six(receiver, selector, a, b, c, d, e, f);
  return (doubles){1, 2};
}
/// Six arguments in thirteen registers, the hidden ones counted.
static void take_wide(void *receiver, fwd_selector selector, integers a, integers b, doubles c, doubles d, doubles e,
                      double f) {
  (void)receiver, (void)selector;
  seen = 100000 * a.b + 10000 * b.b + 1000 * (int64_t)c.b + 100 * (int64_t)d.b + 10 * (int64_t)e.b + (int64_t)f;
  descend();
  written = 1;
}
static int32_t answer_wide(void *receiver, fwd_selector selector, integers a, integers b, doubles c, doubles d, doubles e,
                           double f) {
  take_wide(receiver, selector, a, b, c, d, e, f);
  return 1;
}
static doubles answer_wide_doubles(void *receiver, fwd_selector selector, integers a, integers b, doubles c, doubles d,
                                   doubles e, double f) {
  take_wide(receiver, selector, a, b, c, d, e, f);
  return (doubles){1, 2};
}
/// A subscriber that does nothing, whatever the method.
static int32_t ignore(void) { return 0; }
static fwd_status take_packed(const void *context, void *receiver, void *const *arguments, void *result,
                              fwd_error *error) {
  (void)context, (void)receiver, (void)result, (void)error;
  int64_t first;
  memcpy(&first, arguments[2], sizeof first);
  seen = first;
  descend();
  written = 1;
  return FWD_OK;
}

/// The second argument, which is 2 in all ways; 2 for a method without arguments. `arguments` does not have the hidden ones.
static int64_t second_argument(void *const *arguments) {
  int64_t number = 2;
  float small_number;
  integers pair;
  switch (strchr(now.way->encoding, ':')[1]) {
    case 'f':
      memcpy(&small_number, arguments[1], sizeof small_number);
      return (int64_t)small_number;
    case '{':
      memcpy(&pair, arguments[1], sizeof pair);
      return pair.b;
    case 'q': memcpy(&number, arguments[1], sizeof number);
  }
  return number;
}

#if FWD_HAS_SWIFTCALL
// Functions of their own: clang takes the memory of a swiftcall function's result for that of a pointer, and may leave out what
// the function itself writes there.
static __attribute__((noinline)) void give_integer(void *result) { memcpy(result, &(int32_t){1}, sizeof(int32_t)); }
static __attribute__((noinline)) void give_doubles(void *result) { memcpy(result, &(doubles){1, 2}, sizeof(doubles)); }

// A closure for each type of a result. Each has as small a stack frame as a C function that does the same.
#define CLOSURE(name, returned)                                                                                    \
  static __attribute__((swiftcall)) void name(FWD_SWIFT_RESULT void *result, void *receiver, void *const *arguments, \
                                              FWD_SWIFT_CONTEXT const void *context) {                             \
    (void)receiver, (void)context, (void)result;                                                                   \
    seen = second_argument(arguments) == 2 ? now.way->seen : -1;                                                   \
    descend();                                                                                                     \
    returned;                                                                                                      \
  }
CLOSURE(take_by_closure, written = 1)
CLOSURE(answer_by_closure, give_integer(result))
CLOSURE(answer_doubles_by_closure, give_doubles(result))

/// For the fan-outs that do not call closures as such. They are not of void methods.
static fwd_status answer_packed(const void *context, void *receiver, void *const *arguments, void *result,
                                fwd_error *error) {
  (void)context, (void)receiver, (void)error;
  seen = second_argument(arguments + 2) == 2 ? now.way->seen : -1;
  descend();
  give_integer(result);
  return FWD_OK;
}
#endif

/// A closure for the method of a way.
static fwd_implementation closure_implementation(const nesting_way *way) {
#if FWD_HAS_SWIFTCALL
  static fwd_swift_closure closure = {.takes_receiver = true};
  closure.function = (void (*)(void))(way->encoding[0] == 'v'   ? take_by_closure
                                      : way->encoding[0] == 'i' ? answer_by_closure
                                                                : answer_doubles_by_closure);
  return (fwd_implementation){.packed = answer_packed, .closure = &closure};
#else
  return way->implementation;
#endif
}

static const int64_t six[6] = {1, 2, 3, 4, 5, 6};
static const struct {
  int64_t a, b;
  double c, d;
} four = {1, 2, 3, 4};

static const struct {
  float a, b, c;
  signed char d;
  short e;
  int f;
} small = {1, 2, 3, 4, 5, 6};
static const struct {
  integers a, b;
  doubles c, d, e;
  double f;
} wide = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, 6};

static fwd_status forward_none(void) {
  return fwd_forward(now.proxy, now.method.selector, NULL, 0, NULL, 0);
}
static fwd_status forward_four(void) {
  return fwd_forward(now.proxy, now.method.selector, &four, sizeof four, NULL, 0);
}
static fwd_status forward_six(void) {
  return fwd_forward(now.proxy, now.method.selector, six, sizeof six, NULL, 0);
}
static fwd_status forward_six_by_pointers(void) {
  void *arguments[6];
  for (int i = 0; i < 6; i++) arguments[i] = (void *)(uintptr_t)&six[i];
  return fwd_forward_arguments(now.proxy, now.method.selector, arguments, 6, NULL, 0);
}
static fwd_status forward_six_by_name(void) {
  return fwd_forward_named(now.proxy, fwd_selector_name(now.method.selector), six, sizeof six, NULL, 0);
}
static fwd_status ask_six(void) {
  int32_t result;
  return fwd_forward(now.proxy, now.method.selector, six, sizeof six, &result, sizeof result);
}
static fwd_status forward_method_of_six(void) {
  return fwd_forward_method(now.proxy, fwd_proxy_core_method(now.proxy, now.method.selector), six, sizeof six, NULL, 0);
}
static fwd_status forward_small(void) {
  return fwd_forward(now.proxy, now.method.selector, &small, sizeof small, NULL, 0);
}
static fwd_status forward_wide(void) {
  return fwd_forward(now.proxy, now.method.selector, &wide, sizeof wide, NULL, 0);
}
static fwd_status ask_four(void) {
  int32_t result;
  return fwd_forward(now.proxy, now.method.selector, &four, sizeof four, &result, sizeof result);
}
static bool take_result(void *context, fwd_subscription author, const void *result) {
  (void)context, (void)author, (void)result;
  return true;
}
static fwd_status collect_four(void) {
  return fwd_collect(now.proxy, now.method.selector, &four, sizeof four, take_result, NULL);
}
static fwd_status forward_six_in_batch(void) {
  return fwd_batch_forward(now.batch, now.method.selector, six, sizeof six, NULL, 0);
}
/// A function pointer has no status: what it could not do is reported.
static __attribute__((noinline)) fwd_status status_of_call(size_t reports_before) {
  if (reports == reports_before) return FWD_OK;
  fwd_error error = {.status = reported};
  memcpy(error.message, reported_message, sizeof error.message);
  return fwd_error_set(NULL, error.status, 0, error.message);
}
static fwd_status call_none(void) {
  size_t before = reports;
  now.function();
  return status_of_call(before);
}
static fwd_status call_four(void) {
  size_t before = reports;
  ((void (*)(int64_t, int64_t, double, double))now.function)(1, 2, 3, 4);
  return status_of_call(before);
}
static fwd_status call_six(void) {
  size_t before = reports;
  ((void (*)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t))now.function)(
      1, 2, 3, 4, 5, 6);
  return status_of_call(before);
}
static fwd_status call_small(void) {
  size_t before = reports;
  ((void (*)(float, float, float, signed char, short, int))now.function)(1, 2, 3, 4, 5, 6);
  return status_of_call(before);
}
static fwd_status ask_six_by_call(void) {
  size_t before = reports;
  ((int32_t(*)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t))now.function)(1, 2, 3, 4, 5, 6);
  return status_of_call(before);
}

static fwd_status ask_four_by_call(void) {
  size_t before = reports;
  ((int32_t(*)(int64_t, int64_t, double, double))now.function)(1, 2, 3, 4);
  return status_of_call(before);
}
static fwd_status ask_small_by_call(void) {
  size_t before = reports;
  ((int32_t(*)(float, float, float, signed char, short, int))now.function)(1, 2, 3, 4, 5, 6);
  return status_of_call(before);
}
static fwd_status ask_doubles_by_call(void) {
  size_t before = reports;
  doubles result = ((doubles(*)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t))now.function)(
      1, 2, 3, 4, 5, 6);
  if (reports == before && !(result.a == 1 && result.b == 2)) now.status = FWD_OUT_OF_RANGE;
  return status_of_call(before);
}
static fwd_status call_wide(void) {
  size_t before = reports;
  ((void (*)(integers, integers, doubles, doubles, doubles, double))now.function)(
      wide.a, wide.b, wide.c, wide.d, wide.e, wide.f);
  return status_of_call(before);
}

static fwd_status ask_wide_by_call(void) {
  size_t before = reports;
  ((int32_t(*)(integers, integers, doubles, doubles, doubles, double))now.function)(wide.a, wide.b, wide.c, wide.d, wide.e,
                                                                                     wide.f);
  return status_of_call(before);
}
static fwd_status ask_wide_doubles_by_call(void) {
  size_t before = reports;
  doubles result = ((doubles(*)(integers, integers, doubles, doubles, doubles, double))now.function)(
      wide.a, wide.b, wide.c, wide.d, wide.e, wide.f);
  if (reports == before && !(result.a == 1 && result.b == 2)) now.status = FWD_OUT_OF_RANGE;
  return status_of_call(before);
}

/// Six arguments in eleven registers, the first an integer.
#define WIDE_OF_INTEGER "v@:q{doubles=dd}{doubles=dd}{doubles=dd}dq"
static fwd_status call_wide_of_integer(void) {
  size_t before = reports;
  ((void (*)(int64_t, doubles, doubles, doubles, double, int64_t))now.function)(1, wide.c, wide.d, wide.e, 5, 6);
  return status_of_call(before);
}

#define WIDE_ARGUMENTS "@:{integers=qq}{integers=qq}{doubles=dd}{doubles=dd}{doubles=dd}d"
#define WIDE "v" WIDE_ARGUMENTS
#define FUNCTION(name) {.function = (void (*)(void))name}
/// The ways to ask for a result by a C function pointer, with arguments in thirteen registers.
#define WIDE_ANSWER(how, result, type, answer, ask, ...)                                                           \
  {.name = "a function pointer" how ", thirteen registers and " result, .encoding = type WIDE_ARGUMENTS,           \
   .implementation = FUNCTION(answer), .call = ask, .policy = FWD_RESULT_ALL_FIRST, .seen = 123456, __VA_ARGS__}
#define WIDE_ANSWERS(...)                                                                                          \
  WIDE_ANSWER("", __VA_ARGS__, .others = 0), WIDE_ANSWER(" among five subscribers", __VA_ARGS__, .others = 4),     \
      WIDE_ANSWER(" in a batch", __VA_ARGS__, .is_in_batch = true),                                                \
      WIDE_ANSWER(" in a batch, among five subscribers", __VA_ARGS__, .is_in_batch = true, .others = 4),           \
      WIDE_ANSWER(" with interceptors before and after", __VA_ARGS__, .is_observed = true),                        \
      WIDE_ANSWER(" with interceptors before and after, among five subscribers", __VA_ARGS__, .is_observed = true, \
                  .others = 4)
static const nesting_way ways[] = {
    {.name = "fwd_forward, no arguments", .encoding = "v@:", .implementation = FUNCTION(take_none),
     .forward = forward_none, .seen = 0},
    {.name = "fwd_forward, four arguments", .encoding = "v@:qqdd", .implementation = FUNCTION(take_four),
     .forward = forward_four, .seen = 1234},
    {.name = "fwd_forward, six arguments", .encoding = "v@:qqqqqq", .implementation = FUNCTION(take_six),
     .forward = forward_six, .seen = 123456},
    {.name = "fwd_forward, six arguments and a result", .encoding = "i@:qqqqqq",
     .implementation = FUNCTION(answer_six), .forward = ask_six, .policy = FWD_RESULT_UNTIL_NONZERO, .seen = 123456},
    {.name = "fwd_forward to a packed function", .encoding = "v@:qqdd",
     .implementation = {.packed = take_packed}, .forward = forward_four, .seen = 1},
    {.name = "fwd_forward to a packed function, six arguments", .encoding = "v@:qqqqqq",
     .implementation = {.packed = take_packed}, .forward = forward_six, .seen = 1},
    {.name = "fwd_forward_arguments", .encoding = "v@:qqqqqq", .implementation = FUNCTION(take_six),
     .forward = forward_six_by_pointers, .seen = 123456},
    {.name = "fwd_forward_named", .encoding = "v@:qqqqqq", .implementation = FUNCTION(take_six),
     .forward = forward_six_by_name, .seen = 123456},
    {.name = "a batch", .encoding = "v@:qqqqqq", .implementation = FUNCTION(take_six),
     .forward = forward_six_in_batch, .seen = 123456},
    {.name = "fwd_forward in a batch, six arguments", .encoding = "v@:qqqqqq", .implementation = FUNCTION(take_six),
     .forward = forward_six, .is_in_batch = true, .seen = 123456},
    {.name = "a function pointer in a batch, four arguments", .encoding = "v@:qqdd",
     .implementation = FUNCTION(take_four), .call = call_four, .is_in_batch = true, .seen = 1234},
    {.name = "a function pointer, four arguments", .encoding = "v@:qqdd",
     .implementation = FUNCTION(take_four), .call = call_four, .seen = 1234},
    {.name = "a function pointer, six arguments", .encoding = "v@:qqqqqq",
     .implementation = FUNCTION(take_six), .call = call_six, .seen = 123456},
    {.name = "a function pointer with interceptors before and after, six arguments", .encoding = "v@:qqqqqq",
     .implementation = FUNCTION(take_six), .call = call_six, .is_observed = true, .seen = 123456},
    {.name = "a function pointer with interceptors before and after, in a batch", .encoding = "v@:qqqqqq",
     .implementation = FUNCTION(take_six), .call = call_six, .is_observed = true, .is_in_batch = true, .seen = 123456},
    {.name = "a function pointer, six arguments and a result", .encoding = "i@:qqqqqq",
     .implementation = FUNCTION(answer_six), .call = ask_six_by_call, .policy = FWD_RESULT_UNTIL_NONZERO,
     .seen = 123456},
    {.name = "a function pointer with interceptors before and after, and a result", .encoding = "i@:qqqqqq",
     .implementation = FUNCTION(answer_six), .call = ask_six_by_call, .policy = FWD_RESULT_UNTIL_NONZERO,
     .is_observed = true, .seen = 123456},
    {.name = "a function pointer, six small arguments", .encoding = "v@:fffcsi", .implementation = FUNCTION(take_small),
     .call = call_small, .seen = 123456},
    {.name = "a function pointer in a batch, six small arguments", .encoding = "v@:fffcsi",
     .implementation = FUNCTION(take_small), .call = call_small, .is_in_batch = true, .seen = 123456},
    {.name = "an interceptor in C", .encoding = "v@:qqqqqq", .implementation = FUNCTION(take_six),
     .forward = forward_six, .is_intercepted = true, .seen = 123456},
    {.name = "an interceptor in C, four arguments", .encoding = "v@:qqdd", .implementation = FUNCTION(take_four),
     .forward = forward_four, .is_intercepted = true, .seen = 1234},
    {.name = "interceptors before and after it, four arguments", .encoding = "v@:qqdd",
     .implementation = FUNCTION(take_four), .forward = forward_four, .is_observed = true, .seen = 1234},
    {.name = "interceptors before and after it, six arguments", .encoding = "v@:qqqqqq",
     .implementation = FUNCTION(take_six), .forward = forward_six, .is_observed = true, .seen = 123456},
    {.name = "a method that was found before, six arguments", .encoding = "v@:qqqqqq", .implementation = FUNCTION(take_six),
     .forward = forward_method_of_six, .seen = 123456},
    {.name = "fwd_forward, six small arguments", .encoding = "v@:fffcsi", .implementation = FUNCTION(take_small),
     .forward = forward_small, .seen = 123456},
    {.name = "fwd_forward, four arguments and a result", .encoding = "i@:qqdd", .implementation = FUNCTION(answer_four),
     .forward = ask_four, .policy = FWD_RESULT_UNTIL_NONZERO, .seen = 1234},
    {.name = "fwd_collect, four arguments", .encoding = "i@:qqdd", .implementation = FUNCTION(answer_four),
     .forward = collect_four, .seen = 1234},
    {.name = "a function pointer, four arguments and a result", .encoding = "i@:qqdd",
     .implementation = FUNCTION(answer_four), .call = ask_four_by_call, .policy = FWD_RESULT_ALL_LAST, .seen = 1234},
    {.name = "a function pointer with interceptors before and after, four arguments and a result", .encoding = "i@:qqdd",
     .implementation = FUNCTION(answer_four), .call = ask_four_by_call, .is_observed = true, .seen = 1234},
    {.name = "a function pointer, six small arguments and a result", .encoding = "i@:fffcsi",
     .implementation = FUNCTION(answer_small), .call = ask_small_by_call, .policy = FWD_RESULT_UNTIL_NONZERO,
     .seen = 123456},
    {.name = "a function pointer with interceptors before and after, six small arguments and a result",
     .encoding = "i@:fffcsi", .implementation = FUNCTION(answer_small), .call = ask_small_by_call,
     .policy = FWD_RESULT_UNTIL_NONZERO, .is_observed = true, .seen = 123456},
    {.name = "a function pointer in a batch, six arguments and a result", .encoding = "i@:qqqqqq",
     .implementation = FUNCTION(answer_six), .call = ask_six_by_call, .policy = FWD_RESULT_ALL, .is_in_batch = true,
     .seen = 123456},
    {.name = "a function pointer, six arguments and a result of two doubles", .encoding = "{doubles=dd}@:qqqqqq",
     .implementation = FUNCTION(answer_doubles), .call = ask_doubles_by_call, .policy = FWD_RESULT_FIRST,
     .seen = 123456},
    {.name = "a function pointer with interceptors before and after, six small arguments", .encoding = "v@:fffcsi",
     .implementation = FUNCTION(take_small), .call = call_small, .is_observed = true, .seen = 123456},
    {.name = "a function pointer with interceptors before and after, in a batch, six small arguments",
     .encoding = "v@:fffcsi", .implementation = FUNCTION(take_small), .call = call_small, .is_observed = true,
     .is_in_batch = true, .seen = 123456},
    {.name = "a function pointer and an interceptor in C, six small arguments", .encoding = "v@:fffcsi",
     .implementation = FUNCTION(take_small), .call = call_small, .is_intercepted = true, .seen = 123456},
    {.name = "a function pointer to a packed function, four arguments", .encoding = "v@:qqdd",
     .implementation = {.packed = take_packed}, .call = call_four, .seen = 1},
    {.name = "a function pointer to a packed function, six arguments", .encoding = "v@:qqqqqq",
     .implementation = {.packed = take_packed}, .call = call_six, .seen = 1},
    {.name = "a function pointer to a packed function, eleven registers", .encoding = WIDE_OF_INTEGER,
     .implementation = {.packed = take_packed}, .call = call_wide_of_integer, .seen = 1},
    {.name = "a function pointer to a packed function, eleven registers, among five subscribers", .encoding = WIDE_OF_INTEGER,
     .implementation = {.packed = take_packed}, .call = call_wide_of_integer, .seen = 1, .others = 4},
    {.name = "fwd_forward, thirteen registers", .encoding = WIDE, .implementation = FUNCTION(take_wide),
     .forward = forward_wide, .seen = 123456},
    {.name = "fwd_forward in a batch, thirteen registers", .encoding = WIDE, .implementation = FUNCTION(take_wide),
     .forward = forward_wide, .is_in_batch = true, .seen = 123456},
    {.name = "a function pointer, thirteen registers", .encoding = WIDE, .implementation = FUNCTION(take_wide),
     .call = call_wide, .seen = 123456},
    {.name = "a function pointer in a batch, thirteen registers", .encoding = WIDE, .implementation = FUNCTION(take_wide),
     .call = call_wide, .is_in_batch = true, .seen = 123456},
    {.name = "a function pointer with interceptors before and after, thirteen registers", .encoding = WIDE,
     .implementation = FUNCTION(take_wide), .call = call_wide, .is_observed = true, .seen = 123456},
    {.name = "fwd_forward, no arguments, among five subscribers", .encoding = "v@:", .implementation = FUNCTION(take_none),
     .forward = forward_none, .seen = 0, .others = 4},
    {.name = "a function pointer, no arguments, among five subscribers", .encoding = "v@:",
     .implementation = FUNCTION(take_none), .call = call_none, .seen = 0, .others = 4},
    {.name = "a function pointer, no arguments, among three thousand subscribers", .encoding = "v@:",
     .implementation = FUNCTION(take_none), .call = call_none, .seen = 0, .others = 3000},
    {.name = "fwd_forward, four arguments and the last result, among five subscribers", .encoding = "i@:qqdd",
     .implementation = FUNCTION(answer_four), .forward = ask_four, .policy = FWD_RESULT_ALL_LAST, .seen = 1234, .others = 4},
    {.name = "a function pointer, four arguments and the last result, among five subscribers", .encoding = "i@:qqdd",
     .implementation = FUNCTION(answer_four), .call = ask_four_by_call, .policy = FWD_RESULT_ALL_LAST, .seen = 1234,
     .others = 4},
    {.name = "a function pointer, six small arguments and the last result, among five subscribers", .encoding = "i@:fffcsi",
     .implementation = FUNCTION(answer_small), .call = ask_small_by_call, .policy = FWD_RESULT_ALL_LAST, .seen = 123456,
     .others = 4},
    {.name = "fwd_forward, four arguments, among two subscribers", .encoding = "v@:qqdd",
     .implementation = FUNCTION(take_four), .forward = forward_four, .seen = 1234, .others = 1},
    {.name = "fwd_forward, four arguments, among five subscribers", .encoding = "v@:qqdd",
     .implementation = FUNCTION(take_four), .forward = forward_four, .seen = 1234, .others = 4},
    {.name = "a function pointer, six small arguments, among two subscribers", .encoding = "v@:fffcsi",
     .implementation = FUNCTION(take_small), .call = call_small, .seen = 123456, .others = 1},
    {.name = "a function pointer, six small arguments, among five subscribers", .encoding = "v@:fffcsi",
     .implementation = FUNCTION(take_small), .call = call_small, .seen = 123456, .others = 4},
    {.name = "a function pointer in a batch, six small arguments, among three subscribers", .encoding = "v@:fffcsi",
     .implementation = FUNCTION(take_small), .call = call_small, .is_in_batch = true, .seen = 123456, .others = 2},
    {.name = "a function pointer with interceptors before and after, six small arguments, among five subscribers",
     .encoding = "v@:fffcsi", .implementation = FUNCTION(take_small), .call = call_small, .is_observed = true,
     .seen = 123456, .others = 4},
    {.name = "a function pointer in a batch, six small arguments, among five subscribers", .encoding = "v@:fffcsi",
     .implementation = FUNCTION(take_small), .call = call_small, .is_in_batch = true, .seen = 123456, .others = 4},
    {.name = "a function pointer, thirteen registers, among five subscribers", .encoding = WIDE,
     .implementation = FUNCTION(take_wide), .call = call_wide, .seen = 123456, .others = 4},
    {.name = "fwd_forward, thirteen registers, with interceptors before and after, among five subscribers", .encoding = WIDE,
     .implementation = FUNCTION(take_wide), .forward = forward_wide, .is_observed = true, .seen = 123456, .others = 4},
    {.name = "a function pointer with interceptors before and after, thirteen registers, among five subscribers",
     .encoding = WIDE, .implementation = FUNCTION(take_wide), .call = call_wide, .is_observed = true, .seen = 123456,
     .others = 4},
    {.name = "a function pointer in a batch, thirteen registers, among five subscribers", .encoding = WIDE,
     .implementation = FUNCTION(take_wide), .call = call_wide, .is_in_batch = true, .seen = 123456, .others = 4},
    {.name = "a function pointer with interceptors before and after, thirteen registers, among a thousand subscribers",
     .encoding = WIDE, .implementation = FUNCTION(take_wide), .call = call_wide, .is_observed = true, .seen = 123456,
     .others = 1000},
    WIDE_ANSWERS("a result", "i", answer_wide, ask_wide_by_call),
    WIDE_ANSWERS("two doubles as result", "{doubles=dd}", answer_wide_doubles, ask_wide_doubles_by_call),
    {.name = "a function pointer, six arguments and a result, among five subscribers", .encoding = "i@:qqqqqq",
     .implementation = FUNCTION(answer_six), .call = ask_six_by_call, .policy = FWD_RESULT_UNTIL_NONZERO,
     .seen = 123456, .others = 4},
    {.name = "fwd_forward, four arguments, among a thousand subscribers", .encoding = "v@:qqdd",
     .implementation = FUNCTION(take_four), .forward = forward_four, .seen = 1234, .others = 1000},
    {.name = "a function pointer, six small arguments, among a thousand subscribers", .encoding = "v@:fffcsi",
     .implementation = FUNCTION(take_small), .call = call_small, .seen = 123456, .others = 1000},
    {.name = "a function pointer, six arguments and a result, among a thousand subscribers", .encoding = "i@:qqqqqq",
     .implementation = FUNCTION(answer_six), .call = ask_six_by_call, .policy = FWD_RESULT_UNTIL_NONZERO,
     .seen = 123456, .others = 1000},
    {.name = "a function pointer, six small arguments, among three thousand subscribers", .encoding = "v@:fffcsi",
     .implementation = FUNCTION(take_small), .call = call_small, .seen = 123456, .others = 3000},
    {.name = "a function pointer, six arguments and a result, among three thousand subscribers", .encoding = "i@:qqqqqq",
     .implementation = FUNCTION(answer_six), .call = ask_six_by_call, .policy = FWD_RESULT_UNTIL_NONZERO,
     .seen = 123456, .others = 3000},
    {.name = "a function pointer with interceptors before and after, thirteen registers, among three thousand subscribers",
     .encoding = WIDE, .implementation = FUNCTION(take_wide), .call = call_wide, .is_observed = true, .seen = 123456,
     .others = 3000},
};

static void release_nothing(void *owner) { (void)owner; }

/// The second argument that `see` has seen last, and how often it was called.
static int64_t passed;
static size_t passes;
static fwd_status see(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error) {
  (void)context, (void)receiver, (void)result, (void)error;
  passed = second_argument(arguments + 2);
  passes++;
  return FWD_OK;
}

static fwd_liveness *liveness;
static void release_liveness(void) { fwd_liveness_destroy(liveness); }

/// Has `see` called before and after each invocation.
static fwd_taps *make_taps(void) {
  if (!liveness) {
    NEED(liveness = fwd_liveness_create(0));
    atexit(release_liveness);
  }
  fwd_taps *taps = fwd_taps_create(1, false, 1, NULL);
  NEED(taps);
  fwd_tap tap = {.implementation = {.packed = see}, .liveness = liveness};
  *fwd_taps_at(taps, 0) = *fwd_taps_at(taps, 1) = tap;
  return taps;
}

/// Does nothing with a call after the death of the proxy: there is none.
static void note_late_call(void *reporter, fwd_selector selector, const void *owner_type) {
  (void)reporter, (void)selector, (void)owner_type;
  EXPECT(false);
}

static void make_function(void) {
  const fwd_proxy_method *method = fwd_proxy_core_method(now.proxy, now.method.selector);
  if (now.trial.is_owned) {
    const fwd_owned_function_request request = {
        .proxy = now.proxy, .method = method, .form = FWD_FUNCTION_ARGUMENTS, .report = note_late_call};
    NEED(fwd_owned_function_create(&request, &now.owned, NULL) == FWD_OK);
    now.function = fwd_owned_function_pointer(now.owned);
    return;
  }
  NEED(fwd_proxy_closure_create(now.proxy, method, FWD_FUNCTION_ARGUMENTS, NULL, release_nothing, NULL, &now.closure,
                                NULL) == FWD_OK);
  now.function = fwd_closure_function(now.closure);
}

static void set_up(const nesting_way *way, nesting_trial trial) {
  memset(&now, 0, sizeof now);
  now.owner = object_create(NULL, NULL);
  now.object = trial.is_weak ? object_create(NULL, NULL) : NULL;
  seen = passed = 0;
  passes = 0;
  now.way = way;
  now.trial = trial;
  now.proxy = make_proxy("nest:", way->encoding, way->policy, &now.method);
  subscribe(now.proxy, trial.is_closure ? closure_implementation(way) : way->implementation, now.object);
  for (size_t i = 0; i < way->others; i++) subscribe(now.proxy, (fwd_implementation)FUNCTION(ignore), now.object);
  fwd_garbage garbage = {.first = NULL};
  if (way->is_intercepted || way->is_observed) {
    fwd_list_intercept(fwd_proxy_core_list(now.proxy), 0, way->is_observed ? make_taps() : NULL,
                       (fwd_interceptors){.exist = true, .respond = true}, &garbage);
  }
  make_function();
  NEED(fwd_batch_begin(now.proxy, &now.batch, NULL) == FWD_OK);
}

static void tear_down(void) {
  fwd_batch_end(now.batch);
  fwd_closure_destroy(now.closure);
  if (now.owned) fwd_owned_function_bury(now.owned);
  fwd_proxy_core_release(now.proxy);
  swift_release(now.owner);
  if (now.object) swift_release(now.object);
}

// MARK: Threads

static void *run_in_thread(void *body) {
  ((void (*)(void))(uintptr_t)body)();
  return NULL;
}

static void on_stack(size_t size, void (*body)(void)) {
  pthread_attr_t attributes;
  pthread_t thread;
  NEED(pthread_attr_init(&attributes) == 0);
  NEED(pthread_attr_setstacksize(&attributes, size) == 0);
  NEED(pthread_create(&thread, &attributes, run_in_thread, (void *)(uintptr_t)body) == 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, NULL);
}

/// Runs on a thread with a stack of 512 KB.
static void on_small_stack(void (*body)(void)) { on_stack(small_stack, body); }

// MARK: Other stacks

/// What runs on a fiber or in a signal handler.
static void (*other_body)(void);

static void run_other_body(void) { other_body(); }

static void handle_signal(int signal) {
  (void)signal;
  other_body();
}

static void *map_stack(void) {
  void *stack = mmap(NULL, other_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NEED(stack != MAP_FAILED);
  return stack;
}

/// Runs on a stack to which the thread switches.
static void on_fiber(void (*body)(void)) {
  static ucontext_t thread, fiber;
  other_body = body;
  NEED(getcontext(&fiber) == 0);
  fiber.uc_stack.ss_sp = map_stack();
  fiber.uc_stack.ss_size = other_stack;
  fiber.uc_link = &thread;
  makecontext(&fiber, run_other_body, 0);
  NEED(swapcontext(&thread, &fiber) == 0);
  munmap(fiber.uc_stack.ss_sp, other_stack);
}

/// Runs in a signal handler with a stack of its own. No call of the library is interrupted: programs must not rely on that,
/// but a handler that calls the library nevertheless meets the limit.
static void in_handler(void (*body)(void)) {
  other_body = body;
  stack_t stack = {.ss_sp = map_stack(), .ss_size = other_stack}, stack_before;
  struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_ONSTACK}, action_before;
  NEED(sigaltstack(&stack, &stack_before) == 0 && sigaction(SIGUSR1, &action, &action_before) == 0);
  NEED(pthread_kill(pthread_self(), SIGUSR1) == 0);
  NEED(sigaction(SIGUSR1, &action_before, NULL) == 0 && sigaltstack(&stack_before, NULL) == 0);
  munmap(stack.ss_sp, other_stack);
}

// MARK: Tests

/// An argument by value that is too large for the jumps with stack words: the general caller passes it.
typedef struct large {
  char bytes[8200];
} large;

static long add_bytes(large value) {
  long sum = 0;
  for (size_t i = 0; i < sizeof value.bytes; i++) sum += value.bytes[i];
  return sum;
}

static void pass_large(void) {
  static large value;
  memset(&value, 1, sizeof value);
  fwd_signature *signature = NULL;
  NEED(fwd_signature_create("q{large=[8200c]}", 16, &signature, NULL) == FWD_OK);
  void *arguments[] = {&value};
  long sum = 0;
  EXPECT(fwd_call(signature, (void (*)(void))add_bytes, arguments, &sum) == FWD_OK && sum == 8200);
  fwd_signature_release(signature);
}

static bool prints_figures;

/// The trial's part of a name.
static const char *suffix(void) {
  static char text[96];
  snprintf(text, sizeof text, "%s%s%s", now.trial.is_owned ? ", owned" : "",
           now.trial.is_weak ? ", to a weak subscriber" : "", now.trial.is_closure ? ", to a closure" : "");
  return text;
}

/// Forwards once more, from outside.
static fwd_status begin(void) {
  if (!now.way->is_in_batch) return forward();
  fwd_batch_use use = {.batch = now.batch};
  fwd_batch_enter(&use);
  fwd_status status = forward();
  fwd_batch_leave(&use);
  return status;
}

/// Forwards until a level is reached, and checks how much of the stack that level takes.
static void measure_level(size_t number) {
  now.depth = 0;
  now.limit = number;
  begin();
  size_t level = now.outer - now.here;
  if (prints_figures) printf("%5zu bytes at level %zu: %s%s\n", level, number, now.way->name, suffix());
#if defined(__OPTIMIZE__)
  const fwd_proxy_method *method = fwd_proxy_core_method(now.proxy, now.method.selector);
  size_t limit = level_limit;
  if (now.way->others >= FWD_PREFETCHED_COUNT) limit += long_list_extra;
  if (number < first_deep_level && fwd_compiled_method_of(method)->is_filled) limit += wide_extra;
  if (!FWD_IS_SANITIZED && !EXPECT(level <= limit)) printf("  level %zu: %zu bytes, at most %zu\n", number, level, limit);
#endif
  EXPECT(now.depth == number && now.status == FWD_OK);
}

static void measure(void) {
  for (size_t number = 2; number <= first_deep_level; number++) measure_level(number);
  passes = passed = 0;
  seen = 0;
  measure_level(8);
  // Before and after each of the levels.
  EXPECT(!now.way->is_observed || (passed == 2 && passes == 2 * now.depth));
  EXPECT(seen == now.way->seen);
}

static void exhaust(void) {
  now.depth = 0;
  now.limit = endless;
  now.status = FWD_OK;
  fwd_status status = begin();
  if (now.status == FWD_OK) now.status = status;
  EXPECT(now.status == FWD_NESTING_STATUS);
  // It names the selector, and how deep it was.
  EXPECT(strstr(now.message, "\"nest:\""));
  const char *number = strpbrk(now.message, "0123456789");
  size_t named = number ? strtoull(number, NULL, 10) : 0;
  // An interceptor runs in a level of its own.
  size_t levels = (now.way->is_intercepted ? 2 : 1) * now.depth;
  if (!EXPECT(named == levels || (now.way->is_intercepted && named == levels + 1))) printf("  %s\n", now.message);
  // A quarter of the stack is left, or nearly so.
  EXPECT(now.depth > 20 && now.depth < small_stack / 64);
  // The thread can go on forwarding after the error.
  size_t depth_before = now.depth;
  now.depth = 0;
  begin();
  // The first call of a thread goes through the full entry of a closure, whose frame is another one, so there may be
  // room for one level more or less.
  EXPECT(now.depth + 1 >= depth_before && now.depth <= depth_before + 1);
}

/// Recurses on a stack that the library does not know, until the limit of levels.
static void reach_limit(void) {
  now.depth = 0;
  now.limit = endless;
  now.status = FWD_OK;
  fwd_status status = begin();
  if (now.status == FWD_OK) now.status = status;
  EXPECT(now.status == FWD_NESTING_STATUS);
  // An interceptor runs in a level of its own.
  EXPECT(now.depth == FWD_UNKNOWN_STACK_LEVELS / (now.way->is_intercepted ? 2 : 1));
  char expected[160];
  snprintf(expected, sizeof expected,
           "\"nest:\" is forwarded inside of %d other fan-outs; on a stack of unknown size, such as a fiber's, the limit is %d",
           FWD_UNKNOWN_STACK_LEVELS, FWD_UNKNOWN_STACK_LEVELS);
  if (!EXPECT(strcmp(now.message, expected) == 0)) printf("  %s\n", now.message);
}

/// The thread's first fan-outs are on a fiber. On the thread's own stack, before and after others, the limit of levels does
/// not hold.
static void leave_stack(void) {
  void (*const run[])(void (*)(void)) = {on_fiber, in_handler};
  for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
    run[i](reach_limit);
    now.depth = 0;
    now.limit = FWD_UNKNOWN_STACK_LEVELS + 16;
    now.status = FWD_OK;
    EXPECT(begin() == FWD_OK && now.status == FWD_OK && now.depth == now.limit);
    // Again, on a thread that knows its own stack.
    run[i](reach_limit);
  }
}

/// Whether a trial differs from the other trials of its way.
static bool is_of_use(const nesting_way *way, nesting_trial trial) {
  if (trial.is_owned && !way->call) return false;
  return !trial.is_closure || (FWD_HAS_SWIFTCALL && !way->implementation.packed);
}

static void run(const nesting_way *way, nesting_trial trial) {
  // The names are printed at the end, too.
  static char names[trial_count * sizeof ways / sizeof *ways][3][192];
  static size_t count;
  char(*name)[sizeof names[0][0]] = names[count++];
  set_up(way, trial);
  snprintf(name[0], sizeof name[0], "a level takes little of the stack: %s%s", way->name, suffix());
  check_begin(name[0]);
  on_small_stack(measure);
  if (!prints_figures) {
    snprintf(name[1], sizeof name[1], "a recursion ends with an error: %s%s", way->name, suffix());
    check_begin(name[1]);
    on_small_stack(exhaust);
    snprintf(name[2], sizeof name[2], "a recursion on a fiber, or in a signal handler, ends at the limit: %s%s", way->name,
             suffix());
    check_begin(name[2]);
    on_stack(other_stack, leave_stack);
  }
  tear_down();
}

/// Recurses without an end on the main thread. The exit status is 0 if that was an error.
static int recur_on_main_thread(void) {
  set_up(&ways[0], trial_of(0));
  now.limit = SIZE_MAX;
  fwd_status status = begin();
  EXPECT(status == FWD_NESTING_STATUS || now.status == FWD_NESTING_STATUS);
  return check_finish();
}

/// As after `ulimit -s unlimited`: only the library's own limit ends the recursion.
static void recur_without_limit(const char *program) {
  check_begin("a recursion ends with an error on a stack without a limit");
  pid_t child = fork();
  NEED(child >= 0);
  if (child == 0) {
    const struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    if (setrlimit(RLIMIT_STACK, &none) != 0) _exit(77);
    alarm(120);
    execl("/proc/self/exe", program, "unlimited", (char *)NULL);
    _exit(78);
  }
  int status = 0;
  NEED(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    printf("left out: the stack's limit cannot be raised\n");
    return;
  }
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// MARK: Questions

static void be_called(void *receiver) { (void)receiver; }

/// Subscribes a function, or a proxy, to a proxy.
static void join(fwd_proxy *proxy, fwd_implementation implementation, void *receiver) {
  fwd_dispatch_table *table = fwd_dispatch_table_create(1, NULL);
  NEED(table);
  *fwd_dispatch_table_entry(table, 0) = implementation;
  const fwd_subscriber subscriber = {.hold = FWD_HOLD_NONE, .receiver = receiver};
  fwd_garbage garbage = {0};
  NEED(fwd_list_insert(fwd_proxy_core_list(proxy), &subscriber, table, FWD_LIST_END, &garbage) != 0);
  fwd_garbage_collect(garbage);
  fwd_dispatch_table_release(table);
}

enum { chain_length = 20000, short_chain = 40 };
static fwd_proxy *chain[chain_length];
static fwd_selector asked_selector;

/// Asks the first of a chain of proxies, which is longer than the stack is deep, whether it responds. A shorter one does.
static void ask_chain(void) {
  EXPECT(fwd_proxy_responds(chain[short_chain], asked_selector));
  EXPECT(!fwd_proxy_responds(chain[chain_length - 1], asked_selector));
  EXPECT(fwd_forward(chain[chain_length - 1], asked_selector, NULL, 0, NULL, 0) == FWD_NESTING_STATUS);
}

static void ask_on_stacks(void) {
  static const fwd_proxy_operations quiet = QUIET_OPERATIONS;
  fake_object *owner = object_create(NULL, NULL);
  fwd_proxy_method method = {.selector = fwd_selector_register("isThere")};
  NEED(fwd_signature_create("v@", 2, &method.signature, NULL) == FWD_OK);
  asked_selector = method.selector;
  for (size_t i = 0; i < chain_length; i++) {
    NEED((chain[i] = new_proxy(&method, 1, owner, &quiet)));
    fwd_implementation next = {.function = (void (*)(void))be_called};
    if (i > 0) {
      const fwd_proxy_method *inner = fwd_proxy_core_method(chain[i - 1], method.selector);
      next = (fwd_implementation){.packed = fwd_forward_packed, .context = inner};
    }
    join(chain[i], next, i > 0 ? chain[i - 1] : NULL);
  }
  ask_chain();
  on_fiber(ask_chain);
  in_handler(ask_chain);
  for (size_t i = chain_length; i-- > 0;) fwd_proxy_core_release(chain[i]);
  fwd_signature_release(method.signature);
  swift_release(owner);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "unlimited") == 0) return recur_on_main_thread();
  prints_figures = argc > 1 && strcmp(argv[1], "figures") == 0;
  objects_check_counting();
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    for (size_t number = 0; number < trial_count; number++) {
      if (is_of_use(&ways[i], trial_of(number))) run(&ways[i], trial_of(number));
    }
  }
  check_begin("a call takes as much of the stack as its arguments");
  on_stack(FWD_IS_SANITIZED ? 128 << 10 : 64 << 10, pass_large);
  check_begin("a question that goes deeper than the stack has an answer");
  on_small_stack(ask_on_stacks);
  if (!prints_figures) recur_without_limit(argv[0]);
  return check_finish();
}
