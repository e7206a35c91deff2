// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Waiting for another thread.

#ifndef FWD_WAIT_H
#define FWD_WAIT_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Blocks the calling thread until `fwd_wait_end` is called for `word`. Returns at once if the word is no longer `seen`. May
/// return early, so the caller checks its condition again. The caller must hold no lock.
void fwd_wait_begin(const uint32_t *FWD_NONNULL word, uint32_t seen);

/// Changes the word and wakes all threads that wait for it. May be called under a lock.
void fwd_wait_end(uint32_t *FWD_NONNULL word);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
