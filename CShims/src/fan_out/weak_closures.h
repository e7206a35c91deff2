// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_WEAK_CLOSURES_H
#define FWD_SRC_WEAK_CLOSURES_H

#include "base/turns.h"
#include "members/record.h"
#include "members/swift_closure.h"
#include "members/taking.h"

/// Delivers to the weak subscribers from `next` on, up to `end`, that have a closure that takes the arguments, for a method of
/// any shape. Retains and releases their objects inline. Returns the place of the first record that it leaves: it has no such
/// closure, is not weak, has ended or has a gate, or its object cannot be retained without the runtime. `at_hand` is where the
/// fan-out has the record of the closure at hand; it is NULL afterwards. Each closure writes its result to `*room`, over the one
/// before. Does not prefetch. Inlined, so that a recursion has one stack frame for it and its caller; and `room` is read again
/// for each closure, since a value that is kept takes space there.
static inline __attribute__((always_inline)) fwd_record *const *fwd_replay_weak_closures(
    fwd_record *const *next, fwd_record *const *end, void *const *arguments, size_t implementation,
    const fwd_record **at_hand, void *const *room) {
  const fwd_swift_closure *accepted = FWD_NO_CLOSURE_YET;
  fwd_function first = NULL;
  for (; next < end; next++) {
    const fwd_record *record = *next;
    const uintptr_t held = fwd_record_held(record);
    // Before the table is read, since the table of a subscription that has ended may be gone.
    if (__builtin_expect((held & FWD_HELD_BITS) != 0, 0)) break;
    const fwd_implementation *method = fwd_dispatch_table_at_offset(record->table, implementation);
    const fwd_swift_closure *closure = method->closure;
    if (__builtin_expect(closure != accepted, 0)) {
      if (method->function || !closure || !fwd_swift_closure_takes(closure, arguments)) break;
      if (!first) first = closure->function;
      accepted = closure;
    }
    fwd_take_turn(closure->function, false, &first);
    // Stored before the retain, since a store between two atomic instructions delays the second. Not reset after each delivery,
    // since no code of a user runs before the next one.
    *at_hand = record;
    if (__builtin_expect(!fwd_retain_in_word((void *)held), 0)) break;
    fwd_swift_closure_call(closure, record->receiver, arguments, *room);
    if (__builtin_expect(!fwd_release_in_word((void *)held), 0)) {
      // Code that runs from here on must not find a subscription if it asks for the current one.
      *at_hand = NULL;
      swift_release((void *)held);
    }
  }
  *at_hand = NULL;
  return next;
}

#endif
