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
enum {
  /// The kind. 0: the address of an object that is held weakly.
  FWD_HELD_KIND = 3,
  /// The address of an `fwd_end` that holds the object.
  FWD_HELD_STRONG = 1,
  /// The address of an `fwd_end` of a subscriber without an object.
  FWD_HELD_NONE = 2,
  /// A weak reference of Swift's own kind.
  FWD_HELD_STOCK = 3,
  /// The subscription has ended. The kind stays.
  FWD_HELD_ENDED = 4,
  FWD_HELD_BITS = 7,
};

static inline bool fwd_held_is_stock(uintptr_t held) {
  return (held & FWD_HELD_KIND) == FWD_HELD_STOCK;
}

static inline bool fwd_held_is_weak(uintptr_t held) {
  return (held & FWD_HELD_KIND) == 0 || fwd_held_is_stock(held);
}

/// Whether the subscription goes on, and needs no reference for a delivery.
static inline bool fwd_held_is_steady(uintptr_t held) {
  uintptr_t bits = held & FWD_HELD_BITS;
  return bits == FWD_HELD_STRONG || bits == FWD_HELD_NONE;
}

#endif
