// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Receives the calls that come in through entries on System V x86-64: finds the arguments among the registers and
/// stack words, runs the closure's handler, and returns its result.

#include "abi/sysv/entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "fwd_lock.h"

#if FWD_IS_SYSV

/// Where an argument is once an entry has stored the registers.
typedef enum argument_location {
  /// It has no bytes.
  NOWHERE,
  /// In one register, or in two of a kind that are stored side by side.
  IN_REGISTERS,
  ON_STACK,
  /// In a register of each kind, or at an address that may not be aligned for its type: it has to be copied.
  SCATTERED,
} argument_location;

typedef struct entry_argument {
  /// An `argument_location`.
  uint8_t location;
  /// The registers of its eightbytes: the number of an integer register, FWD_INTEGER_REGISTERS plus that of a vector
  /// register, or `no_register`.
  uint8_t eightbytes[2];
  /// The offset in bytes from the beginning of the state, or for ON_STACK from the first stack word.
  uint32_t offset;
} entry_argument;

enum { no_register = UINT8_MAX, scattered_bytes = 16 };

enum {
  quick_arguments = FWD_QUICK_INTEGERS + FWD_QUICK_VECTORS,
  /// They are copied to where a full entry stores the vector registers that a quick entry does not have.
  quick_copies = (FWD_VECTOR_REGISTERS - FWD_QUICK_VECTORS) / 2,
};

/// Where a quick call's arguments are, in bytes from the beginning of the state.
typedef struct quick_layout {
  /// Whether there are at most two, in the first two integer registers and the first vector register, so that no other
  /// register has to be stored.
  bool is_small;
  /// Beyond the last argument zero, so that all can be read without a test.
  size_t arguments[quick_arguments];
  uint32_t copy_count;
  /// The offsets of the two eightbytes of each scattered argument.
  uint32_t copies[quick_copies][2];
} quick_layout;

struct fwd_entry_layout {
  uint32_t argument_count;
  uint32_t scattered_count;
  fwd_result_kind result;
  uint32_t result_size;
  bool result_is_signed;
  /// Whether the result is in one register and does not fill it.
  bool result_is_narrow;
  /// For a result in rax and xmm0: the offsets of the eightbytes that each holds.
  uint8_t result_in_integer, result_in_vector;
  bool is_quick;
  /// Whether all arguments are IN_REGISTERS.
  bool is_simple;
  quick_layout quick;
  /// Links the layouts that tombstones share.
  fwd_entry_layout *next_shared;
  entry_argument arguments[];
};

// MARK: Creation

static uint32_t offset_of_register(uint8_t index) {
  return (uint32_t)(index < FWD_INTEGER_REGISTERS
                        ? offsetof(fwd_entry_state, integers) + 8 * index
                        : offsetof(fwd_entry_state, vectors) + 8 * (index - FWD_INTEGER_REGISTERS));
}

static void locate(fwd_entry_layout *layout, entry_argument *argument) {
  uint8_t first = argument->eightbytes[0], second = argument->eightbytes[1];
  if (argument->location == ON_STACK || (first == no_register && second == no_register)) return;
  bool both = second != no_register;
  bool side_by_side = !both || (second == first + 1 && second != FWD_INTEGER_REGISTERS);
  // Registers are stored at multiples of 8, so a type that is aligned to 16 would need an even register.
  if (first == no_register || !side_by_side || (both && first % 2 != 0)) {
    argument->location = SCATTERED;
    layout->scattered_count++;
  } else {
    argument->location = IN_REGISTERS;
    argument->offset = offset_of_register(first);
  }
}

/// Gives the offset in the state of a copy that a quick call makes.
static inline size_t offset_of_copy(size_t index) {
  return offsetof(fwd_entry_state, vectors) + 8 * FWD_QUICK_VECTORS + scattered_bytes * index;
}

_Static_assert((offsetof(fwd_entry_state, vectors) + 8 * FWD_QUICK_VECTORS) % 16 == 0,
               "copies are aligned");

static bool is_stored_by_quick(uint8_t index) {
  return index < FWD_QUICK_INTEGERS ||
         (index >= FWD_INTEGER_REGISTERS && index < FWD_INTEGER_REGISTERS + FWD_QUICK_VECTORS);
}

