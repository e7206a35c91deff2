// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The fan-out: one invocation delivered to every subscriber that implements its method, by the method's result
/// policy.
///
///     fwd_forward (forward.c)     ResolvedMethod.forward (Swift)     a C function pointer (proxy_closure.c)
///               \                            |                               /
///                `------------------>   fwd_fan_out   <---------------------'
///                                            |
///        Has the thread entered a batch?     | yes  -> `fan_out_inside` finds that of the proxy, and goes on here
///        Is the method blocked?              | yes  -> `fan_out_blocked`
///        Is the method intercepted?          | yes  -> `fan_out_past_interceptors`: a loop that calls the closures before
///                                            |         and after it, or `fwd_intercept` (interception.c)
///        Does any subscriber implement it?   | no   -> `fan_out_to_nobody`
///                                            v
///        Is there nothing to decide after each delivery?  (a void method that goes to all responders)
///                   | yes                                        | no
///                   v                                            v
///   `fan_out_by_loop` or, for a batch,                   `fan_out_small` or, for a large result, arguments on
///        `fan_out_batch_by_loop`                             the stack (void methods with these go here, too),
///                                                            a batch or a collector, `fan_out_deciding`
///        first the closures (closure_loop.h), then    one record after another: `deliver_to`
///        one of replay.c's loops for C functions,     calls the implementation, then
///        whose registers are loaded once.             `apply_policy` (policy.h) keeps or drops the
///        Records that are neither, or held in no      result, and says whether to go on
///        plain way: `deliver_slowly`, which is
///        `deliver_to` for that record
///                   \                                            /
///                    `---------->  `fwd_outcome_finish`  <------'
///        copies the kept result to the caller. Without any response: the forward target, then the
///        default result, then the error of the first delivery that failed, then the method's
///        rule for invocations without a responder.
///
/// While the records are read the list is announced by a hazard pointer (reclaim/hazard.h), so nothing is locked,
/// and what changes meanwhile is freed later.
///
/// Words: a *record* is one subscription in the list; a *delivery* calls the implementation of one record; a
/// *response* is a delivery that has given a result (of no bytes, for a void method).

#include "fwd_fan_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "call/signature.h"
#include "fan_out/batch.h"
#include "fan_out/closure_loop.h"
#include "fan_out/emission.h"
#include "fan_out/implementation.h"
#include "fan_out/interception.h"
#include "fan_out/nesting.h"
#include "fan_out/outcome.h"
#include "fan_out/policy.h"
#include "fan_out/proxy.h"
#include "members/responders.h"
#include "members/swift_closure.h"
#include "members/taking.h"

// MARK: The proxy's owner

/// Fans out for a caller without a reference to the proxy's owner, where the fan-out needs one for sure.
__attribute__((cold, noinline)) static fwd_status fan_out_pinned(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                 const fwd_delivery *delivery, fwd_error *error) {
  if (!fwd_emission_pin(proxy, delivery)) return fwd_proxy_core_fail_closing(error);
  fwd_delivery pinned = *delivery;
  pinned.is_unpinned = false;
  return fwd_fan_out(proxy, &method->method, &pinned, error);
}

// MARK: Deliveries

/// Zeroes the room for a result. There is room for whole units of it, so small results need no loop.
static inline void clear_room(const fwd_compiled_method *method, void *room) {
  size_t size = method->result.size;
  if (size == 0) return;
  if (size <= sizeof(fwd_aligned_bytes)) {
    memset(room, 0, sizeof(fwd_aligned_bytes));
  } else {
    memset(room, 0, size);
  }
}

/// Fills `state->arguments` from the delivery's pointers. Closures take the pointers themselves, so the fan-out leaves
/// this to the first delivery that is no closure.
__attribute__((noinline)) static void find_arguments_late(fwd_emission *state) {
  fwd_find_arguments(state->method, state->delivery, state->arguments);
}

/// The same as a call, which takes less of the stack.
__attribute__((noinline)) static bool apply_policy(fwd_emission *state, fwd_at_hand *at_hand) {
  return fwd_policy_apply(state->method, state, at_hand);
}

/// Calls one implementation. If the status is not FWD_OK, the thread's last error says why.
static fwd_status call(fwd_emission *state, const fwd_at_hand *at_hand, const fwd_implementation *implementation) {
  const fwd_compiled_method *method = state->method;
  return fwd_implementation_call(implementation, method->plan, method->cif, at_hand->record->receiver, state->arguments,
                                 at_hand->result);
}

/// Nothing is to be delivered to a record: no subscriber is *owned*.
static const fwd_taken nobody = {NULL, true};

/// Keeps the subscriber of a record alive that has a gate, or is held otherwise than most; or returns `nobody`. `held` is
/// the record's word, which had not ended: read again, it could have lost the gate that counts this delivery.
__attribute__((noinline)) static fwd_taken take_unusual(fwd_emission *state, const fwd_record *record, uintptr_t held) {
  if (fwd_held_is_blocked(held)) return nobody;
  fwd_taken taken;
  if (state->delivery->batch) {
    // The batch keeps the object alive.
    taken = (fwd_taken){fwd_held_object(fwd_held_behind_gate(held)), false};
  } else if (!fwd_record_take(record, &taken)) {
    state->met_dead = true;
    return nobody;
  }
  if (fwd_held_count_delivery(held, &state->met_dead)) return taken;
  fwd_record_drop(taken);
  return nobody;
}

