// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The replay loops: the inner loop of a fan-out of a void method. The argument registers are loaded once; then one call
/// is made for each record, with another receiver and another function.

#ifndef FWD_SRC_REPLAY_H
#define FWD_SRC_REPLAY_H

#include <string.h>

#include "abi/plan.h"
#include "base/word.h"
#include "fan_out/replay_state.h"

/// Returns how many deliveries the loop has made itself.
typedef size_t (*fwd_replayer)(fwd_replay *replay);

/// The loops for one shape of signature.
typedef struct fwd_replayers {
  /// Retains weakly referenced objects during their deliveries.
  fwd_replayer weak;
  /// For records whose objects are kept alive by the proxy or by a batch: counts no reference, and does not prefetch. Long
  /// lists come in parts (`fwd_prefetch_part`).
  fwd_replayer held;
} fwd_replayers;

/// Finds the loops for a plan of a void function whose first argument is the receiver. Both are NULL if
/// the plan passes arguments on the stack, or by other than whole registers.
fwd_replayers fwd_replayers_find(const fwd_call_plan *plan);

/// Delivers to the first records of a list, as far as they have closures or lack the method, without the words of
/// registers. Retains weak subscribers. Leaves the other records in the replay, and returns how many deliveries it has made.
size_t fwd_replay_closures(fwd_replay *replay);
/// The same for records that a batch holds: counts no reference, and does not prefetch. Long lists come in parts
/// (`fwd_prefetch_part`).
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

#endif
