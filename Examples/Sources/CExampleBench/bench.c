// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "CExampleBench.h"

// Found with the trait Benchmark only.
#if __has_include(<CFwdMeasure.h>)

#include <CFwdMeasure.h>
#include <forwarding.h>
#include <stdlib.h>

// A compiler that saw the arguments could compute them once.
static const char *volatile const main_name = "main";
static const char *volatile const table_name = "numbers";
static const int insert_operation = 18;

BENCH_LOOP void example_call_hook(example_hook hook, void *context, size_t row_count, size_t iterations) {
  const char *database = main_name, *table = table_name;
  for (size_t i = 0; i < iterations; i++) {
    for (size_t row = 1; row <= row_count; row++) hook(context, insert_operation, database, table, (int64_t)row);
  }
}

void example_add_row(void *context, int operation, const char *database, const char *table, int64_t row) {
  (void)operation, (void)database, (void)table;
  *(int64_t *)context += row;
}

static int64_t observed_sum;

void example_observe(void *receiver, int operation, const char *database, const char *table, int64_t row) {
  (void)receiver, (void)operation, (void)database, (void)table;
  observed_sum += row;
}

int64_t example_observed_sum(void) { return observed_sum; }

void example_multiplex(void *context, int operation, const char *database, const char *table, int64_t row) {
  const example_multiplexer *multiplexer = context;
  for (size_t i = 0; i < multiplexer->count; i++) {
    multiplexer->observers[i].function(multiplexer->observers[i].context, operation, database, table, row);
  }
}

example_shared *example_share(size_t count) {
  static const char selector[] = "updated:database:table:row:";
  static const fwd_requirement requirements[] = {{selector, "v@i**q", false}};
  static const fwd_method methods[] = {{selector, "v^vi**q", (void (*)(void))example_add_row}};
  example_shared *shared = calloc(1, sizeof *shared);
  const fwd_protocol *protocol;
  fwd_proxy *proxy;
  fwd_closure *closure;
  if (!shared || fwd_protocol_register("ExampleUpdates", requirements, 1, &protocol, NULL) != FWD_OK ||
      fwd_proxy_create(&protocol, 1, NULL, &proxy, NULL) != FWD_OK) {
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    if (fwd_proxy_subscribe(proxy, &shared->sums[i], methods, 1, NULL, NULL, NULL, NULL) != FWD_OK) return NULL;
  }
  // SQLite passes its context first, in place of the receiver.
  if (fwd_proxy_function(proxy, fwd_selector_register(selector), FWD_FUNCTION_CONTEXT_FIRST, &closure, NULL) != FWD_OK) {
    return NULL;
  }
  shared->hook = (example_hook)fwd_closure_function(closure);
  return shared;
}

#endif
