// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Receives the calls that come in through entries on System V x86-64: finds the arguments among the registers and
/// stack words, runs the closure's handler, and returns its result.

#include "abi/sysv/entries.h"

#include <stdlib.h>
#include <string.h>

#include "abi/entries.h"
#include "base/hot.h"
#include "base/short_loop.h"
#include "base/small_code.h"
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
  /// Whether more arguments are in consecutive integer registers, of one register each. The first is in
  /// `first_integer`, 0 or 1.
  bool has_integers_only;
  uint8_t first_integer;
  /// Beyond the last argument zero, so that all can be read without a test.
  size_t arguments[quick_arguments];
  uint32_t copy_count;
  /// The offsets of the two eightbytes of each scattered argument.
  uint32_t copies[quick_copies][2];
} quick_layout;

struct fwd_entry_layout {
  uint32_t argument_count;
  uint32_t scattered_count;
  uint32_t result_size;
  /// A `fwd_result_kind`.
  uint8_t result;
  bool result_is_signed;
  /// Whether the result is in one register and does not fill it.
  bool result_is_narrow;
  /// For a result in rax and xmm0: the offsets of the eightbytes that each holds.
  uint8_t result_in_integer, result_in_vector;
  bool is_quick;
  /// Whether all arguments are IN_REGISTERS, and the words of other registers have room for pointers to them and for the
  /// result.
  bool is_simple;
  /// The indices of these words, for calls that are simple.
  uint8_t pointers, room;
  /// How many of the vector registers' words are moved to the words from `moved_to` on, for calls that are simple. Behind
  /// the integers in use they leave the free words in one piece.
  uint8_t moved_count, moved_to;
  /// Whether the handler of a simple call writes the result where the entry loads it. It does so for void methods, and for
  /// results that fill integer registers.
  bool is_in_place;
  /// The memory that other calls take of the stack.
  uint32_t general_size;
  quick_layout quick;
  /// Links the layouts that tombstones share.
  fwd_entry_layout *next_shared;
  entry_argument arguments[];
};

/// Whether 16 bytes are room for a result in registers.
static inline bool is_small_result(uint8_t result) {
  return result != FWD_RESULT_X87 && result != FWD_RESULT_COMPLEX_X87;
}

/// The bytes of room for a result that is not in memory.
static inline size_t room_size(uint8_t result) { return is_small_result(result) ? 16 : sizeof(((fwd_entry_state *)0)->returned); }

typedef struct scattered_argument {
  _Alignas(16) unsigned char bytes[scattered_bytes];
} scattered_argument;

/// The memory of a call that is not simple: room for the result, then for scattered arguments, then for pointers to all.
static uint32_t general_size(const fwd_entry_layout *layout) {
  return (uint32_t)(room_size(layout->result) + layout->scattered_count * sizeof(scattered_argument) +
                    layout->argument_count * sizeof(void *));
}

// MARK: Creation

FWD_SMALL_CODE_BEGIN

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

/// Returns the offset in the state of a copy that a quick call makes.
static inline size_t offset_of_copy(size_t index) {
  return offsetof(fwd_entry_state, vectors) + 8 * FWD_QUICK_VECTORS + scattered_bytes * index;
}

_Static_assert((offsetof(fwd_entry_state, vectors) + 8 * FWD_QUICK_VECTORS) % 16 == 0,
               "copies are aligned");

static bool is_stored_by_quick(uint8_t index) {
  return index < FWD_QUICK_INTEGERS ||
         (index >= FWD_INTEGER_REGISTERS && index < FWD_INTEGER_REGISTERS + FWD_QUICK_VECTORS);
}

/// Whether the arguments are in consecutive integer registers from one of the first two on. The layout has arguments.
static bool has_integers_only(const fwd_entry_layout *layout) {
  uint8_t first = layout->arguments[0].eightbytes[0];
  if (first > 1) return false;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    const entry_argument *argument = &layout->arguments[i];
    if (argument->eightbytes[0] != first + i || argument->eightbytes[1] != no_register) return false;
  }
  return first + layout->argument_count <= FWD_QUICK_INTEGERS;
}

