// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Calls of C functions with the words of a method's registers: of one function, or of all in an array of records.

#ifndef FWD_SRC_REPLAY_H
#define FWD_SRC_REPLAY_H

#include <string.h>

#include "abi/plan.h"
#include "base/turns.h"
#include "base/word.h"
#include "fan_out/replay_state.h"

/// Calls `function` with `receiver` as the first argument, the words from `words[1]` on in the other registers, and `context` as
/// one more integer behind the method's own.
typedef void (*fwd_replay_call)(void *receiver, const fwd_replay_word *words, fwd_function function, const void *context);

/// Delivers to all records of a replay, whose objects the proxy or a batch keeps alive. It counts no references and does not
/// prefetch: long lists come in parts (`fwd_prefetch_part`). Returns how many deliveries it has made itself.
typedef size_t (*fwd_replay_loop)(fwd_replay *replay);

/// Delivers to the weak subscribers from `next` on, up to `end`, that have a C function, and keeps each one alive meanwhile. The
/// first record has a function. Returns the place of the first record that it leaves: it has no C function, is not weak, has
/// ended or has a gate, or its object cannot be retained without the runtime. Does not prefetch.
typedef fwd_record *const *(*fwd_weak_loop)(fwd_record *const *next, fwd_record *const *end, const fwd_replay_word *words,
                                            size_t implementation);

/// The functions for one shape of signature.
typedef struct fwd_replayers {
  fwd_replay_call call;
  /// NULL for methods of more than FWD_REPLAY_NARROW registers.
  fwd_replay_loop loop;
  /// NULL for all but the commonest shapes.
  fwd_weak_loop weak_loop;
} fwd_replayers;

/// Whether the arguments of a plan whose first argument is the receiver are passed in registers, each of which is one load.
bool fwd_replay_fits(const fwd_call_plan *plan);

/// Finds the replayers for a plan of a void function whose first argument is the receiver. `call` is NULL if the plan passes
/// arguments on the stack, or by other than whole registers.
fwd_replayers fwd_replayers_find(const fwd_call_plan *plan);

/// Delivers to the records of a replay, from the first on, until one has something other than a closure. Skips records that lack
/// the method. Leaves the other records in the replay. Returns how many deliveries it has made.
size_t fwd_replay_closures(fwd_replay *replay);

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

/// The kinds of a method's loads, from the fastest to the slowest.
typedef enum fwd_load_kind {
  /// All of 8 bytes, and they stand in the frame as the words do: the frame's bytes are the words behind the receiver's.
  FWD_LOADS_IN_ORDER,
  FWD_LOADS_OF_8_BYTES,
  FWD_LOADS_OF_4_OR_8_BYTES,
  FWD_LOADS_OF_ANY_SIZE,
} fwd_load_kind;

/// How a plan's registers are loaded, except the hidden arguments' registers.
typedef struct fwd_register_loads {
  /// The index of the first register loaded: the number of hidden arguments.
  uint32_t first;
  uint32_t count;
  fwd_load_kind kind;
  fwd_register_load loads[FWD_REPLAY_WIDE];
} fwd_register_loads;

/// Prepares the loads of a plan that fits (`fwd_replay_fits`). `offsets` has the frame offset of each argument that is not
/// hidden.
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
static inline void fwd_replay_load_frame(fwd_replay_word *words, const fwd_register_loads *loads, const char *frame) {
  fwd_replay_word *word = words + loads->first;
  const fwd_register_load *load = loads->loads, *end = load + loads->count;
  if (__builtin_expect(loads->kind <= FWD_LOADS_OF_8_BYTES, 1)) {
    for (; load < end; load++, word++) *word = fwd_load_word_of(frame + load->offset);
  } else if (loads->kind == FWD_LOADS_OF_4_OR_8_BYTES) {
    for (; load < end; load++, word++) *word = fwd_replay_word_of_4_or_8(load, frame + load->offset);
  } else {
    for (; load < end; load++, word++) *word = fwd_extend(frame + load->offset, load->size, load->is_signed);
  }
}

/// Where a load finds its bytes.
static inline const char *fwd_replay_pointed(const fwd_register_load *load, void *const *arguments) {
  return (const char *)arguments[load->argument] + load->part;
}

/// Loads the registers' words from pointers to the arguments.
void fwd_replay_load_pointed(fwd_replay_word *words, const fwd_register_loads *loads, void *const *arguments);

/// The same where `kind` is not FWD_LOADS_OF_ANY_SIZE.
static inline void fwd_replay_load_pointed_4_or_8(fwd_replay_word *words, const fwd_register_loads *loads,
                                                  void *const *arguments) {
  fwd_replay_word *word = words + loads->first;
  const fwd_register_load *load = loads->loads, *end = load + loads->count;
  for (; load < end; load++, word++) {
    *word = fwd_replay_word_of_4_or_8(load, fwd_replay_pointed(load, arguments));
  }
}

#endif
