// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How a fan-out ends: its result, or the error that its caller gets.

#ifndef FWD_SRC_OUTCOME_H
#define FWD_SRC_OUTCOME_H

#include "fan_out/emission.h"

/// Reports a delivery that has failed. If there is a failure result, copies it to `result` as if the subscriber had returned
/// it, and returns FWD_OK. Otherwise returns `status`.
fwd_status fwd_outcome_settle(fwd_emission *state, void *result, fwd_status status);
/// Gives the caller the result of a fan-out to which no subscriber has responded.
fwd_status fwd_outcome_without_response(const fwd_emission *state);
/// Ends a fan-out to which no subscriber has responded: forwards it to the forward target, or gives the caller a result
/// or an error.
fwd_status fwd_outcome_unhandled(const fwd_emission *state);
/// Frees the first failure of the fan-out's deliveries.
void fwd_outcome_free_failure(const fwd_emission *state);

/// Copies a result. A copy of constant size is a load and a store; any other is a call.
static inline void fwd_outcome_copy(void *to, const void *from, size_t size) {
  if (size == 4) {
    memcpy(to, from, 4);
  } else if (size == 8) {
    memcpy(to, from, 8);
  } else {
    memcpy(to, from, size);
  }
}

/// Releases a result that the caller does not want.
static inline void fwd_outcome_discard(const fwd_emission *state, const void *result) {
  if (!state->method->returns_object) return;
  // The object's deinitialiser may release the proxy.
  fwd_emission_pin(state->proxy, state->delivery);
  fwd_emission_release_object(result);
}

/// Ends a fan-out of a void method.
static inline fwd_status fwd_outcome_finish_void(fwd_emission *state) {
  fwd_status status = state->responses == 0 ? fwd_outcome_unhandled(state) : FWD_OK;
  if (__builtin_expect(state->failure != NULL, 0)) fwd_outcome_free_failure(state);
  return status;
}

/// Ends a fan-out, and gives the caller the result that was kept.
static inline fwd_status fwd_outcome_finish(fwd_emission *state, const void *kept) {
  size_t size = state->method->result.size;
  if (__builtin_expect(state->responses > 0, 1)) {
    if (size > 0 && !state->delivery->collects) {
      if (state->delivery->result) {
        fwd_outcome_copy(state->delivery->result, kept, size);
      } else {
        fwd_outcome_discard(state, kept);
      }
    }
    if (__builtin_expect(!state->failure, 1)) return FWD_OK;
  }
  return fwd_outcome_finish_void(state);
}

#endif