/// Fills `layout->quick`. False if quick entries cannot take the calls.
static bool locate_quick(fwd_entry_layout *layout) {
  quick_layout *quick = &layout->quick;
  if (!is_small_result(layout->result)) return false;
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
  if (!quick->is_small && has_integers_only(layout)) {
    quick->has_integers_only = true;
    quick->first_integer = layout->arguments[0].eightbytes[0];
  }
  return true;
}

enum {
  word_count = FWD_INTEGER_REGISTERS + FWD_VECTOR_REGISTERS,
  /// The words that rax and rdx are loaded from.
  integers_returned = word_count - 2,
};

/// Moves the words of vector registers next to those of the integer registers in use. `vector_count` is the number of vector
/// registers in use.
static void move_vectors(fwd_entry_layout *layout, size_t integers, size_t vector_count) {
  layout->moved_count = (uint8_t)vector_count;
  layout->moved_to = (uint8_t)integers;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    entry_argument *argument = &layout->arguments[i];
    bool is_vector = argument->eightbytes[0] != no_register && argument->eightbytes[0] >= FWD_INTEGER_REGISTERS;
    if (is_vector) argument->offset -= (uint32_t)(8 * (FWD_INTEGER_REGISTERS - integers));
  }
}

/// Looks for room in the words of registers that carry no argument: for the pointers behind the vector registers in use, and
/// for the result in the last two words of either kind. If that is too little, moves the vector registers' words. That is
/// enough for any six arguments of one register each.
static void find_room(fwd_entry_layout *layout) {
  size_t integers = layout->result == FWD_RESULT_MEMORY, vectors = FWD_INTEGER_REGISTERS;
  bool has_vector_pair = false;
  layout->is_simple = is_small_result(layout->result);
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    const entry_argument *argument = &layout->arguments[i];
    if (argument->location != IN_REGISTERS) layout->is_simple = false;
    for (size_t j = 0; j < 2; j++) {
      uint8_t used = argument->eightbytes[j];
      if (used == no_register) continue;
      size_t *end = used < FWD_INTEGER_REGISTERS ? &integers : &vectors;
      if (*end <= used) *end = used + 1u;
      if (j == 1 && used >= FWD_INTEGER_REGISTERS) has_vector_pair = true;
    }
  }
  size_t end = vectors + layout->argument_count;
  layout->pointers = (uint8_t)vectors;
  layout->room = integers_returned;
  layout->moved_count = 0;
  if (end > integers_returned) {
    size_t vector_count = vectors - FWD_INTEGER_REGISTERS;
    // A pair stays aligned to 16.
    size_t moved_to = has_vector_pair ? (integers + 1) / 2 * 2 : integers;
    if (end <= word_count && integers <= FWD_INTEGER_REGISTERS - 2) {
      layout->room = FWD_INTEGER_REGISTERS - 2;
    } else if (moved_to + vector_count + layout->argument_count <= integers_returned) {
      layout->pointers = (uint8_t)(moved_to + vector_count);
      if (layout->is_simple) move_vectors(layout, moved_to, vector_count);
    } else {
      layout->is_simple = false;
    }
  }
  bool is_whole = layout->result == FWD_RESULT_INTEGER_INTEGER ||
                  (layout->result == FWD_RESULT_INTEGER && !layout->result_is_narrow);
  layout->is_in_place = layout->is_simple && (layout->result == FWD_RESULT_VOID ||
                                              (is_whole && layout->room == integers_returned));
}

_Static_assert(FWD_INTEGER_REGISTERS % 2 == 0 && FWD_VECTOR_REGISTERS % 2 == 0, "the room for a result is aligned");

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
  layout->result = placement->result;
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
  for (uint32_t i = 0; i < layout->argument_count; i++) locate(layout, &layout->arguments[i]);
  // Before the arguments are moved, which quick entries do not do.
  layout->is_quick = locate_quick(layout);
  find_room(layout);
  layout->general_size = general_size(layout);
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
    find_room(found);
    found->quick = (quick_layout){.is_small = true};
    found->next_shared = shared_layouts;
    shared_layouts = found;
  }
  fwd_lock_unlock(&shared_lock);
  return found;
}

