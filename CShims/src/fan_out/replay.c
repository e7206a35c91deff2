// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The calls of C functions that a fan-out of a void method makes.
///
/// A fan-out has one word for each argument register. From one delivery to the next only the receiver and the function
/// change. For each number of integer registers and some numbers of vector registers there is a function that makes one call,
/// by which looping.c delivers:
///
///     frame or pointers            words                          registers of one call
///     ┌───────────────┐   load   ┌──────────────┐   LOAD_REGISTERS  rdi  receiver of this record
///     │ a   b   c ... │ -------> │ . sel a b c  │ ----------------> rsi  selector
///     └───────────────┘          └──────────────┘                   rdx  a, rcx b, ..., the context, xmm0 ...
///
/// Up to FWD_REPLAY_NARROW registers together there is also a loop for subscribers that need no reference counting:
///
///     for each record:   is `held` (held.h) live and without gate?           --no--> deliver_slowly (looping.c)
///                        does its table have a function for the method?      --no--> `fwd_replay_closures`,
///                                                                                    deliver_slowly, or the next record
///                        call function(receiver, selector, a, b, c, ..., context)
///
/// For the commonest shapes there is also a loop for weak subscribers, which retains and releases each object inline
/// (members/taking.h), as weak_closures.h does for closures. It stops at a record of another kind, and at an object that only the
/// runtime can retain. The fan-out delivers to the rest.
///
/// The functions here call through a function-pointer type whose parameters are whole registers. abi/sysv/callers.c explains
/// why this is sound.

#include "fan_out/replay.h"

#include <string.h>

#include "abi/callers.h"
#include "base/hot.h"
#include "members/swift_closure.h"

#if FWD_HAS_CALL_PLANS

#define INTEGER_TYPE(i) uint64_t
#define VECTOR_TYPE(i) double
#define INTEGER_VALUE(i) integer_##i
#define VECTOR_VALUE(i) vector_##i

// The context is passed as one more integer, after the method's own. A thunk takes it; any other function ignores the
// surplus argument.
#define TYPES_I(n, m) FWD_LIST_##n(INTEGER_TYPE), const void *
#define TYPES_IV(n, m) TYPES_I(n, m), FWD_LIST_##m(VECTOR_TYPE)
#define VALUES_I(n, m) FWD_LIST_##n(INTEGER_VALUE), context
#define VALUES_IV(n, m) VALUES_I(n, m), FWD_LIST_##m(VECTOR_VALUE)
#define CALL(n, m, list) ((void (*)(TYPES_##list(n, m)))function)(VALUES_##list(n, m));

// The words may be a frame's bytes, of any type. The receiver's word is not read: it may stand before the frame.
#define LOAD_INTEGER(i) \
  uint64_t integer_##i = (i) < integer_count ? fwd_load_word_of(&words[(i) < integer_count ? (i) : 0]) : 0;
#define LOAD_VECTOR(i)                                                                  \
  double vector_##i = 0;                                                                \
  if ((i) < vector_count) {                                                             \
    memcpy(&vector_##i, &words[(i) < vector_count ? integer_count + (i) : 0], 8);       \
  }
#define LOAD_REGISTERS(n, m)                                                                      \
  enum { integer_count = n, vector_count = m };                                                   \
  uint64_t integer_0 = 0;                                                                         \
  LOAD_INTEGER(1) LOAD_INTEGER(2) LOAD_INTEGER(3)                                                 \
  LOAD_INTEGER(4) LOAD_INTEGER(5) LOAD_INTEGER(6) LOAD_INTEGER(7)                                 \
  LOAD_VECTOR(0) LOAD_VECTOR(1) LOAD_VECTOR(2) LOAD_VECTOR(3)                                     \
  LOAD_VECTOR(4) LOAD_VECTOR(5) LOAD_VECTOR(6) LOAD_VECTOR(7)                                     \
  (void)integer_0, (void)integer_1, (void)integer_2, (void)integer_3, (void)integer_4;            \
  (void)integer_5, (void)integer_6, (void)integer_7;                                              \
  (void)vector_0, (void)vector_1, (void)vector_2, (void)vector_3, (void)vector_4, (void)vector_5; \
  (void)vector_6, (void)vector_7;

// MARK: One call

#define CALLER(n, m, list)                                                                                     \
  FWD_CALLS_ANY_TYPE static void call_##n##_##m(void *receiver, const fwd_replay_word *words, fwd_function function, \
                                                const void *context) {                                         \
    LOAD_REGISTERS(n, m)                                                                                       \
    integer_0 = (uint64_t)(uintptr_t)receiver;                                                                 \
    CALL(n, m, list)                                                                                           \
  }

