// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Why no reader uses what is freed, and why everything is freed in the end. hazard.h explains the scheme.
///
/// *Nothing is freed too early.* A writer unlinks the object, moves the clock, and only then, behind a heavy fence, looks
/// at the hazard pointers. A reader announces itself and only then, behind a light fence, follows pointers. So the writer
/// sees the announcement, or the reader finds the object unlinked. An announced time is in the object's interval if and
/// only if the reader may have found it, see `fwd_domain_is_at`.
///
/// A reader that leaves looks at the hazard pointers without a heavy fence. What it frees has been through its writer's:
/// announcements that were made before are visible to everyone who took the domain's lock since.
///
/// *Nothing is forgotten.* The writer puts the object where leaving readers look, and then, behind the heavy fence, looks
/// at the hazard pointers. A reader clears its hazard pointer and then, behind the light fence, looks there. So the writer
/// sees that it has left, or the reader finds the object. It is the last one in the object's way or not; if not, the same
/// holds for those that are. A reader that cannot have been in the way of an object entered after it had ended, and
/// objects are in the order of their ends.
///
/// Readers that vanish without leaving, as those of a forked child's other threads do, are counted in `fwd_lost_readers`;
/// each domain then looks at all that it has the next time.

#include "reclaim/hazard.h"

// MARK: Entering in rare cases

fwd_hazard *fwd_hazard_find(fwd_domain *domain) {
  for (fwd_thread_block *block = fwd_thread_blocks; block; block = block->more) {
    // Not in the order of a stack: a thread may run fibers, which leave in any order.
    for (size_t i = 0; i < FWD_HAZARDS_PER_BLOCK; i++) {
      fwd_hazard *hazard = &block->hazards[i];
      // Acquire: a batch may have been ended on another thread.
      if (!atomic_load_explicit(&hazard->domain, memory_order_acquire)) return hazard;
    }
  }
  fwd_thread_block *block = fwd_thread_add_block();
  if (block) return &block->hazards[0];
  atomic_fetch_add(&domain->unannounced, 1);
  atomic_thread_fence(memory_order_seq_cst);
  return NULL;
}

void fwd_hazard_leave_unannounced(fwd_domain *domain, uint64_t entered) {
  atomic_fetch_sub(&domain->unannounced, 1);
  atomic_thread_fence(memory_order_seq_cst);
  // Whenever it entered: nothing was freed meanwhile.
  fwd_hazard_reclaim(domain, entered);
}

// MARK: The readers of a domain

/// The times at which the readers of a domain entered.
typedef struct fwd_readers {
  size_t count;
  /// Where there are more readers than times: a first and a last time, between which all have entered.
  bool is_range;
  uint64_t times[16];
} fwd_readers;

enum { times_limit = sizeof((fwd_readers *)0)->times / sizeof(uint64_t) };

/// Whether one time is not behind another. The clock may go round, and two times that are compared are near.
static bool is_not_after(uint64_t time, uint64_t other) { return (int64_t)(other - time) >= 0; }

static void widen(fwd_readers *readers, uint64_t first, uint64_t last) {
  if (!readers->is_range || is_not_after(first, readers->times[0])) readers->times[0] = first;
  if (!readers->is_range || is_not_after(readers->times[1], last)) readers->times[1] = last;
  readers->is_range = true;
}

static void add_reader(fwd_readers *readers, uint64_t entered) {
  uint64_t time = entered & ~FWD_HAZARD_FLAGS;
  readers->count++;
  if (!readers->is_range && readers->count <= times_limit) {
    readers->times[readers->count - 1] = time;
    return;
  }
  if (!readers->is_range) {
    fwd_readers before = *readers;
    for (size_t i = 0; i + 1 < before.count; i++) widen(readers, before.times[i], before.times[i]);
  }
  widen(readers, time, time);
}

/// Finds the readers that have announced themselves.
static fwd_readers find_readers(const fwd_domain *domain) {
  fwd_readers readers = {.count = 0};
  fwd_thread_block *block = atomic_load(&fwd_all_thread_blocks);
  for (; block; block = block->next) {
    for (size_t i = 0; i < FWD_HAZARDS_PER_BLOCK; i++) {
      fwd_hazard *hazard = &block->hazards[i];
      if (atomic_load(&hazard->domain) != domain) continue;
      // Acquire: it may be the time of a later reader already, and then the reader that was announced has left.
      uint64_t entered = atomic_load_explicit(&hazard->entered, memory_order_acquire);
      add_reader(&readers, entered);
    }
  }
  return readers;
}

