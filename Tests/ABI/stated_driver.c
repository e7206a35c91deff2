// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tests types whose encodings do not carry their layout: as arguments and results of functions of both compilers,
/// by call plans or through libffi, as FWD_CALL has it; and statements that are wrong.

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fwd_signature.h"
#include "stated_case.h"

unsigned char stated_sent[STATED_VALUES][STATED_BYTES], stated_got[STATED_VALUES][STATED_BYTES];
long stated_words[16];
double stated_doubles[16];

static size_t passed, failed;

static void check(bool good, const char *what, const char *expected) {
  if (good) {
    passed++;
  } else {
    failed++;
    printf("%s: expected %s\n", what, expected);
  }
}

#if defined(__x86_64__)
enum { refused_here = REFUSED_ON_X86_64 };
#else
enum { refused_here = REFUSED_ON_AARCH64 };
#endif

// MARK: Signatures

/// `%` stands for the type.
static const char *const shapes[STATED_SHAPES] = {
    "%q%qd%%",
    "%qqqqqddddddd%q%dq%q",
    "%qqqqqqqdddddd%q%d%q",
};
/// The arguments that are of the type, and the sums that the rest arrive as.
static const size_t places[STATED_SHAPES][3] = {{1, 4, 5}, {12, 14, 17}, {13, 15, 17}};
static const long word_sums[STATED_SHAPES][4] = {{1, 2}, {15, 6, 7, 8}, {28, 8, 9}};
static const double double_sums[STATED_SHAPES][2] = {{0.5}, {28, 0.5}, {21, 0.5}};

static fwd_status make(const stated_case *self, size_t shape, fwd_signature **signature, fwd_error *error) {
  char text[1024] = "";
  for (const char *at = shapes[shape]; *at; at++) {
    if (*at == '%') {
      strcat(text, self->encoding);
    } else {
      strncat(text, at, 1);
    }
  }
  return fwd_signature_create_stating(text, strlen(text), self->layouts, self->count, signature, error);
}

// MARK: Values

static uint64_t random_state = 88172645463325252;

static void fill(void) {
  for (size_t value = 0; value < STATED_VALUES; value++) {
    for (size_t i = 0; i < STATED_BYTES; i++) {
      random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
      stated_sent[value][i] = (unsigned char)(random_state >> 32);
    }
  }
  memset(stated_got, 0, sizeof stated_got);
  memset(stated_words, 0, sizeof stated_words);
  memset(stated_doubles, 0, sizeof stated_doubles);
}

static bool arrived(const stated_case *self, size_t value) {
  unsigned char mask[STATED_BYTES] = {0};
  self->mark(mask);
  for (size_t i = 0; i < self->size; i++) {
    if ((stated_sent[value][i] ^ stated_got[value][i]) & mask[i]) return false;
  }
  return true;
}

static bool all_arrived(const stated_case *self, size_t shape) {
  for (size_t value = 0; value < STATED_VALUES; value++) {
    if (!arrived(self, value)) return false;
  }
  return memcmp(stated_words, word_sums[shape], sizeof word_sums[shape]) == 0 &&
         memcmp(stated_doubles, double_sums[shape], sizeof double_sums[shape]) == 0;
}

// MARK: Calls

static void call(const stated_case *self, size_t shape, const fwd_signature *signature) {
  long word = 0, words[20];
  double number = 0, numbers[20];
  size_t word_count = 0, number_count = 0, value = 0;
  void *arguments[32];
  size_t count = fwd_signature_argument_count(signature);
  const char *letter = shapes[shape] + 1;
  for (size_t i = 0; i < count; i++, letter++) {
    bool is_middle = letter[0] == 'd' && letter[-1] == '%';
    if (*letter == '%') {
      arguments[i] = stated_sent[value++];
    } else if (*letter == 'q') {
      words[word_count] = ++word;
      arguments[i] = &words[word_count++];
    } else {
      // The one among the values is 0.5; the others count.
      bool counts = shape > 0 && !is_middle;
      numbers[number_count] = counts ? ++number : 0.5;
      arguments[i] = &numbers[number_count++];
    }
  }
  _Alignas(16) unsigned char result[STATED_BYTES];
  memset(result, 0x77, sizeof result);
  fwd_status status = fwd_call(signature, self->callees[shape], arguments, result);
  memcpy(stated_got[3], result, self->size);
  bool is_whole = result[self->size] == 0x77;
  check(status == FWD_OK && is_whole && all_arrived(self, shape), self->name, shapes[shape]);
  check(fwd_call(signature, self->callees[shape], arguments, NULL) == FWD_OK, self->name, "a call without a result");
}

