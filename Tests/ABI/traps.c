// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Fixed tests: one for each known bug of libffi 3.4.4 on x86-64, which the library must not have; then the types that
/// a call interface refuses, failing allocations, the lifetime of closures, the pools of entries, threads, and jumps.

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/entering.h"
#include "call/closure.h"

static size_t passed, failed;

static void check(bool good, int line, const char *expected) {
  if (good) {
    passed++;
  } else {
    failed++;
    printf("traps.c:%d: expected %s\n", line, expected);
  }
}
#define EXPECT(condition) check((condition), __LINE__, #condition)

static fwd_status make(const char *text, fwd_cif **cif, fwd_error *error) {
  fwd_encoding *encoding;
  fwd_status status = fwd_encoding_create(text, strlen(text), FWD_FORM_METHOD, &encoding, error);
  if (status != FWD_OK) return status;
  status = fwd_cif_create(encoding, cif, error);
  fwd_encoding_release(encoding);
  return status;
}

static fwd_cif *cif_of(const char *text) {
  fwd_cif *cif;
  fwd_error error;
  if (make(text, &cif, &error) == FWD_OK) return cif;
  printf("%s\n0 passed, 1 failed\n", error.message);
  exit(1);
}

static void call(const char *text, void (*function)(void), void *const *arguments, void *result) {
  fwd_cif *cif = cif_of(text);
  EXPECT(fwd_cif_call(cif, function, arguments, result) == FWD_OK);
  fwd_cif_destroy(cif);
}

static fwd_closure *closure_of(const char *text, fwd_closure_handler handler, void *context) {
  fwd_cif *cif = cif_of(text);
  fwd_closure *closure = NULL;
  fwd_error error;
  if (fwd_cif_closure_create(cif, handler, context, NULL, NULL, &closure, &error) != FWD_OK) {
    printf("%s\n0 passed, 1 failed\n", error.message);
    exit(1);
  }
  fwd_cif_destroy(cif);
  return closure;
}

#define ARGUMENTS(...) ((void *[]){__VA_ARGS__})
#define FUNCTION(name) ((void (*)(void))(name))

// MARK: Calls

#if FWD_PLACES_SYSV

__extension__ typedef __int128 wide_integer;

typedef struct mixed {
  long integer;
  double floating;
} mixed;

static double first_vector;
static mixed got_mixed;

static void take_mixed(double first, long a, long b, long c, long d, long e, mixed last) {
  (void)a, (void)b, (void)c, (void)d, (void)e;
  first_vector = first;
  got_mixed = last;
}

static void mixed_struct_on_last_integer_register(void) {
  double first = 1.5;
  long a = 1;
  mixed last = {7, 2.5};
  call("vdqqqqq{mixed=qd}", FUNCTION(take_mixed), ARGUMENTS(&first, &a, &a, &a, &a, &a, &last), NULL);
  EXPECT(first_vector == 1.5);
  EXPECT(got_mixed.integer == 7 && got_mixed.floating == 2.5);
}

static bool x87_stack_is_empty(void) {
  uint32_t environment[7];
  __asm__ volatile("fnstenv %0\n\tfldenv %0" : "=m"(environment));
  return (environment[2] & 0xFFFF) == 0xFFFF;
}

typedef struct boxed {
  long double value;
} boxed;

typedef union overlaid {
  long double value;
  boxed inner;
} overlaid;

typedef union with_integer {
  long double value;
  int integer;
} with_integer;

static boxed give_boxed(void) { return (boxed){1.25L}; }
static overlaid give_overlaid(void) { return (overlaid){2.25L}; }
static with_integer give_with_integer(void) { return (with_integer){3.25L}; }

static void x87_results(void) {
  // Nine times, since the x87 stack has eight registers: one that is left on it would overflow it.
  for (int i = 0; i < 9; i++) {
    boxed box;
    overlaid overlay;
    with_integer other;
    call("{boxed=D}", FUNCTION(give_boxed), NULL, &box);
    EXPECT(box.value == 1.25L);
    call("(overlaid=D{boxed=D})", FUNCTION(give_overlaid), NULL, &overlay);
    EXPECT(overlay.value == 2.25L);
    call("(with_integer=Di)", FUNCTION(give_with_integer), NULL, &other);
    EXPECT(other.value == 3.25L);
    call("{boxed=D}", FUNCTION(give_boxed), NULL, NULL);
    EXPECT(x87_stack_is_empty());
  }
}

// Declared with 64-bit parameters, to see what a callee sees that relies on the caller to extend small integers.
static long long got_register, got_second;
static void take_registers(long long first, long long second) { got_register = first, got_second = second; }
static long long give_garbage(void) { return (long long)0x1122334455667780; }