/// Fills `layout->quick`. False if quick entries cannot take the calls.
static bool locate_quick(fwd_entry_layout *layout) {
  quick_layout *quick = &layout->quick;
  if (layout->result == FWD_RESULT_X87 || layout->result == FWD_RESULT_COMPLEX_X87) return false;
  if (layout->argument_count > quick_arguments) return false;
  if (layout->scattered_count > quick_copies) return false;
  quick->is_small = layout->argument_count <= 2 && layout->scattered_count == 0;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    const entry_argument *argument = &layout->arguments[i];
    uint8_t first = argument->eightbytes[0], second = argument->eightbytes[1];
    uint8_t last = second == no_register ? first : second;
    // Arguments on the stack or of size 0 have no registers.
    if (first == no_register) return false;
    if (!is_stored_by_quick(first) || !is_stored_by_quick(last)) return false;
    if (last > 1 && last != FWD_INTEGER_REGISTERS) quick->is_small = false;
    quick->arguments[i] = argument->offset;
    if (argument->location != SCATTERED) continue;
    uint32_t *copy = quick->copies[quick->copy_count];
    copy[0] = offset_of_register(first);
    copy[1] = offset_of_register(second);
    quick->arguments[i] = offset_of_copy(quick->copy_count++);
  }
  return true;
}

/// `index` is the argument's among those of the layout.
static void add_part(fwd_entry_layout *layout, const fwd_part *part, size_t index) {
  entry_argument *argument = &layout->arguments[index];
  switch (part->carrier) {
    case FWD_IN_INTEGER_REGISTER: argument->eightbytes[part->offset / 8] = (uint8_t)part->index; break;
    case FWD_IN_VECTOR_REGISTER:
      argument->eightbytes[part->offset / 8] = (uint8_t)(FWD_INTEGER_REGISTERS + part->index);
      break;
    default:
      argument->location = ON_STACK;
      argument->offset = part->index;
  }
}

fwd_entry_layout *fwd_entry_layout_create(const fwd_placement *placement, size_t dropped) {
  fwd_entry_layout *layout = calloc(1, sizeof *layout + placement->argument_count * sizeof layout->arguments[0]);
  if (!layout) return NULL;
  layout->argument_count = placement->argument_count - (dropped < placement->argument_count);
  layout->result = (fwd_result_kind)placement->result;
  layout->result_size = placement->result_size;
  layout->result_is_signed = placement->result_is_signed;
  bool is_single = layout->result == FWD_RESULT_INTEGER || layout->result == FWD_RESULT_VECTOR;
  layout->result_is_narrow = is_single && layout->result_size < 8;
  bool is_vector_first = layout->result == FWD_RESULT_VECTOR || layout->result == FWD_RESULT_VECTOR_INTEGER;
  layout->result_in_integer = is_vector_first ? 8 : 0;
  layout->result_in_vector = is_vector_first ? 0 : 8;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    memset(layout->arguments[i].eightbytes, no_register, sizeof layout->arguments[i].eightbytes);
  }
  for (uint32_t i = 0; i < placement->part_count; i++) {
    size_t argument = placement->parts[i].argument;
    if (argument != dropped) add_part(layout, &placement->parts[i], argument - (argument > dropped));
  }
  layout->is_simple = true;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    locate(layout, &layout->arguments[i]);
    if (layout->arguments[i].location != IN_REGISTERS) layout->is_simple = false;
  }
  layout->is_quick = locate_quick(layout);
  return layout;
}

static fwd_lock shared_lock = FWD_LOCK_INITIALIZER;
static fwd_entry_layout *shared_layouts;

const fwd_entry_layout *fwd_entry_layout_of_result(const fwd_entry_layout *layout) {
  fwd_lock_lock(&shared_lock);
  fwd_entry_layout *found = shared_layouts;
  while (found && (found->result != layout->result || found->result_size != layout->result_size ||
                   found->result_is_signed != layout->result_is_signed)) {
    found = found->next_shared;
  }
  if (!found && (found = malloc(sizeof *found))) {
    *found = *layout;
    found->argument_count = 0;
    found->scattered_count = 0;
    found->is_simple = true;
    found->quick = (quick_layout){.is_small = true};
    found->next_shared = shared_layouts;
    shared_layouts = found;
  }
  fwd_lock_unlock(&shared_lock);
  return found;
}

bool fwd_entry_layout_is_quick(const fwd_entry_layout *layout) { return layout->is_quick; }

// MARK: Results

// Results are loaded eight bytes at a time, as handlers store them. A load that spans two stores cannot be forwarded from
// them and waits until they have reached the cache, which takes longer than the rest of a call. The offsets are variables
// because compilers would otherwise join the two loads.

/// Gives the registers of a result in rax, in xmm0, or in one of each, from the 16 bytes that the handler wrote to.
static inline fwd_call_returned mixed_result(const fwd_entry_layout *layout,
                                              const unsigned char *bytes) {
  fwd_call_returned returned;
  if (layout->result_is_narrow) {
    // Callers may rely on small integers being extended.
    returned.integer = fwd_extend(bytes, layout->result_size, layout->result_is_signed);
    memcpy(&returned.vector, &returned.integer, 8);
  } else {
    memcpy(&returned.integer, bytes + layout->result_in_integer, 8);
    memcpy(&returned.vector, bytes + layout->result_in_vector, 8);
  }
  return returned;
}

