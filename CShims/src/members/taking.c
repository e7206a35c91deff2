// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Finds out whether the runtime counts references in the way that taking.h describes. Also has the slow path of
/// `fwd_take_weak`.

#include "members/taking.h"

bool fwd_counts_are_known;

__attribute__((noinline)) FWD_KEEPS_REGISTERS void *fwd_retain_slowly(void *object) { return swift_tryRetain(object); }

#if UINTPTR_MAX == UINT64_MAX

/// The word of a new object: one unowned reference, and the flag of objects without Objective-C's state.
static const uint64_t counts_of_new_object = 3;
static const uint64_t deinitialises = UINT64_C(1) << 32;

/// Compares what the runtime does to an object that consists of the header alone. The runtime reads nothing else of an
/// object unless it releases the last reference.
static bool runtime_counts_so(void) {
  uint64_t object[2] = {0, counts_of_new_object};
  const uint64_t *counts = fwd_counts_of(object);
  if (swift_retainCount(object) != 1) return false;
  if (swift_tryRetain(object) != object || *counts != counts_of_new_object + FWD_ONE_REFERENCE) return false;
  if (swift_retain(object) != object || *counts != counts_of_new_object + 2 * FWD_ONE_REFERENCE) return false;
  if (swift_retainCount(object) != 3) return false;
  swift_release(object);
  swift_release(object);
  if (*counts != counts_of_new_object) return false;
  // The counterpart, `swift_unownedRelease`, reads the class in runtimes with assertions.
  if (swift_unownedRetain(object) != object || *counts != counts_of_new_object + FWD_ONE_UNOWNED) return false;
  object[1] = counts_of_new_object + deinitialises;
  return !swift_tryRetain(object) && *counts == counts_of_new_object + deinitialises;
}

// Before main, so that a fan-out only has to read the answer.
__attribute__((constructor)) static void ask_runtime(void) {
  fwd_counts_are_known =
      swift_retainCount && swift_tryRetain && swift_retain && swift_release && swift_unownedRetain &&
      swift_unownedRelease && runtime_counts_so();
}

#endif
