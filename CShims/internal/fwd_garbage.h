// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Garbage: the objects that a change has removed from a list. Fan-outs may still be reading them.

#ifndef FWD_GARBAGE_H
#define FWD_GARBAGE_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// The objects that one change has removed from a list. All zeros is no garbage.
typedef struct fwd_garbage {
  /// The objects, linked in the order in which they were removed.
  struct fwd_retired *FWD_NULLABLE first;
  struct fwd_retired *FWD_NULLABLE last;
  /// The domain of the list (hazard.h).
  struct fwd_domain *FWD_NULLABLE domain;
} fwd_garbage;

/// Retires the objects: frees each one as soon as no fan-out can be reading it, either here or in the last such
/// fan-out. Freeing runs destroy notifiers and deinitialisers, so the caller must hold no lock.
void fwd_garbage_collect(fwd_garbage garbage);

/// Frees the objects at once. No thread may be reading the list. The caller must hold no lock.
void fwd_garbage_free(fwd_garbage garbage);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
