// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Batches: the subscribers of one moment, held for many invocations.

#include "fan_out/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fwd_fan_out.h"

/// Allocates an empty batch with room for `count` records. Returns NULL if memory is short.
static fwd_batch *make_batch(fwd_proxy *proxy, size_t count) {
  size_t methods = proxy->methods->count;
  fwd_batch *batch = malloc(sizeof *batch + methods * sizeof batch->by_method[0] +
                            count * (sizeof *batch->all.records + sizeof *batch->owned));
  if (!batch) return NULL;
  batch->proxy = proxy;
  batch->walked = count;
  atomic_init(&batch->found, NULL);
  // Null pointers, which no thread can see yet. A loop of atomic stores takes several times as long.
  memset((void *)batch->by_method, 0, methods * sizeof batch->by_method[0]);
  batch->all = (fwd_batch_members){.records = (fwd_record **)(batch->by_method + methods)};
  batch->owned = (void **)(batch->all.records + count);
  batch->owned_count = 0;
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
      all->records[all->count++] = span.records[i];
      if (taken.is_owned) batch->owned[batch->owned_count++] = taken.object;
    }
  }
  return batch;
}

void fwd_batch_destroy(fwd_batch *batch) {
  if (!batch) return;
  for (size_t i = 0; i < batch->owned_count; i++) fwd_object_release(batch->owned[i]);
  fwd_batch_members *members = atomic_load_explicit(&batch->found, memory_order_acquire);
  while (members) {
    fwd_batch_members *next = members->next;
    free(members);
    members = next;
  }
  fwd_hazard_leave_anywhere(batch->guard);
  free(batch);
}

// MARK: Members of a method

/// Whether the table of a record implements a method. The subscription may have ended since: the batch's guard, which is
/// older than the end, keeps the table.
static bool implements(const fwd_record *record, size_t method) {
  return !fwd_implementation_is_empty(fwd_record_implementation(record, method));
}

/// Makes the members of a method. Returns NULL if memory is short.
static fwd_batch_members *make_members(const fwd_batch_members *all, size_t method) {
  size_t count = 0;
  for (size_t i = 0; i < all->count; i++) count += implements(all->records[i], method);
  // If all records implement the method, the members share the batch's array.
  bool shares = count == all->count;
  fwd_batch_members *made = malloc(sizeof *made + (shares ? 0 : count * sizeof *made->records));
  if (!made) return NULL;
  *made = *all;
  if (!shares) {
    made->records = (fwd_record **)(made + 1);
    made->count = 0;
    for (size_t i = 0; i < all->count; i++) {
      if (implements(all->records[i], method)) made->records[made->count++] = all->records[i];
    }
  }
  return made;
}

/// Notes members, to be freed with the batch. Other threads may do so at the same time.
static void keep(fwd_batch *batch, fwd_batch_members *made) {
  made->next = atomic_load_explicit(&batch->found, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&batch->found, &made->next, made, memory_order_release,
                                                memory_order_relaxed)) {
  }
}

const fwd_batch_members *fwd_batch_find_members(fwd_batch *batch, size_t method) {
  fwd_batch_members *made = make_members(&batch->all, method), *published = NULL;
  // If memory is short, the fan-outs visit all records and skip those that lack the method.
  fwd_batch_members *found = made ? made : &batch->all;
  if (atomic_compare_exchange_strong_explicit(&batch->by_method[method], &published, found, memory_order_acq_rel,
                                              memory_order_acquire)) {
    if (made) keep(batch, made);
    return found;
  }
  // Another thread has published its members first. They stay: fan-outs may be reading them.
  free(made);
  return published;
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
