// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/policy.h"

#include "base/hot.h"
#include "fan_out/outcome.h"
#include "members/swift_closure.h"

static fwd_folded step(fwd_emission *state, fwd_at_hand *at_hand) {
  const fwd_proxy_method *method = &state->method->method;
  return method->fold.step(method->fold.context, at_hand->kept, at_hand->result, state->responses - 1, method->selector);
}

/// Takes back a response that the fold has refused. The failure result, if there is one, takes its place.
__attribute__((cold, noinline)) static bool refold(fwd_emission *state, fwd_at_hand *at_hand) {
  state->responses--;
  if (fwd_outcome_settle(state, at_hand->result, FWD_DELIVERY_FAILED) != FWD_OK) return true;
  state->responses++;
  fwd_folded folded = step(state, at_hand);
  if (folded == FWD_FOLDED_REFUSED) state->responses--;
  return folded != FWD_FOLDED_ENDS;
}

FWD_HOT bool fwd_policy_fold(fwd_emission *state, fwd_at_hand *at_hand) {
  const fwd_fold *fold = &state->method->method.fold;
  if (fold->predicate) {
    fwd_keep(at_hand);
    return !fwd_swift_predicate_call(fold->predicate, fold->closure_context, at_hand->kept);
  }
  if (fold->combine) {
    // Zeros for the bytes between the members of a struct.
    fwd_aligned_bytes sum = {{0}};
    _Static_assert(sizeof sum >= FWD_FOLDED_SIZE, "a result that is folded has room");
    fwd_swift_combine_call(fold->combine, fold->closure_context, state->responses == 1 ? fold->initial : at_hand->kept,
                           at_hand->result, &sum);
    memcpy(at_hand->kept, &sum, state->method->value_size);
    return true;
  }
  fwd_folded folded = step(state, at_hand);
  if (__builtin_expect(folded == FWD_FOLDED_REFUSED, 0)) return refold(state, at_hand);
  return folded == FWD_FOLDED_GOES_ON;
}

FWD_HOT bool fwd_policy_apply_apart(fwd_emission *state, fwd_at_hand *at_hand) {
  return fwd_policy_apply(state->method, state, at_hand);
}
