// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the loops of a fan-out work on: some records of a list, and the arguments.

#ifndef FWD_SRC_REPLAY_STATE_H
#define FWD_SRC_REPLAY_STATE_H

#include "abi/plan.h"
#include "members/record.h"

enum {
  /// The most registers of a narrow method. Most methods are narrow, and take less of the stack.
  FWD_REPLAY_NARROW = 8,
  /// The most registers of any method.
  FWD_REPLAY_WIDE = FWD_INTEGER_REGISTERS + FWD_VECTOR_REGISTERS,
};

/// What a register holds. The words of a method are those of its integer registers, then those of its vector registers. The
/// first is the receiver's, which each delivery has in another place.
typedef uint64_t fwd_replay_word;

typedef struct fwd_replay fwd_replay;

/// What a loop asks of its fan-out.
typedef struct fwd_replay_operations {
  /// Makes a delivery that the loop leaves to the fan-out: the implementation is neither a C function nor a closure that
  /// takes the arguments, or the subscription has ended or has a gate (blocked, or limited to some deliveries).
  void (*deliver_slowly)(fwd_replay *replay, const fwd_record *record);
  /// Returns pointers to the arguments, the hidden ones left out.
  void *const *(*find_arguments)(fwd_replay *replay);
} fwd_replay_operations;

/// What a loop reads, and what it tells its fan-out.
struct fwd_replay {
  fwd_record *const *records;
  size_t count;
  /// The offset of the method's implementation in a dispatch table, in bytes.
  size_t implementation;
  const fwd_replay_operations *operations;
  /// Where the fan-out has the record of the closure at hand: the first member of a `fwd_looped_emission`.
  const fwd_record **record;
  /// NULL until a C function needs them.
  const fwd_replay_word *words;
};

// Tests make them smaller, so that short lists are prefetched and have several parts.
#if !defined(FWD_PREFETCHED_COUNT)
/// Lists of at least this many records do not fit into the nearer caches, so they are prefetched.
#define FWD_PREFETCHED_COUNT 2048
/// How many deliveries ahead an object is prefetched.
#define FWD_PREFETCH_DISTANCE 16
#endif

/// Prefetches the record of a delivery far ahead, and the object of one half as far: its record has arrived by then.
static inline void fwd_prefetch(fwd_record *const *records, size_t index, size_t count) {
  size_t far = index + 2 * FWD_PREFETCH_DISTANCE, near = index + FWD_PREFETCH_DISTANCE;
  if (far < count) __builtin_prefetch(records[far]);
  if (near < count) {
    // A number, since a context may be NULL, or point to less than 16 bytes.
    uintptr_t object = (uintptr_t)records[near]->receiver;
    __builtin_prefetch((const void *)object, 1);
    // Behind the header of a Swift object: of one object in four this is in the next cache line.
    __builtin_prefetch((const void *)(object + 16), 1);
  }
}

/// For loops that get long lists in parts and do not prefetch themselves. Prefetches for the parts that come next, and
/// returns the size of this one: all records if there are few.
static inline size_t fwd_prefetch_part(fwd_record *const *records, size_t count) {
  // A core has room for some tens of outstanding cache misses, and each record takes up to three.
  enum { part = FWD_PREFETCH_DISTANCE / 2 };
  _Static_assert(part > 0, "a part has a record");
  if (count <= part) return count;
  for (size_t i = 0; i < part; i++) fwd_prefetch(records, i, count);
  return part;
}

#endif
