// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/deciding.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fan_out/batch.h"
#include "fan_out/delivery.h"
#include "fan_out/outcome.h"
#include "fan_out/policy.h"
#include "fan_out/reading.h"
#include "members/responders.h"
#include "members/swift_closure.h"
#include "members/taking.h"

// MARK: Deliveries

/// How `deliver_to_all` delivers to a record.
typedef enum way {
  /// Not at all: the record is plain and lacks the method.
  WAY_NONE,
  /// By `visit_closures`, if the record is held weakly or steadily and its closure takes the arguments.
  WAY_CLOSURE,
  /// By `fwd_deliver_to`.
  WAY_ANY,
} way;

static inline way way_to(const fwd_emission *state, const fwd_record *record) {
  uintptr_t held = fwd_record_held(record);
  // Before the table is read, since the table of a subscription that has ended may be gone.
  if (held & FWD_HELD_IRREGULAR) return WAY_ANY;
  const fwd_implementation *implementation = fwd_record_implementation(record, state->method->index);
  if (fwd_implementation_is_empty(implementation)) return WAY_NONE;
  const fwd_delivery *delivery = state->delivery;
  return implementation->closure && !delivery->collector ? WAY_CLOSURE : WAY_ANY;
}

/// Delivers to the records from `*index` on. Stops before the first record that is held neither by an unowned reference nor
/// steadily, or has no closure that takes the arguments, and sets `*index` to its index. All records get the same arguments,
/// so a closure is asked once, until a record has another one. Returns false if the policy ends the fan-out. `decides` is
/// false for a method without a result that goes to all responders.
static inline __attribute__((always_inline)) bool visit_closures(fwd_deciding_emission *deciding,
                                                                 fwd_record *const *records, size_t count,
                                                                 size_t *index, bool decides) {
  fwd_emission *state = &deciding->emission;
  fwd_at_hand *at_hand = &deciding->at_hand;
  const fwd_compiled_method *method = state->method;
  void *const *arguments = state->delivery->arguments;
  if (!arguments) arguments = state->arguments + method->hidden_count;
  // No closure has the address 1, so a record without one differs from `closure`, too.
  const fwd_swift_closure *closure = (const fwd_swift_closure *)1;
  // A batch keeps all objects alive, so no `held` word is to look weak.
  const uintptr_t in_batch = state->delivery->batch ? FWD_HELD_STRONG : 0;
  const size_t implementation = fwd_dispatch_table_offset(method->index);
  bool prefetches = count >= FWD_PREFETCHED_COUNT, goes_on = true;
  size_t i = *index;
  for (; i < count && goes_on; i++) {
    if (prefetches) fwd_prefetch(records, i, count);
    const fwd_record *record = records[i];
    uintptr_t held = fwd_record_held(record);
    if (__builtin_expect((held & FWD_HELD_BITS) > FWD_HELD_NONE, 0)) break;
    const fwd_swift_closure *own = fwd_dispatch_table_at_offset(record->table, implementation)->closure;
    if (__builtin_expect(own != closure, 0)) {
      if (!own || !fwd_swift_closure_takes(own, arguments)) break;
      closure = own;
    }
    fwd_take_turn(own->function, !at_hand->first, &at_hand->first);
    bool counts = !((held | in_batch) & FWD_HELD_BITS);
    if (counts && __builtin_expect(!fwd_take_weak(held), 0)) {
      state->met_dead = true;
      continue;
    }
    void *result = at_hand->result;
    if (decides) {
      // There is a unit of room even for a result of no bytes.
      memset(result, 0, sizeof(fwd_aligned_bytes));
      if (__builtin_expect(method->result.size > sizeof(fwd_aligned_bytes), 0)) fwd_clear_room(method, result);
    }
    at_hand->record = record;
    fwd_swift_closure_call(own, record->receiver, arguments, result);
    at_hand->record = NULL;
    if (decides) {
      goes_on = fwd_policy_apply(method, state, at_hand);
    } else {
      state->responses++;
    }
    if (counts) fwd_release_counted((void *)held);
  }
  *index = i;
  return goes_on;
}

__attribute__((noinline)) static bool decide_by_closures(fwd_deciding_emission *deciding, fwd_record *const *records,
                                                         size_t count, size_t *index) {
  return visit_closures(deciding, records, count, index, true);
}

__attribute__((noinline)) static void run_closures(fwd_deciding_emission *deciding, fwd_record *const *records,
                                                   size_t count, size_t *index) {
  visit_closures(deciding, records, count, index, false);
}

