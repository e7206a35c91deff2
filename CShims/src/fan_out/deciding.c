// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/deciding.h"

#include <stdlib.h>
#include <string.h>

#include "base/cold_call.h"
#include "base/error.h"
#include "base/hot.h"
#include "fan_out/batch.h"
#include "fan_out/delivery.h"
#include "fan_out/interception.h"
#include "fan_out/outcome.h"
#include "fan_out/policy.h"
#include "fan_out/reading.h"
#include "fan_out/weak_closures.h"
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
  const fwd_implementation *implementation = fwd_implementation_by(record, state->method);
  if (fwd_implementation_is_empty(implementation)) return WAY_NONE;
  const fwd_delivery *delivery = state->delivery;
  return implementation->closure && !delivery->collects ? WAY_CLOSURE : WAY_ANY;
}

/// Where a visit of records has ended, and whether the policy has ended the fan-out there. One word, since a place for a second
/// one would take stack at each level of a recursion.
typedef struct visited {
  /// The address of the first record that has not been visited, plus 1 if the fan-out has ended.
  uintptr_t word;
} visited;

static inline visited visited_to(fwd_record *const *next, bool goes_on) { return (visited){(uintptr_t)next | !goes_on}; }
static inline fwd_record *const *next_of(visited visit) { return (fwd_record *const *)(visit.word & ~(uintptr_t)1); }
static inline bool goes_on_after(visited visit) { return !(visit.word & 1); }

/// The pointers to the arguments without the hidden ones.
static inline void *const *visible_arguments(const fwd_emission *state) {
  void *const *given = state->delivery->arguments;
  return given ? given : state->arguments + state->method->hidden_count;
}

/// Zeroes the room for a closure's result. There is a unit of room even for a result of no bytes.
static inline void clear_result(const fwd_emission *state, const fwd_at_hand *at_hand) {
  memset(at_hand->result, 0, sizeof(fwd_aligned_bytes));
  if (__builtin_expect(state->method->result.size > sizeof(fwd_aligned_bytes), 0)) {
    fwd_clear_room(state->method, at_hand->result);
  }
}

/// Prefetches for the deliveries to come, of a long list.
static inline void prefetch(fwd_record *const *next, fwd_record *const *end) {
  size_t left = (size_t)(end - next);
  if (__builtin_expect(left >= FWD_PREFETCHED_COUNT, 0)) fwd_prefetch(next, 0, left);
}

/// Delivers to the records from `next` on. Stops before the first record that is held neither by an unowned reference nor
/// steadily, or has no closure that takes the arguments. All records get the same arguments, so a closure is asked once, until
/// a record has another one. `decides` is false for a method without a result that goes to all responders. What is kept across
/// a delivery takes stack at each level of a recursion, so most is read again.
static inline __attribute__((always_inline)) visited visit_closures(fwd_deciding_emission *deciding,
                                                                    fwd_record *const *next, fwd_record *const *end,
                                                                    bool decides) {
  fwd_emission *state = &deciding->emission;
  fwd_at_hand *at_hand = &deciding->at_hand;
  const fwd_swift_closure *closure = FWD_NO_CLOSURE_YET;
  for (; next < end; next++) {
    prefetch(next, end);
    const fwd_record *record = *next;
    uintptr_t held = fwd_record_held(record);
    if (__builtin_expect((held & FWD_HELD_BITS) > FWD_HELD_NONE, 0)) break;
    const fwd_swift_closure *own = fwd_implementation_by(record, state->method)->closure;
    if (__builtin_expect(own != closure, 0)) {
      if (!own || !fwd_swift_closure_takes(own, visible_arguments(state))) break;
      closure = own;
    }
    fwd_take_turn(own->function, !at_hand->first, &at_hand->first);
    // A batch keeps all objects alive, so no `held` word is to look weak.
    if (state->delivery->batch) held |= FWD_HELD_STRONG;
    if (!(held & FWD_HELD_BITS) && __builtin_expect(!fwd_take_weak(held), 0)) {
      state->frame.met_dead = true;
      continue;
    }
    if (decides) clear_result(state, at_hand);
    at_hand->record = record;
    fwd_swift_closure_call(own, record->receiver, visible_arguments(state), at_hand->result);
    // Hides from the compiler what it could keep besides: addresses in the emission.
    __asm__("" : "+r"(deciding));
    state = &deciding->emission;
    at_hand = &deciding->at_hand;
    at_hand->record = NULL;
    if (!decides) {
      state->responses++;
    } else if (!fwd_policy_apply(state->method, state, at_hand)) {
      if (!(held & FWD_HELD_BITS)) fwd_release_counted((void *)held);
      return visited_to(next + 1, false);
    }
    if (!(held & FWD_HELD_BITS)) fwd_release_counted((void *)held);
  }
  return visited_to(next, true);
}

