// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The functions that carry call plans out.

#ifndef FWD_SRC_AAPCS64_CALLERS_H
#define FWD_SRC_AAPCS64_CALLERS_H

#include "abi/plan.h"

/// Chooses the caller for a plan's registers, stack, copies and result.
fwd_unchecked_call fwd_aapcs64_choose_caller(const fwd_call_plan *plan);

#endif
