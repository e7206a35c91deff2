// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Takes calls that come in through the pool's entries on System V x86-64: finds the arguments among the
/// registers and stack words, runs the closure's handler, and puts the result where it is expected.

#include "entry_layout.h"

#include <stdlib.h>
#include <string.h>

#include "closure.h"
#include "entry_pool.h"
#include "lowering.h"

#if FWD_HAS_ENTRY_POOL

typedef enum argument_place {
  /// Nothing is passed.
  IN_NONE,
  /// In one register, or in two of one kind, which are stored side by side.
  IN_REGISTERS,
  ON_STACK,
  /// In a register of each kind, or where it is not aligned for its type: it has to be copied together.
  SCATTERED,
} argument_place;

typedef struct entry_argument {
  uint8_t place;
  /// The registers of a scattered argument's eightbytes: an integer register, FWD_PLAN_INTEGERS and a vector
  /// register, or `no_register`.
  uint8_t eightbytes[2];
  /// The bytes from the beginning of the state, or for the stack from its first word.
  uint32_t offset;
} entry_argument;

enum { no_register = UINT8_MAX, scattered_bytes = 16 };

struct fwd_entry_layout {
  uint32_t argument_count;
  uint32_t scattered_count;
  fwd_plan_result result;
  uint32_t result_size;
  bool result_is_signed;
  /// Whether all arguments are IN_REGISTERS.
  bool is_simple;
  entry_argument arguments[];
};

// MARK: Creation

static void add_moves(fwd_entry_layout *layout, const fwd_move *moves, size_t first, size_t count, uint8_t base) {
  for (size_t i = first; i < count; i++) {
    layout->arguments[moves[i].argument].eightbytes[moves[i].offset / 8] = (uint8_t)(base + i);
  }
}

static void settle(fwd_entry_layout *layout, entry_argument *argument) {
  uint8_t first = argument->eightbytes[0], second = argument->eightbytes[1];
  if (argument->place == ON_STACK || (first == no_register && second == no_register)) return;
  bool both = second != no_register;
  bool side_by_side = !both || (second == first + 1 && second != FWD_PLAN_INTEGERS);
  // Registers are stored at multiples of 8. What is aligned to 16 would need an even register.
  if (first == no_register || !side_by_side || (both && first % 2 != 0)) {
    argument->place = SCATTERED;
    layout->scattered_count++;
  } else {
    argument->place = IN_REGISTERS;
    argument->offset = first < FWD_PLAN_INTEGERS
                           ? offsetof(fwd_entry_state, integers) + 8 * first
                           : offsetof(fwd_entry_state, vectors) + 8 * (first - FWD_PLAN_INTEGERS);
  }
}

fwd_entry_layout *fwd_entry_layout_create(const fwd_cif *cif) {
  const fwd_call_plan *plan = fwd_cif_plan(cif);
  fwd_entry_layout *layout = calloc(1, sizeof *layout + cif->argument_count * sizeof layout->arguments[0]);
  if (!layout) return NULL;
  layout->argument_count = cif->argument_count;
  layout->result = (fwd_plan_result)plan->result;
  layout->result_size = plan->result_size;
  layout->result_is_signed = cif->result_is_signed;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    memset(layout->arguments[i].eightbytes, no_register, sizeof layout->arguments[i].eightbytes);
  }
  for (uint32_t i = 0; i < plan->stack_move_count; i++) {
    layout->arguments[plan->stack[i].argument].place = ON_STACK;
    layout->arguments[plan->stack[i].argument].offset = plan->stack[i].place;
  }
  // The first integer register may be the address of the result.
  add_moves(layout, plan->integers, plan->result == FWD_PLAN_MEMORY, plan->integer_count, 0);
  add_moves(layout, plan->vectors, 0, plan->vector_count, FWD_PLAN_INTEGERS);
  layout->is_simple = true;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    settle(layout, &layout->arguments[i]);
    if (layout->arguments[i].place != IN_REGISTERS) layout->is_simple = false;
  }
  return layout;
}

void fwd_entry_layout_destroy(fwd_entry_layout *layout) { free(layout); }

// MARK: Calls

typedef struct scattered_argument {
  _Alignas(16) unsigned char bytes[scattered_bytes];
} scattered_argument;

static void copy_together(const fwd_entry_state *state, const entry_argument *argument,
                          scattered_argument *copy) {
  memset(copy, 0, sizeof *copy);
  for (size_t i = 0; i < 2; i++) {
    uint8_t from = argument->eightbytes[i];
    if (from == no_register) continue;
    const void *stored = from < FWD_PLAN_INTEGERS ? (const void *)&state->integers[from]
                                                  : (const void *)&state->vectors[from - FWD_PLAN_INTEGERS];
    memcpy(copy->bytes + 8 * i, stored, 8);
  }
}

