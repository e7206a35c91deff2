// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// A function that forwards may be called again inside of a delivery, so each level of a recursion has a stack frame of every
// function of this file on the call path. A value that is kept across a call takes stack at each level. For this reason some
// functions are forced inline and others are not, values are computed again, and variables are reused.

#include "fan_out/looping.h"

#include "base/hot.h"
#include "base/small_code.h"
#include "base/turns.h"
#include "fan_out/batch.h"
#include "fan_out/delivery.h"
#include "fan_out/nesting.h"
#include "fan_out/outcome.h"
#include "fan_out/proxy_function.h"
#include "fan_out/reading.h"
#include "fan_out/weak_closures.h"
#include "members/responders.h"
#include "members/swift_closure.h"
#include "members/taking.h"

// MARK: Arguments

// The emission is the last member, next to the frame pointer, where offsets are short. In front of it are the words of the
// registers and, for a delivery with a frame, in front of them pointers to the arguments without the hidden ones. A delivery
// with pointers needs no such memory, and so takes less stack.

typedef struct narrow_emission {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  fwd_looped_emission looped;
} narrow_emission;

typedef struct wide_emission {
  fwd_replay_word words[FWD_REPLAY_WIDE];
  fwd_looped_emission looped;
} wide_emission;

typedef struct narrow_frame_emission {
  void *pointers[FWD_REPLAY_NARROW];
  narrow_emission narrow;
} narrow_frame_emission;

typedef struct wide_frame_emission {
  void *pointers[FWD_REPLAY_WIDE];
  wide_emission wide;
} wide_frame_emission;

/// The number of words, and of pointers, that an emission has memory for.
static inline size_t capacity_of(const fwd_looped_emission *looped) {
  return looped->emission.method->is_narrow ? FWD_REPLAY_NARROW : FWD_REPLAY_WIDE;
}

static inline fwd_replay_word *words_of(fwd_looped_emission *looped) {
  _Static_assert(offsetof(narrow_emission, looped) == FWD_REPLAY_NARROW * sizeof(fwd_replay_word), "the emission comes last");
  _Static_assert(offsetof(wide_emission, looped) == FWD_REPLAY_WIDE * sizeof(fwd_replay_word), "here, too");
  return (fwd_replay_word *)looped - capacity_of(looped);
}

/// Returns the memory for pointers to the arguments, which is in front of the words. `capacity` must be `capacity_of(looped)`;
/// callers that know it pass a constant.
static inline void **pointers_of(fwd_looped_emission *looped, size_t capacity) {
  _Static_assert(offsetof(narrow_frame_emission, narrow) == FWD_REPLAY_NARROW * sizeof(void *), "the words follow the pointers");
  _Static_assert(offsetof(wide_frame_emission, wide) == FWD_REPLAY_WIDE * sizeof(void *), "here, too");
  return (void **)((fwd_replay_word *)looped - capacity) - capacity;
}

/// Fills the emission's memory with pointers into the caller's frame, without the hidden arguments, and returns it. `capacity` is
/// that of `pointers_of`.
static inline __attribute__((always_inline)) void *const *point_into_frame(fwd_looped_emission *looped, size_t capacity) {
  const fwd_emission *state = &looped->emission;
  const fwd_delivery *delivery = state->delivery;
  const fwd_compiled_method *method = state->method;
  uint32_t hidden_count = method->hidden_count;
  void **pointers = pointers_of(looped, capacity);
  const uint32_t *offset = method->offsets, *end = offset + (method->argument_count - hidden_count);
  uintptr_t frame = (uintptr_t)delivery->frame;
  FWD_SHORT_LOOP
  for (void **pointer = pointers; offset < end; offset++, pointer++) *pointer = (void *)(frame + *offset);
  return pointers;
}

/// Returns pointers to the arguments, the hidden ones left out: the caller's, or pointers into its frame.
static inline __attribute__((always_inline)) void *const *find_arguments(fwd_looped_emission *looped) {
  void *const *given = looped->emission.delivery->arguments;
  return given ? given : point_into_frame(looped, capacity_of(looped));
}

/// `find_arguments` as a call, for loops: inlined, it would take registers from them.
__attribute__((noinline)) static void *const *find_arguments_apart(fwd_looped_emission *looped) {
  return find_arguments(looped);
}

/// Loads the words of the registers from the delivery's frame or from its pointers. `find_words` calls this only if the arguments
/// are not in memory as such words.
__attribute__((noinline)) static const fwd_replay_word *load_words(fwd_looped_emission *looped) {
  const fwd_delivery *delivery = looped->emission.delivery;
  const fwd_compiled_method *method = looped->emission.method;
  const fwd_register_loads *loads = &method->loads;
  fwd_replay_word *words = words_of(looped);
  // Methods that take the selector load it from here. Otherwise an argument takes its word.
  words[1] = (uint64_t)(uintptr_t)method->method.selector;
  if (!delivery->arguments) {
    fwd_replay_load_frame(words, loads, delivery->frame);
  } else if (__builtin_expect(loads->kind == FWD_LOADS_OF_ANY_SIZE, 0)) {
    fwd_replay_load_pointed(words, loads, delivery->arguments);
  } else {
    fwd_replay_load_pointed_4_or_8(words, loads, delivery->arguments);
  }
  return words;
}

