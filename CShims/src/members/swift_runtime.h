// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The functions of the Swift runtime for strong, unowned and weak references, and for casts to a class.
///
/// They are part of the runtime's stable ABI on Darwin, and the runtime exports them on Linux. They are declared weak,
/// so that a C program without a Swift runtime links. Their addresses are NULL then.

#ifndef FWD_SRC_SWIFT_RUNTIME_H
#define FWD_SRC_SWIFT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__APPLE__)
#define FWD_RUNTIME(declaration) extern declaration __attribute__((weak_import))
#else
#define FWD_RUNTIME(declaration) extern declaration __attribute__((weak))
#endif

FWD_RUNTIME(void *swift_retain(void *object));
FWD_RUNTIME(void swift_release(void *object));
FWD_RUNTIME(void *swift_tryRetain(void *object));
FWD_RUNTIME(size_t swift_retainCount(void *object));
FWD_RUNTIME(bool swift_isDeallocating(void *object));
// The object if it is of the class or of a subclass, else NULL.
FWD_RUNTIME(const void *swift_dynamicCastClass(const void *object, const void *type));
FWD_RUNTIME(void *swift_unownedRetain(void *object));
FWD_RUNTIME(void swift_unownedRelease(void *object));
// The compiler calls these for `weak` variables. A weak reference is one pointer on Linux, and at most two elsewhere.
FWD_RUNTIME(void *swift_weakInit(void *reference, void *object));
FWD_RUNTIME(void *swift_weakLoadStrong(void *reference));
FWD_RUNTIME(void swift_weakDestroy(void *reference));

#endif
