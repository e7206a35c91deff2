// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The code of entries on System V x86-64, and which of them are free.
///
/// An entry is 16 bytes of code. It puts the address of its slot in a register and jumps to code that it shares with all
/// entries of its kind:
///
///     entry n:     lea slot n, %r11               full: r11 is free at a call
///                  jmp fwd_entry_registers        stores the registers, calls fwd_entry_enter, loads the result
///
///     entry n:     lea slot n, %r9                quick: r9 is the sixth parameter
///                  jmp fwd_quick_enter_void       a C function
///
/// entries.c has the code that they share.
///
/// Entries are in assembly since C has no name for r11, and since unwind tables of a thousand functions are larger than
/// their code.

#include "abi/entries.h"

#include <stdlib.h>

#include "abi/sysv/assembly.h"
#include "abi/sysv/entries.h"

#if FWD_IS_SYSV

// MARK: The pools

// Function pointers of each pool differ in what their callers do with the result. A stale call may enter another closure
// of the same pool, so results in memory, which entries write to, have a pool of their own, as have results on the x87
// stack, which callers pop. Void functions have a separate pool of quick entries, whose shared code
// returns sooner because it loads no result.
#define FULL_REGISTERS 608
#define FULL_MEMORY 64
#define FULL_X87 64
#define FULL_COMPLEX_X87 64
#define QUICK_VOID 256
#define QUICK_MIXED 384
#define QUICK_MEMORY 64
#define QUICK_INTEGERS 64
#define QUICK_VECTORS 64

enum {
  entry_size = 16,
  entry_count = FULL_REGISTERS + FULL_MEMORY + FULL_X87 + FULL_COMPLEX_X87 + QUICK_VOID + QUICK_MIXED +
                QUICK_MEMORY + QUICK_INTEGERS + QUICK_VECTORS
};

/// The code, in the order of the pools below.
extern FWD_QUICK const char fwd_entry_code[entry_count * entry_size];
/// The slots, in the same order.
extern FWD_QUICK fwd_entry_slot fwd_entry_slots[entry_count];
fwd_entry_slot fwd_entry_slots[entry_count];

/// Which entries are free. They stand in a ring, so that an entry that is given back is taken last: a stale pointer then
/// finds an empty slot for as long as possible.
typedef struct pool {
  /// The index of the pool's first entry.
  uint16_t begin;
  uint16_t count;
  /// How many are free, and where in the ring the first of them stands. Set up at the first use.
  uint16_t free_count;
  uint16_t first;
  bool is_set_up;
} pool;

static uint16_t rings[entry_count];

static pool full_registers = {.begin = 0, .count = FULL_REGISTERS};
#define FULL_MEMORY_BEGIN FULL_REGISTERS
static pool full_memory = {.begin = FULL_MEMORY_BEGIN, .count = FULL_MEMORY};
#define FULL_X87_BEGIN (FULL_MEMORY_BEGIN + FULL_MEMORY)
static pool full_x87 = {.begin = FULL_X87_BEGIN, .count = FULL_X87};
#define FULL_COMPLEX_X87_BEGIN (FULL_X87_BEGIN + FULL_X87)
static pool full_complex_x87 = {.begin = FULL_COMPLEX_X87_BEGIN, .count = FULL_COMPLEX_X87};
#define QUICK_VOID_BEGIN (FULL_COMPLEX_X87_BEGIN + FULL_COMPLEX_X87)
static pool quick_void = {.begin = QUICK_VOID_BEGIN, .count = QUICK_VOID};
#define QUICK_MIXED_BEGIN (QUICK_VOID_BEGIN + QUICK_VOID)
static pool quick_mixed = {.begin = QUICK_MIXED_BEGIN, .count = QUICK_MIXED};
#define QUICK_MEMORY_BEGIN (QUICK_MIXED_BEGIN + QUICK_MIXED)
static pool quick_memory = {.begin = QUICK_MEMORY_BEGIN, .count = QUICK_MEMORY};
#define QUICK_INTEGERS_BEGIN (QUICK_MEMORY_BEGIN + QUICK_MEMORY)
static pool quick_integers = {.begin = QUICK_INTEGERS_BEGIN, .count = QUICK_INTEGERS};
#define QUICK_VECTORS_BEGIN (QUICK_INTEGERS_BEGIN + QUICK_INTEGERS)
static pool quick_vectors = {.begin = QUICK_VECTORS_BEGIN, .count = QUICK_VECTORS};

static pool *const pools[] = {&full_registers, &full_memory,  &full_x87,       &full_complex_x87, &quick_void,
                              &quick_mixed,    &quick_memory, &quick_integers, &quick_vectors};
static fwd_lock pools_lock = FWD_LOCK_INITIALIZER;

// MARK: The code

#define ENTRIES(begin, count, register, target)                                    \
  "fwd_entries " EXPAND(begin) ", " EXPAND(count) ", " #register ", " SYMBOL(target) "\n"

