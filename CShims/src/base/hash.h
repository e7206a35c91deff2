// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_HASH_H
#define FWD_SRC_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Hashes a short text, eight bytes a step, by multiplication and folding as wyhash does. The seed is fixed, so an
/// attacker can find collisions: tables that use this compare the texts too, and collisions only cost time.
static inline uint64_t fwd_hash_bytes(const char *text, size_t length) {
  uint64_t hash = 0x9E3779B97F4A7C15u ^ (uint64_t)length;
  while (length > 0) {
    uint64_t word = 0;
    size_t step = length < 8 ? length : 8;
    memcpy(&word, text, step);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
    text += step;
    length -= step;
  }
  return hash;
}

#endif
