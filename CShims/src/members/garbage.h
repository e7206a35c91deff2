// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_GARBAGE_H
#define FWD_SRC_GARBAGE_H

#include "fwd_garbage.h"
#include "reclaim/hazard.h"

/// Adds an object to the garbage of a change. `announced` is what its readers announce.
static inline void fwd_leave_behind(fwd_garbage *garbage, fwd_retired *retired,
                                    const void *announced, void (*release)(fwd_retired *retired)) {
  *retired = (fwd_retired){.next = garbage->first, .announced = announced, .free = release};
  garbage->first = retired;
}

#endif
