// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The inner loop of a fan-out: one call, with its registers loaded once, made again and again with
/// another receiver and another function.

#ifndef FWD_SRC_REPLAY_H
#define FWD_SRC_REPLAY_H

#include <string.h>

#include "call_plan.h"
#include "record.h"
#include "word.h"

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
  /// The first is the receiver's. Those that the function does not take may be anything.
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

/// Where the arguments of an invocation are.
typedef struct fwd_register_source {
  /// A frame ...
  const void *frame;
  /// ... or pointers to those behind the hidden ones.
  void *const *arguments;
  /// Where those behind the hidden ones stand in the frame.
  const uint32_t *offsets;
  uint32_t hidden_count;
  /// What the second hidden one is.
  fwd_selector selector;
} fwd_register_source;

/// Loads a register for a move.
static inline uint64_t fwd_load_register(const fwd_move *move, const fwd_register_source *source) {
  if (move->argument < source->hidden_count) return (uint64_t)(uintptr_t)source->selector;
  uint32_t index = move->argument - source->hidden_count;
  const char *bytes = source->arguments ? source->arguments[index]
                                        : (const char *)source->frame + source->offsets[index];
  bytes += move->offset;
  if (move->size == 8) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
  }
  return fwd_extend(bytes, move->size, move->is_signed);
}

/// Loads the registers but for the receiver's.
static inline void fwd_replay_load(fwd_replay *replay, const fwd_call_plan *plan,
                                   const fwd_register_source *source) {
  for (size_t i = 1; i < plan->integer_count; i++) {
    replay->integers[i] = fwd_load_register(&plan->integers[i], source);
  }
  for (size_t i = 0; i < plan->vector_count; i++) {
    // A float is the low half of a double: the callee does not look at the rest.
    uint64_t word = fwd_load_register(&plan->vectors[i], source);
    memcpy(&replay->vectors[i], &word, sizeof word);
  }
}

/// From so many records on, what a delivery touches is mostly not in a cache.
enum { FWD_PREFETCHED_COUNT = 2048, FWD_PREFETCH_DISTANCE = 16 };

/// Asks for what a later delivery touches: its record, and nearer at hand the object that it holds.
static inline void fwd_prefetch(fwd_record *const *records, size_t index, size_t count) {
  size_t far = index + 2 * FWD_PREFETCH_DISTANCE, near = index + FWD_PREFETCH_DISTANCE;
  if (far < count) __builtin_prefetch(records[far]);
  if (near < count) __builtin_prefetch(records[near]->receiver, 1);
}

#endif
