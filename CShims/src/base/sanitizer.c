// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fwd_sanitizer.h"

#if defined(FWD_THREAD_SANITIZER)
void __tsan_acquire(void *address);
void __tsan_release(void *address);

void fwd_sanitizer_acquire(const void *address) { __tsan_acquire((void *)address); }
void fwd_sanitizer_release(const void *address) { __tsan_release((void *)address); }
#else
void fwd_sanitizer_acquire(const void *address) { (void)address; }
void fwd_sanitizer_release(const void *address) { (void)address; }
#endif
