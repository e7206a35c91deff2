// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Types whose encodings do not carry their layout, as stated_functions.c has them for each compiler and
/// stated_driver.c tests them.

#ifndef FWD_TESTS_STATED_CASE_H
#define FWD_TESTS_STATED_CASE_H

#include "forwarding.h"

enum { STATED_BYTES = 128, STATED_VALUES = 4, STATED_SHAPES = 3 };

/// Where a case cannot be passed by value.
enum { REFUSED_NOWHERE = 0, REFUSED_ON_X86_64 = 1, REFUSED_ON_AARCH64 = 2, REFUSED = 3 };

typedef struct stated_case {
  const char *name;
  const char *encoding;
  int refused;
  size_t size;
  size_t alignment;
  fwd_stated_layout layouts[2];
  size_t count;
  /// Sets the bits that carry value.
  void (*mark)(unsigned char *bytes);
  /// Take values in three shapes of argument lists, record them and give the last; and call such functions.
  void (*callees[STATED_SHAPES])(void);
  void (*callers[STATED_SHAPES])(void (*function)(void));
} stated_case;

typedef struct stated_table {
  const stated_case *cases;
  size_t count;
} stated_table;

extern const stated_table clang_stated, gcc_stated;

/// What callers pass and callees give, and what arrives: the last is the result.
extern unsigned char stated_sent[STATED_VALUES][STATED_BYTES], stated_got[STATED_VALUES][STATED_BYTES];
extern long stated_words[16];
extern double stated_doubles[16];

#endif
