// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Calls each generated function through its call plan, whatever `fwd_cif_call` would do, and compares as the
/// driver does. Closures are the driver's.

// The driver's values and comparisons, not its calls.
#define main driver_main
#include "driver.c"
#undef main

#include "call_plan.h"

int main(void);

static void call_unused(void) { (void)call, (void)call_back, (void)run, (void)driver_main; }

/// Whether `plan` calls the function with its arguments and gives its result, or none if `result` is NULL.
static bool call_plan(const abi_case *c, const fwd_call_plan *plan, bool wants_result) {
  prepare(c);
  size_t count = c->argument_count, size = c->types[0].size;
  void *arguments[abi_argument_limit + 1], *before[abi_argument_limit + 1];
  unsigned char copies[abi_argument_limit][value_limit];
  for (size_t i = 0; i < count; i++) {
    // An argument of size 0 has no bytes to be behind its address.
    arguments[i] = c->types[i + 1].size > 0 ? (void *)(uintptr_t)abi_values[i + 1] : NULL;
    memcpy(copies[i], abi_values[i + 1], c->types[i + 1].size);
  }
  memcpy(before, arguments, sizeof *before * count);
  unsigned char *result = slot(abi_argument_limit + 1, size);
  memset(result - 64, 0xC3, 64 + size);
  // Results in memory have to go somewhere.
  bool is_given = wants_result || plan->result == FWD_PLAN_MEMORY;
  plan->call(plan, c->callee, arguments, is_given ? result : NULL);
  bool good = x87_stack_is_empty();
  for (int i = 1; i <= 64; i++) {
    if (result[-i] != 0xC3) {
      fail("bytes before the result", 0, NULL, NULL, 0);
      return false;
    }
  }
  if (memcmp(before, arguments, sizeof *before * count) != 0) {
    fail("argument array modified", 0, NULL, NULL, 0);
    good = false;
  }
  if (is_given) good = same("result", 0, &c->types[0], result, abi_values[0]) && good;
  for (size_t i = 1; i <= count; i++) {
    good = same("argument", i, &c->types[i], records[i], abi_values[i]) && good;
    good = same_wide("widened argument", i, &c->types[i], abi_values[i]) && good;
    if (memcmp(copies[i - 1], abi_values[i], c->types[i].size) != 0) {
      fail("argument modified", i, abi_values[i], copies[i - 1], c->types[i].size);
      good = false;
    }
  }
  return good;
}

static void run_plan(const abi_case *clang, const abi_case *gcc) {
  current = clang;
  stage = "compiling a plan";
  fwd_encoding *encoding;
  fwd_call_plan *plan = NULL;
  fwd_error error;
  if (fwd_encoding_create(clang->encoding, strlen(clang->encoding), FWD_FORM_METHOD, &encoding, &error) !=
      FWD_OK) {
    fail(error.message, 0, NULL, NULL, 0);
    return;
  }
  if (fwd_call_plan_create(encoding, &plan, &error) != FWD_OK || !plan) {
    fail("no plan", 0, NULL, NULL, 0);
  } else {
    for (int pass = 0; pass < 2; pass++) {
      is_clang = true;
      stage = "a plan that calls a function by clang";
      note(call_plan(clang, plan, pass == 0));
      is_clang = false;
      stage = "a plan that calls a function by gcc";
      note(call_plan(gcc, plan, pass == 0));
    }
    fwd_call_plan_destroy(plan);
  }
  fwd_encoding_release(encoding);
}

int main(void) {
  call_unused();
  setvbuf(stdout, NULL, _IOLBF, 0);
  const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], crashed);
  map_slots();
  random_state = 0x9E3779B97F4A7C15;
  for (size_t table = 0; table < table_count; table++)
    for (size_t i = 0; i < clang_tables[table]->count; i++)
      run_plan(&clang_tables[table]->cases[i], &gcc_tables[table]->cases[i]);
  printf("%zu passed, %zu failed\n", passed, failed);
  return failed > 0;
}
