// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the loops of a fan-out work on: some records of a list, and the arguments.

#ifndef FWD_SRC_REPLAY_STATE_H
#define FWD_SRC_REPLAY_STATE_H

#include "abi/plan.h"
#include "members/record.h"

enum {
  /// The most registers of a narrow method. Its words are its integer registers, then its vector registers. Most methods
  /// are narrow, and take less of the stack.
  FWD_REPLAY_NARROW = 8,
  /// In the words of all other methods, the index of the first vector register: before it come all integer registers and
  /// the context's word, in case the context is on the stack.
  FWD_REPLAY_BEFORE_VECTORS = FWD_INTEGER_REGISTERS + 1,
  /// The words of methods that are not narrow.
  FWD_REPLAY_WORDS = FWD_REPLAY_BEFORE_VECTORS + FWD_VECTOR_REGISTERS,
};

/// A word of the replay. The two share their memory because a recursion needs it at each level.
typedef union fwd_replay_word {
  /// What a register holds. Loops copy them into local variables before their first delivery.
  uint64_t bits;
  /// A pointer to an argument, for deliveries outside the loops.
  void *address;
} fwd_replay_word;

typedef struct fwd_replay fwd_replay;

/// What a loop asks of its fan-out.
typedef struct fwd_replay_operations {
  /// Makes a delivery that the loop leaves to the fan-out: the implementation is neither a C function nor a closure that
  /// takes the arguments, or the subscription has ended or has a gate (blocked, or limited to some deliveries), or its
  /// reference is not of the loop's kind.
  void (*deliver_slowly)(fwd_replay *replay, size_t index);
  /// Returns pointers to the arguments, the hidden ones left out. They may stand where the words were: the loop must have
  /// read these.
  void *const *(*find_arguments)(fwd_replay *replay);
} fwd_replay_operations;

/// What a loop reads, and what it tells its fan-out.
struct fwd_replay {
  fwd_record *const *records;
  size_t count;
  /// The offset of the method's implementation in a dispatch table, in bytes.
  size_t implementation;
  const fwd_replay_operations *operations;
  /// Whether a record was met whose object has died, so that it can be removed.
  bool met_dead;
  /// `context_index` of the method's loads. Only the loops of methods that are not narrow read it.
  uint8_t context_index;
  /// The record of the closure at hand, for closures that ask; NULL for a C function, since to store it at each delivery
  /// would cost some percent of a call.
  const fwd_record *record;
  /// The words, as FWD_REPLAY_NARROW and FWD_REPLAY_WORDS describe them. The first is the receiver's.
  fwd_replay_word *words;
};

// Tests make them smaller, so that short lists are prefetched and have several parts.
#if !defined(FWD_PREFETCHED_COUNT)
/// Lists of at least this many records do not fit into the nearer caches, so they are prefetched.
#define FWD_PREFETCHED_COUNT 2048
/// How many deliveries ahead an object is prefetched, and the size of a part.
#define FWD_PREFETCH_DISTANCE 16
#endif

/// Prefetches the record of a delivery far ahead, and the object of one half as far: its record has arrived by then.
static inline void fwd_prefetch(fwd_record *const *records, size_t index, size_t count) {
  size_t far = index + 2 * FWD_PREFETCH_DISTANCE, near = index + FWD_PREFETCH_DISTANCE;
  if (far < count) __builtin_prefetch(records[far]);
  if (near < count) __builtin_prefetch(records[near]->receiver, 1);
}

/// For loops that get long lists in parts and do not prefetch themselves. Prefetches for the parts that come next, and
/// returns the size of this one: all records if there are few.
static inline size_t fwd_prefetch_part(fwd_record *const *records, size_t count) {
  if (count <= FWD_PREFETCH_DISTANCE) return count;
  for (size_t i = 0; i < FWD_PREFETCH_DISTANCE; i++) fwd_prefetch(records, i, count);
  return FWD_PREFETCH_DISTANCE;
}

#endif
