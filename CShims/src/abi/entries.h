// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Entries: compiled functions that closures use as their function pointers. The code exists from the start, so no
/// memory has to be executable and writable.

#ifndef FWD_SRC_ENTRIES_H
#define FWD_SRC_ENTRIES_H

#include "abi/entering.h"
#include "abi/placement.h"

/// Takes the free entry that has been free longest, and makes the layout of its arguments. The handler does not get the
/// argument `dropped`, unless that is FWD_NO_ARGUMENT: see fwd_entry_layout_create. False if all entries that suit the
/// placement are taken, or memory is short. The slot is empty.
bool fwd_entry_take(const fwd_placement *placement, size_t dropped, fwd_entry *entry);

/// Returns a layout of the same result without arguments, for calls that read none. It is shared and never freed. Returns NULL
/// if memory is short.
const struct fwd_entry_layout *fwd_entry_layout_of_result(const struct fwd_entry_layout *layout);

/// Whether the arguments begin consecutive words of registers, and `count` words can be read from the first one on.
bool fwd_entry_layout_has_words(const struct fwd_entry_layout *layout, size_t count);

/// Takes back an entry whose slot is empty and which no call uses. It is taken again after all others.
void fwd_entry_give_back(fwd_entry entry);

#endif
