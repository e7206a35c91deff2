// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The entries on System V x86-64. Each is a C function that takes all registers which can carry arguments,
/// as that many `long` and `double` arguments, whatever its callers pass: integer and vector registers are
/// assigned independently and in order, and a register that was not loaded holds what it holds. The stack
/// words begin behind the return address and the saved frame pointer (psABI figure 3.3); an entry declares no
/// argument there, so the compiler keeps its hands off them. One pool for each pair of registers that
/// results come back in, since that is part of a function's type, and one for results in memory.
/// Functions that take few registers and no stack words have pools of quick entries, which store
/// nothing and jump.

#include "abi/entry_pool.h"

#if FWD_HAS_ENTRY_POOL

#include <pthread.h>

// Callers' function-pointer types are their own; see FWD_CALLS_ANY_TYPE.
#define ENTRY FWD_CALLS_ANY_TYPE __attribute__((noinline))
#if defined(__clang__)
#define KEEPS_FRAME __attribute__((disable_tail_calls))
#else
#define KEEPS_FRAME __attribute__((optimize("no-optimize-sibling-calls")))
#endif

#define REGISTERS                                                                                \
  uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3, uint64_t i4, uint64_t i5, double v0,       \
      double v1, double v2, double v3, double v4, double v5, double v6, double v7

#define ENTER(pool, n)                                                                           \
  fwd_entry_state state;                                                                         \
  state.integers[0] = i0, state.integers[1] = i1, state.integers[2] = i2;                        \
  state.integers[3] = i3, state.integers[4] = i4, state.integers[5] = i5;                        \
  state.vectors[0] = v0, state.vectors[1] = v1, state.vectors[2] = v2, state.vectors[3] = v3;    \
  state.vectors[4] = v4, state.vectors[5] = v5, state.vectors[6] = v6, state.vectors[7] = v7;    \
  state.stack = (unsigned char *)__builtin_frame_address(0) + 16;                                \
  fwd_entry_enter(&pool##_slots[n], &state)

#define MIXED(n)                                                                                 \
  ENTRY KEEPS_FRAME static fwd_returned_mixed mixed_##n(REGISTERS) {                             \
    ENTER(mixed, 0##n);                                                                          \
    return state.returned.mixed;                                                                 \
  }
#define MEMORY(n)                                                                                \
  ENTRY KEEPS_FRAME static fwd_returned_mixed memory_##n(REGISTERS) {                            \
    ENTER(memory, 0##n);                                                                         \
    return state.returned.mixed;                                                                 \
  }
#define INTEGERS(n)                                                                              \
  ENTRY KEEPS_FRAME static fwd_returned_integers integers_##n(REGISTERS) {                       \
    ENTER(integers, 0##n);                                                                       \
    return (fwd_returned_integers){{state.returned.integers[0], state.returned.integers[1]}};    \
  }
#define VECTORS(n)                                                                               \
  ENTRY KEEPS_FRAME static fwd_returned_vectors vectors_##n(REGISTERS) {                         \
    ENTER(vectors, 0##n);                                                                        \
    return (fwd_returned_vectors){{state.returned.vectors[0], state.returned.vectors[1]}};       \
  }
#define X87(n)                                                                                   \
  ENTRY KEEPS_FRAME static long double x87_##n(REGISTERS) {                                      \
    ENTER(x87, 0##n);                                                                            \
    return state.returned.x87;                                                                   \
  }
#define COMPLEX(n)                                                                               \
  ENTRY KEEPS_FRAME static _Complex long double complex_##n(REGISTERS) {                         \
    ENTER(complex, 0##n);                                                                        \
    return state.returned.complex_x87;                                                           \
  }

// Without optimisation this is a call, which does as well: nobody looks for stack words.
#define QUICK(returned, pool, n)                                                                 \
  ENTRY static returned quick_##pool##_##n(uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3,   \
                                           uint64_t i4, uint64_t unused, double v0, double v1) { \
    (void)unused;                                                                                \
    return fwd_quick_enter_##pool(i0, i1, i2, i3, i4, &quick_##pool##_slots[0##n], v0, v1);      \
  }
#define QUICK_MIXED(n) QUICK(fwd_returned_mixed, mixed, n)
#define QUICK_MEMORY(n) QUICK(fwd_returned_mixed, memory, n)
#define QUICK_INTEGERS(n) QUICK(fwd_returned_integers, integers, n)
#define QUICK_VECTORS(n) QUICK(fwd_returned_vectors, vectors, n)

