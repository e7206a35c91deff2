// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// For syscall(2).
#define _GNU_SOURCE 1

#include "reclaim/hazard.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fwd_sanitizer.h"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

bool fwd_hazard_is_fenced = true;
atomic_size_t fwd_hazard_generation;
_Thread_local fwd_hazards *fwd_hazards_of_thread;

// All blocks that were ever made; they are used again by later threads and never freed, so that whoever looks
// at them need not wait.
static _Atomic(fwd_hazards *) all;
/// Uses that found no place. As long as there are any nothing is freed.
static atomic_size_t unannounced;
static _Thread_local size_t unannounced_of_thread;

// MARK: The barrier

/// Makes all threads of the process run a barrier. False where the system cannot: on old kernels, and where
/// a sandbox forbids it.
static bool all_threads_barrier(void) {
#if defined(__linux__) && defined(SYS_membarrier) && !defined(FWD_THREAD_SANITIZER)
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return true;
  // The first time, and in a child of fork(2), the process has to be registered.
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
  return false;
#endif
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;
/// Whether there is one: without it nothing is announced, since blocks of ended threads would be lost.
static bool has_key;

static void end_thread(void *first);
static void set_up_retired(void);

static void set_up(void) {
  set_up_retired();
  has_key = pthread_key_create(&at_thread_end, end_thread) == 0;
  fwd_hazard_is_fenced = !all_threads_barrier();
}

/// Makes the announcements of all threads visible, and the calling thread's stores to them. False if that could
/// not be done: a sandbox that came later may forbid it. Whatever is retired then stays.
static bool barrier(void) {
  pthread_once(&once, set_up);
  atomic_thread_fence(memory_order_seq_cst);
  return fwd_hazard_is_fenced || all_threads_barrier();
}

// MARK: Places

static void end_thread(void *first) {
  // Other destructors of the thread may still make calls: they take blocks anew.
  fwd_hazards_of_thread = NULL;
  bool was_used = false;
  for (fwd_hazards *block = first, *more; block; block = more) {
    more = block->more;
    block->more = NULL;
    // A thread that ended inside a use has not taken its announcement back.
    for (size_t i = 0; i < FWD_HAZARD_PLACES; i++) {
      if (atomic_exchange(&block->places[i].announced, NULL)) was_used = true;
    }
    // Release: the next thread finds the block empty.
    atomic_store_explicit(&block->taken, false, memory_order_release);
  }
  // Only then: what others retire is theirs to free before they go on.
  if (was_used) fwd_hazard_reclaim(NULL);
}

static fwd_hazards *take_block(void) {
  pthread_once(&once, set_up);
  for (fwd_hazards *block = atomic_load_explicit(&all, memory_order_acquire); block; block = block->next) {
    bool taken = false;
    if (atomic_compare_exchange_strong_explicit(&block->taken, &taken, true, memory_order_acquire,
                                                memory_order_relaxed)) {
      return block;
    }
  }
  fwd_hazards *made = aligned_alloc(64, sizeof *made);
  if (!made) return NULL;
  memset(made, 0, sizeof *made);
  atomic_init(&made->taken, true);
  made->next = atomic_load_explicit(&all, memory_order_relaxed);
  // Sequentially consistent: whoever looks for users after its barrier finds the block, or this thread finds
  // what the other has done before its barrier.
  while (!atomic_compare_exchange_weak(&all, &made->next, made)) {
  }
  return made;
}

fwd_place *fwd_hazard_find_place(void) {
  fwd_hazards **link = &fwd_hazards_of_thread;
  for (; *link; link = &(*link)->more) {
    // Not in the order of a stack: a thread may run fibers, which leave in any order.
    for (size_t i = 0; i < FWD_HAZARD_PLACES; i++) {
      fwd_place *place = &(*link)->places[i];
      if (!atomic_load_explicit(&place->announced, memory_order_relaxed)) return place;
    }
  }
  fwd_hazards *block = take_block();
  // The first block has to be given back at the thread's end, and the others with it.
  bool is_first = link == &fwd_hazards_of_thread;
  if (block && is_first && (!has_key || pthread_setspecific(at_thread_end, block) != 0)) {
    atomic_store_explicit(&block->taken, false, memory_order_release);
    block = NULL;
  }
  if (!block) {
    atomic_fetch_add(&unannounced, 1);
    unannounced_of_thread++;
    return NULL;
  }
  *link = block;
  return &block->places[0];
}

void fwd_hazard_leave_unannounced(void) {
  unannounced_of_thread--;
  // What was retired meanwhile has waited for this.
  if (atomic_fetch_sub(&unannounced, 1) == 1) fwd_hazard_reclaim(NULL);
}

/// Looks for the use of an address that began first. After a barrier. False if there is none.
static bool find_oldest(const void *announced, size_t *oldest) {
  bool found = false;
  for (fwd_hazards *block = atomic_load(&all); block; block = block->next) {
    for (size_t i = 0; i < FWD_HAZARD_PLACES; i++) {
      fwd_place *place = &block->places[i];
      if (atomic_load(&place->announced) != announced) continue;
      // Acquire: it may be that of a later use already, and then the use that was announced lies
      // behind us. The count may go round: what is nearer to the front is later.
      size_t begun = atomic_load_explicit(&place->generation, memory_order_acquire);
      if (!found || (ptrdiff_t)(begun - *oldest) < 0) *oldest = begun;
      found = true;
    }
  }
  return found;
}

bool fwd_hazard_may_be_used(const void *announced) {
  size_t oldest;
  return !barrier() || atomic_load(&unannounced) > 0 || find_oldest(announced, &oldest);
}

// MARK: Retiring

/// What has been retired, by address: what one address is announced for waits in a queue, and does not get
/// in the way of others.
typedef struct retired_queue {
  _Alignas(64) pthread_mutex_t lock;
  _Atomic(fwd_retired *) first;
  fwd_retired *last;
} retired_queue;

enum { queue_bits = 6, queue_count = 1 << queue_bits };
static retired_queue queues[queue_count];

static retired_queue *queue_of(const void *announced) {
  return &queues[((uint64_t)(uintptr_t)announced * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - queue_bits)];
}

void fwd_retire_all(fwd_retired *first) {
  pthread_once(&once, set_up);
  // Once they are in the queue, another thread may free them.
  const void *announced = first->announced;
  retired_queue *queue = queue_of(announced);
  pthread_mutex_lock(&queue->lock);
  // A use that sees this count finds what was retired gone. One that saw an earlier count is told apart
  // by it, and finds when it ends that the count has moved.
  size_t generation = atomic_fetch_add(&fwd_hazard_generation, 1) + 1;
  fwd_retired *last = first;
  for (;; last = last->next) {
    last->generation = generation;
    if (!last->next) break;
  }
  if (atomic_load_explicit(&queue->first, memory_order_relaxed)) {
    queue->last->next = first;
  } else {
    atomic_store(&queue->first, first);
  }
  queue->last = last;
  pthread_mutex_unlock(&queue->lock);
  fwd_hazard_reclaim(announced);
}

/// Takes what is not used any more out of a queue: what is announced by one address, or all (NULL). What
/// stands behind something that one address is still used for is later, and is not looked at.
static fwd_retired *take_unused(retired_queue *queue, const void *announced) {
  fwd_retired *unused = NULL, **unused_end = &unused, *previous = NULL, *next;
  size_t oldest = 0;
  bool is_used = announced && find_oldest(announced, &oldest);
  for (fwd_retired *retired = atomic_load(&queue->first); retired; retired = next) {
    next = retired->next;
    bool is_ours = !announced || retired->announced == announced;
    if (!announced) is_used = find_oldest(retired->announced, &oldest);
    if (!is_ours || (is_used && (ptrdiff_t)(oldest - retired->generation) < 0)) {
      if (is_ours && announced) break;
      previous = retired;
      continue;
    }
    if (previous) {
      previous->next = next;
    } else {
      atomic_store(&queue->first, next);
    }
    if (queue->last == retired) queue->last = previous;
    *unused_end = retired;
    unused_end = &retired->next;
  }
  *unused_end = NULL;
  return unused;
}

static void reclaim(retired_queue *queue, const void *announced) {
  // Mostly there is nothing: who was there first has done it.
  if (!atomic_load(&queue->first)) return;
  fwd_retired *unused = NULL;
  pthread_mutex_lock(&queue->lock);
  if (barrier() && atomic_load(&unannounced) == 0) unused = take_unused(queue, announced);
  pthread_mutex_unlock(&queue->lock);
  // Outside the lock: what is freed may run foreign code.
  while (unused) {
    fwd_retired *next = unused->next;
    unused->free(unused);
    unused = next;
  }
}

void fwd_hazard_reclaim(const void *announced) {
  if (announced) {
    reclaim(queue_of(announced), announced);
  } else {
    for (size_t i = 0; i < queue_count; i++) reclaim(&queues[i], NULL);
  }
}

// MARK: fork(2)

static void before_fork(void) {
  for (size_t i = 0; i < queue_count; i++) pthread_mutex_lock(&queues[i].lock);
}

static void after_fork(void) {
  for (size_t i = 0; i < queue_count; i++) pthread_mutex_unlock(&queues[i].lock);
}

/// In the child there is only the thread that forked: what others had announced nobody uses.
static void after_fork_in_child(void) {
  for (fwd_hazards *block = atomic_load(&all); block; block = block->next) {
    bool is_mine = false;
    for (fwd_hazards *mine = fwd_hazards_of_thread; mine; mine = mine->more) {
      is_mine = is_mine || mine == block;
    }
    if (is_mine) continue;
    for (size_t i = 0; i < FWD_HAZARD_PLACES; i++) atomic_store(&block->places[i].announced, NULL);
    block->more = NULL;
    atomic_store(&block->taken, false);
  }
  atomic_store(&unannounced, unannounced_of_thread);
  after_fork();
}

static void set_up_retired(void) {
  for (size_t i = 0; i < queue_count; i++) pthread_mutex_init(&queues[i].lock, NULL);
  // Without it, a child that forwards frees later, or never.
  (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
