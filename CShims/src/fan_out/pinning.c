// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/pinning.h"

#include "base/small_code.h"
#include "fan_out/emission.h"

FWD_SMALL_CODE_BEGIN

/// Returns the delivery of the outermost fan-out of this thread that forwards to a proxy for a C program without a reference,
/// or NULL.
static fwd_unpinned_delivery *find_unpinned(const fwd_proxy *proxy) {
  fwd_unpinned_delivery *found = NULL;
  for (fwd_nesting_frame *frame = fwd_nesting_of_thread.innermost; frame; frame = frame->outer) {
    const fwd_emission *state = fwd_emission_of_frame(frame);
    if (!state || state->proxy != proxy) continue;
    const fwd_delivery *delivery = state->delivery;
    if (delivery->is_unpinned && !fwd_called_function(delivery)) found = (fwd_unpinned_delivery *)(uintptr_t)delivery;
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

FWD_SMALL_CODE_END
