// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a change of a list has removed and a fan-out may still be reading.

#ifndef FWD_GARBAGE_H
#define FWD_GARBAGE_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// The objects that a change has removed from a list. Begins as zeros.
typedef struct fwd_garbage {
  /// Linked in the order in which they were removed.
  struct fwd_retired *FWD_NULLABLE first;
  struct fwd_retired *FWD_NULLABLE last;
  /// Of the list that was changed.
  struct fwd_domain *FWD_NULLABLE domain;
} fwd_garbage;

/// Frees the objects as soon as no fan-out reads them: here, or in the last of those fan-outs. Freeing runs destroy
/// notifiers and deinitialisers, so the caller holds no lock.
void fwd_garbage_collect(fwd_garbage garbage);

/// Frees the objects at once. The caller has made sure that no thread reads the list.
void fwd_garbage_free(fwd_garbage garbage);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