/// Delivers to the weak closures that come first, for a method that needs the last result only. All of them respond. Leaves that
/// result in `at_hand.result`; the caller counts the responses and keeps it. Returns the place of the first record that it
/// leaves. Not a part of `visit_closures`, so that a recursion has a stack frame of one of the two only.
FWD_HOT static fwd_record *const *visit_weak_closures(fwd_deciding_emission *deciding, fwd_record *const *next,
                                                      fwd_record *const *end) {
  const fwd_emission *state = &deciding->emission;
  // Long lists need prefetching, and a batch keeps all objects alive without counting.
  if (end - next >= FWD_PREFETCHED_COUNT || state->delivery->batch || (fwd_record_held(*next) & FWD_HELD_BITS)) return next;
  // Once: a later closure writes the same bytes, but for padding, which has no meaning.
  clear_result(state, &deciding->at_hand);
  return fwd_replay_weak_closures(next, end, visible_arguments(state), state->method->implementation,
                                  &deciding->at_hand.record, &deciding->at_hand.result);
}

// Each of these is a function, with a stack frame of the size that it needs.

__attribute__((noinline)) static visited decide_by_closures(fwd_deciding_emission *deciding, fwd_record *const *next,
                                                            fwd_record *const *end) {
  return visit_closures(deciding, next, end, true);
}

__attribute__((noinline)) static visited run_closures(fwd_deciding_emission *deciding, fwd_record *const *next,
                                                      fwd_record *const *end) {
  return visit_closures(deciding, next, end, false);
}

/// Delivers to some records, one after another, until the policy says to stop.
static inline __attribute__((always_inline)) visited deliver_to_all(fwd_deciding_emission *deciding,
                                                                    fwd_record *const *next, fwd_record *const *end) {
  while (next < end) {
    visited visit = visited_to(next, true);
    way chosen = way_to(&deciding->emission, *next);
    if (chosen == WAY_CLOSURE) {
      if (deciding->emission.method->needs_last_only) {
        fwd_record *const *reached = visit_weak_closures(deciding, next, end);
        if (reached != next) {
          deciding->emission.responses += (size_t)(reached - next);
          fwd_keep(&deciding->at_hand);
          next = reached;
          continue;
        }
      }
      visit = deciding->emission.method->is_plain ? run_closures(deciding, next, end) : decide_by_closures(deciding, next, end);
    }
    if (next_of(visit) == next) {
      prefetch(next, end);
      visit = visited_to(next + 1, chosen == WAY_NONE || fwd_deliver_to(&deciding->emission, &deciding->at_hand, *next));
    }
    if (!goes_on_after(visit)) return visit;
    next = next_of(visit);
  }
  return visited_to(next, true);
}

/// Does the same as a call.
__attribute__((noinline)) static visited deliver_apart(fwd_deciding_emission *deciding, fwd_record *const *records,
                                                       size_t count) {
  return deliver_to_all(deciding, records, records + count);
}

/// Delivers to the records of a list of several segments, inside of a reading. Returns the number of records visited.
__attribute__((noinline)) static size_t deliver_to_spans(fwd_deciding_emission *deciding) {
  size_t sum = 0;
  fwd_span span;
  bool found = fwd_span_first(fwd_proxy_list(deciding->emission.proxy), &span);
  while (found) {
    visited visit = deliver_apart(deciding, span.records, span.count);
    sum += (size_t)(next_of(visit) - span.records);
    found = goes_on_after(visit) && fwd_span_next(&span);
  }
  return sum;
}

// MARK: Fan-outs

/// Results of at most this size need no allocation.
enum { inline_result_size = 64 };

