// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the entries (entry_pool.c) and the code behind them (entries.c) share.
///
/// There are two kinds of entries. Any signature with a placement can use a *full* entry, which stores all registers
/// that can carry arguments. A *quick* entry is for signatures whose arguments are in the first five integer and two
/// vector registers; it stores nothing, hands the slot over in the sixth integer register, and jumps to a C function
/// that takes the others as parameters. That function handles the outermost call of a thread. Nested calls go on as calls of a
/// full entry, which takes less of the stack.

#ifndef FWD_SRC_SYSV_ENTRIES_H
#define FWD_SRC_SYSV_ENTRIES_H

#include "abi/entering.h"
#include "abi/placement.h"
#include "abi/sysv/assembly.h"

#if FWD_IS_SYSV

/// What an entry belongs to.
typedef struct fwd_entry_slot {
  /// NULL: there is no closure, and calls return zeros. First, so that its address is the slot's.
  fwd_closure_slot closure;
  /// The size of the last closure's result if that is in memory, else 0: a stale call has to write it.
  _Atomic uint32_t memory_size;
} fwd_entry_slot;

_Static_assert(sizeof(fwd_entry_slot) == 48, "entry_pool.c counts slots by 48 bytes");

/// The registers and the stack of a call through a full entry. The assembly in entries.c knows the offsets. The members of
/// the union share their memory because each level of a recursion needs such a frame.
typedef struct fwd_entry_state {
  union {
    struct {
      _Alignas(16) uint64_t integers[FWD_INTEGER_REGISTERS];
      double vectors[FWD_VECTOR_REGISTERS];
    };
    /// All registers. Those that carry no argument are free.
    void *words[FWD_INTEGER_REGISTERS + FWD_VECTOR_REGISTERS];
    /// What the entry loads before it returns: xmm0, xmm1, rax and rdx, or st(0) and st(1). The last words, since six
    /// integers are the commonest arguments of a full entry.
    struct {
      uint64_t earlier[FWD_INTEGER_REGISTERS + FWD_VECTOR_REGISTERS - 4];
      union {
        struct {
          double vectors[2];
          uint64_t integers[2];
        } registers;
        unsigned char bytes[32];
      } returned;
    };
  };
  /// The caller's rbp, and the return address.
  uint64_t frame[2];
  /// The stack words of the arguments.
  unsigned char stack[];
} fwd_entry_state;

_Static_assert(offsetof(fwd_entry_state, vectors) == 48 && offsetof(fwd_entry_state, frame) == 112 &&
                   offsetof(fwd_entry_state, returned) == 80 && offsetof(fwd_entry_state, stack) == 128,
               "the assembly in entries.c stores and loads there");

/// Called by full entries. Sets `returned`.
void fwd_entry_enter(fwd_entry_slot *slot, fwd_entry_state *state);

// MARK: Quick entries

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

// Quick entries jump to these: one for void, one for each pair of registers that results come back in, and one for results
// in memory. Hidden, so that code of a shared library jumps directly.
#define FWD_QUICK __attribute__((visibility("hidden")))
FWD_QUICK void fwd_quick_enter_void(FWD_QUICK_PARAMETERS);
FWD_QUICK fwd_call_returned fwd_quick_enter_mixed(FWD_QUICK_PARAMETERS);
FWD_QUICK fwd_call_returned fwd_quick_enter_memory(FWD_QUICK_PARAMETERS);
FWD_QUICK fwd_returned_integers fwd_quick_enter_integers(FWD_QUICK_PARAMETERS);
FWD_QUICK fwd_returned_vectors fwd_quick_enter_vectors(FWD_QUICK_PARAMETERS);

// Goes on with the call of a quick entry as with that of a full one. It has a name for each type of a result.
#define FWD_DECLARE_FULL(name, returned) \
  FWD_QUICK returned name(FWD_QUICK_PARAMETERS) __asm__(SYMBOL(fwd_entry_from_quick));
FWD_DECLARE_FULL(fwd_full_enter_void, void)
FWD_DECLARE_FULL(fwd_full_enter_mixed, fwd_call_returned)
FWD_DECLARE_FULL(fwd_full_enter_integers, fwd_returned_integers)
FWD_DECLARE_FULL(fwd_full_enter_vectors, fwd_returned_vectors)

// MARK: Layouts

/// Where a closure's arguments are once an entry has stored the registers. Immutable.
typedef struct fwd_entry_layout fwd_entry_layout;

/// Makes the layout of a placement without gaps; NULL if memory is short. Free it by `free`.
///
/// The layout leaves the argument `dropped` out, unless that is FWD_NO_ARGUMENT. The registers or stack words that carry
/// it are never read, so that the other arguments keep their places, and a dropped argument costs nothing.
fwd_entry_layout *fwd_entry_layout_create(const fwd_placement *placement, size_t dropped);

/// Whether quick entries can take the calls.
bool fwd_entry_layout_is_quick(const fwd_entry_layout *layout);

#endif

#endif