/// Delivers to the subscriber of a record if it is there and implements the method. Returns whether to go on.
__attribute__((noinline)) static bool deliver_to(fwd_emission *state, fwd_at_hand *at_hand, const fwd_record *record) {
  const fwd_compiled_method *method = state->method;
  uintptr_t held = fwd_record_held(record);
  // First, since the table of a subscription that has ended may be gone.
  if (fwd_held_has_ended(held)) {
    state->met_dead |= !state->delivery->batch;
    return true;
  }
  const fwd_implementation *implementation = fwd_record_implementation(record, method->index);
  if (fwd_implementation_is_empty(implementation)) return true;
  fwd_take_turn(implementation->function, state->responses == 0, &at_hand->first);
  fwd_taken taken;
  if (__builtin_expect(!(held & FWD_HELD_BITS) && !state->delivery->batch, 1)) {
    // By a function, since its code here would take more of the stack at each level of a recursion.
    taken = (fwd_taken){fwd_weak_take(held), true};
    if (!taken.object) {
      state->met_dead = true;
      return true;
    }
  } else {
    taken = take_unusual(state, record, held);
    if (taken.is_owned && !taken.object) return true;
  }
  bool goes_on = true;
  at_hand->record = record;
  if (method->argument_count > 0 && !state->arguments[0]) find_arguments_late(state);
  if (method->hidden_count > 0) state->arguments[0] = (void *)(uintptr_t)&record->receiver;
  clear_room(method, at_hand->result);
  fwd_status status = call(state, at_hand, implementation);
  // What runs from here on is not the subscriber.
  at_hand->record = NULL;
  if (state->frame.kind == FWD_NESTING_LOOPS) fwd_looped_emission_of(state)->replay.record = NULL;
  if (__builtin_expect(status != FWD_OK, 0)) status = fwd_outcome_settle(state, at_hand->result, status);
  if (__builtin_expect(status != FWD_OK, 0)) {
    // The next subscriber may respond.
  } else if (__builtin_expect(state->delivery->collector != NULL, 0)) {
    state->responses++;
    goes_on = state->delivery->collector(state->delivery->collector_context, record->identifier, taken.object,
                                         at_hand->result);
  } else {
    goes_on = apply_policy(state, at_hand);
  }
  fwd_record_drop(taken);
  return goes_on;
}

