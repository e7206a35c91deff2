// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/anchor.h"

#include <stdlib.h>
#include <string.h>

#include "reclaim/thread.h"

// MARK: The pool

/// The anchors that no proxy has, apart from one that each thread may keep. A fork waits until the lock is open.
static fwd_lock pool_lock = FWD_LOCK_INITIALIZER;
static fwd_anchor *unused;
/// All allocations. They are never freed, and this shows tools which look for leaks that they are in use.
static fwd_anchor *allocated;

enum { at_a_time = 16 };

/// Allocates anchors, and returns the first of them.
static fwd_anchor *allocate_some(void) {
  fwd_anchor *made = aligned_alloc(_Alignof(fwd_anchor), at_a_time * sizeof *made);
  if (!made) return NULL;
  memset(made, 0, at_a_time * sizeof *made);
  for (size_t i = 1; i + 1 < at_a_time; i++) made[i].next = &made[i + 1];
  fwd_lock_lock(&pool_lock);
  made->allocated_before = allocated;
  allocated = made;
  made[at_a_time - 1].next = unused;
  unused = &made[1];
  fwd_lock_unlock(&pool_lock);
  return made;
}

fwd_anchor *fwd_anchor_take(void) {
  fwd_thread_block *block = fwd_thread_blocks;
  if (block && block->spare_anchor) {
    fwd_anchor *spare = block->spare_anchor;
    block->spare_anchor = NULL;
    return spare;
  }
  fwd_lock_lock(&pool_lock);
  fwd_anchor *anchor = unused;
  if (anchor) unused = anchor->next;
  fwd_lock_unlock(&pool_lock);
  return anchor ? anchor : allocate_some();
}

void fwd_anchor_forget(fwd_anchor *anchor) {
  // A thread that made a reference had one to the owner, and has released it since. So this load sees its store.
  if (atomic_load_explicit(&anchor->is_known, memory_order_relaxed)) {
    fwd_lock_lock(&anchor->lock);
    uint64_t generation = atomic_load_explicit(&anchor->generation, memory_order_relaxed);
    atomic_store_explicit(&anchor->generation, generation + 1, memory_order_relaxed);
    fwd_lock_unlock(&anchor->lock);
    atomic_store_explicit(&anchor->is_known, false, memory_order_relaxed);
  }
  // No reference is of this generation.
  if (anchor->owner) fwd_weak_end_borrowed(anchor->owner);
  anchor->owner = 0;
}

void fwd_anchor_give_back(fwd_anchor *anchor) {
  // Destroy notifiers may have made references since the owner forgot them.
  fwd_anchor_forget(anchor);
  fwd_thread_block *block = fwd_thread_blocks;
  if (block && !block->spare_anchor) {
    block->spare_anchor = anchor;
    return;
  }
  fwd_lock_lock(&pool_lock);
  anchor->next = unused;
  unused = anchor;
  fwd_lock_unlock(&pool_lock);
}
