// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// References to Swift objects, held from C.

#ifndef FWD_WEAK_H
#define FWD_WEAK_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// What a subscription does with its subscriber.
typedef enum fwd_hold {
  /// Nothing: the reference is a C program's pointer.
  FWD_HOLD_NONE = 0,
  /// Keeps the object alive.
  FWD_HOLD_STRONG = 1,
  /// Lets the object die, and takes a strong reference for each delivery.
  FWD_HOLD_WEAK = 2,
} fwd_hold;

/// Begins a reference of this kind.
void fwd_reference_begin(void *FWD_NULLABLE object, fwd_hold hold);

/// Makes sure that the object lives until `fwd_reference_drop`. Gives it, or NULL if a weak reference's
/// object has begun to deinitialise.
void *FWD_NULLABLE fwd_reference_take(void *FWD_NULLABLE object, fwd_hold hold);

/// Gives up what `fwd_reference_take` took. The object may deinitialise here.
void fwd_reference_drop(void *FWD_NULLABLE object, fwd_hold hold);

/// Whether a weak reference's object has begun to deinitialise. Takes no reference, so that it can be asked
/// under a lock: giving one up might run a `deinit`.
bool fwd_reference_is_dead(void *FWD_NULLABLE object, fwd_hold hold);

/// Ends a reference. A strong one may deinitialise the object here.
void fwd_reference_end(void *FWD_NULLABLE object, fwd_hold hold);

/// Retains and releases a Swift object that a result or an argument carries. NULL is ignored.
void fwd_object_retain(void *FWD_NULLABLE object);
void fwd_object_release(void *FWD_NULLABLE object);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
