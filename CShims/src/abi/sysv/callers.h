// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The functions that carry call plans out.

#ifndef FWD_SRC_SYSV_CALLERS_H
#define FWD_SRC_SYSV_CALLERS_H

#include "abi/plan.h"

#if FWD_IS_SYSV

typedef struct fwd_caller_choice {
  fwd_checked_call checked;
  fwd_unchecked_call unchecked;
  fwd_filled_call filled;
} fwd_caller_choice;

/// Chooses the callers for a plan's registers, stack and result. `has_jump` says whether it has a jump.
fwd_caller_choice fwd_sysv_choose_caller(const fwd_call_plan *plan, bool has_jump);

#endif

#endif
