// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Applies a method's result policy to the result of each delivery.

#ifndef FWD_SRC_POLICY_H
#define FWD_SRC_POLICY_H

#include "fan_out/emission.h"
#include "members/swift_closure.h"

/// Keeps the result of the current delivery. The next delivery overwrites the result that was kept before.
static inline void keep(fwd_emission *state) {
  void *result = state->result;
  // Two loads: one for both words would wait for the two stores that wrote them.
  __asm__("" : "+r"(result));
  state->result = state->kept;
  state->kept = result;
}

static inline bool is_zero(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

/// Combines the response in `state->result`, which has been counted, with the earlier responses. Returns whether to call
/// the next subscriber.
static inline bool fold(const fwd_compiled_method *method, fwd_emission *state) {
  const fwd_fold *fold = &method->method.fold;
  if (fold->predicate) {
    keep(state);
    return !fwd_swift_predicate_call(fold->predicate, fold->closure_context, state->kept);
  }
  if (fold->combine) {
    // Zeroes for the bytes between the members of a struct.
    fwd_aligned_bytes sum = {{0}};
    _Static_assert(sizeof sum >= FWD_FOLDED_SIZE, "a result that is folded has room");
    fwd_swift_combine_call(fold->combine, fold->closure_context, state->responses == 1 ? fold->initial : state->kept,
                           state->result, &sum);
    memcpy(state->kept, &sum, method->value_size);
    return true;
  }
  return fold->step(fold->context, state->kept, state->result, state->responses - 1);
}

/// Counts the response in `state->result` and applies the method's policy to it. Returns whether to call the next
/// subscriber.
static inline __attribute__((always_inline)) bool fwd_policy_apply(const fwd_compiled_method *method,
                                                                      fwd_emission *state) {
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
        fwd_emission_discard(method, state->result);
      }
      return true;
    case FWD_RESULT_ALL_LAST:
      if (!first) fwd_emission_discard(method, state->kept);
      keep(state);
      return true;
    case FWD_RESULT_UNTIL_NONZERO:
      if (!first) fwd_emission_discard(method, state->kept);
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

#endif
