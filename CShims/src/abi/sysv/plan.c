// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Makes call plans on System V x86-64.

#include "abi/plan.h"

#if FWD_IS_SYSV

#include <stdlib.h>
#include <string.h>

#include "abi/sysv/callers.h"
#include "abi/sysv/jumps.h"
#include "base/error.h"

/// Sorts the parts by what carries them. `stack` has room for an argument each.
static void sort_parts(const fwd_placement *placement, fwd_call_plan *plan, fwd_stack_move *stack) {
  for (uint32_t i = 0; i < placement->part_count; i++) {
    const fwd_part *part = &placement->parts[i];
    switch (part->carrier) {
      case FWD_IN_INTEGER_REGISTER: plan->integers[part->index] = fwd_move_of(part); break;
      case FWD_IN_VECTOR_REGISTER: plan->vectors[part->index] = fwd_move_of(part); break;
      default: stack[plan->stack_move_count++] = fwd_stack_move_of(part);
    }
  }
}

/// Breaks the stack into words that are loaded one by one. False if there are none or too many, or one is not of 4 or 8
/// bytes.
static bool split_stack(const fwd_call_plan *plan, const fwd_stack_move *stack, fwd_move *words) {
  if (plan->stack_size == 0 || plan->stack_size > 8 * FWD_PLAN_WORDS) return false;
  size_t count = 0;
  for (size_t i = 0; i < plan->stack_move_count; i++) {
    // Padding in front of a type that is aligned to 16: any word will do.
    while (count < stack[i].offset / 8) words[count++] = words[0];
    for (uint32_t offset = 0; offset < stack[i].size; offset += 8) {
      uint32_t size = stack[i].size - offset < 8 ? stack[i].size - offset : 8;
      if (size != 4 && size != 8) return false;
      words[count++] = (fwd_move){
          .argument = stack[i].argument,
          .offset = (uint16_t)offset,
          .size = (uint8_t)size,
          .high = size == 8 ? 4 : 0,
      };
    }
  }
  // Callers may pass more words than the function reads.
  while (count < FWD_PLAN_WORDS) words[count++] = words[0];
  return true;
}

/// Fills the moves after the last that is in use, for callers that load more registers than the function reads.
static void repeat_moves(fwd_call_plan *plan, const fwd_move *words) {
  bool hides_first = plan->result == FWD_RESULT_MEMORY;
  const fwd_move *any = plan->vector_count > 0               ? &plan->vectors[0]
                        : plan->integer_count > hides_first ? &plan->integers[hides_first]
                        : words                             ? &words[0]
                                                            : NULL;
  if (!any) return;
  const fwd_move repeated = *any;
  for (size_t i = plan->integer_count; i < FWD_INTEGER_REGISTERS; i++) plan->integers[i] = repeated;
  for (size_t i = plan->vector_count; i < FWD_VECTOR_REGISTERS; i++) plan->vectors[i] = repeated;
}

fwd_status fwd_call_plan_create(const fwd_placement *placement, const fwd_encoding *encoding, fwd_call_plan **plan,
                                fwd_error *error) {
  if (!placement || placement->has_gaps) {
    *plan = NULL;
    return FWD_OK;
  }
  fwd_call_plan made = {
      .encoding = encoding,
      .result = placement->result,
      .result_size = placement->result_size,
      .integer_count = placement->integer_count,
      .vector_count = placement->vector_count,
      .stack_size = placement->stack_size,
  };
  fwd_stack_move stack[FWD_ARGUMENT_LIMIT];
  fwd_move words[FWD_PLAN_WORDS];
  sort_parts(placement, &made, stack);
  bool has_words = split_stack(&made, stack, words);
  repeat_moves(&made, has_words ? words : NULL);

  size_t stack_bytes = made.stack_move_count * sizeof *stack;
  fwd_call_plan *kept = malloc(sizeof made + stack_bytes + (has_words ? sizeof words : 0));
  if (!kept) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a call plan");
  if (has_words) made.words = memcpy((char *)kept->stack + stack_bytes, words, sizeof words);
  fwd_jump_choice jump = fwd_sysv_choose_jump(&made);
  fwd_caller_choice caller = fwd_sysv_choose_caller(&made, jump.jump != NULL);
  made.jump = jump.jump;
  made.head = jump.head;
  made.head.plan = kept;
  made.checked = caller.checked;
  made.unchecked = caller.unchecked;
  made.filled = caller.filled;
  *kept = made;
  memcpy(kept->stack, stack, stack_bytes);
  *plan = kept;
  return FWD_OK;
}

_Static_assert(sizeof(fwd_stack_move) % _Alignof(fwd_move) == 0, "words stand behind stack moves");

#endif
