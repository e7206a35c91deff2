// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Hazard pointers (M. Michael, 2004): a thread announces which object it is using, in a place of its own, and
/// what is to be freed is first retired, until no thread announces it.
///
/// An announcement is a plain store: no counter that threads share, and no locked instruction. It must be
/// visible before the thread looks whether the object is still there. A fence after each would cost more than
/// all the rest, so the other side pays: it makes every thread of the process run a barrier (membarrier(2))
/// before it looks at the places. Where the system has no such call when it is first asked, and under the
/// thread sanitizer, the store is a locked exchange instead.
///
/// A retired object is freed by who retires it if it is not in use, else by who uses it last, before that one
/// goes on: a user sees when it leaves that something was retired in the meantime. Nobody frees what others have
/// to do with, so that it is done when they have returned.
///
/// With an announcement stands how many objects had been retired when the use began. So one address may stand
/// for many objects that come and go, as the arrays of a list do: a use is in the way only of what was retired
/// after it began, and uses that overlap without an end keep nothing for ever.

#ifndef FWD_SRC_HAZARD_H
#define FWD_SRC_HAZARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
// Defines __GLIBC__ too.
#include <stdint.h>

/// Where a thread announces one use.
typedef struct fwd_place {
  /// NULL while there is none.
  _Atomic(const void *) announced;
  /// The count of retirements when the use began; written before the announcement.
  _Atomic size_t generation;
} fwd_place;

/// A block of places of one thread. Threads with more uses at a time than a block has take further
/// ones.
enum { FWD_HAZARD_PLACES = 6 };

typedef struct fwd_hazards {
  _Alignas(64) fwd_place places[FWD_HAZARD_PLACES];
  /// The thread's next block.
  struct fwd_hazards *more;
  /// The next of all blocks.
  struct fwd_hazards *next;
  _Atomic bool taken;
} fwd_hazards;

// Two cache lines: what two threads write at each use does not share one.
_Static_assert(sizeof(fwd_hazards) == 128, "a block fills two cache lines");

/// A use that has been announced.
typedef struct fwd_guard {
  /// NULL if it could not be announced.
  fwd_place *place;
  const void *announced;
  size_t generation;
} fwd_guard;

/// What waits until nobody uses it: part of an object that cannot be reached any more.
typedef struct fwd_retired {
  struct fwd_retired *next;
  /// What users of the object announce.
  const void *announced;
  void (*free)(struct fwd_retired *retired);
  /// Set by `fwd_retire_all`: uses that begin later do not find the object.
  size_t generation;
} fwd_retired;

/// Frees objects by `retired->free`, each as soon as no use that began before is announced by
/// `retired->announced`, perhaps at once. No lock is held then. They are linked by `next`, and
/// announced by the same address.
void fwd_retire_all(fwd_retired *first);

/// The same for one object.
static inline void fwd_retire(fwd_retired *retired) {
  retired->next = NULL;
  fwd_retire_all(retired);
}

/// Whether somebody may be using what is announced by this address. Asks all threads.
bool fwd_hazard_may_be_used(const void *announced);

// MARK: Details of the two inline functions

// Code of a shared library would look up where its own variables are if they were not hidden.
#define FWD_HAZARD_VARIABLE extern __attribute__((visibility("hidden")))
// Position-independent code calls a function for the address of a thread's variable, and has to
// save all argument registers around that: not so in this model. glibc keeps room for a few such
// words in libraries that are loaded later; other systems refuse to load them.
#if defined(__ELF__) && defined(__GLIBC__)
#define FWD_HAZARD_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define FWD_HAZARD_THREAD_LOCAL _Thread_local
#endif

// What is usual stands in a row, with no jump taken: in so little code they take much of the time.
#define FWD_USUALLY(condition) __builtin_expect(!!(condition), 1)
#define FWD_RARELY(condition) __builtin_expect(!!(condition), 0)

/// Whether stores need a fence of their own. Set once, before the first thread has places.
FWD_HAZARD_VARIABLE bool fwd_hazard_is_fenced;
/// Counts retirements.
FWD_HAZARD_VARIABLE atomic_size_t fwd_hazard_generation;
/// The calling thread's first block.
FWD_HAZARD_VARIABLE FWD_HAZARD_THREAD_LOCAL fwd_hazards *fwd_hazards_of_thread;
/// Finds a free place where the first is taken, or there are no blocks yet. NULL if memory is short: the use is
/// then counted, and nothing is freed meanwhile.
fwd_place *fwd_hazard_find_place(void);
void fwd_hazard_leave_unannounced(void);
/// Frees what was retired, is announced by this address (NULL: whatever it is), and is not used any more.
void fwd_hazard_reclaim(const void *announced);

static inline void fwd_hazard_store(fwd_place *place, const void *object) {
  if (FWD_RARELY(fwd_hazard_is_fenced)) {
    atomic_exchange_explicit(&place->announced, object, memory_order_seq_cst);
  } else {
    atomic_store_explicit(&place->announced, object, memory_order_release);
    // The compiler must not move what follows in front of the store; the processor is told by
    // membarrier.
    atomic_signal_fence(memory_order_seq_cst);
  }
}

// MARK: Using

/// Announces a use of what is known by the address `announced`, before looking whether it is there. The use ends
/// on the same thread.
// Inline in any case: a guard in memory is written in words and read in pairs of them, and has to wait.
static inline __attribute__((always_inline)) fwd_guard fwd_hazard_enter(const void *announced) {
  fwd_guard guard = {.announced = announced};
  // Acquire: if this count includes a retirement, the object is seen to be gone.
  guard.generation = atomic_load_explicit(&fwd_hazard_generation, memory_order_acquire);
  fwd_hazards *mine = fwd_hazards_of_thread;
  guard.place = mine ? &mine->places[0] : NULL;
  if (FWD_RARELY(!mine || atomic_load_explicit(&guard.place->announced, memory_order_relaxed))) {
    guard.place = fwd_hazard_find_place();
  }
  if (FWD_USUALLY(guard.place)) {
    // In front of the announcement, which is stored with release: whoever finds that finds this, or
    // that of a later use.
    atomic_store_explicit(&guard.place->generation, guard.generation, memory_order_release);
    fwd_hazard_store(guard.place, announced);
  }
  return guard;
}

/// Ends a use. `found` says whether the object was there: a use that came too late may have been in the way of
/// whoever retired it, and before it came, the count had gone up already.
static inline __attribute__((always_inline)) void fwd_hazard_leave(fwd_guard guard, bool found) {
  if (FWD_USUALLY(guard.place)) {
    fwd_hazard_store(guard.place, NULL);
  } else {
    fwd_hazard_leave_unannounced();
  }
  size_t generation = atomic_load_explicit(&fwd_hazard_generation, memory_order_acquire);
  if (FWD_RARELY(!found || generation != guard.generation)) {
    fwd_hazard_reclaim(guard.announced);
  }
}

#endif