// MARK: Loops

// All closures get the same arguments, so a closure is asked whether it takes them only if the record before had another one.
// The loop keeps its place in the replay: a variable that is kept across the deliveries takes stack at each level of a recursion.
FWD_HOT size_t fwd_replay_closures(fwd_replay *replay) {
  const fwd_swift_closure *closure = FWD_NO_CLOSURE_YET;
  void *const *arguments = NULL;
  // A result of no bytes has an address all the same.
  unsigned char nothing;
  size_t delivered = 0;
  for (; replay->count > 0; replay->records++, replay->count--) {
    fwd_record *record = replay->records[0];
    if (__builtin_expect((fwd_record_held(record) & FWD_HELD_IRREGULAR) != 0, 0)) break;
    const fwd_implementation *implementation = fwd_dispatch_table_at_offset(record->table, replay->implementation);
    const fwd_swift_closure *own = implementation->closure;
    if (__builtin_expect(own != closure, 0)) {
      if (!own && fwd_implementation_is_empty(implementation)) continue;
      if (implementation->function || !own) break;
      if (!arguments) arguments = replay->operations->find_arguments(replay);
      if (!fwd_swift_closure_takes(own, arguments)) {
        // The fan-out says why it fails.
        replay->operations->deliver_slowly(replay, record);
        continue;
      }
      closure = own;
    }
    *replay->record = record;
    fwd_swift_closure_call(own, record->receiver, arguments, &nothing);
    // Code that runs from here on must not find a subscription if it asks for the current one.
    *replay->record = NULL;
    delivered++;
  }
  return delivered;
}

/// Delivers to the record at `*next`, to which the loop for C functions does not deliver itself. If it has a closure, goes on
/// with those behind it, up to a record that the loop has to look at. Sets `*next` to its index. Returns how many of the records
/// before that index the loops have not delivered to: those that lack the method, and those left to `deliver_slowly`, which
/// counts its own responses.
__attribute__((noinline)) static size_t deliver_between(fwd_replay *replay, size_t *next) {
  fwd_record *const *records = replay->records;
  const fwd_record *record = records[*next];
  bool is_irregular = fwd_record_held(record) & FWD_HELD_IRREGULAR;
  const fwd_implementation *implementation =
      is_irregular ? NULL : fwd_dispatch_table_at_offset(record->table, replay->implementation);
  if (is_irregular || !implementation->closure) {
    ++*next;
    // A record with a C function has lost its gate after the loop had seen it.
    if (is_irregular || !fwd_implementation_is_empty(implementation)) replay->operations->deliver_slowly(replay, record);
    return 1;
  }
  size_t count = replay->count, first = *next;
  replay->records += first;
  replay->count -= first;
  size_t delivered = fwd_replay_closures(replay);
  *next = count - replay->count;
  replay->records = records;
  replay->count = count;
  return *next - first - delivered;
}

// The low bits of `held` say how the record holds its object (members/held.h). They are read before the table, since the
// table may have been freed once the subscription has ended. The loop counts the records to which it has not delivered itself,
// since they are fewer: `deliver_slowly` adds its delivery to the responses of the emission. It loads the words again for each
// call: few would stay in registers across calls, and copies of the others take stack at each level of a recursion.
#define LOOP(n, m, list)                                                                                 \
  FWD_CALLS_ANY_TYPE __attribute__((aligned(64))) static size_t loop_##n##_##m(fwd_replay *replay) {     \
    const size_t implementation = replay->implementation;                                                \
    fwd_record *const *next = replay->records, *const *const end = next + replay->count;                 \
    size_t skipped = 0;                                                                                  \
    for (; next < end; next++) {                                                                         \
      const fwd_record *record = *next;                                                                  \
      if (__builtin_expect(!(fwd_record_held(record) & FWD_HELD_IRREGULAR), 1)) {                        \
        const fwd_implementation *method = fwd_dispatch_table_at_offset(record->table, implementation);  \
        const fwd_function function = method->function;                                                  \
        if (__builtin_expect(function != NULL, 1)) {                                                     \
          const void *context = method->context;                                                         \
          const fwd_replay_word *words = replay->words;                                                  \
          LOAD_REGISTERS(n, m)                                                                           \
          integer_0 = (uint64_t)(uintptr_t)record->receiver;                                             \
          CALL(n, m, list)                                                                               \
          continue;                                                                                      \
        }                                                                                                \
      }                                                                                                  \
      size_t index = (size_t)(next - replay->records);                                                   \
      skipped += deliver_between(replay, &index);                                                        \
      next = replay->records + index - 1;                                                                \
    }                                                                                                    \
    return replay->count - skipped;                                                                      \
  }

