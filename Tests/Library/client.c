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
  fwd_signature_destroy(signature);
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
  fwd_signature_destroy(signature);
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
  CHECK(fwd_proxy_subscribe(proxy, &offset, &method, 1, NULL, NULL, &error) == FWD_OK);
  CHECK(fwd_forward_named(proxy, "add:", &number, sizeof number, &result, sizeof result) == FWD_OK);
  CHECK(result == 42);
  fwd_closure *closure = NULL;
  CHECK(fwd_proxy_function(proxy, fwd_selector_find("add:"), FWD_FUNCTION_ARGUMENTS, &closure, &error) == FWD_OK);
  CHECK(((int (*)(int))fwd_closure_function(closure))(3) == 43);
  fwd_closure_destroy(closure);
  fwd_proxy_release(proxy);
}

static void fail(void) {
  fwd_layout layout;
  fwd_error error;
  CHECK(fwd_type_layout("{Point=d", 8, &layout, &error) == FWD_MALFORMED);
  CHECK(error.offset == 8 && strstr(error.message, "\n{Point=d\n        ^") != NULL);
}

int main(void) {
  call();
  close_over();
  forward();
  fail();
  puts("all is well");
  return 0;
}
