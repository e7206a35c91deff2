// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the Swift module `Forwarding` and the package's own tests use of the C target beyond forwarding.h.
///
/// SwiftPM shows a package's modules to every client of a product that uses them. The module is empty unless
/// FWD_INTERNAL is defined, as Package.swift does for the targets that may use it.

#ifndef FWD_INTERNAL_H
#define FWD_INTERNAL_H

#ifdef FWD_INTERNAL
#include "fwd_closure.h"
#include "fwd_dispatch.h"
#include "fwd_encoding.h"
#include "fwd_error.h"
#include "fwd_fan_out.h"
#include "fwd_garbage.h"
#include "fwd_list.h"
#include "fwd_lock.h"
#include "fwd_options.h"
#include "fwd_plan.h"
#include "fwd_proxy.h"
#include "fwd_selector.h"
#include "fwd_signature.h"
#include "fwd_weak.h"
#endif

#endif
