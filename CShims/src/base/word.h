// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_WORD_H
#define FWD_SRC_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Loads eight bytes, which need not be aligned.
static inline uint64_t fwd_load_word_of(const void *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/// Loads up to eight bytes. A call, since a copy of variable size takes some of the stack.
__attribute__((noinline, unused)) static uint64_t fwd_load_part(const void *bytes, size_t size) {
  uint64_t word = 0;
  memcpy(&word, bytes, size);
  return word;
}

/// Widens up to eight bytes to a word, as functions expect small integers.
static inline uint64_t fwd_extend(const void *bytes, size_t size, bool is_signed) {
  // The usual sizes come first: a copy of constant size is one load.
  switch (size) {
    case 1: {
      uint8_t value;
      memcpy(&value, bytes, sizeof value);
      return is_signed ? (uint64_t)(int64_t)(int8_t)value : value;
    }
    case 2: {
      uint16_t value;
      memcpy(&value, bytes, sizeof value);
      return is_signed ? (uint64_t)(int64_t)(int16_t)value : value;
    }
    case 4: {
      uint32_t value;
      memcpy(&value, bytes, sizeof value);
      return is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
    }
    default:
      // Part of a struct, which has no sign; or eight bytes. Parts occur in little-endian ports only.
      return fwd_load_part(bytes, size);
  }
}

#endif
