// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SANITIZER_H
#define FWD_SANITIZER_H

/// Tell the thread sanitizer that the lock at an address was taken or will be given up. Nothing in other
/// builds. `Synchronization.Mutex` waits in the kernel by itself on Linux, where the sanitizer does not see
/// it, and then reports races that are none.
void fwd_sanitizer_acquire(const void *address);
void fwd_sanitizer_release(const void *address);

#endif