static void small_integers_in_calls(void) {
  signed char c = -2;
  unsigned short s = 0xFFFE;
  call("vcS", FUNCTION(take_registers), ARGUMENTS(&c, &s), NULL);
  EXPECT((int)got_register == -2 && (int)got_second == 0xFFFE);
  unsigned char bytes[9];
  memset(bytes, 0xEE, sizeof bytes);
  call("c", FUNCTION(give_garbage), NULL, bytes);
  EXPECT(bytes[0] == 0x80 && bytes[1] == 0xEE);
  call("I", FUNCTION(give_garbage), NULL, bytes);
  EXPECT(memcmp(bytes, "\x80\x77\x66\x55\xEE", 5) == 0);
  call("{?=[3C]}", FUNCTION(give_garbage), NULL, bytes);
  EXPECT(memcmp(bytes, "\x80\x77\x66\x55\xEE", 5) == 0);
}

static void give_byte(void *context, void *const *arguments, void *result) {
  (void)arguments;
  memcpy(result, context, 1);
}

static void small_results_of_closures(void) {
  signed char value = -3;
  fwd_closure *closure = closure_of("c", give_byte, &value);
  EXPECT(((long long (*)(void))fwd_closure_function(closure))() == -3);
  fwd_closure_destroy(closure);
  closure = closure_of("C", give_byte, &value);
  EXPECT(((long long (*)(void))fwd_closure_function(closure))() == 0xFD);
  fwd_closure_destroy(closure);
}

typedef union number {
  double floating;
  long integer;
} number;

static number got_number;
static float got_float;
static void take_number(number value, float after) { got_number = value, got_float = after; }

typedef union nested {
  wide_integer wide;
  with_integer inner;
} nested;

static nested got_nested;
static void take_nested(nested value, float after) { got_nested = value, got_float = after; }

static void union_by_all_members(void) {
  number value = {.integer = 42};
  float after = 0.5F;
  // Class INTEGER wins over SSE, in whichever order the members are (psABI 3.2.3).
  call("v(number=dq)f", FUNCTION(take_number), ARGUMENTS(&value, &after), NULL);
  EXPECT(got_number.integer == 42 && got_float == 0.5F);
  // The nested union has the classes INTEGER and X87UP, so it is in memory, and with it the outer union. The class of
  // the second eightbyte of `wide` must not hide X87UP before this rule is applied.
  nested inner = {.wide = ((wide_integer)7 << 64) + 8};
  got_nested.wide = 0;
  call("v(nested=t(with_integer=Di))f", FUNCTION(take_nested), ARGUMENTS(&inner, &after), NULL);
  EXPECT(got_nested.wide == inner.wide);
}

typedef struct pair {
  long first, second;
} pair;
static pair got_pair;
static long got_last;
static void take_split(long a, long b, long c, long d, long e, pair split, long last) {
  (void)a, (void)b, (void)c, (void)d, (void)e;
  got_pair = split;
  got_last = last;
}
static wide_integer got_wide;
static void take_wide(long a, long b, long c, long d, long e, wide_integer wide, long last) {
  (void)a, (void)b, (void)c, (void)d, (void)e;
  got_wide = wide;
  got_last = last;
}

static void never_split_between_registers_and_stack(void) {
  long a = 1, last = 9;
  pair split = {3, 4};
  call("vqqqqq{pair=qq}q", FUNCTION(take_split), ARGUMENTS(&a, &a, &a, &a, &a, &split, &last), NULL);
  EXPECT(got_pair.first == 3 && got_pair.second == 4 && got_last == 9);
  wide_integer wide = ((wide_integer)5 << 64) + 6;
  call("vqqqqqtq", FUNCTION(take_wide), ARGUMENTS(&a, &a, &a, &a, &a, &wide, &last), NULL);
  EXPECT(got_wide == wide && got_last == 9);
}

#endif

typedef struct large {
  long values[5];
} large;
// Thread-local, since the last test calls on several threads.
static _Thread_local long got_sum;
static large give_large(large value, int after) {
  got_sum = value.values[0] + value.values[4] + after;
  value.values[0] = 100;
  return value;
}

static void argument_array_is_left_alone(void) {
  large value = {{1, 2, 3, 4, 5}}, result;
  int after = 10;
  void *const arguments[] = {&value, &after};
  call("{large=[5q]}{large=[5q]}i", FUNCTION(give_large), arguments, &result);
  EXPECT(arguments[0] == &value && arguments[1] == &after);
  EXPECT(got_sum == 16 && value.values[0] == 1);
  EXPECT(result.values[0] == 100 && result.values[4] == 5);
  call("{large=[5q]}{large=[5q]}i", FUNCTION(give_large), arguments, NULL);
  EXPECT(got_sum == 16 && value.values[0] == 1);
}

static void take_two(int first, int second) { got_sum = first * 10 + second; }

static void take_aligned(void *context, void *const *arguments, void *result) {
  (void)context;
  EXPECT(arguments[1] != NULL && result != NULL);
  got_sum = *(int *)arguments[0] * 10 + *(int *)arguments[2];
}