bool fwd_entry_layout_has_words(const fwd_entry_layout *layout, size_t count) {
  const entry_argument *arguments = layout->arguments;
  const size_t *quick = layout->quick.arguments;
  if (layout->argument_count == 0) return false;
  // A call is one of a quick entry or, if it is nested, one of a full entry, which may have moved the vector registers' words to
  // the front.
  size_t first = layout->is_quick ? quick[0] : arguments[0].offset;
  if (first + 8 * count > 8 * word_count) return false;
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    if (arguments[i].location != IN_REGISTERS || arguments[i].offset != arguments[0].offset + 8 * i) return false;
    if (layout->is_quick && quick[i] != quick[0] + 8 * i) return false;
  }
  return true;
}

bool fwd_entry_layout_is_quick(const fwd_entry_layout *layout) { return layout->is_quick; }

FWD_SMALL_CODE_END

// MARK: Results

// Results are loaded eight bytes at a time, as handlers store them. A load that spans two stores cannot be forwarded from
// them and waits until they have reached the cache, which takes longer than the rest of a call. The offsets are variables
// because compilers would otherwise join the two loads.

/// Loads the registers of a result in rax, in xmm0, or in one of each, from the 16 bytes that the handler wrote to.
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

static inline void return_zeros(fwd_entry_state *state) {
  memset(state->returned.bytes, 0, sizeof state->returned.bytes);
}

/// Puts a result where the entry loads it.
__attribute__((noinline)) static void return_copy(const fwd_entry_layout *layout, fwd_entry_state *state,
                                                  const void *room) {
  if (layout->result == FWD_RESULT_VOID) {
    return_zeros(state);
    return;
  }
  if (!is_small_result(layout->result)) {
    memcpy(state->returned.bytes, room, sizeof state->returned.bytes);
    return;
  }
  fwd_call_returned both = mixed_result(layout, room);
  return_zeros(state);
  if (layout->result == FWD_RESULT_MEMORY) {
    // The psABI: the callee returns in rax the address that it was given.
    state->returned.registers.integers[0] = state->integers[0];
  } else if (layout->result == FWD_RESULT_VECTOR_VECTOR) {
    memcpy(&state->returned.registers.vectors[0], &both.integer, 8);
    state->returned.registers.vectors[1] = both.vector;
  } else if (layout->result == FWD_RESULT_INTEGER_INTEGER) {
    state->returned.registers.integers[0] = both.integer;
    memcpy(&state->returned.registers.integers[1], &both.vector, 8);
  } else {
    state->returned.registers.integers[0] = both.integer;
    state->returned.registers.vectors[0] = both.vector;
  }
}

/// The memory of a result that is in memory.
static inline void *result_memory(const fwd_entry_state *state) { return (void *)(uintptr_t)state->integers[0]; }

static inline void zero_result_memory(const fwd_entry_layout *layout, const fwd_entry_state *state) {
  if (layout->result == FWD_RESULT_MEMORY) zero_memory(result_memory(state), layout->result_size);
}

/// Prepares the memory of a call that is not simple, and returns the pointers to the arguments.
static inline void **find_general(const fwd_entry_layout *layout, fwd_entry_state *state, unsigned char *memory) {
  size_t size = room_size(layout->result);
  // Of constant sizes, since each is two stores.
  memset(memory, 0, 16);
  if (size > 16) memset(memory + 16, 0, 16);
  scattered_argument *scattered = (scattered_argument *)(memory + size);
  void **arguments = (void **)(scattered + layout->scattered_count);
  FWD_SHORT_LOOP
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
        copy_scattered(state, argument, scattered);
        arguments[i] = scattered++;
        break;
      default:
        // Of size 0: any address that is aligned for all types.
        arguments[i] = memory;
    }
  }
  return arguments;
}

/// Finds the arguments of a simple call, and makes an array of pointers to them in free words.
static inline void **find_simple(const fwd_entry_layout *layout, fwd_entry_state *state) {
  FWD_SHORT_LOOP
  for (size_t i = 0; i < layout->moved_count; i++) {
    state->words[layout->moved_to + i] = state->words[FWD_INTEGER_REGISTERS + i];
  }
  void **arguments = &state->words[layout->pointers];
  for (uint32_t i = 0; i < layout->argument_count; i++) {
    arguments[i] = (unsigned char *)state + layout->arguments[i].offset;
  }
  return arguments;
}

