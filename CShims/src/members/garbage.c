// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "members/garbage.h"

void fwd_garbage_collect(fwd_garbage garbage) {
  fwd_retire_all(garbage.domain, garbage.first);
}

void fwd_garbage_free(fwd_garbage garbage) {
  for (fwd_retired *retired = garbage.first, *next; retired; retired = next) {
    next = retired->next;
    retired->free(retired);
  }
}