static void empty_struct_passes_nothing(void) {
  int first = 4, second = 2;
  got_sum = 0;
  call("vi{empty=}i", FUNCTION(take_two), ARGUMENTS(&first, NULL, &second), NULL);
  EXPECT(got_sum == 42);
  got_sum = 0;
  // A struct that has only an array of 0 elements is empty, too.
  call("{empty=}i{?=[0q]}i", FUNCTION(take_two), ARGUMENTS(&first, NULL, &second), &first);
  EXPECT(got_sum == 42 && first == 4);
  got_sum = 0;
  fwd_closure *closure = closure_of("{empty=}i{empty=}i", take_aligned, NULL);
  ((void (*)(int, int))fwd_closure_function(closure))(4, 2);
  EXPECT(got_sum == 42);
  fwd_closure_destroy(closure);
}

// MARK: Refusals

static void expect_refusal(int line, const char *text, fwd_status status, size_t offset) {
  fwd_cif *cif = NULL;
  fwd_error error = {FWD_OK, 0, ""};
  fwd_status given = make(text, &cif, &error);
  char expected[400];
  snprintf(expected, sizeof expected, "\"%.60s\" refused with %s at %zu, got %s at %zu: %s", text,
           fwd_status_name(status), offset, fwd_status_name(given), error.offset, error.message);
  check(given == status && !cif && error.status == status && error.offset == offset && error.message[0], line,
        expected);
}
#define EXPECT_REFUSAL(text, status, offset) expect_refusal(__LINE__, text, status, offset)

static void refusals(void) {
  EXPECT_REFUSAL("vi[4v]", FWD_UNSUPPORTED, 4);
  EXPECT_REFUSAL("[4i]", FWD_UNSUPPORTED, 0);
  EXPECT_REFUSAL("viv", FWD_UNSUPPORTED, 2);
  EXPECT_REFUSAL("v?", FWD_UNSUPPORTED, 1);
  EXPECT_REFUSAL("?i", FWD_UNSUPPORTED, 0);
  // `[0c]` may be a flexible array member. clang passes such structs in memory, and gcc in registers.
  EXPECT_REFUSAL("v{a=i[0c]}", FWD_UNSUPPORTED, 5);
  EXPECT_REFUSAL("{a=f{b=(c=[0i])}f}", FWD_UNSUPPORTED, 10);
  EXPECT_REFUSAL("vi{a=[1000000000c]}", FWD_OVERFLOW, 2);
  EXPECT_REFUSAL("{a=[1000000000c]}i", FWD_OVERFLOW, 0);
  EXPECT_REFUSAL("{a=[65537c]}i", FWD_OVERFLOW, 0);
  EXPECT_REFUSAL("v{a=[65536c]}i", FWD_OVERFLOW, 13);
  EXPECT_REFUSAL("v{a=[40000c]}{a=[40000c]}", FWD_OVERFLOW, 13);
  fwd_cif *cif;
  fwd_error error;
  // Opaque structs and bit-fields have no layout.
  EXPECT(make("v{opaque}", &cif, &error) == FWD_UNSUPPORTED);
  EXPECT(make("v{a=b3b5}", &cif, &error) == FWD_UNSUPPORTED);
  char text[300];
  memset(text, 'i', sizeof text);
  text[257] = '\0';
  EXPECT(make(text, &cif, &error) == FWD_OVERFLOW);
  text[256] = '\0';
  EXPECT(make(text, &cif, &error) == FWD_OK);
  fwd_cif_destroy(cif);
  EXPECT(make("v{a=[4000000000{e=}]c}", &cif, &error) == FWD_OK);
  fwd_cif_destroy(cif);
#if FWD_PLACES_SYSV
  // The struct has more than 16 bytes, so all compilers pass it in memory.
  EXPECT(make("v{a=[3q][0c]}^{a=i[0c]}", &cif, &error) == FWD_OK);
  fwd_cif_destroy(cif);
#endif
}

// MARK: The limits of what is passed by value

#if FWD_PLACES_SYSV

typedef struct largest {
  unsigned char bytes[FWD_BY_VALUE_LIMIT];
} largest;

static largest give_largest(largest value) {
  value.bytes[0]++;
  return value;
}

static void largest_values(void) {
  largest *value = calloc(2, sizeof *value), *result = value + 1;
  value->bytes[0] = 1;
  value->bytes[FWD_BY_VALUE_LIMIT - 1] = 2;
  call("{?=[65536C]}{?=[65536C]}", FUNCTION(give_largest), ARGUMENTS(value), result);
  EXPECT(result->bytes[0] == 2 && result->bytes[FWD_BY_VALUE_LIMIT - 1] == 2 && value->bytes[0] == 1);
  call("{?=[65536C]}{?=[65536C]}", FUNCTION(give_largest), ARGUMENTS(value), NULL);
  free(value);
}

#endif

// MARK: Failing allocations. The linker redirects the C target's calls (--wrap).

static _Thread_local size_t allocations_left = SIZE_MAX;
static bool allocation_fails(void) { return allocations_left != SIZE_MAX && allocations_left-- == 0; }

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size) { return allocation_fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return allocation_fails() ? NULL : __real_calloc(count, size);
}

