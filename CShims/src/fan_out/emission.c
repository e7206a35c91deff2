// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How a fan-out finds its arguments and its proxy's owner, and what code that it calls may ask and say.

#include "fan_out/emission.h"

#include "base/error.h"
#include "fan_out/implementation.h"

// MARK: The caller's part

__attribute__((cold)) void *fwd_emission_pin(fwd_proxy *proxy, const fwd_delivery *delivery) {
  if (!delivery->is_unpinned) return proxy->owner;
  fwd_unpinned_delivery *unpinned = (fwd_unpinned_delivery *)(uintptr_t)delivery;
  if (!unpinned->owner) unpinned->owner = fwd_weak_take(proxy->weak_owner);
  return unpinned->owner;
}

// MARK: The delivery at hand

fwd_emission *fwd_emission_of_thread(void) {
  fwd_nesting_frame *innermost = fwd_nesting_of_thread.innermost;
  if (!innermost || (innermost->kind != FWD_NESTING_DECIDES && innermost->kind != FWD_NESTING_LOOPS)) return NULL;
  return fwd_emission_of_frame(innermost);
}

fwd_proxy *fwd_current_proxy(void) {
  const fwd_emission *state = fwd_emission_of_thread();
  // The caller may retain the proxy.
  return state && !state->proxy->is_hidden && fwd_emission_pin(state->proxy, state->delivery) ? state->proxy : NULL;
}

/// The delivery that a mailbox makes on this thread, or NULL.
static const fwd_mailed_frame *current_mail(void) {
  const fwd_nesting_frame *innermost = fwd_nesting_of_thread.innermost;
  return innermost && innermost->kind == FWD_NESTING_MAILED ? (const fwd_mailed_frame *)innermost : NULL;
}

void *fwd_current_mail_context(void) {
  const fwd_mailed_frame *mail = current_mail();
  return mail ? mail->context : NULL;
}

fwd_subscription fwd_current_subscription(void) {
  fwd_emission *state = fwd_emission_of_thread();
  if (!state) {
    const fwd_mailed_frame *mail = current_mail();
    return mail ? mail->subscription : 0;
  }
  const fwd_record *record;
  if (state->frame.kind == FWD_NESTING_LOOPS) {
    record = fwd_looped_emission_of(state)->record;
  } else {
    record = ((fwd_deciding_emission *)state)->at_hand.record;
  }
  if (!record) return 0;
  // Loops do not know it of C functions, so it is not given for them elsewhere either.
  return fwd_implementation_by(record, state->method)->function ? 0 : record->identifier;
}
