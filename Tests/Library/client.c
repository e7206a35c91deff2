// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// A C program that uses the installed library: a call, a closure, a proxy. Also compiled as C++.

#include <forwarding.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, fwd_error_message());    \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)

typedef void (*any_function)(void);

static fwd_signature *signature_of(const char *encoding) {
  fwd_signature *signature = NULL;
  CHECK(fwd_signature_create(encoding, strlen(encoding), &signature, NULL) == FWD_OK);
  return signature;
}

static void call(void) {
  fwd_signature *signature = signature_of("{ldiv_t=qq}qq");
  long numerator = 23, denominator = 7;
  void *arguments[] = {&numerator, &denominator};
  ldiv_t result;
  CHECK(fwd_call(signature, (any_function)ldiv, arguments, &result) == FWD_OK);
  CHECK(result.quot == 3 && result.rem == 2);
  fwd_signature_release(signature);
}

typedef struct three {
  int64_t values[3];
} three;

static int64_t add_six(void *pointer, int64_t wide, double real, int narrow, float single, int64_t last) {
  return (int64_t)(*(int *)pointer + wide + (int64_t)real + narrow + (int64_t)single + last);
}
static int negate(int number) { return -number; }
static bool is_odd(int number) { return number % 2 != 0; }
static short half(int number) { return (short)(number / 2); }
static double doubled(double number) { return 2 * number; }
static three repeat(int64_t number) {
  three all = {{number, number, number}};
  return all;
}
static int notes;
static void note(int number) { notes += number; }

// Results in all ways, between bytes that must stay as they are. The same by what is compiled into the program, and
// by the library's function.
#define CHECK_RESULT(type, encoding, function, argument, condition)                                            \
  do {                                                                                                         \
    fwd_signature *signature = signature_of(encoding);                                                         \
    fwd_status (*by_address)(const fwd_signature *, any_function, void *const *, void *) = fwd_call;           \
    for (int way = 0; way < 3; way++) {                                                                        \
      struct {                                                                                                 \
        unsigned char before[16];                                                                              \
        type value;                                                                                            \
        unsigned char after[16];                                                                               \
      } room;                                                                                                  \
      memset(&room, 0xA5, sizeof room);                                                                        \
      void *arguments[] = {argument}, *missing[] = {NULL};                                                     \
      void *result = &room.value;                                                                              \
      CHECK((way == 0   ? fwd_call(signature, (any_function)function, arguments, result)                       \
             : way == 1 ? fwd_call_any(signature, (any_function)function, arguments, result)                   \
                        : by_address(signature, (any_function)function, arguments, result)) == FWD_OK);        \
      CHECK(condition);                                                                                        \
      for (int i = 0; i < 16; i++) CHECK(room.before[i] == 0xA5 && room.after[i] == 0xA5);                     \
      CHECK(fwd_call(signature, (any_function)function, arguments, NULL) == FWD_OK);                           \
      CHECK(fwd_call(signature, (any_function)function, missing, result) == FWD_NULL_ARGUMENT);                \
      CHECK(strstr(fwd_error_message(), "argument 0") != NULL);                                                \
      CHECK(fwd_call(signature, (any_function)function, NULL, result) == FWD_NULL_ARGUMENT);                   \
      CHECK(fwd_call(signature, no_function, arguments, result) == FWD_NULL_ARGUMENT);                         \
      CHECK(fwd_call(no_signature, (any_function)function, arguments, result) == FWD_NULL_ARGUMENT);           \
    }                                                                                                          \
    fwd_signature_release(signature);                                                                          \
  } while (0)

static const fwd_signature *no_signature;
static any_function no_function;

static void call_in_all_ways(void) {
  int number = 7;
  int64_t wide = 1;
  double real = 2.5;
  CHECK_RESULT(int, "ii", negate, &number, room.value == -7);
  CHECK_RESULT(bool, "Bi", is_odd, &number, room.value);
  CHECK_RESULT(short, "si", half, &number, room.value == 3);
  CHECK_RESULT(double, "dd", doubled, &real, room.value == 5);
  CHECK_RESULT(three, "{three=[3q]}q", repeat, &wide, room.value.values[0] == 1 && room.value.values[2] == 1);
  CHECK_RESULT(long, "vi", note, &number, ((unsigned char *)&room.value)[0] == 0xA5);
  CHECK(notes == 6 * 7);

  fwd_signature *signature = signature_of("q^vqdifq");
  void *pointer = &number;
  float single = 3;
  void *arguments[] = {&pointer, &wide, &real, &number, &single, &wide};
  int64_t sum = 0;
  CHECK(fwd_call(signature, (any_function)add_six, arguments, &sum) == FWD_OK && sum == 7 + 1 + 2 + 7 + 3 + 1);
  fwd_use_libffi(true);
  sum = 0;
  CHECK(fwd_call(signature, (any_function)add_six, arguments, &sum) == FWD_OK && sum == 7 + 1 + 2 + 7 + 3 + 1);
  fwd_use_libffi(false);
  fwd_signature_release(signature);
}