static void count_release(void *owner) { (*(int *)owner)++; }

static void allocation_failure(void) {
  const char *text = "{?=qdq}i{a={b=[3f]}}D";
  fwd_encoding *encoding;
  fwd_error error;
  EXPECT(fwd_encoding_create(text, strlen(text), FWD_FORM_METHOD, &encoding, &error) == FWD_OK);
  fwd_cif *cif = NULL;
  size_t tries = 0;
  fwd_status status;
  do {
    allocations_left = tries++;
    status = fwd_cif_create(encoding, &cif, &error);
    allocations_left = SIZE_MAX;
    if (status != FWD_OK) EXPECT(status == FWD_NO_MEMORY && !cif && error.status == FWD_NO_MEMORY);
  } while (status != FWD_OK && tries < 100);
  EXPECT(tries > 1 && status == FWD_OK);
  int released = 0;
  fwd_closure *closure = NULL;
  allocations_left = 0;
  status = fwd_cif_closure_create(cif, take_aligned, NULL, count_release, &released,
                                  &closure, &error);
  allocations_left = SIZE_MAX;
  EXPECT(status == FWD_NO_MEMORY && !closure && released == 0);
  fwd_cif_destroy(cif);
  fwd_encoding_release(encoding);
}

/// Makes the system refuse executable mappings, as hardened hosts do.
static bool refuse_executable_mappings(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#if FWD_PLACES_SYSV
static void do_nothing(void *context, void *const *arguments, void *result) {
  (void)context, (void)arguments, (void)result;
}
#endif

static void executable_memory_refused(void) {
  enum { good = 0, bad = 1, cannot_tell = 2 };
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    // This process has made no closure yet, so libffi has allocated no executable pages.
    fwd_cif *cif = cif_of("v");
    fwd_closure *closure = NULL;
    fwd_error error;
    int released = 0;
    if (!refuse_executable_mappings()) _exit(cannot_tell);
    // Compiled entries need no such pages. libffi's closures do.
    fwd_status status = FWD_OK;
#if FWD_PLACES_SYSV
    if (!atomic_load(&fwd_libffi_is_forced)) {
      fwd_closure *pooled = NULL;
      status = fwd_cif_closure_create(cif, do_nothing, NULL, count_release, &released, &pooled, &error);
      if (status != FWD_OK) _exit(bad);
      fwd_closure_function(pooled)();
      fwd_closure_destroy(pooled);
      if (released != 1) _exit(bad);
      released = 0;
      fwd_use_libffi(true);
    }
#endif
    status = fwd_cif_closure_create(cif, take_aligned, NULL, count_release, &released, &closure, &error);
    bool refused = status == FWD_NO_EXECUTABLE_MEMORY && !closure && released == 0;
    _exit(refused && error.status == status && strstr(error.message, "executable") ? good : bad);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == cannot_tell) {
    printf("not tested here: executable memory refused (no seccomp)\n");
    return;
  }
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == good);
}

// MARK: The lifetime of closures

typedef struct closure_life {
  fwd_closure *closure;
  int calls;
  int released;
  int released_at_end;
} closure_life;

static void destroy_itself(void *context, void *const *arguments, void *result) {
  closure_life *life = context;
  life->calls++;
  fwd_closure_destroy(life->closure);
  // The call still runs: its arguments and its result are valid, and nothing has been released.
  life->released_at_end = life->released;
  *(int *)result = *(int *)arguments[0] + 1;
}

static void release_life(void *owner) { ((closure_life *)owner)->released++; }

static void destroyed_inside_its_own_call(void) {
  fwd_cif *cif = cif_of("ii");
  closure_life life = {NULL, 0, 0, 0};
  fwd_cif_closure_create(cif, destroy_itself, &life, release_life, &life, &life.closure, NULL);
  int (*function)(int) = (int (*)(int))fwd_closure_function(life.closure);
  // The closure retains what it needs of the call interface.
  fwd_cif_destroy(cif);
  EXPECT(function(41) == 42);
  EXPECT(life.calls == 1 && life.released == 1 && life.released_at_end == 0);
  // A call after the destruction runs no handler, returns zeros, and is counted.
  size_t stale = fwd_closure_stale_calls();
  EXPECT(function(41) == 0);
  EXPECT(life.calls == 1 && life.released == 1 && fwd_closure_stale_calls() == stale + 1);
}

static void stale_results_are_zeros(void) {
  fwd_closure *closure = closure_of("{large=[5q]}", take_aligned, NULL);
  large (*function)(void) = (large(*)(void))fwd_closure_function(closure);
  fwd_closure_destroy(closure);
  large value = function(), zeros = {{0}};
  EXPECT(memcmp(&value, &zeros, sizeof value) == 0);
}

