// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Fan-outs from C: loops over function pointers, ffi_call and proxies; and receivers in C.

#ifndef BENCH_FAN_OUT_H
#define BENCH_FAN_OUT_H

#include <forwarding.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: Messages

/// 24 bytes: passed in memory.
typedef struct bench_large {
  int64_t first, second, third;
} bench_large;

/// 16 bytes: passed in one integer and one vector register.
typedef struct bench_mixed {
  double real;
  int64_t integer;
} bench_mixed;

/// The message. Each delivery adds `BENCH_MESSAGE_SUM` to its receiver's sum. It is a global variable and not constant,
/// so that each loop has to load it.
typedef struct bench_message {
  int64_t count;
  double scale;
  bench_large large;
  bench_mixed mixed;
} bench_message;
extern bench_message bench_the_message;

/// Returns the message. Swift's strict concurrency refuses the variable itself.
static inline const bench_message *FWD_NONNULL bench_current_message(void) { return &bench_the_message; }

#define BENCH_MESSAGE_SUM 8

// MARK: Receivers

/// A function and its receiver.
typedef struct bench_slot {
  void (*FWD_NULLABLE function)(void);
  void *FWD_NULLABLE receiver;
} bench_slot;

/// Receivers in C. Two kinds alternate, so that no call can be predicted to go to one function.
typedef struct bench_crowd bench_crowd;

/// Returns NULL if memory is short.
bench_crowd *FWD_NULLABLE bench_crowd_create(size_t count);
/// Returns the sum over all receivers.
int64_t bench_crowd_sum(const bench_crowd *FWD_NONNULL crowd);
/// Returns whether each receiver has the sum of `deliveries` deliveries.
bool bench_crowd_is_even(const bench_crowd *FWD_NONNULL crowd, size_t deliveries);
/// Subscribes all receivers to a proxy whose protocol has "notify:scale:" as `v@qd`.
bool bench_crowd_subscribe(const bench_crowd *FWD_NONNULL crowd, fwd_proxy *FWD_NONNULL proxy);

/// The functions: (receiver, int64, double) -> void, the same -> int64, and two that take a struct.
typedef enum bench_message_kind {
  BENCH_MESSAGE_NOTIFY,
  BENCH_MESSAGE_ANSWER,
  BENCH_MESSAGE_LARGE,
  BENCH_MESSAGE_MIXED,
} bench_message_kind;

/// Returns one slot for each receiver, valid as long as the crowd.
const bench_slot *FWD_NONNULL bench_crowd_slots(const bench_crowd *FWD_NONNULL crowd, bench_message_kind kind);

// MARK: Loops

/// Calls all slots `iterations` times. Returns the sum of the results of BENCH_MESSAGE_ANSWER, else 0.
int64_t bench_call_slots(const bench_slot *FWD_NONNULL slots, size_t count, bench_message_kind kind,
                         size_t iterations);
/// The same by libffi's ffi_call.
int64_t bench_ffi_call_slots(const bench_slot *FWD_NONNULL slots, size_t count, bench_message_kind kind,
                             size_t iterations);

/// The function of forwarding.h that makes an emission.
typedef enum bench_entry {
  BENCH_ENTRY_FORWARD,
  BENCH_ENTRY_ARGUMENTS,
  BENCH_ENTRY_NAMED,
} bench_entry;

/// Emits a message by the selector "notify:scale:". Returns false if an emission failed.
bool bench_emit(fwd_proxy *FWD_NONNULL proxy, bench_entry entry, fwd_selector FWD_NONNULL selector,
                size_t iterations);
/// Calls a function that takes the arguments alone.
void bench_call_function(void (*FWD_NONNULL function)(void), size_t iterations);

// MARK: Threads

/// Adds to a sum of the calling thread. Receivers of several threads use it, so that the threads do not contend for the
/// receivers' memory.
void bench_thread_notify(int64_t count, double scale);
/// Returns slots for `bench_call_slots` whose functions add to the thread's sum, or NULL if memory is short. They are
/// never freed.
const bench_slot *FWD_NULLABLE bench_thread_slots_create(size_t count);
int64_t bench_thread_sum(void);

/// Waits until the main dispatch queue has work, for at most 10 ms, and does it. For the main thread.
void bench_run_main_queue(void);

#ifdef __cplusplus
}
#endif

#endif