/// Returns the words of the registers if the arguments are in memory as such words already. The array begins one word before the
/// first argument, at the receiver's word, which is not read: it may be foreign memory.
static inline const fwd_replay_word *words_in_place(const void *first_argument) {
  return (const fwd_replay_word *)((uintptr_t)first_argument - sizeof(fwd_replay_word));
}

/// Returns the words of the registers for a delivery with a frame.
static inline const fwd_replay_word *words_of_frame(fwd_looped_emission *looped) {
  if (__builtin_expect(looped->emission.method->loads.kind != FWD_LOADS_IN_ORDER, 0)) return load_words(looped);
  return words_in_place(looped->emission.delivery->frame);
}

/// Returns the words of the registers for a delivery with pointers.
static inline const fwd_replay_word *words_of_pointers(fwd_looped_emission *looped) {
  const fwd_delivery *delivery = looped->emission.delivery;
  const fwd_function_target *function = delivery->function;
  if (function && atomic_load_explicit(&function->has_words, memory_order_relaxed) && !delivery->is_changed) {
    return words_in_place(delivery->arguments[0]);
  }
  return load_words(looped);
}

/// Returns the words of the registers for any delivery. Not inlined, since a loop needs them at most once.
__attribute__((noinline)) static const fwd_replay_word *find_words(fwd_looped_emission *looped) {
  return looped->emission.delivery->arguments ? words_of_pointers(looped) : words_of_frame(looped);
}

// MARK: Deliveries

/// Makes a delivery of any kind. Only these have pointers to all arguments, the hidden ones included.
__attribute__((noinline)) static void deliver_slowly(fwd_looped_emission *looped, const fwd_record *record) {
  fwd_emission *state = &looped->emission;
  // No array of variable length: compilers would save the stack pointer first, in one more register.
  void **arguments = __builtin_alloca(state->method->argument_count * sizeof *arguments);
  // NULL: they are found if the delivery is made.
  arguments[0] = NULL;
  state->arguments = arguments;
  // A result of no bytes has an address all the same.
  unsigned char nothing;
  fwd_at_hand at_hand = {.result = &nothing, .kept = &nothing};
  looped->record = record;
  fwd_deliver_to(state, &at_hand, record);
  looped->record = NULL;
}

/// Keeps a subscriber alive during a delivery if it `is_weak`: held by an unowned reference. Returns false if it has begun to
/// deinitialise.
static inline __attribute__((always_inline)) bool take(fwd_emission *state, uintptr_t held, bool is_weak) {
  if (!is_weak) return true;
  // Tells the compiler that the object is not NULL.
  if (!held) __builtin_unreachable();
  if (__builtin_expect(fwd_take_weak(held) != NULL, 1)) return true;
  state->frame.met_dead = true;
  return false;
}

/// Ends what `take` began. The subscriber may deinitialise here.
static inline __attribute__((always_inline)) void drop(uintptr_t held, bool is_weak) {
  if (is_weak) fwd_release_counted((void *)held);
}

/// Where a closure gets its result, which has no bytes, but an address all the same: a member that is not in use, since a
/// variable would take stack at each level of a recursion.
static inline void *room_for_nothing(fwd_looped_emission *looped) { return &looped->emission.arguments; }

/// Calls a closure, which may ask for its subscription.
static inline __attribute__((always_inline)) void call_closure(fwd_looped_emission *looped, const fwd_record *record,
                                                               const fwd_swift_closure *closure,
                                                               void *const *arguments) {
  looped->record = record;
  fwd_swift_closure_call(closure, record->receiver, arguments, room_for_nothing(looped));
  // What runs from here on is not the subscriber.
  looped->record = NULL;
}

/// Retains the subscriber if it `is_weak`, calls the closure and releases. That takes more code than `take`, `call_closure` and
/// `drop`, but less time, so only the commonest deliveries use it. Returns false if the subscriber has begun to deinitialise.
static inline __attribute__((always_inline)) bool call_closure_quickly(fwd_looped_emission *looped, const fwd_record *record,
                                                                       uintptr_t held, bool is_weak,
                                                                       const fwd_swift_closure *closure,
                                                                       void *const *arguments) {
  // Before `take`: loads wait for its atomic instruction, and a store between that and the one of the release delays the latter.
  looped->record = record;
  const fwd_swift_call call = fwd_swift_call_of(closure, record->receiver, arguments);
  bool is_live = take(&looped->emission, held, is_weak);
  if (is_live) {
    fwd_swift_call_make(call, arguments, room_for_nothing(looped));
    if (is_weak && __builtin_expect(!fwd_release_in_word((void *)held), 0)) {
      // The subscriber may deinitialise. What runs then is not the subscriber.
      looped->record = NULL;
      swift_release((void *)held);
    }
  }
  looped->record = NULL;
  return is_live;
}