/// Delivers to the records of a batch, or inside of a reading to those of the list, one after another. Returns how many of the
/// list's first records have been asked for the method; 0 if only those that implement it have been visited.
__attribute__((noinline)) static size_t decide_any(fwd_deciding_emission *deciding) {
  size_t index = deciding->emission.method->index;
  fwd_batch *batch = deciding->emission.delivery->batch;
  if (batch) {
    const fwd_batch_members *members = fwd_batch_members_of(batch, index);
    deliver_apart(deciding, members->records, members->count);
    return 0;
  }
  fwd_subscriber_list *list = fwd_proxy_list(deciding->emission.proxy);
  const fwd_responders *responders = fwd_list_responders(list, index);
  if (responders) {
    deliver_apart(deciding, responders->records, responders->count);
    return 0;
  }
  const fwd_reading reading = fwd_list_read(list, (fwd_guard){0});
  if (reading.is_long) return deliver_to_spans(deciding);
  return (size_t)(next_of(deliver_apart(deciding, reading.records, reading.count)) - reading.records);
}

/// Calls the interceptors after the deliveries, when the fan-out has been left.
__attribute__((noinline)) static void call_later_taps(fwd_emission *state, const fwd_taps *taps) {
  const fwd_delivery *delivery = state->delivery;
  fwd_nesting_enter(&state->frame, FWD_NESTING_OTHER);
  fwd_call_taps(state->proxy, state->method, visible_arguments(state), taps->taps + taps->before_count, taps->after_count);
  fwd_nesting_leave(&state->frame, delivery->is_nested);
}

/// Leaves a fan-out inside of its interceptors' visit to the list. `asked` is that of `fwd_visited_by`.
__attribute__((noinline)) static void leave_within_taps(fwd_emission *state, fwd_hazard *hazard, size_t asked) {
  state->frame.kind = FWD_NESTING_OTHER;
  fwd_emission_leave(state, state->frame.met_dead ? fwd_visited_as_announced(state, hazard, asked) : 0);
}

/// The units that a result takes: whole ones, which `fwd_clear_room` zeroes.
static inline size_t units_of(size_t size) { return (size + sizeof(fwd_aligned_bytes) - 1) / sizeof(fwd_aligned_bytes); }

/// Zeroes up to four units without a call.
static inline void clear_few(fwd_aligned_bytes *units, size_t count) {
  _Static_assert(inline_result_size == 4 * sizeof *units, "larger results are allocated");
  if (count > 0) memset(&units[0], 0, sizeof *units);
  if (count > 1) memset(&units[1], 0, sizeof *units);
  if (__builtin_expect(count > 2, 0)) {
    memset(&units[2], 0, sizeof *units);
    if (count > 3) memset(&units[3], 0, sizeof *units);
  }
}

/// Memory for results that are too large for the stack, of zeros; NULL if memory is short.
__attribute__((cold, noinline)) FWD_KEEPS_REGISTERS static fwd_aligned_bytes *allocate_results(size_t size) {
  return calloc(2 * units_of(size), sizeof(fwd_aligned_bytes));
}

/// Frees what `allocate_results` has allocated. The two results change places.
__attribute__((noinline)) static void free_results(const fwd_at_hand *at_hand) {
  free((uintptr_t)at_hand->result < (uintptr_t)at_hand->kept ? at_hand->result : at_hand->kept);
}

/// Fails before the first delivery.
__attribute__((cold, noinline)) static fwd_status fail_early(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                             const fwd_taps *taps, fwd_hazard *hazard,
                                                             fwd_status status) {
  if (status == FWD_NESTED_TOO_DEEP) {
    status = fwd_nesting_fail(method->method.selector);
  } else {
    status = fwd_fail(NULL, status, 0, "no memory for a result of %zu bytes", method->result.size);
  }
  if (taps) fwd_hazard_leave_as_announced(hazard, &fwd_proxy_list(proxy)->domain);
  return status;
}

/// Whether the method's plan calls the record's C function, with an array of all arguments.
static inline bool has_planned_function(const fwd_emission *state, const fwd_implementation *implementation) {
  return implementation->function && !implementation->packed && !state->frame.is_filled &&
         fwd_calls_by_plan(state->method->plan);
}

/// `decide_lone` for a record without a closure.
FWD_HOT static bool decide_lone_function(fwd_deciding_emission *deciding, const fwd_record *record, uintptr_t held) {
  fwd_emission *state = &deciding->emission;
  if (__builtin_expect(!has_planned_function(state, fwd_implementation_by(record, state->method)), 0)) return false;
  if (!(held & FWD_HELD_BITS) && __builtin_expect(!fwd_take_weak(held), 0)) {
    state->frame.met_dead = true;
    return true;
  }
  deciding->at_hand.record = record;
  fwd_complete_arguments(state, record);
  clear_result(state, &deciding->at_hand);
  // Here and below, hides from the compiler what it could keep across the calls: addresses in the emission.
  __asm__("" : "+r"(deciding));
  state = &deciding->emission;
  record = deciding->at_hand.record;
  const fwd_compiled_method *method = state->method;
  const fwd_function function = fwd_implementation_by(record, method)->function;
  method->plan->unchecked(method->plan, function, state->arguments, deciding->at_hand.result);
  __asm__("" : "+r"(deciding));
  state = &deciding->emission;
  deciding->at_hand.record = NULL;
  fwd_policy_apply_apart(state, &deciding->at_hand);
  if (!(held & FWD_HELD_BITS)) fwd_release_counted((void *)held);
  return true;
}

