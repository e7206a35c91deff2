// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Safe memory reclamation: readers follow pointers without a lock, and writers free what they have unlinked once no
/// reader can still be using it.
///
/// The scheme is that of hazard pointers (M. Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects",
/// IEEE TPDS 15(6), 2004), with the intervals of later work (H. Wen et al., "Interval-Based Memory Reclamation", PPoPP
/// 2018) in place of one pointer for each object.
///
/// A *domain* is what readers enter: the subscriber list of one proxy, or the slot of one closure. It has a clock. A
/// reader *announces* the domain and the clock's time in a hazard pointer of its thread, then follows the domain's
/// pointers. A writer unlinks an object so that later readers do not find it, *retires* it, and the object is
/// *reclaimed*, that is freed, as soon as no announced reader entered between the object's birth and its retirement:
///
///     clock     3        4        5        6        7        8
///     object    |  born .......... unlinked, retired |              freed when R1 leaves
///     R1                     enters ------------------------------ leaves
///     R2                                             enters --------------------   not in the way: entered too late
///     R0   enters ------------------------------------------------------------   not in the way: entered too early
///
/// R0 is not in the way if it cannot have found the object, and the object's birth says so. Lists and closures do not
/// state births yet: they pass `fwd_domain_long_ago`, so a reader that entered before the birth delays the object too. A
/// delivery or a batch that lasts long therefore keeps all that its own list retires meanwhile.
///
/// An object that no reader delays is freed by the writer that retires it, before `fwd_retire_all` returns. Otherwise
/// the last reader that delays it frees it when it leaves: a reader that finds the clock moved looks for objects of which
/// it was the last reader. Each domain keeps its own retired objects, newest first, so that neither looks at those of other
/// domains, nor at those that were retired before the reader entered.
///
/// An announcement must be visible before the reader follows a pointer, which takes a fence between a store and a load:
/// more than the rest of a delivery costs. The fence is asymmetric (fence.h): the reader's is free, and the writer pays.

#ifndef FWD_SRC_HAZARD_H
#define FWD_SRC_HAZARD_H

#include "fwd_lock.h"
#include "reclaim/thread.h"

/// Part of an object that is retired.
typedef struct fwd_retired {
  struct fwd_retired *next;
  /// Frees the object. May run foreign code: no lock is held.
  void (*free)(struct fwd_retired *retired);
  /// The clock's times between which readers that entered can have found the object, both included.
  uint64_t born;
  uint64_t ended;
} fwd_retired;

/// What readers enter. All zeroes is an empty one.
typedef struct fwd_domain {
  /// Moved by writers, one at a time: by `fwd_domain_end`, and by `fwd_domain_move_clock`. It may go round.
  _Atomic uint64_t clock;
  /// The retired objects that wait for readers, the latest first. Changed under `lock`.
  _Atomic(fwd_retired *) retired;
  /// Readers that could not announce themselves because memory was short. Nothing is freed while there are any.
  _Atomic uint32_t unannounced;
  fwd_lock lock;
  /// The `fwd_lost_readers` at which all retired objects were last looked at.
  unsigned lost_readers;
  /// Whether a writer could not tell which readers there are. Then all retired objects are to be looked at.
  bool is_unsure;
} fwd_domain;

/// What the clock moves by: the bits below are flags in a hazard pointer.
#define FWD_CLOCK_STEP (FWD_HAZARD_FLAGS + 1)

/// A reader's visit to a domain.
typedef struct fwd_guard {
  /// NULL if the reader could not announce itself.
  fwd_hazard *hazard;
  fwd_domain *domain;
  uint64_t entered;
} fwd_guard;

/// Where the code of a function pointer finds its closure (call/closure.h).
typedef struct fwd_closure_slot {
  /// NULL: there is none any more, and the call returns zeroes. Callers read it as readers of the domain.
  _Atomic(void *) closure;
  fwd_domain domain;
} fwd_closure_slot;

// MARK: Writing

/// The time of a domain's clock, for writers.
static inline uint64_t fwd_domain_time(const fwd_domain *domain) {
  return atomic_load_explicit(&domain->clock, memory_order_relaxed);
}

/// A time before all readers', for objects that a reader may find which entered before they were linked.
static inline uint64_t fwd_domain_long_ago(const fwd_domain *domain) {
  return fwd_domain_time(domain) - (UINT64_C(1) << 60);
}