/// A `capacity` of `deliver_plainly`: the delivery has a frame or pointers, and calls find the words and the arguments. That
/// takes less code and less stack.
#define FOUND_BY_CALLS SIZE_MAX

/// Delivers to a record that has neither ended nor a gate. Returns whether the caller must count a response; `deliver_slowly`
/// counts its own. `held` is read only if it `is_weak`. `offset` is that of the implementation in a table. `*words`, for C
/// functions, and `*arguments`, for closures, are kept from one delivery to the next: NULL if they have not been found yet.
/// `capacity` is `capacity_of` the emission if the delivery has a frame, 0 if it has pointers, or FOUND_BY_CALLS.
static inline __attribute__((always_inline)) bool deliver_plainly(fwd_looped_emission *looped, const fwd_record *record,
                                                                  uintptr_t held, bool is_weak,
                                                                  size_t offset, const fwd_replay_word **words,
                                                                  void *const **arguments, size_t capacity) {
  fwd_emission *state = &looped->emission;
  const fwd_implementation *implementation = fwd_dispatch_table_at_offset(record->table, offset);
  const fwd_swift_closure *closure = implementation->closure;
  if (implementation->function) {
    if (!*words) {
      *words = capacity == FOUND_BY_CALLS ? find_words(looped)
               : capacity > 0             ? words_of_frame(looped)
                                          : words_of_pointers(looped);
    }
    // Loaded before `take`: loads wait for its atomic instruction.
    const fwd_replay_call call = state->method->replayers.call;
    void *const receiver = record->receiver;
    const fwd_function function = implementation->function;
    const void *const context = implementation->context;
    if (!take(state, held, is_weak)) return false;
    call(receiver, *words, function, context);
  } else {
    if (!closure) {
      if (implementation->packed) deliver_slowly(looped, record);
      return false;
    }
    // Read again, since a value that is kept across the deliveries takes stack at each level.
    if (capacity == 0) *arguments = state->delivery->arguments;
    if (capacity > 0 && !*arguments) {
      *arguments = capacity == FOUND_BY_CALLS ? find_arguments_apart(looped) : point_into_frame(looped, capacity);
    }
    if (FWD_RARELY(!fwd_swift_closure_takes(closure, *arguments))) {
      // `fwd_deliver_to` finds out why, and reports it.
      deliver_slowly(looped, record);
      return false;
    }
    if (capacity == FWD_REPLAY_NARROW) return call_closure_quickly(looped, record, held, is_weak, closure, *arguments);
    if (!take(state, held, is_weak)) return false;
    call_closure(looped, record, closure, *arguments);
  }
  drop(held, is_weak);
  return true;
}

/// Delivers to a record of any kind. Returns what `deliver_plainly` does. `is_kept` says whether a batch keeps the object alive,
/// however the subscription holds it.
static inline __attribute__((always_inline)) bool deliver_to_one(fwd_looped_emission *looped, const fwd_record *record,
                                                                 bool is_kept, size_t offset,
                                                                 const fwd_replay_word **words,
                                                                 void *const **arguments, size_t capacity) {
  uintptr_t held = fwd_record_held(record);
  // Before the table is read, since the table of a subscription that has ended may be gone.
  if (!is_kept && !(held & FWD_HELD_BITS)) {
    return deliver_plainly(looped, record, held, true, offset, words, arguments, capacity);
  }
  if (FWD_USUALLY(is_kept ? !(held & FWD_HELD_IRREGULAR) : fwd_held_is_steady(held))) {
    return deliver_plainly(looped, record, held, false, offset, words, arguments, capacity);
  }
  deliver_slowly(looped, record);
  return false;
}

/// Delivers to a list's or a batch's only record. `arguments` are pointers for closures, or NULL if they have not been found yet.
static inline __attribute__((always_inline)) void deliver_to_lone(fwd_looped_emission *looped, const fwd_record *record,
                                                                  bool is_kept, void *const *arguments, size_t capacity) {
  const fwd_replay_word *words = NULL;
  const size_t offset = looped->emission.method->implementation;
  if (deliver_to_one(looped, record, is_kept, offset, &words, &arguments, capacity)) looped->emission.responses = 1;
}

/// Delivers to one to three records of any kind. Keeps less from one record to the next than `deliver_each`: not the accepted
/// closure, and not the function that `fwd_take_turn` compares. For so few records that would take more time than it saves.
static inline __attribute__((always_inline)) void deliver_to_these(fwd_looped_emission *looped, fwd_record *const *records,
                                                                   size_t count, bool is_kept, size_t capacity) {
  const size_t offset = looped->emission.method->implementation;
  const fwd_replay_word *words = NULL;
  // NULL for a delivery with a frame.
  void *const *arguments = capacity == 0 ? NULL : looped->emission.delivery->arguments;
  // All are counted before the deliveries, and the few that do not respond are subtracted. So the count is too high meanwhile,
  // which nothing that a delivery calls looks at.
  looped->emission.responses += count;
  fwd_record *const *end = records + count;
  do {
    if (!deliver_to_one(looped, *records, is_kept, offset, &words, &arguments, capacity)) looped->emission.responses--;
  } while (++records < end);
}

