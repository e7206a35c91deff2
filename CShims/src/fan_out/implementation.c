// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/implementation.h"

#include "fwd_error.h"
#include "fwd_selector.h"

fwd_status fwd_tell_packed(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error) {
  fwd_status status = ((const fwd_teller *)context)->tell(context, receiver, arguments, result, error);
  return status == FWD_OK ? FWD_NO_RESPONDER : status;
}

void fwd_delivery_error(fwd_status status, fwd_selector selector, fwd_error *error) {
  fwd_error_last(error);
  if (error->status == status) return;
  fwd_fail(error, status, 0, "a delivery of \"%.150s\" has failed without an error", fwd_selector_name(selector));
}
