// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_BATCH_H
#define FWD_SRC_BATCH_H

#include <stdatomic.h>

#include "fan_out/nesting.h"
#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

/// Some records of a batch, in the order of delivery.
typedef struct fwd_batch_members {
  size_t count;
  fwd_record **records;
  /// The members that the batch has found before; NULL for none.
  struct fwd_batch_members *next;
} fwd_batch_members;

/// A batch. The arrays of `all` and of the retained objects are in the batch's allocation, behind `by_method`.
struct fwd_batch {
  fwd_proxy *proxy;
  /// Keeps the records where they are.
  fwd_guard guard;
  /// How many records the list had, with those that are not in the batch.
  size_t walked;
  fwd_batch_members all;
  /// The objects that the batch retains.
  void **owned;
  size_t owned_count;
  /// All members that have been found, so that the end of a batch does not look at each method.
  _Atomic(fwd_batch_members *) found;
  /// The members of each method, so that an invocation does not visit records that lack it. NULL before the method's first
  /// invocation. Set once, by any thread.
  _Atomic(fwd_batch_members *) by_method[];
};

/// Finds the members of a method, for its first invocation.
const fwd_batch_members *fwd_batch_find_members(fwd_batch *batch, size_t method);

/// The members to which an invocation of a method is delivered. Always the same for a batch and a method.
static inline const fwd_batch_members *fwd_batch_members_of(fwd_batch *batch, size_t method) {
  const fwd_batch_members *members = atomic_load_explicit(&batch->by_method[method], memory_order_acquire);
  return __builtin_expect(members != NULL, 1) ? members : fwd_batch_find_members(batch, method);
}

/// The innermost batch of a proxy that the calling thread has entered; NULL for none.
static inline fwd_batch *fwd_batch_of_thread(const fwd_proxy *proxy) {
  for (const fwd_batch_use *use = fwd_nesting_of_thread.batches; use; use = use->outer) {
    if (use->batch->proxy == proxy) return use->batch;
  }
  return NULL;
}

#endif
