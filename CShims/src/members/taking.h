// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How references to objects are counted: the one that keeps a weakly held object alive during a delivery, and the unowned
/// one of a subscription.
///
/// Two atomic read-modify-writes, to retain and to release the object, take most of a delivery's time. While the process
/// has one thread, the word of the reference counts is changed by a plain load and a plain store. A delivery may start a
/// thread, so the release asks again. By which of the two ways the object was retained does not matter: the count is the
/// same.
///
///     bit   63         62 ... 33             32            31 ... 0
///           slow way   strong count minus 1  deinitialises unowned count and a flag
///
/// That is the word of a native Swift object on 64-bit platforms (stdlib/public/SwiftShims/swift/shims/RefCount.h). The
/// runtime does not promise it, so taking.c compares it with what the runtime does, when the library is loaded. The code here
/// is for the usual case. The runtime's functions do the rest: side tables, immortal objects, an object that deinitialises, and
/// the last release.

#ifndef FWD_SRC_TAKING_H
#define FWD_SRC_TAKING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cold_call.h"
#include "base/one_thread.h"
#include "fwd_weak.h"
#include "members/held.h"
#include "members/swift_runtime.h"

/// Whether the runtime's objects have the word of the drawing.
extern __attribute__((visibility("hidden"))) bool fwd_counts_are_known;

/// The word with the reference counts of an object.
static inline uint64_t *fwd_counts_of(void *object) { return (uint64_t *)object + 1; }

/// One reference in that word.
#define FWD_ONE_REFERENCE (UINT64_C(1) << 33)

static inline __attribute__((always_inline)) uint64_t fwd_one_reference(void) {
  // Compilers would load a constant of more than 32 bits before a loop, and keep it across the deliveries. They load a small one
  // where it is used.
  uint64_t upper = FWD_ONE_REFERENCE >> 32;
  __asm__ volatile("" : "+r"(upper));
  return upper << 32;
}

