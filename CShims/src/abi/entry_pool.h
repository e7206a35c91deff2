// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A fixed pool of compiled functions that serve as entries of closures: code that is there from the start,
/// so no memory need be executable that is also writable.

#ifndef FWD_SRC_ENTRY_POOL_H
#define FWD_SRC_ENTRY_POOL_H

#include <stdatomic.h>

#include "abi/call_plan.h"
#include "abi/plan_callers.h"

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

/// Takes a free entry for functions with this kind of result, the one that has been free the
/// longest: a quick one if the function is for those and one is left. NULL if all are taken.
fwd_entry_slot *fwd_entry_take(fwd_plan_result result, bool is_quick);

/// The function of an entry.
void (*fwd_entry_function(const fwd_entry_slot *slot))(void);

/// Gives an entry back. Its slot has no closure, and nobody else gets it before all others have been taken.
void fwd_entry_give_back(fwd_entry_slot *slot);

/// Called by each entry that is not quick, with `returned` not set; see entry_layout_sysv.c.
void fwd_entry_enter(fwd_entry_slot *slot, fwd_entry_state *state);

// MARK: Quick entries

/// The registers that quick entries take. The sixth integer register is left to hand on the slot
/// in, so that an entry is but a jump: all others stay where they are.
enum { FWD_QUICK_INTEGERS = 5, FWD_QUICK_VECTORS = 2 };

typedef struct fwd_returned_integers {
  uint64_t integers[2];
} fwd_returned_integers;
typedef struct fwd_returned_vectors {
  double vectors[2];
} fwd_returned_vectors;

#define FWD_QUICK_PARAMETERS                                                             \
  uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3, uint64_t i4, fwd_entry_slot *slot, \
      double v0, double v1

// Called by the quick entries, one for each kind of result. Hidden: code of a shared library would
// not jump there directly otherwise.
#define FWD_QUICK __attribute__((visibility("hidden")))
FWD_QUICK fwd_returned_mixed fwd_quick_enter_mixed(FWD_QUICK_PARAMETERS);
FWD_QUICK fwd_returned_mixed fwd_quick_enter_memory(FWD_QUICK_PARAMETERS);
FWD_QUICK fwd_returned_integers fwd_quick_enter_integers(FWD_QUICK_PARAMETERS);
FWD_QUICK fwd_returned_vectors fwd_quick_enter_vectors(FWD_QUICK_PARAMETERS);

#else
#define FWD_HAS_ENTRY_POOL 0
#endif

#endif
