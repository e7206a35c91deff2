// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "reclaim/thread.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if !defined(PTHREAD_DESTRUCTOR_ITERATIONS)
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
#endif

_Thread_local fwd_thread_block *fwd_thread_blocks;
_Atomic(fwd_thread_block *) fwd_all_thread_blocks;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
/// Without the key, threads get no blocks, since the blocks of ended threads would be lost.
static bool has_exit_key;
/// How often the thread's exit handler has run.
static _Thread_local unsigned exit_rounds;

static void end_thread(void *first);

static void set_up(void) {
  has_exit_key = pthread_key_create(&exit_key, end_thread) == 0;
  fwd_fence_set_up();
}

void fwd_thread_set_up(void) { pthread_once(&once, set_up); }

// MARK: Taking a block

static fwd_thread_block *take_free_block(void) {
  fwd_thread_block *block = atomic_load_explicit(&fwd_all_thread_blocks, memory_order_acquire);
  for (; block; block = block->next) {
    bool is_owned = false;
    if (atomic_compare_exchange_strong_explicit(&block->is_owned, &is_owned, true, memory_order_acquire,
                                                memory_order_relaxed)) {
      return block;
    }
  }
  return NULL;
}

static fwd_thread_block *make_block(void) {
  fwd_thread_block *made = aligned_alloc(64, sizeof *made);
  if (!made) return NULL;
  memset(made, 0, sizeof *made);
  atomic_init(&made->is_owned, true);
  made->next = atomic_load_explicit(&fwd_all_thread_blocks, memory_order_relaxed);
  // A thread that walks the blocks after a heavy fence finds this one, or this thread's light fence is after that
  // heavy fence: the store below is before this thread's first announcement.
  while (!atomic_compare_exchange_weak(&fwd_all_thread_blocks, &made->next, made)) {
  }
  return made;
}

fwd_thread_block *fwd_thread_add_block(void) {
  fwd_thread_set_up();
  // Nothing may give the block back: this may be the last round of the thread's exit handlers, after our own. The
  // handler cannot count the rounds, since it runs only in those before which the thread took a block.
  if (!has_exit_key || exit_rounds > 0) return NULL;
  fwd_thread_block *block = take_free_block();
  if (!block) block = make_block();
  if (!block) return NULL;
  fwd_thread_block **link = &fwd_thread_blocks;
  while (*link) link = &(*link)->more;
  // The exit handler gets the first block, and the others with it.
  if (link == &fwd_thread_blocks && pthread_setspecific(exit_key, block) != 0) {
    atomic_store_explicit(&block->is_owned, false, memory_order_release);
    return NULL;
  }
  *link = block;
  // Behind the store by which the block became this thread's: see `fwd_thread_fence_heavy`.
  atomic_thread_fence(memory_order_seq_cst);
  return block;
}

// MARK: Fences

static bool is_mine(const fwd_thread_block *block) {
  const fwd_thread_block *mine = fwd_thread_blocks;
  while (mine && mine != block) mine = mine->more;
  return mine != NULL;
}

bool fwd_thread_owns(const fwd_hazard *hazard) {
  for (const fwd_thread_block *mine = fwd_thread_blocks; mine; mine = mine->more) {
    if (hazard >= mine->hazards && hazard < mine->hazards + FWD_HAZARDS_PER_BLOCK) return true;
  }
  return false;
}

// A thread whose block is not seen here takes it after this fence, so all that its readers load is newer than the
// caller's stores. Light fences of this thread are in its own order.
bool fwd_thread_fence_heavy(void) {
  atomic_thread_fence(memory_order_seq_cst);
  const fwd_thread_block *block = atomic_load(&fwd_all_thread_blocks);
  for (; block; block = block->next) {
    if (atomic_load(&block->is_owned) && !is_mine(block)) return fwd_fence_heavy();
  }
  return true;
}

// MARK: Giving blocks back

/// Clears the hazard pointers of fan-outs, whose stack frames are gone. Gives whether a detached one is left.
static bool clear_hazards(fwd_thread_block *block) {
  bool is_detached = false;
  for (size_t i = 0; i < FWD_HAZARDS_PER_BLOCK; i++) {
    fwd_hazard *hazard = &block->hazards[i];
    if (!atomic_load_explicit(&hazard->domain, memory_order_relaxed)) continue;
    if (atomic_load_explicit(&hazard->entered, memory_order_relaxed) & FWD_HAZARD_DETACHED) {
      is_detached = true;
    } else {
      atomic_store_explicit(&hazard->domain, NULL, memory_order_release);
    }
  }
  return is_detached;
}

static void give_back(fwd_thread_block *block) {
  block->more = NULL;
  atomic_store_explicit(&block->locks, 0, memory_order_relaxed);
  // Release: the next thread finds the block empty.
  atomic_store_explicit(&block->is_owned, false, memory_order_release);
}

/// The thread's exit handler. Handlers of other keys run before and after it and may forward, subscribe, and end
/// batches. POSIX repeats the handlers of keys that were set again, for a few rounds. A block with the hazard pointer of
/// a batch stays the thread's until the last round, since the batch may be ended by a later handler, which would clear
/// the hazard pointer of the block's next owner. If the batch is still there in the last round, the block stays as it
/// is for good.
static void end_thread(void *first) {
  bool is_last = ++exit_rounds >= PTHREAD_DESTRUCTOR_ITERATIONS;
  fwd_thread_block *kept = NULL;
  for (fwd_thread_block *block = first, *more; block; block = more) {
    more = block->more;
    if (clear_hazards(block)) {
      block->more = kept;
      kept = block;
    } else {
      give_back(block);
    }
  }
  // The thread may go on to use what it keeps. It gets no other block.
  fwd_thread_blocks = kept;
  if (kept && !is_last) (void)pthread_setspecific(exit_key, kept);
}

// MARK: fork(2)

void fwd_thread_reset_others(void) {
  fwd_thread_block *block = atomic_load(&fwd_all_thread_blocks);
  for (; block; block = block->next) {
    if (is_mine(block)) continue;
    for (size_t i = 0; i < FWD_HAZARDS_PER_BLOCK; i++) atomic_store(&block->hazards[i].domain, NULL);
    give_back(block);
  }
}
