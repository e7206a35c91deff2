// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/pinning.h"

#include "base/error.h"
#include "base/small_code.h"
#include "fan_out/emission.h"

FWD_SMALL_CODE_BEGIN

/// Returns the delivery of the outermost fan-out of this thread that forwards to a proxy for a C program, without a reference.
/// Returns NULL if there is none.
static fwd_unpinned_delivery *find_unpinned(const fwd_proxy *proxy) {
  fwd_unpinned_delivery *found = NULL;
  for (fwd_nesting_frame *frame = fwd_nesting_of_thread.innermost; frame; frame = frame->outer) {
    const fwd_emission *state = fwd_emission_of_frame(frame);
    if (!state || state->proxy != proxy) continue;
    const fwd_delivery *delivery = state->delivery;
    bool is_function_pointer = delivery->arguments && delivery->function;
    if (delivery->is_unpinned && !is_function_pointer) found = (fwd_unpinned_delivery *)(uintptr_t)delivery;
  }
  return found;
}

bool fwd_proxy_core_release_later(fwd_proxy *proxy) {
  fwd_unpinned_delivery *unpinned = find_unpinned(proxy);
  // A fan-out that has a reference already does not need another one.
  if (!unpinned || unpinned->owner) return false;
  unpinned->owner = proxy->owner;
  return true;
}

void fwd_proxy_core_release_by_owner(fwd_proxy *proxy) {
  fwd_unpinned_delivery *unpinned = find_unpinned(proxy);
  if (unpinned) {
    unpinned->delivery.owes_proxy = true;
    unpinned->owner = proxy;
  } else {
    fwd_proxy_core_release(proxy);
  }
}

static void pay_back(const fwd_unpinned_delivery *unpinned) {
  if (unpinned->delivery.owes_proxy) {
    fwd_proxy_core_release(unpinned->owner);
  } else {
    fwd_object_release(unpinned->owner);
  }
}

/// The same for a fan-out that has failed. Deinitialisers that run now may fail in their own ways.
__attribute__((cold, noinline)) static fwd_status pay_back_after_failure(const fwd_unpinned_delivery *unpinned,
                                                                         fwd_status status) {
  fwd_kept_error error;
  fwd_error_keep(&error);
  pay_back(unpinned);
  fwd_error_restore(&error, NULL);
  return status;
}

fwd_status fwd_pay_back(const fwd_unpinned_delivery *unpinned, fwd_status status) {
  if (status != FWD_OK) return pay_back_after_failure(unpinned, status);
  pay_back(unpinned);
  return FWD_OK;
}

FWD_SMALL_CODE_END