typedef struct receiver {
  const stated_case *self;
  size_t shape;
  bool is_aligned;
} receiver;

static void receive(void *context, void *const *arguments, void *result) {
  receiver *to = context;
  size_t size = to->self->size;
  to->is_aligned = (uintptr_t)result % to->self->alignment == 0;
  for (size_t i = 0; i < 3; i++) {
    const void *value = arguments[places[to->shape][i]];
    if ((uintptr_t)value % to->self->alignment != 0) to->is_aligned = false;
    memcpy(stated_got[i], value, size);
  }
  // The sums that a C function would have.
  const char *letter = shapes[to->shape] + 1;
  bool in_front = true;
  size_t word = 0, number = 0;
  for (size_t i = 0; *letter; i++, letter++) {
    if (*letter == '%') {
      if (in_front && to->shape > 0) word++, number++;
      in_front = false;
    } else if (*letter == 'q') {
      stated_words[word] += *(const long *)arguments[i];
      if (!in_front || to->shape == 0) word++;
    } else {
      stated_doubles[number] += *(const double *)arguments[i];
    }
  }
  memcpy(result, stated_sent[3], size);
}

static void receive_calls(const stated_case *self, size_t shape, const fwd_signature *signature) {
  receiver to = {self, shape, false};
  fwd_closure *closure;
  if (fwd_closure_create(signature, receive, &to, &closure, NULL) != FWD_OK) {
    check(false, self->name, "a closure");
    return;
  }
  self->callers[shape](fwd_closure_function(closure));
  fwd_closure_destroy(closure);
  check(all_arrived(self, shape), self->name, "all to arrive in the closure");
  check(to.is_aligned, self->name, "aligned arguments");
}

// MARK: Cases

static void test_layout(const stated_case *self) {
  fwd_layout layout = {0, 0, 0};
  fwd_error error = {FWD_OK, 0, ""};
  fwd_status status = fwd_type_layout_stating(self->encoding, strlen(self->encoding), self->layouts, self->count,
                                              &layout, &error);
  bool is_insufficient = status == FWD_UNSUPPORTED && self->refused == REFUSED;
  check((status == FWD_OK && layout.size == self->size && layout.alignment == self->alignment) || is_insufficient,
        self->name, status == FWD_OK ? "the compiler's layout" : error.message);
}

static void test_shape(const stated_case *self, size_t shape) {
  fwd_signature *signature = NULL;
  fwd_error error = {FWD_OK, 0, ""};
  fwd_status status = make(self, shape, &signature, &error);
  if (self->refused & refused_here) {
    check(status == FWD_UNSUPPORTED && !signature && error.message[0], self->name, "a refusal");
    fwd_signature_release(signature);
    return;
  }
  if (status != FWD_OK) {
    check(false, self->name, error.message);
    return;
  }
  for (int round = 0; round < 3; round++) {
    fill();
    call(self, shape, signature);
    fill();
    receive_calls(self, shape, signature);
  }
  fwd_signature_release(signature);
}

static void test_table(const stated_table *table) {
  for (size_t i = 0; i < table->count; i++) {
    test_layout(&table->cases[i]);
    for (size_t shape = 0; shape < STATED_SHAPES; shape++) test_shape(&table->cases[i], shape);
  }
}

// MARK: Wrong statements

typedef struct wrong_case {
  const char *text;
  fwd_status status;
  size_t offset;
  size_t count;
  fwd_stated_layout layouts[2];
} wrong_case;