/// Delivers to some records of any kind, inside of a reading or, without `counts`, of a batch, which keeps all objects alive.
/// All records get the same arguments: the words for C functions and the pointers for closures are found before the first
/// delivery that needs them, and a closure is asked once whether it takes them, until a record has another one.
static inline __attribute__((always_inline)) void deliver_each(fwd_looped_emission *looped, fwd_record *const *records,
                                                               size_t count, bool counts) {
  fwd_emission *state = &looped->emission;
  const fwd_compiled_method *method = state->method;
  const size_t offset = method->implementation;
  const fwd_replay_call call = method->replayers.call;
  const fwd_replay_word *words = NULL;
  void *const *arguments = NULL;
  const fwd_swift_closure *accepted = FWD_NO_CLOSURE_YET;
  fwd_function first = NULL;
  for (fwd_record *const *end = records + count; records < end; records++) {
    const fwd_record *record = *records;
    uintptr_t held = fwd_record_held(record);
    // Before the table is read, since the table of a subscription that has ended may be gone.
    if (__builtin_expect(counts ? (held & FWD_HELD_BITS) > FWD_HELD_NONE : (held & FWD_HELD_IRREGULAR) != 0, 0)) {
      deliver_slowly(looped, record);
      continue;
    }
    const bool is_weak = counts && !(held & FWD_HELD_BITS);
    const fwd_implementation *implementation = fwd_dispatch_table_at_offset(record->table, offset);
    const fwd_function function = implementation->function;
    if (function) {
      if (__builtin_expect(!words, 0)) words = find_words(looped);
      fwd_take_turn(function, !first, &first);
      if (!take(state, held, is_weak)) continue;
      call(record->receiver, words, function, implementation->context);
    } else {
      const fwd_swift_closure *closure = implementation->closure;
      if (__builtin_expect(closure != accepted, 0)) {
        if (!closure) {
          if (implementation->packed) deliver_slowly(looped, record);
          continue;
        }
        if (!arguments) arguments = find_arguments_apart(looped);
        if (!fwd_swift_closure_takes(closure, arguments)) {
          // `fwd_deliver_to` finds out why, and reports it.
          deliver_slowly(looped, record);
          continue;
        }
        accepted = closure;
      }
      fwd_take_turn(closure->function, !first, &first);
      if (!take(state, held, is_weak)) continue;
      call_closure(looped, record, closure, arguments);
    }
    drop(held, is_weak);
    state->responses++;
  }
}

/// Delivers to up to three records of a list.
FWD_HOT static void deliver_to_few(fwd_looped_emission *looped, fwd_record *const *records, size_t count) {
  if (count > 0) deliver_to_these(looped, records, count, false, FOUND_BY_CALLS);
}

/// The same for records of a batch.
__attribute__((noinline)) static void deliver_to_few_of_batch(fwd_looped_emission *looped, fwd_record *const *records,
                                                              size_t count) {
  if (count > 0) deliver_to_these(looped, records, count, true, FOUND_BY_CALLS);
}

FWD_HOT static void deliver_to_listed(fwd_looped_emission *looped, fwd_record *const *records, size_t count) {
  deliver_each(looped, records, count, true);
}

/// The same for records of a batch.
__attribute__((noinline)) static void deliver_to_batched(fwd_looped_emission *looped, fwd_record *const *records,
                                                              size_t count) {
  deliver_each(looped, records, count, false);
}

/// Delivers to the weak closures that come first, and to the rest by `deliver_to_listed`.
FWD_HOT static void deliver_to_closures_first(fwd_looped_emission *looped, fwd_record *const *records, size_t count) {
  fwd_record *const *end = records + count;
  // The room for nothing holds its own address.
  void **room = room_for_nothing(looped);
  *room = room;
  fwd_record *const *next =
      fwd_replay_weak_closures(records, end, find_arguments_apart(looped),
                               looped->emission.method->implementation, &looped->record, room);
  looped->emission.responses += (size_t)(next - records);
  if (__builtin_expect(next < end, 0)) deliver_to_listed(looped, next, (size_t)(end - next));
}

/// The same for C functions, by the method's loop for weak subscribers. The first record has a C function.
__attribute__((noinline)) static void deliver_to_functions_first(fwd_looped_emission *looped, fwd_record *const *records,
                                                                 size_t count) {
  fwd_record *const *end = records + count;
  const fwd_replay_word *words = find_words(looped);
  const fwd_compiled_method *method = looped->emission.method;
  // All are counted before the call, and those that are left subtracted after it, so that only two values are kept across it.
  looped->emission.responses += (size_t)(end - records);
  fwd_record *const *next =
      method->replayers.weak_loop(records, end, words, method->implementation);
  size_t left = (size_t)(end - next);
  looped->emission.responses -= left;
  if (__builtin_expect(left > 0, 0)) deliver_to_listed(looped, next, left);
}

