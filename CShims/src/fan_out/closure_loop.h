// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The loop over closures, which needs no words of registers: a closure takes pointers to its arguments.
///
/// The loop keeps its place in the replay: what a function keeps besides across the deliveries takes stack at each level of a
/// recursion. A list's only record needs no loop, whose beginning and end take as long as a delivery.

#ifndef FWD_SRC_CLOSURE_LOOP_H
#define FWD_SRC_CLOSURE_LOOP_H

#include "base/turns.h"
#include "fan_out/replay_state.h"
#include "members/swift_closure.h"
#include "members/taking.h"

/// Delivers to the first records of the replay that have closures, and skips those that lack the method. Leaves the other
/// records, from the first one on that the loop does not deliver to, in the replay. The arguments are the same for all, so
/// whether a closure takes them is asked once and not for each record; they are found before the first closure. Adds the
/// deliveries that it makes to `*delivered`. `prefetches` says whether long lists are to be prefetched.
static inline __attribute__((always_inline)) void fwd_deliver_by_closures(fwd_replay *replay, bool weak, bool prefetches,
                                                                         fwd_replay_operations operations,
                                                                         size_t *delivered) {
  // No closure has the address 1, so a record without one differs from `closure`, too.
  const fwd_swift_closure *closure = (const fwd_swift_closure *)1;
  void *const *arguments = NULL;
  fwd_function first_function = NULL;
  // A result of no bytes has an address all the same.
  unsigned char nothing;
  prefetches = prefetches && replay->count >= FWD_PREFETCHED_COUNT;
  for (; replay->count > 0; replay->records++, replay->count--) {
    if (prefetches) fwd_prefetch(replay->records, 0, replay->count);
    fwd_record *record = replay->records[0];
    uintptr_t held = fwd_record_held(record);
    bool counts = weak && !(held & FWD_HELD_BITS);
    if (__builtin_expect(!counts && (weak ? !fwd_held_is_steady(held) : (held & FWD_HELD_IRREGULAR)), 0)) break;
    const fwd_implementation *method = fwd_dispatch_table_at_offset(record->table, replay->implementation);
    const fwd_swift_closure *own = method->closure;
    if (__builtin_expect(own != closure, 0)) {
      if (!own && fwd_implementation_is_empty(method)) continue;
      if (method->function || !own) break;
      if (!arguments) arguments = operations.find_arguments(replay);
      if (!fwd_swift_closure_takes(own, arguments)) {
        // The fan-out says why it fails.
        operations.deliver_slowly(replay, 0);
        continue;
      }
      closure = own;
    }
    // As in the loops for C functions, only where a reference is counted.
    if (weak) fwd_take_turn(own->function, !first_function, &first_function);
    if (counts && __builtin_expect(!fwd_take_weak(held), 0)) {
      replay->met_dead = true;
      continue;
    }
    replay->record = record;
    fwd_swift_closure_call(own, record->receiver, arguments, &nothing);
    // What runs from here on is not the subscriber.
    replay->record = NULL;
    if (counts) fwd_release_counted((void *)held);
    ++*delivered;
  }
}

/// Delivers to a record that is the last of the replay, if it has a closure that takes the arguments. Returns false if it has
/// done nothing. `find_arguments` gives the arguments; the other parameters are those of `fwd_deliver_by_closures`.
static inline __attribute__((always_inline)) bool fwd_deliver_to_last(fwd_replay *replay, fwd_record *record, bool weak,
                                                                        void *const *(*find_arguments)(fwd_replay *replay),
                                                                        size_t *delivered) {
  uintptr_t held = fwd_record_held(record);
  bool counts = weak && !(held & FWD_HELD_BITS);
  if (!counts && (weak ? !fwd_held_is_steady(held) : (held & FWD_HELD_IRREGULAR) != 0)) return false;
  const fwd_implementation *method = fwd_dispatch_table_at_offset(record->table, replay->implementation);
  const fwd_swift_closure *closure = method->closure;
  if (!closure || method->function) return false;
  void *const *arguments = find_arguments(replay);
  if (__builtin_expect(!fwd_swift_closure_takes(closure, arguments), 0)) return false;
  if (counts && __builtin_expect(!fwd_take_weak(held), 0)) {
    replay->met_dead = true;
    return true;
  }
  // A result of no bytes has an address all the same.
  unsigned char nothing;
  replay->record = record;
  fwd_swift_closure_call(closure, record->receiver, arguments, &nothing);
  // See above.
  replay->record = NULL;
  if (counts) fwd_release_counted((void *)held);
  ++*delivered;
  return true;
}

#endif