/// Where a handler writes its result. All handlers have room, those of void functions too, so that all may write one.
static inline void *result_of(const fwd_target *target, const fwd_entry_state *state, void *room) {
  return target->layout->result == FWD_RESULT_MEMORY ? result_memory(state) : room;
}

static inline void run_simple(const fwd_target *target, fwd_entry_state *state) {
  // First, since what is kept across a call of memset takes some of the stack.
  zero_result_memory(target->layout, state);
  const fwd_entry_layout *layout = target->layout;
  void **arguments = find_simple(layout, state), *room = &state->words[layout->room];
  memset(room, 0, 2 * sizeof state->words[0]);
  target->handler(target->context, arguments, result_of(target, state, room));
  // Read once more, since what is kept across the call takes some of the stack.
  layout = target->layout;
  if (layout->is_in_place) {
    memset(state->returned.registers.vectors, 0, sizeof state->returned.registers.vectors);
  } else {
    return_copy(layout, state, &state->words[layout->room]);
  }
}

/// Goes on with a call that is not simple. The function that has entered the slot ends with this call, and its frame with it.
__attribute__((noinline)) static void run_general(const fwd_target *target, fwd_entry_state *state, fwd_hazard *hazard) {
  zero_result_memory(target->layout, state);
  void *room = __builtin_alloca(target->layout->general_size);
  void **arguments = find_general(target->layout, state, room);
  target->handler(target->context, arguments, result_of(target, state, room));
  return_copy(target->layout, state, room);
  fwd_hazard_leave_as_announced(hazard, &target->slot->domain);
}

/// Returns zeros to a stale call.
static void return_to_stale(const fwd_entry_slot *slot, fwd_entry_state *state) {
  return_zeros(state);
  uint32_t size = atomic_load_explicit(&slot->memory_size, memory_order_relaxed);
  if (size == 0) return;
  memset(result_memory(state), 0, size);
  state->returned.registers.integers[0] = state->integers[0];
}

FWD_HOT void fwd_entry_enter(fwd_entry_slot *slot, fwd_entry_state *state) {
  fwd_entering entering = fwd_enter(&slot->closure);
  fwd_hazard *hazard = entering.guard.hazard;
  if (FWD_USUALLY(entering.target)) {
    if (!entering.target->layout->is_simple) {
      run_general(entering.target, state, hazard);
      return;
    }
    run_simple(entering.target, state);
  } else {
    return_to_stale(slot, state);
  }
  fwd_hazard_leave_as_announced(hazard, &slot->closure.domain);
}

// MARK: The code of full entries

// Each call enters with the stack as its caller left it: at rsp the return address, above it the stack words (psABI, figure
// 3.3). A full entry's frame is a fwd_entry_state without the stack words, aligned to 16 as the stack is.
#define STORE_STATE                             \
  ".cfi_startproc\n"                            \
  "  push %rbp\n"                               \
  ".cfi_def_cfa_offset 16\n"                    \
  ".cfi_offset %rbp, -16\n"                     \
  "  mov %rsp, %rbp\n"                          \
  ".cfi_def_cfa_register %rbp\n"                \
  "  sub $112, %rsp\n"                          \
  "  mov %rdi, (%rsp)\n"                        \
  "  mov %rsi, 8(%rsp)\n"                       \
  "  mov %rdx, 16(%rsp)\n"                      \
  "  mov %rcx, 24(%rsp)\n"                      \
  "  mov %r8, 32(%rsp)\n"                       \
  "  mov %r9, 40(%rsp)\n"                       \
  "  movsd %xmm0, 48(%rsp)\n"                   \
  "  movsd %xmm1, 56(%rsp)\n"                   \
  "  movsd %xmm2, 64(%rsp)\n"                   \
  "  movsd %xmm3, 72(%rsp)\n"                   \
  "  movsd %xmm4, 80(%rsp)\n"                   \
  "  movsd %xmm5, 88(%rsp)\n"                   \
  "  movsd %xmm6, 96(%rsp)\n"                   \
  "  movsd %xmm7, 104(%rsp)\n"                  \
  "  mov %r11, %rdi\n"                          \
  "  mov %rsp, %rsi\n"                          \
  "  call " SYMBOL(fwd_entry_enter) "\n"
