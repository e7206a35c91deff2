// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A fixed pool of compiled functions that serve as entries of closures: code that is there from the start,
/// so no memory need be executable that is also writable.

#ifndef FWD_SRC_ENTRY_POOL_H
#define FWD_SRC_ENTRY_POOL_H

#include <stdatomic.h>

#include "call_plan.h"
#include "plan_callers.h"

#if FWD_HAS_CALL_PLANS && defined(__x86_64__)
#define FWD_HAS_ENTRY_POOL 1

/// What an entry was called with, and what it is to give back.
typedef struct fwd_entry_state {
  _Alignas(16) uint64_t integers[FWD_PLAN_INTEGERS];
  double vectors[FWD_PLAN_VECTORS];
  /// The first stack word of the arguments, aligned to 16.
  unsigned char *stack;
  union {
    fwd_returned_mixed mixed;
    uint64_t integers[2];
    double vectors[2];
    long double x87;
    _Complex long double complex_x87;
    _Alignas(16) unsigned char bytes[32];
  } returned;
} fwd_entry_state;

/// What an entry's code knows of its closure.
typedef struct fwd_entry_slot {
  /// NULL: there is none, and the call returns zeroes. First, so that its address is the slot's.
  _Atomic(void *) closure;
  /// The size of the last closure's result if that comes back in memory, else 0: a stale call's caller expects
  /// it to be written.
  _Atomic uint32_t memory_size;
} fwd_entry_slot;

/// Takes a free entry for functions with this kind of result, the one that has been free the longest. NULL if
/// all are taken.
fwd_entry_slot *fwd_entry_take(fwd_plan_result result);

/// The function of an entry.
void (*fwd_entry_function(const fwd_entry_slot *slot))(void);

/// Gives an entry back. Its slot has no closure, and nobody else gets it before all others have been taken.
void fwd_entry_give_back(fwd_entry_slot *slot);

/// Called by each entry, with `returned` not set; see entry_layout_sysv.c.
void fwd_entry_enter(fwd_entry_slot *slot, fwd_entry_state *state);

#else
#define FWD_HAS_ENTRY_POOL 0
#endif

#endif
