// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Where the arguments of a closure's signature lie when the pool's entry has stored the registers.

#ifndef FWD_SRC_ENTRY_LAYOUT_H
#define FWD_SRC_ENTRY_LAYOUT_H

#include "call/call_interface.h"

/// Immutable once made.
typedef struct fwd_entry_layout fwd_entry_layout;

/// Works out the layout from the interface's plan; NULL if memory is short.
fwd_entry_layout *fwd_entry_layout_create(const fwd_cif *cif);
void fwd_entry_layout_destroy(fwd_entry_layout *layout);

/// Whether quick entries can take these calls.
bool fwd_entry_layout_is_quick(const fwd_entry_layout *layout);

#endif
