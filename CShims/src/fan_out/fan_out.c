// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The fan-out: one invocation delivered to every subscriber that implements its method, by the method's result
/// policy.
///
///     fwd_forward (forward.c)     ResolvedMethod.forward (Swift)     a C function pointer (proxy_closure.c)
///               \                            |                               /
///                `------------------>   fwd_fan_out   <---------------------'
///                                            |
///        Is the method blocked?              | yes  -> `fan_out_blocked`
///        Is the method intercepted?          | yes  -> `intercept`: the interceptors call fwd_fan_out again
///        Does any subscriber implement it?   | no   -> `fan_out_to_nobody`
///                                            v
///        Is there nothing to decide after each delivery?  (a void method that goes to all responders)
///                   | yes                                        | no
///                   v                                            v
///              `fan_out_by_loop`                         `fan_out_deciding`
///        loads the registers once, then one of        one record after another: `deliver_to`
///        replay.c's loops goes through the records.   calls the implementation, then
///        Records that are not plain C functions       `apply_policy` keeps or drops the result
///        held in a plain way: `deliver_slowly`,       and says whether to go on
///        which is `deliver_to` for that record
///                   \                                            /
///                    `--------------->  `finish`  <-------------'
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
#include "fan_out/implementation.h"
#include "fan_out/nesting.h"
#include "fan_out/proxy.h"
#include "members/responders.h"
#include "members/taps.h"
#include "members/swift_closure.h"
#include "members/swift_runtime.h"

/// One fan-out under way. Each level of a recursion has one on the stack, so it is kept small;
/// Tests/Robustness/nesting.c measures what a level takes.
typedef struct emission {
  fwd_nesting_frame frame;
  fwd_proxy *proxy;
  const fwd_compiled_method *method;
  const fwd_delivery *delivery;
  size_t responses;
  /// Deliveries of a loop that `fwd_fail_delivery` has withdrawn: the loop counts them as made.
  size_t withdrawn;
  /// Records that can be removed: the subscription has ended, or ends with this delivery, or its object has died.
  size_t gone;
  /// What the delivery at hand writes its result to, and the result that is kept so far.
  void *result;
  void *kept;
  /// The first failure of a delivery, on the heap; NULL if there was none.
  const fwd_error *failure;
  /// A pointer to each argument of the signature. NULL until a loop needs them.
  void **arguments;
  /// The record of the delivery at hand, which has the hidden first argument. A loop has its own. NULL before the first
  /// delivery.
  const fwd_record *record;
} emission;

/// Bytes that are aligned as malloc's memory is, which is what any type of an encoding needs.
typedef struct aligned_bytes {
  _Alignas(max_align_t) unsigned char bytes[_Alignof(max_align_t)];
} aligned_bytes;

/// A fan-out by a loop.
typedef struct looped_emission {
  /// First, so that a pointer to it is one to the whole.
  fwd_replay replay;
  emission emission;
} looped_emission;

// MARK: Results

static void release_object(const void *result) {
  void *object;
  memcpy(&object, result, sizeof object);
  fwd_object_release(object);
}

/// Releases a result that nobody gets.
static void discard(const fwd_compiled_method *method, const void *result) {
  if (method->returns_object) release_object(result);
}

/// Copies a result that the proxy keeps: the caller gets a reference of its own to an object in it.
static void copy_stored_result(const fwd_compiled_method *method, const void *stored, void *result) {
  memcpy(result, stored, method->result.size);
  if (!method->returns_object) return;
  void *object;
  memcpy(&object, stored, sizeof object);
  fwd_object_retain(object);
}

/// Keeps the result of the delivery at hand. The next delivery writes over the one that was kept.
static void keep(emission *state) {
  void *result = state->result;
  state->result = state->kept;
  state->kept = result;
}

