// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The inner loop of a fan-out: one call, with its registers loaded once, made again and again with
/// another receiver and another function.

#ifndef FWD_SRC_REPLAY_H
#define FWD_SRC_REPLAY_H

#include "call_plan.h"
#include "record.h"

/// A replay of a void method, and what the loop tells of it.
typedef struct fwd_replay {
  fwd_record *const *records;
  size_t count;
  /// Where the method's implementation stands in a dispatch table, in bytes.
  size_t implementation;
  /// Takes the deliveries that are not the loop's: to implementations that are not plain functions,
  /// and by references that are not plain.
  void (*take_over)(struct fwd_replay *replay, size_t index);
  /// Deliveries made.
  size_t delivered;
  /// Records whose subscription had ended or whose object had died.
  size_t gone;
  /// The first is the receiver's.
  uint64_t integers[FWD_PLAN_INTEGERS];
  double vectors[FWD_PLAN_VECTORS];
} fwd_replay;

typedef void (*fwd_replayer)(fwd_replay *replay);

/// The loops for one shape of signature.
typedef struct fwd_replayers {
  /// Holds objects that are referenced weakly during their deliveries.
  fwd_replayer weak;
  /// For records whose objects live anyhow: no reference is counted.
  fwd_replayer held;
} fwd_replayers;

/// Chooses the loops for a plan of a void function whose first argument is the receiver; NULL in both
/// if there are none.
fwd_replayers fwd_replayers_find(const fwd_call_plan *plan);

/// Loads the registers but for the receiver's.
void fwd_replay_load(fwd_replay *replay, const fwd_call_plan *plan, void *const *arguments);

/// From so many records on, what a delivery touches is mostly not in a cache.
enum { FWD_PREFETCHED_COUNT = 2048, FWD_PREFETCH_DISTANCE = 16 };

/// Asks for what a later delivery touches: its record, and nearer at hand the object that it holds.
static inline void fwd_prefetch(fwd_record *const *records, size_t index, size_t count) {
  size_t far = index + 2 * FWD_PREFETCH_DISTANCE, near = index + FWD_PREFETCH_DISTANCE;
  if (far < count) __builtin_prefetch(records[far]);
  if (near < count) __builtin_prefetch(records[near]->receiver, 1);
}

#endif