// Numbers are octal, so that repeating eight times adds a digit.
#define REPEAT_8(X, d) X(d##0) X(d##1) X(d##2) X(d##3) X(d##4) X(d##5) X(d##6) X(d##7)
#define TIMES_64(X, d)                                                                           \
  REPEAT_8(X, d##0) REPEAT_8(X, d##1) REPEAT_8(X, d##2) REPEAT_8(X, d##3) REPEAT_8(X, d##4)      \
  REPEAT_8(X, d##5) REPEAT_8(X, d##6) REPEAT_8(X, d##7)
#define REPEAT_64(X) TIMES_64(X, 0)
#define REPEAT_512(X)                                                                            \
  TIMES_64(X, 0) TIMES_64(X, 1) TIMES_64(X, 2) TIMES_64(X, 3) TIMES_64(X, 4) TIMES_64(X, 5)      \
  TIMES_64(X, 6) TIMES_64(X, 7)

// Those with results in memory are apart, so that a stale call of another kind of function is not
// taken for one of these, whose memory is written.
#define POOLS(X)                                                                                 \
  X(mixed, MIXED, 512)                                                                           \
  X(memory, MEMORY, 64)                                                                          \
  X(integers, INTEGERS, 64)                                                                      \
  X(vectors, VECTORS, 64)                                                                        \
  X(x87, X87, 64)                                                                                \
  X(complex, COMPLEX, 64)                                                                        \
  X(quick_mixed, QUICK_MIXED, 512)                                                               \
  X(quick_memory, QUICK_MEMORY, 64)                                                              \
  X(quick_integers, QUICK_INTEGERS, 64)                                                          \
  X(quick_vectors, QUICK_VECTORS, 64)

#define DEFINE_ENTRIES(name, NAME, count)                                                        \
  static fwd_entry_slot name##_slots[count];                                                     \
  REPEAT_##count(NAME)
POOLS(DEFINE_ENTRIES)

// MARK: Pools

typedef void (*entry)(void);

#define MIXED_ADDRESS(n) (entry)mixed_##n,
#define MEMORY_ADDRESS(n) (entry)memory_##n,
#define INTEGERS_ADDRESS(n) (entry)integers_##n,
#define VECTORS_ADDRESS(n) (entry)vectors_##n,
#define X87_ADDRESS(n) (entry)x87_##n,
#define COMPLEX_ADDRESS(n) (entry)complex_##n,
#define QUICK_MIXED_ADDRESS(n) (entry)quick_mixed_##n,
#define QUICK_MEMORY_ADDRESS(n) (entry)quick_memory_##n,
#define QUICK_INTEGERS_ADDRESS(n) (entry)quick_integers_##n,
#define QUICK_VECTORS_ADDRESS(n) (entry)quick_vectors_##n,

#define DEFINE_LISTS(name, NAME, count)                                                          \
  static const entry name##_entries[] = {REPEAT_##count(NAME##_ADDRESS)};                        \
  static uint16_t name##_free[count];
POOLS(DEFINE_LISTS)

/// The free entries of a pool stand in a ring, so that one that was given back is the last to be taken: a
/// stale pointer then leads nowhere for as long as can be.
typedef struct pool {
  fwd_entry_slot *slots;
  const entry *entries;
  uint16_t *free;
  uint16_t count;
  /// How many are free, and where the first of them stands. Set up at the first use.
  uint16_t free_count;
  uint16_t first;
  bool is_set_up;
} pool;

#define POOL_INDEX(name, NAME, number) name##_pool,
enum { POOLS(POOL_INDEX) pool_count };
#define POOL(name, NAME, number)                                                                 \
  {.slots = name##_slots, .entries = name##_entries, .free = name##_free, .count = number},
static pool pools[pool_count] = {POOLS(POOL)};
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

static pool *pool_for(fwd_plan_result result, bool is_quick) {
  switch (result) {
    case FWD_PLAN_INTEGER_INTEGER: return &pools[is_quick ? quick_integers_pool : integers_pool];
    case FWD_PLAN_VECTOR_VECTOR: return &pools[is_quick ? quick_vectors_pool : vectors_pool];
    case FWD_PLAN_X87: return &pools[x87_pool];
    case FWD_PLAN_COMPLEX_X87: return &pools[complex_pool];
    case FWD_PLAN_MEMORY: return &pools[is_quick ? quick_memory_pool : memory_pool];
    default: return &pools[is_quick ? quick_mixed_pool : mixed_pool];
  }
}

/// The pool that a slot is of.
static pool *pool_of(const fwd_entry_slot *slot) {
  pool *found = pools;
  while (slot < found->slots || slot >= found->slots + found->count) found++;
  return found;
}

static fwd_entry_slot *take(pool *from) {
  fwd_entry_slot *taken = NULL;
  pthread_mutex_lock(&pools_lock);
  if (!from->is_set_up) {
    for (uint16_t i = 0; i < from->count; i++) from->free[i] = i;
    from->free_count = from->count;
    from->is_set_up = true;
  }
  if (from->free_count > 0) {
    taken = &from->slots[from->free[from->first]];
    from->first = (uint16_t)((from->first + 1) % from->count);
    from->free_count--;
  }
  pthread_mutex_unlock(&pools_lock);
  return taken;
}

fwd_entry_slot *fwd_entry_take(fwd_plan_result result, bool is_quick) {
  fwd_entry_slot *taken = is_quick ? take(pool_for(result, true)) : NULL;
  return taken ? taken : take(pool_for(result, false));
}

void (*fwd_entry_function(const fwd_entry_slot *slot))(void) {
  const pool *of = pool_of(slot);
  return of->entries[slot - of->slots];
}

void fwd_entry_give_back(fwd_entry_slot *slot) {
  pool *to = pool_of(slot);
  pthread_mutex_lock(&pools_lock);
  to->free[(to->first + to->free_count) % to->count] = (uint16_t)(slot - to->slots);
  to->free_count++;
  pthread_mutex_unlock(&pools_lock);
}

#endif
