// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Prints the encodings and layouts of the types in types.h as clang has them.

// gnustep-2.0 registers each file with its runtime at start-up, this one too, though it has no classes.
void __objc_load(void *module) { (void)module; }

#define ABI_ENCODING(TYPE) @encode(TYPE)
#include "layouts.c"
