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
  /// Nothing: the subscriber is a C program's pointer.
  FWD_HOLD_NONE = 0,
  /// Keeps the object alive.
  FWD_HOLD_STRONG = 1,
  /// Lets the object die, and takes a strong reference for each delivery.
  FWD_HOLD_WEAK = 2,
} fwd_hold;

/// How weak references are made.
typedef enum fwd_weak_kind {
  /// As an unowned reference: see weak.c.
  FWD_WEAK_UNOWNED = 0,
  /// As Swift's own `weak`, which is slower.
  FWD_WEAK_STOCK = 1,
} fwd_weak_kind;

/// The kind that new subscriptions have: stock where the Swift runtime lacks what the other needs,
/// where the shim is built with FWD_STOCK_WEAK, and with FWD_WEAK=stock in the environment.
fwd_weak_kind fwd_weak_kind_in_use(void);

/// A weak reference of either kind; not 0.
typedef uintptr_t fwd_weak;

/// Makes a weak reference to a living object. 0 if memory is short.
fwd_weak fwd_weak_create(void *FWD_NONNULL object, fwd_weak_kind kind);
void fwd_weak_destroy(fwd_weak reference);

/// Gives the object with a strong reference (`fwd_object_release` it), or NULL if it has begun to
/// deinitialise.
void *FWD_NULLABLE fwd_weak_take(fwd_weak reference);

/// Whether the object has begun to deinitialise, as far as can be told without a strong reference:
/// giving that up might run a `deinit`, and this may be asked under a lock. Where the runtime lacks
/// what that takes, only once `fwd_weak_take` has failed.
bool fwd_weak_has_died(fwd_weak reference);

/// The address of the object, dead or alive: its memory is not used again while the reference is
/// there.
void *FWD_NONNULL fwd_weak_address(fwd_weak reference);

/// Whether an object is being deinitialised, by whose methods this is called.
bool fwd_object_is_dying(void *FWD_NONNULL object);

/// Retains and releases a Swift object that a result or an argument carries. NULL is ignored.
void fwd_object_retain(void *FWD_NULLABLE object);
void fwd_object_release(void *FWD_NULLABLE object);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
