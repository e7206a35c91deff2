// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/plan.h"

#include <stddef.h>

#include "abi/missing.h"

const fwd_call_jump fwd_no_call_jump = NULL;

fwd_status fwd_call_plan_fail(const fwd_call_plan *plan, void *const *arguments) {
  return fwd_fail_missing(plan->encoding, arguments);
}

fwd_status fwd_call_plan_discard(const fwd_call_plan *plan, void (*function)(void), void *const *arguments) {
  max_align_t memory[plan->result_size / sizeof(max_align_t) + 1];
  return plan->checked(plan, function, arguments, memory);
}

fwd_status fwd_call_plan_check_first(const fwd_call_plan *plan, void (*function)(void), void *const *arguments,
                                     void *result) {
  if (!fwd_has_addresses(plan->encoding, arguments)) return fwd_call_plan_fail(plan, arguments);
  if (plan->result == FWD_RESULT_MEMORY && !result) return fwd_call_plan_discard(plan, function, arguments);
  plan->unchecked(plan, function, arguments, result);
  return FWD_OK;
}