/// Delivers to one or more records, inside of a reading: by a loop for weak subscribers as far as that goes, then by
/// `deliver_to_listed`.
static void deliver_weak_first(fwd_looped_emission *looped, fwd_record *const *records, size_t count) {
  // Before the table is read, since the table of a subscription that has ended may be gone.
  if (!(fwd_record_held(records[0]) & FWD_HELD_BITS)) {
    const fwd_compiled_method *method = looped->emission.method;
    const fwd_implementation *implementation = fwd_implementation_by(records[0], method);
    if (!implementation->function) {
      deliver_to_closures_first(looped, records, count);
      return;
    }
    if (method->replayers.weak_loop) {
      deliver_to_functions_first(looped, records, count);
      return;
    }
  }
  deliver_to_listed(looped, records, count);
}

/// Delivers to many records, inside of a reading, in parts, since the loops do not prefetch.
__attribute__((noinline)) static void deliver_in_parts(fwd_looped_emission *looped, fwd_record *const *records, size_t count) {
  while (count > 0) {
    size_t part = fwd_prefetch_part(records, count);
    deliver_weak_first(looped, records, part);
    records += part;
    count -= part;
  }
}

/// The emission of a replay, which points to its first member.
static inline fwd_looped_emission *emission_of(const fwd_replay *replay) {
  _Static_assert(offsetof(fwd_looped_emission, record) == 0, "a replay points to the whole");
  return (fwd_looped_emission *)replay->record;
}

static void replay_slowly(fwd_replay *replay, const fwd_record *record) { deliver_slowly(emission_of(replay), record); }

static void *const *replay_arguments(fwd_replay *replay) { return find_arguments(emission_of(replay)); }

static const fwd_replay_operations operations_of_loops = {
    .deliver_slowly = replay_slowly, .find_arguments = replay_arguments};

/// A replay of a method. It is not a part of the emission, since most fan-outs have none.
static inline fwd_replay replay_of(fwd_looped_emission *looped) {
  return (fwd_replay){
      .implementation = looped->emission.method->implementation,
      .operations = &operations_of_loops,
      .record = &looped->record,
  };
}

/// Delivers to some records: to the closures that come first, then to the rest by the method's loop. Finds the emission by
/// the replay: what is kept across the calls takes stack at each level of a recursion.
static inline __attribute__((always_inline)) void replay_some(fwd_replay *replay, fwd_record *const *records, size_t count) {
  replay->records = records;
  replay->count = count;
  // Added after the calls, since deliveries that the loops leave to the fan-out change `responses`, too.
  size_t delivered = fwd_replay_closures(replay);
  emission_of(replay)->emission.responses += delivered;
  if (replay->count == 0) return;
  if (!replay->words) replay->words = find_words(emission_of(replay));
  delivered = emission_of(replay)->emission.method->replayers.loop(replay);
  emission_of(replay)->emission.responses += delivered;
}

/// Delivers to a few records without a weak one, or of a batch.
__attribute__((noinline)) static void replay_held(fwd_looped_emission *looped, fwd_record *const *records, size_t count) {
  fwd_replay replay = replay_of(looped);
  replay_some(&replay, records, count);
}

/// Delivers to many records, in parts, since loops do not prefetch.
__attribute__((noinline)) static void replay_parts(fwd_looped_emission *looped, fwd_record *const *records, size_t count) {
  fwd_replay replay = replay_of(looped);
  while (count > 0) {
    size_t part = fwd_prefetch_part(records, count);
    replay_some(&replay, records, part);
    records += part;
    count -= part;
  }
}

/// Delivers to records without a weak one, or of a batch, by the method's loop.
static inline void replay(fwd_looped_emission *looped, fwd_record *const *records, size_t count) {
  if (__builtin_expect(count < FWD_PREFETCHED_COUNT, 1)) {
    replay_held(looped, records, count);
  } else {
    replay_parts(looped, records, count);
  }
}

/// The number of records from which on the loops that keep state between deliveries are faster than `deliver_to_few`.
enum { fewest_for_loop = FWD_FEWEST_ASKED };

/// Delivers to some records, inside of a reading. `has_weak` says that there may be a weak one.
static void deliver_to_some(fwd_looped_emission *looped, fwd_record *const *records, size_t count, bool has_weak) {
  if (count < fewest_for_loop) {
    deliver_to_few(looped, records, count);
  } else if (!has_weak && looped->emission.method->replayers.loop) {
    replay(looped, records, count);
  } else if (count < FWD_PREFETCHED_COUNT) {
    deliver_weak_first(looped, records, count);
  } else {
    deliver_in_parts(looped, records, count);
  }
}

/// Delivers to the records of a list of several segments, inside of a reading. Returns the number of records visited.
__attribute__((noinline)) static size_t deliver_to_spans(fwd_looped_emission *looped) {
  fwd_emission *state = &looped->emission;
  size_t visited = 0;
  fwd_span span;
  for (bool found = fwd_span_first(fwd_proxy_list(state->proxy), &span); found; found = fwd_span_next(&span)) {
    visited += span.count;
    deliver_to_some(looped, span.records, span.count, span.has_weak);
  }
  return visited;
}

