// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Hazard pointers: a retired object is freed once no thread can still be reading it. Readers take no lock.
///
/// The scheme combines two known ones. In Michael's ("Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects",
/// IEEE TPDS 15(6), 2004) a hazard pointer names one object. Here it names a *domain* and a time, and so protects every
/// object of the domain that was reachable at that time, as an epoch does in Fraser's ("Practical Lock-Freedom", 2004).
///
/// A *domain* is what readers enter: the subscriber list of one proxy, or the slot of one closure. It has a clock. A
/// reader *announces* the domain and the clock's time in a hazard pointer of its thread, then follows the domain's
/// pointers. A writer unlinks an object so that later readers do not find it, moves the clock, and *retires* the object.
/// It is *reclaimed*, that is freed, when no announced reader entered before it was unlinked:
///
///     clock     3        4        5        6        7        8
///     object    ................. unlinked, retired |              freed when R1 leaves
///     R1                enters ----------------------------------- leaves
///     R2                                             enters --------------------   not in the way: entered too late
///
/// An object that no reader delays is freed by the writer that retires it, before `fwd_retire_all` returns. Otherwise
/// the last reader that delays it frees it: a reader that finds on leaving that the clock has moved checks the domain's
/// queue of retired objects. The queue has the earliest object first. The reader frees objects from the front and stops
/// at the first that is still in use, so the work is proportional to what it frees.
///
/// A long delivery or batch delays every object that its domain retires until it ends, including objects that were
/// created after it began and that it cannot reach. To free these earlier, each record would need its time of creation
/// (8 bytes), and each delivery a second load of the clock. The page "What a delivery costs" gives the memory cost.
///
/// An announcement must be visible before the reader follows a pointer, which takes a fence between a store and a load:
/// more than the rest of a delivery costs. The fence is asymmetric (fence.h): the reader's is free, and the writer pays.
///
/// The writer pays only if another thread has entered the domain: most lists are read and changed by one thread. `readers`
/// names that thread. Each thread notes its first entry there. hazard.c explains why that is enough.
///
/// The hazard pointers of a thread are in *blocks* (thread.h). The thread's outermost visit uses a hazard pointer alone. So does
/// the next one inside of it, if the second hazard pointer of the first block is free. Deeper visits *share*: visits of one
/// domain use one hazard pointer, which shows the time of the first of them and counts them. So the number of hazard pointers
/// does not grow with the depth of a recursion. A visit that shares also delays objects that were unlinked between the first
/// visit's start and its own. The last visit to leave clears the hazard pointer. That may be any of them, since a thread may
/// run fibers. Batches do not share, since they may end on other threads.

#ifndef FWD_SRC_HAZARD_H
#define FWD_SRC_HAZARD_H

#include "base/cold_call.h"
#include "fwd_lock.h"
#include "reclaim/thread.h"

/// Part of an object that is retired.
typedef struct fwd_retired {
  struct fwd_retired *next;
  /// Frees the object. May run foreign code: no lock is held.
  void (*free)(struct fwd_retired *retired);
  /// The clock's time when the object had been unlinked. Readers that entered then, or earlier, may use it.
  uint64_t ended;
} fwd_retired;

/// Which threads have entered a domain. A value that is not listed here is the number of a block: only threads with that first
/// block have entered.
typedef enum fwd_readers {
  /// Any thread may have: several have entered, the domain does not note its readers, or a reader's block has no number.
  FWD_READERS_UNKNOWN = 0,
  /// No thread has entered yet.
  FWD_READERS_NONE = 1,
} fwd_readers;

_Static_assert(FWD_READERS_UNKNOWN == 0 && (int)FWD_READERS_NONE < (int)FWD_FIRST_BLOCK_NUMBER,
               "a block's number, or 0 for none, is no other fwd_readers");

/// What readers enter. All zeros is an empty one, which does not note its readers.
typedef struct fwd_domain {
  /// Moved by `fwd_domain_end`, by one writer at a time. It may go round.
  _Atomic uint64_t clock;
  /// The queue of retired objects that wait for readers: the latest, which is linked to the earliest. Changed under
  /// `lock`.
  _Atomic(fwd_retired *) retired;
  /// Readers that could not announce themselves because memory was short. Nothing is freed while there are any.
  _Atomic uint32_t unannounced;
  fwd_lock lock;
  /// Whether a writer's heavy fence has failed, so that some reader's announcement may not be visible yet.
  bool is_unsure;
  /// A `fwd_readers` or a block's number. It changes from NONE to a number or UNKNOWN, and from a number to UNKNOWN. 16 bits
  /// fill padding.
  _Atomic uint16_t readers;
} fwd_domain;

/// What the clock moves by: the bits below are flags in a hazard pointer.
#define FWD_CLOCK_STEP (FWD_HAZARD_FLAGS + 1)

/// The hazard pointer of a reader that could not announce itself, since memory was short.
#define FWD_HAZARD_NONE ((fwd_hazard *)1)

