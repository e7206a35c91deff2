// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Batches: the subscribers of one moment, held for many invocations.

#include "fan_out/batch.h"

#include <stdlib.h>

#include "base/error.h"
#include "fwd_fan_out.h"

/// Frees a batch that holds nobody; some of its parts may be missing.
static void free_batch(fwd_batch *batch) {
  if (!batch) return;
  free(batch->records);
  free(batch->objects);
  free(batch->is_owned);
  free(batch);
}

fwd_batch *fwd_batch_create(fwd_proxy *proxy) {
  // By the thread's last hazard pointer, since calls and deliveries look at the first ones.
  fwd_reading reading = fwd_list_enter_within(fwd_proxy_list(proxy), FWD_HAZARDS_PER_BLOCK - 1);
  size_t count = 0;
  fwd_span span;
  for (bool found = fwd_span_first(fwd_proxy_list(proxy), &span); found; found = fwd_span_next(&span)) count += span.count;
  fwd_batch *batch = calloc(1, sizeof *batch);
  if (batch) {
    // One more than needed, so that malloc(0), which may give NULL, is no failure.
    batch->records = malloc((count + 1) * sizeof *batch->records);
    batch->objects = malloc((count + 1) * sizeof *batch->objects);
    batch->is_owned = malloc((count + 1) * sizeof *batch->is_owned);
  }
  if (!batch || !batch->records || !batch->objects || !batch->is_owned) {
    free_batch(batch);
    fwd_list_leave(&reading);
    return NULL;
  }
  batch->proxy = proxy;
  batch->walked = count;
  batch->guard = reading.guard;
  fwd_hazard_detach(batch->guard);
  // The same version again, so that there are no more records than were counted.
  size_t left = count;
  for (bool found = fwd_span_again(fwd_proxy_list(proxy), &span); found && left > 0; found = fwd_span_next(&span)) {
    bool prefetches = count >= FWD_PREFETCHED_COUNT;
    for (size_t i = 0; i < span.count && left > 0; i++, left--) {
      if (prefetches) fwd_prefetch(span.records, i, span.count);
      fwd_taken taken;
      if (!fwd_record_take(span.records[i], &taken)) continue;
      batch->records[batch->count] = span.records[i];
      batch->objects[batch->count] = taken.object;
      batch->is_owned[batch->count] = taken.is_owned;
      batch->count++;
    }
  }
  return batch;
}

void fwd_batch_destroy(fwd_batch *batch) {
  if (!batch) return;
  for (size_t i = 0; i < batch->count; i++) {
    fwd_record_drop((fwd_taken){batch->objects[i], batch->is_owned[i]});
  }
  fwd_hazard_leave_anywhere(batch->guard);
  free_batch(batch);
}

void fwd_batch_enter(fwd_batch_use *use) {
  use->outer = fwd_nesting_of_thread.batches;
  fwd_nesting_of_thread.batches = use;
}

void fwd_batch_leave(const fwd_batch_use *use) { fwd_nesting_of_thread.batches = use->outer; }

// MARK: For C programs

fwd_status fwd_batch_begin(fwd_proxy *proxy, fwd_batch **batch, fwd_error *error) {
  if (!proxy || !batch) {
    return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "fwd_batch_begin: no %s",
                    proxy ? "place for the batch" : "proxy");
  }
  if (fwd_proxy_is_closing(proxy)) return fwd_proxy_core_fail_closing(error);
  fwd_batch *made = fwd_batch_create(proxy);
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a batch");
  fwd_object_retain(proxy->owner);
  *batch = made;
  return FWD_OK;
}

fwd_status fwd_batch_run(fwd_batch *batch, void (*body)(void *context), void *context) {
  if (!batch || !body) {
    return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "fwd_batch_run: no %s", batch ? "function to run" : "batch");
  }
  fwd_batch_use use = {.batch = batch};
  fwd_batch_enter(&use);
  body(context);
  fwd_batch_leave(&use);
  return FWD_OK;
}

void fwd_batch_end(fwd_batch *batch) {
  if (!batch) return;
  void *owner = batch->proxy->owner;
  fwd_batch_destroy(batch);
  fwd_object_release(owner);
}