/// Delivers to the records of the list, inside of a reading. Returns how many of the list's first records have been asked for
/// the method; 0 if only those that implement it have been visited.
__attribute__((noinline)) static size_t deliver_to_any(fwd_looped_emission *looped) {
  const fwd_emission *state = &looped->emission;
  fwd_subscriber_list *list = fwd_proxy_list(state->proxy);
  const fwd_responders *responders = fwd_list_responders(list, state->method->index);
  if (responders) {
    deliver_to_some(looped, responders->records, responders->count, responders->has_weak);
    return 0;
  }
  const fwd_reading reading = fwd_list_read(list, (fwd_guard){0});
  if (reading.is_long) return deliver_to_spans(looped);
  deliver_to_some(looped, reading.records, reading.count, reading.has_weak);
  return reading.count;
}

/// Does the same, but delivers to a lone subscriber, and for the `capacity` 0 to up to three, in the caller's stack frame.
/// `arguments` is NULL if they have not been found yet.
static inline __attribute__((always_inline)) size_t deliver_to_reading(fwd_looped_emission *looped,
                                                                       const fwd_reading *reading,
                                                                       void *const *arguments, size_t capacity) {
  // Before `fwd_is_short`: to ask so few records costs less than to look whether the responders are known. `fwd_asked_in_vain`
  // does not count them.
  const size_t most = capacity == 0 ? fewest_for_loop - 1 : 1;
  if (reading->count - 1 < most && __builtin_expect(!reading->is_long, 1)) {
    if (reading->count == 1) {
      deliver_to_lone(looped, reading->records[0], false, arguments, capacity);
    } else {
      deliver_to_these(looped, reading->records, reading->count, false, capacity);
    }
    return reading->count;
  }
  if (__builtin_expect(!fwd_is_short(reading, looped->emission.proxy), 0)) return deliver_to_any(looped);
  deliver_to_some(looped, reading->records, reading->count, reading->has_weak);
  return reading->count;
}

// MARK: Fan-outs

/// Begins a fan-out by loops. Returns false if the stack is nearly used up.
static inline __attribute__((always_inline)) bool begin(fwd_looped_emission *looped, fwd_proxy *proxy,
                                                        const fwd_compiled_method *method,
                                                        const fwd_delivery *delivery, fwd_nesting_kind kind) {
  fwd_emission *state = &looped->emission;
  fwd_emission_begin(state, proxy, method, delivery, kind);
  if (__builtin_expect(!fwd_nesting_has_room(looped, 0), 0)) return false;
  looped->record = NULL;
  return true;
}

/// Ends a fan-out by loops, after the nesting frame has been left.
static inline __attribute__((always_inline)) fwd_status end(fwd_looped_emission *looped, size_t asked) {
  fwd_emission *state = &looped->emission;
  if (__builtin_expect(fwd_asked_in_vain(asked, state->responses), 0)) fwd_note_vain(state, asked);
  if (__builtin_expect(state->responses > 0 && !state->failure, 1)) return FWD_OK;
  // Each delivery that `fwd_fail_delivery` has withdrawn has left a failure.
  state->responses -= state->frame.withdrawn;
  return fwd_outcome_finish_void(state);
}

/// Delivers to the proxy's current subscribers. `capacity` is that of `deliver_plainly`. Each caller passes constants: a test at
/// run time would cost some percent of a fan-out.
static inline __attribute__((always_inline)) fwd_status fan_out(fwd_looped_emission *looped, fwd_proxy *proxy,
                                                                const fwd_compiled_method *method,
                                                                const fwd_delivery *delivery, bool has_pointers,
                                                                size_t capacity) {
  fwd_emission *state = &looped->emission;
  if (!begin(looped, proxy, method, delivery, FWD_NESTING_LOOPS)) return fwd_nesting_fail(method->method.selector);
  fwd_nesting_push(&state->frame);
  const fwd_reading reading = fwd_list_enter_within(fwd_proxy_list(proxy), has_pointers ? 1 : 0);
  size_t asked = deliver_to_reading(looped, &reading, NULL, capacity);
  fwd_leave_reading(state, reading.guard.hazard, asked, FWD_NESTING_LOOPS);
  return end(looped, asked);
}

