// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The inner loop of a fan-out: one call, with its registers loaded once, made again and again with
/// another receiver and another function.

#ifndef FWD_SRC_REPLAY_H
#define FWD_SRC_REPLAY_H

#include <string.h>

#include "abi/call_plan.h"
#include "members/record.h"
#include "base/word.h"

/// A replay of a void method, and what the loop tells of it.
typedef struct fwd_replay {
  fwd_record *const *records;
  size_t count;
  /// Where the method's implementation stands in a dispatch table, in bytes.
  size_t implementation;
  /// Takes the deliveries that are not the loop's: to implementations that are not plain functions,
  /// by references that are not plain, and through gates.
  void (*take_over)(struct fwd_replay *replay, size_t index);
  /// Deliveries made.
  size_t delivered;
  /// Records whose subscription had ended, or does with this delivery, or whose object had died.
  size_t gone;
  /// What the registers hold: the integer ones, of which the first is the receiver's, then the vector
  /// ones.
  uint64_t words[FWD_PLAN_INTEGERS + FWD_PLAN_VECTORS];
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

/// Where the word of a register comes from.
typedef struct fwd_register_load {
  /// In the frame, in bytes.
  uint32_t offset;
  /// Counted behind the hidden arguments, and the place in it.
  uint16_t argument;
  uint16_t part;
  uint8_t size;
  bool is_signed;
} fwd_register_load;

/// How the registers of a plan are loaded but for those of the hidden arguments.
typedef struct fwd_register_loads {
  /// Of the first register: those before it are hidden arguments'.
  uint32_t first;
  uint32_t count;
  /// Whether all are of eight bytes.
  bool are_words;
  fwd_register_load loads[FWD_PLAN_INTEGERS + FWD_PLAN_VECTORS];
} fwd_register_loads;

/// Prepares the loads of a plan that there are loops for; `offsets` are those of the arguments behind
/// the hidden ones.
fwd_register_loads fwd_replay_prepare(const fwd_call_plan *plan, const uint32_t *offsets,
                                      uint32_t hidden_count);

/// Loads the registers from a frame, or from pointers to the arguments (unless they are NULL).
static inline __attribute__((always_inline)) void fwd_replay_load(fwd_replay *replay,
                                                                  const fwd_register_loads *loads,
                                                                  const char *frame,
                                                                  void *const *arguments) {
  uint64_t *word = replay->words + loads->first;
  const fwd_register_load *load = loads->loads, *end = load + loads->count;
  if (__builtin_expect(loads->are_words && !arguments, 1)) {
    for (; load < end; load++, word++) memcpy(word, frame + load->offset, sizeof *word);
    return;
  }
  for (; load < end; load++, word++) {
    const char *bytes = arguments ? (const char *)arguments[load->argument] + load->part
                                  : frame + load->offset;
    // A float is the low half of a double: the callee does not look at the rest.
    *word = load->size == 8 ? fwd_load_word_of(bytes) : fwd_extend(bytes, load->size, load->is_signed);
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
