// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "members/swift_closure.h"

/// Whether an object's class inherits from another one. Not inlined: a call of the runtime would make its caller save all
/// registers (base/cold_call.h), and most checks do not get here.
__attribute__((noinline)) FWD_KEEPS_REGISTERS static bool inherits(const void *object, const void *class) {
  return swift_dynamicCastClass(object, class) != NULL;
}

FWD_KEEPS_REGISTERS bool fwd_swift_closure_takes_slowly(const fwd_swift_closure *closure, void *const *arguments) {
  for (uint64_t left = closure->non_null; left; left &= left - 1) {
    if (!*(void *const *)arguments[__builtin_ctzll(left)]) return false;
  }
  for (uint64_t left = closure->bools; left; left &= left - 1) {
    if (*(const unsigned char *)arguments[__builtin_ctzll(left)] > 1) return false;
  }
  const void *const *class = closure->classes;
  for (uint64_t left = closure->objects; left; left &= left - 1, class++) {
    const void *object = *(const void *const *)arguments[__builtin_ctzll(left)];
    // Most objects are of the class itself, which is their first word.
    if (object && *(const void *const *)object != *class && !inherits(object, *class)) return false;
  }
  return true;
}
