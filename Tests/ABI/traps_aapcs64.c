// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Fixed tests: one for each rule of the AAPCS64 that is easily missed, and the limits of callers, which random
/// signatures do not reach. Each call is made by a call plan, and by libffi if the library describes registers to it
/// (pieces.h).

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/plan.h"
#include "call/call_interface.h"

#if !FWD_IS_AAPCS64
#error "for AArch64"
#endif

static size_t passed, failed;

static void check(bool good, int line, const char *expected) {
  if (good) {
    passed++;
  } else {
    failed++;
    printf("traps_aapcs64.c:%d: expected %s\n", line, expected);
  }
}
#define EXPECT(condition) check((condition), __LINE__, #condition)

static bool by_libffi;

/// Creates the plan of a signature. If there is none, writes NULL and returns a status.
static fwd_status make_plan(const fwd_encoding *encoding, fwd_call_plan **plan, fwd_error *error) {
  fwd_placement *placement = NULL;
  fwd_status status = fwd_placement_create(encoding, &placement, error);
  if (status == FWD_OK) status = fwd_call_plan_create(placement, encoding, plan, error);
  free(placement);
  return status;
}

static void call(const char *text, void (*function)(void), void *const *arguments, void *result) {
  fwd_encoding *encoding;
  fwd_cif *cif = NULL;
  fwd_call_plan *plan = NULL;
  fwd_error error;
  fwd_status status = fwd_encoding_create(text, strlen(text), FWD_FORM_METHOD, &encoding, &error);
  if (status == FWD_OK) {
    status = by_libffi ? fwd_cif_create(encoding, &cif, &error) : make_plan(encoding, &plan, &error);
  }
  if (cif) {
    fwd_cif_call(cif, function, arguments, result);
    fwd_cif_destroy(cif);
  } else if (plan) {
    plan->unchecked(plan, function, arguments, result);
    free(plan);
  } else {
    printf("%s\n0 passed, 1 failed\n", status == FWD_OK ? "no plan" : error.message);
    exit(1);
  }
  fwd_encoding_release(encoding);
}

#define ARGUMENTS(...) ((void *[]){__VA_ARGS__})
#define FUNCTION(name) ((void (*)(void))(name))

__extension__ typedef __int128 wide_integer;

// MARK: Composites by reference

typedef struct triple {
  long values[3];
} triple;

static long got[4];

// Writes to its parameters. A callee may do so, since it owns the copies.
static triple spoil(triple first, long a, long b, long c, long d, long e, long f, long g, triple last) {
  got[0] = first.values[0] + first.values[2], got[1] = last.values[0] + last.values[2];
  got[2] = a + b + c + d + e + f + g;
  volatile long *own = first.values;
  own[0] = own[1] = own[2] = -1;
  own = last.values;
  own[0] = own[1] = own[2] = -1;
  return (triple){{7, 8, 9}};
}

static void copies_are_the_callees_own(void) {
  triple value = {{1, 2, 3}}, result;
  long one = 1;
  // The same value twice. The address of one copy is in x0, and that of the other one on the stack.
  void *const arguments[] = {&value, &one, &one, &one, &one, &one, &one, &one, &value};
  const char *text = "{triple=[3q]}{triple=[3q]}qqqqqqq{triple=[3q]}";
  call(text, FUNCTION(spoil), arguments, &result);
  EXPECT(got[0] == 4 && got[1] == 4 && got[2] == 7);
  EXPECT(value.values[0] == 1 && value.values[1] == 2 && value.values[2] == 3);
  EXPECT(result.values[0] == 7 && result.values[1] == 8 && result.values[2] == 9);
  // x8 must point to memory although the caller does not want the result.
  call(text, FUNCTION(spoil), arguments, NULL);
  EXPECT(got[0] == 4 && got[1] == 4 && value.values[0] == 1);
}

typedef struct aligned_triple {
  wide_integer wide;
  long value;
} aligned_triple;