/// `decide_lone` for a record with a closure.
FWD_HOT static bool decide_lone_closure(fwd_deciding_emission *deciding, const fwd_record *record, uintptr_t held,
                                        void *const *arguments) {
  fwd_emission *state = &deciding->emission;
  fwd_at_hand *at_hand = &deciding->at_hand;
  bool counts = !(held & FWD_HELD_BITS);
  const fwd_swift_closure *closure = fwd_implementation_by(record, state->method)->closure;
  if (__builtin_expect(!fwd_swift_closure_takes(closure, arguments), 0)) return false;
  if (counts && __builtin_expect(!fwd_take_weak(held), 0)) {
    state->frame.met_dead = true;
    return true;
  }
  clear_result(state, at_hand);
  at_hand->record = record;
  fwd_swift_closure_call(closure, record->receiver, arguments, at_hand->result);
  at_hand->record = NULL;
  fwd_policy_apply_apart(state, at_hand);
  if (counts) fwd_release_counted((void *)held);
  return true;
}

/// Delivers to the only record of a list, if it has a closure that takes the arguments, or a C function that the method's
/// plan calls. Returns false if it has done nothing. There is neither a batch nor a collector. Each of the two ways is a
/// function, with a stack frame of the size that it needs.
static inline bool decide_lone(fwd_deciding_emission *deciding, const fwd_record *record, void *const *arguments) {
  uintptr_t held = fwd_record_held(record);
  // Before the table is read, since the table of a subscription that has ended may be gone.
  if ((held & FWD_HELD_BITS) > FWD_HELD_NONE) return false;
  return fwd_implementation_by(record, deciding->emission.method)->closure
             ? decide_lone_closure(deciding, record, held, arguments)
             : decide_lone_function(deciding, record, held);
}

fwd_status fwd_fan_out_deciding(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                const fwd_taps *taps, fwd_hazard *hazard) {
  fwd_deciding_emission deciding;
  fwd_emission *state = &deciding.emission;
  fwd_emission_begin(state, proxy, method, delivery, FWD_NESTING_DECIDES);
  // A value that the compiler keeps across a call takes stack at each level. So this function reads the parameters from the
  // emission again after each call, and hides from the compiler that the emission has them.
  __asm__("" : : "r"(state) : "memory");
  // The words of the stack are collected before they are put there. Interceptors by `fwd_call_packed_tap` have an array of
  // all arguments, as this function has.
  size_t needed = method->plan ? 2 * (size_t)method->plan->stack_size : 0;
  if (taps) needed += 2 * method->argument_count * sizeof(void *);
  if (method->plan) needed += fwd_call_plan_extra_stack(method->plan);
  if (__builtin_expect(!fwd_nesting_has_room(&deciding, needed), 0)) {
    return fail_early(proxy, method, taps, hazard, FWD_NESTED_TOO_DEEP);
  }
  // As much of the stack as this method needs, and no array of variable length: compilers would keep the stack pointer of
  // before.
  void *const *given = delivery->arguments;
  state->frame.is_filled = fwd_has_filler(method, delivery);
  bool has_array = !given || !state->frame.is_filled;
  void **arguments = has_array ? __builtin_alloca((method->argument_count + 1) / 2 * 2 * sizeof *arguments) : NULL;
  state->arguments = arguments;
  size_t size = method->result.size, units = units_of(size);
  fwd_aligned_bytes *results;
  if (__builtin_expect(size > inline_result_size, 0)) {
    results = allocate_results(size);
    if (!results) return fail_early(state->proxy, state->method, taps, hazard, FWD_NO_MEMORY);
  } else {
    // A result without bytes needs an address, too. Both may have the same.
    results = __builtin_alloca((size > 0 ? 2 * units : 1) * sizeof *results);
    clear_few(results + units, units);
  }
  deciding.at_hand = (fwd_at_hand){.result = results, .kept = results + units};
  if (!given) {
    fwd_find_arguments(method, delivery, arguments);
    given = arguments + method->hidden_count;
  } else if (has_array && method->argument_count > 0) {
    // NULL: they are found before the first call of a C function.
    arguments[0] = NULL;
  }
  fwd_nesting_push(&state->frame);
  size_t asked = 0;
  fwd_record *const *records;
  size_t count;
  bool is_any = false, is_lone = false;
  if (delivery->batch) {
    const fwd_batch_members *members = fwd_batch_members_of(delivery->batch, method->index);
    records = members->records;
    count = members->count;
    is_any = count >= FWD_PREFETCHED_COUNT;
  } else {
    if (!taps) hazard = fwd_hazard_enter_within(&fwd_proxy_list(proxy)->domain, fwd_depth_of(delivery)).hazard;
    const fwd_reading reading = fwd_list_read(fwd_proxy_list(proxy), (fwd_guard){0});
    records = reading.records;
    count = reading.count;
    is_any = !fwd_is_short(&reading, proxy);
    is_lone = count == 1 && !delivery->collects;
  }
  if (is_any) {
    asked = decide_any(&deciding);
  } else if (!is_lone || !decide_lone(&deciding, records[0], given)) {
    asked = (size_t)(next_of(deliver_to_all(&deciding, records, records + count)) - records);
  }
  const fwd_batch *batch = state->delivery->batch;
  if (batch) {
    fwd_emission_leave(state, fwd_visited_now(batch->guard, batch->walked));
    asked = 0;
  } else if (taps) {
    leave_within_taps(state, hazard, asked);
  } else {
    fwd_leave_reading(state, hazard, asked, FWD_NESTING_DECIDES);
  }
  if (fwd_asked_in_vain(asked, state->responses)) fwd_note_vain(state, asked);
  fwd_status status = fwd_outcome_finish(state, deciding.at_hand.kept);
  if (state->method->result.size > inline_result_size) free_results(&deciding.at_hand);
  if (taps) {
    if (status == FWD_OK) call_later_taps(state, taps);
    fwd_hazard_leave_as_announced(hazard, &fwd_proxy_list(state->proxy)->domain);
  }
  return status;
}

