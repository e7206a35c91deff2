// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The taps of a list's methods, for fan-outs.

#ifndef FWD_SRC_TAPS_H
#define FWD_SRC_TAPS_H

#include <stdatomic.h>
#include <stdint.h>

#include "fwd_garbage.h"
#include "fwd_taps.h"
#include "members/segments.h"

struct fwd_liveness {
  /// The calls that may still begin: SIZE_MAX for any number, 0 after the end.
  _Atomic size_t remaining;
};

/// Does what `fwd_liveness_holds` does, inline.
static inline bool fwd_tap_holds(const fwd_tap *tap) {
  return atomic_load_explicit(&tap->liveness->remaining, memory_order_acquire) > 0;
}
/// Whether any number of calls may still begin.
static inline bool fwd_tap_is_unlimited(const fwd_tap *tap) {
  return atomic_load_explicit(&tap->liveness->remaining, memory_order_acquire) == SIZE_MAX;
}
/// Does what `fwd_liveness_take` does, inline for interceptors without a limit.
static inline bool fwd_tap_take(const fwd_tap *tap) {
  return __builtin_expect(fwd_tap_is_unlimited(tap), 1) || fwd_liveness_take(tap->liveness);
}

struct fwd_taps {
  fwd_retired retired;
  void *owner;
  size_t before_count, after_count;
  bool has_stub;
  /// The closure of the only interceptor if there is only one, it does not replace the subscribers, and its closure takes any
  /// bytes as arguments. Otherwise NULL. Set when the list gets the taps.
  const fwd_swift_closure *lone;
  /// Those before, the one instead, and those after.
  fwd_tap taps[];
};

/// The taps of a method; NULL if it is not intercepted, or not by closures alone. For readers of the list.
static inline const fwd_taps *fwd_list_taps(const fwd_subscriber_list *list, size_t method) {
  _Atomic(fwd_taps *) *all = atomic_load_explicit(&list->taps, memory_order_acquire);
  return all ? atomic_load_explicit(&all[method], memory_order_acquire) : NULL;
}

/// Takes the new taps of a method, which may be NULL. The garbage has the old ones. For the writer.
void fwd_list_set_taps(fwd_subscriber_list *list, size_t method, fwd_taps *taps, fwd_garbage *garbage);

/// Leaves all taps behind. For the writer.
void fwd_list_end_taps(fwd_subscriber_list *list, fwd_garbage *garbage);

/// Frees the memory for taps, of which there must be none. There must be no reader.
void fwd_list_free_taps(fwd_subscriber_list *list);

#endif
