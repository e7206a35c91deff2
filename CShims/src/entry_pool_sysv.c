// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The entries on System V x86-64. Each is a C function that takes all registers which can carry arguments,
/// as that many `long` and `double` arguments, whatever its callers pass: integer and vector registers are
/// assigned independently and in order, and a register that was not loaded holds what it holds. The stack
/// words begin behind the return address and the saved frame pointer (psABI figure 3.3); an entry declares no
/// argument there, so the compiler keeps its hands off them. One pool for each pair of registers that
/// results come back in, since that is part of a function's type, and one for results in memory.

#include "entry_pool.h"

#if FWD_HAS_ENTRY_POOL

#include <pthread.h>

#if defined(__clang__)
// Callers' function-pointer types are their own; see FWD_CALLS_ANY_TYPE.
#define KEEPS_FRAME __attribute__((noinline, disable_tail_calls, no_sanitize("function")))
#else
#define KEEPS_FRAME __attribute__((noinline, optimize("no-optimize-sibling-calls")))
#endif

typedef struct returned_integers {
  uint64_t integers[2];
} returned_integers;
typedef struct returned_vectors {
  double vectors[2];
} returned_vectors;

#define REGISTERS                                                                                        \
  uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3, uint64_t i4, uint64_t i5, double v0, double v1,    \
      double v2, double v3, double v4, double v5, double v6, double v7

