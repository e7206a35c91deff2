// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/entering.h"

static atomic_size_t stale_calls;

size_t fwd_closure_stale_calls(void) { return atomic_load_explicit(&stale_calls, memory_order_relaxed); }

FWD_KEEPS_REGISTERS void fwd_note_stale_call(void) { atomic_fetch_add_explicit(&stale_calls, 1, memory_order_relaxed); }