/// Moves the clock, forward. Readers that find what is linked afterwards find this time, too.
static inline void fwd_domain_move_clock(fwd_domain *domain, uint64_t time) {
  atomic_store_explicit(&domain->clock, time, memory_order_release);
}

/// Says that no reader that enters from now on finds the object, which has been unlinked. It must be retired later.
static inline void fwd_domain_end(fwd_domain *domain, fwd_retired *retired,
                                  void (*free)(fwd_retired *retired), uint64_t born) {
  uint64_t now = fwd_domain_time(domain);
  *retired = (fwd_retired){.free = free, .born = born, .ended = now};
  // Release: a reader that enters at the next time finds the object unlinked.
  fwd_domain_move_clock(domain, now + FWD_CLOCK_STEP);
}

/// Retires objects that `fwd_domain_end` was called for, linked by `next`, the latest first. Frees those that no reader
/// can be using, and the readers free the others. The domain may be freed with the last of them. Must be called under
/// no lock.
void fwd_retire_all(fwd_domain *domain, fwd_retired *first);

/// Frees all retired objects. There must be no reader.
void fwd_domain_drain(fwd_domain *domain);

/// Whether some reader may be in the domain.
bool fwd_domain_is_read(const fwd_domain *domain);

/// The number of objects that wait for readers, for tests.
size_t fwd_domain_waiting(fwd_domain *domain);

// MARK: Details of the inline functions

/// Finds a free hazard pointer where the first is taken, or the thread has no block yet. NULL if memory is short: then
/// the reader has been counted in the domain.
fwd_hazard *fwd_hazard_find(fwd_domain *domain);
void fwd_hazard_leave_unannounced(fwd_domain *domain, uint64_t entered);
/// Frees retired objects that a reader which entered at this time was the last to use.
void fwd_hazard_reclaim(fwd_domain *domain, uint64_t entered);

// MARK: Reading

/// Enters a domain, before its pointers are followed. The reader leaves on any thread.
// Always inline: a guard that is returned in memory is stored in words and loaded in pairs of them, which defeats store
// forwarding.
static inline __attribute__((always_inline)) fwd_guard fwd_hazard_enter(fwd_domain *domain) {
  fwd_guard guard = {.domain = domain};
  // Acquire: what had ended by this time is found unlinked.
  guard.entered = atomic_load_explicit(&domain->clock, memory_order_acquire);
  fwd_thread_block *block = fwd_thread_blocks;
  guard.hazard = block ? &block->hazards[0] : NULL;
  if (FWD_RARELY(!block || atomic_load_explicit(&guard.hazard->domain, memory_order_relaxed))) {
    guard.hazard = fwd_hazard_find(domain);
  }
  if (FWD_USUALLY(guard.hazard)) {
    // The time first: a writer that finds the announcement finds this time, or a later reader's.
    atomic_store_explicit(&guard.hazard->entered, guard.entered, memory_order_release);
    atomic_store_explicit(&guard.hazard->domain, domain, memory_order_release);
    fwd_fence_light();
  }
  return guard;
}

/// Whether the clock has not moved since a time. If a reader entered then, all that it has found until now was linked at
/// that time.
static inline bool fwd_domain_is_at(const fwd_domain *domain, uint64_t time) {
  return atomic_load_explicit(&domain->clock, memory_order_acquire) == time;
}

/// Says that the reader is an object, which thread exit does not end.
static inline void fwd_hazard_detach(fwd_guard guard) {
  if (!guard.hazard) return;
  uint64_t entered = atomic_load_explicit(&guard.hazard->entered, memory_order_relaxed);
  atomic_store_explicit(&guard.hazard->entered, entered | FWD_HAZARD_DETACHED, memory_order_release);
}

/// Leaves a domain, which the caller keeps alive meanwhile.
static inline __attribute__((always_inline)) void fwd_hazard_leave(fwd_guard guard) {
  if (FWD_USUALLY(guard.hazard)) {
    atomic_store_explicit(&guard.hazard->domain, NULL, memory_order_release);
    fwd_fence_light();
  } else {
    fwd_hazard_leave_unannounced(guard.domain, guard.entered);
  }
  if (FWD_RARELY(!fwd_domain_is_at(guard.domain, guard.entered))) fwd_hazard_reclaim(guard.domain, guard.entered);
}

#endif
