// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "reclaim/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

_Thread_local fwd_thread_block *fwd_thread_blocks;
_Atomic(fwd_thread_block *) fwd_all_thread_blocks;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
/// Without the key, threads get no blocks, since the blocks of ended threads would be lost.
static bool has_exit_key;
/// Whether the thread's exit handler has run.
static _Thread_local bool has_ended;

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
    uint8_t use = atomic_load_explicit(&block->use, memory_order_relaxed);
    if (use != FWD_BLOCK_OWNED && atomic_compare_exchange_strong_explicit(&block->use, &use, FWD_BLOCK_OWNED,
                                                                          memory_order_acquire, memory_order_relaxed)) {
      return block;
    }
  }
  return NULL;
}

/// Returns a number that no other block has, or 0 if all were given.
static uint16_t take_number(void) {
  static _Atomic uint32_t next = FWD_FIRST_BLOCK_NUMBER;
  uint32_t number = atomic_load_explicit(&next, memory_order_relaxed);
  while (number <= UINT16_MAX && !atomic_compare_exchange_weak(&next, &number, number + 1)) {
  }
  return number <= UINT16_MAX ? (uint16_t)number : 0;
}

static fwd_thread_block *make_block(void) {
  fwd_thread_block *made = aligned_alloc(FWD_LINE, sizeof *made);
  if (!made) return NULL;
  memset(made, 0, sizeof *made);
  atomic_init(&made->use, FWD_BLOCK_OWNED);
  made->number = take_number();
  made->next = atomic_load_explicit(&fwd_all_thread_blocks, memory_order_relaxed);
  // A thread that walks the blocks after a heavy fence finds this one, or this thread's light fence is after that
  // heavy fence: the store below is before this thread's first announcement.
  while (!atomic_compare_exchange_weak(&fwd_all_thread_blocks, &made->next, made)) {
  }
  return made;
}

/// Frees a block for other threads. Only hazard pointers of batches may be in use.
static void release_block(fwd_thread_block *block) {
  bool is_free = true;
  for (size_t i = 0; i < FWD_HAZARDS_PER_BLOCK; i++) {
    is_free = is_free && !atomic_load_explicit(&block->hazards[i].domain, memory_order_relaxed);
  }
  // Release: the next thread finds the block as this one leaves it.
  atomic_store_explicit(&block->use, is_free ? FWD_BLOCK_FREE : FWD_BLOCK_LEFT, memory_order_release);
}

fwd_thread_block *fwd_thread_add_block(void) {
  fwd_thread_set_up();
  // Nothing may give the block back: this may be the last round of the thread's exit handlers, after our own.
  if (!has_exit_key || has_ended) return NULL;
  fwd_thread_block *block = take_free_block();
  if (!block) block = make_block();
  if (!block) return NULL;
  fwd_thread_block **link = &fwd_thread_blocks;
  while (*link) link = &(*link)->more;
  // The exit handler gets the first block, and the others with it.
  if (link == &fwd_thread_blocks && pthread_setspecific(exit_key, block) != 0) {
    release_block(block);
    return NULL;
  }
  *link = block;
  // Behind the store by which the block became this thread's: see `fwd_thread_fence_heavy`.
  atomic_thread_fence(memory_order_seq_cst);
  return block;
}

// MARK: Fences

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
  // The blocks are counted, since a look for each among the thread's own would take the square of their number.
  size_t own = 0, owned = 0;
  for (const fwd_thread_block *block = fwd_thread_blocks; block; block = block->more) own++;
  const fwd_thread_block *block = atomic_load(&fwd_all_thread_blocks);
  for (; block && owned <= own; block = block->next) owned += fwd_thread_block_use(block) == FWD_BLOCK_OWNED;
  return owned <= own || fwd_fence_heavy();
}

// MARK: Giving blocks back

static void give_back(fwd_thread_block *block) {
  block->more = NULL;
  atomic_store_explicit(&block->locks, 0, memory_order_relaxed);
  // It is 1 only in a child of fork(2), if the thread was taking a number then. Release: see counter.c.
  atomic_store_explicit(&block->is_counting, 0, memory_order_release);
  release_block(block);
}

/// Clears the hazard pointers of fan-outs, whose stack frames are gone. Those of batches stay, since any
/// thread may end a batch. The next thread that owns the block uses the other hazard pointers.
static void clear_fan_outs(fwd_thread_block *block) {
  for (size_t i = 0; i < FWD_HAZARDS_PER_BLOCK; i++) {
    fwd_hazard *hazard = &block->hazards[i];
    // Acquire: a batch may have been ended on another thread.
    if (!atomic_load_explicit(&hazard->domain, memory_order_acquire)) continue;
    if (atomic_load_explicit(&hazard->entered, memory_order_relaxed) & FWD_HAZARD_DETACHED) continue;
    atomic_store_explicit(&hazard->domain, NULL, memory_order_release);
  }
}

/// The thread's exit handler. Handlers of other keys run before and after it and may forward, subscribe, and end
/// batches. After it they do without a block.
static void end_thread(void *first) {
  has_ended = true;
  fwd_thread_blocks = NULL;
  for (fwd_thread_block *block = first, *more; block; block = more) {
    more = block->more;
    clear_fan_outs(block);
    give_back(block);
  }
}

// MARK: fork(2)

static bool is_mine(const fwd_thread_block *block) {
  const fwd_thread_block *mine = fwd_thread_blocks;
  while (mine && mine != block) mine = mine->more;
  return mine != NULL;
}

void fwd_thread_reset_others(void) {
  fwd_thread_block *block = atomic_load(&fwd_all_thread_blocks);
  for (; block; block = block->next) {
    if (is_mine(block)) continue;
    for (size_t i = 0; i < FWD_HAZARDS_PER_BLOCK; i++) {
      fwd_hazard *hazard = &block->hazards[i];
      // After its exit handler the thread has no block, and its batches' hazard pointers look like those of others.
      if (has_ended && atomic_load(&hazard->entered) & FWD_HAZARD_DETACHED) continue;
      atomic_store(&hazard->domain, NULL);
    }
    give_back(block);
  }
}

FWD_SMALL_CODE_END
