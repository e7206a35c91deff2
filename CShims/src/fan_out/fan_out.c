// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The fan-out: one invocation replayed to every subscriber that implements its method, by the
/// method's policy.

#include "fwd_fan_out.h"

#include <stdlib.h>
#include <string.h>

#include "fan_out/batch.h"
#include "fan_out/check.h"
#include "base/error.h"
#include "fan_out/proxy.h"
#include "call/signature.h"

/// Results up to this size need no allocation.
enum { inline_result_size = 64 };

/// A fan-out under way on this thread, for `fwd_mark_handled`.
struct frame {
  /// The one that it runs inside of.
  struct frame *outer;
  bool handled;
};

static _Thread_local struct frame *innermost;

void fwd_mark_handled(void) {
  if (innermost) innermost->handled = true;
}

/// One fan-out under way. Not zeroed: most of it is not looked at by most fan-outs.
typedef struct emission {
  /// First, so that a pointer to it is one to the emission.
  fwd_replay replay;
  struct frame frame;
  fwd_proxy *proxy;
  const fwd_method_entry *entry;
  const fwd_delivery *delivery;
  /// The objects of a batch, by record; NULL without one.
  void *const *objects;
  size_t answers;
  /// What the delivery at hand writes its result to, and the result that is kept so far.
  void *answer;
  void *kept;
  /// The first failure of a delivery; nothing else of it is filled while its status is FWD_OK.
  fwd_error failure;
  /// Whether the arguments have been found; the loop of plain deliveries needs none.
  bool has_arguments;
  void *receiver;
  fwd_selector selector;
  void *arguments[FWD_ARGUMENT_LIMIT];
} emission;

// MARK: Results

static void release_object(const void *result) {
  void *object;
  memcpy(&object, result, sizeof object);
  fwd_object_release(object);
}

/// Gives up a result that nobody gets.
static void discard(const fwd_method_entry *entry, const void *result) {
  if (entry->returns_object) release_object(result);
}

static void keep(emission *state) {
  void *answer = state->answer;
  state->answer = state->kept;
  state->kept = answer;
}

