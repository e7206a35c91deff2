// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_DRAFT_H
#define FWD_SRC_DRAFT_H

#include "reclaim/thread.h"

/// The changes that the thread collects: `fwd_thread_changes`, inline. `fwd_set_thread_changes` sets it.
extern FWD_HIDDEN FWD_FAST_THREAD_LOCAL void *fwd_changes_of_thread;

#endif
