// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Hazard pointers: why no object is freed while a reader can use it, and why every retired object is freed in the end.
/// hazard.h explains the scheme, and fence.h the light and the heavy fence.
///
/// *No object is freed too early.* A writer unlinks the object, moves the clock, executes a heavy fence, and then reads
/// the hazard pointers. A reader announces itself, executes a light fence, and then follows the domain's pointers. So
/// either the writer sees the announcement, or the reader finds the object unlinked. A reader that announced a later
/// time than the object's `ended` cannot have found the object, and does not delay it.
///
/// A reader that leaves also checks the hazard pointers, but without a heavy fence. It needs none: it takes only
/// objects whose writer has already executed one, and the domain's lock makes visible to it what that writer saw.
///
/// The writer skips the heavy fence if no thread but its own has entered the domain (`readers`). Each thread that enters
/// first looks at `readers`, and unless it is noted there, stores that it reads. The writer unlinks the object, moves the
/// clock, and then looks at `readers`. Its look and all stores are read-modify-write operations, so they have one order, and
/// each sees what came before it. If the writer's look comes after a thread's note, the writer executes the heavy fence.
/// If the writer's look comes first, it happens before everything that the thread does after its own look. That is so even if
/// the thread's look reads a value that a third thread has stored since (C11 5.1.2.4p10, release sequences). So the thread sees
/// the later clock and the object unlinked. A writer needs no fence to see what its own thread has announced.
///
/// `readers` names a block. A thread that takes the block of an ended thread passes for that one, which is safe: the
/// acquire in `take_free_block` shows it the announcements of batches that the ended thread left. A reader that has no
/// hazard pointer need not be noted: `unannounced` counts it, followed by a full fence.
///
/// *Every object is freed.* The writer appends the object to the domain's queue, executes the heavy fence, or the full
/// fence that replaces it, and then reads the hazard pointers. A reader clears its hazard pointer, executes the light fence,
/// and then reads the queue. Of the visits that share a hazard pointer, the last one does so, and the others delay nothing that
/// it does not delay. So either the writer sees that the reader has left, or the reader finds the object and frees
/// it. If other readers still delay the object, the last of them frees it by the same argument. A reader that a writer
/// without a heavy fence would not see executes a full fence itself: `fwd_hazard_leave_anywhere`.
///
/// After a fork, the readers of the parent's other threads do not exist in the child. Their hazard pointers are cleared
/// there. The objects that they delayed are freed by the next thread that checks the domain's queue.

#include "reclaim/hazard.h"

// MARK: Entering in rare cases

/// The number of visits that share a hazard pointer, times `FWD_HAZARD_VISIT`; 0 if one visit uses it alone.
static uint64_t visits(const fwd_hazard *hazard) {
  return atomic_load_explicit(&hazard->entered, memory_order_relaxed) & FWD_HAZARD_VISITS;
}

/// Returns a free hazard pointer of the thread, or one that visits of a domain share and that can count one more; NULL if
/// the thread has neither. For a NULL domain it is free.
static fwd_hazard *find_free_or_shared(const fwd_domain *domain) {
  fwd_hazard *unused = NULL;
  // Ends at the first block that has a free hazard pointer. A later block may have one that visits of the domain share: then
  // the domain gets a second one, which does no harm.
  for (fwd_thread_block *block = fwd_thread_blocks; block && !unused; block = block->more) {
    // Not in the order of a stack: a thread may run fibers, which leave in any order.
    for (size_t i = 0; i < FWD_HAZARDS_PER_BLOCK; i++) {
      fwd_hazard *hazard = &block->hazards[i];
      // Acquire: a batch may have been ended on another thread.
      const void *announced = atomic_load_explicit(&hazard->domain, memory_order_acquire);
      if (!announced && !unused) unused = hazard;
      if (announced && announced == domain && visits(hazard) > 0 && visits(hazard) < FWD_HAZARD_VISITS) return hazard;
    }
  }
  return unused;
}

/// Returns what `find_free_or_shared` does, in a new block if need be; NULL if memory is short.
static fwd_hazard *find_or_make(const fwd_domain *domain) {
  fwd_hazard *hazard;
  do {
    hazard = find_free_or_shared(domain);
    // All of a block may belong to batches of earlier threads. A new block is free.
  } while (!hazard && fwd_thread_add_block());
  return hazard;
}

/// Counts a reader that cannot announce itself.
static fwd_hazard *enter_unannounced(fwd_domain *domain) {
  atomic_fetch_add(&domain->unannounced, 1);
  atomic_thread_fence(memory_order_seq_cst);
  return FWD_HAZARD_NONE;
}

