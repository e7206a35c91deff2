// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The methods of proxies of one kind, with all that a fan-out needs of their signatures, worked out once.

#ifndef FWD_SRC_METHOD_SET_H
#define FWD_SRC_METHOD_SET_H

#include <stdatomic.h>

#include "call/call_interface.h"
#include "fan_out/replay.h"
#include "fwd_proxy.h"
#include "members/record.h"

/// See `is_small`.
enum { FWD_SMALL_ARGUMENTS = 8, FWD_SMALL_RESULT = 16 };

/// A method of a proxy, compiled.
typedef struct fwd_compiled_method {
  /// First, so that a pointer to it is one to the compiled method.
  fwd_proxy_method method;
  size_t index;
  /// The offset in bytes of its implementation in a dispatch table.
  size_t implementation;
  /// All arguments, the hidden ones included.
  uint32_t argument_count;
  /// The receiver, and the selector if functions take it.
  uint32_t hidden_count;
  size_t frame_size;
  /// The alignment of a frame minus 1: the bits that are 0 in an aligned frame's address.
  size_t alignment_mask;
  /// The frame offset of each argument that is not hidden.
  uint32_t *offsets;
  fwd_layout result;
  /// The bytes of the result without padding.
  size_t value_size;
  /// The bits of the last of these bytes that tell whether a number is zero: all, or all but a floating-point number's sign.
  uint8_t last_byte_mask;
  bool returns_object;
  /// Whether deliveries have nothing to decide: there is no result, and every responder is called.
  bool is_plain;
  /// Whether a fan-out needs the last result only, so that each may overwrite the one before it: every responder is called, and
  /// no earlier result is read, combined or released. True for a plain method.
  bool needs_last_only;
  const fwd_cif *cif;
  /// NULL if the signature has none: then calls go through `cif`.
  const fwd_call_plan *plan;
  /// How the functions of a void method that goes to all responders are called; all NULL if the loops are not for it.
  fwd_replayers replayers;
  /// Whether FWD_REPLAY_NARROW words are enough for the registers, and for pointers to all arguments.
  bool is_narrow;
  /// Whether a fan-out that decides after each delivery needs no more than FWD_SMALL_ARGUMENTS pointers to arguments,
  /// FWD_SMALL_RESULT bytes for a result, and no room for arguments on the stack.
  bool is_small;
  /// Whether the method takes more than FWD_REPLAY_NARROW registers, and a filler (abi/plan.h) can load them.
  bool is_filled;
  /// Prepared if there are replayers, or the method `is_filled`.
  fwd_register_loads loads;
} fwd_compiled_method;

/// Immutable, so proxies may share it.
struct fwd_method_set {
  _Atomic size_t references;
  /// A Swift object with a reference, which keeps what the methods refer to; or NULL.
  void *keeper;
  size_t count;
  fwd_compiled_method *methods;
  /// The memory of all methods' offsets.
  uint32_t *offsets;
  /// A hash table from selectors to method indices plus one; 0 is a free slot. The number of slots is a power of two, at
  /// least twice the number of methods.
  size_t slot_count;
  uint32_t slots[];
};

static inline const fwd_compiled_method *fwd_compiled_method_of(const fwd_proxy_method *method) {
  return (const fwd_compiled_method *)method;
}

/// Returns a record's implementation of a method. It may be empty.
static inline const fwd_implementation *fwd_implementation_by(const fwd_record *record, const fwd_compiled_method *method) {
  return fwd_dispatch_table_at_offset(record->table, method->implementation);
}

/// The slot that a search for a selector begins at.
static inline size_t fwd_method_set_slot(const fwd_method_set *set, fwd_selector selector) {
  // Selectors are heap addresses: their low bits are alike, so they are mixed first.
  return (size_t)(((uint64_t)(uintptr_t)selector * 0x9E3779B97F4A7C15u) >> 32) & (set->slot_count - 1);
}

/// Finds a method; NULL if the set has none with the selector, or the selector is NULL.
static inline const fwd_compiled_method *fwd_method_set_find(const fwd_method_set *set, fwd_selector selector) {
  if (!selector) return NULL;
  for (size_t slot = fwd_method_set_slot(set, selector); set->slots[slot]; slot = (slot + 1) & (set->slot_count - 1)) {
    const fwd_compiled_method *compiled = &set->methods[set->slots[slot] - 1];
    if (compiled->method.selector == selector) return compiled;
  }
  return NULL;
}

#endif