#define RETURN                  \
  "  leave\n"                   \
  ".cfi_def_cfa %rsp, 8\n"      \
  "  ret\n"                     \
  ".cfi_endproc\n"

__asm__(
    ".text\n"
    ".p2align 4, 0xCC\n"
    ".globl " SYMBOL(fwd_entry_registers) "\n" HIDE(fwd_entry_registers)
    SYMBOL(fwd_entry_registers) ":\n"
    STORE_STATE
    "  mov 96(%rsp), %rax\n"
    "  mov 104(%rsp), %rdx\n"
    "  movsd 80(%rsp), %xmm0\n"
    "  movsd 88(%rsp), %xmm1\n"
    RETURN

    ".p2align 4, 0xCC\n"
    ".globl " SYMBOL(fwd_entry_x87) "\n" HIDE(fwd_entry_x87)
    SYMBOL(fwd_entry_x87) ":\n"
    STORE_STATE
    "  fldt 80(%rsp)\n"
    RETURN

    // The real part is in st(0), which is pushed last.
    ".p2align 4, 0xCC\n"
    ".globl " SYMBOL(fwd_entry_complex_x87) "\n" HIDE(fwd_entry_complex_x87)
    SYMBOL(fwd_entry_complex_x87) ":\n"
    STORE_STATE
    "  fldt 96(%rsp)\n"
    "  fldt 80(%rsp)\n"
    RETURN

    // Goes on with the call of a quick entry, which has its slot in r9.
    ".p2align 4, 0xCC\n"
    ".globl " SYMBOL(fwd_entry_from_quick) "\n" HIDE(fwd_entry_from_quick)
    SYMBOL(fwd_entry_from_quick) ":\n"
    ".cfi_startproc\n"
    "  mov %r9, %r11\n"
    "  jmp " SYMBOL(fwd_entry_registers) "\n"
    ".cfi_endproc\n");

// MARK: Quick calls

// Each is one function from the entry's jump to the handler's call. It calls nothing before the registers are stored: the
// compiler would have to save all of them around such a call. If the thread's first hazard pointer is taken, as it is inside
// of another call, the call goes on as that of a full entry.

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
#define QUICK_ARGUMENTS i0, i1, i2, i3, i4, slot, v0, v1

/// Stores the registers that small calls do not have, copies scattered arguments, and finds the arguments from the third
/// on.
static inline void find_rest(const fwd_entry_layout *layout, quick_registers registers,
                             quick_state *state, void *arguments[quick_arguments]) {
  const quick_layout *quick = &layout->quick;
  unsigned char *base = (unsigned char *)state;
  for (size_t i = 2; i < FWD_QUICK_INTEGERS; i++) state->integers[i] = registers.integers[i];
  state->vectors[1] = registers.vectors[1];
  FWD_SHORT_LOOP
  for (size_t i = 0; i < quick->copy_count; i++) {
    memcpy(base + offset_of_copy(i), base + quick->copies[i][0], 8);
    memcpy(base + offset_of_copy(i) + 8, base + quick->copies[i][1], 8);
  }
  if (layout->argument_count <= 2) return;
  for (size_t i = 2; i < quick_arguments; i++) arguments[i] = base + quick->arguments[i];
}

/// Stores the registers of a call that has integers only, and finds its arguments.
static inline void find_integers(const fwd_entry_layout *layout, quick_registers registers, quick_state *state,
                                 void *arguments[quick_arguments]) {
  for (size_t i = 0; i < FWD_QUICK_INTEGERS; i++) state->integers[i] = registers.integers[i];
  uint64_t *first = state->integers + layout->quick.first_integer;
  // Otherwise compilers would compute each address from the stack pointer and the index, by longer and slower instructions.
  __asm__("" : "+r"(first));
  // The handler reads no more of them than there are arguments.
  for (size_t i = 0; i < FWD_QUICK_INTEGERS; i++) arguments[i] = first + i;
}