static void compare(void *context, void *const *arguments, void *result) {
  const int *left = *(const int **)arguments[0], *right = *(const int **)arguments[1];
  int order = (*left > *right) - (*left < *right);
  memcpy(result, &order, sizeof order);
  ++*(int *)context;
}

static void close_over(void) {
  fwd_signature *signature = signature_of("i^v^v");
  fwd_closure *closure = NULL;
  int calls = 0, numbers[] = {5, 3, 9, 1};
  CHECK(fwd_closure_create(signature, compare, &calls, &closure, NULL) == FWD_OK);
  qsort(numbers, 4, sizeof numbers[0], (int (*)(const void *, const void *))fwd_closure_function(closure));
  CHECK(numbers[0] == 1 && numbers[1] == 3 && numbers[2] == 5 && numbers[3] == 9 && calls > 0);
  fwd_closure_destroy(closure);
  fwd_signature_release(signature);
}

static int add(void *context, fwd_selector selector, int number) {
  CHECK(selector == fwd_selector_find("add:"));
  return *(int *)context + number;
}

static void forward(void) {
  fwd_requirement requirement = {"add:", "i@:i", true};
  const fwd_protocol *protocol = NULL;
  fwd_proxy *proxy = NULL;
  fwd_error error;
  CHECK(fwd_protocol_register("Adder", &requirement, 1, &protocol, &error) == FWD_OK);
  CHECK(fwd_proxy_create(&protocol, 1, NULL, &proxy, &error) == FWD_OK);
  int offset = 40, number = 2, result = 0;
  fwd_method method = {"add:", "i@:i", (any_function)add};
  CHECK(fwd_proxy_subscribe(proxy, &offset, &method, 1, NULL, NULL, NULL, &error) == FWD_OK);
  CHECK(fwd_forward_named(proxy, "add:", &number, sizeof number, &result, sizeof result) == FWD_OK);
  CHECK(result == 42);
  fwd_closure *closure = NULL;
  CHECK(fwd_proxy_function(proxy, fwd_selector_find("add:"), FWD_FUNCTION_ARGUMENTS, &closure, &error) == FWD_OK);
  CHECK(((int (*)(int))fwd_closure_function(closure))(3) == 43);
  fwd_closure_destroy(closure);
  fwd_proxy_release(proxy);
}

static bool sum_results(void *context, fwd_subscription subscription, const void *result) {
  CHECK(subscription != 0);
  *(int *)context += *(const int *)result;
  return true;
}

static bool count_subscribers(void *context, const fwd_subscriber_info *subscriber) {
  CHECK(subscriber->size == sizeof *subscriber && subscriber->context && !subscriber->object);
  ++*(int *)context;
  return true;
}

static bool find_add(void *context, const fwd_method_info *method) {
  *(bool *)context = method->selector == fwd_selector_find("add:") && method->required;
  return true;
}

static fwd_status add_one_before_and_after(void *context, fwd_invocation *invocation) {
  int number = *(const int *)fwd_invocation_argument(invocation, 2) + 1;
  CHECK(fwd_invocation_set_argument(invocation, 2, &number, sizeof number) == FWD_OK);
  CHECK(fwd_invocation_proceed(invocation) == FWD_OK);
  number = *(const int *)fwd_invocation_result(invocation) + 1;
  ++*(int *)context;
  return fwd_invocation_set_result(invocation, &number, sizeof number);
}

static void note_end(void *context) { *(int *)context += 100; }

