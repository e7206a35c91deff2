// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The replay loops: each delivers one invocation of a void method to all records of an array.
///
/// A *replay* has one word for each argument register. A loop copies the words to registers once. Between two
/// deliveries only the receiver and the function change. There is a pair of loops, one for weak subscribers and one
/// without reference counting, for each number of integer registers and some numbers of vector registers, up to
/// FWD_REPLAY_NARROW together. Methods of more registers share one more pair, which loads all registers at each delivery.
///
///     frame or pointers          words of the replay              registers, loaded once
///     ┌───────────────┐   load   ┌──────────────┐   LOAD_REGISTERS  rdi  receiver of this record <-- only this one
///     │ a   b   c ... │ -------> │ . sel a b c  │ ----------------> rsi  selector                    and the function
///     └───────────────┘          └──────────────┘                   rdx  a, rcx b, ... xmm0 ...      change
///
///     for each record:   is `held` (held.h) live, without gate, of the loop's kind? --no--> deliver_slowly (looping.c)
///                        table has a function or a closure for the method?           --no--> deliver_slowly, or the
///                                                                                    next record if it has neither
///                        weak loop: fwd_take_weak fails?    --yes--> note that a record can be removed, next record
///                        call function(receiver, selector, a, b, c, ..., context), or the closure with pointers
///                        weak loop: fwd_release_counted
///
/// The loop calls the function through a function-pointer type whose parameters are whole registers.
/// abi/sysv/callers.c explains why this is sound.

#include "fan_out/replay.h"

#include <string.h>

#include "abi/callers.h"
#include "base/turns.h"
#include "fan_out/closure_loop.h"
#include "members/taking.h"

#if FWD_HAS_CALL_PLANS

#define INTEGER_TYPE(i) uint64_t
#define VECTOR_TYPE(i) double
#define INTEGER_VALUE(i) integer_##i
#define VECTOR_VALUE(i) vector_##i

