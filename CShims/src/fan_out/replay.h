// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The replay loops: the inner loop of a fan-out of a void method. The argument registers are loaded once; then one call
/// is made for each record, with another receiver and another function.

#ifndef FWD_SRC_REPLAY_H
#define FWD_SRC_REPLAY_H

#include <string.h>

#include "abi/plan.h"
#include "base/word.h"
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
  /// Returns pointers to the arguments, the hidden ones left out. They stand where the words were: the loop must have
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
  /// The arguments for closures: the caller's pointers, or what `find_arguments` gave. NULL before the first closure if
  /// the caller has a frame.
  void *const *arguments;
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

/// Returns how many deliveries the loop has made itself.
typedef size_t (*fwd_replayer)(fwd_replay *replay);

/// The loops for one shape of signature.
typedef struct fwd_replayers {
  /// Retains weakly referenced objects during their deliveries.
  fwd_replayer weak;
  /// For records whose objects are kept alive by the proxy or by a batch: no reference is counted.
  fwd_replayer held;
} fwd_replayers;

/// Finds the loops for a plan of a void function whose first argument is the receiver. Both are NULL if
/// the plan passes arguments on the stack, or by other than whole registers.
fwd_replayers fwd_replayers_find(const fwd_call_plan *plan);

/// Delivers to the first records of a list, as far as they have closures or lack the method, without the words of
/// registers. Retains weak subscribers. Leaves the other records in the replay, and returns how many deliveries it has made.
size_t fwd_replay_closures(fwd_replay *replay);
/// The same for records that a batch holds: counts no reference.
size_t fwd_replay_held_closures(fwd_replay *replay);

/// Where the word of a register comes from.
typedef struct fwd_register_load {
  /// The offset in the frame, in bytes.
  uint32_t offset;
  /// The index of the argument, the hidden arguments not counted, and the offset in it.
  uint16_t argument;
  uint16_t part;
  uint8_t size;
  bool is_signed;
} fwd_register_load;

/// The sizes of a method's loads, from the fastest to load to the slowest.
typedef enum fwd_load_sizes {
  FWD_LOADS_OF_8_BYTES,
  FWD_LOADS_OF_4_OR_8_BYTES,
  FWD_LOADS_OF_ANY_SIZE,
} fwd_load_sizes;

/// How a plan's registers are loaded, except the hidden arguments' registers.
typedef struct fwd_register_loads {
  /// The index of the first register loaded: the number of hidden arguments.
  uint32_t first;
  uint32_t count;
  fwd_load_sizes sizes;
  /// The integer register that a function's context is passed in: the first behind the method's own.
  uint8_t context_index;
  fwd_register_load loads[FWD_REPLAY_WORDS];
} fwd_register_loads;

/// Prepares the loads of a plan that has loops. `offsets` has the frame offset of each argument that is not hidden.
fwd_register_loads fwd_replay_prepare(const fwd_call_plan *plan, const uint32_t *offsets,
                                      uint32_t hidden_count);

/// Loads a register's word of four or eight bytes. The callee ignores the upper half of a register that carries four. So
/// integers are not sign-extended, and a float is the low half of a double.
static inline uint64_t fwd_replay_word_of_4_or_8(const fwd_register_load *load, const char *bytes) {
  if (load->size == 8) return fwd_load_word_of(bytes);
  uint32_t half;
  memcpy(&half, bytes, sizeof half);
  return half;
}

/// Loads the registers' words from a frame.
static inline __attribute__((always_inline)) void fwd_replay_load_frame(fwd_replay_word *words,
                                                                        const fwd_register_loads *loads,
                                                                        const char *frame) {
  fwd_replay_word *word = words + loads->first;
  const fwd_register_load *load = loads->loads, *end = load + loads->count;
  if (__builtin_expect(loads->sizes == FWD_LOADS_OF_8_BYTES, 1)) {
    for (; load < end; load++, word++) memcpy(&word->bits, frame + load->offset, sizeof word->bits);
  } else if (loads->sizes == FWD_LOADS_OF_4_OR_8_BYTES) {
    for (; load < end; load++, word++) word->bits = fwd_replay_word_of_4_or_8(load, frame + load->offset);
  } else {
    for (; load < end; load++, word++) word->bits = fwd_extend(frame + load->offset, load->size, load->is_signed);
  }
}

/// Where a load finds its bytes.
static inline const char *fwd_replay_pointed(const fwd_register_load *load, void *const *arguments) {
  return (const char *)arguments[load->argument] + load->part;
}

/// Loads the registers' words from pointers to the arguments.
void fwd_replay_load_pointed(fwd_replay_word *words, const fwd_register_loads *loads, void *const *arguments);

/// The same where `sizes` is not FWD_LOADS_OF_ANY_SIZE.
static inline __attribute__((always_inline)) void fwd_replay_load_pointed_4_or_8(fwd_replay_word *words,
                                                                                 const fwd_register_loads *loads,
                                                                                 void *const *arguments) {
  fwd_replay_word *word = words + loads->first;
  const fwd_register_load *load = loads->loads, *end = load + loads->count;
  for (; load < end; load++, word++) {
    word->bits = fwd_replay_word_of_4_or_8(load, fwd_replay_pointed(load, arguments));
  }
}

/// Lists of at least this many records do not fit into the nearer caches, so they are prefetched.
enum { FWD_PREFETCHED_COUNT = 2048, FWD_PREFETCH_DISTANCE = 16 };

/// Prefetches the record of a delivery far ahead, and the object of one half as far: its record has arrived by then.
static inline void fwd_prefetch(fwd_record *const *records, size_t index, size_t count) {
  size_t far = index + 2 * FWD_PREFETCH_DISTANCE, near = index + FWD_PREFETCH_DISTANCE;
  if (far < count) __builtin_prefetch(records[far]);
  if (near < count) __builtin_prefetch(records[near]->receiver, 1);
}

#endif
