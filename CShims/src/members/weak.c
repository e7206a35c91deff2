// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Weak references to Swift objects.
///
/// To load and release a Swift `weak` variable costs more than the rest of a delivery. So subscriptions use an unowned
/// reference instead. It keeps the object's memory allocated, but does not keep the object alive. The pointer stays
/// valid, and `swift_tryRetain` does what a load of a `weak` variable does: it retains the object, or returns NULL if
/// deinitialisation has begun. The memory of a dead object stays allocated until the reference is destroyed.
///
/// If the Swift runtime has no `swift_tryRetain`, subscriptions use *stock references*: Swift's own `weak`, through the
/// functions that the compiler calls for it. A stock reference also has an unowned reference. The list finds a
/// subscription by its object's address, so no other object may get that address while the subscription exists.

// All functions below are for native Swift objects. On Darwin a subscriber may also be an Objective-C object, such as
// an instance of a subclass of NSObject, and `swift_unownedRetain` would overwrite its first words. The
// `swift_unknownObject...` functions do not help: their unowned references do not keep the address from being reused.
#if defined(__APPLE__) && !defined(FWD_NATIVE_OBJECTS_ONLY)
#error "weak.c would corrupt Objective-C objects. Define FWD_NATIVE_OBJECTS_ONLY if no subscriber is one."
#endif

#include "fwd_weak.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "members/held.h"
#include "members/swift_runtime.h"
#include "members/taking.h"

/// A stock reference.
struct stock {
  /// The Swift runtime's weak reference.
  void *reference[2];
  /// Has an unowned reference, too.
  void *object;
  /// Whether a load has returned NULL: then the object has begun to deinitialise.
  _Atomic bool has_failed;
};

static struct stock *stock_of(fwd_weak reference) {
  return (struct stock *)(reference & ~(uintptr_t)FWD_HELD_BITS);
}

static bool is_stock(fwd_weak reference) { return fwd_held_is_stock(reference); }

bool fwd_unowned_is_in_use;

__attribute__((constructor)) static void read_environment(void) {
#if !defined(FWD_STOCK_WEAK)
  const char *asked = getenv("FWD_WEAK");
  fwd_unowned_is_in_use = swift_tryRetain && !(asked && strcmp(asked, "stock") == 0);
#endif
}

fwd_weak_kind fwd_weak_kind_in_use(void) { return fwd_unowned_is_in_use ? FWD_WEAK_UNOWNED : FWD_WEAK_STOCK; }

fwd_weak fwd_weak_create(void *object, fwd_weak_kind kind) {
  // See `fwd_holds_unowned` for the second condition.
  if (kind == FWD_WEAK_UNOWNED && ((uintptr_t)object & FWD_HELD_BITS) == 0) {
    fwd_retain_unowned(object);
    return (fwd_weak)object;
  }
  struct stock *made = calloc(1, sizeof *made);
  if (!made) return 0;
  swift_unownedRetain(object);
  made->object = object;
  swift_weakInit(made->reference, object);
  return (fwd_weak)made | FWD_HELD_STOCK;
}

void fwd_weak_destroy(fwd_weak reference) {
  if (is_stock(reference)) {
    struct stock *stock = stock_of(reference);
    swift_weakDestroy(stock->reference);
    swift_unownedRelease(stock->object);
    free(stock);
  } else {
    fwd_release_unowned((void *)(reference & ~(uintptr_t)FWD_HELD_BITS));
  }
}

fwd_weak fwd_weak_borrow(void *object, fwd_weak_kind kind) {
  bool is_plain = kind == FWD_WEAK_UNOWNED && ((uintptr_t)object & FWD_HELD_BITS) == 0;
  return is_plain ? (fwd_weak)object : fwd_weak_create(object, FWD_WEAK_STOCK);
}

void fwd_weak_end_borrowed(fwd_weak reference) {
  if (is_stock(reference)) fwd_weak_destroy(reference);
}

void *fwd_weak_take(fwd_weak reference) {
  if (!is_stock(reference)) return fwd_take_weak(reference);
  struct stock *stock = stock_of(reference);
  void *object = swift_weakLoadStrong(stock->reference);
  if (!object) atomic_store_explicit(&stock->has_failed, true, memory_order_relaxed);
  return object;
}

bool fwd_weak_has_died(fwd_weak reference) {
  if (swift_isDeallocating) return fwd_is_deinitialising(fwd_weak_address(reference));
  return is_stock(reference) &&
         atomic_load_explicit(&stock_of(reference)->has_failed, memory_order_relaxed);
}

void *fwd_weak_address(fwd_weak reference) {
  return is_stock(reference) ? stock_of(reference)->object
                             : (void *)(reference & ~(uintptr_t)FWD_HELD_BITS);
}

bool fwd_object_is_dying(void *object) {
  if (swift_isDeallocating) return fwd_is_deinitialising(object);
  if (!swift_weakInit) return false;
  // `swift_weakInit` makes an empty reference if the object is being deinitialised.
  void *reference[2];
  swift_weakInit(reference, object);
  void *taken = swift_weakLoadStrong(reference);
  swift_weakDestroy(reference);
  // The caller has a reference too, so this release is not the last one.
  if (taken) swift_release(taken);
  return !taken;
}

// Without a Swift runtime there are no Swift objects. The tests of the C target alone pass other pointers as owners.
void fwd_object_retain(void *object) {
  if (object && swift_retain) swift_retain(object);
}

void fwd_object_release(void *object) {
  if (object && swift_release) fwd_release_counted(object);
}
