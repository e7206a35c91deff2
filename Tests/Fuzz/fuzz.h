// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Functions that the fuzz targets share. scripts/fuzz builds and runs the targets.

#ifndef FWD_FUZZ_H
#define FWD_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd_encoding.h"

/// Ends the process if a property does not hold, so that libFuzzer keeps the input.
#define REQUIRE(condition)                                                            \
  do {                                                                                \
    if (!(condition)) {                                                               \
      fprintf(stderr, "%s:%d: required: %s\n", __FILE__, __LINE__, #condition);       \
      abort();                                                                        \
    }                                                                                 \
  } while (0)

/// The entry point that libFuzzer calls with each input. The input is a block of exactly `size` bytes, so the address
/// sanitizer reports reads beyond it.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Allocates at least one byte, so that NULL always means that memory is short.
static inline void *allocate(size_t size) {
  void *memory = malloc(size ? size : 1);
  REQUIRE(memory);
  return memory;
}

/// An error with contents that no function writes, to find out whether a function has filled it.
static inline fwd_error untouched_error(void) {
  fwd_error error;
  memset(&error, 0x5a, sizeof error);
  return error;
}

static inline void require_untouched(const fwd_error *error) {
  fwd_error untouched = untouched_error();
  REQUIRE(memcmp(error, &untouched, sizeof untouched) == 0);
}

/// Checks the error of a refused encoding of `size` bytes.
static inline void require_refusal(fwd_status status, const fwd_error *error, size_t size) {
  REQUIRE(status >= FWD_MALFORMED && status <= FWD_TOO_DEEP);
  REQUIRE(error->status == status);
  REQUIRE(error->offset <= size);
  REQUIRE(memchr(error->message, 0, sizeof error->message));
  REQUIRE(strcmp(error->message, fwd_error_message()) == 0);
  for (const char *at = error->message; *at; at++) REQUIRE((*at >= 0x20 && *at < 0x7f) || *at == '\n');
  // The message ends with the caret, unless the text was too long to be quoted.
  if (size > FWD_ENCODING_LENGTH_LIMIT) return;
  const char *line = strrchr(error->message, '\n');
  REQUIRE(line && line[strlen(line) - 1] == '^');
}

#endif
