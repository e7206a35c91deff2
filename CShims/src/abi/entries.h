// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Entries: compiled functions that closures use as their function pointers. The code exists from the start, so no
/// memory has to be executable and writable.

#ifndef FWD_SRC_ENTRIES_H
#define FWD_SRC_ENTRIES_H

#include "abi/entering.h"
#include "abi/placement.h"

/// Takes the free entry that has been free longest, and makes the layout of its arguments. False if all that suit the
/// placement are taken, or memory is short. The slot is empty.
bool fwd_entry_take(const fwd_placement *placement, fwd_entry *entry);

/// Gives an entry back, whose slot is empty and which no call uses. It is taken again after all others.
void fwd_entry_give_back(fwd_entry entry);

#endif
