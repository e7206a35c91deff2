// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A collector that writes small results, with their authors, to an array.

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fan_out/emission.h"
#include "fan_out/method_set.h"
#include "fwd_fan_out.h"
#include "fwd_selector.h"
#include "fwd_weak.h"

// Swift's `GatheredResult` has the same layout.
_Static_assert(offsetof(fwd_gathered, author) == 0, "the subscription stands first");
_Static_assert(offsetof(fwd_gathered, object) == 8, "then the subscriber");
_Static_assert(offsetof(fwd_gathered, result) == 16, "then the result");
_Static_assert(sizeof(fwd_gathered) == 32, "four words");

/// The capacity of the first array that is allocated.
enum { first_allocated = 64 };

typedef struct gatherer {
  fwd_gathering *gathering;
  const fwd_compiled_method *method;
  /// Whether a result was lost for want of memory.
  bool is_short;
} gatherer;

static bool grow(fwd_gathering *gathering) {
  size_t capacity = gathering->is_allocated ? 2 * gathering->capacity : first_allocated;
  if (capacity <= gathering->capacity) capacity = 2 * gathering->capacity;
  fwd_gathered *results = gathering->is_allocated ? realloc(gathering->results, capacity * sizeof *results)
                                                  : malloc(capacity * sizeof *results);
  if (!results) return false;
  if (!gathering->is_allocated) memcpy(results, gathering->results, gathering->count * sizeof *results);
  gathering->results = results;
  gathering->capacity = capacity;
  gathering->is_allocated = true;
  return true;
}

static bool gather(void *context, fwd_subscription author, void *object, void *result) {
  gatherer *self = context;
  fwd_gathering *gathering = self->gathering;
  if (gathering->count == gathering->capacity && !grow(gathering)) {
    self->is_short = true;
    fwd_emission_discard(self->method, result);
    return false;
  }
  fwd_gathered *gathered = &gathering->results[gathering->count++];
  gathered->author = author;
  gathered->object = object;
  fwd_object_retain(object);
  memcpy(gathered->result, result, self->method->result.size);
  return true;
}

void fwd_gathering_free(fwd_gathering *gathering) {
  if (gathering->is_allocated) free(gathering->results);
  gathering->is_allocated = false;
  gathering->count = gathering->capacity = 0;
}

/// Releases what the array holds. Objects may deinitialise here.
__attribute__((cold, noinline)) static void give_up(const gatherer *self) {
  fwd_gathering *gathering = self->gathering;
  for (size_t i = 0; i < gathering->count; i++) {
    fwd_object_release(gathering->results[i].object);
    fwd_emission_discard(self->method, gathering->results[i].result);
  }
  fwd_gathering_free(gathering);
}

fwd_status fwd_gather(fwd_proxy *proxy, const fwd_proxy_method *method, const void *frame, fwd_gathering *gathering) {
  gatherer self = {.gathering = gathering, .method = fwd_compiled_method_of(method)};
  const fwd_collector collector = {.collect = gather, .context = &self};
  fwd_delivery delivery = {.frame = frame, .collector = &collector, .collects = true};
  fwd_status status = fwd_fan_out(proxy, method, &delivery);
  if (status != FWD_OK) {
    fwd_kept_error error;
    fwd_error_keep(&error);
    give_up(&self);
    // A `deinit` may have left another error.
    error.error.status = status;
    return fwd_error_restore(&error);
  }
  if (self.is_short) {
    give_up(&self);
    return fwd_fail(NULL, FWD_NO_MEMORY, 0, "no memory for the results of \"%.150s\"",
                    fwd_selector_name(method->selector));
  }
  return FWD_OK;
}