/// Puts a result that comes back in one register, or in one of each kind.
static void place_mixed(const fwd_entry_layout *layout, const unsigned char *bytes, fwd_returned_mixed *returned) {
  switch (layout->result) {
    case FWD_PLAN_INTEGER:
      // Callers may rely on a small integer being extended.
      returned->integer = layout->result_size < 8
                              ? fwd_extend(bytes, layout->result_size, layout->result_is_signed)
                              : 0;
      if (layout->result_size >= 8) memcpy(&returned->integer, bytes, 8);
      break;
    case FWD_PLAN_VECTOR:
      memcpy(&returned->vector, bytes, 8);
      break;
    case FWD_PLAN_INTEGER_VECTOR:
      memcpy(&returned->integer, bytes, 8);
      memcpy(&returned->vector, bytes + 8, 8);
      break;
    case FWD_PLAN_VECTOR_INTEGER:
      memcpy(&returned->vector, bytes, 8);
      memcpy(&returned->integer, bytes + 8, 8);
      break;
    default:
      break;
  }
}

static bool is_mixed(fwd_plan_result result) {
  return result != FWD_PLAN_INTEGER_INTEGER && result != FWD_PLAN_VECTOR_VECTOR && result != FWD_PLAN_X87 &&
         result != FWD_PLAN_COMPLEX_X87;
}

static inline void handle(const fwd_closure *closure, const fwd_entry_layout *layout, fwd_entry_state *state,
                          void *const *arguments) {
  if (layout->result == FWD_PLAN_VOID) {
    // Room all the same, so that handlers need not ask.
    state->returned.mixed.integer = 0;
    closure->handler(closure->context, arguments, state->returned.bytes);
  } else if (layout->result == FWD_PLAN_MEMORY) {
    void *memory = (void *)(uintptr_t)state->integers[0];
    memset(memory, 0, layout->result_size);
    closure->handler(closure->context, arguments, memory);
    // The psABI: the callee gives the address that it was given back in rax.
    state->returned.mixed.integer = (uint64_t)(uintptr_t)memory;
  } else if (is_mixed(layout->result)) {
    _Alignas(16) unsigned char bytes[16] = {0};
    closure->handler(closure->context, arguments, bytes);
    place_mixed(layout, bytes, &state->returned.mixed);
  } else {
    memset(state->returned.bytes, 0, sizeof state->returned.bytes);
    closure->handler(closure->context, arguments, state->returned.bytes);
  }
}

// In a function of its own, so that simple calls do not have the frame that this one needs.
__attribute__((noinline)) static void run_general(const fwd_closure *closure, const fwd_entry_layout *layout,
                                                  fwd_entry_state *state) {
  // One more than needed: an array of no elements is undefined.
  void *arguments[layout->argument_count + 1];
  scattered_argument scattered[layout->scattered_count + 1], *next = scattered;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    const entry_argument *argument = &layout->arguments[i];
    switch (argument->place) {
      case IN_REGISTERS:
        arguments[i] = (unsigned char *)state + argument->offset;
        break;
      case ON_STACK:
        arguments[i] = state->stack + argument->offset;
        break;
      case SCATTERED:
        copy_together(state, argument, next);
        arguments[i] = next++;
        break;
      default:
        // Of size 0: some address that is aligned for everything.
        arguments[i] = &scattered[layout->scattered_count];
    }
  }
  handle(closure, layout, state, arguments);
}

static inline void run(const fwd_closure *closure, fwd_entry_state *state) {
  const fwd_entry_layout *layout = closure->layout;
  if (!layout->is_simple) {
    run_general(closure, layout, state);
    return;
  }
  void *arguments[FWD_PLAN_INTEGERS + FWD_PLAN_VECTORS];
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    arguments[i] = (unsigned char *)state + layout->arguments[i].offset;
  }
  handle(closure, layout, state, arguments);
}

/// For a stale call.
static void return_zeroes(const fwd_entry_slot *slot, fwd_entry_state *state) {
  memset(state->returned.bytes, 0, sizeof state->returned.bytes);
  uint32_t size = atomic_load_explicit(&slot->memory_size, memory_order_relaxed);
  if (size == 0) return;
  memset((void *)(uintptr_t)state->integers[0], 0, size);
  state->returned.mixed.integer = state->integers[0];
}

void fwd_entry_enter(fwd_entry_slot *slot, fwd_entry_state *state) {
  fwd_entering entering = fwd_closure_enter(&slot->closure);
  if (entering.closure) {
    run(entering.closure, state);
  } else {
    return_zeroes(slot, state);
  }
  fwd_closure_leave(entering);
}

#else

// No pool, no layouts.
fwd_entry_layout *fwd_entry_layout_create(const fwd_cif *cif) {
  (void)cif;
  return NULL;
}
void fwd_entry_layout_destroy(fwd_entry_layout *layout) { free(layout); }

#endif
