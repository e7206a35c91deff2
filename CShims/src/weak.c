// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A weak reference to a Swift object without Swift's `weak`, whose load and release cost more than all the
/// rest of a delivery: an `unowned` reference keeps the object's memory (not its life), so the pointer stays
/// good to ask, and `swift_tryRetain` answers as a `weak` load would: nil once deinitialisation has begun.
///
/// These entry points are part of the Swift runtime's stable ABI on Darwin and exported on Linux. They are
/// declared weak: a C program that has no Swift runtime links, and holds no Swift objects.

#include "fwd_weak.h"

#if defined(__APPLE__)
#define RUNTIME(declaration) extern declaration __attribute__((weak_import))
#else
#define RUNTIME(declaration) extern declaration __attribute__((weak))
#endif

RUNTIME(void *swift_retain(void *object));
RUNTIME(void swift_release(void *object));
RUNTIME(void *swift_tryRetain(void *object));
RUNTIME(bool swift_isDeallocating(void *object));
RUNTIME(void *swift_unownedRetain(void *object));
RUNTIME(void swift_unownedRelease(void *object));

void fwd_reference_begin(void *object, fwd_hold hold) {
  if (hold == FWD_HOLD_STRONG) swift_retain(object);
  if (hold == FWD_HOLD_WEAK) swift_unownedRetain(object);
}

void *fwd_reference_take(void *object, fwd_hold hold) {
  return hold == FWD_HOLD_WEAK ? swift_tryRetain(object) : object;
}

bool fwd_reference_is_dead(void *object, fwd_hold hold) {
  return hold == FWD_HOLD_WEAK && swift_isDeallocating(object);
}

void fwd_reference_drop(void *object, fwd_hold hold) {
  if (hold == FWD_HOLD_WEAK) swift_release(object);
}

void fwd_reference_end(void *object, fwd_hold hold) {
  if (hold == FWD_HOLD_STRONG) swift_release(object);
  if (hold == FWD_HOLD_WEAK) swift_unownedRelease(object);
}

// Without a Swift runtime there are no objects: tests of the C part alone name owners that are none.
void fwd_object_retain(void *object) {
  if (object && swift_retain) swift_retain(object);
}

void fwd_object_release(void *object) {
  if (object && swift_release) swift_release(object);
}
