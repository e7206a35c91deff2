// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Counts locks. A pthread lock counts when it is taken, any other lock when a thread waits for it in the kernel. A lock
/// that a program takes by its own atomic operation, without waiting, is not seen.

// For dlsym's RTLD_NEXT and getrusage's RUSAGE_THREAD.
#define _GNU_SOURCE

#include <string.h>

#include "counters.h"

#if BENCH_COUNTS

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>

static _Thread_local uint64_t locks;

// The C library's function of the same name.
#define STAND_IN(name, type)                                          \
  int name(type *lock) {                                              \
    static int (*next)(type *);                                       \
    int (*function)(type *) = __atomic_load_n(&next, __ATOMIC_RELAXED); \
    if (!function) {                                                  \
      void *found = dlsym(RTLD_NEXT, #name);                          \
      memcpy(&function, &found, sizeof function);                     \
      __atomic_store_n(&next, function, __ATOMIC_RELAXED);            \
    }                                                                 \
    locks++;                                                          \
    return function(lock);                                            \
  }

STAND_IN(pthread_mutex_lock, pthread_mutex_t)
STAND_IN(pthread_mutex_trylock, pthread_mutex_t)
STAND_IN(pthread_rwlock_rdlock, pthread_rwlock_t)
STAND_IN(pthread_rwlock_wrlock, pthread_rwlock_t)

uint64_t bench_lock_count(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return UINT64_MAX;
  return locks + (uint64_t)usage.ru_nvcsw;
}

#else

uint64_t bench_lock_count(void) { return UINT64_MAX; }

#endif