/// Retains the object of a subscription that holds it by an unowned reference, without a call. Returns false if the object has
/// begun to deinitialise, or the word does not have its counts. Then the caller must ask the runtime.
static inline __attribute__((always_inline)) bool fwd_retain_in_word(void *object) {
  if (__builtin_expect(!fwd_counts_are_known, 0)) return false;
  uint64_t *counts = fwd_counts_of(object), old = __atomic_load_n(counts, __ATOMIC_RELAXED), retained;
  const uint64_t one = fwd_one_reference();
  // Bit 63 must be clear in all three: the counts are in the word, the sum has not overflowed, and the object does not
  // deinitialise (bit 32, shifted).
  while (__builtin_expect((int64_t)(old | (retained = old + one) | old << 31) >= 0, 1)) {
    if (fwd_has_one_thread()) {
      __atomic_store_n(counts, retained, __ATOMIC_RELAXED);
      return true;
    }
    if (__atomic_compare_exchange_n(counts, &old, retained, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return true;
  }
  return false;
}

/// The slow path of `fwd_take_weak`: calls `swift_tryRetain`, and keeps the caller's registers, which the runtime does not.
FWD_KEEPS_REGISTERS void *fwd_retain_slowly(void *object);

/// Retains the object of a subscription that holds it by an unowned reference. Returns NULL if the object has begun to
/// deinitialise.
static inline __attribute__((always_inline)) void *fwd_take_weak(uintptr_t held) {
  void *object = (void *)held;
  return __builtin_expect(fwd_retain_in_word(object), 1) ? object : fwd_retain_slowly(object);
}

/// Releases a native Swift object without a call. Returns false if this may be the last reference, or the word does not have the
/// counts. Then the caller must let the runtime release the object.
static inline __attribute__((always_inline)) bool fwd_release_in_word(void *object) {
  if (__builtin_expect(!fwd_counts_are_known, 0)) return false;
  uint64_t *counts = fwd_counts_of(object), old = __atomic_load_n(counts, __ATOMIC_RELAXED);
  const uint64_t one = fwd_one_reference();
  // Not the last reference, and bit 63 is not set.
  while (__builtin_expect((int64_t)old >= (int64_t)one, 1)) {
    uint64_t released = old - one;
    if (fwd_has_one_thread()) {
      __atomic_store_n(counts, released, __ATOMIC_RELAXED);
      return true;
    }
    // Release: the thread that releases the last reference sees what the subscriber has done.
    if (__atomic_compare_exchange_n(counts, &old, released, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return true;
  }
  return false;
}

/// Releases a native Swift object. If this was the last reference, the object deinitialises here.
static inline __attribute__((always_inline)) void fwd_release_counted(void *object) {
  if (__builtin_expect(!fwd_release_in_word(object), 0)) swift_release(object);
}

/// One unowned reference in that word.
#define FWD_ONE_UNOWNED UINT64_C(2)

/// Whether subscriptions hold objects by unowned references: what `fwd_weak_kind_in_use` says.
extern __attribute__((visibility("hidden"))) bool fwd_unowned_is_in_use;

/// Whether a subscription holds an object by an unowned reference. The low bits of the word are the kind (held.h), so the
/// address must not use them. Swift aligns objects, but if it did not, the object would get a stock reference.
static inline bool fwd_holds_unowned(void *object) {
  return fwd_unowned_is_in_use && ((uintptr_t)object & FWD_HELD_BITS) == 0;
}

/// Adds an unowned reference to an object, which keeps its memory.
static inline void fwd_retain_unowned(void *object) {
  if (__builtin_expect(fwd_counts_are_known, 1)) {
    uint64_t *counts = fwd_counts_of(object), old = __atomic_load_n(counts, __ATOMIC_RELAXED);
    // The counts are in the word, and the sum does not overflow.
    while (__builtin_expect((int64_t)old >= 0 && (uint32_t)old < UINT32_MAX - FWD_ONE_UNOWNED, 1)) {
      uint64_t retained = old + FWD_ONE_UNOWNED;
      if (fwd_has_one_thread()) {
        __atomic_store_n(counts, retained, __ATOMIC_RELAXED);
        return;
      }
      if (__atomic_compare_exchange_n(counts, &old, retained, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
  }
  swift_unownedRetain(object);
}

/// Removes an unowned reference. If it was the last one, the memory is freed.
static inline void fwd_release_unowned(void *object) {
  if (__builtin_expect(fwd_counts_are_known, 1)) {
    uint64_t *counts = fwd_counts_of(object), old = __atomic_load_n(counts, __ATOMIC_RELAXED);
    // The lowest bit is a flag. The strong references of a live object count as one unowned reference together.
    while (__builtin_expect((int64_t)old >= 0 && (uint32_t)old >> 1 > 1, 1)) {
      uint64_t released = old - FWD_ONE_UNOWNED;
      if (fwd_has_one_thread()) {
        __atomic_store_n(counts, released, __ATOMIC_RELAXED);
        return;
      }
      // Release, for runtimes that acquire before they free the memory. Swift's own is relaxed.
      if (__atomic_compare_exchange_n(counts, &old, released, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return;
    }
  }
  swift_unownedRelease(object);
}

/// Finds out from the counts whether an object has begun to deinitialise. Returns false if they do not tell. The object's
/// memory must be allocated.
static inline __attribute__((always_inline)) bool fwd_counts_tell(void *object, bool *is_dying) {
  if (__builtin_expect(!fwd_counts_are_known, 0)) return false;
  uint64_t counts = __atomic_load_n(fwd_counts_of(object), __ATOMIC_RELAXED);
  *is_dying = counts >> 32 & 1;
  return __builtin_expect((int64_t)counts >= 0, 1);
}

/// Whether an object has begun to deinitialise. Its memory must be allocated, and the runtime must have
/// `swift_isDeallocating`.
static inline bool fwd_is_deinitialising(void *object) {
  bool is_dying;
  return fwd_counts_tell(object, &is_dying) ? is_dying : swift_isDeallocating(object);
}

/// `fwd_object_is_dying`, without a call in the usual case.
static inline bool fwd_is_dying(void *object) {
  bool is_dying;
  return fwd_counts_tell(object, &is_dying) ? is_dying : fwd_object_is_dying(object);
}

/// `fwd_weak_has_died`, without a call in the usual case.
static inline bool fwd_weak_is_dead(fwd_weak reference) {
  bool is_dying;
  void *object = (void *)(reference & ~(uintptr_t)FWD_HELD_BITS);
  if (!fwd_held_is_stock(reference) && fwd_counts_tell(object, &is_dying)) return is_dying;
  return fwd_weak_has_died(reference);
}

#endif
