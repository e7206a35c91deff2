// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The word that says whom a subscription holds, and how: a pointer with a few bits in it. Every `fwd_weak`
/// is such a word.

#ifndef FWD_SRC_HELD_H
#define FWD_SRC_HELD_H

#include <stdbool.h>
#include <stdint.h>

/// What stands in the low bits. None of them: the address of an object that is held weakly.
enum {
  /// The address of an `fwd_end` that holds the object.
  FWD_HELD_STRONG = 1,
  /// The address of an `fwd_end` of a subscriber without an object.
  FWD_HELD_NONE = 2,
  /// A weak reference of Swift's own kind.
  FWD_HELD_STOCK = 4,
  /// The subscription has ended. The other bits stay as they were.
  FWD_HELD_ENDED = 8,
  FWD_HELD_BITS = 15,
};

static inline bool fwd_held_is_weak(uintptr_t held) {
  return (held & (FWD_HELD_STRONG | FWD_HELD_NONE)) == 0;
}

#endif
