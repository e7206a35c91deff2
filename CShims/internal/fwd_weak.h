// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// References from C to Swift objects.

#ifndef FWD_WEAK_H
#define FWD_WEAK_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// How a subscription holds its subscriber.
typedef enum fwd_hold {
  /// Not at all: the subscriber is a C program's pointer.
  FWD_HOLD_NONE = 0,
  /// The subscription keeps the object alive.
  FWD_HOLD_STRONG = 1,
  /// The subscription does not keep the object alive. Each delivery retains the object while it lasts.
  FWD_HOLD_WEAK = 2,
} fwd_hold;

/// How weak references are made.
typedef enum fwd_weak_kind {
  /// By an unowned reference: see weak.c.
  FWD_WEAK_UNOWNED = 0,
  /// By Swift's own `weak`, which is slower.
  FWD_WEAK_STOCK = 1,
} fwd_weak_kind;

/// Returns the kind for new subscriptions. It is FWD_WEAK_STOCK if the Swift runtime lacks `swift_tryRetain`, if the C
/// target was built with FWD_STOCK_WEAK, or if the environment has FWD_WEAK=stock; else FWD_WEAK_UNOWNED.
fwd_weak_kind fwd_weak_kind_in_use(void);

/// A weak reference of either kind. It is never 0.
typedef uintptr_t fwd_weak;

/// Creates a weak reference to a live object. Returns 0 if memory is short.
fwd_weak fwd_weak_create(void *FWD_NONNULL object, fwd_weak_kind kind);
void fwd_weak_destroy(fwd_weak reference);

/// Like `fwd_weak_create`, but the reference does not keep the object's memory. An unowned one then costs nothing. The caller
/// must end it with `fwd_weak_end_borrowed` before the memory is freed. Returns 0 if memory is short.
fwd_weak fwd_weak_borrow(void *FWD_NONNULL object, fwd_weak_kind kind);
void fwd_weak_end_borrowed(fwd_weak reference);

/// Retains the object and returns it, or returns NULL if the object has begun to deinitialise. The caller releases the
/// object with `fwd_object_release`.
void *FWD_NULLABLE fwd_weak_take(fwd_weak reference);

/// Whether the object is known to have begun to deinitialise. Does not retain the object, since the release could run a
/// `deinit` and the caller may hold a lock. If the Swift runtime lacks `swift_isDeallocating`, the result is true only
/// after `fwd_weak_take` of a stock reference has returned NULL.
bool fwd_weak_has_died(fwd_weak reference);

/// Returns the address of the object, dead or alive. No other object gets this address while the reference exists.
void *FWD_NONNULL fwd_weak_address(fwd_weak reference);

/// Whether an object is being deinitialised. The caller must keep the object's memory valid: it has a reference, or is
/// called by the object's `deinit`.
bool fwd_object_is_dying(void *FWD_NONNULL object);

/// Retain and release a Swift object. NULL is ignored. Without a Swift runtime they do nothing.
void fwd_object_retain(void *FWD_NULLABLE object);
void fwd_object_release(void *FWD_NULLABLE object);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
