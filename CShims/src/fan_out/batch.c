// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Batches: the subscribers of one moment, held for many invocations.

#include "fan_out/batch.h"

#include <stdlib.h>

#include "base/error.h"
#include "fwd_fan_out.h"

/// The methods of a batch's proxy.
static size_t method_count(const fwd_proxy *proxy) { return proxy->methods->count; }

/// A batch of nobody, with room for some records. NULL if memory is short.
static fwd_batch *make_batch(fwd_proxy *proxy, size_t count) {
  size_t methods = method_count(proxy);
  fwd_batch *batch = malloc(sizeof *batch + methods * sizeof batch->by_method[0] +
                            count * (sizeof *batch->all.records + sizeof *batch->all.objects + sizeof *batch->is_owned));
  if (!batch) return NULL;
  batch->proxy = proxy;
  batch->walked = count;
  for (size_t i = 0; i < methods; i++) atomic_init(&batch->by_method[i], NULL);
  batch->all.count = 0;
  batch->all.begin_with_closure = false;
  batch->all.records = (fwd_record **)(batch->by_method + methods);
  batch->all.objects = (void **)(batch->all.records + count);
  batch->is_owned = (bool *)(batch->all.objects + count);
  return batch;
}

fwd_batch *fwd_batch_create(fwd_proxy *proxy) {
  // By the thread's last hazard pointer, since calls and deliveries look at the first ones.
  fwd_reading reading = fwd_list_enter_within(fwd_proxy_list(proxy), FWD_HAZARDS_PER_BLOCK - 1);
  size_t count = 0;
  fwd_span span;
  for (bool found = fwd_span_first(fwd_proxy_list(proxy), &span); found; found = fwd_span_next(&span)) count += span.count;
  fwd_batch *batch = make_batch(proxy, count);
  if (!batch) {
    fwd_list_leave(&reading);
    return NULL;
  }
  batch->guard = reading.guard;
  fwd_hazard_detach(batch->guard);
  fwd_batch_members *all = &batch->all;
  // The same version again, so that there are no more records than were counted.
  size_t left = count;
  for (bool found = fwd_span_again(fwd_proxy_list(proxy), &span); found && left > 0; found = fwd_span_next(&span)) {
    bool prefetches = count >= FWD_PREFETCHED_COUNT;
    for (size_t i = 0; i < span.count && left > 0; i++, left--) {
      if (prefetches) fwd_prefetch(span.records, i, span.count);
      fwd_taken taken;
      if (!fwd_record_take(span.records[i], &taken)) continue;
      all->records[all->count] = span.records[i];
      all->objects[all->count] = taken.object;
      batch->is_owned[all->count] = taken.is_owned;
      all->count++;
    }
  }
  return batch;
}

void fwd_batch_destroy(fwd_batch *batch) {
  if (!batch) return;
  const fwd_batch_members *all = &batch->all;
  for (size_t i = 0; i < all->count; i++) fwd_record_drop((fwd_taken){all->objects[i], batch->is_owned[i]});
  for (size_t i = 0; i < method_count(batch->proxy); i++) {
    const fwd_batch_members *members = atomic_load_explicit(&batch->by_method[i], memory_order_relaxed);
    if (members != all) free((void *)(uintptr_t)members);
  }
  fwd_hazard_leave_anywhere(batch->guard);
  free(batch);
}

// MARK: Members of a method

/// Whether the table of a record implements a method. The batch's guard keeps the table.
static bool implements(const fwd_record *record, size_t method) {
  return !fwd_implementation_is_empty(fwd_record_implementation(record, method));
}

/// The records that implement a method, `count` of them. NULL if memory is short.
static fwd_batch_members *make_members(const fwd_batch_members *all, size_t method, size_t count) {
  // Without a record that lacks the method, the arrays of all are theirs.
  bool are_all = count == all->count;
  size_t size = are_all ? 0 : count * (sizeof *all->records + sizeof *all->objects);
  fwd_batch_members *made = malloc(sizeof *made + size);
  if (!made) return NULL;
  *made = *all;
  if (!are_all) {
    made->count = 0;
    made->records = (fwd_record **)(made + 1);
    made->objects = (void **)(made->records + count);
    for (size_t i = 0; i < all->count; i++) {
      if (!implements(all->records[i], method)) continue;
      made->records[made->count] = all->records[i];
      made->objects[made->count++] = all->objects[i];
    }
  }
  made->begin_with_closure = count > 0 && fwd_record_implementation(made->records[0], method)->closure;
  return made;
}

const fwd_batch_members *fwd_batch_find_members(fwd_batch *batch, size_t method) {
  const fwd_batch_members *all = &batch->all, *found = all, *before = NULL;
  size_t count = 0;
  for (size_t i = 0; i < all->count; i++) count += implements(all->records[i], method);
  fwd_batch_members *made = make_members(all, method, count);
  // Without memory all records are visited each time.
  if (made) found = made;
  // Another thread may have been faster. What is set once stays, since fan-outs keep indices into it.
  if (atomic_compare_exchange_strong_explicit(&batch->by_method[method], &before, found, memory_order_acq_rel,
                                              memory_order_acquire)) {
    return found;
  }
  free(made);
  return before;
}

// MARK: Entering

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
