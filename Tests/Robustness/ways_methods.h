// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The methods of fan_out_ways.c, whose arguments a fan-out loads in different ways. Also the arguments' values, and
/// checks of the values that arrive. Include it once in a program.

#ifndef FWD_WAYS_METHODS_H
#define FWD_WAYS_METHODS_H

#include <string.h>

#include "check.h"
#include "forwarding.h"
#include "fwd_signature.h"

/// The words of ORDERED stand in its frame as in registers, and so do those of ROW, which are more than a loop takes. Those of
/// REVERSED stand in another order. The call of SURPLUS loads a register that the method does not have. Each register of
/// FLOATS has eight bytes, but its frame is aligned for four. The registers of HALVES carry four bytes or eight.
enum {
  NONE, BARE, ONE, BOTH, HIDDEN, ORDERED, ROW, REVERSED, SURPLUS, FLOATS, HALVES, SMALL, WIDE, BEYOND, STRUCT,
  method_count, argument_limit = 16
};
static const char *const encodings[method_count] = {
    [NONE] = "v@:",           [BARE] = "v@",
    [ONE] = "v@:q",           [BOTH] = "v@:qqdd",
    [HIDDEN] = "v@q",         [ORDERED] = "v@qqd",
    [ROW] = "v@qdddddddd",    [REVERSED] = "v@dq",
    [SURPLUS] = "v@qqqddd",   [FLOATS] = "v@{floats=ff}{floats=ff}",
    [HALVES] = "v@iqi",       [SMALL] = "v@:BcSf",
    [WIDE] = "v@:qqqqdddddd", [BEYOND] = "v@:qqqqqqqdd",
    [STRUCT] = "v@:{pair=qd}qf"};

/// Frames with the same bytes: one aligned for all types, one for four bytes, and one for a byte.
enum { frame_count = 3, frame_limit = 128 };
static const size_t shifts[frame_count] = {0, 4, 1};

typedef struct method {
  fwd_selector selector;
  fwd_signature *signature;
  /// Without the hidden arguments.
  size_t argument_count, hidden_count;
  size_t frame_size;
  _Alignas(16) unsigned char frame[frame_limit];
  _Alignas(16) unsigned char shifted[frame_count][frame_limit + 16];
  void *arguments[argument_limit];
  size_t sizes[argument_limit];
} method;
static method methods[method_count];

static void make_method(size_t index) {
  method *made = &methods[index];
  char name[16];
  snprintf(name, sizeof name, "method%zu", index);
  made->selector = fwd_selector_register(name);
  const char *encoding = encodings[index];
  NEED(fwd_signature_create(encoding, strlen(encoding), &made->signature, NULL) == FWD_OK);
  made->hidden_count = fwd_signature_hidden_count(made->signature);
  made->argument_count = fwd_signature_argument_count(made->signature) - made->hidden_count;
  NEED(made->argument_count <= argument_limit && fwd_signature_frame_size(made->signature) <= frame_limit);
  made->frame_size = fwd_signature_frame_size(made->signature);
  for (size_t i = 0; i < made->argument_count; i++) {
    fwd_layout layout;
    NEED(fwd_signature_argument(made->signature, made->hidden_count + i, &layout) == FWD_OK);
    made->arguments[i] = made->frame + layout.offset;
    made->sizes[i] = layout.size;
    // No byte is so large that a floating-point number would be a NaN. The first byte of a Boolean value is 1.
    for (size_t j = 0; j < layout.size; j++) made->frame[layout.offset + j] = (unsigned char)(1 + i + 5 * j);
  }
}

/// Sets the first arguments to zero or not: closures that ask for non-null ones do not take zeros.
static void set_first_arguments(bool are_zero) {
  const size_t asked[] = {ONE, BOTH, HIDDEN};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    int64_t value = are_zero ? 0 : 77;
    memcpy(methods[asked[i]].arguments[0], &value, sizeof value);
  }
  for (size_t i = 0; i < method_count; i++) {
    for (size_t j = 0; j < frame_count; j++) memcpy(methods[i].shifted[j] + shifts[j], methods[i].frame, methods[i].frame_size);
  }
}

static void check_arguments(const method *called, void *const *arguments) {
  for (size_t i = 0; i < called->argument_count; i++) {
    EXPECT(memcmp(arguments[i], called->arguments[i], called->sizes[i]) == 0);
  }
}

/// Checks all arguments of a packed function.
static void check_packed(const method *called, void *receiver, void *const *arguments) {
  EXPECT(*(void *const *)arguments[0] == receiver);
  if (called->hidden_count > 1) EXPECT(*(const fwd_selector *)arguments[1] == called->selector);
  check_arguments(called, arguments + called->hidden_count);
}

#endif