/// Zeroes the memory of a result. For the usual sizes this is faster than memset.
static inline void zero_memory(void *result, size_t size) {
  unsigned char *memory = result;
  if (size < 16 || size > 64) {
    memset(memory, 0, size);
    return;
  }
  memset(memory, 0, 16);
  if (size > 32) {
    memset(memory + 16, 0, 16);
    memset(memory + size - 32, 0, 16);
  }
  memset(memory + size - 16, 0, 16);
}

// MARK: Calls

typedef struct scattered_argument {
  _Alignas(16) unsigned char bytes[scattered_bytes];
} scattered_argument;

static void copy_scattered(const fwd_entry_state *state, const entry_argument *argument,
                          scattered_argument *copy) {
  memset(copy, 0, sizeof *copy);
  for (size_t i = 0; i < 2; i++) {
    uint8_t from = argument->eightbytes[i];
    if (from == no_register) continue;
    const void *stored = from < FWD_INTEGER_REGISTERS ? (const void *)&state->integers[from]
                                                  : (const void *)&state->vectors[from - FWD_INTEGER_REGISTERS];
    memcpy(copy->bytes + 8 * i, stored, 8);
  }
}

/// Runs the handler. Registers that the result does not use return zero.
static inline void handle(const fwd_target *target, const fwd_entry_layout *layout, fwd_entry_state *state,
                          void *const *arguments) {
  memset(state->returned.bytes, 0, sizeof state->returned.bytes);
  switch (layout->result) {
    case FWD_RESULT_MEMORY: {
      void *memory = (void *)(uintptr_t)state->integers[0];
      zero_memory(memory, layout->result_size);
      target->handler(target->context, arguments, memory);
      // The psABI: the callee returns in rax the address that it was given.
      state->returned.registers.integers[0] = (uint64_t)(uintptr_t)memory;
      break;
    }
    // Void handlers have room for a result too, so that all handlers may write one.
    case FWD_RESULT_VOID:
    case FWD_RESULT_INTEGER_INTEGER:
      target->handler(target->context, arguments, state->returned.registers.integers);
      break;
    case FWD_RESULT_VECTOR_VECTOR:
      target->handler(target->context, arguments, state->returned.registers.vectors);
      break;
    case FWD_RESULT_X87:
    case FWD_RESULT_COMPLEX_X87:
      target->handler(target->context, arguments, state->returned.bytes);
      break;
    default: {
      _Alignas(16) unsigned char bytes[16] = {0};
      target->handler(target->context, arguments, bytes);
      fwd_call_returned returned = mixed_result(layout, bytes);
      state->returned.registers.integers[0] = returned.integer;
      state->returned.registers.vectors[0] = returned.vector;
    }
  }
}

// A separate function, so that simple calls do not have its large frame.
__attribute__((noinline)) static void run_general(const fwd_target *target, const fwd_entry_layout *layout,
                                                  fwd_entry_state *state) {
  // One more than needed: an array of no elements is undefined.
  void *arguments[layout->argument_count + 1];
  scattered_argument scattered[layout->scattered_count + 1], *next = scattered;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    const entry_argument *argument = &layout->arguments[i];
    switch (argument->location) {
      case IN_REGISTERS:
        arguments[i] = (unsigned char *)state + argument->offset;
        break;
      case ON_STACK:
        arguments[i] = state->stack + argument->offset;
        break;
      case SCATTERED:
        copy_scattered(state, argument, next);
        arguments[i] = next++;
        break;
      default:
        // Of size 0: any address that is aligned for all types.
        arguments[i] = &scattered[layout->scattered_count];
    }
  }
  handle(target, layout, state, arguments);
}

static inline void run(const fwd_target *target, fwd_entry_state *state) {
  const fwd_entry_layout *layout = target->layout;
  if (!layout->is_simple) {
    run_general(target, layout, state);
    return;
  }
  void *arguments[FWD_INTEGER_REGISTERS + FWD_VECTOR_REGISTERS];
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    arguments[i] = (unsigned char *)state + layout->arguments[i].offset;
  }
  handle(target, layout, state, arguments);
}

/// Returns zeroes to a stale call.
static void return_zeroes(const fwd_entry_slot *slot, fwd_entry_state *state) {
  memset(state->returned.bytes, 0, sizeof state->returned.bytes);
  uint32_t size = atomic_load_explicit(&slot->memory_size, memory_order_relaxed);
  if (size == 0) return;
  memset((void *)(uintptr_t)state->integers[0], 0, size);
  state->returned.registers.integers[0] = state->integers[0];
}

void fwd_entry_enter(fwd_entry_slot *slot, fwd_entry_state *state) {
  fwd_entering entering = fwd_enter(&slot->closure);
  if (FWD_USUALLY(entering.target)) {
    run(entering.target, state);
  } else {
    return_zeroes(slot, state);
  }
  fwd_leave(entering);
}