static void destroy_while_running(void *context, void *const *arguments, void *result) {
  closure_life *life = context;
  int depth = *(int *)arguments[0];
  life->calls++;
  if (depth == 0) {
    fwd_closure_destroy(life->closure);
  } else {
    // The innermost call destroys the closure. The outer calls go on, and may still use the context.
    ((int (*)(int))fwd_closure_function(life->closure))(depth - 1);
    EXPECT(life->released == 0);
  }
  *(int *)result = depth;
}

static void destroyed_inside_nested_calls(void) {
  fwd_cif *cif = cif_of("ii");
  closure_life life = {NULL, 0, 0, 0};
  fwd_cif_closure_create(cif, destroy_while_running, &life, release_life, &life, &life.closure, NULL);
  fwd_cif_destroy(cif);
  EXPECT(((int (*)(int))fwd_closure_function(life.closure))(3) == 3);
  EXPECT(life.calls == 4 && life.released == 1);
}

static void addresses_are_not_reused_at_once(void) {
  fwd_closure *closure = closure_of("ii", take_aligned, NULL);
  void (*function)(void) = fwd_closure_function(closure);
  fwd_closure_destroy(closure);
  bool reused = false;
  for (int i = 0; i < 250; i++) {
    closure = closure_of("ii", take_aligned, NULL);
    reused = reused || fwd_closure_function(closure) == function;
    fwd_closure_destroy(closure);
  }
  EXPECT(!reused);
  // Later they are reused, so that memory is bounded.
  for (int i = 0; i < 2000 && !reused; i++) {
    closure = closure_of("ii", take_aligned, NULL);
    reused = fwd_closure_function(closure) == function;
    fwd_closure_destroy(closure);
  }
  EXPECT(reused);
}

// MARK: Entries

typedef struct integer_pair {
  int64_t first, second;
} integer_pair;
typedef struct double_pair {
  double first, second;
} double_pair;
typedef struct double_integer {
  double first;
  int64_t second;
} double_integer;
typedef struct integer_double {
  int64_t first;
  double second;
} integer_double;

// Uses all registers that quick entries store and all copies that they make. The last pair is in an odd and an even
// register.
typedef double (*crowded)(int64_t, double_integer, integer_double, integer_pair);

static double inner_sum;

static double crowd(crowded function, int64_t base) {
  return function(base, (double_integer){(double)base + 0.5, base + 1},
                  (integer_double){base + 2, (double)base + 0.25},
                  (integer_pair){base + 3, base + 4});
}

static void take_crowd(void *context, void *const *arguments, void *result) {
  int64_t base = *(int64_t *)arguments[0];
  const double_integer *first = arguments[1];
  const integer_double *second = arguments[2];
  const integer_pair *third = arguments[3];
  EXPECT((uintptr_t)third % _Alignof(integer_pair) == 0);
  // A nested call: the thread's first hazard pointer is in use, so the entry calls a function to find another one, and
  // must preserve the argument registers around that call.
  if (base == 100) inner_sum = crowd((crowded)fwd_closure_function(*(fwd_closure **)context), 200);
  EXPECT(first->first == (double)base + 0.5 && first->second == base + 1);
  EXPECT(second->first == base + 2 && second->second == (double)base + 0.25);
  EXPECT(third->first == base + 3 && third->second == base + 4);
  *(double *)result = (double)base + 0.125;
}

static void all_registers_of_quick_entries(void) {
  fwd_closure *closure = NULL;
  closure = closure_of("dq{a=dq}{b=qd}{c=qq}", take_crowd, &closure);
  inner_sum = 0;
  EXPECT(crowd((crowded)fwd_closure_function(closure), 100) == 100.125);
  EXPECT(inner_sum == 200.125);
  fwd_closure_destroy(closure);
}

/// Adds the argument to the number that the context points to, as integers.
static void add_integers(void *context, void *const *arguments, void *result) {
  int64_t sum = *(int64_t *)context + *(int64_t *)arguments[0];
  memcpy(result, &sum, sizeof sum);
}

/// Adds the argument to the number that the context points to, as doubles.
static void add_doubles(void *context, void *const *arguments, void *result) {
  double sum = (double)*(int64_t *)context + *(double *)arguments[0];
  memcpy(result, &sum, sizeof sum);
}

/// Adds the argument to the number that the context points to.
static void count_integer(void *context, void *const *arguments, void *result) {
  (void)result;
  *(int64_t *)context += *(int64_t *)arguments[0];
}