// MARK: Weak subscribers

// These loops call the C function directly. To call it by a `fwd_replay_call` takes a call and a jump, which is much beside two
// atomic instructions. The loops keep most values in registers across the call. The two values in memory are only read,
// because an atomic instruction waits for the stores before it. `held` is read before the table, because the table of a
// subscription that has ended may be freed.
#define WEAK_LOOP(n, m, list)                                                                                 \
  FWD_CALLS_ANY_TYPE FWD_HOT static fwd_record *const *weak_loop_##n##_##m(                                   \
      fwd_record *const *next, fwd_record *const *end, const fwd_replay_word *words, size_t implementation) { \
    fwd_function first = fwd_dispatch_table_at_offset((*next)->table, implementation)->function;              \
    for (; next < end; next++) {                                                                              \
      const fwd_record *record = *next;                                                                       \
      const uintptr_t held = fwd_record_held(record);                                                         \
      if (__builtin_expect((held & FWD_HELD_BITS) != 0, 0)) break;                                            \
      const fwd_implementation *method = fwd_dispatch_table_at_offset(record->table, implementation);         \
      const fwd_function function = method->function;                                                         \
      if (__builtin_expect(function == NULL, 0)) break;                                                       \
      fwd_take_turn(function, false, &first);                                                                 \
      if (__builtin_expect(!fwd_retain_in_word((void *)held), 0)) break;                                        \
      const void *context = method->context;                                                                  \
      LOAD_REGISTERS(n, m)                                                                                    \
      integer_0 = (uint64_t)(uintptr_t)record->receiver;                                                      \
      CALL(n, m, list)                                                                                        \
      fwd_release_counted((void *)held);                                                                      \
    }                                                                                                         \
    return next;                                                                                              \
  }

// MARK: Shapes

// The commonest shapes: the receiver and an integer, or an integer and a floating-point number.
#define COMMON(X) X(2, 0, I) X(2, 1, IV)

// The others. For n integer registers there are shapes with 0 vector registers, with some numbers between, and with
// FWD_REPLAY_NARROW - n, the most of a narrow method. A method uses the next larger number of vector registers: the function
// ignores the surplus. It needs its own number of integer registers, since the context comes behind the method's own.
#define FEW_INTEGERS(X)                          \
  X(1, 0, I) X(1, 2, IV) X(1, 7, IV)             \
  X(2, 2, IV) X(2, 6, IV)                        \
  X(3, 0, I) X(3, 1, IV) X(3, 2, IV) X(3, 5, IV) \
  X(4, 0, I) X(4, 1, IV) X(4, 2, IV) X(4, 4, IV) \
  X(5, 0, I) X(5, 1, IV) X(5, 3, IV)             \
  X(6, 0, I) X(6, 2, IV)
#if FWD_IS_SYSV
#define NARROW(X) FEW_INTEGERS(X)
#else
#define NARROW(X) FEW_INTEGERS(X) X(7, 0, I) X(7, 1, IV) X(8, 0, I)
#endif

// Methods of more registers use all vector registers.
#define FEW_WIDE(X) X(1, 8, IV) X(2, 8, IV) X(3, 8, IV) X(4, 8, IV) X(5, 8, IV) X(6, 8, IV)
#if FWD_IS_SYSV
#define WIDE(X) FEW_WIDE(X)
#else
#define WIDE(X) FEW_WIDE(X) X(7, 8, IV) X(8, 8, IV)
#endif

