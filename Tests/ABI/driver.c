// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Calls each generated function through its encoding, lets each generated caller call a closure, and compares every byte
/// that is not padding. Each value ends at an inaccessible page, so that a read or write behind it crashes.

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi_case.h"
#include "call/closure.h"
#include "call/signature.h"

extern const abi_table *const clang_tables[];
extern const abi_table *const gcc_tables[];
extern const size_t table_count;

const void *abi_values[abi_argument_limit + 1];
unsigned char *abi_record[abi_argument_limit + 1];
long long abi_wide[abi_argument_limit + 1];

enum { value_limit = 4096, slot_count = 2 * (abi_argument_limit + 1), report_limit = 20 };

static size_t passed, failed;
static bool is_clang;
static const abi_case *current;
static const char *stage = "";

// MARK: Values

// Each slot ends at an inaccessible page.
static unsigned char *slots[slot_count];

static void map_slots(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t room = (value_limit + page - 1) / page * page;
  for (size_t i = 0; i < slot_count; i++) {
    unsigned char *memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE) != 0) {
      perror("mmap");
      exit(2);
    }
    slots[i] = memory + room;
  }
}

/// Room for `size` bytes that ends with the slot. A size is a multiple of its alignment, as the page is.
static unsigned char *slot(size_t index, size_t size) { return slots[index] - size; }

static uint64_t random_state;

static unsigned char random_byte(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (unsigned char)(random_state >> 32);
}

static void fill(unsigned char *bytes, const abi_type *type) {
  unsigned char map[value_limit] = {0};
  type->map(map);
  for (size_t i = 0; i < type->size; i++) {
    unsigned char mask = (map[i] & 3) == 2 ? 1 : map[i] & abi_limited ? 0xBF : 0xFF;
    bytes[i] = random_byte() & mask;
  }
}

static long long widened(const unsigned char *bytes, const abi_type *type) {
  long long value = 0;
  memcpy(&value, bytes, type->size);
  unsigned unused = (unsigned)(64 - 8 * type->size);
  if (type->small < 0) value = (long long)((unsigned long long)value << unused) >> unused;
  return value;
}

// MARK: Reporting

static void fail(const char *what, size_t index, const unsigned char *given, const unsigned char *expected,
                 size_t size) {
  if (++failed > report_limit) return;
  printf("FAILED %s: %s %zu\n  %s\n  %s\n", stage, what, index, current->declaration, current->encoding);
  for (int row = 0; row < 2 && size > 0; row++) {
    const unsigned char *bytes = row == 0 ? expected : given;
    printf("  %s", row == 0 ? "expected" : "given   ");
    for (size_t i = 0; i < size && i < 64; i++) printf(" %02x", bytes[i]);
    printf("\n");
  }
}

static bool same(const char *what, size_t index, const abi_type *type, const unsigned char *given,
                 const unsigned char *expected) {
  unsigned char map[value_limit] = {0};
  type->map(map);
  for (size_t i = 0; i < type->size; i++) {
    bool is_lost = is_clang && (map[i] & abi_contested);
    if (map[i] && !is_lost && given[i] != expected[i]) {
      fail(what, index, given, expected, type->size);
      return false;
    }
  }
  return true;
}

static bool same_wide(const char *what, size_t index, const abi_type *type, const unsigned char *expected) {
  if (!type->small) return true;
  long long value = widened(expected, type);
  if (abi_wide[index] == value) return true;
  fail(what, index, (unsigned char *)&abi_wide[index], (unsigned char *)&value, sizeof value);
  return false;
}

/// Whether the x87 stack is empty. A call that pops a value too many, or leaves one, changes its tags.
static bool x87_stack_is_empty(void) {
#if defined(__x86_64__)
  uint32_t environment[7];
  __asm__ volatile("fnstenv %0\n\tfldenv %0" : "=m"(environment));
  if ((environment[2] & 0xFFFF) != 0xFFFF) {
    fail("x87 stack is not empty", 0, NULL, NULL, 0);
    __asm__ volatile("fninit");
    return false;
  }
#endif
  return true;
}

static void crashed(int signal_number) {
  printf("CRASHED %s with signal %d\n  %s\n  %s\n", stage, signal_number, current ? current->declaration : "",
         current ? current->encoding : "");
  fflush(stdout);
  _exit(1);
}

// MARK: Both directions

static unsigned char records[abi_argument_limit + 1][value_limit];

static void prepare(const abi_case *c) {
  for (size_t i = 0; i <= c->argument_count; i++) {
    unsigned char *bytes = slot(i, c->types[i].size);
    fill(bytes, &c->types[i]);
    abi_values[i] = bytes;
    memset(records[i], 0xA5, c->types[i].size);
    abi_record[i] = records[i];
    abi_wide[i] = 0x5A5A5A5A5A5A5A5A;
  }
}

