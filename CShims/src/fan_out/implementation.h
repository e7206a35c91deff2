// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The call of one implementation with pointers to its arguments.

#ifndef FWD_SRC_IMPLEMENTATION_H
#define FWD_SRC_IMPLEMENTATION_H

#include "base/error.h"
#include "call/call_interface.h"
#include "fwd_dispatch.h"

/// Calls one implementation. `plan` is NULL if the signature has none. All arguments have addresses, the hidden ones
/// included, and there is room for the result. If the status is not FWD_OK, the thread's last error says why.
static inline fwd_status fwd_implementation_call(const fwd_implementation *implementation, const fwd_call_plan *plan,
                                                 const fwd_cif *cif, void *receiver, void **arguments, void *result) {
  // A thunk has a function too, but that one wants its context in a register.
  if (implementation->packed) {
    return implementation->packed(implementation->context, receiver, arguments, result, NULL);
  }
#if FWD_HAS_CALL_PLANS
  if (fwd_calls_by_plan(plan)) {
    plan->unchecked(plan, implementation->function, arguments, result);
    return FWD_OK;
  }
#else
  (void)plan;
#endif
  fwd_status status = fwd_cif_call(cif, implementation->function, arguments, result);
  return status == FWD_OK ? status : fwd_fail(NULL, status, 0, "%s", fwd_error_message());
}

/// What the context of `fwd_tell_packed` begins with.
typedef struct fwd_teller {
  fwd_packed_function tell;
} fwd_teller;

/// The `packed` function of a subscriber that is told of the invocations of a method with a result, and is no responder.
/// Returns FWD_NO_RESPONDER if it has been told.
fwd_status fwd_tell_packed(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error);

/// Returns the error of a delivery that has returned a status: the thread's last error, or one that says that there was none.
void fwd_delivery_error(fwd_status status, fwd_selector selector, fwd_error *error);

#endif