// MARK: Quick calls

// Each is one function from the entry's jump to the handler's call. It calls nothing on the usual path before the
// registers are stored: the compiler would have to save all of them around such a call.

typedef struct quick_registers {
  uint64_t integers[FWD_QUICK_INTEGERS];
  double vectors[FWD_QUICK_VECTORS];
} quick_registers;

/// The registers of a quick call, where a full entry's state has them: the stack is not needed, and what comes back is
/// returned by the functions below.
typedef struct quick_state {
  _Alignas(16) uint64_t integers[FWD_INTEGER_REGISTERS];
  double vectors[FWD_VECTOR_REGISTERS];
} quick_state;
_Static_assert(offsetof(quick_state, vectors) == offsetof(fwd_entry_state, vectors), "layouts fit both");

#define QUICK_REGISTERS ((quick_registers){{i0, i1, i2, i3, i4}, {v0, v1}})

/// Stores the registers that small calls do not have, copies scattered arguments, and finds the arguments from the third
/// on.
static inline void find_rest(const fwd_entry_layout *layout, quick_registers registers,
                             quick_state *state, void *arguments[quick_arguments]) {
  const quick_layout *quick = &layout->quick;
  unsigned char *base = (unsigned char *)state;
  for (size_t i = 2; i < FWD_QUICK_INTEGERS; i++) state->integers[i] = registers.integers[i];
  state->vectors[1] = registers.vectors[1];
  for (size_t i = 0; i < quick->copy_count; i++) {
    memcpy(base + offset_of_copy(i), base + quick->copies[i][0], 8);
    memcpy(base + offset_of_copy(i) + 8, base + quick->copies[i][1], 8);
  }
  if (layout->argument_count <= 2) return;
  for (size_t i = 2; i < quick_arguments; i++) arguments[i] = base + quick->arguments[i];
}

/// Runs the handler for a result of `size` bytes, which it zeroes.
static inline __attribute__((always_inline)) void run_quick(const fwd_target *target,
                                                            quick_registers registers,
                                                            void *result, size_t size) {
  const fwd_entry_layout *layout = target->layout;
  quick_state state;
  void *arguments[quick_arguments];
  for (size_t i = 0; i < 2; i++) state.integers[i] = registers.integers[i];
  state.vectors[0] = registers.vectors[0];
  unsigned char *base = (unsigned char *)&state;
  for (size_t i = 0; i < 2; i++) arguments[i] = base + layout->quick.arguments[i];
  if (!layout->quick.is_small) find_rest(layout, registers, &state, arguments);
  zero_memory(result, size);
  target->handler(target->context, arguments, result);
}

fwd_call_returned fwd_quick_enter_mixed(FWD_QUICK_PARAMETERS) {
  fwd_call_returned returned = {0, 0};
  fwd_entering entering = fwd_enter(&slot->closure);
  if (FWD_USUALLY(entering.target)) {
    _Alignas(16) unsigned char bytes[16];
    run_quick(entering.target, QUICK_REGISTERS, bytes, sizeof bytes);
    returned = mixed_result(entering.target->layout, bytes);
  }
  fwd_leave(entering);
  return returned;
}

fwd_returned_integers fwd_quick_enter_integers(FWD_QUICK_PARAMETERS) {
  _Alignas(16) fwd_returned_integers returned = {{0, 0}};
  fwd_entering entering = fwd_enter(&slot->closure);
  if (FWD_USUALLY(entering.target)) {
    run_quick(entering.target, QUICK_REGISTERS, &returned, sizeof returned);
  }
  fwd_leave(entering);
  return returned;
}

fwd_returned_vectors fwd_quick_enter_vectors(FWD_QUICK_PARAMETERS) {
  _Alignas(16) fwd_returned_vectors returned = {{0, 0}};
  fwd_entering entering = fwd_enter(&slot->closure);
  if (FWD_USUALLY(entering.target)) {
    run_quick(entering.target, QUICK_REGISTERS, &returned, sizeof returned);
  }
  fwd_leave(entering);
  return returned;
}

fwd_call_returned fwd_quick_enter_memory(FWD_QUICK_PARAMETERS) {
  void *memory = (void *)(uintptr_t)i0;
  fwd_entering entering = fwd_enter(&slot->closure);
  if (FWD_USUALLY(entering.target)) {
    run_quick(entering.target, QUICK_REGISTERS, memory, entering.target->layout->result_size);
  } else {
    memset(memory, 0, atomic_load_explicit(&slot->memory_size, memory_order_relaxed));
  }
  fwd_leave(entering);
  // The psABI: the callee returns in rax the address that it was given.
  return (fwd_call_returned){.integer = i0};
}

#endif
