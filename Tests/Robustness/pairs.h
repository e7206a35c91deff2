// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Structs of two words, for arguments that take two registers each.

#ifndef FWD_PAIRS_H
#define FWD_PAIRS_H

#include <stdint.h>

typedef struct integers {
  int64_t a, b;
} integers;
typedef struct doubles {
  double a, b;
} doubles;

#endif