/// How `deliver_to_all` delivers to a record.
typedef enum way {
  /// Not at all: the record is plain and lacks the method.
  WAY_NONE,
  /// By `visit_closures`, if the record is held weakly or steadily and its closure takes the arguments.
  WAY_CLOSURE,
  /// By `deliver_to`.
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
/// steadily, or has no closure that takes the arguments, and sets `*index` to its index. All records get the same arguments, so a closure is
/// asked once, until a record has another one. Returns false if the policy ends the fan-out. `decides` is false for a method
/// without a result that goes to all responders.
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
      if (__builtin_expect(method->result.size > sizeof(fwd_aligned_bytes), 0)) clear_room(method, result);
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

__attribute__((noinline)) static void run_closures(fwd_deciding_emission *deciding, fwd_record *const *records, size_t count,
                                                   size_t *index) {
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
      goes_on = deliver_to(&deciding->emission, &deciding->at_hand, records[i]);
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

/// Finds the arguments for a loop, where the words of its registers were.
static void find_arguments_of_loop(fwd_looped_emission *looped) {
  fwd_emission *state = &looped->emission;
  if (state->arguments) return;
  state->arguments = &looped->replay.words->address;
  fwd_find_arguments(state->method, state->delivery, state->arguments);
}

static void deliver_slowly(fwd_replay *replay, size_t index) {
  fwd_looped_emission *looped = (fwd_looped_emission *)replay;
  // A result of no bytes has an address all the same.
  unsigned char nothing;
  fwd_at_hand at_hand = {.result = &nothing, .kept = &nothing};
  find_arguments_of_loop(looped);
  const fwd_record *record = replay->records[index];
  replay->record = record;
  deliver_to(&looped->emission, &at_hand, record);
  replay->record = NULL;
}

/// The arguments for closures: the caller's pointers, or pointers into its frame.
static void *const *arguments_of_closures(fwd_replay *replay) {
  fwd_looped_emission *looped = (fwd_looped_emission *)replay;
  fwd_emission *state = &looped->emission;
  if (state->delivery->arguments) return state->delivery->arguments;
  find_arguments_of_loop(looped);
  return state->arguments + state->method->hidden_count;
}

static const fwd_replay_operations operations_of_loops = {
    .deliver_slowly = deliver_slowly, .find_arguments = arguments_of_closures};

/// `arguments_of_closures` for narrow methods. Pointers into a frame stand where `deliver_slowly` puts the same, behind the
/// hidden arguments.
static inline __attribute__((always_inline)) void *const *narrow_arguments(fwd_replay *replay) {
  const fwd_emission *state = &((fwd_looped_emission *)replay)->emission;
  const fwd_delivery *delivery = state->delivery;
  if (delivery->arguments) return delivery->arguments;
  const fwd_compiled_method *method = state->method;
  uint32_t hidden_count = method->hidden_count;
  fwd_replay_word *pointers = replay->words + hidden_count;
  const uint32_t *offset = method->offsets, *end = offset + (method->argument_count - hidden_count);
  uintptr_t frame = (uintptr_t)delivery->frame;
  _Static_assert(!FWD_HAS_CALL_PLANS || sizeof(fwd_replay_word) == sizeof(void *), "words are read as an array of pointers");
  FWD_SHORT_LOOP
  for (fwd_replay_word *pointer = pointers; offset < end; offset++, pointer++) pointer->address = (void *)(frame + *offset);
  return &pointers->address;
}

// MARK: Finishing

/// The number of visited records if they may be anywhere in the list.
static const size_t visited_anywhere = PTRDIFF_MAX;

/// How many of the first records may be those that a reading has visited, before the reader leaves. Where records were
/// inserted or moved meanwhile, they may be anywhere.
static inline size_t visited_now(fwd_guard guard, size_t visited) {
  return __builtin_expect(fwd_guard_is_current(guard), 1) ? visited : visited_anywhere;
}

/// How many of the list's first records a reading may have visited. `asked` is how many of them have been asked for the
/// method, 0 if only those that implement it have.
static inline size_t visited_by(fwd_guard guard, size_t asked) {
  return asked > 0 ? visited_now(guard, asked) : visited_anywhere;
}

/// Ends a reading, and returns `visited_by`. Finds the domain again: a value that is kept across the deliveries takes stack
/// at each level.
static inline __attribute__((always_inline)) size_t leave_list(const fwd_emission *state, fwd_guard guard, size_t asked) {
  guard.domain = &fwd_proxy_list(state->proxy)->domain;
  size_t visited = visited_by(guard, asked);
  fwd_hazard_leave(guard);
  return visited;
}

/// Notes that a fan-out has asked `asked` records for the method, many of them in vain.
__attribute__((cold, noinline)) static void note_vain(const fwd_emission *state, size_t asked) {
  fwd_proxy *proxy = state->proxy;
  if (!fwd_list_note_vain(fwd_proxy_list(proxy), asked, state->responses)) return;
  void *owner = fwd_emission_pin(proxy, state->delivery);
  if (owner) proxy->operations->find_responders(owner, state->method->index);
}

/// Ends the fan-out, which has visited so many records.
static inline void leave(fwd_emission *state, size_t visited) {
  fwd_nesting_leave(&state->frame, state->delivery->is_nested);
  // Asks for the records to be removed whose subscriptions have ended. A dying owner removes all itself.
  if (__builtin_expect(state->met_dead, 0)) {
    void *owner = fwd_emission_pin(state->proxy, state->delivery);
    if (owner) state->proxy->operations->met_the_dead(owner, visited);
  }
}

/// Ends a reading that has met subscriptions that can be removed, and leaves the fan-out. `hazard` and `entered` are those of
/// the reading's guard.
__attribute__((noinline)) static void leave_with_dead(fwd_emission *state, fwd_hazard *hazard, uint64_t entered,
                                                      size_t asked) {
  state->met_dead = true;
  leave(state, leave_list(state, (fwd_guard){.hazard = hazard, .entered = entered}, asked));
}

/// Ends a reading, and leaves the fan-out. `entered` is by value, as a guard in memory would take stack at each level.
static inline __attribute__((always_inline)) void leave_reading(fwd_emission *state, fwd_hazard *hazard, uint64_t entered,
                                                                size_t asked, bool met_dead) {
  // The record of the last delivery may be freed now.
  state->frame.kind = FWD_NESTING_OTHER;
  if (__builtin_expect(met_dead, 0)) {
    leave_with_dead(state, hazard, entered, asked);
    return;
  }
  // Finds the domain again: a value that is kept across the deliveries takes stack at each level.
  fwd_hazard_leave((fwd_guard){hazard, &fwd_proxy_list(state->proxy)->domain, entered});
  fwd_nesting_leave(&state->frame, state->delivery->is_nested);
}

// MARK: Fanning out, with something to decide

/// Results of at most this size need no allocation.
enum { inline_result_size = 64 };

/// Whether a list has few records, which are read as they are.
static inline bool is_short(const fwd_reading *reading, const fwd_proxy *proxy) {
  return __builtin_expect(!reading->is_long && reading->count < FWD_PREFETCHED_COUNT, 1) &&
         __builtin_expect(!fwd_list_may_have_responders(fwd_proxy_list(proxy)), 1);
}

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

/// Delivers to the subscribers of the moment or of a batch, with something to decide after each delivery.
__attribute__((noinline)) static fwd_status fan_out_deciding(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                             const fwd_delivery *delivery, fwd_error *error) {
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
  clear_room(method, deciding.at_hand.kept);
  if (!delivery->arguments) {
    fwd_find_arguments(method, delivery, arguments);
  } else if (method->argument_count > 0) {
    // NULL tells `deliver_to` that they have not been found yet.
    arguments[0] = NULL;
  }
  fwd_nesting_enter(&state->frame, FWD_NESTING_DECIDES);
  fwd_batch *batch = delivery->batch;
  size_t asked = 0, ignored = 0;
  if (batch) {
    const fwd_batch_members *members = fwd_batch_members_of(batch, method->index);
    deliver_to_all(&deciding, members->records, members->count, &ignored);
    leave(state, visited_now(batch->guard, batch->walked));
  } else {
    const fwd_reading reading = fwd_list_enter_within(fwd_proxy_list(proxy), fwd_depth_of(delivery));
    if (is_short(&reading, proxy)) {
      deliver_to_all(&deciding, reading.records, reading.count, &asked);
    } else {
      asked = decide_any(&deciding);
    }
    leave_reading(state, reading.guard.hazard, reading.guard.entered, asked, state->met_dead);
  }
  if (fwd_asked_in_vain(asked, state->responses)) note_vain(state, asked);
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
  apply_policy(state, at_hand);
  if (counts) fwd_release_counted((void *)held);
  return true;
}

/// `fan_out_deciding` for small methods, without a batch and without a collector.
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
    // NULL tells `deliver_to` that they have not been found yet.
    arguments[0] = NULL;
  } else {
    fwd_find_arguments(method, delivery, arguments);
    given = arguments + method->hidden_count;
  }
  fwd_nesting_enter(&state->frame, FWD_NESTING_DECIDES);
  const fwd_reading reading = fwd_list_enter_within(fwd_proxy_list(proxy), has_pointers ? 1 : 0);
  size_t asked = 0;
  if (!is_short(&reading, proxy)) {
    asked = decide_any(&deciding);
  } else if (reading.count != 1 || !decide_lone(&deciding, reading.records[0], given)) {
    deliver_to_all(&deciding, reading.records, reading.count, &asked);
  }
  leave_reading(state, reading.guard.hazard, reading.guard.entered, asked, state->met_dead);
  if (__builtin_expect(fwd_asked_in_vain(asked, state->responses), 0)) note_vain(state, asked);
  return fwd_outcome_finish(state, deciding.at_hand.kept, error);
}

