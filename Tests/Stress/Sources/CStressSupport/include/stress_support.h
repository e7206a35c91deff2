// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the stress test cannot say in Swift: fork(2), thread-local storage, and calls of C functions.

#ifndef STRESS_SUPPORT_H
#define STRESS_SUPPORT_H

#include <forwarding.h>
#include <stdbool.h>

/// Forks. Returns the child's process number in the parent, 0 in the child, and -1 on failure.
///
/// Swift does not import fork(2). The child has only the calling thread, so it must take no lock of the program. It ends
/// with `_exit`. A child that hangs is ended by SIGALRM after `seconds`, in case that the parent cannot end it.
int stress_fork(unsigned seconds);

/// How a child has ended.
typedef enum stress_end {
  /// Its exit status is 0.
  STRESS_RIGHT,
  /// Its exit status is not 0.
  STRESS_WRONG,
  /// A signal has ended it.
  STRESS_ABORTED,
  /// It did not end in time. It has been killed.
  STRESS_HUNG,
  /// The system does not know the child.
  STRESS_LOST,
} stress_end;

/// Waits for the end of a child for some seconds, and kills the child after that. `*detail` receives the exit status or
/// the signal.
stress_end stress_wait(int child, unsigned seconds, int *_Nonnull detail);

/// Makes a signature, a call, a closure and a selector. Returns whether all results are right.
///
/// Signatures and selectors are new for each of 5000 numbers, and found again after that.
bool stress_use_calls(unsigned number);

/// The members of the plain proxy that stay.
enum { STRESS_PLAIN_COUNT = 3 };

/// Subscribes to a plain proxy, which adopts a protocol with "strike:fan:" and has members from C only: the next
/// member that stays, for a number below `STRESS_PLAIN_COUNT`, or a member that comes and goes.
fwd_status stress_plain_subscribe(fwd_proxy *_Nonnull proxy, unsigned number,
                                  fwd_subscription *_Nonnull subscription);

/// Forwards to a plain proxy. Returns whether each member that stays was called once and in order, with the arguments
/// of this fan-out. Runs no Swift code if no member has ever left.
bool stress_plain_forward(fwd_proxy *_Nonnull proxy, int64_t ticket);

/// All that a child does in C: forwards to a plain proxy, and uses calls with a number that is random and with one that
/// is not. Returns whether all was right.
bool stress_act_plain(fwd_proxy *_Nonnull proxy, int64_t ticket, unsigned number);

/// A pointer that each thread has for itself, NULL at first. It stays valid in the thread's exit handlers.
void *_Nullable stress_thread_pointer(void);
void stress_set_thread_pointer(void *_Nullable pointer);

/// Whether the program runs under the thread sanitizer.
bool stress_has_thread_sanitizer(void);

#endif
