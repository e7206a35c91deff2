// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Deliveries to handlers of C subscribers, which may fail.

#include "base/error.h"
#include "fwd_fan_out.h"

/// Returns the status of a delivery whose handler has returned false.
__attribute__((cold, noinline)) static fwd_status settle(const fwd_handling *handling, fwd_error *failure,
                                                         fwd_error *error) {
  if (failure->status == FWD_NO_RESPONDER) return FWD_NO_RESPONDER;
  // The handler may have filled the message to the end.
  failure->message[sizeof failure->message - 1] = 0;
  if (failure->message[0]) return fwd_error_set(error, FWD_DELIVERY_FAILED, 0, failure->message);
  return fwd_fail(error, FWD_DELIVERY_FAILED, 0, "the handler of \"%.150s\" has failed",
                  fwd_selector_name(handling->selector));
}

fwd_status fwd_handle_packed(const void *context, void *receiver, void *const *arguments, void *result,
                             fwd_error *error) {
  const fwd_handling *handling = context;
  // Not initialized as a whole: clearing the message would cost every delivery.
  fwd_error failure;
  failure.status = FWD_DELIVERY_FAILED;
  failure.offset = 0;
  failure.message[0] = 0;
  if (__builtin_expect(handling->handler(receiver, handling->selector, arguments, result, &failure), 1)) return FWD_OK;
  return settle(handling, &failure, error);
}