/// Delivers to the subscribers of the moment, for small methods, without a batch and without a collector.
static inline __attribute__((always_inline)) fwd_status fan_out_small(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                      const fwd_delivery *delivery,
                                                                      bool has_pointers) {
  fwd_deciding_emission deciding;
  fwd_emission *state = &deciding.emission;
  fwd_emission_begin(state, proxy, method, delivery, FWD_NESTING_DECIDES);
  if (__builtin_expect(!fwd_nesting_has_room(&deciding, 0), 0)) return fwd_nesting_fail(method->method.selector);
  void *arguments[FWD_SMALL_ARGUMENTS];
  fwd_aligned_bytes results[2];
  _Static_assert(sizeof *results == FWD_SMALL_RESULT, "a result has one of these");
  memset(&results[1], 0, sizeof results[1]);
  deciding.at_hand = (fwd_at_hand){.result = &results[0], .kept = &results[1]};
  state->arguments = arguments;
  void *const *given = delivery->arguments;
  if (has_pointers) {
    // NULL: they are found before the first call of a C function.
    arguments[0] = NULL;
  } else {
    fwd_find_arguments(method, delivery, arguments);
    given = arguments + method->hidden_count;
  }
  fwd_nesting_push(&state->frame);
  const fwd_reading reading = fwd_list_enter_within(fwd_proxy_list(proxy), has_pointers ? 1 : 0);
  size_t asked = 0;
  if (!fwd_is_short(&reading, proxy)) {
    asked = decide_any(&deciding);
  } else if (reading.count != 1 || !decide_lone(&deciding, reading.records[0], given)) {
    fwd_record *const *end = reading.records + reading.count;
    asked = (size_t)(next_of(deliver_to_all(&deciding, reading.records, end)) - reading.records);
  }
  fwd_leave_reading(state, reading.guard.hazard, asked, FWD_NESTING_DECIDES);
  if (__builtin_expect(fwd_asked_in_vain(asked, state->responses), 0)) fwd_note_vain(state, asked);
  return fwd_outcome_finish(state, deciding.at_hand.kept);
}

FWD_HOT fwd_status fwd_fan_out_small_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery) {
  return fan_out_small(proxy, method, delivery, false);
}

FWD_HOT fwd_status fwd_fan_out_small_pointers(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery) {
  return fan_out_small(proxy, method, delivery, true);
}
