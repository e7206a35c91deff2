// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Loops that create signatures.

#include <stdio.h>
#include <string.h>

#include "call_shapes.h"
#include "forwarding.h"
#include "CFwdMeasure.h"

// More texts than a cache of signatures would hold, but few enough for the processor's caches.
enum { text_count = 4096, text_room = 96 };
static char texts[BENCH_SHAPE_COUNT][text_count][text_room];
static size_t text_lengths[BENCH_SHAPE_COUNT][text_count];
static size_t next_text[BENCH_SHAPE_COUNT];

static void write_texts(bench_shape shape) {
  if (text_lengths[shape][0] > 0) return;
  for (size_t i = 0; i < text_count; i++) {
    // The format is a constant of this benchmark. The number is the frame size, which no offset exceeds.
    int length = snprintf(texts[shape][i], text_room, bench_signatures[shape].numbered_encoding, i + 1000);
    text_lengths[shape][i] = (size_t)length;
  }
}

/// Returns 0 if the signature cannot be made.
static size_t create(const char *text, size_t length) {
  fwd_signature *signature = NULL;
  if (fwd_signature_create(text, length, &signature, NULL) != FWD_OK) return 0;
  size_t parts = fwd_signature_frame_size(signature) + fwd_signature_argument_count(signature);
  fwd_signature_release(signature);
  return parts;
}

static uint64_t expected(bench_shape shape, size_t iterations) {
  return (bench_signatures[shape].frame_size + bench_signatures[shape].argument_count) * iterations;
}

BENCH_LOOP static uint64_t create_one(const char *text, size_t length, size_t iterations) {
  uint64_t sum = 0;
  for (size_t i = 0; i < iterations; i++) sum += create(text, length);
  return sum;
}

bench_sample bench_signature_seen(bench_shape shape, size_t iterations) {
  const char *text = bench_signatures[shape].encoding;
  size_t length = strlen(text);
  // The first creation is not measured.
  create(text, length);
  bench_sample start = bench_start();
  uint64_t sum = create_one(text, length, iterations);
  return bench_finish(start, sum, expected(shape, iterations));
}

BENCH_LOOP static uint64_t create_all(bench_shape shape, size_t iterations) {
  uint64_t sum = 0;
  size_t next = next_text[shape];
  for (size_t i = 0; i < iterations; i++) {
    sum += create(texts[shape][next], text_lengths[shape][next]);
    next = (next + 1) % text_count;
  }
  next_text[shape] = next;
  return sum;
}

bench_sample bench_signature_new(bench_shape shape, size_t iterations) {
  write_texts(shape);
  bench_sample start = bench_start();
  uint64_t sum = create_all(shape, iterations);
  return bench_finish(start, sum, expected(shape, iterations));
}