static void subscribe_and_intercept(void) {
  const fwd_protocol *protocol = fwd_protocol_find("Adder");
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  fwd_method_options last = {"add:", FWD_RESULT_ALL_LAST, NULL, 0, NULL, 0};
  options.methods = &last;
  options.method_count = 1;
  fwd_proxy *proxy = NULL;
  CHECK(fwd_proxy_create(&protocol, 1, &options, &proxy, NULL) == FWD_OK);
  int ten = 10, twenty = 20, number = 1, result = 0, seen = 0;
  fwd_method method = {"add:", "i^v:i", (any_function)add};
  fwd_subscription first, second;
  CHECK(fwd_proxy_subscribe(proxy, &ten, &method, 1, NULL, NULL, &first, NULL) == FWD_OK);
  fwd_subscribe_options before = FWD_SUBSCRIBE_OPTIONS_INIT;
  before.position.kind = FWD_POSITION_BEFORE;
  before.position.anchor = first;
  CHECK(fwd_proxy_subscribe(proxy, &twenty, &method, 1, NULL, &before, &second, NULL) == FWD_OK);
  fwd_selector selector = fwd_selector_register("add:");
  CHECK(fwd_forward(proxy, selector, &number, sizeof number, &result, sizeof result) == FWD_OK && result == 11);
  fwd_position end = {FWD_POSITION_LAST, 0, 0, 0};
  CHECK(fwd_proxy_move(proxy, second, &end, NULL) == FWD_OK);
  CHECK(fwd_forward(proxy, selector, &number, sizeof number, &result, sizeof result) == FWD_OK && result == 21);
  result = 0;
  CHECK(fwd_collect(proxy, selector, &number, sizeof number, sum_results, &result) == FWD_OK && result == 32);
  CHECK(fwd_proxy_visit_subscribers(proxy, count_subscribers, &seen) == FWD_OK && seen == 2);
  bool is_found = false;
  CHECK(fwd_proxy_visit_methods(proxy, find_add, &is_found) == FWD_OK && is_found);
  int calls = 0;
  fwd_interception interception;
  CHECK(fwd_proxy_intercept(proxy, selector, FWD_INTERCEPT_AROUND, add_one_before_and_after, &calls, note_end,
                            &interception, NULL) == FWD_OK);
  CHECK(fwd_forward(proxy, selector, &number, sizeof number, &result, sizeof result) == FWD_OK && result == 23);
  CHECK(calls == 1 && fwd_proxy_end_interception(proxy, interception) == FWD_OK && calls == 101);
  fwd_proxy_release(proxy);
}

typedef struct judge {
  int limit;
  int calls;
  fwd_status status;
  const char *message;
} judge;

// Makes the deliveries of all methods of a judge. Fails for numbers above the limit.
static bool judge_all(void *context, fwd_selector selector, void *const *arguments, void *result, fwd_error *error) {
  judge *self = (judge *)context;
  self->calls++;
  CHECK(error->status == FWD_DELIVERY_FAILED && error->message[0] == 0 && error->offset == 0);
  CHECK(*(void **)arguments[0] == self);
  if (selector == fwd_selector_find("clear")) {
    self->limit = 0;
    return true;
  }
  CHECK(selector == fwd_selector_find("admit:") && *(fwd_selector *)arguments[1] == selector);
  int number = *(const int *)arguments[2], zero = 0;
  CHECK(memcmp(result, &zero, sizeof zero) == 0);
  memcpy(result, &number, sizeof number);
  if (number <= self->limit) return true;
  error->status = self->status;
  if (self->message) memset(error->message, self->message[0], sizeof error->message);
  return false;
}

typedef struct reports {
  int count;
  fwd_error last;
} reports;

static void note_error(void *context, fwd_selector selector, const fwd_error *error) {
  reports *self = (reports *)context;
  CHECK(selector == fwd_selector_find("admit:"));
  self->count++;
  self->last = *error;
}

static void destroy_judge(void *context) { ((judge *)context)->calls += 100; }

