// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// CRC-32C: the Castagnoli polynomial 0x1EDC6F41, reflected (0x82F63B78), with all bits inverted before and after, as
/// RFC 3720 section 12.1 defines it. Each function takes and returns the inverted state, so that checksums can be extended.

#include "fwd_wire.h"

#include <pthread.h>
#include <string.h>

// MARK: Tables

/// `tables[k][b]` is the state after the byte `b` and `k` zero bytes. Eight tables consume eight bytes in one step
/// ("slicing by 8", M. Kounavis and F. Berry, 2005).
static uint32_t tables[8][256];
static pthread_once_t tables_made = PTHREAD_ONCE_INIT;

static void make_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t state = byte;
    for (int bit = 0; bit < 8; bit++) state = state >> 1 ^ (state & 1 ? 0x82F63B78u : 0);
    tables[0][byte] = state;
  }
  for (uint32_t byte = 0; byte < 256; byte++) {
    for (int k = 1; k < 8; k++) tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xff];
  }
}

uint32_t fwd_wire_checksum_by_tables(uint32_t checksum, const void *bytes, size_t count) {
  pthread_once(&tables_made, make_tables);
  const unsigned char *at = bytes;
  uint32_t state = ~checksum;
  // Eight bytes, put together byte by byte, which compilers for little-endian processors make one load.
  for (; count >= 8; at += 8, count -= 8) {
    uint32_t low = state ^ (at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
    state = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^ tables[4][low >> 24] ^
            tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^ tables[0][at[7]];
  }
  for (; count > 0; at++, count--) state = state >> 8 ^ tables[0][(state ^ *at) & 0xff];
  return ~state;
}

// MARK: Instructions

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t checksum, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t state = (uint32_t)~checksum;
  // Four words a step, since a step's counting takes more instructions than a word. The compiler would unroll it again.
#pragma clang loop unroll(disable)
  for (; count >= 32; at += 32, count -= 32) {
    uint64_t words[4];
    memcpy(words, at, 32);
    state = _mm_crc32_u64(state, words[0]);
    state = _mm_crc32_u64(state, words[1]);
    state = _mm_crc32_u64(state, words[2]);
    state = _mm_crc32_u64(state, words[3]);
  }
#pragma clang loop unroll(disable)
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    state = _mm_crc32_u64(state, word);
  }
#pragma clang loop unroll(disable)
  for (; count > 0; at++, count--) state = _mm_crc32_u8((uint32_t)state, *at);
  return ~(uint32_t)state;
}

static inline int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

static uint32_t by_instruction(uint32_t checksum, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint32_t state = ~checksum;
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    state = __crc32cd(state, word);
  }
  for (; count > 0; at++, count--) state = __crc32cb(state, *at);
  return ~state;
}

static inline int has_instruction(void) { return 1; }

#else

static uint32_t by_instruction(uint32_t checksum, const void *bytes, size_t count) {
  return fwd_wire_checksum_by_tables(checksum, bytes, count);
}

static inline int has_instruction(void) { return 0; }

#endif

uint32_t fwd_wire_checksum(uint32_t checksum, const void *bytes, size_t count) {
  return has_instruction() ? by_instruction(checksum, bytes, count)
                           : fwd_wire_checksum_by_tables(checksum, bytes, count);
}