static void take_aligned(long a, long b, long c, long d, long e, long f, long g, long h, long first,
                         aligned_triple value, long last) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  got[0] = first, got[1] = (long)value.wide, got[2] = value.value, got[3] = last;
}

static void addresses_on_the_stack_are_words(void) {
  // libffi 3.4.4 gives the address of the copy the alignment of the struct, so it skips a stack word.
  long one = 1, last = 4;
  aligned_triple value = {2, 3};
  call("vqqqqqqqqq{aligned=tq}q", FUNCTION(take_aligned),
       ARGUMENTS(&one, &one, &one, &one, &one, &one, &one, &one, &one, &value, &last), NULL);
  EXPECT(got[0] == 1 && got[1] == 2 && got[2] == 3 && got[3] == 4);
}

// MARK: Registers

static wide_integer got_wide;
static void take_wide(int first, wide_integer wide, int after) {
  got[0] = first, got_wide = wide, got[1] = after;
}
static void take_wide_last(long a, long b, long c, long d, long e, long f, long g, wide_integer wide,
                           long last) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g;
  got_wide = wide, got[0] = last;
}

static void even_registers(void) {
  int first = -1, after = 2;
  long one = 1, last = 9;
  wide_integer wide = ((wide_integer)5 << 64) + 6;
  call("vitI", FUNCTION(take_wide), ARGUMENTS(&first, &wide, &after), NULL);
  EXPECT(got[0] == -1 && got_wide == wide && got[1] == 2);
  // The wide integer needs an even register, so it skips x7 and goes to the stack. No later argument uses x7.
  call("vqqqqqqqtq", FUNCTION(take_wide_last),
       ARGUMENTS(&one, &one, &one, &one, &one, &one, &one, &wide, &last), NULL);
  EXPECT(got_wide == wide && got[0] == 9);
}

typedef struct floats {
  float values[3];
} floats;
static floats got_floats;
static float got_float;
static void take_floats(double a, double b, double c, double d, double e, double f, floats value, float last) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  got_floats = value, got_float = last;
}

static void never_split_between_registers_and_stack(void) {
  double d = 1;
  floats value = {{1.5F, 2.5F, 3.5F}};
  float last = 4.5F;
  call("vdddddd{floats=[3f]}f", FUNCTION(take_floats), ARGUMENTS(&d, &d, &d, &d, &d, &d, &value, &last), NULL);
  EXPECT(memcmp(&got_floats, &value, sizeof value) == 0 && got_float == 4.5F);
}

typedef union homogeneous {
  struct {
    float first;
    float _Complex second;
  } parts;
  float values[2];
} homogeneous;
static homogeneous give_homogeneous(homogeneous value) {
  value.values[0] += 1;
  return value;
}

typedef struct quads {
  long double values[4];
} quads;
static quads give_quads(quads value) {
  value.values[3] += 1;
  return value;
}

static void homogeneous_aggregates(void) {
  homogeneous value = {.parts = {1, 2}}, result;
  call("(?={?=fjf}[2f])(?={?=fjf}[2f])", FUNCTION(give_homogeneous), ARGUMENTS(&value), &result);
  EXPECT(result.values[0] == 2 && result.values[1] == 2);
  quads four = {{1, 2, 3, 4}}, given;
  call("{quads=[4D]}{quads=[4D]}", FUNCTION(give_quads), ARGUMENTS(&four), &given);
  EXPECT(given.values[0] == 1 && given.values[3] == 5);
  call("{quads=[4D]}{quads=[4D]}", FUNCTION(give_quads), ARGUMENTS(&four), NULL);
}

static bool has_plan(const char *text) {
  fwd_encoding *encoding;
  fwd_call_plan *plan = NULL;
  fwd_error error;
  EXPECT(fwd_encoding_create(text, strlen(text), FWD_FORM_METHOD, &encoding, &error) == FWD_OK);
  fwd_status status = make_plan(encoding, &plan, &error);
  EXPECT(status == FWD_OK || status == FWD_UNSUPPORTED);
  fwd_encoding_release(encoding);
  bool is_there = plan != NULL;
  free(plan);
  return is_there;
}