/// The ways to call a function.
typedef enum call_way {
  BY_CALL,
  /// By the function `fwd_call_any`, which is not inline.
  BY_CALL_ANY,
  /// By the call interface, as some deliveries do.
  BY_INTERFACE,
  /// By the plan without a test of the arguments, as deliveries do that know them. Always with a result.
  BY_PLAN,
  way_count,
} call_way;

static fwd_status call_by(call_way way, const abi_case *c, const fwd_signature *signature, void *const *arguments,
                          void *result) {
  const fwd_cif *cif = fwd_signature_cif(signature);
  switch (way) {
    case BY_CALL: return fwd_call(signature, c->callee, arguments, result);
    case BY_CALL_ANY: return fwd_call_any(signature, c->callee, arguments, result);
    case BY_INTERFACE: return fwd_cif_call(cif, c->callee, arguments, result);
    case BY_PLAN: fwd_cif_plan(cif)->unchecked(fwd_cif_plan(cif), c->callee, arguments, result); return FWD_OK;
    case way_count: break;
  }
  abort();
}

/// Whether a call without one of its arguments calls nothing, for each argument. The records hold 0xA5.
static bool misses_arguments(const abi_case *c, const fwd_signature *signature, void **arguments, void *result) {
  bool reads_some = false;
  for (size_t i = 0; i < c->argument_count; i++) {
    void *argument = arguments[i];
    if (!argument) continue;
    reads_some = true;
    arguments[i] = NULL;
    for (call_way way = BY_CALL; way < BY_PLAN; way++) {
      if (call_by(way, c, signature, arguments, result) != FWD_NULL_ARGUMENT || records[i + 1][0] != 0xA5) {
        fail("called without an argument", i + 1, NULL, NULL, 0);
        return false;
      }
    }
    arguments[i] = argument;
  }
  for (call_way way = BY_CALL; reads_some && way < BY_PLAN; way++) {
    if (call_by(way, c, signature, NULL, result) != FWD_NULL_ARGUMENT || !strstr(fwd_error_message(), "argument")) {
      fail("called without arguments", 0, NULL, NULL, 0);
      return false;
    }
  }
  return true;
}

/// Whether a call has changed neither the array of arguments nor the 64 bytes of 0xC3 before the result.
static bool leaves_alone(const unsigned char *result, void *const *before, void *const *arguments, size_t count) {
  bool good = x87_stack_is_empty();
  for (int i = 1; i <= 64; i++) {
    if (result[-i] != 0xC3) {
      fail("bytes before the result", 0, NULL, NULL, 0);
      return false;
    }
  }
  if (memcmp(before, arguments, sizeof *before * count) != 0) {
    fail("argument array modified", 0, NULL, NULL, 0);
    good = false;
  }
  return good;
}

static bool call_in_way(call_way way, const abi_case *c, const fwd_signature *signature, void **arguments) {
  size_t count = c->argument_count, size = c->types[0].size;
  void *before[abi_argument_limit + 1];
  memcpy(before, arguments, sizeof *before * count);
  unsigned char *result = slot(abi_argument_limit + 1, size);
  bool good = true;
  // With the result, and without.
  for (int wants_result = 1; wants_result >= (way == BY_PLAN); wants_result--) {
    memset(result - 64, 0xC3, 64 + size);
    for (size_t i = 0; i <= count; i++) memset(records[i], 0xA5, c->types[i].size);
    if (call_by(way, c, signature, arguments, wants_result ? result : NULL) != FWD_OK) {
      fail("call refused", 0, NULL, NULL, 0);
      return false;
    }
    good = leaves_alone(result, before, arguments, count) && good;
    if (wants_result) good = same("result", 0, &c->types[0], result, abi_values[0]) && good;
    for (size_t i = 1; i <= count; i++) {
      good = same("argument", i, &c->types[i], records[i], abi_values[i]) && good;
      good = same_wide("widened argument", i, &c->types[i], abi_values[i]) && good;
    }
  }
  return good;
}

static bool call(const abi_case *c, const fwd_signature *signature) {
  prepare(c);
  void *arguments[abi_argument_limit + 1];
  // An argument of size 0 has no bytes to be behind its address.
  for (size_t i = 0; i < c->argument_count; i++)
    arguments[i] = c->types[i + 1].size > 0 ? (void *)(uintptr_t)abi_values[i + 1] : NULL;
  bool good = true;
  for (call_way way = BY_CALL; way < way_count; way++) {
    if (way == BY_PLAN && !fwd_cif_plan(fwd_signature_cif(signature))) break;
    good = call_in_way(way, c, signature, arguments) && good;
  }
  for (size_t i = 0; i <= c->argument_count; i++) memset(records[i], 0xA5, c->types[i].size);
  return misses_arguments(c, signature, arguments, slot(abi_argument_limit + 1, c->types[0].size)) && good;
}

