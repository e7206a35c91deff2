// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Prints the layouts of the types in types.h as the compiler has them; types.h gives the format.

#include "types.h"

#include <stdio.h>

#if !defined(ABI_ENCODING)
#define ABI_ENCODING(TYPE) "-"
#endif

int main(void) {
  int index = 0;
#define START(GROUP, TYPE)                                                                                 \
  printf("%d\t" #GROUP "\t%s\t%zu\t%zu", index++, ABI_ENCODING(TYPE), sizeof(TYPE), (size_t)_Alignof(TYPE));
#define PLAIN(GROUP, TYPE) START(GROUP, TYPE) putchar('\n');
#define RECORD(GROUP, TYPE, MEMBERS) START(GROUP, TYPE) MEMBERS putchar('\n');
#define MEMBER(TYPE, NAME) printf("\t%zu", offsetof(TYPE, NAME));
  ABI_TYPES(PLAIN, RECORD, MEMBER)
  return 0;
}
