// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a generated file tells the driver about its functions. One file is compiled by clang and by gcc,
/// under two prefixes, and so has two tables.

#ifndef ABI_CASE_H
#define ABI_CASE_H

#include <stddef.h>

enum {
  abi_argument_limit = 30,
  /// In a map: the byte carries value in one member of a union and is padding in another. clang loses such
  /// bytes of `union { struct { float f; double d; } s; double x; }`, between its own functions too, where
  /// the psABI passes the whole eightbyte (llvm-project issues 83388 and 76017). gcc keeps them.
  abi_contested = 8,
  /// In a map: bit 6 of the byte is 0.
  abi_limited = 16,
};

typedef struct abi_type {
  size_t size;
  size_t alignment;
  /// Marks the bytes that carry value with 1, those of a _Bool with 2, perhaps with abi_contested; padding
  /// stays 0.
  void (*map)(unsigned char *map);
  /// Whether it is an integer narrower than a register, whose widened value is recorded too: -1 if signed,
  /// 1 if not, else 0.
  int small;
} abi_type;

typedef struct abi_case {
  const char *encoding;
  const char *declaration;
  size_t argument_count;
  /// The result, then the arguments. `void` has size 0.
  const abi_type *types;
  /// Records its arguments, and gives the result behind abi_values[0].
  void (*callee)(void);
  /// Calls `function` with the values behind abi_values[1], ..., and records the result.
  void (*caller)(void (*function)(void));
} abi_case;

typedef struct abi_table {
  const abi_case *cases;
  size_t count;
} abi_table;

/// Index 0 is the result's.
extern const void *abi_values[abi_argument_limit + 1];
extern unsigned char *abi_record[abi_argument_limit + 1];
extern long long abi_wide[abi_argument_limit + 1];

#endif