#define MEMBERS(...) (const fwd_stated_member[]){__VA_ARGS__}
static const wrong_case wrong_cases[] = {
    {"v{P=ci}", FWD_NULL_ARGUMENT, 0, 1, {{NULL, 8, 4, NULL, 0, 0}}},
    {"v{P=ci}", FWD_NULL_ARGUMENT, 0, 1, {{"", 8, 4, NULL, 0, 0}}},
    {"v{?=ci}", FWD_NULL_ARGUMENT, 0, 1, {{"?", 8, 4, NULL, 0, 0}}},
    {"v{P=ci}", FWD_NULL_ARGUMENT, 0, 1, {{"P", 5, 1, NULL, 2, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 0, 1, {{"Q", 8, 4, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 0, 1, {{"P=", 8, 4, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 0, 1, {{"a name that is longer than the text", 8, 4, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 0, 2, {{"P", 8, 4, NULL, 0, 0}, {"P", 8, 4, NULL, 0, 0}}},
    // Size and alignment.
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", 8, 0, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", 9, 3, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", (size_t)1 << 40, (size_t)1 << 40, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", 5, 4, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", SIZE_MAX, 1, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", (size_t)PTRDIFF_MAX + 1, 4, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 5, 1, {{"P", 4, 4, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 4, 1, {{"P", 0, 1, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 5, 1, {{"P", 6, 2, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", 8, 2, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", 16, 4, NULL, 0, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", 8, 4, NULL, 0, 3}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", 8, 4, NULL, 0, 8}}},
    {"v(P=ci)", FWD_WRONG_LAYOUT, 5, 1, {{"P", 2, 2, NULL, 0, 0}}},
    {"v(P=ci)", FWD_WRONG_LAYOUT, 1, 1, {{"P", 8, 4, NULL, 0, 0}}},
    // Members.
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", 5, 1, MEMBERS({0, 0}), 1, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 1, 1, {{"P", 5, 1, MEMBERS({0, 0}, {1, 0}, {5, 0}), 3, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 0, 1, {{"P", 5, 1, MEMBERS({0, 0}), SIZE_MAX, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 5, 1, {{"P", 5, 1, MEMBERS({0, 0}, {2, 0}), 2, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 5, 1, {{"P", 5, 1, MEMBERS({0, 0}, {SIZE_MAX, 0}), 2, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 5, 1, {{"P", 5, 1, MEMBERS({0, 0}, {1, SIZE_MAX}), 2, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 5, 1, {{"P", 6, 1, MEMBERS({1, 0}, {1, 0}), 2, 0}}},
    {"v{P=ci}", FWD_WRONG_LAYOUT, 5, 1, {{"P", 6, 1, MEMBERS({0, 0}, {1, 1}), 2, 0}}},
    {"v(P=ci)", FWD_WRONG_LAYOUT, 5, 1, {{"P", 6, 1, MEMBERS({0, 0}, {1, 0}), 2, 0}}},
    {"v{P=b3b5}", FWD_WRONG_LAYOUT, 6, 1, {{"P", 1, 1, MEMBERS({0, 0}, {0, 2}), 2, 0}}},
    {"v{P=b3b5}", FWD_WRONG_LAYOUT, 6, 1, {{"P", 1, 1, MEMBERS({0, 0}, {0, 4}), 2, 0}}},
    {"v{P=b3b5}", FWD_WRONG_LAYOUT, 6, 1, {{"P", 1, 1, MEMBERS({0, 0}, {1, 0}), 2, 0}}},
    {"v{P=b3i5}", FWD_WRONG_LAYOUT, 4, 1, {{"P", 4, 4, MEMBERS({0, 0}), 1, 0}}},
    {"v{P=b9223372036854775807}", FWD_WRONG_LAYOUT, 4, 1, {{"P", 16, 8, MEMBERS({0, 9}), 1, 0}}},
    {"v{P=b9223372036854775807i1}", FWD_WRONG_LAYOUT, 4, 1, {{"P", 16, 8, NULL, 0, 0}}},
    {"v{P=b0i9223372036854775807}", FWD_WRONG_LAYOUT, 4, 1, {{"P", 16, 8, NULL, 0, 0}}},
    // What is not enough.
    {"v{P=b3b5}", FWD_UNSUPPORTED, 4, 1, {{"P", 4, 4, NULL, 0, 0}}},
    {"v{P=c{Q}}", FWD_UNSUPPORTED, 5, 1, {{"P", 8, 4, NULL, 0, 0}}},
    {"v{P=c?}", FWD_UNSUPPORTED, 5, 1, {{"P", 8, 4, NULL, 0, 0}}},
    {"v{P=cv}", FWD_UNSUPPORTED, 5, 1, {{"P", 8, 4, NULL, 0, 0}}},
    {"vA{P}", FWD_UNSUPPORTED, 1, 1, {{"P", 3, 1, NULL, 0, 0}}},
#if defined(__x86_64__)
    {"v{P=c}", FWD_UNSUPPORTED, 1, 1, {{"P", 16, 8, MEMBERS({8, 0}), 1, 0}}},
    // The second element's struct is at offset 5.
    {"v{W=[3{P={S=c}c}]}", FWD_UNSUPPORTED, 9, 2, {{"P", 5, 1, NULL, 0, 0}, {"S", 4, 4, NULL, 0, 0}}},
#endif
    {"v{P}", FWD_OVERFLOW, 1, 1, {{"P", FWD_BY_VALUE_LIMIT + 16, 16, NULL, 0, 0}}},
    {"v{P}", FWD_UNSUPPORTED, 1, 1, {{"P", 128, 32, NULL, 0, 0}}},
};

static void test_wrong_statements(void) {
  for (size_t i = 0; i < sizeof wrong_cases / sizeof *wrong_cases; i++) {
    const wrong_case *self = &wrong_cases[i];
    fwd_signature *signature = NULL;
    fwd_error error = {FWD_OK, 0, ""};
    fwd_status status = fwd_signature_create_stating(self->text, strlen(self->text), self->layouts, self->count,
                                                     &signature, &error);
    char what[400], expected[400];
    snprintf(what, sizeof what, "wrong statement %zu of \"%s\"", i, self->text);
    snprintf(expected, sizeof expected, "%s at %zu, got %s at %zu: %s", fwd_status_name(self->status), self->offset,
             fwd_status_name(status), error.offset, error.message);
    check(status == self->status && !signature && error.status == status && error.offset == self->offset, what,
          expected);
    fwd_signature_release(signature);
  }
  fwd_signature *signature = NULL;
  check(fwd_signature_create_stating("v", 1, NULL, 1, &signature, NULL) == FWD_NULL_ARGUMENT, "NULL", "a refusal");
  fwd_stated_layout many[FWD_STATED_LIMIT + 1] = {{"P", 8, 4, NULL, 0, 0}};
  check(fwd_signature_create_stating("v", 1, many, FWD_STATED_LIMIT + 1, &signature, NULL) == FWD_OVERFLOW,
        "too many", "a refusal");
}

// MARK: Comparison

static fwd_signature *signature_of(const char *text, const fwd_stated_layout *layouts, size_t count) {
  fwd_signature *signature = NULL;
  fwd_error error = {FWD_OK, 0, ""};
  fwd_status status = fwd_signature_create_stating(text, strlen(text), layouts, count, &signature, &error);
  check(status == FWD_OK, text, error.message);
  return signature;
}

static void test_comparison(void) {
  const char *text = "v^v{P=ci}";
  const fwd_stated_layout packed = {"P", 5, 1, NULL, 0, 0}, aligned = {"P", 16, 16, NULL, 0, 4};
  const fwd_stated_layout same = {"P", 5, 1, MEMBERS({0, 0}, {1, 0}), 2, 0}, usual = {"P", 8, 4, NULL, 0, 0};
  fwd_signature *plain = signature_of(text, NULL, 0), *first = signature_of(text, &packed, 1);
  fwd_signature *second = signature_of(text, &same, 1), *third = signature_of(text, &aligned, 1);
  fwd_signature *fourth = signature_of(text, &usual, 1), *again = signature_of(text, NULL, 0);
  check(plain == again, text, "the cached signature");
  check(!fwd_signature_equal(plain, first) && !fwd_signature_equal(first, plain), text, "packed to differ");
  check(!fwd_signature_compatible(plain, first) && !fwd_signature_compatible(third, first), text, "no calls");
  check(fwd_signature_equal(first, second) && fwd_signature_hash(first) == fwd_signature_hash(second), text,
        "members to be found");
  check(fwd_signature_equal(plain, fourth) && fwd_signature_compatible(fourth, plain), text, "the usual layout");
  check(!fwd_signature_equal(first, third), text, "aligned to differ");
  fwd_signature *dropped = NULL;
  fwd_layout layout;
  check(fwd_signature_replace_hidden(first, SIZE_MAX, &dropped, NULL) == FWD_OK, text, "a part");
  check(fwd_signature_argument(dropped, 0, &layout) == FWD_OK && layout.size == 5, text, "what was stated");
  fwd_signature_release(dropped);
  // What is said of the receiver only is not in the part.
  const fwd_stated_layout other = {"R", 5, 1, NULL, 0, 0};
  fwd_signature *fifth = signature_of("v^{R=ci}i", &other, 1);
  check(fwd_signature_replace_hidden(fifth, SIZE_MAX, &dropped, NULL) == FWD_OK, text, "a part");
  fwd_signature_release(dropped);
  // The canonical spelling means the same under the same statement.
  char spelling[32];
  fwd_encoding_print(fwd_signature_encoding(first), 0, spelling, sizeof spelling);
  fwd_signature *sixth = signature_of(spelling, &packed, 1);
  check(fwd_signature_equal(first, sixth), spelling, "the same");
  fwd_signature *all[] = {plain, first, second, third, fourth, again, fifth, sixth};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) fwd_signature_release(all[i]);
}

int main(void) {
  test_table(&clang_stated);
  test_table(&gcc_stated);
  test_wrong_statements();
  test_comparison();
  printf("%zu passed, %zu failed\n", passed, failed);
  return failed > 0;
}
