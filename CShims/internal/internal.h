// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The internal interface of the C target, for the Swift module `Forwarding` and the package's own tests.
///
/// SwiftPM makes a package's modules visible to every client of a product that uses them. So this header marks the
/// functions as unavailable to clients; Package.swift defines FWD_INTERNAL for the targets that may call them. The
/// types stay visible, since a client's compiler computes the layout of the structs of `Forwarding`, and would omit a
/// field whose type it does not know.

#ifndef FWD_INTERNAL_H
#define FWD_INTERNAL_H

#include "forwarding.h"

#ifndef FWD_INTERNAL
#pragma clang attribute push( \
    __attribute__((availability(swift, unavailable, message = "private to swift-forwarding"))), apply_to = function)
#endif

#include "fwd_closure.h"
#include "fwd_counter.h"
#include "fwd_dispatch.h"
#include "fwd_draft.h"
#include "fwd_encoding.h"
#include "fwd_error.h"
#include "fwd_fan_out.h"
#include "fwd_garbage.h"
#include "fwd_library.h"
#include "fwd_list.h"
#include "fwd_lock.h"
#include "fwd_mailbox.h"
#include "fwd_options.h"
#include "fwd_plan.h"
#include "fwd_prefetch.h"
#include "fwd_proxy.h"
#include "fwd_quick_lock.h"
#include "fwd_selector.h"
#include "fwd_signature.h"
#include "fwd_taps.h"
#include "fwd_wait.h"
#include "fwd_weak.h"

#ifndef FWD_INTERNAL
#pragma clang attribute pop
#endif

#endif
