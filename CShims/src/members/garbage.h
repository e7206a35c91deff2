// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_GARBAGE_H
#define FWD_SRC_GARBAGE_H

#include "fwd_garbage.h"
#include "reclaim/hazard.h"

/// Adds an object to the garbage of a change, after its removal. `list` begins with the domain that readers enter.
static inline void fwd_leave_behind(fwd_garbage *garbage, fwd_retired *retired,
                                    const void *list, void (*release)(fwd_retired *retired)) {
  fwd_domain *domain = (fwd_domain *)(uintptr_t)list;
  fwd_domain_end(domain, retired, release);
  *(garbage->last ? &garbage->last->next : &garbage->first) = retired;
  garbage->last = retired;
  garbage->domain = domain;
}

#endif