static bool may_use(const fwd_readers *readers, uint64_t born, uint64_t ended) {
  if (readers->is_range) {
    return is_not_after(readers->times[0], ended) && is_not_after(born, readers->times[1]);
  }
  for (size_t i = 0; i < readers->count; i++) {
    if (is_not_after(born, readers->times[i]) && is_not_after(readers->times[i], ended)) return true;
  }
  return false;
}

bool fwd_domain_is_read(const fwd_domain *domain) {
  fwd_thread_set_up();
  return !fwd_fence_heavy() || atomic_load(&domain->unannounced) > 0 || find_readers(domain).count > 0;
}

// MARK: Reclaiming

/// Takes out the objects that no reader can be using, of those that ended at a time or later. With `is_fenced`, a heavy
/// fence is behind the retirement of all objects that ended at this time or later, or is_unsure is set. The domain's lock
/// is held.
static fwd_retired *take_unused(fwd_domain *domain, uint64_t since, bool is_fenced) {
  unsigned lost = atomic_load(&fwd_lost_readers);
  bool looks_at_all = domain->is_unsure || domain->lost_readers != lost;
  if (!is_fenced || atomic_load(&domain->unannounced) > 0) {
    domain->is_unsure = true;
    return NULL;
  }
  domain->is_unsure = false;
  domain->lost_readers = lost;
  fwd_readers readers = find_readers(domain);
  fwd_retired *unused = NULL, **end = &unused, *previous = NULL, *next;
  for (fwd_retired *retired = atomic_load_explicit(&domain->retired, memory_order_relaxed); retired; retired = next) {
    next = retired->next;
    if (!looks_at_all && !is_not_after(since, retired->ended)) break;
    if (may_use(&readers, retired->born, retired->ended)) {
      previous = retired;
      continue;
    }
    if (previous) {
      previous->next = next;
    } else {
      atomic_store(&domain->retired, next);
    }
    *end = retired;
    end = &retired->next;
  }
  *end = NULL;
  return unused;
}

/// Frees objects, under no lock. With them the domain may go.
static void free_all(fwd_retired *unused) {
  while (unused) {
    fwd_retired *next = unused->next;
    unused->free(unused);
    unused = next;
  }
}

/// Merges objects into those that wait, the latest first. Returns the time of the earliest.
static uint64_t put(fwd_domain *domain, fwd_retired *retired) {
  // Two writers may retire in another order than they ended what they retire.
  fwd_retired *previous = NULL, *next = atomic_load_explicit(&domain->retired, memory_order_relaxed);
  uint64_t earliest = retired->ended;
  while (retired) {
    fwd_retired *rest = retired->next;
    while (next && is_not_after(retired->ended, next->ended)) {
      previous = next;
      next = next->next;
    }
    retired->next = next;
    if (previous) {
      previous->next = retired;
    } else {
      atomic_store(&domain->retired, retired);
    }
    previous = retired;
    earliest = retired->ended;
    retired = rest;
  }
  return earliest;
}

void fwd_retire_all(fwd_domain *domain, fwd_retired *first) {
  if (!first) return;
  fwd_thread_set_up();
  fwd_lock_lock(&domain->lock);
  uint64_t earliest = put(domain, first);
  fwd_retired *unused = take_unused(domain, earliest, fwd_fence_heavy());
  fwd_lock_unlock(&domain->lock);
  free_all(unused);
}

void fwd_hazard_reclaim(fwd_domain *domain, uint64_t entered) {
  if (!atomic_load(&domain->retired)) return;
  fwd_lock_lock(&domain->lock);
  bool is_fenced = !domain->is_unsure || fwd_fence_heavy();
  fwd_retired *unused = take_unused(domain, entered, is_fenced);
  fwd_lock_unlock(&domain->lock);
  free_all(unused);
}

void fwd_domain_drain(fwd_domain *domain) {
  fwd_lock_lock(&domain->lock);
  fwd_retired *all = atomic_load_explicit(&domain->retired, memory_order_relaxed);
  atomic_store(&domain->retired, NULL);
  fwd_lock_unlock(&domain->lock);
  free_all(all);
}

size_t fwd_domain_waiting(fwd_domain *domain) {
  size_t count = 0;
  fwd_lock_lock(&domain->lock);
  fwd_retired *retired = atomic_load_explicit(&domain->retired, memory_order_relaxed);
  for (; retired; retired = retired->next) count++;
  fwd_lock_unlock(&domain->lock);
  return count;
}