static bool is_zero(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

/// Takes the answer in `state->answer` by the method's policy. Gives whether to go on.
static bool take_answer(const fwd_method_entry *entry, emission *state) {
  size_t size = entry->result.size;
  bool first = state->answers++ == 0;
  if (entry->method.fold.step) {
    return entry->method.fold.step(entry->method.fold.context, state->kept, state->answer, state->answers - 1);
  }
  switch (entry->method.policy) {
    case FWD_RESULT_FIRST:
      keep(state);
      return false;
    case FWD_RESULT_ALL_FIRST:
      if (first) {
        keep(state);
      } else {
        discard(entry, state->answer);
      }
      return true;
    case FWD_RESULT_ALL_LAST:
      if (!first) discard(entry, state->kept);
      keep(state);
      return true;
    case FWD_RESULT_UNTIL_NONZERO:
      if (!first) discard(entry, state->kept);
      keep(state);
      return is_zero(state->kept, entry->value_size);
    case FWD_RESULT_ANY:
      keep(state);
      return is_zero(state->kept, entry->value_size);
    case FWD_RESULT_ALL:
      keep(state);
      return !is_zero(state->kept, entry->value_size);
    case FWD_RESULT_UNTIL_HANDLED:
      return !state->frame.handled;
    case FWD_RESULT_DEFAULT:
      break;
  }
  if (size == 0) return true;
  keep(state);
  return false;
}

/// Gives the result of a fan-out in which nobody answered, for the method's policy.
static fwd_status nobody_answered(fwd_proxy *proxy, const fwd_method_entry *entry, const fwd_error *failure,
                                  const fwd_delivery *delivery, fwd_error *error) {
  const fwd_proxy_method *method = &entry->method;
  size_t size = entry->result.size;
  if (method->default_result) {
    if (delivery->result) memcpy(delivery->result, method->default_result, size);
    if (delivery->result && entry->returns_object) {
      void *object;
      memcpy(&object, method->default_result, sizeof object);
      fwd_object_retain(object);
    }
    return FWD_OK;
  }
  // Someone was asked and failed: that is what the caller wants to know.
  if (failure->status != FWD_OK) {
    return fwd_fail(error, failure->status, failure->offset, "%s", failure->message);
  }
  // Those who intercept a void method respond to it.
  if (delivery->is_intercepted && size == 0) return FWD_OK;
  fwd_no_responder rule = method->no_responder;
  bool fails = rule == FWD_NO_RESPONDER_FAIL || (rule == FWD_NO_RESPONDER_STANDARD && size > 0);
  // An empty "any" is false and an empty "all" is true.
  bool is_quantifier = method->policy == FWD_RESULT_ANY || method->policy == FWD_RESULT_ALL;
  if (fails && !(is_quantifier && rule == FWD_NO_RESPONDER_STANDARD)) {
    return fwd_fail(error, FWD_NO_RESPONDER, 0, "no live subscriber implements \"%.150s\"%s",
                    fwd_selector_name(method->selector), size > 0 ? ", and it has no default result" : "");
  }
  if (rule == FWD_NO_RESPONDER_REPORT) {
    fwd_error report;
    fwd_fail(&report, FWD_NO_RESPONDER, 0, "no live subscriber implements \"%.150s\"",
             fwd_selector_name(method->selector));
    proxy->operations->report(proxy->owner, method->selector, &report);
  }
  if (delivery->result) memset(delivery->result, method->policy == FWD_RESULT_ALL, size);
  return FWD_OK;
}

// MARK: Deliveries

/// Calls one implementation. The status is FWD_OK if the answer holds.
static fwd_status deliver(emission *state, const fwd_implementation *implementation,
                          fwd_error *error) {
  const fwd_method_entry *entry = state->entry;
  // Of a thunk this is the form that is told its context here.
  if (implementation->packed) {
    return implementation->packed(implementation->context, state->receiver, state->arguments,
                                  state->answer, error);
  }
#if FWD_HAS_CALL_PLANS
  // All arguments have addresses, and the answer has room.
  if (entry->plan && !atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed)) {
    entry->plan->call(entry->plan, implementation->function, state->arguments, state->answer);
    return FWD_OK;
  }
#endif
  fwd_status status =
      fwd_cif_call(entry->cif, implementation->function, state->arguments, state->answer);
  return status == FWD_OK ? status : fwd_fail(error, status, 0, "%s", fwd_error_message());
}

/// Takes note of a failed delivery.
__attribute__((cold, noinline)) static void note_failure(emission *state, const fwd_error *error) {
  if (state->failure.status == FWD_OK) state->failure = *error;
  fwd_proxy *proxy = state->proxy;
  proxy->operations->report(proxy->owner, state->entry->method.selector, error);
}

void fwd_fail_delivery(const fwd_error *error) {
  if (!innermost) return;
  emission *state = (emission *)((char *)innermost - offsetof(emission, frame));
  // The loop counts each of its calls as an answer, when it is done; this one is none.
  state->answers--;
  note_failure(state, error);
}