__attribute__((noinline)) static fwd_status fan_out_small_frame(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                const fwd_delivery *delivery, fwd_error *error) {
  return fan_out_small(proxy, method, delivery, error, false);
}

__attribute__((noinline)) static fwd_status fan_out_small_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                   const fwd_delivery *delivery, fwd_error *error) {
  return fan_out_small(proxy, method, delivery, error, true);
}

// MARK: Fanning out, by a loop

/// Puts the selector where methods that take it load it. Otherwise an argument takes its word.
static inline void load_selector(const fwd_emission *state, fwd_replay_word *words) {
  words[1].bits = (uint64_t)(uintptr_t)state->method->method.selector;
}

/// Fills the words of the registers that a loop loads, from the delivery's frame.
static inline __attribute__((always_inline)) void load_frame(const fwd_emission *state, fwd_replay_word *words) {
  load_selector(state, words);
  fwd_replay_load_frame(words, &state->method->loads, state->delivery->frame);
}

__attribute__((noinline)) static void load_frame_apart(const fwd_emission *state, fwd_replay_word *words) {
  load_frame(state, words);
}

/// Fills the words from the delivery's pointers. This function calls another one for sizes other than four and eight bytes,
/// and so need not save registers itself.
__attribute__((noinline)) static void load_pointed_apart(const fwd_emission *state, fwd_replay_word *words) {
  load_selector(state, words);
  if (__builtin_expect(state->method->loads.sizes == FWD_LOADS_OF_ANY_SIZE, 0)) {
    fwd_replay_load_pointed(words, &state->method->loads, state->delivery->arguments);
  } else {
    fwd_replay_load_pointed_4_or_8(words, &state->method->loads, state->delivery->arguments);
  }
}

/// Loads the words of the registers, where pointers to the arguments may have been. By functions that are not inlined, so
/// that the callers need less stack.
static inline void load_words_apart(fwd_looped_emission *looped, bool has_pointers) {
  fwd_emission *state = &looped->emission;
  state->arguments = NULL;
  if (has_pointers) {
    load_pointed_apart(state, looped->replay.words);
  } else {
    load_frame_apart(state, looped->replay.words);
  }
}

/// Delivers to the records of the replay by the loop for C functions.
static inline void replay_functions(fwd_looped_emission *looped, bool has_weak) {
  fwd_emission *state = &looped->emission;
  // Added after the call, since the deliveries that the loop leaves to the fan-out change `responses`, too.
  size_t delivered = (has_weak ? state->method->replayers.weak : state->method->replayers.held)(&looped->replay);
  state->responses += delivered;
}

/// Delivers to some records: first by the loop over closures, then the rest by a loop for C functions. C callbacks have
/// pointers to the arguments, which closures take as they are, so the words of registers are loaded only if a C function is
/// subscribed.
static void replay_part(fwd_looped_emission *looped, fwd_record *const *records, size_t count, fwd_replayer closures,
                        bool has_weak) {
  fwd_replay *replay = &looped->replay;
  replay->records = records;
  replay->count = count;
  size_t delivered = closures(replay);
  looped->emission.responses += delivered;
  if (replay->count == 0) return;
  load_words_apart(looped, looped->emission.delivery->arguments);
  replay_functions(looped, has_weak);
}

/// Delivers to some records, inside of a reading or of a batch. `closures` is the loop over closures. Many records without a
/// weak one are delivered to in parts, since their loops do not prefetch.
__attribute__((noinline)) static void replay_some(fwd_looped_emission *looped, fwd_record *const *records, size_t count,
                                                  fwd_replayer closures, bool has_weak) {
  bool in_parts = !has_weak && count >= FWD_PREFETCHED_COUNT;
  while (count > 0) {
    size_t part = in_parts ? fwd_prefetch_part(records, count) : count;
    replay_part(looped, records, part, closures, has_weak);
    records += part;
    count -= part;
  }
}

// These functions deliver to closures, for narrow methods and few records. They are not inlined: the frame of an inlined one
// would stay on the stack while a loop calls C functions.

