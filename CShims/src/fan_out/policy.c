// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/policy.h"

#include "members/swift_closure.h"

bool fwd_policy_fold(const fwd_compiled_method *method, size_t responses, fwd_at_hand *at_hand) {
  const fwd_fold *fold = &method->method.fold;
  if (fold->predicate) {
    fwd_keep(at_hand);
    return !fwd_swift_predicate_call(fold->predicate, fold->closure_context, at_hand->kept);
  }
  if (fold->combine) {
    // Zeroes for the bytes between the members of a struct.
    fwd_aligned_bytes sum = {{0}};
    _Static_assert(sizeof sum >= FWD_FOLDED_SIZE, "a result that is folded has room");
    fwd_swift_combine_call(fold->combine, fold->closure_context, responses == 1 ? fold->initial : at_hand->kept,
                           at_hand->result, &sum);
    memcpy(at_hand->kept, &sum, method->value_size);
    return true;
  }
  return fold->step(fold->context, at_hand->kept, at_hand->result, responses - 1);
}

bool fwd_policy_apply_apart(fwd_emission *state, fwd_at_hand *at_hand) {
  return fwd_policy_apply(state->method, state, at_hand);
}