static void handle(void) {
  static const fwd_requirement requirements[] = {{"admit:", "i@:i", true}, {"clear", "v@", false}};
  const fwd_protocol *protocol = NULL;
  CHECK(fwd_protocol_register("Judging", requirements, 2, &protocol, NULL) == FWD_OK);
  int denied = 13;
  reports reported = {0, {FWD_OK, 0, ""}};
  fwd_method_options first = {"admit:", FWD_RESULT_DEFAULT, NULL, 0, &denied, sizeof denied};
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.methods = &first;
  options.method_count = 1;
  options.on_error = note_error;
  options.on_error_context = &reported;
  fwd_proxy *strict = NULL, *plain = NULL;
  CHECK(fwd_proxy_create(&protocol, 1, &options, &strict, NULL) == FWD_OK);
  options.method_count = 0;
  CHECK(fwd_proxy_create(&protocol, 1, &options, &plain, NULL) == FWD_OK);
  judge one = {5, 0, FWD_OK, NULL};
  const fwd_handled_method methods[] = {{"admit:", "i^v:i", judge_all}, {"clear", NULL, judge_all}};
  fwd_subscription subscription = 0;
  CHECK(fwd_proxy_subscribe_handlers(strict, &one, methods, 2, destroy_judge, NULL, &subscription, NULL) == FWD_OK);
  CHECK(fwd_proxy_subscribe_handlers(plain, &one, methods, 2, NULL, NULL, NULL, NULL) == FWD_OK);

  // A success gives the result. A failure gives the method's result for failures, or fails the invocation.
  fwd_selector admit = fwd_selector_find("admit:");
  int number = 5, result = 0;
  CHECK(fwd_forward(strict, admit, &number, sizeof number, &result, sizeof result) == FWD_OK && result == 5);
  CHECK(reported.count == 0 && one.calls == 1);
  number = 6;
  CHECK(fwd_forward(strict, admit, &number, sizeof number, &result, sizeof result) == FWD_OK && result == 13);
  CHECK(reported.count == 1 && reported.last.status == FWD_DELIVERY_FAILED);
  CHECK(strstr(reported.last.message, "handler of \"admit:\"") != NULL);
  one.message = "x";
  one.status = FWD_CYCLE;
  result = 77;
  CHECK(fwd_forward(plain, admit, &number, sizeof number, &result, sizeof result) == FWD_DELIVERY_FAILED);
  CHECK(result == 77 && reported.count == 2 && strlen(fwd_error_message()) == sizeof reported.last.message - 1);
  CHECK(fwd_error_message()[0] == 'x' && reported.last.status == FWD_DELIVERY_FAILED);

  // A handler may say that the subscriber does not respond.
  one.status = FWD_NO_RESPONDER;
  CHECK(fwd_forward(plain, admit, &number, sizeof number, &result, sizeof result) == FWD_NO_RESPONDER);
  CHECK(result == 77 && reported.count == 2);
  judge two = {9, 0, FWD_OK, NULL};
  CHECK(fwd_proxy_subscribe_handlers(plain, &two, methods, 1, NULL, NULL, NULL, NULL) == FWD_OK);
  CHECK(fwd_forward(plain, admit, &number, sizeof number, &result, sizeof result) == FWD_OK && result == 6);
  CHECK(fwd_forward_named(plain, "clear", NULL, 0, NULL, 0) == FWD_OK && one.limit == 0 && two.limit == 9);

  // What is wrong changes nothing.
  const struct {
    fwd_handled_method method;
    fwd_status status;
  } faults[] = {
      {{NULL, NULL, judge_all}, FWD_NULL_ARGUMENT},      {{"admit:", NULL, NULL}, FWD_NULL_ARGUMENT},
      {{"admit:", "{", judge_all}, FWD_MALFORMED},       {{"admit:", "i^v:q", judge_all}, FWD_SIGNATURE_MISMATCH},
      {{"refuse:", NULL, judge_all}, FWD_MISSING_METHOD}, {{"clear", NULL, judge_all}, FWD_MISSING_METHOD},
  };
  fwd_subscription none = 0;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    fwd_error error;
    fwd_status status =
        fwd_proxy_subscribe_handlers(strict, &two, &faults[i].method, 1, destroy_judge, NULL, &none, &error);
    CHECK(status != FWD_OK && (status == faults[i].status || i == 4) && error.status == status && none == 0);
  }
  CHECK(fwd_proxy_subscribe_handlers(strict, &two, NULL, 1, NULL, NULL, &none, NULL) == FWD_NULL_ARGUMENT);
  CHECK(fwd_proxy_subscribe_handlers(NULL, &two, methods, 1, NULL, NULL, &none, NULL) == FWD_NULL_ARGUMENT);
  CHECK(fwd_proxy_subscriber_count(strict) == 1 && two.calls < 100);
  CHECK(fwd_proxy_unsubscribe(strict, subscription) == FWD_OK && one.calls > 100);
  fwd_proxy_release(strict);
  fwd_proxy_release(plain);
}

static void fail(void) {
  fwd_layout layout;
  fwd_error error;
  CHECK(fwd_type_layout("{Point=d", 8, &layout, &error) == FWD_MALFORMED);
  CHECK(error.offset == 8 && strstr(error.message, "\n{Point=d\n        ^") != NULL);
}

// Before `main`, as the initialisers of C++ globals run.
static fwd_proxy *early;

__attribute__((constructor)) static void begin_early(void) {
  static const fwd_requirement methods[] = {{"early:", "v@:i", false}};
  const fwd_protocol *protocol = NULL;
  CHECK(fwd_protocol_register("Early", methods, 1, &protocol, NULL) == FWD_OK);
  CHECK(fwd_proxy_create(&protocol, 1, NULL, &early, NULL) == FWD_OK);
}

int main(void) {
  int number = 1;
  CHECK(fwd_forward(early, fwd_selector_register("early:"), &number, sizeof number, NULL, 0) == FWD_OK);
  fwd_proxy_release(early);
  call();
  call_in_all_ways();
  close_over();
  forward();
  subscribe_and_intercept();
  handle();
  fail();
  puts("all is well");
  return 0;
}