__attribute__((noinline)) static bool replay_last_weak(fwd_looped_emission *looped) {
  fwd_replay *replay = &looped->replay;
  return fwd_deliver_to_last(replay, replay->records[0], true, narrow_arguments, &looped->emission.responses);
}

__attribute__((noinline)) static bool replay_last_held(fwd_looped_emission *looped) {
  fwd_replay *replay = &looped->replay;
  return fwd_deliver_to_last(replay, replay->records[0], false, narrow_arguments, &looped->emission.responses);
}

__attribute__((noinline)) static void replay_weak_closures(fwd_looped_emission *looped) {
  fwd_deliver_by_closures(&looped->replay, true, false, (fwd_replay_operations){deliver_slowly, narrow_arguments},
                          &looped->emission.responses);
}

__attribute__((noinline)) static void replay_held_closures(fwd_looped_emission *looped) {
  fwd_deliver_by_closures(&looped->replay, false, false, (fwd_replay_operations){deliver_slowly, narrow_arguments},
                          &looped->emission.responses);
}

/// Whether the first record of the replay that implements the method has a closure. Skips the records before it. The answer
/// is no if it meets a subscription that has ended or has a gate.
static inline bool begins_with_closure(fwd_replay *replay) {
  for (; replay->count > 0; replay->records++, replay->count--) {
    const fwd_record *record = replay->records[0];
    // Before the table is read, since the table of a subscription that has ended may be gone.
    if (fwd_record_held(record) & FWD_HELD_IRREGULAR) return false;
    const fwd_implementation *implementation = fwd_dispatch_table_at_offset(record->table, replay->implementation);
    if (implementation->closure) return true;
    if (!fwd_implementation_is_empty(implementation)) return false;
  }
  return false;
}

/// Delivers to records of a narrow method, of which there are few: first to the closures, then to the rest by a loop for C
/// functions. `is_weak` says that weak subscribers are retained, `has_weak` that there may be some, `has_pointers` that the
/// delivery has pointers to its arguments, and `is_loaded` that the words of its frame have been loaded.
static inline __attribute__((always_inline)) void replay_few(fwd_looped_emission *looped, fwd_record *const *records,
                                                             size_t count, bool is_weak, bool has_weak,
                                                             bool has_pointers, bool is_loaded) {
  fwd_replay *replay = &looped->replay;
  replay->records = records;
  replay->count = count;
  bool has_closures = begins_with_closure(replay);
  if (has_closures) {
    if (replay->count == 1 && (is_weak ? replay_last_weak : replay_last_held)(looped)) return;
    if (is_weak) {
      replay_weak_closures(looped);
    } else {
      replay_held_closures(looped);
    }
  }
  if (replay->count == 0) return;
  if (!is_loaded || has_closures) load_words_apart(looped, has_pointers);
  replay_functions(looped, has_weak);
}

/// Delivers to the records of a list of several segments by loops, inside of a reading. Gives how many it has visited.
__attribute__((noinline)) static size_t replay_spans(fwd_looped_emission *looped) {
  fwd_emission *state = &looped->emission;
  size_t visited = 0;
  fwd_span span;
  for (bool found = fwd_span_first(fwd_proxy_list(state->proxy), &span); found; found = fwd_span_next(&span)) {
    visited += span.count;
    replay_some(looped, span.records, span.count, fwd_replay_closures, span.has_weak);
  }
  return visited;
}

/// Begins a fan-out by a loop. `words` has room for the registers, and for as many pointers as there are arguments.
/// Returns false if the stack is nearly used up.
static inline __attribute__((always_inline)) bool begin_loop(fwd_looped_emission *looped, fwd_proxy *proxy,
                                                             const fwd_compiled_method *method,
                                                             const fwd_delivery *delivery, fwd_replay_word *words) {
  fwd_emission *state = &looped->emission;
  fwd_replay *replay = &looped->replay;
  fwd_emission_begin(state, proxy, method, delivery);
  if (__builtin_expect(!fwd_nesting_has_room(looped, 0), 0)) return false;
  state->arguments = NULL;
  replay->words = words;
  replay->met_dead = false;
  replay->operations = &operations_of_loops;
  replay->implementation = fwd_dispatch_table_offset(method->index);
  replay->context_index = method->loads.context_index;
  replay->record = NULL;
  return true;
}

/// Delivers to the records of the list by the loops of replay.c, inside of a reading. Gives how many of the list's first
/// records have been asked for the method; 0 if only those that implement it have been visited.
__attribute__((noinline)) static size_t replay_any(fwd_looped_emission *looped) {
  const fwd_emission *state = &looped->emission;
  fwd_subscriber_list *list = fwd_proxy_list(state->proxy);
  const fwd_responders *responders = fwd_list_responders(list, state->method->index);
  if (responders) {
    replay_some(looped, responders->records, responders->count, fwd_replay_closures, responders->has_weak);
    return 0;
  }
  const fwd_reading reading = fwd_list_read(list, (fwd_guard){0});
  if (reading.is_long) return replay_spans(looped);
  replay_some(looped, reading.records, reading.count, fwd_replay_closures, reading.has_weak);
  return reading.count;
}

/// The same for a narrow method.
static inline __attribute__((always_inline)) size_t replay_reading(fwd_looped_emission *looped,
                                                                   const fwd_reading *reading, bool has_pointers) {
  if (!is_short(reading, looped->emission.proxy)) return replay_any(looped);
  replay_few(looped, reading->records, reading->count, true, reading->has_weak, has_pointers, !has_pointers);
  return reading->count;
}