/// Delivers to one subscriber, if it is there and implements the method. Gives whether to go on.
static bool deliver_to(emission *state, size_t index) {
  const fwd_record *record = state->replay.records[index];
  const fwd_method_entry *entry = state->entry;
  uintptr_t held = fwd_record_held(record);
  // First, since the table of a subscription that has ended may be gone.
  if (fwd_held_has_ended(held)) {
    state->replay.gone += !state->objects;
    return true;
  }
  const fwd_implementation *implementation = fwd_record_implementation(record, entry->index);
  if (fwd_implementation_is_empty(implementation) || fwd_held_is_blocked(held)) return true;
  fwd_taken taken;
  if (state->objects) {
    // Held by the batch.
    taken = (fwd_taken){state->objects[index], false};
  } else if (!fwd_record_take(record, &taken)) {
    state->replay.gone++;
    return true;
  }
  if (!fwd_held_count_delivery(held, &state->replay.gone)) {
    fwd_record_drop(taken);
    return true;
  }
  state->receiver = record->receiver;
  memset(state->answer, 0, entry->result.size);
  fwd_error error;
  error.status = FWD_OK;
  fwd_status status = deliver(state, implementation, &error);
  bool goes_on = true;
  if (status == FWD_OK && state->delivery->collector) {
    state->answers++;
    goes_on = state->delivery->collector(state->delivery->collector_context, record->identifier,
                                         taken.object, state->answer);
  } else if (status == FWD_OK) {
    goes_on = take_answer(entry, state);
  } else if (status != FWD_NO_RESPONDER) {
    note_failure(state, &error);
  }
  fwd_record_drop(taken);
  return goes_on;
}

/// Finds the arguments: the hidden ones in the emission, the others where the caller has them.
static void find_arguments(emission *state) {
  const fwd_method_entry *entry = state->entry;
  const fwd_delivery *delivery = state->delivery;
  uint32_t hidden_count = entry->hidden_count, count = entry->argument_count;
  state->selector = entry->method.selector;
  if (hidden_count > 0) state->arguments[0] = &state->receiver;
  if (hidden_count > 1) state->arguments[1] = &state->selector;
  if (delivery->arguments) {
    for (uint32_t i = hidden_count; i < count; i++) {
      state->arguments[i] = delivery->arguments[i - hidden_count];
    }
    return;
  }
  // Read only, though C has no way to say so in a pointer array.
  uintptr_t frame = (uintptr_t)delivery->frame;
  for (uint32_t i = hidden_count; i < count; i++) {
    state->arguments[i] = (void *)(frame + entry->offsets[i - hidden_count]);
  }
}

/// Replays the invocation to the records of `state->replay`.
static void replay(emission *state) {
  size_t count = state->replay.count;
  bool prefetches = count >= FWD_PREFETCHED_COUNT, goes_on = true;
  find_arguments(state);
  for (size_t i = 0; i < count && goes_on; i++) {
    if (prefetches) fwd_prefetch(state->replay.records, i, count);
    goes_on = deliver_to(state, i);
  }
}

// MARK: Emissions

/// Enters a fan-out into the thread's.
static inline void begin(emission *state) {
  state->frame.outer = innermost;
  state->frame.handled = false;
  innermost = &state->frame;
}

static inline void end(emission *state) {
  innermost = state->frame.outer;
  if (state->delivery->is_nested && state->frame.handled && innermost) innermost->handled = true;
}

/// Asks for what has been met to be taken out. The proxy is alive: its caller has it.
static inline void tell_of_the_dead(emission *state) {
  if (state->replay.gone > 0) state->proxy->operations->met_the_dead(state->proxy->owner);
}

/// Replays to the subscribers of the moment, or to those of a batch.
static void emit(emission *state) {
  const fwd_batch *batch = state->delivery->batch;
  state->replay.gone = 0;
  begin(state);
  if (batch) {
    state->replay.records = batch->records;
    state->replay.count = batch->count;
    state->objects = batch->objects;
    replay(state);
  } else {
    fwd_reading reading = fwd_list_enter(state->proxy->list);
    state->replay.records = reading.records;
    state->replay.count = reading.count;
    state->objects = NULL;
    replay(state);
    fwd_list_leave(&reading);
  }
  end(state);
  tell_of_the_dead(state);
}

