// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Makes call plans on AArch64.

#include "abi/plan.h"

#if FWD_IS_AAPCS64

#include <stdlib.h>
#include <string.h>

#include "abi/aapcs64/callers.h"
#include "base/error.h"

/// Sorts the parts by what carries them. The move of a register that holds an address or is skipped has 0 bytes.
static void sort_parts(const fwd_placement *placement, fwd_call_plan *plan, fwd_stack_move *stack,
                       fwd_reference *references) {
  uint32_t copy_offset = 0;
  for (uint32_t i = 0; i < placement->part_count; i++) {
    const fwd_part *part = &placement->parts[i];
    bool on_stack = part->carrier == FWD_ON_STACK;
    if (part->is_address) {
      references[plan->reference_count++] = (fwd_reference){
          .argument = part->argument,
          .target = (uint16_t)(on_stack ? FWD_INTEGER_REGISTERS + part->index / 8 : part->index),
          .size = part->size,
          .offset = copy_offset,
      };
      copy_offset += fwd_copy_size(part->size);
    } else if (on_stack) {
      stack[plan->stack_move_count++] = fwd_stack_move_of(part);
    } else {
      fwd_move *moves = part->carrier == FWD_IN_INTEGER_REGISTER ? plan->integers : plan->vectors;
      moves[part->index] = fwd_move_of(part);
    }
  }
}

fwd_status fwd_call_plan_create(const fwd_placement *placement, const fwd_encoding *encoding, fwd_call_plan **plan,
                                fwd_error *error) {
  if (!placement || placement->has_gaps) {
    *plan = NULL;
    return FWD_OK;
  }
  fwd_call_plan made = {
      .checked = fwd_call_plan_check_first,
      .encoding = encoding,
      .result = placement->result,
      .result_member_size = placement->result_member_size,
      .result_size = placement->result_size,
      .integer_count = placement->integer_count,
      .vector_count = placement->vector_count,
      .stack_size = placement->stack_size,
      .copy_size = placement->copy_size,
  };
  fwd_stack_move stack[FWD_ARGUMENT_LIMIT];
  fwd_reference references[FWD_ARGUMENT_LIMIT];
  sort_parts(placement, &made, stack, references);
  made.unchecked = fwd_aapcs64_choose_caller(&made);

  size_t stack_bytes = made.stack_move_count * sizeof *stack;
  size_t reference_bytes = made.reference_count * sizeof *references;
  fwd_call_plan *kept = malloc(sizeof made + stack_bytes + reference_bytes);
  if (!kept) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a call plan");
  made.references = memcpy((char *)kept->stack + stack_bytes, references, reference_bytes);
  *kept = made;
  memcpy(kept->stack, stack, stack_bytes);
  *plan = kept;
  return FWD_OK;
}

_Static_assert(sizeof(fwd_stack_move) % _Alignof(fwd_reference) == 0, "references stand behind stack moves");

#endif
