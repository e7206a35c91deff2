// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The fan-out: one invocation replayed to every subscriber that implements its method.

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "proxy.h"
#include "signature.h"

/// Results up to this size need no allocation.
enum { inline_result_size = 64 };

/// One fan-out under way.
struct fan_out {
  /// The one that it runs inside of, on the same thread.
  struct fan_out *outer;
  bool handled;
  size_t answers;
  /// What the delivery at hand writes its result to, and the result that is kept so far.
  void *answer;
  void *kept;
};

static _Thread_local struct fan_out *current;

void fwd_mark_handled(void) {
  if (current) current->handled = true;
}

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

static void keep(struct fan_out *state) {
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
static bool take_answer(const fwd_method_entry *entry, struct fan_out *state) {
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
      return !state->handled;
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
static fwd_status deliver(const fwd_method_entry *entry, const fwd_implementation *implementation, void *receiver,
                          void *const *arguments, void *answer, fwd_error *error) {
  if (implementation->function) {
    fwd_status status = fwd_cif_call(fwd_signature_cif(entry->method.signature), implementation->function,
                                     arguments, answer);
    return status == FWD_OK ? status : fwd_fail(error, status, 0, "%s", fwd_error_message());
  }
  return implementation->packed(implementation->context, receiver, arguments, answer, error);
}

/// Replays the invocation to the records of a snapshot. Gives whether some had died.
static bool replay(fwd_proxy *proxy, const fwd_method_entry *entry, const fwd_delivery *delivery,
                   fwd_snapshot snapshot, struct fan_out *state, fwd_error *failure) {
  void *receiver;
  fwd_selector selector = entry->method.selector;
  void *arguments[FWD_ARGUMENT_LIMIT];
  if (entry->hidden_count > 0) arguments[0] = &receiver;
  if (entry->hidden_count > 1) arguments[1] = &selector;
  for (size_t i = entry->hidden_count; i < entry->argument_count; i++) {
    if (delivery->arguments) {
      arguments[i] = delivery->arguments[i - entry->hidden_count];
    } else {
      fwd_layout layout;
      fwd_signature_argument(entry->method.signature, i, &layout);
      // Read only, though C has no way to say so in a pointer array.
      arguments[i] = (void *)((uintptr_t)delivery->frame + layout.offset);
    }
  }
  bool met_the_dead = false;
  bool go_on = true;
  for (size_t i = 0; i < snapshot.count && go_on; i++) {
    fwd_record *record = snapshot.records[i];
    const fwd_implementation *implementation = fwd_record_implementation(record, entry->index);
    if (!implementation || fwd_record_has_ended(record)) continue;
    void *object = fwd_record_take(record);
    if (fwd_record_is_weak(record) && !object) {
      met_the_dead = true;
      continue;
    }
    receiver = fwd_record_receiver(record);
    if (entry->result.size > 0) memset(state->answer, 0, entry->result.size);
    fwd_error error = {.status = FWD_OK};
    fwd_status status = deliver(entry, implementation, receiver, arguments, state->answer, &error);
    if (status == FWD_OK && delivery->collector) {
      state->answers++;
      void *author = fwd_record_has_object(record) ? object : NULL;
      go_on = delivery->collector(delivery->collector_context, fwd_record_identifier(record), author, state->answer);
    } else if (status == FWD_OK) {
      go_on = take_answer(entry, state);
    } else if (status != FWD_NO_RESPONDER) {
      if (failure->status == FWD_OK) *failure = error;
      proxy->operations->report(proxy->owner, selector, &error);
    }
    fwd_record_drop(record, object);
  }
  return met_the_dead;
}

fwd_status fwd_fan_out(fwd_proxy *proxy, const fwd_proxy_method *method, const fwd_delivery *delivery,
                       fwd_error *error) {
  const fwd_method_entry *entry = fwd_method_entry_of(method);
  size_t size = entry->result.size;
  // Aligned as malloc's memory is, which is what any type of an encoding needs.
  _Alignas(max_align_t) unsigned char buffer[2][inline_result_size];
  unsigned char *memory = NULL;
  struct fan_out state = {.outer = current, .answer = buffer[0], .kept = buffer[1]};
  if (size > inline_result_size) {
    size_t stride = (size + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    memory = malloc(2 * stride);
    if (!memory) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a result of %zu bytes", size);
    state.answer = memory;
    state.kept = memory + stride;
  }
  memset(state.kept, 0, size);

  fwd_error failure = {.status = FWD_OK};
  fwd_snapshot snapshot = fwd_list_enter(proxy->list);
  current = &state;
  bool met_the_dead = replay(proxy, entry, delivery, snapshot, &state, &failure);
  current = state.outer;
  if (delivery->is_nested && state.handled && state.outer) state.outer->handled = true;
  fwd_list_leave(snapshot);
  if (met_the_dead) proxy->operations->met_the_dead(proxy->owner);

  fwd_status status = FWD_OK;
  if (delivery->collector) {
    // The collector has seen all there was; that may be nothing.
  } else if (state.answers == 0) {
    status = nobody_answered(proxy, entry, &failure, delivery, error);
  } else if (size > 0) {
    if (delivery->result) {
      memcpy(delivery->result, state.kept, size);
    } else {
      discard(entry, state.kept);
    }
  }
  free(memory);
  return status;
}

fwd_status fwd_forward_packed(const void *context, void *receiver, void *const *arguments, void *result,
                              fwd_error *error) {
  const fwd_proxy_method *method = context;
  fwd_delivery delivery = {
      .arguments = arguments + fwd_method_entry_of(method)->hidden_count,
      .result = result,
      .is_nested = true,
  };
  return fwd_fan_out(receiver, method, &delivery, error);
}
