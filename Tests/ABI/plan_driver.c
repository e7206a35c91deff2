// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Calls each generated function by its call plan and compares as the driver does. If libffi has the signature's types,
/// then also calls it through libffi and lets the generated callers call a closure.
///
/// This is for architectures on which libffi lacks some types, which the driver counts as failures. The argument `plain`
/// says that libffi passes all cases rightly.

// The driver's values, comparisons and calls, under another main.
#define main driver_main
#include "driver.c"
#undef main

#include "abi/refusal.h"

#if FWD_PLACES_SYSV || FWD_PLACES_AAPCS64
static bool libffi_is_right = true;
#else
static bool libffi_is_right = false;
#endif

int main(int argc, char **argv);

static size_t refused;

static bool layouts_agree(const fwd_encoding *encoding, const abi_case *clang, const abi_case *gcc) {
  bool good = true;
  uint32_t index = fwd_encoding_type(encoding, 0)->first_child;
  for (size_t i = 0; i <= clang->argument_count; i++) {
    const fwd_type *type = fwd_encoding_type(encoding, index);
    const abi_type *mine = &clang->types[i], *other = &gcc->types[i];
    if (type->layout.size != mine->size || type->layout.alignment != mine->alignment ||
        mine->size != other->size || mine->alignment != other->alignment) {
      fail("layout of type", i, NULL, NULL, 0);
      good = false;
    }
    index = type->next_sibling;
  }
  return good;
}

/// Whether `plan` calls the function with its arguments and gives its result, or drops it.
static bool call_by_plan(const abi_case *c, const fwd_call_plan *plan, bool wants_result) {
  static unsigned char copies[abi_argument_limit][value_limit];
  prepare(c);
  size_t count = c->argument_count, size = c->types[0].size;
  void *arguments[abi_argument_limit + 1], *before[abi_argument_limit + 1];
  for (size_t i = 0; i < count; i++) {
    // An argument of size 0 has no bytes to be behind its address.
    arguments[i] = c->types[i + 1].size > 0 ? (void *)(uintptr_t)abi_values[i + 1] : NULL;
    memcpy(copies[i], abi_values[i + 1], c->types[i + 1].size);
  }
  memcpy(before, arguments, sizeof *before * count);
  unsigned char *result = slot(abi_argument_limit + 1, size);
  memset(result - 64, 0xC3, 64 + size);
  // Results in memory have to go somewhere.
  bool is_given = wants_result || plan->result == FWD_RESULT_MEMORY;
  plan->unchecked(plan, c->callee, arguments, is_given ? result : NULL);
  bool good = leaves_alone(result, before, arguments, count);
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

static bool has_empty_array(const fwd_encoding *encoding) {
  for (uint32_t index = fwd_encoding_type(encoding, 0)->first_child; index != FWD_NO_TYPE;
       index = fwd_encoding_type(encoding, index)->next_sibling) {
    if (fwd_find_empty_array(encoding, index) != FWD_NO_TYPE) return true;
  }
  return false;
}

static void run_plan(const fwd_encoding *encoding, const abi_case *clang, const abi_case *gcc) {
  fwd_call_plan *plan = NULL;
  fwd_error error;
  stage = "compiling a plan";
  // Their calls have no plan.
  if (is_variadic(clang)) return;
  fwd_placement *placement = NULL;
  fwd_status status = fwd_placement_create(encoding, &placement, &error);
  // Some have none, since the two compilers would differ.
  if (status == FWD_UNSUPPORTED && has_empty_array(encoding)) return;
  if (status == FWD_OK) status = fwd_call_plan_create(placement, encoding, &plan, &error);
  free(placement);
  if (status != FWD_OK || !plan) {
    fail(status == FWD_OK ? "no plan" : error.message, 0, NULL, NULL, 0);
    return;
  }
  for (int pass = 0; pass < 2; pass++) {
    is_clang = true;
    stage = "a plan that calls a function by clang";
    note(call_by_plan(clang, plan, pass == 0));
    is_clang = false;
    stage = "a plan that calls a function by gcc";
    note(call_by_plan(gcc, plan, pass == 0));
  }
  free(plan);
}

static void run_both(const abi_case *clang, const abi_case *gcc) {
  current = clang;
  stage = "creating";
  fwd_encoding *encoding;
  fwd_cif *cif;
  fwd_error error;
  if (fwd_encoding_create(clang->encoding, strlen(clang->encoding), FWD_FORM_METHOD, &encoding, &error) !=
      FWD_OK) {
    fail(error.message, 0, NULL, NULL, 0);
    return;
  }
  // Bytes would be copied by the wrong size.
  if (layouts_agree(encoding, clang, gcc)) {
    run_plan(encoding, clang, gcc);
    stage = "creating";
    fwd_status status = fwd_cif_create(encoding, &cif, &error);
    if (!libffi_is_right && status == FWD_OK) {
      fwd_cif_destroy(cif);
      status = FWD_UNSUPPORTED;
    }
    if (status == FWD_OK) {
      fwd_cif_destroy(cif);
      run(clang, gcc);
    } else if (status == FWD_UNSUPPORTED) {
      refused++;
    } else {
      fail(error.message, 0, NULL, NULL, 0);
    }
  }
  fwd_encoding_release(encoding);
}

int main(int argc, char **argv) {
  (void)driver_main;
  if (argc > 1 && strcmp(argv[1], "plain") == 0) libffi_is_right = true;
  setvbuf(stdout, NULL, _IOLBF, 0);
  const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], crashed);
  map_slots();
  random_state = 0x9E3779B97F4A7C15;
  size_t count = 0;
  for (size_t table = 0; table < table_count; table++) {
    for (size_t i = 0; i < clang_tables[table]->count; i++, count++)
      run_both(&clang_tables[table]->cases[i], &gcc_tables[table]->cases[i]);
  }
  printf("%zu of %zu signatures have a type that libffi has not, or passes wrongly: through plans only\n",
         refused, count);
  printf("%zu passed, %zu failed\n", passed, failed);
  return failed > 0;
}
