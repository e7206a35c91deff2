// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Hazard pointers (M. Michael, 2004): a thread says which object it is using, in a place of its own, and
/// whoever wants to free an object first looks whether a thread is using it. Saying so is a plain store: no
/// counter that threads share, and no locked instruction.
///
/// The store must be visible before the thread looks whether the object is still there. A fence after each
/// would cost more than all the rest, so the other side pays: it makes every thread of the process run a
/// barrier (membarrier(2)) before it looks at their places. Where the system has no such call, and under the
/// thread sanitizer, the store is a locked exchange instead.

#ifndef FWD_SRC_HAZARD_H
#define FWD_SRC_HAZARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/// What one thread is using. Nested uses take one place each.
enum { FWD_HAZARD_PLACES = 16 };

typedef struct fwd_hazards {
  _Atomic(void *) places[FWD_HAZARD_PLACES];
  /// How many are in use; the thread's own.
  size_t depth;
  struct fwd_hazards *next;
  _Atomic bool taken;
} fwd_hazards;

/// Whether stores need a fence of their own. Set once, before the first thread has hazards.
extern bool fwd_hazard_is_fenced;

/// The calling thread's hazards, NULL if memory is short.
fwd_hazards *fwd_hazards_make(void);
extern _Thread_local fwd_hazards *fwd_hazards_of_thread;

static inline fwd_hazards *fwd_hazards_mine(void) {
  fwd_hazards *mine = fwd_hazards_of_thread;
  return mine ? mine : fwd_hazards_make();
}

/// Says that the thread uses `object`, before it looks whether it may.
static inline void fwd_hazard_store(_Atomic(void *) *place, void *object) {
  if (fwd_hazard_is_fenced) {
    atomic_exchange_explicit(place, object, memory_order_seq_cst);
  } else {
    atomic_store_explicit(place, object, memory_order_release);
    // The compiler must not move what follows in front of the store; the processor is told by membarrier.
    atomic_signal_fence(memory_order_seq_cst);
  }
}

/// Makes the stores of all threads visible, and the calling thread's own to them.
void fwd_hazard_barrier(void);

/// Whether a thread uses `object`. After `fwd_hazard_barrier`.
bool fwd_hazard_is_used(const void *object);

#endif