FWD_KEEPS_REGISTERS fwd_hazard *fwd_hazard_find(fwd_domain *domain) {
  fwd_hazard *hazard = find_or_make(domain);
  if (!hazard) return enter_unannounced(domain);
  // Each visit that shares it later enters later, so the first one's time protects it too.
  if (!atomic_load_explicit(&hazard->domain, memory_order_relaxed)) {
    fwd_hazard_announce(&(fwd_guard){.hazard = hazard, .domain = domain});
  }
  uint64_t entered = atomic_load_explicit(&hazard->entered, memory_order_relaxed);
  atomic_store_explicit(&hazard->entered, entered + FWD_HAZARD_VISIT, memory_order_release);
  return (fwd_hazard *)((uintptr_t)hazard | 1);
}

FWD_KEEPS_REGISTERS void fwd_hazard_leave_slowly(fwd_hazard *given, fwd_domain *domain) {
  if (fwd_hazard_is_own(given)) {
    fwd_hazard_reclaim(domain);
    return;
  }
  if (given == FWD_HAZARD_NONE) {
    atomic_fetch_sub(&domain->unannounced, 1);
    atomic_thread_fence(memory_order_seq_cst);
    // The time of entry does not matter: nothing has been freed since.
    fwd_hazard_reclaim(domain);
    return;
  }
  fwd_hazard *hazard = (fwd_hazard *)((uintptr_t)given - 1);
  uint64_t entered = atomic_load_explicit(&hazard->entered, memory_order_relaxed);
  atomic_store_explicit(&hazard->entered, entered - FWD_HAZARD_VISIT, memory_order_release);
  if (visits(hazard) == 0) fwd_hazard_leave_as_announced(hazard, domain);
}