__asm__(
    ".macro fwd_entries begin, count, register, target\n"
    "  .set fwd_index, \\begin\n"
    "  .rept \\count\n"
    "    .p2align 4, 0xCC\n"
    LANDING
    "    lea " SYMBOL(fwd_entry_slots) " + 48 * fwd_index(%rip), %\\register\n"
    "    jmp \\target\n"
    "    .set fwd_index, fwd_index + 1\n"
    "  .endr\n"
    ".endm\n"

    ".text\n"
    ".globl " SYMBOL(fwd_entry_code) "\n" HIDE(fwd_entry_code)
    ".p2align 6, 0xCC\n"
    SYMBOL(fwd_entry_code) ":\n"
    // No entry changes the stack.
    ".cfi_startproc\n"
    ENTRIES(0, FULL_REGISTERS, r11, fwd_entry_registers)
    ENTRIES(FULL_MEMORY_BEGIN, FULL_MEMORY, r11, fwd_entry_registers)
    ENTRIES(FULL_X87_BEGIN, FULL_X87, r11, fwd_entry_x87)
    ENTRIES(FULL_COMPLEX_X87_BEGIN, FULL_COMPLEX_X87, r11, fwd_entry_complex_x87)
    ENTRIES(QUICK_VOID_BEGIN, QUICK_VOID, r9, fwd_quick_enter_void)
    ENTRIES(QUICK_MIXED_BEGIN, QUICK_MIXED, r9, fwd_quick_enter_mixed)
    ENTRIES(QUICK_MEMORY_BEGIN, QUICK_MEMORY, r9, fwd_quick_enter_memory)
    ENTRIES(QUICK_INTEGERS_BEGIN, QUICK_INTEGERS, r9, fwd_quick_enter_integers)
    ENTRIES(QUICK_VECTORS_BEGIN, QUICK_VECTORS, r9, fwd_quick_enter_vectors)
    ".p2align 4, 0xCC\n"
    ".cfi_endproc\n"
);

// MARK: Taking and giving back

static pool *full_pool_for(const fwd_placement *placement) {
  switch (placement->result) {
    case FWD_RESULT_X87: return &full_x87;
    case FWD_RESULT_COMPLEX_X87: return &full_complex_x87;
    case FWD_RESULT_MEMORY: return &full_memory;
    default: return &full_registers;
  }
}

static pool *quick_pool_for(const fwd_placement *placement) {
  switch (placement->result) {
    case FWD_RESULT_VOID: return &quick_void;
    case FWD_RESULT_INTEGER_INTEGER: return &quick_integers;
    case FWD_RESULT_VECTOR_VECTOR: return &quick_vectors;
    case FWD_RESULT_MEMORY: return &quick_memory;
    default: return &quick_mixed;
  }
}

/// Takes a slot; NULL if all are taken.
static fwd_entry_slot *take(pool *from) {
  fwd_entry_slot *taken = NULL;
  uint16_t *ring = rings + from->begin;
  fwd_lock_lock(&pools_lock);
  if (!from->is_set_up) {
    for (uint16_t i = 0; i < from->count; i++) ring[i] = (uint16_t)(from->begin + i);
    from->free_count = from->count;
    from->is_set_up = true;
  }
  if (from->free_count > 0) {
    taken = &fwd_entry_slots[ring[from->first]];
    from->first = (uint16_t)((from->first + 1) % from->count);
    from->free_count--;
  }
  fwd_lock_unlock(&pools_lock);
  return taken;
}

bool fwd_entry_take(const fwd_placement *placement, size_t dropped, fwd_entry *entry) {
  if (placement->has_gaps) return false;
  fwd_entry_layout *layout = fwd_entry_layout_create(placement, dropped);
  if (!layout) return false;
  fwd_entry_slot *slot = fwd_entry_layout_is_quick(layout) ? take(quick_pool_for(placement)) : NULL;
  if (!slot) slot = take(full_pool_for(placement));
  if (!slot) {
    free(layout);
    return false;
  }
  uint32_t memory_size = placement->result == FWD_RESULT_MEMORY ? placement->result_size : 0;
  atomic_store_explicit(&slot->memory_size, memory_size, memory_order_relaxed);
  const char *code = fwd_entry_code + (slot - fwd_entry_slots) * entry_size;
  *entry = (fwd_entry){&slot->closure, (void (*)(void))(uintptr_t)code, layout};
  return true;
}

void fwd_entry_give_back(fwd_entry entry) {
  uint16_t index = (uint16_t)((fwd_entry_slot *)entry.slot - fwd_entry_slots);
  size_t i = 0;
  while (index >= pools[i]->begin + pools[i]->count) i++;
  pool *to = pools[i];
  fwd_lock_lock(&pools_lock);
  rings[to->begin + (to->first + to->free_count) % to->count] = index;
  to->free_count++;
  fwd_lock_unlock(&pools_lock);
  free(entry.layout);
}

#endif
