// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef SEQUENCES_H
#define SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#define SEQUENCES_NULLABLE _Nullable
#define SEQUENCES_NONNULL _Nonnull
#else
#define SEQUENCES_NULLABLE
#define SEQUENCES_NONNULL
#endif

// Each of these functions prints the calls whose status is not the one that the table expects, and returns the number
// of failed checks. They change the whole process (`fwd_use_libffi`, fork handlers, selectors), so each runs in a
// process without other tests.

/// Calls every function of forwarding.h in every situation that needs one thread at a time.
int sequences_run(void);

/// Calls every function in children that are forked while other threads run the whole table on the same proxy.
///
/// Runs nothing under the thread sanitizer, which does not survive more in a child than Tests/Robustness/fork.c does.
/// Under the address sanitizer there are no other threads.
int sequences_run_forked(void);

/// The allocations of the C target, which the program intercepts.
typedef struct sequences_allocator {
  /// Makes the allocation with this number fail, counted from 0 and from now.
  void (*SEQUENCES_NONNULL arm)(size_t number);
  /// Makes no allocation fail from now on. Returns whether one has failed.
  bool (*SEQUENCES_NONNULL disarm)(void);
  /// Returns how many blocks are not freed.
  long (*SEQUENCES_NONNULL live)(void);
} sequences_allocator;

/// Calls every function with its first allocation failing, its second, and so on; then looks for leaks.
int sequences_run_without_memory(const sequences_allocator *SEQUENCES_NONNULL allocator);

/// Returns the names of the functions that a row calls, or NULL behind the last row.
const char *SEQUENCES_NULLABLE sequences_row(size_t index);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