/// Delivers to the subscribers of a batch.
static inline __attribute__((always_inline)) fwd_status fan_out_to_batch(fwd_looped_emission *looped, fwd_proxy *proxy,
                                                                         const fwd_compiled_method *method,
                                                                         const fwd_delivery *delivery, size_t capacity) {
  fwd_emission *state = &looped->emission;
  if (!begin(looped, proxy, method, delivery, FWD_NESTING_LOOPS)) return fwd_nesting_fail(method->method.selector);
  fwd_nesting_push(&state->frame);
  const fwd_batch_members *members = fwd_batch_members_of(delivery->batch, method->index);
  if (members->count == 1) {
    deliver_to_lone(looped, members->records[0], true, NULL, capacity);
  } else if (members->count < fewest_for_loop) {
    if (capacity > 0) {
      deliver_to_few_of_batch(looped, members->records, members->count);
    } else if (members->count > 0) {
      deliver_to_these(looped, members->records, members->count, true, 0);
    }
  } else if (!method->replayers.loop) {
    deliver_to_batched(looped, members->records, members->count);
  } else {
    replay(looped, members->records, members->count);
  }
  // Read again, since what is kept across the deliveries takes stack at each level.
  const fwd_batch *batch = state->delivery->batch;
  fwd_emission_leave(state, __builtin_expect(state->frame.met_dead, 0) ? fwd_visited_now(batch->guard, batch->walked) : 0);
  return end(looped, 0);
}

FWD_HOT fwd_status fwd_fan_out_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery) {
  narrow_frame_emission emission;
  return fan_out(&emission.narrow.looped, proxy, method, delivery, false, FWD_REPLAY_NARROW);
}

FWD_HOT fwd_status fwd_fan_out_frame_fast(fwd_proxy *proxy, const fwd_compiled_method *method, const void *frame,
                                           void *result) {
  narrow_frame_emission emission;
  const fwd_delivery delivery = {.frame = frame, .result = result};
  return fan_out(&emission.narrow.looped, proxy, method, &delivery, false, FWD_REPLAY_NARROW);
}

FWD_HOT fwd_status fwd_fan_out_pointers(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery) {
  narrow_emission emission;
  return fan_out(&emission.looped, proxy, method, delivery, true, 0);
}

FWD_SMALL fwd_status fwd_fan_out_wide_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery) {
  wide_frame_emission emission;
  return fan_out(&emission.wide.looped, proxy, method, delivery, false, FOUND_BY_CALLS);
}

FWD_SMALL fwd_status fwd_fan_out_wide_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                               const fwd_delivery *delivery) {
  wide_emission emission;
  return fan_out(&emission.looped, proxy, method, delivery, true, FOUND_BY_CALLS);
}

fwd_status fwd_fan_out_batch_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery) {
  narrow_frame_emission emission;
  return fan_out_to_batch(&emission.narrow.looped, proxy, method, delivery, FWD_REPLAY_NARROW);
}

fwd_status fwd_fan_out_batch_pointers(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery) {
  narrow_emission emission;
  return fan_out_to_batch(&emission.looped, proxy, method, delivery, 0);
}

FWD_SMALL fwd_status fwd_fan_out_batch_wide_frame(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                  const fwd_delivery *delivery) {
  wide_frame_emission emission;
  return fan_out_to_batch(&emission.wide.looped, proxy, method, delivery, FOUND_BY_CALLS);
}

FWD_SMALL fwd_status fwd_fan_out_batch_wide_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                     const fwd_delivery *delivery) {
  wide_emission emission;
  return fan_out_to_batch(&emission.looped, proxy, method, delivery, FOUND_BY_CALLS);
}

// MARK: Interceptors

/// Calls the interceptors before the deliveries. Returns pointers to the arguments.
__attribute__((noinline)) static void *const *call_earlier_taps(fwd_looped_emission *looped, const fwd_taps *taps) {
  fwd_emission *state = &looped->emission;
  void *const *arguments = find_arguments(looped);
  fwd_call_taps(state->proxy, state->method, arguments, taps->taps, taps->before_count);
  return arguments;
}

/// Whether a method has only one interceptor, which can be called without a loop: a loop would take registers, and so stack.
static inline bool is_lone(const fwd_taps *taps) { return taps->lone && fwd_tap_is_unlimited(taps->taps); }

/// Calls a method's only interceptor. Returns pointers to the arguments. `capacity` is that of `deliver_plainly`.
static inline __attribute__((always_inline)) void *const *call_lone_tap(fwd_looped_emission *looped, const fwd_taps *taps,
                                                                       size_t capacity) {
  void *const *arguments = capacity > 0 ? point_into_frame(looped, capacity) : looped->emission.delivery->arguments;
  fwd_swift_closure_call(taps->lone, NULL, arguments, room_for_nothing(looped));
  return arguments;
}

/// Calls the interceptors before the deliveries of an invocation whose arguments are pointers. Not inlined, so that it takes less
/// stack at each level of a recursion. Returns NULL if no interceptor has to be called after the deliveries, otherwise the taps.
__attribute__((noinline)) static const fwd_taps *call_taps_of_pointers(fwd_looped_emission *looped, const fwd_taps *taps) {
  if (taps->before_count == 0) return taps;
  if (__builtin_expect(is_lone(taps), 1)) {
    call_lone_tap(looped, taps, 0);
    return NULL;
  }
  call_earlier_taps(looped, taps);
  return taps->after_count > 0 ? taps : NULL;
}

/// Calls the interceptors after the deliveries.
__attribute__((noinline)) static void call_later_taps(fwd_looped_emission *looped, const fwd_taps *taps) {
  fwd_emission *state = &looped->emission;
  fwd_nesting_enter(&state->frame, FWD_NESTING_OTHER);
  fwd_call_taps(state->proxy, state->method, find_arguments(looped), taps->taps + taps->before_count, taps->after_count);
  fwd_nesting_leave(&state->frame, state->delivery->is_nested);
}