/// Hands on what nobody has answered, to the proxy's forward target. FWD_NO_RESPONDER if there is none.
__attribute__((cold, noinline)) static fwd_status hand_on(emission *state, fwd_error *error) {
  fwd_proxy *proxy = state->proxy;
  // Whoever was asked and failed has handled it.
  if (state->failure.status != FWD_OK ||
      !atomic_load_explicit(&proxy->forwards_unhandled, memory_order_acquire)) {
    return FWD_NO_RESPONDER;
  }
  fwd_delivery delivery = *state->delivery;
  delivery.batch = NULL;
  return proxy->operations->forward_unhandled(proxy->owner, state->entry->method.selector, &delivery,
                                              error);
}

/// Gives the result of a fan-out to who asked for it.
static fwd_status finish(emission *state, fwd_error *error) {
  if (state->answers == 0) {
    fwd_status status = hand_on(state, error);
    if (status != FWD_NO_RESPONDER) return status;
  }
  // A collector has seen all there was; that may be nothing.
  if (state->delivery->collector) return FWD_OK;
  if (state->answers == 0) {
    return nobody_answered(state->proxy, state->entry, &state->failure, state->delivery, error);
  }
  size_t size = state->entry->result.size;
  if (size > 0 && state->delivery->result) {
    memcpy(state->delivery->result, state->kept, size);
  } else if (size > 0) {
    discard(state->entry, state->kept);
  }
  return FWD_OK;
}

/// For methods with something to decide after each delivery.
__attribute__((noinline)) static fwd_status fan_out_deciding(emission *state, fwd_error *error) {
  size_t size = state->entry->result.size;
  // Aligned as malloc's memory is, which is what any type of an encoding needs.
  _Alignas(max_align_t) unsigned char buffer[2][inline_result_size];
  unsigned char *memory = NULL;
  state->answer = buffer[0];
  state->kept = buffer[1];
  if (size > inline_result_size) {
    size_t stride = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    memory = malloc(2 * stride);
    if (!memory) {
      return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a result of %zu bytes", size);
    }
    state->answer = memory;
    state->kept = memory + stride;
  }
  memset(state->kept, 0, size);
  emit(state);
  fwd_status status = finish(state, error);
  free(memory);
  return status;
}

/// A delivery that the loop leaves to us.
static void take_over(fwd_replay *replay, size_t index) {
  emission *state = (emission *)replay;
  // A result of no bytes has an address all the same.
  unsigned char nothing;
  state->answer = state->kept = &nothing;
  if (!state->has_arguments) find_arguments(state);
  state->has_arguments = true;
  deliver_to(state, index);
}

/// For methods with nothing to decide: by a loop. In one piece, since at one subscriber calls within
/// would be a third of the costs.
static inline __attribute__((always_inline)) fwd_status fan_out_plain(emission *state,
                                                                      fwd_error *error) {
  const fwd_method_entry *entry = state->entry;
  const fwd_delivery *delivery = state->delivery;
  const fwd_batch *batch = delivery->batch;
  state->replay.gone = 0;
  state->replay.delivered = 0;
  state->has_arguments = false;
  state->replay.take_over = take_over;
  state->replay.implementation =
      offsetof(fwd_dispatch_table, implementations) + entry->index * sizeof(fwd_implementation);
  // There when the function takes it.
  state->replay.words[1] = (uint64_t)(uintptr_t)entry->method.selector;
  fwd_replay_load(&state->replay, &entry->loads, delivery->frame, delivery->arguments);
  begin(state);
  if (batch) {
    state->replay.records = batch->records;
    state->replay.count = batch->count;
    state->objects = batch->objects;
    entry->replayers.held(&state->replay);
  } else {
    const fwd_reading reading = fwd_list_enter(state->proxy->list);
    state->replay.records = reading.records;
    state->replay.count = reading.count;
    state->objects = NULL;
    (reading.has_weak ? entry->replayers.weak : entry->replayers.held)(&state->replay);
    fwd_list_leave(&reading);
  }
  end(state);
  tell_of_the_dead(state);
  state->answers += state->replay.delivered;
  return __builtin_expect(state->answers > 0, 1) ? FWD_OK : finish(state, error);
}

