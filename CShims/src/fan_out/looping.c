// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/looping.h"

#include "fan_out/batch.h"
#include "fan_out/closure_loop.h"
#include "fan_out/delivery.h"
#include "fan_out/nesting.h"
#include "fan_out/outcome.h"
#include "fan_out/reading.h"
#include "members/responders.h"

// MARK: What the loops ask for

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
  fwd_deliver_to(&looped->emission, &at_hand, record);
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
  _Static_assert(!FWD_HAS_CALL_PLANS || sizeof(fwd_replay_word) == sizeof(void *),
                 "words are read as an array of pointers");
  FWD_SHORT_LOOP
  for (fwd_replay_word *pointer = pointers; offset < end; offset++, pointer++) pointer->address = (void *)(frame + *offset);
  return &pointers->address;
}

// MARK: Words and records

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
  if (!fwd_is_short(reading, looped->emission.proxy)) return replay_any(looped);
  replay_few(looped, reading->records, reading->count, true, reading->has_weak, has_pointers, !has_pointers);
  return reading->count;
}

/// Ends a fan-out by a loop, after the nesting frame has been left.
static inline __attribute__((always_inline)) fwd_status end_loop(fwd_looped_emission *looped, size_t asked,
                                                                 fwd_error *error) {
  fwd_emission *state = &looped->emission;
  if (__builtin_expect(fwd_asked_in_vain(asked, state->responses), 0)) fwd_note_vain(state, asked);
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
  fwd_leave_reading(state, reading.guard.hazard, reading.guard.entered, asked, state->met_dead | looped.replay.met_dead);
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
  fwd_emission_leave(state, __builtin_expect(state->met_dead, 0) ? fwd_visited_now(batch->guard, batch->walked) : 0);
  return end_loop(&looped, 0, error);
}

/// For narrow methods with a frame.
fwd_status fwd_fan_out_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                             fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  return fan_out_by_loop(proxy, method, delivery, error, words, false, true);
}

/// For narrow methods with pointers to the arguments.
fwd_status fwd_fan_out_pointers(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  return fan_out_by_loop(proxy, method, delivery, error, words, true, true);
}

/// For methods that are not narrow.
fwd_status fwd_fan_out_wide(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                            fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_WORDS];
  return fan_out_by_loop(proxy, method, delivery, error, words, delivery->arguments, false);
}

/// For narrow methods and a batch.
fwd_status fwd_fan_out_batch(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                             fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  return fan_out_batch_by_loop(proxy, method, delivery, error, words, true);
}

/// For methods that are not narrow, and a batch.
fwd_status fwd_fan_out_batch_wide(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                  fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_WORDS];
  return fan_out_batch_by_loop(proxy, method, delivery, error, words, false);
}

// MARK: Interceptors

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
                                                                         fwd_fan_out_afterwards fan_out,
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
    return fwd_intercept(proxy, method, delivery, fan_out, error);
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
  fwd_emission_leave(state, fwd_visited_by(guard, asked));
  fwd_status status = end_loop(&looped, asked, error);
  if (status == FWD_OK && has_later) pass_later_taps(&looped, taps);
  fwd_hazard_leave(guard);
  return status;
}

fwd_status fwd_fan_out_observed_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                      fwd_fan_out_afterwards fan_out, fwd_error *error) {
  return fan_out_observed(proxy, method, delivery, fan_out, error, false);
}

fwd_status fwd_fan_out_observed_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                         const fwd_delivery *delivery, fwd_fan_out_afterwards fan_out,
                                         fwd_error *error) {
  return fan_out_observed(proxy, method, delivery, fan_out, error, true);
}
