// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The loop over closures whose objects the proxy or a batch keeps alive. It needs no words of registers: a closure takes
/// pointers to its arguments.
///
/// The loop keeps its place in the replay: what a function keeps besides across the deliveries takes stack at each level of a
/// recursion.

#ifndef FWD_SRC_CLOSURE_LOOP_H
#define FWD_SRC_CLOSURE_LOOP_H

#include "fan_out/replay_state.h"
#include "members/swift_closure.h"

/// Delivers to the first records of the replay that have closures, and skips those that lack the method. Leaves the other
/// records, from the first one on that the loop does not deliver to, in the replay. The arguments are the same for all, so
/// whether a closure takes them is asked once and not for each record; they are found before the first closure. Returns how
/// many deliveries the loop has made.
static inline size_t fwd_deliver_by_closures(fwd_replay *replay) {
  // No closure has the address 1, so a record without one differs from `closure`, too.
  const fwd_swift_closure *closure = (const fwd_swift_closure *)1;
  void *const *arguments = NULL;
  // A result of no bytes has an address all the same.
  unsigned char nothing;
  size_t delivered = 0;
  for (; replay->count > 0; replay->records++, replay->count--) {
    fwd_record *record = replay->records[0];
    if (__builtin_expect((fwd_record_held(record) & FWD_HELD_IRREGULAR) != 0, 0)) break;
    const fwd_implementation *method = fwd_dispatch_table_at_offset(record->table, replay->implementation);
    const fwd_swift_closure *own = method->closure;
    if (__builtin_expect(own != closure, 0)) {
      if (!own && fwd_implementation_is_empty(method)) continue;
      if (method->function || !own) break;
      if (!arguments) arguments = replay->operations->find_arguments(replay);
      if (!fwd_swift_closure_takes(own, arguments)) {
        // The fan-out says why it fails.
        replay->operations->deliver_slowly(replay, record);
        continue;
      }
      closure = own;
    }
    replay->record = record;
    fwd_swift_closure_call(own, record->receiver, arguments, &nothing);
    // What runs from here on is not the subscriber.
    replay->record = NULL;
    delivered++;
  }
  return delivered;
}

#endif