/// Has those who intercept a method make its delivery.
__attribute__((cold, noinline)) static fwd_status intercept(emission *state, fwd_error *error) {
  fwd_proxy *proxy = state->proxy;
  // What they mark as handled is this invocation, not one that it may run inside of.
  begin(state);
  fwd_status status =
      proxy->operations->intercept(proxy->owner, &state->entry->method, state->delivery, error);
  end(state);
  return status;
}

static inline __attribute__((always_inline)) fwd_status fan_out(fwd_proxy *proxy,
                                                                const fwd_proxy_method *method,
                                                                const fwd_delivery *delivery,
                                                                fwd_error *error) {
  const fwd_method_entry *entry = fwd_method_entry_of(method);
  emission state;
  state.proxy = proxy;
  state.entry = entry;
  state.delivery = delivery;
  state.answers = 0;
  state.failure.status = FWD_OK;
  uint32_t tables = fwd_list_tables(proxy->list, entry->index);
  // One comparison for both: the highest bit is that of interception.
  if (__builtin_expect((int32_t)tables <= 0, 0)) {
    // A closing proxy has no responders, so the check costs other fan-outs nothing.
    if (proxy->is_closing) return fwd_proxy_core_fail_closing(error);
    if ((tables & FWD_INTERCEPTED) && !delivery->is_intercepted) return intercept(&state, error);
    // A method that nobody implements costs no more than this.
    if (!fwd_tables_have_some(tables)) return finish(&state, error);
  }
  bool by_loop = entry->replayers.weak && !delivery->collector &&
                 !atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
  return by_loop ? fan_out_plain(&state, error) : fan_out_deciding(&state, error);
}

fwd_status fwd_fan_out(fwd_proxy *proxy, const fwd_proxy_method *method,
                       const fwd_delivery *delivery, fwd_error *error) {
  return fan_out(proxy, method, delivery, error);
}

/// Fans out a frame that is not aligned as its arguments have to be.
__attribute__((noinline)) static fwd_status fan_out_copy(fwd_proxy *proxy,
                                                         const fwd_method_entry *entry,
                                                         fwd_delivery delivery,
                                                         fwd_error *error) {
  // No type of an encoding is aligned more strictly than malloc's memory.
  void *copy = malloc(entry->frame_size);
  if (!copy) {
    return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for an argument frame of %zu bytes",
                    entry->frame_size);
  }
  delivery.frame = memcpy(copy, delivery.frame, entry->frame_size);
  fwd_status status = fan_out(proxy, &entry->method, &delivery, error);
  free(copy);
  return status;
}

fwd_status fwd_forward_method(fwd_proxy *proxy, const fwd_proxy_method *method, fwd_batch *batch,
                              const void *frame, size_t frame_size, void *result,
                              size_t result_size, fwd_error *error) {
  const fwd_method_entry *entry = fwd_method_entry_of(method);
  if (frame_size != entry->frame_size || (!frame && frame_size > 0)) {
    return fwd_fail_frame(entry, frame, frame_size, error);
  }
  fwd_status status = fwd_check_result(entry, result, result_size, error);
  if (status != FWD_OK) return status;
  fwd_delivery delivery = {.frame = frame, .result = result, .batch = batch};
  // Deliveries read the arguments in place, as values of their types.
  if (((uintptr_t)frame & (entry->frame_alignment - 1)) != 0) {
    return fan_out_copy(proxy, entry, delivery, error);
  }
  return fan_out(proxy, method, &delivery, error);
}

fwd_status fwd_forward_packed(const void *context, void *receiver, void *const *arguments,
                              void *result, fwd_error *error) {
  const fwd_proxy_method *method = context;
  fwd_delivery delivery = {
      .arguments = arguments + fwd_method_entry_of(method)->hidden_count,
      .result = result,
      .is_nested = true,
  };
  return fwd_fan_out(receiver, method, &delivery, error);
}