/// Ends a fan-out by a loop, after the nesting frame has been left.
static inline __attribute__((always_inline)) fwd_status end_loop(fwd_looped_emission *looped, size_t asked,
                                                                 fwd_error *error) {
  fwd_emission *state = &looped->emission;
  if (__builtin_expect(fwd_asked_in_vain(asked, state->responses), 0)) note_vain(state, asked);
  if (__builtin_expect(state->responses > 0 && !state->failure, 1)) return FWD_OK;
  // Each delivery that was withdrawn has left a failure.
  state->responses -= state->withdrawn;
  return fwd_outcome_finish_void(state, error);
}

/// Delivers to the subscribers of the moment by a loop. `has_pointers` says that the delivery has pointers to its arguments.
/// It is a constant for narrow methods, since to ask would cost a frame's emission some percent.
static inline __attribute__((always_inline)) fwd_status fan_out_by_loop(fwd_proxy *proxy,
                                                                        const fwd_compiled_method *method,
                                                                        const fwd_delivery *delivery,
                                                                        fwd_error *error, fwd_replay_word *words,
                                                                        bool has_pointers, bool is_narrow) {
  fwd_looped_emission looped;
  fwd_emission *state = &looped.emission;
  if (!begin_loop(&looped, proxy, method, delivery, words)) {
    return fwd_nesting_fail(method->method.selector, error);
  }
  // First, so that the loop finds them stored.
  if (is_narrow && !has_pointers) load_frame(state, words);
  fwd_nesting_enter(&state->frame, FWD_NESTING_LOOPS);
  const fwd_reading reading = fwd_list_enter_within(fwd_proxy_list(proxy), has_pointers ? 1 : 0);
  size_t asked = is_narrow ? replay_reading(&looped, &reading, has_pointers) : replay_any(&looped);
  leave_reading(state, reading.guard.hazard, reading.guard.entered, asked, state->met_dead | looped.replay.met_dead);
  return end_loop(&looped, asked, error);
}

/// Delivers to the subscribers of a batch by a loop.
static inline __attribute__((always_inline)) fwd_status fan_out_batch_by_loop(fwd_proxy *proxy,
                                                                              const fwd_compiled_method *method,
                                                                              const fwd_delivery *delivery,
                                                                              fwd_error *error, fwd_replay_word *words,
                                                                              bool is_narrow) {
  fwd_looped_emission looped;
  fwd_emission *state = &looped.emission;
  if (!begin_loop(&looped, proxy, method, delivery, words)) {
    return fwd_nesting_fail(method->method.selector, error);
  }
  fwd_nesting_enter(&state->frame, FWD_NESTING_LOOPS);
  const fwd_batch_members *members = fwd_batch_members_of(delivery->batch, method->index);
  if (is_narrow && __builtin_expect(members->count < FWD_PREFETCHED_COUNT, 1)) {
    replay_few(&looped, members->records, members->count, false, false, delivery->arguments, false);
  } else {
    // All are held, and the loop that retains is not needed.
    replay_some(&looped, members->records, members->count, fwd_replay_held_closures, false);
  }
  state->met_dead |= looped.replay.met_dead;
  // Read again, since what is kept across the deliveries takes stack at each level.
  const fwd_batch *batch = state->delivery->batch;
  leave(state, __builtin_expect(state->met_dead, 0) ? visited_now(batch->guard, batch->walked) : 0);
  return end_loop(&looped, 0, error);
}

/// For narrow methods with a frame.
__attribute__((noinline)) static fwd_status fan_out_frame(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                          const fwd_delivery *delivery, fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  return fan_out_by_loop(proxy, method, delivery, error, words, false, true);
}

/// For narrow methods with pointers to the arguments.
__attribute__((noinline)) static fwd_status fan_out_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                             const fwd_delivery *delivery, fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  return fan_out_by_loop(proxy, method, delivery, error, words, true, true);
}

/// For methods that are not narrow.
__attribute__((noinline)) static fwd_status fan_out_wide(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                         const fwd_delivery *delivery, fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_WORDS];
  return fan_out_by_loop(proxy, method, delivery, error, words, delivery->arguments, false);
}

/// For narrow methods and a batch.
__attribute__((noinline)) static fwd_status fan_out_batch(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                          const fwd_delivery *delivery, fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  return fan_out_batch_by_loop(proxy, method, delivery, error, words, true);
}

/// For methods that are not narrow, and a batch.
__attribute__((noinline)) static fwd_status fan_out_batch_wide(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                               const fwd_delivery *delivery, fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_WORDS];
  return fan_out_batch_by_loop(proxy, method, delivery, error, words, false);
}

/// For methods that no subscriber implements.
__attribute__((noinline)) static fwd_status fan_out_to_nobody(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                              const fwd_delivery *delivery, fwd_error *error) {
  fwd_emission state;
  fwd_emission_begin(&state, proxy, method, delivery);
  return fwd_outcome_unhandled(&state, error);
}

/// For methods that are blocked. Neither the interceptors nor the forward target are called.
__attribute__((cold, noinline)) static fwd_status fan_out_blocked(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                  const fwd_delivery *delivery, fwd_error *error) {
  fwd_emission state;
  fwd_emission_begin(&state, proxy, method, delivery);
  return delivery->collector ? FWD_OK : fwd_outcome_without_response(&state, error);
}