/// A reader's visit to a domain.
typedef struct fwd_guard {
  /// A hazard pointer that only this visit has. Or else, with an odd address, `FWD_HAZARD_NONE` or the address of a shared one
  /// plus 1. See `fwd_hazard_is_own`.
  fwd_hazard *hazard;
  fwd_domain *domain;
  uint64_t entered;
} fwd_guard;

/// Where the code of a function pointer finds its closure (call/closure.h).
typedef struct fwd_closure_slot {
  /// NULL: there is none any more, and the call returns zeros. Callers read it as readers of the domain.
  _Atomic(void *) closure;
  fwd_domain domain;
} fwd_closure_slot;

// MARK: Writing

/// Records when an object was unlinked, and moves the clock, so that later readers count as unable to find it. Must be
/// called after the object is unlinked. Does not free: pass the object to `fwd_retire_all` later.
static inline void fwd_domain_end(fwd_domain *domain, fwd_retired *retired, void (*free)(fwd_retired *retired)) {
  uint64_t now = atomic_load_explicit(&domain->clock, memory_order_relaxed);
  *retired = (fwd_retired){.free = free, .ended = now};
  // Release: a reader that enters at the next time finds the object unlinked.
  atomic_store_explicit(&domain->clock, now + FWD_CLOCK_STEP, memory_order_release);
}

/// Retires objects that `fwd_domain_end` was called for, linked by `next`, the earliest first. Frees those that no reader
/// can be using, and the readers free the others. The domain may be freed with the last of them. Must be called under
/// no lock.
void fwd_retire_all(fwd_domain *domain, fwd_retired *first);

/// Frees all retired objects. There must be no reader and no writer.
void fwd_domain_drain(fwd_domain *domain);

/// Whether some reader may be in the domain.
bool fwd_domain_is_read(fwd_domain *domain);

/// The number of objects that wait for readers, for tests.
size_t fwd_domain_waiting(fwd_domain *domain);

// MARK: Details of the inline functions

/// Whether a visit has a hazard pointer that no other visit shares.
static inline bool fwd_hazard_is_own(const fwd_hazard *hazard) { return ((uintptr_t)hazard & 1) == 0; }

/// Finds the hazard pointer of a visit if the one that was tried is taken, or if the thread has no block yet: one that it shares
/// and that has been announced. If memory is short, counts the reader in the domain and returns `FWD_HAZARD_NONE`.
FWD_KEEPS_REGISTERS fwd_hazard *fwd_hazard_find(fwd_domain *domain);
/// The slow path of leaving: for a hazard pointer that is not the visit's own, or if something has been unlinked since the
/// reader entered.
FWD_KEEPS_REGISTERS void fwd_hazard_leave_slowly(fwd_hazard *given, fwd_domain *domain);
/// The slow path of `fwd_hazard_enter_within`: notes in the domain that the calling thread reads it. Returns the hazard pointer
/// at index `first` if it is free. Otherwise returns what `fwd_hazard_find` does, except for the last index, which batches pass:
/// then it returns a free hazard pointer, or `FWD_HAZARD_NONE` if memory is short.
FWD_KEEPS_REGISTERS fwd_hazard *fwd_hazard_find_and_note(fwd_domain *domain, size_t first);
/// Frees the retired objects that no reader uses any more.
void fwd_hazard_reclaim(fwd_domain *domain);

// MARK: Reading

/// Returns a hazard pointer of the thread's first block, or NULL if it is taken or the thread has no `block` yet.
static inline __attribute__((always_inline)) fwd_hazard *fwd_hazard_of_block(fwd_thread_block *block, size_t index) {
  // Acquire: a batch that had the hazard pointer may have been ended on another thread.
  if (FWD_RARELY(!block || atomic_load_explicit(&block->hazards[index].domain, memory_order_acquire))) return NULL;
  // Then compilers know that it is its visit's own.
  return __builtin_assume_aligned(&block->hazards[index], sizeof(fwd_hazard));
}

/// The same for the calling thread.
static inline __attribute__((always_inline)) fwd_hazard *fwd_hazard_at(size_t index) {
  return fwd_hazard_of_block(fwd_thread_blocks, index);
}

/// The time at which a reader enters.
static inline uint64_t fwd_hazard_time(const fwd_domain *domain) {
  // Acquire: what had ended by this time is found unlinked.
  return atomic_load_explicit(&domain->clock, memory_order_acquire);
}

/// Enters a guard's domain by its hazard pointer, which is the visit's own.
static inline __attribute__((always_inline)) void fwd_hazard_announce(fwd_guard *guard) {
  guard->entered = fwd_hazard_time(guard->domain);
  // The time is stored first: a writer that sees the domain must not read the time of an earlier visit. It reads this time, or
  // the later time of another visit that has begun meanwhile.
  atomic_store_explicit(&guard->hazard->entered, guard->entered, memory_order_release);
  atomic_store_explicit(&guard->hazard->domain, guard->domain, memory_order_release);
  fwd_fence_light();
}

