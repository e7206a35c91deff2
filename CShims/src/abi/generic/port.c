// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The generic port has no placements, no call plans and no compiled entries: libffi makes all calls and closures.

#include "abi/entries.h"
#include "abi/placement.h"
#include "abi/plan.h"

#if !FWD_PLACES_SYSV && !FWD_PLACES_AAPCS64

fwd_status fwd_placement_create(const fwd_encoding *encoding, fwd_placement **placement, fwd_error *error) {
  (void)encoding, (void)error;
  *placement = NULL;
  return FWD_OK;
}

#endif

#if !FWD_HAS_CALL_PLANS

fwd_status fwd_call_plan_create(const fwd_placement *placement, const fwd_encoding *encoding, fwd_call_plan **plan,
                                fwd_error *error) {
  (void)placement, (void)encoding, (void)error;
  *plan = NULL;
  return FWD_OK;
}

#endif

#if !FWD_HAS_ENTRY_POOL

bool fwd_entry_take(const fwd_placement *placement, size_t dropped, fwd_entry *entry) {
  (void)placement, (void)dropped, (void)entry;
  return false;
}

// Never called: libffi's entries have no layout.
const struct fwd_entry_layout *fwd_entry_layout_of_result(const struct fwd_entry_layout *layout) { return layout; }

// Never called.
bool fwd_entry_layout_has_words(const struct fwd_entry_layout *layout, size_t count) {
  (void)layout, (void)count;
  return false;
}

// Never called: none can be taken.
void fwd_entry_give_back(fwd_entry entry) { (void)entry; }

#endif
