// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_HASH_H
#define FWD_SRC_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Loads a word of up to eight bytes.
static inline uint64_t fwd_hash_load(const char *text, size_t length) {
  uint64_t word = 0;
  memcpy(&word, text, length);
  return word;
}

/// Loads a text of less than eight bytes, in pieces that may overlap.
static inline uint64_t fwd_hash_load_short(const char *text, size_t length) {
  if (length >= 4) return fwd_hash_load(text, 4) | fwd_hash_load(text + length - 4, 4) << 32;
  if (length == 0) return 0;
  return fwd_hash_load(text, 1) | fwd_hash_load(text + length / 2, 1) << 8 | fwd_hash_load(text + length - 1, 1) << 16;
}

static inline uint64_t fwd_hash_step(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
  return hash ^ hash >> 32;
}

/// Hashes a short text, eight bytes a step, by multiplication and folding as wyhash does. The seed is fixed, so an
/// attacker can find collisions: tables that use this compare the texts too, and collisions only cost time.
static inline uint64_t fwd_hash_bytes(const char *text, size_t length) {
  uint64_t hash = 0x9E3779B97F4A7C15u;
  // The last word overlaps the one before it: `memcpy` of a length that is not constant would be a call.
  for (size_t i = 0; i + 8 < length; i += 8) hash = fwd_hash_step(hash, fwd_hash_load(text + i, 8));
  hash = fwd_hash_step(hash, length < 8 ? fwd_hash_load_short(text, length) : fwd_hash_load(text + length - 8, 8));
  // A step carries the last characters of a word to the middle bits only. This one carries them to the low ones.
  return fwd_hash_step(hash, length);
}

#endif
