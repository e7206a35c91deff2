// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/delivery.h"

#include "fan_out/implementation.h"
#include "fan_out/outcome.h"
#include "fan_out/policy.h"

__attribute__((noinline)) void fwd_find_arguments_late(const fwd_emission *state) {
  fwd_find_arguments(state->method, state->delivery, state->arguments);
}

#if FWD_HAS_FILLED_CALLS
/// A filler (abi/plan.h) whose source is a `fwd_deciding_emission`.
static fwd_function fill_from_emission(const fwd_call_plan *plan, fwd_function function, const void *source, void *result,
                                       fwd_call_file *file) {
  (void)result;
  const fwd_deciding_emission *deciding = source;
  const fwd_compiled_method *method = deciding->emission.method;
  const fwd_register_loads *loads = &method->loads;
  void *const *arguments = deciding->emission.delivery->arguments;
  if (!arguments) {
    fwd_replay_load_frame(file->registers, loads, deciding->emission.delivery->frame);
  } else if (loads->kind == FWD_LOADS_OF_ANY_SIZE) {
    fwd_replay_load_pointed(file->registers, loads, arguments);
  } else {
    fwd_replay_load_pointed_4_or_8(file->registers, loads, arguments);
  }
  // The loads put the words of vector registers right behind those of the integer registers in use.
  memmove(file->registers + FWD_INTEGER_REGISTERS, file->registers + plan->integer_count,
          plan->vector_count * sizeof file->registers[0]);
  if (method->hidden_count > 0) file->registers[0] = (uint64_t)(uintptr_t)deciding->at_hand.record->receiver;
  if (method->hidden_count > 1) file->registers[1] = (uint64_t)(uintptr_t)method->method.selector;
  return function;
}

/// Calls the packed function of the record at hand. The array of the arguments stands in this function's stack frame.
__attribute__((noinline)) static fwd_status call_packed_with_array(const fwd_deciding_emission *deciding) {
  const fwd_compiled_method *method = deciding->emission.method;
  const fwd_record *record = deciding->at_hand.record;
  const fwd_delivery *delivery = deciding->emission.delivery;
  void *arguments[method->argument_count];
  // Otherwise the emission has an array. The compiler leaves out what is for frames, and so saves no register on the stack.
  if (!delivery->arguments) __builtin_unreachable();
  fwd_find_arguments(method, delivery, arguments);
  if (method->hidden_count > 0) arguments[0] = (void *)(uintptr_t)&record->receiver;
  const fwd_implementation *implementation = fwd_implementation_by(record, method);
  return implementation->packed(implementation->context, record->receiver, arguments, deciding->at_hand.result, NULL);
}
#endif

/// Calls the implementation of the record at hand. If the status is not FWD_OK, the thread's last error says why.
static fwd_status call(const fwd_emission *state, const fwd_at_hand *at_hand) {
  const fwd_compiled_method *method = state->method;
  const fwd_implementation *implementation = fwd_implementation_by(at_hand->record, method);
#if FWD_HAS_FILLED_CALLS
  if (__builtin_expect(state->frame.is_filled, 0)) {
    // The emission is the first member of the whole.
    const fwd_deciding_emission *deciding = (const fwd_deciding_emission *)state;
    if (!implementation->packed) {
      method->plan->filled(method->plan, implementation->function, deciding, at_hand->result, fill_from_emission);
      return FWD_OK;
    }
    if (!state->arguments) return call_packed_with_array(deciding);
  }
#endif
  return fwd_implementation_call(implementation, method->plan, method->cif, at_hand->record->receiver, state->arguments,
                                 at_hand->result);
}

/// Nothing is to be delivered to a record: no subscriber is *owned*. As one word (`pack`) this is 0.
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
    state->frame.met_dead = true;
    return nobody;
  }
  if (fwd_held_count_delivery(held, &state->frame.met_dead)) return taken;
  fwd_record_drop(taken);
  return nobody;
}

/// One word for a subscriber that stays alive during a call. Objects are aligned to 8 bytes.
static inline uintptr_t pack(fwd_taken taken) {
  uintptr_t word = (uintptr_t)taken.object | !taken.is_owned;
  // Hides where the word comes from: compilers would keep both members instead of it.
  __asm__("" : "+r"(word));
  return word;
}
static inline fwd_taken unpack(uintptr_t word) { return (fwd_taken){(void *)(word & ~(uintptr_t)1), !(word & 1)}; }

// A value that is kept across a call takes stack at each level. So some are read again after it, such as the implementation.
bool fwd_deliver_to(fwd_emission *state, fwd_at_hand *at_hand, const fwd_record *record) {
  uintptr_t held = fwd_record_held(record);
  // First, since the table of a subscription that has ended may be gone.
  if (fwd_held_has_ended(held)) {
    state->frame.met_dead |= !state->delivery->batch;
    return true;
  }
  const fwd_implementation *implementation = fwd_implementation_by(record, state->method);
  if (fwd_implementation_is_empty(implementation)) return true;
  fwd_take_turn(implementation->function, state->responses == 0, &at_hand->first);
  uintptr_t kept;
  if (__builtin_expect(!(held & FWD_HELD_BITS) && !state->delivery->batch, 1)) {
    // By a function, since its code here would take more of the stack at each level of a recursion.
    kept = pack((fwd_taken){fwd_weak_take(held), true});
    if (!kept) {
      state->frame.met_dead = true;
      return true;
    }
  } else {
    kept = pack(take_unusual(state, record, held));
    if (!kept) return true;
  }
  bool goes_on = true;
  at_hand->record = record;
  if (state->arguments) fwd_complete_arguments(state, record);
  fwd_clear_room(state->method, at_hand->result);
  fwd_status status = call(state, at_hand);
  fwd_subscription author = at_hand->record->identifier;
  // What runs from here on is not the subscriber.
  at_hand->record = NULL;
  if (state->frame.kind == FWD_NESTING_LOOPS) fwd_looped_emission_of(state)->record = NULL;
  if (__builtin_expect(status != FWD_OK, 0)) status = fwd_outcome_settle(state, at_hand->result, status);
  if (__builtin_expect(status != FWD_OK, 0)) {
    // The next subscriber may respond.
  } else if (__builtin_expect(state->delivery->collects, 0)) {
    const fwd_collector *collector = state->delivery->collector;
    state->responses++;
    goes_on = collector->collect(collector->context, author, unpack(kept).object, at_hand->result);
  } else {
    goes_on = fwd_policy_apply_apart(state, at_hand);
  }
  fwd_record_drop(unpack(kept));
  return goes_on;
}