// MARK: The way of a fan-out

/// Whether a loop delivers to the subscribers: there is nothing to decide after each delivery.
static inline bool is_by_loop(const fwd_compiled_method *method, const fwd_delivery *delivery) {
  return method->replayers.weak && !delivery->collector &&
         !atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
}

/// Chooses the way of a fan-out to subscribers. Each way is a function of its own, with a stack frame of the size that it
/// needs.
static inline __attribute__((always_inline)) fwd_status fan_out_to_some(fwd_proxy *proxy,
                                                                        const fwd_compiled_method *method,
                                                                        const fwd_delivery *delivery,
                                                                        fwd_error *error) {
  if (__builtin_expect(!is_by_loop(method, delivery), 0)) {
    if (!method->is_small || delivery->batch || delivery->collector) {
      return fan_out_deciding(proxy, method, delivery, error);
    }
    return delivery->arguments ? fan_out_small_pointers(proxy, method, delivery, error)
                               : fan_out_small_frame(proxy, method, delivery, error);
  }
  if (__builtin_expect(!method->is_narrow, 0)) {
    return delivery->batch ? fan_out_batch_wide(proxy, method, delivery, error)
                           : fan_out_wide(proxy, method, delivery, error);
  }
  if (delivery->batch) return fan_out_batch(proxy, method, delivery, error);
  return delivery->arguments ? fan_out_pointers(proxy, method, delivery, error)
                             : fan_out_frame(proxy, method, delivery, error);
}

/// Whether some subscriber may implement the method. The subscribers of a batch may have left the list.
static inline bool may_reach_some(uint32_t tables, const fwd_delivery *delivery) {
  return fwd_tables_have_some(tables) || delivery->batch;
}

static fwd_status fan_out_to_any(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                 fwd_error *error) {
  if (!may_reach_some(fwd_list_tables(fwd_proxy_list(proxy), method->index), delivery)) {
    return fan_out_to_nobody(proxy, method, delivery, error);
  }
  return fan_out_to_some(proxy, method, delivery, error);
}

__attribute__((cold, noinline)) static fwd_status fan_out_intercepted(fwd_proxy *proxy,
                                                                      const fwd_compiled_method *method,
                                                                      const fwd_delivery *delivery,
                                                                      fwd_error *error) {
  fwd_delivery inner = *delivery;
  inner.is_intercepted = true;
  return fan_out_to_any(proxy, method, &inner, error);
}

/// The fan-out of a delivery whose interceptors have run.
static fwd_status fan_out_after_interception(fwd_proxy *proxy, const fwd_compiled_method *method,
                                             const fwd_delivery *delivery, fwd_error *error) {
  // The delivery is copied only if it has to be: it was written just now, so its copy waits for the stores.
  return fwd_must_know_interception(method) ? fan_out_intercepted(proxy, method, delivery, error)
                                        : fan_out_to_any(proxy, method, delivery, error);
}

/// Calls interceptors before or after the loop of an emission of a narrow method. Pointers into the frame stand where the
/// loop's words are.
__attribute__((noinline)) static void pass_taps(fwd_looped_emission *looped, const fwd_tap *taps, size_t count) {
  const fwd_emission *state = &looped->emission;
  fwd_call_taps(state->proxy, state->method, narrow_arguments(&looped->replay), taps, count);
}

/// Calls the interceptors after the loop.
__attribute__((noinline)) static void pass_later_taps(fwd_looped_emission *looped, const fwd_taps *taps) {
  fwd_emission *state = &looped->emission;
  fwd_nesting_enter(&state->frame, FWD_NESTING_OTHER);
  pass_taps(looped, taps->taps + taps->before_count, taps->after_count);
  fwd_nesting_leave(&state->frame, state->delivery->is_nested);
}

/// Fans out by a loop, and calls the interceptors before and after it in the same emission. `has_pointers` has the meaning
/// that it has for `fan_out_by_loop`.
static inline __attribute__((always_inline)) fwd_status fan_out_observed(fwd_proxy *proxy,
                                                                         const fwd_compiled_method *method,
                                                                         const fwd_delivery *delivery,
                                                                         fwd_error *error, bool has_pointers) {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  fwd_looped_emission looped;
  fwd_emission *state = &looped.emission;
  if (!begin_loop(&looped, proxy, method, delivery, words)) {
    return fwd_nesting_fail(method->method.selector, error);
  }
  fwd_guard guard = fwd_hazard_enter_within(&fwd_proxy_list(proxy)->domain, has_pointers ? 1 : 0);
  const fwd_taps *taps = fwd_list_taps(fwd_proxy_list(proxy), method->index);
  // The taps may have been replaced since the caller has read the method's bits.
  if (__builtin_expect(!taps || taps->has_stub, 0)) {
    fwd_hazard_leave(guard);
    return fwd_intercept(proxy, method, delivery, fan_out_after_interception, error);
  }
  fwd_nesting_enter(&state->frame, FWD_NESTING_OTHER);
  bool has_later = taps->after_count > 0;
  if (taps->before_count > 0) {
    pass_taps(&looped, taps->taps, taps->before_count);
    // Leaving the domain frees the subscribers that the interceptors have cancelled, and perhaps the taps. `fwd_intercept`
    // frees them at the same moment.
    if (!has_later && __builtin_expect(!fwd_guard_is_current(guard), 0)) {
      fwd_hazard_leave(guard);
      guard = fwd_hazard_enter_within(guard.domain, has_pointers ? 1 : 0);
    }
  }
  // After the interceptors, whose pointers to the arguments stood where the words are.
  if (!has_pointers) load_frame(state, words);
  state->frame.kind = FWD_NESTING_LOOPS;
  // Read after the interceptors have run, so that it includes the subscribers that they have added.
  const fwd_reading reading = fwd_list_read(fwd_proxy_list(proxy), guard);
  size_t asked = replay_reading(&looped, &reading, has_pointers);
  state->frame.kind = FWD_NESTING_OTHER;
  state->met_dead |= looped.replay.met_dead;
  leave(state, visited_by(guard, asked));
  fwd_status status = end_loop(&looped, asked, error);
  if (status == FWD_OK && has_later) pass_later_taps(&looped, taps);
  fwd_hazard_leave(guard);
  return status;
}

