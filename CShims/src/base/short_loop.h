// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_SHORT_LOOP_H
#define FWD_SRC_SHORT_LOOP_H

/// Stands before a loop that mostly goes round a few times, as over the arguments of a call. Compilers would use vectors, or
/// unroll the loop, and then choose among several copies of it before the first round.
#if defined(__clang__)
#define FWD_SHORT_LOOP _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define FWD_SHORT_LOOP
#endif

#endif
