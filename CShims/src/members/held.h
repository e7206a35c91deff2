// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The *held* word of a subscription: a pointer to its object, or to a struct that has the object, whose low bits say
/// how the subscription holds the object and whether it has ended. Every `fwd_weak` is such a word.

#ifndef FWD_SRC_HELD_H
#define FWD_SRC_HELD_H

#include <stdbool.h>
#include <stdint.h>

/// The values of the low bits. There are three bits, since Swift objects that the compiler lays out statically are
/// aligned to 8 bytes only.
///
/// | bits | the subscription | the pointer |
/// |---|---|---|
/// | 0 | is weak, by an unowned reference | the object |
/// | 1 | is steady: holds its object strongly | an `fwd_end` with the object |
/// | 2 | is steady: has no object | an `fwd_end` without an object |
/// | 3 | is weak, by Swift's own `weak` | the stock reference: see weak.c |
/// | 4, 7 | has ended, and was 0 or 3 | as before; the weak reference is destroyed when the record is freed |
/// | 5 | has ended, and was 1 or 2 | as before; the `fwd_end` is retired by itself and must not be used |
/// | 6 | has a gate: see gate.h | an `fwd_gate`, which has the word without the gate: 0 to 3 |
///
/// A delivery to a *steady* subscriber needs no reference, since the subscription keeps the subscriber valid.
enum {
  /// The bits that say how a subscription without a gate holds its object.
  FWD_HELD_KIND = 3,
  FWD_HELD_STRONG = 1,
  FWD_HELD_NONE = 2,
  FWD_HELD_STOCK = 3,
  /// This bit is set if the subscription has ended or has a gate. Fan-outs test it to leave the fast path.
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

/// The word must not have a gate.
static inline bool fwd_held_is_stock(uintptr_t held) {
  return (held & FWD_HELD_KIND) == FWD_HELD_STOCK;
}

/// Whether the subscription is weak or, if it has ended, was weak. The word must not have a gate.
static inline bool fwd_held_is_weak(uintptr_t held) {
  return (held & FWD_HELD_KIND) == 0 || fwd_held_is_stock(held);
}

/// The word for the end of a subscription. `held` is its word so far, without a gate.
static inline uintptr_t fwd_held_ended(uintptr_t held) {
  if (fwd_held_is_weak(held)) return held | FWD_HELD_ENDED;
  return (held & ~(uintptr_t)FWD_HELD_BITS) | FWD_HELD_ENDED_STEADY;
}

/// Whether the subscription is steady, has not ended and has no gate.
static inline bool fwd_held_is_steady(uintptr_t held) {
  uintptr_t bits = held & FWD_HELD_BITS;
  return bits == FWD_HELD_STRONG || bits == FWD_HELD_NONE;
}

#endif