// The context is passed as one more integer, after the method's own. A thunk takes it; any other function ignores the
// surplus argument.
#define TYPES_I(n, m) FWD_LIST_##n(INTEGER_TYPE), const void *
#define TYPES_IV(n, m) TYPES_I(n, m), FWD_LIST_##m(VECTOR_TYPE)
#define VALUES_I(n, m) FWD_LIST_##n(INTEGER_VALUE), method->context
#define VALUES_IV(n, m) VALUES_I(n, m), FWD_LIST_##m(VECTOR_VALUE)
#define CALL(n, m, list)                             \
  integer_0 = (uint64_t)(uintptr_t)record->receiver; \
  ((void (*)(TYPES_##list(n, m)))method->function)(VALUES_##list(n, m));

#define LOAD_INTEGER(i) \
  uint64_t integer_##i = (i) < integer_count ? replay->words[(i) < integer_count ? (i) : 0].bits : 0;
#define LOAD_VECTOR(i)                                                                  \
  double vector_##i = 0;                                                                \
  if ((i) < vector_count) {                                                             \
    memcpy(&vector_##i, &replay->words[(i) < vector_count ? integer_count + (i) : 0].bits, 8); \
  }
#define LOAD_REGISTERS(n, m)                                                                      \
  enum { integer_count = n, vector_count = m };                                                   \
  LOAD_INTEGER(0) LOAD_INTEGER(1) LOAD_INTEGER(2) LOAD_INTEGER(3)                                 \
  LOAD_INTEGER(4) LOAD_INTEGER(5) LOAD_INTEGER(6) LOAD_INTEGER(7)                                 \
  LOAD_VECTOR(0) LOAD_VECTOR(1) LOAD_VECTOR(2) LOAD_VECTOR(3)                                     \
  LOAD_VECTOR(4) LOAD_VECTOR(5) LOAD_VECTOR(6) LOAD_VECTOR(7)                                     \
  (void)integer_0, (void)integer_1, (void)integer_2, (void)integer_3, (void)integer_4;            \
  (void)integer_5, (void)integer_6, (void)integer_7;                                              \
  (void)vector_0, (void)vector_1, (void)vector_2, (void)vector_3, (void)vector_4, (void)vector_5; \
  (void)vector_6, (void)vector_7;

size_t fwd_replay_closures(fwd_replay *replay) {
  size_t delivered = 0;
  fwd_deliver_by_closures(replay, true, true, *replay->operations, &delivered);
  return delivered;
}

size_t fwd_replay_held_closures(fwd_replay *replay) {
  size_t delivered = 0;
  fwd_deliver_by_closures(replay, false, false, *replay->operations, &delivered);
  return delivered;
}

/// Delivers to the record at `*next`, which has a closure, and on to those behind it, up to a record that the loop for C
/// functions has to look at. Sets `*next` to its index. Returns to how many of the records before that `loop` has not delivered
/// itself.
__attribute__((noinline)) static size_t deliver_between(fwd_replay *replay, size_t *next, fwd_replayer loop) {
  fwd_record *const *records = replay->records;
  size_t count = replay->count, first = *next;
  replay->records += first;
  replay->count -= first;
  size_t delivered = loop(replay);
  *next = count - replay->count;
  replay->records = records;
  replay->count = count;
  return *next - first - delivered;
}

// Held loops get long lists in parts (replay_state.h). Weak loops prefetch themselves: in parts, a list of a million weak
// subscribers in a random order took a quarter longer.
#define PREFETCH_WEAK \
  if (read->count >= FWD_PREFETCHED_COUNT) fwd_prefetch(read->records, i, read->count);

// A weak loop reads the replay again for each record, since what is kept across the deliveries takes stack at each level. A
// held loop makes far shorter deliveries, so it keeps what it reads.
#define READ_AGAIN const fwd_replay *const read = replay;
#define READ_ONCE                                                                                    \
  const fwd_replay copy = {                                                                          \
      .records = replay->records, .count = replay->count, .implementation = replay->implementation}; \
  const fwd_replay *const read = &copy;

// The low bits of `held` say how the record holds its object (members/held.h). They are read before the table, since the
// table may have been freed once the subscription has ended. The loop counts the records to which it has not delivered itself,
// since they are fewer.
#define LOOP(name, load, call, prefetch, DELIVER)                                          \
  FWD_CALLS_ANY_TYPE __attribute__((aligned(64))) static size_t name(fwd_replay *replay) { \
    load                                                                                   \
    size_t skipped = 0;                                                                    \
    fwd_function first = NULL;                                                             \
    for (size_t i = 0; i < read->count; i++) {                                             \
      prefetch                                                                             \
      fwd_record *record = read->records[i];                                               \
      uintptr_t held = fwd_record_held(record);                                            \
      const fwd_implementation *method;                                                    \
      DELIVER(call)                                                                        \
    }                                                                                      \
    return read->count - skipped;                                                          \
  }

#define METHOD (method = fwd_dispatch_table_at_offset(record->table, read->implementation))
#define HAS_FUNCTION __builtin_expect(METHOD->function != NULL, 1)

// Goes on behind the records to which it has delivered.
#define DELIVER_BY_CLOSURES(loop)                  \
  size_t next = i;                                 \
  skipped += deliver_between(replay, &next, loop); \
  i = next - 1;

// The loop does not count this delivery: `deliver_slowly` adds it to the responses of the emission.
#define DELIVER_SLOWLY \
  skipped++;           \
  replay->operations->deliver_slowly(replay, i);

// Only the function of the first record is compared with. To look for another one where that record has none would cost
// each fan-out to one subscriber a nanosecond.
#define DELIVER_WEAK(call)                                                      \
  if (__builtin_expect(!(held & FWD_HELD_BITS), 1)) {                           \
    if (HAS_FUNCTION) {                                                         \
      fwd_take_turn(method->function, i == 0, &first);                          \
      void *object = fwd_take_weak(held);                                       \
      if (__builtin_expect(!object, 0)) {                                       \
        replay->met_dead = true;                                                \
        skipped++;                                                              \
        continue;                                                               \
      }                                                                         \
      call                                                                      \
      fwd_release_counted(object);                                              \
      continue;                                                                 \
    }                                                                           \
  } else if (__builtin_expect(!fwd_held_is_steady(held), 0)) {                  \
    DELIVER_SLOWLY                                                              \
    continue;                                                                   \
  } else if (HAS_FUNCTION) {                                                    \
    /* A record among weak ones that holds its object strongly, or has none. */ \
    call                                                                        \
    continue;                                                                   \
  }                                                                             \
  /* The subscriber has no C function for the method. */                        \
  if (method->closure) {                                                        \
    DELIVER_BY_CLOSURES(fwd_replay_closures)                                    \
  } else if (method->packed) {                                                  \
    DELIVER_SLOWLY                                                              \
  } else {                                                                      \
    skipped++;                                                                  \
  }

// Needs no `fwd_take_turn`: where no reference is counted, there are few branches between two calls.
#define DELIVER_HELD(call)                                     \
  (void)first;                                                 \
  if (__builtin_expect((held & FWD_HELD_IRREGULAR) != 0, 0)) { \
    DELIVER_SLOWLY                                             \
  } else if (HAS_FUNCTION) {                                   \
    call                                                       \
  } else if (method->closure) {                                \
    DELIVER_BY_CLOSURES(fwd_replay_held_closures)              \
  } else if (method->packed) {                                 \
    DELIVER_SLOWLY                                             \
  } else {                                                     \
    skipped++;                                                 \
  }

#define BOTH(n, m, list)                                                                \
  LOOP(weak_##n##_##m, LOAD_REGISTERS(n, m) READ_AGAIN, CALL(n, m, list), PREFETCH_WEAK, DELIVER_WEAK) \
  LOOP(held_##n##_##m, LOAD_REGISTERS(n, m) READ_ONCE, CALL(n, m, list), , DELIVER_HELD)

// For n integer registers there are loops for 0 vector registers, for some numbers between, and for FWD_REPLAY_NARROW - n,
// the most. A method uses the next larger number of vector registers: the function ignores the surplus. It needs its own
// number of integer registers, since the context comes behind the method's own.
#define FEW_INTEGERS(X)                          \
  X(1, 0, I) X(1, 2, IV) X(1, 7, IV)             \
  X(2, 0, I) X(2, 1, IV) X(2, 2, IV) X(2, 6, IV) \
  X(3, 0, I) X(3, 1, IV) X(3, 2, IV) X(3, 5, IV) \
  X(4, 0, I) X(4, 1, IV) X(4, 2, IV) X(4, 4, IV) \
  X(5, 0, I) X(5, 1, IV) X(5, 3, IV)             \
  X(6, 0, I) X(6, 2, IV)
#if FWD_IS_SYSV
#define ALL(X) FEW_INTEGERS(X)
#else
#define ALL(X) FEW_INTEGERS(X) X(7, 0, I) X(7, 1, IV) X(8, 0, I)
#endif

ALL(BOTH)

#define ENTRY(n, m, list) [n][m] = {weak_##n##_##m, held_##n##_##m},
static const fwd_replayers loops[FWD_INTEGER_REGISTERS + 1][FWD_REPLAY_NARROW] = {ALL(ENTRY)};

// Methods of more registers share a pair of loops, which load all registers from memory at each call. The context's place
// there is behind the method's own integer registers; if these are all, it stands on the stack.
#if FWD_IS_SYSV
#define ALL_INTEGERS(item) FWD_LIST_6(item)
#else
#define ALL_INTEGERS(item) FWD_LIST_8(item)
#endif
#define WIDE_INTEGER(i) words[i]
#define WIDE_VECTOR(i) vectors[i]
#define LOAD_WIDE                                                             \
  uint64_t words[FWD_REPLAY_BEFORE_VECTORS];                                  \
  double vectors[FWD_VECTOR_REGISTERS];                                       \
  memcpy(words, replay->words, sizeof words);                                 \
  memcpy(vectors, replay->words + FWD_REPLAY_BEFORE_VECTORS, sizeof vectors); \
  size_t context_index = replay->context_index;
#define CALL_WIDE                                                                              \
  words[0] = (uint64_t)(uintptr_t)record->receiver;                                            \
  words[context_index] = (uint64_t)(uintptr_t)method->context;                                 \
  ((void (*)(ALL_INTEGERS(INTEGER_TYPE), uint64_t, FWD_LIST_8(VECTOR_TYPE)))method->function)( \
      ALL_INTEGERS(WIDE_INTEGER), words[FWD_INTEGER_REGISTERS], FWD_LIST_8(WIDE_VECTOR));

LOOP(weak_wide, LOAD_WIDE READ_AGAIN, CALL_WIDE, PREFETCH_WEAK, DELIVER_WEAK)
LOOP(held_wide, LOAD_WIDE READ_ONCE, CALL_WIDE, , DELIVER_HELD)

static bool fit_registers(const fwd_move *moves, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (moves[i].size == 0 || moves[i].size > 8) return false;
  }
  return true;
}

/// Whether the plan has at most FWD_REPLAY_NARROW registers. Then a loop for its numbers of registers exists.
static bool has_own_loops(const fwd_call_plan *plan) {
  return plan->integer_count + plan->vector_count <= FWD_REPLAY_NARROW;
}

fwd_replayers fwd_replayers_find(const fwd_call_plan *plan) {
  if (plan->result != FWD_RESULT_VOID || plan->stack_size > 0 || plan->integer_count == 0 ||
      !fit_registers(plan->integers, plan->integer_count) ||
      !fit_registers(plan->vectors, plan->vector_count)) {
    return (fwd_replayers){NULL, NULL};
  }
  if (!has_own_loops(plan)) return (fwd_replayers){weak_wide, held_wide};
  size_t vectors = plan->vector_count;
  while (!loops[plan->integer_count][vectors].weak) vectors++;
  return loops[plan->integer_count][vectors];
}

fwd_register_loads fwd_replay_prepare(const fwd_call_plan *plan, const uint32_t *offsets,
                                      uint32_t hidden_count) {
  uint32_t integer_count = plan->integer_count, vector_count = plan->vector_count;
  fwd_register_loads loads = {.first = hidden_count, .context_index = (uint8_t)integer_count};
  // Hidden arguments are pointers, and come first: each has the integer register of its number.
  const fwd_move *integers = plan->integers + hidden_count, *vectors = plan->vectors;
  uint32_t before_vectors = has_own_loops(plan) ? integer_count : FWD_REPLAY_BEFORE_VECTORS;
  uint32_t count = has_own_loops(plan) ? integer_count + vector_count : FWD_REPLAY_WORDS;
  for (uint32_t i = hidden_count; i < count; i++) {
    // Words that the method does not use repeat its first.
    const fwd_move *move = integer_count > hidden_count ? integers : vectors;
    if (i < integer_count) {
      move = &plan->integers[i];
    } else if (i >= before_vectors && i - before_vectors < vector_count) {
      move = &vectors[i - before_vectors];
    }
    uint32_t argument = move->argument - hidden_count;
    loads.loads[loads.count++] = (fwd_register_load){
        .offset = offsets[argument] + move->offset,
        .argument = (uint16_t)argument,
        .part = move->offset,
        .size = move->size,
        .is_signed = move->is_signed,
    };
    fwd_load_sizes sizes = move->size == 8   ? FWD_LOADS_OF_8_BYTES
                           : move->size == 4 ? FWD_LOADS_OF_4_OR_8_BYTES
                                             : FWD_LOADS_OF_ANY_SIZE;
    if (sizes > loads.sizes) loads.sizes = sizes;
  }
  return loads;
}

void fwd_replay_load_pointed(fwd_replay_word *words, const fwd_register_loads *loads, void *const *arguments) {
  fwd_replay_word *word = words + loads->first;
  const fwd_register_load *load = loads->loads, *end = load + loads->count;
  for (; load < end; load++, word++) {
    word->bits = fwd_extend(fwd_replay_pointed(load, arguments), load->size, load->is_signed);
  }
}

#else

void fwd_replay_load_pointed(fwd_replay_word *words, const fwd_register_loads *loads, void *const *arguments) {
  (void)words, (void)loads, (void)arguments;
}

size_t fwd_replay_closures(fwd_replay *replay) {
  (void)replay;
  return 0;
}

size_t fwd_replay_held_closures(fwd_replay *replay) {
  (void)replay;
  return 0;
}

fwd_register_loads fwd_replay_prepare(const fwd_call_plan *plan, const uint32_t *offsets,
                                      uint32_t hidden_count) {
  (void)plan, (void)offsets, (void)hidden_count;
  return (fwd_register_loads){.count = 0};
}

fwd_replayers fwd_replayers_find(const fwd_call_plan *plan) {
  (void)plan;
  return (fwd_replayers){NULL, NULL};
}

#endif