/// Makes so many closures that the quick entries, the full entries and then some of libffi's closures are used. Bytes
/// of the result that a handler does not write must be 0 with each kind.
static void pools_run_out(void) {
  enum { kinds = 5, count = 1100 };
  static const char *const encodings[kinds] = {"qq", "{p=qq}q", "{p=dd}d", "{large=[5q]}q", "vq"};
  static const fwd_closure_handler handlers[kinds] = {add_integers, add_integers, add_doubles, add_integers, count_integer};
  static fwd_closure *closures[kinds][count];
  static int64_t numbers[count];
  size_t wrong = 0;
  for (int i = 0; i < count; i++) {
    numbers[i] = 1000 * i;
    for (int k = 0; k < kinds; k++) {
      closures[k][i] = closure_of(encodings[k], handlers[k], &numbers[i]);
    }
  }
  for (int i = 0; i < count; i++) {
    void (*functions[kinds])(void);
    for (int k = 0; k < kinds; k++) functions[k] = fwd_closure_function(closures[k][i]);
    int64_t sum = numbers[i] + 7;
    integer_pair integers = ((integer_pair(*)(int64_t))functions[1])(7);
    double_pair doubles = ((double_pair(*)(double))functions[2])(7);
    large memory = ((large(*)(int64_t))functions[3])(7), expected = {{sum}};
    if (((int64_t(*)(int64_t))functions[0])(7) != sum) wrong++;
    if (integers.first != sum || integers.second != 0) wrong++;
    if (doubles.first != (double)sum || doubles.second != 0) wrong++;
    if (memcmp(&memory, &expected, sizeof memory) != 0) wrong++;
    // Last, since it changes the number.
    ((void (*)(int64_t))functions[4])(7);
    if (numbers[i] != sum) wrong++;
  }
  EXPECT(wrong == 0);
  for (int k = 0; k < kinds; k++) {
    for (int i = 0; i < count; i++) fwd_closure_destroy(closures[k][i]);
  }
}

// MARK: Threads

enum { thread_count = 3, rounds = 400, calls_in_a_round = 1000 };

typedef struct closure_race {
  fwd_closure *closure;
  int (*function)(int);
  /// The handler reads it and the release writes it, so that a handler which runs too late is a data race.
  int alive;
  atomic_int calls;
  atomic_int released;
} closure_race;

static void read_alive(void *context, void *const *arguments, void *result) {
  closure_race *race = context;
  // The closure may have been destroyed meanwhile. The context is still valid during this call.
  *(int *)result = race->alive + *(int *)arguments[0];
}

static void end_race(void *owner) {
  closure_race *race = owner;
  race->alive = -1;
  atomic_fetch_add(&race->released, 1);
}

static void *call_through_the_end(void *argument) {
  closure_race *race = argument;
  intptr_t wrong = 0;
  for (int i = 0; i < calls_in_a_round; i++) {
    int value = race->function(5);
    if (value != 6 && value != 0) wrong++;
    atomic_fetch_add_explicit(&race->calls, 1, memory_order_relaxed);
  }
  return (void *)wrong;
}

static void destroyed_while_other_threads_call(void) {
  fwd_cif *cif = cif_of("ii");
  for (int round = 0; round < rounds; round++) {
    closure_race race = {.alive = 1};
    fwd_cif_closure_create(cif, read_alive, &race, end_race, &race, &race.closure, NULL);
    race.function = (int (*)(int))fwd_closure_function(race.closure);
    pthread_t threads[thread_count];
    for (int i = 0; i < thread_count; i++) pthread_create(&threads[i], NULL, call_through_the_end, &race);
    // Destroys the closure at a different time in each round.
    while (atomic_load_explicit(&race.calls, memory_order_relaxed) < round % 50 * 40) sched_yield();
    fwd_closure_destroy(race.closure);
    for (int i = 0; i < thread_count; i++) {
      void *wrong = NULL;
      pthread_join(threads[i], &wrong);
      if (wrong) EXPECT(!wrong);
    }
    if (atomic_load(&race.released) != 1) EXPECT(race.released == 1);
  }
  fwd_cif_destroy(cif);
  EXPECT(true);
}

static void *create_and_call(void *argument) {
  fwd_encoding *encoding = argument;
  intptr_t wrong = 0;
  for (int i = 0; i < rounds; i++) {
    fwd_cif *cif;
    fwd_error error;
    if (fwd_cif_create(encoding, &cif, &error) != FWD_OK) return (void *)(intptr_t)-1;
    large value = {{1, 2, 3, 4, i}}, result;
    int after = 0;
    fwd_cif_call(cif, FUNCTION(give_large), ARGUMENTS(&value, &after), &result);
    if (result.values[4] != i) wrong++;
    fwd_closure *closure;
    if (fwd_cif_closure_create(cif, take_aligned, NULL, NULL, NULL, &closure, &error) == FWD_OK)
      fwd_closure_destroy(closure);
    fwd_cif_destroy(cif);
  }
  return (void *)wrong;
}

static void types_shared_by_threads(void) {
  const char *text = "{large=[5q]}{large=[5q]}i";
  fwd_encoding *encoding;
  fwd_error error;
  EXPECT(fwd_encoding_create(text, strlen(text), FWD_FORM_METHOD, &encoding, &error) == FWD_OK);
  pthread_t threads[thread_count];
  for (int i = 0; i < thread_count; i++) pthread_create(&threads[i], NULL, create_and_call, encoding);
  for (int i = 0; i < thread_count; i++) {
    void *wrong = NULL;
    pthread_join(threads[i], &wrong);
    EXPECT(!wrong);
  }
  fwd_encoding_release(encoding);
}