__attribute__((noinline)) static fwd_status fan_out_observed_frame(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                   const fwd_delivery *delivery, fwd_error *error) {
  return fan_out_observed(proxy, method, delivery, error, false);
}

__attribute__((noinline)) static fwd_status fan_out_observed_pointers(fwd_proxy *proxy,
                                                                      const fwd_compiled_method *method,
                                                                      const fwd_delivery *delivery,
                                                                      fwd_error *error) {
  return fan_out_observed(proxy, method, delivery, error, true);
}

/// Calls the interceptors, and the subscribers unless an interceptor replaces them.
__attribute__((noinline)) static fwd_status fan_out_past_interceptors(fwd_proxy *proxy,
                                                                      const fwd_compiled_method *method,
                                                                      const fwd_delivery *delivery, uint32_t tables,
                                                                      fwd_error *error) {
  if ((tables & FWD_OBSERVED) && fwd_tables_have_some(tables) && method->is_observable && !delivery->batch &&
      is_by_loop(method, delivery)) {
    return delivery->arguments ? fan_out_observed_pointers(proxy, method, delivery, error)
                               : fan_out_observed_frame(proxy, method, delivery, error);
  }
  return fwd_intercept(proxy, method, delivery, fan_out_after_interception, error);
}

// MARK: Entries

/// Fans out to the subscribers of the delivery's batch, or to the proxy's current ones.
static inline __attribute__((always_inline)) fwd_status fan_out_now(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                    const fwd_delivery *delivery, fwd_error *error) {
  uint32_t tables = fwd_list_tables(fwd_proxy_list(proxy), method->index);
  // Interception is the highest bit, so one comparison finds out about both.
  if (__builtin_expect((int32_t)tables <= 0, 0)) {
    if (__builtin_expect(delivery->is_unpinned, 0)) return fan_out_pinned(proxy, method, delivery, error);
    // A closing proxy has no responders, so the check costs other fan-outs nothing.
    if (fwd_proxy_is_closing(proxy)) return fwd_proxy_core_fail_closing(error);
    if (__builtin_expect((tables & FWD_BLOCKED) != 0, 0)) return fan_out_blocked(proxy, method, delivery, error);
    if ((tables & FWD_INTERCEPTED) && !delivery->is_intercepted) {
      return fan_out_past_interceptors(proxy, method, delivery, tables, error);
    }
    if (!may_reach_some(tables, delivery)) return fan_out_to_nobody(proxy, method, delivery, error);
  }
  return fan_out_to_some(proxy, method, delivery, error);
}

/// Fans out on a thread that has entered a batch. Sets the caller's delivery instead of copying it, since a copy takes stack
/// at each level of a recursion.
__attribute__((noinline)) static fwd_status fan_out_inside(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                           fwd_delivery *delivery, fwd_error *error) {
  if (!delivery->batch) {
    delivery->batch = fwd_batch_of_thread(proxy);
    // A batch is entered only while its proxy is kept, so no reference to the owner is needed.
    if (delivery->batch) delivery->is_unpinned = false;
  }
  return fan_out_now(proxy, method, delivery, error);
}

static inline __attribute__((always_inline)) fwd_status fan_out(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                fwd_delivery *delivery, fwd_error *error) {
  if (__builtin_expect(fwd_nesting_of_thread.batches != NULL, 0)) return fan_out_inside(proxy, method, delivery, error);
  return fan_out_now(proxy, method, delivery, error);
}

fwd_status fwd_fan_out(fwd_proxy *proxy, const fwd_proxy_method *method, fwd_delivery *delivery, fwd_error *error) {
  return fan_out(proxy, fwd_compiled_method_of(method), delivery, error);
}

fwd_status fwd_forward_packed(const void *context, void *receiver, void *const *arguments, void *result,
                              fwd_error *error) {
  const fwd_proxy_method *method = context;
  fwd_delivery delivery = {
      .arguments = arguments + fwd_compiled_method_of(method)->hidden_count,
      .result = result,
      .is_nested = true,
  };
  return fan_out(receiver, fwd_compiled_method_of(method), &delivery, error);
}

fwd_status fwd_run_nested(fwd_selector selector, void (*body)(void *context), void *context, fwd_error *error) {
  fwd_nesting_frame frame;
  frame.outer = NULL;
  if (!fwd_nesting_has_room(&frame, 0)) return fwd_nesting_fail(selector, error);
  fwd_nesting_enter(&frame, FWD_NESTING_OTHER);
  body(context);
  fwd_nesting_leave(&frame, false);
  return FWD_OK;
}
