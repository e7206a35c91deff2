// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The entry points of the Swift runtime that references need.
///
/// They are part of its stable ABI on Darwin and exported on Linux. They are declared weak: a C
/// program that has no Swift runtime links, and holds no Swift objects.

#ifndef FWD_SRC_SWIFT_RUNTIME_H
#define FWD_SRC_SWIFT_RUNTIME_H

#include <stdbool.h>

#if defined(__APPLE__)
#define FWD_RUNTIME(declaration) extern declaration __attribute__((weak_import))
#else
#define FWD_RUNTIME(declaration) extern declaration __attribute__((weak))
#endif

FWD_RUNTIME(void *swift_retain(void *object));
FWD_RUNTIME(void swift_release(void *object));
FWD_RUNTIME(void *swift_tryRetain(void *object));
FWD_RUNTIME(bool swift_isDeallocating(void *object));
FWD_RUNTIME(void *swift_unownedRetain(void *object));
FWD_RUNTIME(void swift_unownedRelease(void *object));
// What the compiler emits for `weak`; a reference is a pointer on Linux, and at most two.
FWD_RUNTIME(void *swift_weakInit(void *reference, void *object));
FWD_RUNTIME(void *swift_weakLoadStrong(void *reference));
FWD_RUNTIME(void swift_weakDestroy(void *reference));

#endif