// MARK: Which calls use jumps

#if FWD_PLACES_SYSV
static bool jumps(const char *text) {
  fwd_cif *cif = cif_of(text);
  bool found = *fwd_cif_call_head(cif).head.jump != NULL;
  fwd_cif_destroy(cif);
  return found;
}

/// Checks which signatures have jumps. A call without a jump would be correct, too, so the other tests do not notice.
static void common_shapes_are_reached_by_jumps(void) {
  bool forced = atomic_load(&fwd_libffi_is_forced);
  fwd_use_libffi(false);
  EXPECT(jumps("v") && jumps("v@:") && jumps("v^vqd") && jumps("q^vqdifq") && jumps("vqqqqdd") && jumps("viiiiff"));
  EXPECT(jumps("B@:@") && jumps("s@:") && jumps("i@:i") && jumps("^v@:"));
  EXPECT(jumps("d@:") && jumps("{p=qd}@:") && jumps("{three=ccc}@:") && jumps("{p=ffi}@:"));
  EXPECT(jumps("{p=qqq}@:i") && jumps("{p=qqq}") && jumps("{p=qqq}qqqf"));
  // With stack words.
  EXPECT(jumps("v@:qqqqqq") && jumps("i@:iiiiii") && jumps("dqdqdqdqdqdqdqdqd") && jumps("v{four=qqqq}") && jumps("v@:qqqqiif"));
  EXPECT(!jumps("v@:qqqqBB") && !jumps("{p=qqq}qqqqqqqq") && !jumps("{p=qq}qqqqqqqq") && !jumps("v{large=[20q]}"));
  // No jumps: results in two registers of one kind, arguments of less than 4 bytes, more registers.
  EXPECT(!jumps("{p=qq}@:") && !jumps("{p=dd}@:") && !jumps("v@:B"));
  EXPECT(!jumps("v@:qqq") && !jumps("vddd") && !jumps("{p=qqq}@:qq") && !jumps("{p=qqq}@:ff"));
  fwd_use_libffi(true);
  EXPECT(!jumps("v") && !jumps("q^vqdifq") && !jumps("vqqqqdd"));
  fwd_use_libffi(forced);
  EXPECT(jumps("v") != forced && jumps("q^vqdifq") != forced);
}
#endif

#if FWD_PLACES_SYSV
static uint64_t taken_integers[4];
static double taken_vectors[2];

static void take(uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3, double v0, double v1) {
  uint64_t integers[4] = {i0, i1, i2, i3};
  double vectors[2] = {v0, v1};
  memcpy(taken_integers, integers, sizeof integers);
  memcpy(taken_vectors, vectors, sizeof vectors);
}
static uint64_t give_word(uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3, double v0, double v1) {
  take(i0, i1, i2, i3, v0, v1);
  return 0x1122334455667788;
}
static double give_double(uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3, double v0, double v1) {
  take(i0, i1, i2, i3, v0, v1);
  return 2.5;
}
typedef struct three_words {
  uint64_t words[3];
} three_words;
static three_words give_three(uint64_t i0, uint64_t i1, uint64_t i2, double v0, double v1) {
  take(i0, i1, i2, 0, v0, v1);
  return (three_words){{7, 8, 9}};
}

static bool has_been_called;
static void note_call(void) { has_been_called = true; }

/// Whether a call is an error if one argument has no address, or if none has. Such a call must neither call the
/// function nor write the result.
static bool refuses(const fwd_signature *signature, const void **arguments, size_t count, void *result) {
  unsigned char before[24] = {0};
  fwd_layout layout;
  fwd_signature_result(signature, &layout);
  if (result) memcpy(before, result, layout.size);
  has_been_called = false;
  bool good = true;
  size_t present = 0;
  for (size_t i = 0; i < count; i++) {
    const void *kept = arguments[i];
    if (!kept) continue;
    present++;
    arguments[i] = NULL;
    good = good && fwd_call(signature, FUNCTION(note_call), (void *const *)arguments, result) == FWD_NULL_ARGUMENT;
    arguments[i] = kept;
  }
  if (present > 0) good = good && fwd_call(signature, FUNCTION(note_call), NULL, result) == FWD_NULL_ARGUMENT;
  return good && !has_been_called && (!result || memcmp(before, result, layout.size) == 0);
}

