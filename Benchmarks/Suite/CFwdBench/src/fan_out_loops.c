// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Fan-outs in C. Each emission loads the message again, as a caller would.

#include <ffi.h>

#include "CFwdMeasure.h"
#include "bench_fan_out.h"

#define M bench_the_message

// MARK: Function pointers

#define LOOP(name, types, values)                                                                       \
  BENCH_LOOP static void call_##name(const bench_slot *slots, size_t count, size_t iterations) {        \
    for (size_t k = 0; k < iterations; k++) {                                                           \
      for (size_t i = 0; i < count; i++) ((void(*) types)slots[i].function) values;                     \
    }                                                                                                   \
  }

LOOP(notify, (void *, int64_t, double), (slots[i].receiver, M.count, M.scale))
LOOP(large, (void *, bench_large), (slots[i].receiver, M.large))
LOOP(mixed, (void *, bench_mixed), (slots[i].receiver, M.mixed))

BENCH_LOOP static int64_t call_answer(const bench_slot *slots, size_t count, size_t iterations) {
  int64_t sum = 0;
  for (size_t k = 0; k < iterations; k++) {
    for (size_t i = 0; i < count; i++) {
      sum += ((int64_t(*)(void *, int64_t, double))slots[i].function)(slots[i].receiver, M.count, M.scale);
    }
  }
  return sum;
}

int64_t bench_call_slots(const bench_slot *slots, size_t count, bench_message_kind kind, size_t iterations) {
  switch (kind) {
    case BENCH_MESSAGE_NOTIFY: call_notify(slots, count, iterations); return 0;
    case BENCH_MESSAGE_ANSWER: return call_answer(slots, count, iterations);
    case BENCH_MESSAGE_LARGE: call_large(slots, count, iterations); return 0;
    case BENCH_MESSAGE_MIXED: call_mixed(slots, count, iterations); return 0;
  }
  return 0;
}

// MARK: libffi

static ffi_type *large_elements[] = {&ffi_type_sint64, &ffi_type_sint64, &ffi_type_sint64, NULL};
static ffi_type large_type = {0, 0, FFI_TYPE_STRUCT, large_elements};
static ffi_type *mixed_elements[] = {&ffi_type_double, &ffi_type_sint64, NULL};
static ffi_type mixed_type = {0, 0, FFI_TYPE_STRUCT, mixed_elements};
static ffi_type *number_types[] = {&ffi_type_pointer, &ffi_type_sint64, &ffi_type_double};
static ffi_type *large_types[] = {&ffi_type_pointer, &large_type};
static ffi_type *mixed_types[] = {&ffi_type_pointer, &mixed_type};

static bool prepare(ffi_cif *cif, bench_message_kind kind) {
  switch (kind) {
    case BENCH_MESSAGE_NOTIFY: return ffi_prep_cif(cif, FFI_DEFAULT_ABI, 3, &ffi_type_void, number_types) == FFI_OK;
    case BENCH_MESSAGE_ANSWER: return ffi_prep_cif(cif, FFI_DEFAULT_ABI, 3, &ffi_type_sint64, number_types) == FFI_OK;
    case BENCH_MESSAGE_LARGE: return ffi_prep_cif(cif, FFI_DEFAULT_ABI, 2, &ffi_type_void, large_types) == FFI_OK;
    case BENCH_MESSAGE_MIXED: return ffi_prep_cif(cif, FFI_DEFAULT_ABI, 2, &ffi_type_void, mixed_types) == FFI_OK;
  }
  return false;
}

BENCH_LOOP int64_t bench_ffi_call_slots(const bench_slot *slots, size_t count, bench_message_kind kind,
                                        size_t iterations) {
  ffi_cif cif;
  if (!prepare(&cif, kind)) return 0;
  void *receiver;
  ffi_arg result = 0;
  int64_t sum = 0;
  for (size_t k = 0; k < iterations; k++) {
    for (size_t i = 0; i < count; i++) {
      receiver = slots[i].receiver;
      // libffi 3.4 overwrites the elements of large structs with addresses on its own stack.
      void *arguments[3] = {&receiver, &M.count, &M.scale};
      if (kind == BENCH_MESSAGE_LARGE) arguments[1] = &M.large;
      if (kind == BENCH_MESSAGE_MIXED) arguments[1] = &M.mixed;
      ffi_call(&cif, slots[i].function, &result, arguments);
      sum += (int64_t)result;
    }
  }
  return kind == BENCH_MESSAGE_ANSWER ? sum : 0;
}

// MARK: Proxies

static bool forward(fwd_proxy *proxy, fwd_selector selector, size_t iterations) {
  struct {
    int64_t count;
    double scale;
  } frame = {M.count, M.scale};
  for (size_t k = 0; k < iterations; k++) {
    if (fwd_forward(proxy, selector, &frame, sizeof frame, NULL, 0) != FWD_OK) return false;
  }
  return true;
}

static bool forward_arguments(fwd_proxy *proxy, fwd_selector selector, size_t iterations) {
  void *arguments[] = {&M.count, &M.scale};
  for (size_t k = 0; k < iterations; k++) {
    if (fwd_forward_arguments(proxy, selector, arguments, 2, NULL, 0) != FWD_OK) return false;
  }
  return true;
}

static bool forward_named(fwd_proxy *proxy, const char *name, size_t iterations) {
  struct {
    int64_t count;
    double scale;
  } frame = {M.count, M.scale};
  for (size_t k = 0; k < iterations; k++) {
    if (fwd_forward_named(proxy, name, &frame, sizeof frame, NULL, 0) != FWD_OK) return false;
  }
  return true;
}

bool bench_emit(fwd_proxy *proxy, bench_entry entry, fwd_selector selector, size_t iterations) {
  switch (entry) {
    case BENCH_ENTRY_FORWARD: return forward(proxy, selector, iterations);
    case BENCH_ENTRY_ARGUMENTS: return forward_arguments(proxy, selector, iterations);
    case BENCH_ENTRY_NAMED: return forward_named(proxy, fwd_selector_name(selector), iterations);
  }
  return false;
}

BENCH_LOOP void bench_call_function(void (*function)(void), size_t iterations) {
  for (size_t k = 0; k < iterations; k++) ((void (*)(int64_t, double))function)(M.count, M.scale);
}