COMMON(CALLER)
NARROW(CALLER)
WIDE(CALLER)
COMMON(LOOP)
NARROW(LOOP)
COMMON(WEAK_LOOP)

#define ALL(n, m, list) [n][m] = {call_##n##_##m, loop_##n##_##m, weak_loop_##n##_##m},
#define BOTH(n, m, list) [n][m] = {call_##n##_##m, loop_##n##_##m, NULL},
#define CALLER_ONLY(n, m, list) [n][m] = {call_##n##_##m, NULL, NULL},
static const fwd_replayers shapes[FWD_INTEGER_REGISTERS + 1][FWD_VECTOR_REGISTERS + 1] = {
    COMMON(ALL) NARROW(BOTH) WIDE(CALLER_ONLY)};

static bool fit_registers(const fwd_move *moves, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (moves[i].size == 0 || moves[i].size > 8) return false;
  }
  return true;
}

bool fwd_replay_fits(const fwd_call_plan *plan) {
  return plan->result != FWD_RESULT_MEMORY && plan->stack_size == 0 && plan->integer_count > 0 &&
         fit_registers(plan->integers, plan->integer_count) && fit_registers(plan->vectors, plan->vector_count);
}

fwd_replayers fwd_replayers_find(const fwd_call_plan *plan) {
  if (plan->result != FWD_RESULT_VOID || !fwd_replay_fits(plan)) return (fwd_replayers){.call = NULL};
  const fwd_replayers *shape = &shapes[plan->integer_count][plan->vector_count];
  while (!shape->call) shape++;
  return *shape;
}

fwd_register_loads fwd_replay_prepare(const fwd_call_plan *plan, const uint32_t *offsets,
                                      uint32_t hidden_count) {
  uint32_t integer_count = plan->integer_count, vector_count = plan->vector_count;
  // Hidden arguments are pointers, and come first: each has the integer register of its number.
  fwd_register_loads loads = {.first = hidden_count, .count = integer_count + vector_count - hidden_count};
  fwd_load_kind kind = FWD_LOADS_OF_8_BYTES;
  // The words are those of the frame, behind one for the receiver, which is not read. The shape must not read words behind the
  // frame.
  bool in_order = hidden_count == 1 && shapes[integer_count][vector_count].call;
  for (uint32_t i = 0; i < loads.count; i++) {
    uint32_t word = hidden_count + i;
    const fwd_move *move = word < integer_count ? &plan->integers[word] : &plan->vectors[word - integer_count];
    uint32_t argument = move->argument - hidden_count;
    fwd_register_load *load = &loads.loads[i];
    *load = (fwd_register_load){
        .offset = offsets[argument] + move->offset,
        .argument = (uint16_t)argument,
        .part = move->offset,
        .size = move->size,
        .is_signed = move->is_signed,
    };
    if (load->size == 4 && kind == FWD_LOADS_OF_8_BYTES) kind = FWD_LOADS_OF_4_OR_8_BYTES;
    if (load->size != 4 && load->size != 8) kind = FWD_LOADS_OF_ANY_SIZE;
    if (load->size != 8 || load->offset != i * sizeof(fwd_replay_word)) in_order = false;
  }
  loads.kind = in_order ? FWD_LOADS_IN_ORDER : kind;
  return loads;
}

void fwd_replay_load_pointed(fwd_replay_word *words, const fwd_register_loads *loads, void *const *arguments) {
  fwd_replay_word *word = words + loads->first;
  const fwd_register_load *load = loads->loads, *end = load + loads->count;
  for (; load < end; load++, word++) {
    *word = fwd_extend(fwd_replay_pointed(load, arguments), load->size, load->is_signed);
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

bool fwd_replay_fits(const fwd_call_plan *plan) {
  (void)plan;
  return false;
}

fwd_register_loads fwd_replay_prepare(const fwd_call_plan *plan, const uint32_t *offsets,
                                      uint32_t hidden_count) {
  (void)plan, (void)offsets, (void)hidden_count;
  return (fwd_register_loads){.count = 0};
}

fwd_replayers fwd_replayers_find(const fwd_call_plan *plan) {
  (void)plan;
  return (fwd_replayers){.call = NULL};
}

#endif