#define ENTER(pool, n)                                                                                   \
  fwd_entry_state state;                                                                                 \
  state.integers[0] = i0, state.integers[1] = i1, state.integers[2] = i2;                                \
  state.integers[3] = i3, state.integers[4] = i4, state.integers[5] = i5;                                \
  state.vectors[0] = v0, state.vectors[1] = v1, state.vectors[2] = v2, state.vectors[3] = v3;            \
  state.vectors[4] = v4, state.vectors[5] = v5, state.vectors[6] = v6, state.vectors[7] = v7;            \
  state.stack = (unsigned char *)__builtin_frame_address(0) + 16;                                        \
  fwd_entry_enter(&pool##_slots[n], &state)

#define MIXED(n)                                                                                         \
  KEEPS_FRAME static fwd_returned_mixed mixed_##n(REGISTERS) {                                           \
    ENTER(mixed, 0##n);                                                                                  \
    return state.returned.mixed;                                                                         \
  }
#define MEMORY(n)                                                                                        \
  KEEPS_FRAME static fwd_returned_mixed memory_##n(REGISTERS) {                                          \
    ENTER(memory, 0##n);                                                                                 \
    return state.returned.mixed;                                                                         \
  }
#define INTEGERS(n)                                                                                      \
  KEEPS_FRAME static returned_integers integers_##n(REGISTERS) {                                         \
    ENTER(integers, 0##n);                                                                               \
    return (returned_integers){{state.returned.integers[0], state.returned.integers[1]}};                \
  }
#define VECTORS(n)                                                                                       \
  KEEPS_FRAME static returned_vectors vectors_##n(REGISTERS) {                                           \
    ENTER(vectors, 0##n);                                                                                \
    return (returned_vectors){{state.returned.vectors[0], state.returned.vectors[1]}};                   \
  }
#define X87(n)                                                                                           \
  KEEPS_FRAME static long double x87_##n(REGISTERS) {                                                    \
    ENTER(x87, 0##n);                                                                                    \
    return state.returned.x87;                                                                           \
  }
#define COMPLEX(n)                                                                                       \
  KEEPS_FRAME static _Complex long double complex_##n(REGISTERS) {                                       \
    ENTER(complex, 0##n);                                                                                \
    return state.returned.complex_x87;                                                                   \
  }

// Numbers are octal, so that repeating eight times adds a digit.
#define REPEAT_8(X, d) X(d##0) X(d##1) X(d##2) X(d##3) X(d##4) X(d##5) X(d##6) X(d##7)
#define REPEAT_64(X, d)                                                                                  \
  REPEAT_8(X, d##0) REPEAT_8(X, d##1) REPEAT_8(X, d##2) REPEAT_8(X, d##3) REPEAT_8(X, d##4)              \
  REPEAT_8(X, d##5) REPEAT_8(X, d##6) REPEAT_8(X, d##7)
#define REPEAT_512(X)                                                                                    \
  REPEAT_64(X, 0) REPEAT_64(X, 1) REPEAT_64(X, 2) REPEAT_64(X, 3) REPEAT_64(X, 4) REPEAT_64(X, 5)        \
  REPEAT_64(X, 6) REPEAT_64(X, 7)

enum { mixed_count = 512, other_count = 64 };

static fwd_entry_slot mixed_slots[mixed_count], memory_slots[other_count], integers_slots[other_count], vectors_slots[other_count],
    x87_slots[other_count], complex_slots[other_count];

REPEAT_512(MIXED)
REPEAT_64(MEMORY, 0)
REPEAT_64(INTEGERS, 0)
REPEAT_64(VECTORS, 0)
REPEAT_64(X87, 0)
REPEAT_64(COMPLEX, 0)

// MARK: Pools

#define ADDRESS(name) (void (*)(void))name,
#define MIXED_ADDRESS(n) ADDRESS(mixed_##n)
#define MEMORY_ADDRESS(n) ADDRESS(memory_##n)
#define INTEGERS_ADDRESS(n) ADDRESS(integers_##n)
#define VECTORS_ADDRESS(n) ADDRESS(vectors_##n)
#define X87_ADDRESS(n) ADDRESS(x87_##n)
#define COMPLEX_ADDRESS(n) ADDRESS(complex_##n)
typedef void (*entry)(void);
static const entry mixed_entries[] = {REPEAT_512(MIXED_ADDRESS)};
static const entry memory_entries[] = {REPEAT_64(MEMORY_ADDRESS, 0)};
static const entry integers_entries[] = {REPEAT_64(INTEGERS_ADDRESS, 0)};
static const entry vectors_entries[] = {REPEAT_64(VECTORS_ADDRESS, 0)};
static const entry x87_entries[] = {REPEAT_64(X87_ADDRESS, 0)};
static const entry complex_entries[] = {REPEAT_64(COMPLEX_ADDRESS, 0)};

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

static uint16_t mixed_free[mixed_count], memory_free[other_count], integers_free[other_count], vectors_free[other_count],
    x87_free[other_count], complex_free[other_count];
static pool pools[] = {
    {.slots = mixed_slots, .entries = mixed_entries, .free = mixed_free, .count = mixed_count},
    {.slots = integers_slots, .entries = integers_entries, .free = integers_free, .count = other_count},
    {.slots = vectors_slots, .entries = vectors_entries, .free = vectors_free, .count = other_count},
    {.slots = x87_slots, .entries = x87_entries, .free = x87_free, .count = other_count},
    // Of its own, so that a stale call of another kind of function is not taken for one with a result in
    // memory, which is written.
    {.slots = memory_slots, .entries = memory_entries, .free = memory_free, .count = other_count},
    {.slots = complex_slots, .entries = complex_entries, .free = complex_free, .count = other_count},
};
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

static pool *pool_for(fwd_plan_result result) {
  switch (result) {
    case FWD_PLAN_INTEGER_INTEGER: return &pools[1];
    case FWD_PLAN_VECTOR_VECTOR: return &pools[2];
    case FWD_PLAN_X87: return &pools[3];
    case FWD_PLAN_MEMORY: return &pools[4];
    case FWD_PLAN_COMPLEX_X87: return &pools[5];
    default: return &pools[0];
  }
}

/// The pool that a slot is of.
static pool *pool_of(const fwd_entry_slot *slot) {
  pool *found = pools;
  while (slot < found->slots || slot >= found->slots + found->count) found++;
  return found;
}

fwd_entry_slot *fwd_entry_take(fwd_plan_result result) {
  pool *from = pool_for(result);
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