void fwd_hazard_leave_anywhere(fwd_guard guard) {
  if (fwd_hazard_is_own(guard.hazard) &&
      !(fwd_thread_owns(guard.hazard) && fwd_hazard_is_noted(guard.domain, fwd_thread_blocks))) {
    // A heavy fence may not reach this thread: it may have no block (`fwd_thread_fence_heavy`), or the writer may skip the
    // fence, since the domain has noted the thread that began the batch, and not this one.
    atomic_store_explicit(&guard.hazard->domain, NULL, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    fwd_hazard_reclaim(guard.domain);
  } else {
    fwd_hazard_leave(guard);
  }
}

FWD_KEEPS_REGISTERS fwd_hazard *fwd_hazard_find_and_note(fwd_domain *domain, size_t first) {
  if (!fwd_thread_blocks && !fwd_thread_add_block()) return enter_unannounced(domain);
  // Before a hazard pointer is announced: see the top of this file.
  if (!fwd_hazard_is_noted(domain, fwd_thread_blocks)) {
    uint16_t none = FWD_READERS_NONE;
    if (!atomic_compare_exchange_strong(&domain->readers, &none, fwd_thread_blocks->number)) {
      // Not a plain store: see the top of this file.
      (void)atomic_exchange(&domain->readers, FWD_READERS_UNKNOWN);
    }
  }
  // Looked up again: a pointer that the callers pass would take more of the stack at each level.
  fwd_hazard *hazard = fwd_hazard_at(first);
  if (hazard) return hazard;
  if (first < FWD_HAZARDS_PER_BLOCK - 1) return fwd_hazard_find(domain);
  // For a batch, which does not share.
  hazard = find_or_make(NULL);
  return hazard ? hazard : enter_unannounced(domain);
}

// MARK: The readers of a domain

/// Orders the calling thread's earlier stores before its later loads, against the light fences of all readers of a domain.
/// False if the system refuses.
static bool fence_readers(fwd_domain *domain) {
  // A read-modify-write operation that changes nothing: see the top of this file.
  uint16_t readers = atomic_fetch_or(&domain->readers, 0);
  atomic_thread_fence(memory_order_seq_cst);
  if (readers == FWD_READERS_NONE) return true;
  const fwd_thread_block *mine = fwd_thread_blocks;
  if (readers != FWD_READERS_UNKNOWN && mine && mine->number == readers) return true;
  return fwd_thread_fence_heavy();
}

/// Whether a time is before another. The clock may go round, and two times that are compared are near.
static bool is_before(uint64_t time, uint64_t other) { return (int64_t)(time - other) < 0; }

/// Stores the time at which the earliest announced reader entered. Returns false if no reader is announced.
static bool find_earliest(const fwd_domain *domain, uint64_t *earliest) {
  bool found = false;
  for (fwd_thread_block *block = atomic_load(&fwd_all_thread_blocks); block; block = block->next) {
    if (fwd_thread_block_use(block) == FWD_BLOCK_FREE) continue;
    for (size_t i = 0; i < FWD_HAZARDS_PER_BLOCK; i++) {
      fwd_hazard *hazard = &block->hazards[i];
      if (atomic_load(&hazard->domain) != domain) continue;
      // Acquire: it may be the time of a later reader already, and then the reader that was announced has left.
      uint64_t entered = atomic_load_explicit(&hazard->entered, memory_order_acquire) & ~FWD_HAZARD_FLAGS;
      if (!found || is_before(entered, *earliest)) *earliest = entered;
      found = true;
    }
  }
  return found;
}

bool fwd_domain_is_read(fwd_domain *domain) {
  fwd_thread_set_up();
  uint64_t earliest;
  return !fence_readers(domain) || atomic_load(&domain->unannounced) > 0 || find_earliest(domain, &earliest);
}

// MARK: Reclaiming

/// Takes the objects that no reader uses out of the queue, linked by `next`. The domain's lock is held. With `is_fenced`,
/// `fence_readers` has succeeded after the retirement of all objects in the queue.
static fwd_retired *take_unused(fwd_domain *domain, bool is_fenced) {
  domain->is_unsure = !is_fenced;
  if (!is_fenced || atomic_load(&domain->unannounced) > 0) return NULL;
  uint64_t earliest = 0;
  bool is_read = find_earliest(domain, &earliest);
  fwd_retired *latest = atomic_load_explicit(&domain->retired, memory_order_relaxed);
  if (!latest) return NULL;
  fwd_retired *first = latest->next, *next = first, *unused = NULL;
  while (next && (!is_read || is_before(next->ended, earliest))) {
    unused = next;
    next = next == latest ? NULL : next->next;
  }
  if (!unused) return NULL;
  unused->next = NULL;
  if (next) {
    latest->next = next;
  } else {
    atomic_store_explicit(&domain->retired, NULL, memory_order_relaxed);
  }
  return first;
}

/// Frees objects, under no lock. With them the domain may go.
static void free_all(fwd_retired *unused) {
  while (unused) {
    fwd_retired *next = unused->next;
    unused->free(unused);
    unused = next;
  }
}

/// Appends an object to the queue. The domain's lock is held.
static void put(fwd_domain *domain, fwd_retired *retired) {
  fwd_retired *latest = atomic_load_explicit(&domain->retired, memory_order_relaxed);
  // Writers call `fwd_domain_end` in one order, and may come here in another one. Then the object waits a little longer.
  if (latest && is_before(retired->ended, latest->ended)) retired->ended = latest->ended;
  retired->next = latest ? latest->next : retired;
  if (latest) latest->next = retired;
  // A reader looks here without the lock. `fence_readers` orders this store before the look at the hazard pointers.
  atomic_store_explicit(&domain->retired, retired, memory_order_relaxed);
}

void fwd_retire_all(fwd_domain *domain, fwd_retired *first) {
  if (!first) return;
  fwd_thread_set_up();
  fwd_lock_lock(&domain->lock);
  while (first) {
    fwd_retired *next = first->next;
    put(domain, first);
    first = next;
  }
  fwd_retired *unused = take_unused(domain, fence_readers(domain));
  fwd_lock_unlock(&domain->lock);
  free_all(unused);
}

void fwd_hazard_reclaim(fwd_domain *domain) {
  if (!atomic_load(&domain->retired)) return;
  fwd_lock_lock(&domain->lock);
  fwd_retired *unused = take_unused(domain, !domain->is_unsure || fence_readers(domain));
  fwd_lock_unlock(&domain->lock);
  free_all(unused);
}

void fwd_domain_drain(fwd_domain *domain) {
  // Without readers and writers, nothing comes meanwhile.
  if (!atomic_load_explicit(&domain->retired, memory_order_acquire)) return;
  fwd_lock_lock(&domain->lock);
  fwd_retired *latest = atomic_load_explicit(&domain->retired, memory_order_relaxed), *first = NULL;
  if (latest) {
    first = latest->next;
    latest->next = NULL;
  }
  atomic_store(&domain->retired, NULL);
  fwd_lock_unlock(&domain->lock);
  free_all(first);
}

size_t fwd_domain_waiting(fwd_domain *domain) {
  fwd_lock_lock(&domain->lock);
  const fwd_retired *latest = atomic_load_explicit(&domain->retired, memory_order_relaxed), *retired = latest;
  size_t count = 0;
  while (retired) {
    count++;
    retired = retired->next == latest ? NULL : retired->next;
  }
  fwd_lock_unlock(&domain->lock);
  return count;
}