/// Makes a call with arguments of `types`, and checks each register that the callee gets.
static bool loads(const char *result_type, const char *types, void (*function)(void), void *result) {
  static const uint64_t integers[4] = {0xA1A2A3A4A5A6A7A8, 0xB1B2B3B4B5B6B7B8, 0xC1C2C3C4C5C6C7C8, 0xD1D2D3D4D5D6D7D8};
  static const double vectors[2] = {1.25, -3.5};
  static const float floats[2] = {6.75f, 0.375f};
  char text[4096];
  const void *arguments[FWD_ARGUMENT_LIMIT];
  size_t count = 0, integer_count = 0, vector_count = 0;
  snprintf(text, sizeof text, "%s%s", result_type, types);
  for (const char *type = types; *type; type++) {
    switch (*type) {
      case 'i':
      case 'q': arguments[count++] = &integers[integer_count++]; break;
      case 'f': arguments[count++] = &floats[vector_count++]; break;
      case 'd': arguments[count++] = &vectors[vector_count++]; break;
      case '}': arguments[count++] = NULL; break;
      default: break;
    }
  }
  fwd_signature *signature = NULL;
  if (fwd_signature_create(text, strlen(text), &signature, NULL) != FWD_OK) return false;
  memset(taken_integers, 0, sizeof taken_integers);
  memset(taken_vectors, 0, sizeof taken_vectors);
  // With a result in memory, jumps load one vector register at most.
  bool has_jump = *result_type != '{' || vector_count <= 1;
  bool good = jumps(text) == has_jump && refuses(signature, arguments, count, result);
  good = good && fwd_call(signature, function, (void *const *)arguments, result) == FWD_OK;
  fwd_signature_release(signature);
  size_t integer = 0, vector = 0;
  for (const char *type = types; *type; type++) {
    if (*type == 'q') good = good && taken_integers[integer] == integers[integer];
    if (*type == 'i') good = good && (uint32_t)taken_integers[integer] == (uint32_t)integers[integer];
    if (*type == 'd') good = good && taken_vectors[vector] == vectors[vector];
    if (*type == 'f') good = good && memcmp(&taken_vectors[vector], &floats[vector], sizeof(float)) == 0;
    integer += *type == 'q' || *type == 'i';
    vector += *type == 'd' || *type == 'f';
  }
  if (!good) printf("%s: wrong registers\n", text);
  return good;
}

static bool loads_in_all_ways(const char *types, size_t integer_count) {
  uint64_t word = 0;
  double real = 0;
  three_words three = {{0}};
  bool good = loads("v", types, FUNCTION(take), NULL);
  good = loads("q", types, FUNCTION(give_word), &word) && word == 0x1122334455667788 && good;
  good = loads("d", types, FUNCTION(give_double), &real) && real == 2.5 && good;
  if (integer_count > 3) return good;
  // A result in memory also needs memory if the caller does not want it.
  return loads("{three=qqq}", types, FUNCTION(give_three), &three) && three.words[2] == 9 &&
         loads("{three=qqq}", types, FUNCTION(give_three), NULL) && good;
}

/// Checks the registers of every shape that has a jump, and of some that have none.
static void every_shape_loads_its_registers(void) {
  if (atomic_load(&fwd_libffi_is_forced)) return;
  for (size_t integer_count = 0; integer_count <= 4; integer_count++) {
    for (size_t vector_count = 0; vector_count <= 2; vector_count++) {
      for (size_t mask = 0; mask < (size_t)1 << (integer_count + vector_count); mask++) {
        // In two orders: integers first, and vectors first.
        char types[2][8] = {{0}};
        for (size_t i = 0; i < integer_count + vector_count; i++) {
          bool is_wide = (mask >> i) & 1, is_integer = i < integer_count;
          char type = is_integer ? (is_wide ? 'q' : 'i') : is_wide ? 'd' : 'f';
          types[0][i] = type;
          types[1][is_integer ? vector_count + i : i - integer_count] = type;
        }
        EXPECT(loads_in_all_ways(types[0], integer_count) && loads_in_all_ways(types[1], integer_count));
        // Behind an argument without bytes, so that no jump is straight.
        char behind[16];
        snprintf(behind, sizeof behind, "{e=}%s", types[0]);
        EXPECT(loads_in_all_ways(behind, integer_count));
      }
    }
  }
  // The numbers of the last arguments need all 8 bits of their byte.
  char types[2048] = "";
  for (int i = 0; i < FWD_ARGUMENT_LIMIT - 4; i++) strcat(types, "{e=}");
  strcat(types, "iqfd");
  EXPECT(loads_in_all_ways(types, 2));
}
#endif

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  // First, since it needs a process without closures.
  executable_memory_refused();
#if FWD_PLACES_SYSV
  mixed_struct_on_last_integer_register();
  x87_results();
  small_integers_in_calls();
  small_results_of_closures();
  union_by_all_members();
  never_split_between_registers_and_stack();
  largest_values();
#endif
#if FWD_PLACES_SYSV
  common_shapes_are_reached_by_jumps();
  every_shape_loads_its_registers();
#endif
  argument_array_is_left_alone();
  empty_struct_passes_nothing();
  refusals();
  allocation_failure();
  destroyed_inside_its_own_call();
  stale_results_are_zeros();
  destroyed_inside_nested_calls();
  addresses_are_not_reused_at_once();
  all_registers_of_quick_entries();
  pools_run_out();
  destroyed_while_other_threads_call();
  types_shared_by_threads();
  printf("%zu passed, %zu failed\n", passed, failed);
  return failed > 0;
}
