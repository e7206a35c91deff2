// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A function of the signature `i^vi`, and the handler of a closure that does the same.

#ifndef FWD_ADDING_H
#define FWD_ADDING_H

#include <string.h>

/// Returns one more than `value`, or 0 if there is no context.
static int add_one(void *context, int value) { return context ? value + 1 : 0; }

static void handle_add(void *context, void *const *arguments, void *result) {
  (void)context;
  int value;
  memcpy(&value, arguments[1], sizeof value);
  value++;
  memcpy(result, &value, sizeof value);
}

#endif
