// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "members/taps.h"

#include <stdlib.h>

#include "fwd_weak.h"
#include "members/garbage.h"
#include "members/swift_closure.h"

// MARK: Liveness

fwd_liveness *fwd_liveness_create(size_t limit) {
  fwd_liveness *liveness = malloc(sizeof *liveness);
  if (liveness) atomic_init(&liveness->remaining, limit > 0 ? limit : SIZE_MAX);
  return liveness;
}

void fwd_liveness_destroy(fwd_liveness *liveness) { free(liveness); }

bool fwd_liveness_holds(const fwd_liveness *liveness) {
  return atomic_load_explicit(&liveness->remaining, memory_order_acquire) > 0;
}

bool fwd_liveness_take(fwd_liveness *liveness) {
  size_t remaining = atomic_load_explicit(&liveness->remaining, memory_order_acquire);
  while (remaining > 0 && remaining < SIZE_MAX) {
    if (atomic_compare_exchange_weak_explicit(&liveness->remaining, &remaining, remaining - 1, memory_order_acq_rel,
                                              memory_order_acquire)) {
      return true;
    }
  }
  return remaining > 0;
}

bool fwd_liveness_end(fwd_liveness *liveness) {
  return atomic_exchange_explicit(&liveness->remaining, 0, memory_order_acq_rel) > 0;
}

// MARK: Taps

fwd_taps *fwd_taps_create(size_t before_count, bool has_stub, size_t after_count, void *owner) {
  size_t count = before_count + has_stub + after_count;
  fwd_taps *made = calloc(1, sizeof *made + count * sizeof made->taps[0]);
  if (!made) return NULL;
  fwd_object_retain(owner);
  made->owner = owner;
  made->before_count = before_count;
  made->has_stub = has_stub;
  made->after_count = after_count;
  return made;
}

fwd_tap *fwd_taps_at(fwd_taps *taps, size_t index) { return &taps->taps[index]; }

static void free_taps(fwd_taps *taps) {
  if (!taps) return;
  fwd_object_release(taps->owner);
  free(taps);
}

static void free_retired(fwd_retired *retired) {
  free_taps((fwd_taps *)((char *)retired - offsetof(fwd_taps, retired)));
}

static const fwd_swift_closure *find_lone(const fwd_taps *taps) {
  if (taps->before_count + taps->after_count != 1 || taps->has_stub) return NULL;
  const fwd_swift_closure *closure = taps->taps[0].implementation.closure;
  return closure && !closure->has_conditions ? closure : NULL;
}

void fwd_list_set_taps(fwd_subscriber_list *list, size_t method, fwd_taps *taps, fwd_garbage *garbage) {
  _Atomic(fwd_taps *) *all = atomic_load_explicit(&list->taps, memory_order_relaxed);
  if (taps) taps->lone = find_lone(taps);
  if (!all && taps) {
    all = calloc(list->method_count, sizeof *all);
    if (all) {
      atomic_store_explicit(&list->taps, all, memory_order_release);
    } else {
      // Without it Swift calls the interceptors, which is slower.
      free_taps(taps);
    }
  }
  fwd_taps *old = all ? atomic_exchange_explicit(&all[method], taps, memory_order_acq_rel) : NULL;
  if (old) fwd_leave_behind(garbage, &old->retired, list, free_retired);
}

void fwd_list_end_taps(fwd_subscriber_list *list, fwd_garbage *garbage) {
  if (!atomic_load_explicit(&list->taps, memory_order_relaxed)) return;
  for (size_t i = 0; i < list->method_count; i++) fwd_list_set_taps(list, i, NULL, garbage);
}

void fwd_list_free_taps(fwd_subscriber_list *list) { free(atomic_load_explicit(&list->taps, memory_order_relaxed)); }
