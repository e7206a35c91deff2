// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Random numbers that are the same on every machine: Marsaglia's xorshift generator ("Xorshift RNGs", Journal of
/// Statistical Software 8(14), 2003).

#ifndef FWD_ROBUSTNESS_RANDOM_H
#define FWD_ROBUSTNESS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/// The generator's state, which each program sets to its seed. It is not 0.
static uint64_t state;

static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 11;
}

/// Returns a number below a limit, which is not 0.
static size_t below(size_t limit) { return (size_t)(next_random() % limit); }

#endif