/// Leaves the list and enters it again if something has been taken out of it, or if the hazard pointer is not the visit's own.
/// Returns the hazard pointer.
static inline fwd_hazard *enter_again(const fwd_emission *state, fwd_hazard *hazard) {
  fwd_domain *domain = &fwd_proxy_list(state->proxy)->domain;
  // See `fwd_hazard_leave`.
  __asm__("" : "+r"(hazard));
  bool is_current = fwd_hazard_is_own(hazard) && atomic_load_explicit(&hazard->entered, memory_order_relaxed) ==
                                                    atomic_load_explicit(&domain->clock, memory_order_acquire);
  if (__builtin_expect(is_current, 1)) return hazard;
  fwd_hazard_leave_as_announced(hazard, domain);
  return fwd_hazard_enter_within(domain, fwd_depth_of(state->delivery)).hazard;
}

/// Fans out to the subscribers of the moment, and calls the interceptors before and after them in the same emission.
/// `capacity` is that of `deliver_plainly`.
static inline __attribute__((always_inline)) fwd_status fan_out_observed(fwd_looped_emission *looped, fwd_proxy *proxy,
                                                                         const fwd_compiled_method *method,
                                                                         const fwd_delivery *delivery,
                                                                         fwd_fan_out_afterwards otherwise, size_t capacity) {
  const bool has_pointers = capacity == 0;
  fwd_emission *state = &looped->emission;
  if (!begin(looped, proxy, method, delivery, FWD_NESTING_OTHER)) return fwd_nesting_fail(method->method.selector);
  fwd_hazard *hazard = fwd_hazard_enter_within(&fwd_proxy_list(proxy)->domain, has_pointers ? 1 : 0).hazard;
  const fwd_taps *taps = fwd_list_taps(fwd_proxy_list(proxy), method->index);
  // The taps may have been replaced since the caller has read the method's bits.
  if (__builtin_expect(!taps || taps->has_stub, 0)) {
    fwd_hazard_leave_as_announced(hazard, &fwd_proxy_list(proxy)->domain);
    return fwd_intercept(proxy, method, delivery, otherwise, NULL);
  }
  // A call of a function pointer has already taken more stack than one with a frame. So the code behind this line reads the
  // emission again instead of keeping the parameters.
  if (has_pointers) __asm__("" : : "r"(looped) : "memory");
  fwd_nesting_push(&state->frame);
  void *const *arguments = NULL;
  if (has_pointers) {
    taps = call_taps_of_pointers(looped, taps);
  } else if (taps->before_count > 0) {
    arguments = __builtin_expect(is_lone(taps), 1) ? call_lone_tap(looped, taps, capacity) : call_earlier_taps(looped, taps);
    if (taps->after_count == 0) taps = NULL;
  }
  // Leaving the domain frees the subscribers that the interceptors have cancelled, and perhaps the taps. `fwd_intercept`
  // frees them at the same moment.
  if (!taps) hazard = enter_again(state, hazard);
  state->frame.kind = FWD_NESTING_LOOPS;
  // Read after the interceptors have run, so that it includes the subscribers that they have added.
  const fwd_reading reading = fwd_list_read(fwd_proxy_list(state->proxy), (fwd_guard){0});
  // With pointers, a loop in this function would take stack for its values, too.
  size_t asked = deliver_to_reading(looped, &reading, arguments, has_pointers ? FOUND_BY_CALLS : capacity);
  state->frame.kind = FWD_NESTING_OTHER;
  // If the fan-out has succeeded, the only interceptor is called here, which saves a frame. Otherwise, and if the end of a
  // subscription is to be told first, `call_later_taps` calls it after the fan-out has been left.
  if (!has_pointers && taps && is_lone(taps) && state->responses > 0 && !state->failure && !state->frame.met_dead) {
    call_lone_tap(looped, taps, capacity);
    taps = NULL;
  }
  fwd_emission_leave(state, state->frame.met_dead ? fwd_visited_as_announced(state, hazard, asked) : 0);
  fwd_status status = end(looped, asked);
  if (status == FWD_OK && taps) call_later_taps(looped, taps);
  fwd_hazard_leave_as_announced(hazard, &fwd_proxy_list(state->proxy)->domain);
  return status;
}

FWD_HOT fwd_status fwd_fan_out_observed_frame(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                              fwd_fan_out_afterwards otherwise) {
  narrow_frame_emission emission;
  return fan_out_observed(&emission.narrow.looped, proxy, method, delivery, otherwise, FWD_REPLAY_NARROW);
}

FWD_SMALL fwd_status fwd_fan_out_observed_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                   const fwd_delivery *delivery, fwd_fan_out_afterwards otherwise) {
  narrow_emission emission;
  return fan_out_observed(&emission.looped, proxy, method, delivery, otherwise, 0);
}
