// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Receivers in C.

#include <stdlib.h>

#include "bench_fan_out.h"

bench_message bench_the_message = {
    .count = 5, .scale = 1.5, .large = {1, 4, 3}, .mixed = {.real = 1.5, .integer = 5}};

enum { kind_count = BENCH_MESSAGE_MIXED + 1 };

/// As large as a Swift object with two numbers, and allocated one by one like these. One kind counts up, the other
/// down.
typedef struct receiver {
  int64_t total;
  double weight;
  void *unused[2];
} receiver;

struct bench_crowd {
  size_t count;
  bench_slot *slots[kind_count];
};

// MARK: Functions

static void tally_notify(receiver *self, int64_t count, double scale) {
  self->total += count;
  self->weight += scale;
}

static int64_t tally_answer(receiver *self, int64_t count, double scale) {
  tally_notify(self, count, scale);
  return count;
}

static void tally_take_large(receiver *self, bench_large large) {
  self->total += large.first + large.second + large.third;
}

static void tally_take_mixed(receiver *self, bench_mixed mixed) { tally_notify(self, mixed.integer, mixed.real); }

static void ledger_notify(receiver *self, int64_t count, double scale) {
  self->total -= count;
  self->weight -= scale;
}

static int64_t ledger_answer(receiver *self, int64_t count, double scale) {
  ledger_notify(self, count, scale);
  return count;
}

static void ledger_take_large(receiver *self, bench_large large) {
  self->total -= large.first + large.second + large.third;
}

static void ledger_take_mixed(receiver *self, bench_mixed mixed) { ledger_notify(self, mixed.integer, mixed.real); }

typedef void (*function)(void);

static const function functions[kind_count][2] = {
    [BENCH_MESSAGE_NOTIFY] = {(function)tally_notify, (function)ledger_notify},
    [BENCH_MESSAGE_ANSWER] = {(function)tally_answer, (function)ledger_answer},
    [BENCH_MESSAGE_LARGE] = {(function)tally_take_large, (function)ledger_take_large},
    [BENCH_MESSAGE_MIXED] = {(function)tally_take_mixed, (function)ledger_take_mixed},
};

// MARK: Crowds

// Never freed.
bench_crowd *bench_crowd_create(size_t count) {
  bench_crowd *crowd = calloc(1, sizeof *crowd);
  if (!crowd) return NULL;
  crowd->count = count;
  for (size_t kind = 0; kind < kind_count; kind++) {
    crowd->slots[kind] = calloc(count, sizeof *crowd->slots[kind]);
    if (!crowd->slots[kind]) return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    receiver *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    for (size_t kind = 0; kind < kind_count; kind++) {
      crowd->slots[kind][i] = (bench_slot){.function = functions[kind][i % 2], .receiver = self};
    }
  }
  return crowd;
}

const bench_slot *bench_crowd_slots(const bench_crowd *crowd, bench_message_kind kind) { return crowd->slots[kind]; }

static int64_t sum_of(const bench_crowd *crowd, size_t index) {
  const receiver *self = crowd->slots[0][index].receiver;
  int64_t sum = self->total + (int64_t)(2 * self->weight);
  return index % 2 == 0 ? sum : -sum;
}

int64_t bench_crowd_sum(const bench_crowd *crowd) {
  int64_t sum = 0;
  for (size_t i = 0; i < crowd->count; i++) sum += sum_of(crowd, i);
  return sum;
}

bool bench_crowd_is_even(const bench_crowd *crowd, size_t deliveries) {
  for (size_t i = 0; i < crowd->count; i++) {
    if (sum_of(crowd, i) != (int64_t)deliveries * BENCH_MESSAGE_SUM) return false;
  }
  return true;
}

bool bench_crowd_subscribe(const bench_crowd *crowd, fwd_proxy *proxy) {
  for (size_t i = 0; i < crowd->count; i++) {
    const bench_slot *slot = &crowd->slots[BENCH_MESSAGE_NOTIFY][i];
    fwd_method method = {.selector = "notify:scale:", .encoding = "v^vqd", .function = slot->function};
    if (fwd_proxy_subscribe(proxy, slot->receiver, &method, 1, NULL, NULL, NULL, NULL) != FWD_OK) return false;
  }
  return true;
}

// MARK: Threads

static _Thread_local struct {
  int64_t total;
  double weight;
} own;

void bench_thread_notify(int64_t count, double scale) {
  own.total += count;
  own.weight += scale;
}

static void tally_thread(void *self, int64_t count, double scale) {
  (void)self;
  bench_thread_notify(count, scale);
}

static void ledger_thread(void *self, int64_t count, double scale) {
  (void)self;
  own.weight += scale;
  own.total += count;
}

const bench_slot *bench_thread_slots_create(size_t count) {
  bench_slot *slots = calloc(count, sizeof *slots);
  for (size_t i = 0; slots && i < count; i++) {
    slots[i].function = i % 2 == 0 ? (function)tally_thread : (function)ledger_thread;
  }
  return slots;
}

int64_t bench_thread_sum(void) { return own.total + (int64_t)(2 * own.weight); }
