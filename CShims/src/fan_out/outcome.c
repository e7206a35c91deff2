// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/outcome.h"

#include <stdlib.h>

#include "base/error.h"
#include "fan_out/implementation.h"
#include "fan_out/proxy_function.h"

// MARK: Failures

/// Replaces a failure for which there is no memory.
static const fwd_kept_error lost_failure = {
    .error = {.status = FWD_DELIVERY_FAILED, .message = "a delivery has failed, and there is no memory to keep its error"}};

/// Keeps the first failure of a delivery, and reports each to the proxy's error handler. The failure is the thread's
/// last error: room for an error in each emission would double what a level takes of the stack.
__attribute__((cold, noinline)) static void note_failure(fwd_emission *state, fwd_status status) {
  fwd_error error;
  fwd_delivery_error(status, state->method->method.selector, &error);
  if (!state->failure) {
    fwd_kept_error *failure = malloc(sizeof *failure);
    if (failure) fwd_error_keep(failure);
    state->failure = failure ? failure : &lost_failure;
  }
  fwd_proxy_report(state->proxy, state->method->method.selector, &error);
}

void fwd_fail_delivery(const fwd_error *error, fwd_error_detail detail) {
  fwd_emission *state = fwd_emission_of_thread();
  if (!state) return;
  state->frame.withdrawn++;
  fwd_error_restore(&(fwd_kept_error){.error = *error, .detail = detail});
  note_failure(state, error->status);
}

__attribute__((cold)) const void *fwd_delivery_failure_result(const fwd_delivery *delivery, const fwd_proxy_method *method) {
  const fwd_function_target *function = fwd_called_function(delivery);
  return function && function->failure_result ? function->failure_result : method->failure_result;
}

__attribute__((cold)) fwd_status fwd_outcome_settle(fwd_emission *state, void *result, fwd_status status) {
  // The subscriber is itself a proxy, and none of its subscribers responds.
  if (status == FWD_NO_RESPONDER) return status;
  note_failure(state, status);
  const void *stored = fwd_delivery_failure_result(state->delivery, &state->method->method);
  if (!stored) return status;
  fwd_emission_copy_result(state->method, stored, result);
  return FWD_OK;
}

/// Fails with the first failure of a delivery.
__attribute__((cold, noinline)) static fwd_status fail_as_delivery(const fwd_emission *state) {
  return fwd_error_restore(state->failure);
}

// MARK: Without a response

/// Whether the method is blocked, for messages.
static bool is_blocked(const fwd_emission *state) {
  return fwd_list_is_blocked(fwd_proxy_list(state->proxy), state->method->index);
}

#define NO_RESPONDER_TEXT "no live subscriber implements \"%.150s\"%s"
#define BLOCKED_TEXT "the proxy blocks \"%.150s\"%s"

__attribute__((cold, noinline)) static void report_no_responder(const fwd_emission *state) {
  fwd_error report;
  fwd_selector selector = state->method->method.selector;
  fwd_fail(&report, FWD_NO_RESPONDER, 0, is_blocked(state) ? BLOCKED_TEXT : NO_RESPONDER_TEXT,
           fwd_selector_name(selector), "");
  fwd_proxy_report(state->proxy, selector, &report);
}

fwd_status fwd_outcome_without_response(const fwd_emission *state) {
  const fwd_proxy_method *method = &state->method->method;
  const fwd_delivery *delivery = state->delivery;
  size_t size = state->method->result.size;
  if (method->default_result) {
    if (delivery->result) fwd_emission_copy_result(state->method, method->default_result, delivery->result);
    return FWD_OK;
  }
  // A subscriber was called and failed: the caller wants to know why.
  if (state->failure) return fail_as_delivery(state);
  // The interceptors of a void method respond to it.
  if (delivery->is_intercepted && size == 0) return FWD_OK;
  fwd_no_responder rule = method->no_responder;
  bool fails = rule == FWD_NO_RESPONDER_FAIL || (rule == FWD_NO_RESPONDER_STANDARD && size > 0);
  // An empty "any" is false and an empty "all" is true.
  bool is_quantifier = method->policy == FWD_RESULT_ANY || method->policy == FWD_RESULT_ALL;
  if (fails && !(is_quantifier && rule == FWD_NO_RESPONDER_STANDARD)) {
    return fwd_fail(NULL, FWD_NO_RESPONDER, 0, is_blocked(state) ? BLOCKED_TEXT : NO_RESPONDER_TEXT,
                    fwd_selector_name(method->selector), size > 0 ? ", and it has no default result" : "");
  }
  if (rule == FWD_NO_RESPONDER_REPORT) report_no_responder(state);
  if (delivery->result) memset(delivery->result, method->policy == FWD_RESULT_ALL, size);
  return FWD_OK;
}

/// Forwards an invocation to which nobody has responded to the proxy's forward target. Returns FWD_NO_RESPONDER if the
/// proxy has no forward target.
__attribute__((cold, noinline)) static fwd_status forward_unhandled(const fwd_emission *state) {
  fwd_proxy *proxy = state->proxy;
  // A subscriber that was called and failed has handled the invocation.
  if (state->failure || !atomic_load_explicit(&proxy->forwards_unhandled, memory_order_acquire)) {
    return FWD_NO_RESPONDER;
  }
  void *owner = fwd_emission_pin(state->proxy, state->delivery);
  if (!owner) return FWD_NO_RESPONDER;
  fwd_delivery delivery = *state->delivery;
  delivery.batch = NULL;
  delivery.is_unpinned = false;
  // The interceptors that have run, or run later, are this proxy's.
  delivery.is_intercepted = false;
  delivery.is_tapped = false;
  // The forward target uses the failure result of its method.
  if (delivery.arguments) delivery.function = NULL;
  return proxy->operations->forward_unhandled(owner, state->method->method.selector, &delivery);
}

fwd_status fwd_outcome_unhandled(const fwd_emission *state) {
  // Error handlers may release the proxy.
  fwd_emission_pin(state->proxy, state->delivery);
  fwd_status status = forward_unhandled(state);
  // The forward target has responded, or a collector has seen that there was nothing.
  if (status == FWD_NO_RESPONDER) {
    status = state->delivery->collects ? FWD_OK : fwd_outcome_without_response(state);
  }
  return status;
}

// MARK: With a response

__attribute__((cold)) void fwd_outcome_free_failure(const fwd_emission *state) {
  if (state->failure != &lost_failure) free((void *)(uintptr_t)state->failure);
}