static void compilers_differ(void) {
  // gcc treats these as homogeneous aggregates, and clang does not.
  EXPECT(!has_plan("v{?=[3d][0d]}"));
  EXPECT(!has_plan("{?=Aff}"));
  EXPECT(!has_plan("vi(?=f{?=[2Af]})"));
  // These are homogeneous for no compiler, and for both.
  EXPECT(has_plan("v{?=[3q][0d]}{?=Ai}Af"));
  EXPECT(has_plan("v{?=[3d]{?=}}"));
}

// MARK: Limits

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
  free(value);
}

// Lists of 255 parameters p0_00 to p5_04, and the sum of one member of each.
#define LIST_5(item, i) item(i##0), item(i##1), item(i##2), item(i##3), item(i##4)
#define LIST_10(item, i) LIST_5(item, i), item(i##5), item(i##6), item(i##7), item(i##8), item(i##9)
#define LIST_50(item, i) \
  LIST_10(item, i##0), LIST_10(item, i##1), LIST_10(item, i##2), LIST_10(item, i##3), LIST_10(item, i##4)
#define LIST_255(item) \
  LIST_50(item, 0_), LIST_50(item, 1_), LIST_50(item, 2_), LIST_50(item, 3_), LIST_50(item, 4_), \
      LIST_5(item, 5_0)
#define QUADS(i) quads p##i
#define TRIPLE(i) triple p##i
#define WORD(i) long p##i
#define ADD_QUADS(i) (sum = 3 * sum + (unsigned long)p##i.values[3])
#define ADD_TRIPLE(i) (sum = 3 * sum + (unsigned long)p##i.values[2])
#define ADD_WORD(i) (sum = 3 * sum + (unsigned long)p##i)
static unsigned long sum;
static quads take_all_quads(LIST_255(QUADS)) { return LIST_255(ADD_QUADS), p5_04; }
static triple take_all_triples(LIST_255(TRIPLE)) { return LIST_255(ADD_TRIPLE), p5_04; }
static long take_all_words(LIST_255(WORD)) { return LIST_255(ADD_WORD), p5_04; }

static void all_arguments(const char *type, size_t size, void (*function)(void)) {
  size_t length = strlen(type);
  char *text = calloc(256, length + 1);
  unsigned char *values = calloc(256, size), *result = values + 255 * size;
  void *arguments[255];
  unsigned long expected = 0;
  memcpy(text, type, length);
  for (size_t i = 0; i < 255; i++) {
    memcpy(text + (i + 1) * length, type, length);
    arguments[i] = values + i * size;
    // Sets the last member, which the callee adds.
    if (size == sizeof(quads)) {
      ((quads *)arguments[i])->values[3] = (long double)(i + 1);
    } else {
      memcpy(values + (i + 1) * size - 8, &(size_t){i + 1}, 8);
    }
    expected = 3 * expected + i + 1;
  }
  sum = 0;
  call(text, function, arguments, result);
  EXPECT(sum == expected);
  EXPECT(memcmp(result, arguments[254], size) == 0);
  free(text);
  free(values);
}

static void all(void) {
  copies_are_the_callees_own();
  addresses_on_the_stack_are_words();
  even_registers();
  never_split_between_registers_and_stack();
  homogeneous_aggregates();
  compilers_differ();
  largest_values();
  all_arguments("{quads=[4D]}", sizeof(quads), FUNCTION(take_all_quads));
  all_arguments("{triple=[3q]}", sizeof(triple), FUNCTION(take_all_triples));
  all_arguments("q", sizeof(long), FUNCTION(take_all_words));
}

int main(void) {
  all();
#if FWD_PLACES_AAPCS64
  by_libffi = true;
  fwd_use_libffi(true);
  all();
#endif
  printf("%zu passed, %zu failed\n", passed, failed);
  return failed > 0;
}