static bool handler_good;
/// The argument that the handler does not get.
static size_t dropped;
/// The closure that is called, and how often its handler has run.
static fwd_closure *called;
static size_t runs;

static void handler(void *context, void *const *arguments, void *result) {
  const abi_case *c = context;
  // Once more inside of the call, where calls of quick entries go another way.
  if (runs++ == 0) c->caller(fwd_closure_function(called));
  size_t size = c->types[0].size;
  unsigned char zeros[value_limit] = {0};
  if ((uintptr_t)result % c->types[0].alignment != 0 || memcmp(result, zeros, size) != 0) {
    fail("result is not aligned and zeroed", 0, NULL, NULL, 0);
    handler_good = false;
  }
  // Before the arguments are read, which it must not overwrite.
  memcpy(result, abi_values[0], size);
  for (size_t i = 1; i <= c->argument_count; i++) {
    if (i - 1 == dropped) continue;
    const unsigned char *argument = *arguments++;
    if ((uintptr_t)argument % c->types[i].alignment != 0) {
      fail("alignment of argument", i, NULL, NULL, 0);
      handler_good = false;
    }
    handler_good = same("argument", i, &c->types[i], argument, abi_values[i]) && handler_good;
  }
}

static bool is_variadic(const abi_case *c) { return strstr(c->encoding, "...") != NULL; }

/// Whether a call of the closure gives the handler all arguments but one, and the caller the result.
static bool call_back_dropping(const abi_case *c, const fwd_cif *cif, size_t index) {
  prepare(c);
  dropped = index;
  fwd_closure *closure;
  fwd_error error;
  if (is_variadic(c)) {
    if (fwd_cif_closure_create(cif, handler, NULL, NULL, NULL, &closure, &error) == FWD_UNSUPPORTED) return true;
    fail("a variadic function pointer was made", 0, NULL, NULL, 0);
    return false;
  }
  if (fwd_cif_closure_create_dropping(cif, index, handler, (void *)(uintptr_t)c, NULL, NULL, &closure, &error) != FWD_OK) {
    fail(error.message, 0, NULL, NULL, 0);
    return false;
  }
  handler_good = true;
  called = closure;
  runs = 0;
  c->caller(fwd_closure_function(closure));
  fwd_closure_destroy(closure);
  bool good = x87_stack_is_empty() && handler_good;
  if (runs != 2) {
    fail("handler was not called twice", 0, NULL, NULL, 0);
    return false;
  }
  good = same("closure result", 0, &c->types[0], records[0], abi_values[0]) && good;
  return same_wide("widened closure result", 0, &c->types[0], abi_values[0]) && good;
}

static bool call_back(const abi_case *c, const fwd_cif *cif) {
  bool good = call_back_dropping(c, cif, FWD_NO_ARGUMENT);
  // A callback's context may stand anywhere.
  for (size_t i = 0; i < c->argument_count && good && !is_variadic(c); i++) good = call_back_dropping(c, cif, i);
  return good;
}

static void note(bool good) {
  if (good) passed++;
}

static void run(const abi_case *clang, const abi_case *gcc) {
  current = clang;
  stage = "creating";
  size_t length = strlen(clang->encoding);
  fwd_signature *signature;
  fwd_error error;
  if (fwd_signature_create(clang->encoding, length, &signature, &error) != FWD_OK) {
    fail(error.message, 0, NULL, NULL, 0);
    return;
  }
  const fwd_encoding *encoding = fwd_signature_encoding(signature);
  const fwd_cif *cif = fwd_signature_cif(signature);
  bool good = true;
  uint32_t index = fwd_encoding_type(encoding, 0)->first_child;
  for (size_t i = 0; i <= clang->argument_count; i++) {
    const fwd_type *type = fwd_encoding_type(encoding, index);
    const abi_type *mine = &clang->types[i], *other = &gcc->types[i];
    if (type->layout.size != mine->size || type->layout.alignment != mine->alignment ||
        mine->size != other->size || mine->alignment != other->alignment) {
      fail("layout of type", i, NULL, NULL, 0);
      good = false;
    }
    index = type->next_sibling;
  }
  note(good);
  // Bytes would be copied by the wrong size.
  if (good) {
    is_clang = true;
    stage = "calling a function by clang";
    note(call(clang, signature));
    stage = "called by clang";
    note(call_back(clang, cif));
    is_clang = false;
    stage = "calling a function by gcc";
    note(call(gcc, signature));
    stage = "called by gcc";
    note(call_back(gcc, cif));
  }
  fwd_signature_release(signature);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], crashed);
  map_slots();
  random_state = 0x9E3779B97F4A7C15;
  for (size_t table = 0; table < table_count; table++)
    for (size_t i = 0; i < clang_tables[table]->count; i++)
      run(&clang_tables[table]->cases[i], &gcc_tables[table]->cases[i]);
  printf("%zu passed, %zu failed\n", passed, failed);
  return failed > 0;
}
