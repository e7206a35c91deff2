// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A weak reference to a Swift object without Swift's `weak`, whose load and release cost more than
/// all the rest of a delivery: an unowned reference keeps the object's memory (not its life), so the
/// pointer stays good to ask, and `swift_tryRetain` answers as a `weak` load would: NULL once
/// deinitialisation has begun. The price: the memory of a dead object stays until the reference ends.
///
/// Where the runtime has no `swift_tryRetain`, Swift's own `weak` does it, through the functions that
/// the compiler calls for it. The unowned reference stays even so: by the object's address
/// subscriptions are found, so that it must not become another's.

#include "fwd_weak.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "members/held.h"
#include "members/swift_runtime.h"

/// A stock reference. Swift's runtime puts its own into the first words.
struct stock {
  void *reference[2];
  void *object;
  /// That a take has failed: never before the object began to deinitialise.
  _Atomic bool has_failed;
};

static struct stock *stock_of(fwd_weak reference) {
  return (struct stock *)(reference & ~(uintptr_t)FWD_HELD_BITS);
}

static bool is_stock(fwd_weak reference) { return fwd_held_is_stock(reference); }

static bool stock_is_asked_for;

__attribute__((constructor)) static void read_environment(void) {
  const char *asked = getenv("FWD_WEAK");
  stock_is_asked_for = asked && strcmp(asked, "stock") == 0;
}

fwd_weak_kind fwd_weak_kind_in_use(void) {
#if defined(FWD_STOCK_WEAK)
  return FWD_WEAK_STOCK;
#else
  return stock_is_asked_for || !swift_tryRetain ? FWD_WEAK_STOCK : FWD_WEAK_UNOWNED;
#endif
}

fwd_weak fwd_weak_create(void *object, fwd_weak_kind kind) {
  // An object at an address with low bits, of which there is none, would be taken for something else.
  if (kind == FWD_WEAK_UNOWNED && ((uintptr_t)object & FWD_HELD_BITS) == 0) {
    swift_unownedRetain(object);
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
    swift_unownedRelease((void *)(reference & ~(uintptr_t)FWD_HELD_BITS));
  }
}

void *fwd_weak_take(fwd_weak reference) {
  if (!is_stock(reference)) return swift_tryRetain((void *)reference);
  struct stock *stock = stock_of(reference);
  void *object = swift_weakLoadStrong(stock->reference);
  if (!object) atomic_store_explicit(&stock->has_failed, true, memory_order_relaxed);
  return object;
}

bool fwd_weak_has_died(fwd_weak reference) {
  if (swift_isDeallocating) return swift_isDeallocating(fwd_weak_address(reference));
  return is_stock(reference) &&
         atomic_load_explicit(&stock_of(reference)->has_failed, memory_order_relaxed);
}

void *fwd_weak_address(fwd_weak reference) {
  return is_stock(reference) ? stock_of(reference)->object
                             : (void *)(reference & ~(uintptr_t)FWD_HELD_BITS);
}

bool fwd_object_is_dying(void *object) {
  if (swift_isDeallocating) return swift_isDeallocating(object);
  // A `weak` reference to a dying object is empty from the beginning.
  void *reference[2];
  swift_weakInit(reference, object);
  void *taken = swift_weakLoadStrong(reference);
  swift_weakDestroy(reference);
  // The caller has it alive, or dying: this is not the last reference.
  if (taken) swift_release(taken);
  return !taken;
}

// Without a Swift runtime there are no objects: tests of the C part alone name owners that are none.
void fwd_object_retain(void *object) {
  if (object && swift_retain) swift_retain(object);
}

void fwd_object_release(void *object) {
  if (object && swift_release) swift_release(object);
}
