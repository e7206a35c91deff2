// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Applies a method's result policy to the result of each delivery.

#ifndef FWD_SRC_POLICY_H
#define FWD_SRC_POLICY_H

#include "fan_out/emission.h"

/// Keeps the result of the current delivery. The next delivery overwrites the result that was kept before.
static inline void fwd_keep(fwd_at_hand *at_hand) {
  void *result = at_hand->result;
  // Keeps the compiler from merging the loads of `result` and `kept`: a load of 16 bytes cannot be forwarded from the two
  // stores of 8 bytes that wrote them.
  __asm__("" : "+r"(result));
  at_hand->result = at_hand->kept;
  at_hand->kept = result;
}

/// Whether a result is zero, as C compares numbers and pointers: a floating-point number may be -0.0.
static inline bool fwd_is_zero(const fwd_compiled_method *method, const unsigned char *bytes) {
  size_t size = method->value_size;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] & (i + 1 < size ? 0xff : method->last_byte_mask)) return false;
  }
  return true;
}

/// Combines the response in `at_hand->result`, which has been counted, with the earlier responses, by the closures or the
/// function of a fold. If the fold refuses it, it becomes a delivery that has failed. Returns whether to call the next
/// subscriber.
bool fwd_policy_fold(fwd_emission *state, fwd_at_hand *at_hand);

/// Counts the response in `at_hand->result` and applies the method's policy to it. Returns whether to call the next
/// subscriber.
static inline __attribute__((always_inline)) bool fwd_policy_apply(const fwd_compiled_method *method,
                                                                      fwd_emission *state, fwd_at_hand *at_hand) {
  size_t size = method->result.size;
  bool first = state->responses++ == 0;
  if (method->method.fold.step) return fwd_policy_fold(state, at_hand);
  // First, and not by the switch's table, since fan-outs with this policy make the most deliveries.
  if (method->method.policy == FWD_RESULT_ALL_LAST) {
    if (!first) fwd_emission_discard(method, at_hand->kept);
    fwd_keep(at_hand);
    return true;
  }
  switch (method->method.policy) {
    case FWD_RESULT_FIRST:
      fwd_keep(at_hand);
      return false;
    case FWD_RESULT_ALL_FIRST:
      if (first) {
        fwd_keep(at_hand);
      } else {
        fwd_emission_discard(method, at_hand->result);
      }
      return true;
    case FWD_RESULT_UNTIL_NONZERO:
      if (!first) fwd_emission_discard(method, at_hand->kept);
      fwd_keep(at_hand);
      return fwd_is_zero(method, at_hand->kept);
    case FWD_RESULT_ANY:
      fwd_keep(at_hand);
      return fwd_is_zero(method, at_hand->kept);
    case FWD_RESULT_ALL:
      fwd_keep(at_hand);
      return !fwd_is_zero(method, at_hand->kept);
    case FWD_RESULT_UNTIL_HANDLED:
      return !state->frame.handled;
    case FWD_RESULT_ALL_LAST:
    case FWD_RESULT_DEFAULT:
      break;
  }
  if (size == 0) return true;
  fwd_keep(at_hand);
  return false;
}

/// Does the same as a call, which takes less of the stack.
bool fwd_policy_apply_apart(fwd_emission *state, fwd_at_hand *at_hand);

#endif
