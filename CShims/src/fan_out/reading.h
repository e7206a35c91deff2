// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How a fan-out reads the list of subscribers, and what it does when it leaves.

#ifndef FWD_SRC_READING_H
#define FWD_SRC_READING_H

#include "fan_out/emission.h"
#include "members/responders.h"

/// Whether a list has few records, which are read as they are.
static inline bool fwd_is_short(const fwd_reading *reading, const fwd_proxy *proxy) {
  return __builtin_expect(!reading->is_long && reading->count < FWD_PREFETCHED_COUNT, 1) &&
         __builtin_expect(!fwd_list_may_have_responders(fwd_proxy_list(proxy)), 1);
}

/// The number of visited records if they may be anywhere in the list.
static const size_t fwd_visited_anywhere = PTRDIFF_MAX;

/// How many of the first records may be those that a reading has visited, before the reader leaves. Where records were
/// inserted or moved meanwhile, they may be anywhere.
static inline size_t fwd_visited_now(fwd_guard guard, size_t visited) {
  return __builtin_expect(fwd_guard_is_current(guard), 1) ? visited : fwd_visited_anywhere;
}

/// How many of the list's first records a reading may have visited. `asked` is how many of them have been asked for the
/// method, 0 if only those that implement it have.
static inline size_t fwd_visited_by(fwd_guard guard, size_t asked) {
  return asked > 0 ? fwd_visited_now(guard, asked) : fwd_visited_anywhere;
}

/// Returns `fwd_visited_by` for a reading that has kept only its hazard pointer.
static inline size_t fwd_visited_as_announced(const fwd_emission *state, const fwd_hazard *hazard, size_t asked) {
  // The time of a shared hazard pointer may be another visit's, and a reader that could not announce itself has none.
  if (!fwd_hazard_is_own(hazard)) return fwd_visited_anywhere;
  uint64_t entered = atomic_load_explicit(&hazard->entered, memory_order_relaxed);
  return fwd_visited_by((fwd_guard){.domain = &fwd_proxy_list(state->proxy)->domain, .entered = entered}, asked);
}

/// Notes that a fan-out has asked `asked` records for the method, many of them in vain.
void fwd_note_vain(const fwd_emission *state, size_t asked);

/// Ends the fan-out, which has visited so many records.
static inline void fwd_emission_leave(fwd_emission *state, size_t visited) {
  fwd_nesting_leave(&state->frame, state->delivery->is_nested);
  // Asks for the records to be removed whose subscriptions have ended. A dying owner removes all itself.
  if (__builtin_expect(state->frame.met_dead, 0)) {
    void *owner = fwd_emission_pin(state->proxy, state->delivery);
    if (owner) state->proxy->operations->met_the_dead(owner, visited);
  }
}

/// Does what `fwd_leave_reading` does, also if the frame has marks: a subscriber has handled the invocation, a record was met
/// that can be removed, deliveries were withdrawn, or a filler calls the functions. `hazard` is that of the reading's guard.
void fwd_leave_eventful(fwd_emission *state, fwd_hazard *hazard, size_t asked);

/// Ends a reading, and leaves the fan-out. Its frame was begun with this kind.
static inline __attribute__((always_inline)) void fwd_leave_reading(fwd_emission *state, fwd_hazard *hazard, size_t asked,
                                                                    fwd_nesting_kind kind) {
  if (__builtin_expect(fwd_nesting_has_marks(&state->frame, kind), 0)) {
    fwd_leave_eventful(state, hazard, asked);
    return;
  }
  // Finds the domain and the time again: a value that is kept across the deliveries takes stack at each level.
  fwd_domain *domain = &fwd_proxy_list(state->proxy)->domain;
  if (__builtin_expect(!fwd_hazard_leave_quickly(hazard, domain), 0)) {
    // See `fwd_leave_eventful`.
    state->frame.kind = FWD_NESTING_LEAVES;
    fwd_hazard_leave_slowly(hazard, domain);
    fwd_nesting_leave(&state->frame, state->delivery->is_nested);
    return;
  }
  fwd_nesting_of_thread.innermost = state->frame.outer;
}

#endif
