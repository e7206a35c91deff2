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

void fwd_proxy_core_lend(fwd_proxy *proxy) {
  // If memory is short, fan-outs count a reference. Release: a fan-out that sees the reference finds the proxy shared.
  if (fwd_proxy_core_share(proxy)) atomic_fetch_add_explicit(&proxy->lent_references, 1, memory_order_release);
}

bool fwd_proxy_core_take_back(fwd_proxy *proxy) {
  if (!fwd_proxy_is_lent(proxy)) return true;
  atomic_fetch_sub_explicit(&proxy->lent_references, 1, memory_order_relaxed);
  fwd_unpinned_delivery *unpinned = find_unpinned(proxy);
  // A fan-out that has a reference already does not need another one.
  if (!unpinned || unpinned->owner) return true;
  unpinned->owner = proxy->owner;
  return false;
}

/// Releases the owner after a fan-out that has failed. Deinitialisers that run now may fail in their own ways.
__attribute__((cold, noinline)) static fwd_status pay_back_after_failure(const fwd_unpinned_delivery *unpinned,
                                                                         fwd_status status) {
  fwd_kept_error error;
  fwd_error_keep(&error);
  fwd_object_release(unpinned->owner);
  fwd_error_restore(&error, NULL);
  return status;
}

fwd_status fwd_pay_back(const fwd_unpinned_delivery *unpinned, fwd_status status) {
  if (status != FWD_OK) return pay_back_after_failure(unpinned, status);
  fwd_object_release(unpinned->owner);
  return FWD_OK;
}

FWD_SMALL_CODE_END
