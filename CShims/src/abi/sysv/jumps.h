// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The jumps of common signatures.

#ifndef FWD_SRC_SYSV_JUMPS_H
#define FWD_SRC_SYSV_JUMPS_H

#include "abi/plan.h"

/// A jump, and what a signature's head says of it.
typedef struct fwd_jump_choice {
  /// NULL if the plan's shape has none.
  fwd_call_jump jump;
  /// Without the plan.
  fwd_jump_head head;
} fwd_jump_choice;

/// Chooses the jump for a plan's registers, stack and result.
fwd_jump_choice fwd_sysv_choose_jump(const fwd_call_plan *plan);

#endif
