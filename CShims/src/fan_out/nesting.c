// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// For pthread_getattr_np.
#define _GNU_SOURCE 1

#include "fan_out/nesting.h"

#include <pthread.h>

#if defined(__linux__) && !defined(__GLIBC__)
#include <sys/auxv.h>
#include <sys/resource.h>
#endif

#include "base/error.h"
#include "fwd_fan_out.h"

_Thread_local fwd_nesting fwd_nesting_of_thread;

/// The stack that stays free for the subscriber, the error and its handler: this, or a quarter of a smaller stack.
enum { stack_reserve = 128 << 10 };

/// How much of a larger stack may be used below a thread's first forward.
static const size_t largest_stack = (size_t)256 << 20;

void fwd_mark_handled(void) {
  if (fwd_nesting_of_thread.innermost) fwd_nesting_of_thread.innermost->handled = true;
}

/// Finds the calling thread's stack. False if the system does not tell.
static bool find_stack(uintptr_t *end, size_t *size) {
#if defined(__APPLE__)
  *size = pthread_get_stacksize_np(pthread_self());
  *end = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - *size;
  return true;
#elif defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void *address;
  bool found = pthread_attr_getstack(&attributes, &address, size) == 0;
  pthread_attr_destroy(&attributes);
  *end = (uintptr_t)address;
#if !defined(__GLIBC__)
  // The main thread's stack grows. glibc gives the size that it may grow to, musl the size that it has. The kernel
  // puts the random bytes near the beginning of that stack.
  struct rlimit limit;
  bool is_main = getauxval(AT_RANDOM) - *end < *size;
  if (found && is_main && getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur > *size) {
    *end -= limit.rlim_cur - *size;
    *size = limit.rlim_cur;
  }
#endif
  return found;
#else
  (void)end, (void)size;
  return false;
#endif
}

static size_t level_count(void) {
  size_t count = 0;
  for (fwd_nesting_frame *frame = fwd_nesting_of_thread.innermost; frame; frame = frame->outer) count++;
  return count;
}

/// Whether an address is on the thread's own stack, as far as that is known.
static bool is_on_stack(uintptr_t here) {
  const fwd_nesting *nesting = &fwd_nesting_of_thread;
  return nesting->state == FWD_STACK_KNOWN && here >= nesting->stack_end &&
         here < nesting->stack_floor + nesting->stack_room;
}

__attribute__((cold, noinline)) FWD_KEEPS_REGISTERS bool fwd_nesting_look_closer(uintptr_t here, size_t needed) {
  fwd_nesting *nesting = &fwd_nesting_of_thread;
  if (nesting->state == FWD_STACK_UNASKED) {
    size_t size;
    nesting->state = FWD_STACK_UNKNOWN;
    if (find_stack(&nesting->stack_end, &size)) {
      // Without a limit of the system, a recursion without an end would take all memory.
      uintptr_t below = here - nesting->stack_end;
      if (below > largest_stack && below < size) {
        nesting->stack_end += below - largest_stack;
        size -= below - largest_stack;
      }
      size_t reserve = size / 4 < stack_reserve ? size / 4 : stack_reserve;
      nesting->stack_floor = nesting->stack_end + reserve;
      nesting->stack_room = size - reserve;
      nesting->state = FWD_STACK_KNOWN;
    }
    if (here - needed - nesting->stack_floor < nesting->stack_room) return true;
  }
  // An address elsewhere is on the stack of a fiber or a signal handler. Its size is unknown, so the levels are counted.
  return !is_on_stack(here) && level_count() < FWD_UNKNOWN_STACK_LEVELS;
}

__attribute__((cold, noinline)) fwd_status fwd_nesting_fail(fwd_selector selector) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (is_on_stack(here)) {
    return fwd_fail(NULL, FWD_NESTED_TOO_DEEP, 0,
                    "\"%.100s\" is forwarded inside of %zu other fan-outs, and only %zu bytes of the thread's stack "
                    "are left; is it a recursion without an end?",
                    fwd_selector_name(selector), level_count(), (size_t)(here - fwd_nesting_of_thread.stack_end));
  }
  return fwd_fail(NULL, FWD_NESTED_TOO_DEEP, 0,
                  "\"%.100s\" is forwarded inside of %zu other fan-outs; on a stack of unknown size, such as a "
                  "fiber's, the limit is %d",
                  fwd_selector_name(selector), level_count(), FWD_UNKNOWN_STACK_LEVELS);
}

fwd_status fwd_run_nested(fwd_selector selector, void (*body)(void *context), void *context) {
  fwd_nesting_frame frame;
  frame.outer = NULL;
  if (!fwd_nesting_has_room(&frame, 0)) return fwd_nesting_fail(selector);
  fwd_nesting_enter(&frame, FWD_NESTING_OTHER);
  body(context);
  fwd_nesting_leave(&frame, false);
  return FWD_OK;
}