/// Delivers to some records, one after another, until the policy says to stop. Adds to `*visited` how many it has
/// visited. Gives whether to go on.
static inline __attribute__((always_inline)) bool deliver_to_all(fwd_deciding_emission *deciding,
                                                                 fwd_record *const *records, size_t count,
                                                                 size_t *visited) {
  bool prefetches = count >= FWD_PREFETCHED_COUNT, goes_on = true;
  size_t i = 0;
  while (i < count && goes_on) {
    size_t next = i;
    way chosen = way_to(&deciding->emission, records[i]);
    if (chosen == WAY_CLOSURE) {
      if (deciding->emission.method->is_plain) {
        run_closures(deciding, records, count, &next);
      } else {
        goes_on = decide_by_closures(deciding, records, count, &next);
      }
    }
    if (chosen == WAY_NONE) {
      if (prefetches) fwd_prefetch(records, i, count);
      next++;
    } else if (next == i) {
      if (prefetches) fwd_prefetch(records, i, count);
      goes_on = fwd_deliver_to(&deciding->emission, &deciding->at_hand, records[i]);
      next++;
    }
    i = next;
  }
  *visited += i;
  return goes_on;
}

/// Delivers to the records of a list of several segments, inside of a reading. Gives how many it has visited.
__attribute__((noinline)) static size_t deliver_to_spans(fwd_deciding_emission *deciding) {
  size_t visited = 0;
  fwd_span span;
  bool goes_on = fwd_span_first(fwd_proxy_list(deciding->emission.proxy), &span);
  while (goes_on) {
    goes_on = deliver_to_all(deciding, span.records, span.count, &visited) && fwd_span_next(&span);
  }
  return visited;
}

// MARK: Fan-outs

/// Results of at most this size need no allocation.
enum { inline_result_size = 64 };

/// Delivers to the records of the list, one after another, inside of a reading. Gives how many of the list's first records
/// have been asked for the method; 0 if only those that implement it have been visited.
__attribute__((noinline)) static size_t decide_any(fwd_deciding_emission *deciding) {
  fwd_subscriber_list *list = fwd_proxy_list(deciding->emission.proxy);
  const fwd_responders *responders = fwd_list_responders(list, deciding->emission.method->index);
  size_t visited = 0;
  if (responders) {
    deliver_to_all(deciding, responders->records, responders->count, &visited);
    return 0;
  }
  const fwd_reading reading = fwd_list_read(list, (fwd_guard){0});
  if (reading.is_long) return deliver_to_spans(deciding);
  deliver_to_all(deciding, reading.records, reading.count, &visited);
  return visited;
}

fwd_status fwd_fan_out_deciding(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                fwd_error *error) {
  fwd_deciding_emission deciding;
  fwd_emission *state = &deciding.emission;
  fwd_emission_begin(state, proxy, method, delivery);
  // The words of the stack are collected before they are put there.
  size_t needed = method->plan ? 2 * (size_t)method->plan->stack_size : 0;
  if (__builtin_expect(!fwd_nesting_has_room(&deciding, needed), 0)) {
    return fwd_nesting_fail(method->method.selector, error);
  }
  // As much of the stack as this method needs.
  void *arguments[method->argument_count];
  state->arguments = arguments;
  size_t size = method->result.size;
  // A result of no bytes has an address all the same, and needs no second one.
  size_t units = size > 0 ? size / sizeof(fwd_aligned_bytes) + 1 : 0;
  bool is_inline = size <= inline_result_size;
  fwd_aligned_bytes room[is_inline && units > 0 ? 2 * units : 1], *results = room;
  if (!is_inline) {
    results = malloc(2 * units * sizeof *results);
    if (!results) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a result of %zu bytes", size);
  }
  deciding.at_hand = (fwd_at_hand){.result = results, .kept = results + units};
  fwd_clear_room(method, deciding.at_hand.kept);
  if (!delivery->arguments) {
    fwd_find_arguments(method, delivery, arguments);
  } else if (method->argument_count > 0) {
    // NULL tells `fwd_deliver_to` that they have not been found yet.
    arguments[0] = NULL;
  }
  fwd_nesting_enter(&state->frame, FWD_NESTING_DECIDES);
  fwd_batch *batch = delivery->batch;
  size_t asked = 0, ignored = 0;
  if (batch) {
    const fwd_batch_members *members = fwd_batch_members_of(batch, method->index);
    deliver_to_all(&deciding, members->records, members->count, &ignored);
    fwd_emission_leave(state, fwd_visited_now(batch->guard, batch->walked));
  } else {
    const fwd_reading reading = fwd_list_enter_within(fwd_proxy_list(proxy), fwd_depth_of(delivery));
    if (fwd_is_short(&reading, proxy)) {
      deliver_to_all(&deciding, reading.records, reading.count, &asked);
    } else {
      asked = decide_any(&deciding);
    }
    fwd_leave_reading(state, reading.guard.hazard, reading.guard.entered, asked, state->met_dead);
  }
  if (fwd_asked_in_vain(asked, state->responses)) fwd_note_vain(state, asked);
  fwd_status status = fwd_outcome_finish(state, deciding.at_hand.kept, error);
  // Read again, since what is kept across the deliveries takes stack at each level.
  if (state->method->result.size > inline_result_size) free(results);
  return status;
}