/// Enters a domain by a free hazard pointer, or by what `fwd_hazard_find` has returned. The domain must not note
/// its readers, as that of a closure's slot, or must have noted this one.
// Always inline: a guard that is returned in memory is stored in words and loaded in pairs of them, which defeats store
// forwarding.
static inline __attribute__((always_inline)) fwd_guard fwd_hazard_enter_by(fwd_domain *domain, fwd_hazard *hazard) {
  fwd_guard guard = {.hazard = hazard, .domain = domain};
  if (FWD_USUALLY(fwd_hazard_is_own(hazard))) {
    fwd_hazard_announce(&guard);
  } else {
    guard.entered = fwd_hazard_time(domain);
  }
  return guard;
}

/// Whether a domain has noted that the calling thread reads it, whose first block is `block`.
static inline bool fwd_hazard_is_noted(const fwd_domain *domain, const fwd_thread_block *block) {
  // Acquire: see the third paragraph of hazard.c. If a writer has skipped its fence, this thread sees the object unlinked.
  uint16_t readers = atomic_load_explicit(&domain->readers, memory_order_acquire);
  return FWD_USUALLY(readers == block->number) || readers == FWD_READERS_UNKNOWN;
}

/// Enters a domain, before its pointers are followed. `first` is the index of the hazard pointer to try first. Fan-outs pass
/// 0, or 1 inside of another visit of the thread; batches pass the last index. Where it is taken, finding another one costs
/// time.
static inline __attribute__((always_inline)) fwd_guard fwd_hazard_enter_within(fwd_domain *domain, size_t first) {
  fwd_thread_block *block = fwd_thread_blocks;
  fwd_guard guard = {.hazard = fwd_hazard_of_block(block, first), .domain = domain};
  if (FWD_RARELY(!guard.hazard || !fwd_hazard_is_noted(domain, block))) {
    guard.hazard = fwd_hazard_find_and_note(domain, first);
    // Only here can the hazard pointer be a shared one, so only this path checks.
    if (!fwd_hazard_is_own(guard.hazard)) {
      guard.entered = fwd_hazard_time(domain);
      return guard;
    }
  }
  fwd_hazard_announce(&guard);
  return guard;
}

/// Whether nothing has been unlinked since the reader entered.
static inline bool fwd_guard_is_current(fwd_guard guard) {
  return atomic_load_explicit(&guard.domain->clock, memory_order_acquire) == guard.entered;
}

/// Marks the reader as an object, such as a batch: its announcement stays when the thread that entered exits.
static inline void fwd_hazard_detach(fwd_guard guard) {
  if (!fwd_hazard_is_own(guard.hazard)) return;
  uint64_t entered = atomic_load_explicit(&guard.hazard->entered, memory_order_relaxed);
  atomic_store_explicit(&guard.hazard->entered, entered | FWD_HAZARD_DETACHED, memory_order_release);
}

/// Leaves a domain on the thread that entered it. The caller keeps the domain alive meanwhile.
static inline __attribute__((always_inline)) void fwd_hazard_leave(fwd_guard guard) {
  // Hides where the hazard pointer comes from: compilers would keep whether it is the visit's own in one more register.
  __asm__("" : "+r"(guard.hazard));
  if (FWD_USUALLY(fwd_hazard_is_own(guard.hazard))) {
    atomic_store_explicit(&guard.hazard->domain, NULL, memory_order_release);
    fwd_fence_light();
    if (FWD_USUALLY(fwd_guard_is_current(guard))) return;
  }
  fwd_hazard_leave_slowly(guard.hazard, guard.domain);
}

/// The fast path of `fwd_hazard_leave_as_announced`. Returns false if the caller must call `fwd_hazard_leave_slowly`: the hazard
/// pointer is not the visit's own, or it has been cleared and something has been unlinked since the reader entered.
static inline __attribute__((always_inline)) bool fwd_hazard_leave_quickly(fwd_hazard *hazard, fwd_domain *domain) {
  // See `fwd_hazard_leave`.
  __asm__("" : "+r"(hazard));
  if (FWD_RARELY(!fwd_hazard_is_own(hazard))) return false;
  uint64_t entered = atomic_load_explicit(&hazard->entered, memory_order_relaxed);
  atomic_store_explicit(&hazard->domain, NULL, memory_order_release);
  fwd_fence_light();
  return FWD_USUALLY(atomic_load_explicit(&domain->clock, memory_order_acquire) == entered);
}

/// Leaves a domain as `fwd_hazard_leave` does, for a reader that has not kept the time: reads it from the announcement. A
/// value that is kept across a call takes stack at each level of a recursion.
static inline __attribute__((always_inline)) void fwd_hazard_leave_as_announced(fwd_hazard *hazard, fwd_domain *domain) {
  if (FWD_RARELY(!fwd_hazard_leave_quickly(hazard, domain))) fwd_hazard_leave_slowly(hazard, domain);
}

/// Leaves a domain on any thread, for readers that are objects.
void fwd_hazard_leave_anywhere(fwd_guard guard);

#endif
