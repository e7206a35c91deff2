// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The fan-outs under way on a thread, one inside the other, the stack that is left for further ones, and the batches that
/// the thread forwards to.
///
/// A subscriber may forward, so fan-outs nest. A recursion without an end is stopped by an error while the stack
/// still has room for the error's handling. The stack pointer is compared with the thread's limits, rather than the
/// levels counted, since most of the stack belongs to the subscribers' own functions, and stacks differ in size.

#ifndef FWD_SRC_NESTING_H
#define FWD_SRC_NESTING_H

#include <stddef.h>
#include <string.h>

#include "base/cold_call.h"
#include "forwarding.h"

/// What runs in a frame.
typedef enum fwd_nesting_kind {
  /// Interceptors, or code that is part of no fan-out.
  FWD_NESTING_OTHER = 0,
  /// Deliveries one after another: the frame is part of a `fwd_deciding_emission`.
  FWD_NESTING_DECIDES,
  /// Deliveries by looping.c: the frame is part of a `fwd_looped_emission`.
  FWD_NESTING_LOOPS,
  /// Code that runs when a reading ends, after its deliveries: the frame is part of a `fwd_emission`.
  FWD_NESTING_LEAVES,
  /// A delivery of a mailbox: the frame is part of a `fwd_mailed_frame`.
  FWD_NESTING_MAILED,
} fwd_nesting_kind;

/// A fan-out under way, on the stack of its thread.
typedef struct fwd_nesting_frame {
  /// The fan-out that it runs inside of.
  struct fwd_nesting_frame *outer;
  /// Whether a subscriber has called `fwd_mark_handled`.
  bool handled;
  /// A `fwd_nesting_kind`. If it delivers, the frame is part of an emission (emission.h).
  uint8_t kind;
  /// These belong to the emission that the frame is part of (emission.h), and fill the frame's padding. Whether a record was
  /// met that can be removed: its subscription has ended, or ends with this delivery, or its object has died.
  bool met_dead;
  /// Whether C functions are called by a filler (`fwd_has_filler`).
  bool is_filled;
  /// Deliveries of a loop that `fwd_fail_delivery` has withdrawn: the loop counts them as made.
  uint32_t withdrawn;
} fwd_nesting_frame;

/// The frame of a delivery that a mailbox makes.
typedef struct fwd_mailed_frame {
  /// First, so that a pointer to it is one to the whole.
  fwd_nesting_frame frame;
  fwd_subscription subscription;
  /// The recipient's `report_context`.
  void *context;
} fwd_mailed_frame;

/// What is known of a thread's stack.
typedef enum fwd_stack_state {
  /// The thread has not forwarded yet.
  FWD_STACK_UNASKED = 0,
  FWD_STACK_KNOWN,
  /// The system does not tell.
  FWD_STACK_UNKNOWN,
} fwd_stack_state;

typedef struct fwd_nesting {
  fwd_nesting_frame *innermost;
  /// The innermost batch that the thread has entered; NULL for none.
  const struct fwd_batch_use *batches;
  /// A fan-out may begin while the stack pointer is at most `stack_room` bytes above `stack_floor`. Both are 0
  /// until the thread's first fan-out.
  uintptr_t stack_floor;
  size_t stack_room;
  /// The lowest byte of the stack.
  uintptr_t stack_end;
  fwd_stack_state state;
} fwd_nesting;

// The initial-exec model: the general one calls a function for the address in a shared library. glibc has room for a
// few words of it in libraries that are loaded later.
#if defined(__ELF__) && defined(__GLIBC__)
#define FWD_NESTING_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define FWD_NESTING_THREAD_LOCAL _Thread_local
#endif

/// The calling thread's fan-outs and stack.
extern __attribute__((visibility("hidden"))) FWD_NESTING_THREAD_LOCAL fwd_nesting fwd_nesting_of_thread;

/// Fan-outs that may be nested on a stack whose limits are unknown: that of a signal handler, or of a fiber.
enum { FWD_UNKNOWN_STACK_LEVELS = 64 };

/// The slow path of `fwd_nesting_has_room`.
FWD_KEEPS_REGISTERS bool fwd_nesting_look_closer(uintptr_t here, size_t needed);

/// Fails because `fwd_nesting_has_room` has said no. Names the selector and the number of fan-outs under way.
fwd_status fwd_nesting_fail(fwd_selector selector);

/// Whether the stack has room for one more fan-out, which needs so many bytes more than most. `local` is the address of a
/// local variable.
static inline bool fwd_nesting_has_room(const void *local, size_t needed) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  // The sanitizer puts local variables on a heap.
  local = __builtin_frame_address(0);
#endif
#endif
  uintptr_t here = (uintptr_t)local;
  const fwd_nesting *nesting = &fwd_nesting_of_thread;
  if (__builtin_expect(here - needed - nesting->stack_floor < nesting->stack_room, 1)) return true;
  return fwd_nesting_look_closer(here, needed);
}

/// Whether the thread is inside of three fan-outs or more: in a recursion, and not in a subscriber that forwards once more.
static inline bool fwd_nesting_is_deep(void) {
  const fwd_nesting_frame *frame = fwd_nesting_of_thread.innermost;
  return frame && frame->outer && frame->outer->outer;
}

/// Makes a frame the thread's innermost one. Its other members must have been set, mostly by `fwd_emission_begin`.
static inline void fwd_nesting_push(fwd_nesting_frame *frame) {
  frame->outer = fwd_nesting_of_thread.innermost;
  fwd_nesting_of_thread.innermost = frame;
}

/// Sets a frame's `handled` and `kind`, and makes it the thread's innermost one.
static inline void fwd_nesting_enter(fwd_nesting_frame *frame, fwd_nesting_kind kind) {
  frame->handled = false;
  frame->kind = (uint8_t)kind;
  fwd_nesting_push(frame);
}

/// Whether anything but `outer` has changed in a frame since it was begun with this kind.
static inline bool fwd_nesting_has_marks(const fwd_nesting_frame *frame, fwd_nesting_kind kind) {
  const size_t offset = offsetof(fwd_nesting_frame, handled);
  _Static_assert(sizeof(fwd_nesting_frame) - offsetof(fwd_nesting_frame, handled) == 8, "one comparison looks at all");
  const fwd_nesting_frame begun = {.kind = (uint8_t)kind};
  return memcmp((const char *)frame + offset, (const char *)&begun + offset, sizeof begun - offset) != 0;
}

/// Removes the innermost fan-out. With `is_part`, a mark that it got counts for the outer one too.
static inline void fwd_nesting_leave(const fwd_nesting_frame *frame, bool is_part) {
  // Before the store: after it, compilers would have to compute `is_part` even if there is no mark.
  if (__builtin_expect(frame->handled, 0) && is_part && frame->outer) frame->outer->handled = true;
  fwd_nesting_of_thread.innermost = frame->outer;
}

#endif