static bool is_zero(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

/// Combines the response in `state->result`, which has been counted, with those before. Returns whether to go on.
static bool fold(const fwd_compiled_method *method, emission *state) {
  const fwd_fold *fold = &method->method.fold;
  if (fold->predicate) {
    keep(state);
    return !fwd_swift_predicate_call(fold->predicate, fold->closure_context, state->kept);
  }
  if (fold->combine) {
    // Zeroes for the bytes between the members of a struct.
    aligned_bytes sum = {{0}};
    _Static_assert(sizeof sum >= FWD_FOLDED_SIZE, "a result that is folded has room");
    fwd_swift_combine_call(fold->combine, fold->closure_context, state->responses == 1 ? fold->initial : state->kept,
                           state->result, &sum);
    memcpy(state->kept, &sum, method->value_size);
    return true;
  }
  return fold->step(fold->context, state->kept, state->result, state->responses - 1);
}

/// Counts the response in `state->result` and treats it by the method's policy. Returns whether to go on.
static inline __attribute__((always_inline)) bool apply_policy_inline(const fwd_compiled_method *method,
                                                                      emission *state) {
  size_t size = method->result.size;
  bool first = state->responses++ == 0;
  if (method->method.fold.step) return fold(method, state);
  switch (method->method.policy) {
    case FWD_RESULT_FIRST:
      keep(state);
      return false;
    case FWD_RESULT_ALL_FIRST:
      if (first) {
        keep(state);
      } else {
        discard(method, state->result);
      }
      return true;
    case FWD_RESULT_ALL_LAST:
      if (!first) discard(method, state->kept);
      keep(state);
      return true;
    case FWD_RESULT_UNTIL_NONZERO:
      if (!first) discard(method, state->kept);
      keep(state);
      return is_zero(state->kept, method->value_size);
    case FWD_RESULT_ANY:
      keep(state);
      return is_zero(state->kept, method->value_size);
    case FWD_RESULT_ALL:
      keep(state);
      return !is_zero(state->kept, method->value_size);
    case FWD_RESULT_UNTIL_HANDLED:
      return !state->frame.handled;
    case FWD_RESULT_DEFAULT:
      break;
  }
  if (size == 0) return true;
  keep(state);
  return false;
}

/// The same as a call, which takes less of the stack.
__attribute__((noinline)) static bool apply_policy(const fwd_compiled_method *method, emission *state) {
  return apply_policy_inline(method, state);
}

// MARK: The emission of this thread

/// The emission that delivers on this thread, or NULL.
static emission *current_emission(void) {
  fwd_nesting_frame *innermost = fwd_nesting_of_thread.innermost;
  if (!innermost || innermost->kind == FWD_NESTING_OTHER || innermost->kind == FWD_NESTING_MAILED) return NULL;
  return (emission *)((char *)innermost - offsetof(emission, frame));
}

// MARK: The proxy's owner

/// Returns the proxy's owner, which lives until the end of the fan-out; NULL if it has died.
__attribute__((cold, noinline)) static void *pin(fwd_proxy *proxy, const fwd_delivery *delivery) {
  if (!delivery->is_unpinned) return proxy->owner;
  fwd_unpinned_delivery *unpinned = (fwd_unpinned_delivery *)(uintptr_t)delivery;
  if (!unpinned->owner) unpinned->owner = fwd_weak_take(proxy->weak_owner);
  return unpinned->owner;
}

/// Fans out for a caller without a reference to the proxy's owner, where the fan-out needs one for sure.
__attribute__((cold, noinline)) static fwd_status fan_out_pinned(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                 const fwd_delivery *delivery, fwd_error *error) {
  if (!pin(proxy, delivery)) return fwd_proxy_core_fail_closing(error);
  fwd_delivery pinned = *delivery;
  pinned.is_unpinned = false;
  return fwd_fan_out(proxy, &method->method, &pinned, error);
}

// MARK: Failures

/// Stands for a failure that there is no memory to keep.
static const fwd_error lost_failure = {
    .status = FWD_DELIVERY_FAILED, .message = "a delivery has failed, and there is no memory to keep its error"};

/// Keeps the first failure of a delivery, and reports each to the proxy's error handler. The failure is the thread's
/// last error: room for an error in each emission would double what a level takes of the stack.
__attribute__((cold, noinline)) static void note_failure(emission *state, fwd_status status) {
  fwd_error error;
  fwd_delivery_error(status, state->method->method.selector, &error);
  if (!state->failure) {
    fwd_error *failure = malloc(sizeof *failure);
    if (failure) *failure = error;
    state->failure = failure ? failure : &lost_failure;
  }
  fwd_proxy_report(state->proxy, state->method->method.selector, &error);
}

void fwd_fail_delivery(const fwd_error *error) {
  emission *state = current_emission();
  if (!state) return;
  state->withdrawn++;
  fwd_error_set(NULL, error->status, error->offset, error->message);
  note_failure(state, error->status);
}

/// Returns the first failure of a delivery.
__attribute__((cold, noinline)) static fwd_status fail_as_delivery(const emission *state, fwd_error *error) {
  return fwd_fail(error, state->failure->status, state->failure->offset, "%s", state->failure->message);
}

/// Whether the method is blocked, for messages.
static bool is_blocked(const emission *state) {
  return fwd_list_is_blocked(fwd_proxy_list(state->proxy), state->method->index);
}

#define NO_RESPONDER_TEXT "no live subscriber implements \"%.150s\"%s"
#define BLOCKED_TEXT "the proxy blocks \"%.150s\"%s"

__attribute__((cold, noinline)) static void report_no_responder(const emission *state) {
  fwd_error report;
  fwd_selector selector = state->method->method.selector;
  fwd_fail(&report, FWD_NO_RESPONDER, 0, is_blocked(state) ? BLOCKED_TEXT : NO_RESPONDER_TEXT,
           fwd_selector_name(selector), "");
  fwd_proxy_report(state->proxy, selector, &report);
}

/// Gives the result of a fan-out without a response.
static fwd_status finish_without_response(const emission *state, fwd_error *error) {
  const fwd_proxy_method *method = &state->method->method;
  const fwd_delivery *delivery = state->delivery;
  size_t size = state->method->result.size;
  if (method->default_result) {
    if (delivery->result) copy_stored_result(state->method, method->default_result, delivery->result);
    return FWD_OK;
  }
  // A subscriber was called and failed: the caller wants to know why.
  if (state->failure) return fail_as_delivery(state, error);
  // The interceptors of a void method respond to it.
  if (delivery->is_intercepted && size == 0) return FWD_OK;
  fwd_no_responder rule = method->no_responder;
  bool fails = rule == FWD_NO_RESPONDER_FAIL || (rule == FWD_NO_RESPONDER_STANDARD && size > 0);
  // An empty "any" is false and an empty "all" is true.
  bool is_quantifier = method->policy == FWD_RESULT_ANY || method->policy == FWD_RESULT_ALL;
  if (fails && !(is_quantifier && rule == FWD_NO_RESPONDER_STANDARD)) {
    return fwd_fail(error, FWD_NO_RESPONDER, 0, is_blocked(state) ? BLOCKED_TEXT : NO_RESPONDER_TEXT,
                    fwd_selector_name(method->selector), size > 0 ? ", and it has no default result" : "");
  }
  if (rule == FWD_NO_RESPONDER_REPORT) report_no_responder(state);
  if (delivery->result) memset(delivery->result, method->policy == FWD_RESULT_ALL, size);
  return FWD_OK;
}

// MARK: The delivery at hand

fwd_proxy *fwd_current_proxy(void) {
  const emission *state = current_emission();
  // The caller may retain the proxy.
  return state && !state->proxy->is_hidden && pin(state->proxy, state->delivery) ? state->proxy : NULL;
}

/// The delivery that a mailbox makes on this thread, or NULL.
static const fwd_mailed_frame *current_mail(void) {
  const fwd_nesting_frame *innermost = fwd_nesting_of_thread.innermost;
  return innermost && innermost->kind == FWD_NESTING_MAILED ? (const fwd_mailed_frame *)innermost : NULL;
}

void *fwd_current_mail_context(void) {
  const fwd_mailed_frame *mail = current_mail();
  return mail ? mail->context : NULL;
}

fwd_subscription fwd_current_subscription(void) {
  emission *state = current_emission();
  if (!state) {
    const fwd_mailed_frame *mail = current_mail();
    return mail ? mail->subscription : 0;
  }
  const fwd_record *record = state->record;
  if (state->frame.kind == FWD_NESTING_LOOPS) {
    record = ((looped_emission *)((char *)state - offsetof(looped_emission, emission)))->replay.record;
  }
  if (!record) return 0;
  // Loops do not know it of C functions, so it is not given for them elsewhere either.
  return fwd_record_implementation(record, state->method->index)->function ? 0 : record->identifier;
}

// MARK: Deliveries

/// The hidden first argument of interceptors.
static void *const no_receiver = NULL;

/// Finds the arguments where the method or the caller has them. Each delivery sets the receiver, which is NULL until then.
static void find_arguments(emission *state) {
  const fwd_compiled_method *method = state->method;
  const fwd_delivery *delivery = state->delivery;
  uint32_t hidden_count = method->hidden_count, count = method->argument_count;
  if (hidden_count > 0) state->arguments[0] = (void *)(uintptr_t)&no_receiver;
  // Only read, though a pointer array cannot say so.
  if (hidden_count > 1) state->arguments[1] = (void *)(uintptr_t)&method->method.selector;
  if (delivery->arguments) {
    for (uint32_t i = hidden_count; i < count; i++) {
      state->arguments[i] = delivery->arguments[i - hidden_count];
    }
    return;
  }
  uintptr_t frame = (uintptr_t)delivery->frame;
  for (uint32_t i = hidden_count; i < count; i++) {
    state->arguments[i] = (void *)(frame + method->offsets[i - hidden_count]);
  }
}

/// Zeroes the room for a result. There is room for whole units of it, so small results need no loop.
static inline void clear_result(emission *state) {
  size_t size = state->method->result.size;
  if (size == 0) return;
  if (size <= sizeof(aligned_bytes)) {
    memset(state->result, 0, sizeof(aligned_bytes));
  } else {
    memset(state->result, 0, size);
  }
}

/// Calls one implementation. If the status is not FWD_OK, the thread's last error says why.
static fwd_status call(emission *state, const fwd_implementation *implementation) {
  const fwd_compiled_method *method = state->method;
  return fwd_implementation_call(implementation, method->plan, method->cif, state->record->receiver, state->arguments,
                                 state->result);
}

/// Treats a delivery that has failed. Returns FWD_OK if the method's result for failed deliveries stands in
/// `state->result` now, as if the subscriber had returned it.
__attribute__((cold, noinline)) static fwd_status settle_failure(emission *state, fwd_status status) {
  // The subscriber is a proxy none of whose own subscribers responds.
  if (status == FWD_NO_RESPONDER) return status;
  note_failure(state, status);
  const void *stored = state->method->method.failure_result;
  if (!stored) return status;
  copy_stored_result(state->method, stored, state->result);
  return FWD_OK;
}

/// Nothing is to be delivered to a record: no subscriber is *owned*.
static const fwd_taken nobody = {NULL, true};

/// Keeps the subscriber of a record alive that has a gate, or is held otherwise than most; or returns `nobody`. `held` is
/// the record's word, which had not ended: read again, it could have lost the gate that counts this delivery.
__attribute__((noinline)) static fwd_taken take_unusual(emission *state, const fwd_record *record, uintptr_t held,
                                                        size_t index) {
  const fwd_batch *batch = state->delivery->batch;
  if (fwd_held_is_blocked(held)) return nobody;
  fwd_taken taken;
  if (batch) {
    // The batch holds it.
    taken = (fwd_taken){batch->objects[index], false};
  } else if (!fwd_record_take(record, &taken)) {
    state->gone++;
    return nobody;
  }
  if (fwd_held_count_delivery(held, &state->gone)) return taken;
  fwd_record_drop(taken);
  return nobody;
}

/// Delivers to the subscriber of the record at `index` if it is there and implements the method. Returns whether to go on.
static bool deliver_to(emission *state, const fwd_record *record, size_t index) {
  const fwd_compiled_method *method = state->method;
  uintptr_t held = fwd_record_held(record);
  // First, since the table of a subscription that has ended may be gone.
  if (fwd_held_has_ended(held)) {
    state->gone += !state->delivery->batch;
    return true;
  }
  const fwd_implementation *implementation = fwd_record_implementation(record, method->index);
  if (fwd_implementation_is_empty(implementation)) return true;
  fwd_taken taken;
  if (__builtin_expect(!(held & FWD_HELD_BITS) && !state->delivery->batch, 1)) {
    taken = (fwd_taken){swift_tryRetain((void *)held), true};
    if (!taken.object) {
      state->gone++;
      return true;
    }
  } else {
    taken = take_unusual(state, record, held, index);
    if (taken.is_owned && !taken.object) return true;
  }
  bool goes_on = true;
  state->record = record;
  if (method->hidden_count > 0) state->arguments[0] = (void *)(uintptr_t)&record->receiver;
  clear_result(state);
  fwd_status status = call(state, implementation);
  // What runs from here on is not the subscriber.
  state->record = NULL;
  if (__builtin_expect(status != FWD_OK, 0)) status = settle_failure(state, status);
  if (__builtin_expect(status != FWD_OK, 0)) {
    // The next subscriber may respond.
  } else if (__builtin_expect(state->delivery->collector != NULL, 0)) {
    state->responses++;
    goes_on = state->delivery->collector(state->delivery->collector_context, record->identifier, taken.object,
                                         state->result);
  } else {
    goes_on = apply_policy(method, state);
  }
  if (taken.is_owned) swift_release(taken.object);
  return goes_on;
}

/// How `deliver_to_all` delivers to a record.
typedef enum way {
  /// Not at all: the record is plain and lacks the method.
  WAY_NONE,
  /// By `deliver_by_closure`, if the record is held weakly or steadily and its closure takes the arguments.
  WAY_CLOSURE,
  /// By `deliver_to`.
  WAY_ANY,
} way;

static inline way way_to(const emission *state, const fwd_record *record) {
  uintptr_t held = fwd_record_held(record);
  // Before the table is read, since the table of a subscription that has ended may be gone.
  if (held & FWD_HELD_IRREGULAR) return WAY_ANY;
  const fwd_implementation *implementation = fwd_record_implementation(record, state->method->index);
  if (fwd_implementation_is_empty(implementation)) return WAY_NONE;
  const fwd_delivery *delivery = state->delivery;
  return implementation->closure && !delivery->batch && !delivery->collector ? WAY_CLOSURE : WAY_ANY;
}

/// Delivers to the record at `*index` and on, as long as the records are plain ones, held weakly or steadily, that have the
/// same closure for the method. The arguments are the same for all, so whether the closure takes them is asked once. Leaves
/// `*index` behind the last, and where it is if there is none. Returns whether to go on.
__attribute__((noinline)) static bool deliver_by_closure(emission *state, fwd_record *const *records, size_t count,
                                                         size_t *index) {
  const fwd_compiled_method *method = state->method;
  void *const *arguments = state->arguments + method->hidden_count;
  const fwd_swift_closure *closure = NULL;
  bool prefetches = count >= FWD_PREFETCHED_COUNT, goes_on = true;
  size_t i = *index;
  for (; i < count && goes_on; i++) {
    if (prefetches) fwd_prefetch(records, i, count);
    const fwd_record *record = records[i];
    uintptr_t held = fwd_record_held(record);
    bool is_weak = !(held & FWD_HELD_BITS);
    if (!is_weak && !fwd_held_is_steady(held)) break;
    const fwd_swift_closure *own = fwd_record_implementation(record, method->index)->closure;
    if (__builtin_expect(own != closure, 0)) {
      if (closure || !fwd_swift_closure_takes(own, arguments)) break;
      closure = own;
    }
    void *object = NULL;
    if (is_weak && !(object = swift_tryRetain((void *)held))) {
      state->gone++;
      continue;
    }
    clear_result(state);
    state->record = record;
    fwd_swift_closure_call(closure, record->receiver, arguments, state->result);
    state->record = NULL;
    goes_on = apply_policy_inline(method, state);
    if (is_weak) swift_release(object);
  }
  *index = i;
  return goes_on;
}

/// Delivers to some records, one after another, until the policy says to stop. Adds to `*visited` how many it has
/// visited. Gives whether to go on.
static inline __attribute__((always_inline)) bool deliver_to_all(emission *state, fwd_record *const *records,
                                                                 size_t count, size_t *visited) {
  bool prefetches = count >= FWD_PREFETCHED_COUNT, goes_on = true;
  size_t i = 0;
  while (i < count && goes_on) {
    size_t next = i;
    way chosen = way_to(state, records[i]);
    if (chosen == WAY_CLOSURE) goes_on = deliver_by_closure(state, records, count, &next);
    if (chosen == WAY_NONE) {
      if (prefetches) fwd_prefetch(records, i, count);
      next++;
    } else if (next == i) {
      if (prefetches) fwd_prefetch(records, i, count);
      goes_on = deliver_to(state, records[i], i);
      next++;
    }
    i = next;
  }
  *visited += i;
  return goes_on;
}

/// Delivers to the records of a list of several segments, inside of a reading. Gives how many it has visited.
__attribute__((noinline)) static size_t deliver_to_spans(emission *state) {
  size_t visited = 0;
  fwd_span span;
  bool goes_on = fwd_span_first(fwd_proxy_list(state->proxy), &span);
  while (goes_on) {
    goes_on = deliver_to_all(state, span.records, span.count, &visited) && fwd_span_next(&span);
  }
  return visited;
}

/// Finds the arguments for a loop, where the words of its registers were.
static void find_arguments_of_loop(looped_emission *looped) {
  emission *state = &looped->emission;
  if (state->arguments) return;
  state->arguments = &looped->replay.words->address;
  find_arguments(state);
}

static void deliver_slowly(fwd_replay *replay, size_t index) {
  looped_emission *looped = (looped_emission *)replay;
  emission *state = &looped->emission;
  // A result of no bytes has an address all the same.
  unsigned char nothing;
  state->result = state->kept = &nothing;
  find_arguments_of_loop(looped);
  replay->record = replay->records[index];
  deliver_to(state, replay->records[index], index);
  replay->record = NULL;
}

static void *const *arguments_of_closure(fwd_replay *replay) {
  looped_emission *looped = (looped_emission *)replay;
  find_arguments_of_loop(looped);
  return looped->emission.arguments + looped->emission.method->hidden_count;
}

static const fwd_replay_operations operations_of_loops = {
    .deliver_slowly = deliver_slowly, .find_arguments = arguments_of_closure};

// MARK: Finishing

/// The number of visited records if they may be anywhere in the list.
static const size_t visited_anywhere = PTRDIFF_MAX;

/// How many of the first records may be those that a reading has visited, before the reader leaves. Where records were
/// inserted or moved meanwhile, they may be anywhere.
static inline size_t visited_now(fwd_guard guard, size_t visited) {
  return __builtin_expect(fwd_guard_is_current(guard), 1) ? visited : visited_anywhere;
}

/// Notes that a fan-out has asked `asked` records for the method, most of them in vain.
__attribute__((cold, noinline)) static void note_vain(const emission *state, size_t asked) {
  fwd_proxy *proxy = state->proxy;
  if (!fwd_list_note_vain(fwd_proxy_list(proxy), asked, state->responses)) return;
  void *owner = pin(proxy, state->delivery);
  if (owner) proxy->operations->find_responders(owner, state->method->index);
}

/// Ends the fan-out, which has visited so many records.
static inline void leave(emission *state, size_t visited) {
  fwd_nesting_leave(&state->frame, state->delivery->is_nested);
  // Asks for the records to be removed whose subscriptions have ended. A dying owner removes all itself.
  if (__builtin_expect(state->gone > 0, 0)) {
    void *owner = pin(state->proxy, state->delivery);
    if (owner) state->proxy->operations->met_the_dead(owner, visited);
  }
}

/// Forwards an invocation without a response to the proxy's forward target. FWD_NO_RESPONDER if there is none.
__attribute__((cold, noinline)) static fwd_status forward_unhandled(const emission *state, fwd_error *error) {
  fwd_proxy *proxy = state->proxy;
  // A subscriber that was called and failed has handled the invocation.
  if (state->failure || !atomic_load_explicit(&proxy->forwards_unhandled, memory_order_acquire)) {
    return FWD_NO_RESPONDER;
  }
  void *owner = pin(state->proxy, state->delivery);
  if (!owner) return FWD_NO_RESPONDER;
  fwd_delivery delivery = *state->delivery;
  delivery.batch = NULL;
  delivery.is_unpinned = false;
  return proxy->operations->forward_unhandled(owner, state->method->method.selector, &delivery, error);
}

/// Ends a fan-out without a response.
__attribute__((noinline)) static fwd_status finish_unhandled(const emission *state, fwd_error *error) {
  fwd_status status = forward_unhandled(state, error);
  // The forward target has responded, or a collector has seen that there was nothing.
  if (status == FWD_NO_RESPONDER) {
    status = state->delivery->collector ? FWD_OK : finish_without_response(state, error);
  }
  return status;
}

__attribute__((cold, noinline)) static void free_failure(const emission *state) {
  if (state->failure != &lost_failure) free((void *)(uintptr_t)state->failure);
}

/// Gives the caller the result.
static fwd_status finish(emission *state, fwd_error *error) {
  fwd_status status = FWD_OK;
  size_t size = state->method->result.size;
  if (state->responses == 0) {
    status = finish_unhandled(state, error);
  } else if (size > 0 && !state->delivery->collector) {
    if (state->delivery->result) {
      memcpy(state->delivery->result, state->kept, size);
    } else {
      discard(state->method, state->kept);
    }
  }
  if (__builtin_expect(state->failure != NULL, 0)) free_failure(state);
  return status;
}

// MARK: Fanning out

static inline void begin(emission *state, fwd_proxy *proxy, const fwd_compiled_method *method,
                         const fwd_delivery *delivery) {
  state->proxy = proxy;
  state->method = method;
  state->delivery = delivery;
  state->responses = 0;
  state->withdrawn = 0;
  state->gone = 0;
  state->failure = NULL;
  state->record = NULL;
}

/// Results of at most this size need no allocation.
enum { inline_result_size = 64 };

/// Delivers to the subscribers of the moment or of a batch, with something to decide after each delivery.
__attribute__((noinline)) static fwd_status fan_out_deciding(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                             const fwd_delivery *delivery, fwd_error *error) {
  emission state;
  begin(&state, proxy, method, delivery);
  // The words of the stack are collected before they are put there.
  size_t needed = method->plan ? 2 * (size_t)method->plan->stack_size : 0;
  if (__builtin_expect(!fwd_nesting_has_room(&state, needed), 0)) {
    return fwd_nesting_fail(method->method.selector, error);
  }
  // As much of the stack as this method needs.
  void *arguments[method->argument_count];
  state.arguments = arguments;
  size_t size = method->result.size;
  size_t units = size / sizeof(aligned_bytes) + 1;
  bool is_inline = size <= inline_result_size;
  aligned_bytes room[is_inline ? 2 * units : 1], *results = room;
  if (!is_inline) {
    results = malloc(2 * units * sizeof *results);
    if (!results) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a result of %zu bytes", size);
  }
  state.result = results;
  state.kept = results + units;
  memset(state.kept, 0, size);
  find_arguments(&state);
  fwd_nesting_enter(&state.frame, FWD_NESTING_DECIDES);
  const fwd_batch *batch = delivery->batch;
  size_t visited = 0, asked = 0;
  if (batch) {
    deliver_to_all(&state, batch->records, batch->count, &visited);
    visited = visited_now(batch->guard, batch->walked);
  } else {
    fwd_reading reading = fwd_list_enter(fwd_proxy_list(proxy));
    const fwd_responders *responders = fwd_list_responders(fwd_proxy_list(proxy), method->index);
    if (responders) {
      deliver_to_all(&state, responders->records, responders->count, &visited);
      visited = visited_anywhere;
    } else {
      if (reading.is_long) {
        visited = deliver_to_spans(&state);
      } else {
        deliver_to_all(&state, reading.records, reading.count, &visited);
      }
      asked = visited;
      visited = visited_now(reading.guard, visited);
    }
    state.frame.kind = FWD_NESTING_OTHER;
    fwd_list_leave(&reading);
  }
  leave(&state, visited);
  if (fwd_asked_in_vain(asked, state.responses)) note_vain(&state, asked);
  fwd_status status = finish(&state, error);
  if (!is_inline) free(results);
  return status;
}

/// Fills the words of the registers that a loop loads.
static inline __attribute__((always_inline)) void load_words(const emission *state, fwd_replay_word *words) {
  // Loaded by methods that take the selector; otherwise an argument takes its word.
  words[1].bits = (uint64_t)(uintptr_t)state->method->method.selector;
  fwd_replay_load(words, &state->method->loads, state->delivery->frame, state->delivery->arguments);
}

/// Delivers to the first records of the replay that have closures, with the caller's pointers to the arguments. Loads the
/// words of the registers if there are others. Returns whether there are none.
__attribute__((noinline)) static bool replay_closures(looped_emission *looped) {
  emission *state = &looped->emission;
  fwd_replay *replay = &looped->replay;
  state->responses += fwd_replay_closures(replay);
  if (__builtin_expect(replay->count == 0, 1)) return true;
  load_words(state, replay->words);
  state->arguments = NULL;
  return false;
}

/// Delivers to the records of the replay, inside of a reading. C callbacks have pointers to the arguments, which closures
/// take as they are, so a callback's registers are loaded only if a C function is subscribed.
static inline __attribute__((always_inline)) void replay_some(looped_emission *looped, bool has_weak,
                                                              bool has_pointers) {
  if (has_pointers && replay_closures(looped)) return;
  const fwd_compiled_method *method = looped->emission.method;
  looped->emission.responses += (has_weak ? method->replayers.weak : method->replayers.held)(&looped->replay);
}

/// Delivers to the records of a list of several segments by loops, inside of a reading. Gives how many it has visited.
__attribute__((noinline)) static size_t replay_spans(looped_emission *looped) {
  emission *state = &looped->emission;
  fwd_replay *replay = &looped->replay;
  size_t visited = 0;
  fwd_span span;
  for (bool found = fwd_span_first(fwd_proxy_list(state->proxy), &span); found; found = fwd_span_next(&span)) {
    // A delivery in the span before has put its arguments where the words of the registers were.
    if (state->arguments && !state->delivery->arguments) load_words(state, replay->words);
    state->arguments = NULL;
    replay->arguments = state->delivery->arguments;
    replay->records = span.records;
    replay->count = span.count;
    visited += span.count;
    replay_some(looped, span.has_weak, state->delivery->arguments);
  }
  return visited;
}

/// Delivers to the subscribers of the moment or of a batch by a loop. `words` has room for the registers, and for as many
/// pointers as there are arguments. `has_pointers` says that the delivery has pointers to its arguments, and no batch. It is
/// a constant, since to ask would cost a frame's emission some percent.
static inline __attribute__((always_inline)) fwd_status fan_out_by_loop(fwd_proxy *proxy,
                                                                        const fwd_compiled_method *method,
                                                                        const fwd_delivery *delivery,
                                                                        fwd_error *error, fwd_replay_word *words,
                                                                        bool has_pointers) {
  looped_emission looped;
  emission *state = &looped.emission;
  fwd_replay *replay = &looped.replay;
  begin(state, proxy, method, delivery);
  if (__builtin_expect(!fwd_nesting_has_room(&looped, 0), 0)) return fwd_nesting_fail(method->method.selector, error);
  state->arguments = NULL;
  replay->words = words;
  replay->gone = 0;
  replay->arguments = has_pointers ? delivery->arguments : NULL;
  replay->operations = &operations_of_loops;
  replay->implementation =
      offsetof(fwd_dispatch_table, implementations) + method->index * sizeof(fwd_implementation);
  if (!has_pointers) load_words(state, words);
  replay->record = NULL;
  fwd_nesting_enter(&state->frame, FWD_NESTING_LOOPS);
  const fwd_batch *batch = has_pointers ? NULL : delivery->batch;
  size_t visited = 0, asked = 0;
  if (batch) {
    replay->records = batch->records;
    replay->count = batch->count;
    state->responses += method->replayers.held(replay);
    visited = visited_now(batch->guard, batch->walked);
  } else {
    const fwd_reading reading = fwd_list_enter(fwd_proxy_list(proxy));
    const fwd_responders *responders = fwd_list_responders(fwd_proxy_list(proxy), method->index);
    asked = visited = reading.count;
    if (__builtin_expect(reading.is_long && !responders, 0)) {
      asked = visited = replay_spans(&looped);
    } else {
      replay->records = reading.records;
      replay->count = reading.count;
      bool has_weak = reading.has_weak;
      if (__builtin_expect(responders != NULL, 0)) {
        replay->records = responders->records;
        replay->count = responders->count;
        has_weak = responders->has_weak;
        asked = 0;
        visited = visited_anywhere;
      }
      replay_some(&looped, has_weak, has_pointers);
    }
    visited = visited_now(reading.guard, visited);
    // The record of the last delivery may be freed now.
    state->frame.kind = FWD_NESTING_OTHER;
    fwd_list_leave(&reading);
  }
  state->gone += replay->gone;
  leave(state, visited);
  if (__builtin_expect(fwd_asked_in_vain(asked, state->responses), 0)) note_vain(state, asked);
  state->responses -= state->withdrawn;
  return __builtin_expect(state->responses > 0 && !state->failure, 1) ? FWD_OK : finish(state, error);
}

__attribute__((noinline)) static fwd_status fan_out_narrow(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                           const fwd_delivery *delivery, fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  return fan_out_by_loop(proxy, method, delivery, error, words, false);
}

__attribute__((noinline)) static fwd_status fan_out_wide(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                         const fwd_delivery *delivery, fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_WORDS];
  return fan_out_by_loop(proxy, method, delivery, error, words, false);
}

