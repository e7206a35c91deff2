// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Calls of functions that alternate.
///
/// A processor predicts where an indirect call goes from the branches before it, of which it remembers few. A delivery has
/// many, and they are the same for each subscriber. So where subscribers of two classes take turns, nearly each call was
/// predicted wrong, which took 7 of 15 ns on Zen 4. A *conditional* branch is predicted from a longer history. The one here
/// says whether the function is the one that was called first. It does nothing, but the prediction of the call sees it.

#ifndef FWD_SRC_TURNS_H
#define FWD_SRC_TURNS_H

#include <stdbool.h>

typedef void (*fwd_function)(void);

/// Branches on whether `function`, which is called next, is `*first`; or sets `*first` if `is_first`. Goes before the
/// subscriber is retained, since what follows a locked instruction waits for it.
static inline __attribute__((always_inline)) void fwd_take_turn(fwd_function function, bool is_first, fwd_function *first) {
  if (is_first) {
    *first = function;
  } else if (function != *first) {
    // The compiler keeps a branch around an instruction that it does not know.
    __asm__ volatile("nop");
  }
}

#endif