/// Delivers to the only record of a list, if it has a closure that takes the arguments. Returns false if it has done
/// nothing. There is neither a batch nor a collector.
__attribute__((noinline)) static bool decide_lone(fwd_deciding_emission *deciding, const fwd_record *record,
                                                  void *const *arguments) {
  fwd_emission *state = &deciding->emission;
  fwd_at_hand *at_hand = &deciding->at_hand;
  uintptr_t held = fwd_record_held(record);
  bool counts = !(held & FWD_HELD_BITS);
  if (!counts && !fwd_held_is_steady(held)) return false;
  const fwd_swift_closure *closure = fwd_record_implementation(record, state->method->index)->closure;
  if (!closure || __builtin_expect(!fwd_swift_closure_takes(closure, arguments), 0)) return false;
  if (counts && __builtin_expect(!fwd_take_weak(held), 0)) {
    state->met_dead = true;
    return true;
  }
  memset(at_hand->result, 0, FWD_SMALL_RESULT);
  at_hand->record = record;
  fwd_swift_closure_call(closure, record->receiver, arguments, at_hand->result);
  at_hand->record = NULL;
  fwd_policy_apply_apart(state, at_hand);
  if (counts) fwd_release_counted((void *)held);
  return true;
}

/// Delivers to the subscribers of the moment, for small methods, without a batch and without a collector.
static inline __attribute__((always_inline)) fwd_status fan_out_small(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                      const fwd_delivery *delivery, fwd_error *error,
                                                                      bool has_pointers) {
  fwd_deciding_emission deciding;
  fwd_emission *state = &deciding.emission;
  fwd_emission_begin(state, proxy, method, delivery);
  if (__builtin_expect(!fwd_nesting_has_room(&deciding, 0), 0)) return fwd_nesting_fail(method->method.selector, error);
  void *arguments[FWD_SMALL_ARGUMENTS];
  fwd_aligned_bytes results[2];
  _Static_assert(sizeof *results == FWD_SMALL_RESULT, "a result has one of these");
  memset(&results[1], 0, sizeof results[1]);
  deciding.at_hand = (fwd_at_hand){.result = &results[0], .kept = &results[1]};
  state->arguments = arguments;
  void *const *given = delivery->arguments;
  if (has_pointers) {
    // NULL tells `fwd_deliver_to` that they have not been found yet.
    arguments[0] = NULL;
  } else {
    fwd_find_arguments(method, delivery, arguments);
    given = arguments + method->hidden_count;
  }
  fwd_nesting_enter(&state->frame, FWD_NESTING_DECIDES);
  const fwd_reading reading = fwd_list_enter_within(fwd_proxy_list(proxy), has_pointers ? 1 : 0);
  size_t asked = 0;
  if (!fwd_is_short(&reading, proxy)) {
    asked = decide_any(&deciding);
  } else if (reading.count != 1 || !decide_lone(&deciding, reading.records[0], given)) {
    deliver_to_all(&deciding, reading.records, reading.count, &asked);
  }
  fwd_leave_reading(state, reading.guard.hazard, reading.guard.entered, asked, state->met_dead);
  if (__builtin_expect(fwd_asked_in_vain(asked, state->responses), 0)) fwd_note_vain(state, asked);
  return fwd_outcome_finish(state, deciding.at_hand.kept, error);
}

fwd_status fwd_fan_out_small_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                   fwd_error *error) {
  return fan_out_small(proxy, method, delivery, error, false);
}

fwd_status fwd_fan_out_small_pointers(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                      fwd_error *error) {
  return fan_out_small(proxy, method, delivery, error, true);
}