__attribute__((noinline)) static fwd_status fan_out_narrow_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                    const fwd_delivery *delivery, fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_NARROW];
  return fan_out_by_loop(proxy, method, delivery, error, words, true);
}

__attribute__((noinline)) static fwd_status fan_out_wide_pointers(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                  const fwd_delivery *delivery, fwd_error *error) {
  fwd_replay_word words[FWD_REPLAY_WORDS];
  return fan_out_by_loop(proxy, method, delivery, error, words, true);
}

/// For methods that no subscriber implements.
__attribute__((noinline)) static fwd_status fan_out_to_nobody(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                              const fwd_delivery *delivery, fwd_error *error) {
  emission state;
  begin(&state, proxy, method, delivery);
  return finish_unhandled(&state, error);
}

/// For methods that are blocked. Neither the interceptors nor the forward target are called.
__attribute__((cold, noinline)) static fwd_status fan_out_blocked(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                  const fwd_delivery *delivery, fwd_error *error) {
  emission state;
  begin(&state, proxy, method, delivery);
  return delivery->collector ? FWD_OK : finish_without_response(&state, error);
}

// MARK: The way of a fan-out

/// Chooses the way of a fan-out to subscribers. Each way is a function of its own, with a stack frame of the size that it
/// needs.
static inline __attribute__((always_inline)) fwd_status fan_out_to_some(fwd_proxy *proxy,
                                                                        const fwd_compiled_method *method,
                                                                        const fwd_delivery *delivery,
                                                                        fwd_error *error) {
  bool by_loop = method->replayers.weak && !delivery->collector &&
                 !atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
  if (__builtin_expect(!by_loop, 0)) return fan_out_deciding(proxy, method, delivery, error);
  if (delivery->arguments && !delivery->batch) {
    return method->is_narrow ? fan_out_narrow_pointers(proxy, method, delivery, error)
                             : fan_out_wide_pointers(proxy, method, delivery, error);
  }
  return method->is_narrow ? fan_out_narrow(proxy, method, delivery, error)
                           : fan_out_wide(proxy, method, delivery, error);
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
static fwd_status fan_out_behind(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                 fwd_error *error) {
  // Who has the invocation, if no subscriber has, matters only where that would be an error. The copy is dear, since the
  // caller has only just written the delivery.
  fwd_no_responder rule = method->method.no_responder;
  bool matters = method->result.size == 0 && (rule == FWD_NO_RESPONDER_FAIL || rule == FWD_NO_RESPONDER_REPORT);
  return matters ? fan_out_intercepted(proxy, method, delivery, error)
                 : fan_out_to_any(proxy, method, delivery, error);
}

// MARK: Interception

/// Has Swift run the method's interceptors, which fan the delivery out or not.
__attribute__((noinline)) static fwd_status intercept_in_swift(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                                     fwd_error *error) {
  fwd_nesting_frame frame;
  frame.outer = NULL;
  if (!fwd_nesting_has_room(&frame, 0)) return fwd_nesting_fail(method->method.selector, error);
  // A frame of its own: what the interceptors mark as handled is this invocation, not the one that it may run
  // inside of.
  fwd_nesting_enter(&frame, FWD_NESTING_OTHER);
  fwd_status status = proxy->operations->intercept(proxy->owner, &method->method, delivery, error);
  fwd_nesting_leave(&frame, delivery->is_nested);
  return status;
}

/// Calls the function of an interceptor. If the status is not FWD_OK, its error has been reported.
static fwd_status call_function(emission *state, const fwd_implementation *function, void *result) {
  void *const *arguments = state->arguments + state->method->hidden_count;
  if (function->closure && fwd_swift_closure_takes(function->closure, arguments)) {
    fwd_swift_closure_call(function->closure, NULL, arguments, result);
    return FWD_OK;
  }
  fwd_status status = function->packed(function->context, NULL, state->arguments, result, NULL);
  if (__builtin_expect(status != FWD_OK, 0)) {
    fwd_error error;
    fwd_error_last(&error);
    fwd_proxy_report(state->proxy, state->method->method.selector, &error);
    fwd_error_set(NULL, error.status, error.offset, error.message);
  }
  return status;
}

/// Calls an interceptor, whose call has been counted, and has it taken out if that was its last.
static fwd_status call_interceptor(emission *state, const fwd_tap *interceptor, void *result) {
  fwd_status status = call_function(state, &interceptor->implementation, result);
  if (__builtin_expect(!fwd_liveness_holds(interceptor->liveness), 0)) {
    state->proxy->operations->interceptor_ended(state->proxy->owner, state->method->index);
  }
  return status;
}

/// Begins to call interceptors: `arguments` has room for all. Returns false if the stack is nearly used up.
static inline bool begin_interception(emission *state, fwd_proxy *proxy, const fwd_compiled_method *method,
                                      const fwd_delivery *delivery, void **arguments) {
  begin(state, proxy, method, delivery);
  if (__builtin_expect(!fwd_nesting_has_room(state, 0), 0)) return false;
  state->arguments = arguments;
  find_arguments(state);
  // A frame of its own: what the interceptors mark as handled is this invocation, not the one that it may run inside of.
  fwd_nesting_enter(&state->frame, FWD_NESTING_OTHER);
  return true;
}

/// Calls interceptors that see the invocation pass. What they cannot take is reported and stands in nobody's way.
__attribute__((noinline)) static fwd_status call_taps(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                      const fwd_delivery *delivery, const fwd_tap *taps, size_t count,
                                                      fwd_error *error) {
  emission state;
  void *arguments[method->argument_count];
  if (!begin_interception(&state, proxy, method, delivery, arguments)) {
    return fwd_nesting_fail(method->method.selector, error);
  }
  unsigned char nothing;
  for (size_t i = 0; i < count; i++) {
    if (fwd_liveness_take(taps[i].liveness)) (void)call_interceptor(&state, &taps[i], &nothing);
  }
  fwd_nesting_leave(&state.frame, delivery->is_nested);
  return FWD_OK;
}

/// Calls the interceptor that stands for the subscribers, and gives the caller its result.
__attribute__((noinline)) static fwd_status call_stub(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                      const fwd_delivery *delivery, const fwd_tap *stub,
                                                      fwd_error *error) {
  emission state;
  void *arguments[method->argument_count];
  if (!begin_interception(&state, proxy, method, delivery, arguments)) {
    return fwd_nesting_fail(method->method.selector, error);
  }
  aligned_bytes room[FWD_STUB_RESULT_SIZE / sizeof(aligned_bytes)];
  memset(room, 0, sizeof room);
  fwd_status status = call_interceptor(&state, stub, room);
  fwd_nesting_leave(&state.frame, delivery->is_nested);
  if (__builtin_expect(status != FWD_OK, 0)) {
    const void *stored = method->method.failure_result;
    // As for a subscriber, the method's result for failed deliveries is its result then.
    if (!stored) return fwd_fail(error, FWD_DELIVERY_FAILED, 0, "%s", fwd_error_message());
    copy_stored_result(method, stored, room);
  }
  if (delivery->collector) {
    (void)delivery->collector(delivery->collector_context, 0, NULL, room);
  } else if (delivery->result) {
    memcpy(delivery->result, room, method->result.size);
  } else {
    discard(method, room);
  }
  return FWD_OK;
}

/// Calls the interceptor that stands for the subscribers, or the one that has taken its place since the delivery began;
/// if there is none any more, the subscribers.
__attribute__((noinline)) static fwd_status answer(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                   const fwd_delivery *delivery, const fwd_taps *taps,
                                                   fwd_error *error) {
  while (taps->has_stub) {
    const fwd_tap *stub = &taps->taps[taps->before_count];
    if (fwd_liveness_take(stub->liveness)) return call_stub(proxy, method, delivery, stub, error);
    const fwd_taps *later = fwd_list_taps(fwd_proxy_list(proxy), method->index);
    // Cancelled, and about to be taken out; or used up.
    if (later == taps) break;
    if (!later) {
      fwd_delivery inner = *delivery;
      inner.is_tapped = true;
      return intercept_in_swift(proxy, method, &inner, error);
    }
    taps = later;
  }
  return fan_out_behind(proxy, method, delivery, error);
}

/// Runs the method's interceptors, if they are closures.
__attribute__((noinline)) static fwd_status intercept_by_taps(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                              const fwd_delivery *delivery, fwd_error *error) {
  fwd_guard guard = fwd_hazard_enter(&fwd_proxy_list(proxy)->domain);
  const fwd_taps *taps = fwd_list_taps(fwd_proxy_list(proxy), method->index);
  if (__builtin_expect(!taps, 0)) {
    fwd_hazard_leave(guard);
    return intercept_in_swift(proxy, method, delivery, error);
  }
  fwd_status status = FWD_OK;
  if (taps->before_count > 0) status = call_taps(proxy, method, delivery, taps->taps, taps->before_count, error);
  if (status == FWD_OK && !taps->has_stub && taps->after_count == 0) {
    // Before the fan-out enters the domain, which is dearer for a thread that is there already.
    fwd_hazard_leave(guard);
    return fan_out_behind(proxy, method, delivery, error);
  }
  if (status == FWD_OK) status = answer(proxy, method, delivery, taps, error);
  if (status == FWD_OK && taps->after_count > 0) {
    const fwd_tap *afters = &taps->taps[taps->before_count + taps->has_stub];
    status = call_taps(proxy, method, delivery, afters, taps->after_count, error);
  }
  fwd_hazard_leave(guard);
  return status;
}

/// Runs the method's interceptors, which fan the delivery out or not. What Swift runs needs no more of the stack for this.
static fwd_status intercept(fwd_proxy *proxy, const fwd_compiled_method *method, const fwd_delivery *delivery,
                            fwd_error *error) {
  return fwd_list_taps(fwd_proxy_list(proxy), method->index) ? intercept_by_taps(proxy, method, delivery, error)
                                                   : intercept_in_swift(proxy, method, delivery, error);
}

// MARK: Entries

static inline __attribute__((always_inline)) fwd_status fan_out(fwd_proxy *proxy, const fwd_compiled_method *method,
                                                                const fwd_delivery *delivery, fwd_error *error) {
  uint32_t tables = fwd_list_tables(fwd_proxy_list(proxy), method->index);
  // Interception is the highest bit, so one comparison finds out about both.
  if (__builtin_expect((int32_t)tables <= 0, 0)) {
    if (__builtin_expect(delivery->is_unpinned, 0)) return fan_out_pinned(proxy, method, delivery, error);
    // A closing proxy has no responders, so the check costs other fan-outs nothing.
    if (fwd_proxy_is_closing(proxy)) return fwd_proxy_core_fail_closing(error);
    if (__builtin_expect((tables & FWD_BLOCKED) != 0, 0)) return fan_out_blocked(proxy, method, delivery, error);
    if ((tables & FWD_INTERCEPTED) && !delivery->is_intercepted) return intercept(proxy, method, delivery, error);
    if (!may_reach_some(tables, delivery)) return fan_out_to_nobody(proxy, method, delivery, error);
  }
  return fan_out_to_some(proxy, method, delivery, error);
}

fwd_status fwd_fan_out(fwd_proxy *proxy, const fwd_proxy_method *method, const fwd_delivery *delivery,
                       fwd_error *error) {
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
