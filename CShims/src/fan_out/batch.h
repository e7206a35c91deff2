// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_BATCH_H
#define FWD_SRC_BATCH_H

#include "fan_out/nesting.h"
#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

struct fwd_batch {
  fwd_proxy *proxy;
  /// Keeps the records where they are.
  fwd_guard guard;
  /// How many records the list had, with those that are not in the batch.
  size_t walked;
  size_t count;
  fwd_record **records;
  /// What is held of each record; NULL for what needs no reference.
  void **objects;
  /// Which of the objects are the batch's to release.
  bool *is_owned;
};

/// The innermost batch of a proxy that the calling thread has entered; NULL for none.
static inline fwd_batch *fwd_batch_of_thread(const fwd_proxy *proxy) {
  for (const fwd_batch_use *use = fwd_nesting_of_thread.batches; use; use = use->outer) {
    if (use->batch->proxy == proxy) return use->batch;
  }
  return NULL;
}

#endif