/// Fills the result, of `size` bytes, with zeros, and runs the handler. `is_void` is a constant.
static inline __attribute__((always_inline)) void run_quick(const fwd_target *target,
                                                            quick_registers registers,
                                                            void *result, size_t size, bool is_void) {
  const fwd_entry_layout *layout = target->layout;
  quick_state state;
  void *arguments[quick_arguments];
  // Only there, since most callbacks that are called often are void.
  if (is_void && layout->quick.has_integers_only) {
    find_integers(layout, registers, &state, arguments);
    target->handler(target->context, arguments, result);
    return;
  }
  for (size_t i = 0; i < 2; i++) state.integers[i] = registers.integers[i];
  state.vectors[0] = registers.vectors[0];
  unsigned char *base = (unsigned char *)&state;
  for (size_t i = 0; i < 2; i++) arguments[i] = base + layout->quick.arguments[i];
  if (!layout->quick.is_small) find_rest(layout, registers, &state, arguments);
  zero_memory(result, size);
  target->handler(target->context, arguments, result);
}

void fwd_quick_enter_void(FWD_QUICK_PARAMETERS) {
  fwd_hazard *hazard = fwd_hazard_at(0);
  if (FWD_RARELY(!hazard)) {
    fwd_full_enter_void(QUICK_ARGUMENTS);
    return;
  }
  fwd_entering entering = fwd_enter_by(&slot->closure, hazard);
  if (FWD_USUALLY(entering.target)) {
    // Handlers of void functions have room too, so that all handlers may write a result. It is not filled with zeros, since
    // nobody reads it.
    _Alignas(16) unsigned char bytes[16];
    run_quick(entering.target, QUICK_REGISTERS, bytes, 0, true);
  }
  fwd_leave(entering);
}

fwd_call_returned fwd_quick_enter_mixed(FWD_QUICK_PARAMETERS) {
  fwd_hazard *hazard = fwd_hazard_at(0);
  if (FWD_RARELY(!hazard)) return fwd_full_enter_mixed(QUICK_ARGUMENTS);
  fwd_call_returned returned = {0, 0};
  fwd_entering entering = fwd_enter_by(&slot->closure, hazard);
  if (FWD_USUALLY(entering.target)) {
    _Alignas(16) unsigned char bytes[16];
    run_quick(entering.target, QUICK_REGISTERS, bytes, sizeof bytes, false);
    returned = mixed_result(entering.target->layout, bytes);
  }
  fwd_leave(entering);
  return returned;
}

fwd_returned_integers fwd_quick_enter_integers(FWD_QUICK_PARAMETERS) {
  fwd_hazard *hazard = fwd_hazard_at(0);
  if (FWD_RARELY(!hazard)) return fwd_full_enter_integers(QUICK_ARGUMENTS);
  _Alignas(16) fwd_returned_integers returned = {{0, 0}};
  fwd_entering entering = fwd_enter_by(&slot->closure, hazard);
  if (FWD_USUALLY(entering.target)) {
    run_quick(entering.target, QUICK_REGISTERS, &returned, sizeof returned, false);
  }
  fwd_leave(entering);
  return returned;
}

fwd_returned_vectors fwd_quick_enter_vectors(FWD_QUICK_PARAMETERS) {
  fwd_hazard *hazard = fwd_hazard_at(0);
  if (FWD_RARELY(!hazard)) return fwd_full_enter_vectors(QUICK_ARGUMENTS);
  _Alignas(16) fwd_returned_vectors returned = {{0, 0}};
  fwd_entering entering = fwd_enter_by(&slot->closure, hazard);
  if (FWD_USUALLY(entering.target)) {
    run_quick(entering.target, QUICK_REGISTERS, &returned, sizeof returned, false);
  }
  fwd_leave(entering);
  return returned;
}

fwd_call_returned fwd_quick_enter_memory(FWD_QUICK_PARAMETERS) {
  fwd_hazard *hazard = fwd_hazard_at(0);
  if (FWD_RARELY(!hazard)) return fwd_full_enter_mixed(QUICK_ARGUMENTS);
  void *memory = (void *)(uintptr_t)i0;
  fwd_entering entering = fwd_enter_by(&slot->closure, hazard);
  if (FWD_USUALLY(entering.target)) {
    run_quick(entering.target, QUICK_REGISTERS, memory, entering.target->layout->result_size, false);
  } else {
    memset(memory, 0, atomic_load_explicit(&slot->memory_size, memory_order_relaxed));
  }
  fwd_leave(entering);
  // The psABI: the callee returns in rax the address that it was given.
  return (fwd_call_returned){.integer = i0};
}

#endif
