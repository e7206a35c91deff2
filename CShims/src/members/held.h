// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The word that says whom a subscription holds, and how: a pointer with a few bits in it. Every `fwd_weak`
/// is such a word.

#ifndef FWD_SRC_HELD_H
#define FWD_SRC_HELD_H

#include <stdbool.h>
#include <stdint.h>

/// What stands in the low bits: three, since objects that the compiler lays out statically are aligned
/// to 8 bytes only.
///
/// | bits | |
/// |---|---|
/// | 0 | weak: the address of the object |
/// | 1, 2 | steady: of an `fwd_end`, with an object or without |
/// | 3 | weak, of Swift's own kind |
/// | 4, 7 | ended, was weak; the reference is still to be given up |
/// | 5 | ended, was steady; its `fwd_end` is given up by others |
/// | 6 | gated: the address of an `fwd_gate`, which has one of the first four |
enum {
  FWD_HELD_KIND = 3,
  /// The address of an `fwd_end` that holds the object.
  FWD_HELD_STRONG = 1,
  /// The address of an `fwd_end` of a subscriber without an object.
  FWD_HELD_NONE = 2,
  /// A weak reference of Swift's own kind.
  FWD_HELD_STOCK = 3,
  /// No delivery is to be made without a closer look: the subscription has ended, or has a gate.
  FWD_HELD_IRREGULAR = 4,
  FWD_HELD_ENDED = 4,
  FWD_HELD_ENDED_STEADY = 5,
  FWD_HELD_GATED = 6,
  FWD_HELD_BITS = 7,
};

static inline bool fwd_held_is_gated(uintptr_t held) {
  return (held & FWD_HELD_BITS) == FWD_HELD_GATED;
}

static inline bool fwd_held_has_ended(uintptr_t held) {
  return (held & FWD_HELD_IRREGULAR) && !fwd_held_is_gated(held);
}

// Of what is not gated.
static inline bool fwd_held_is_stock(uintptr_t held) {
  return (held & FWD_HELD_KIND) == FWD_HELD_STOCK;
}

static inline bool fwd_held_is_weak(uintptr_t held) {
  return (held & FWD_HELD_KIND) == 0 || fwd_held_is_stock(held);
}

/// The word of a subscription that has ended, of one that went on without a gate.
static inline uintptr_t fwd_held_ended(uintptr_t held) {
  if (fwd_held_is_weak(held)) return held | FWD_HELD_ENDED;
  return (held & ~(uintptr_t)FWD_HELD_BITS) | FWD_HELD_ENDED_STEADY;
}

/// Whether the subscription goes on without a gate, and needs no reference for a delivery.
static inline bool fwd_held_is_steady(uintptr_t held) {
  uintptr_t bits = held & FWD_HELD_BITS;
  return bits == FWD_HELD_STRONG || bits == FWD_HELD_NONE;
}

#endif
