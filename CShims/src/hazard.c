// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// For syscall(2).
#define _GNU_SOURCE 1

#include "hazard.h"

#include <pthread.h>
#include <stdlib.h>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FWD_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FWD_THREAD_SANITIZER 1
#endif

bool fwd_hazard_is_fenced = true;
_Thread_local fwd_hazards *fwd_hazards_of_thread;

// All that were ever made; they are used again by later threads and never freed, so that whoever looks at
// them need not wait.
static _Atomic(fwd_hazards *) all;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;

static void give_back(void *ended) {
  fwd_hazards *hazards = ended;
  // A thread that ended inside a call has not taken its announcements back.
  for (size_t i = 0; i < FWD_HAZARD_PLACES; i++) atomic_store(&hazards->places[i], NULL);
  hazards->depth = 0;
  // Other destructors of the thread may still make calls: they make hazards anew.
  fwd_hazards_of_thread = NULL;
  // Release: the next thread with these finds them empty.
  atomic_store_explicit(&hazards->taken, false, memory_order_release);
}

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

static void set_up(void) {
  pthread_key_create(&at_thread_end, give_back);
  fwd_hazard_is_fenced = !all_threads_barrier();
}

fwd_hazards *fwd_hazards_make(void) {
  pthread_once(&once, set_up);
  fwd_hazards *mine = atomic_load_explicit(&all, memory_order_acquire);
  for (; mine; mine = mine->next) {
    bool taken = false;
    if (atomic_compare_exchange_strong_explicit(&mine->taken, &taken, true, memory_order_acquire,
                                                memory_order_relaxed)) {
      break;
    }
  }
  if (!mine) {
    mine = calloc(1, sizeof *mine);
    if (!mine) return NULL;
    atomic_init(&mine->taken, true);
    mine->next = atomic_load_explicit(&all, memory_order_relaxed);
    // Sequentially consistent: whoever looks for users after its barrier finds these, or this thread finds
    // what the other has done before its barrier.
    while (!atomic_compare_exchange_weak(&all, &mine->next, mine)) {
    }
  }
  // Without the key's memory the hazards are not used again; that is all.
  pthread_setspecific(at_thread_end, mine);
  fwd_hazards_of_thread = mine;
  return mine;
}

void fwd_hazard_barrier(void) {
  pthread_once(&once, set_up);
  if (!fwd_hazard_is_fenced) all_threads_barrier();
  atomic_thread_fence(memory_order_seq_cst);
}

bool fwd_hazard_is_used(const void *object) {
  for (fwd_hazards *hazards = atomic_load(&all); hazards; hazards = hazards->next) {
    for (size_t i = 0; i < FWD_HAZARD_PLACES; i++) {
      if (atomic_load(&hazards->places[i]) == object) return true;
    }
  }
  return false;
}
