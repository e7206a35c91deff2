// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_PROXY_H
#define FWD_SRC_PROXY_H

#include "call/call_interface.h"
#include "fwd_proxy.h"
#include "fan_out/replay.h"
#include "members/subscriber_list.h"

/// A method of a proxy with all that a fan-out needs of its signature, worked out once.
typedef struct fwd_compiled_method {
  /// First, so that a pointer to it is one to the compiled method.
  fwd_proxy_method method;
  size_t index;
  /// All arguments, the hidden ones included.
  uint32_t argument_count;
  /// The receiver, and the selector if functions take it.
  uint32_t hidden_count;
  size_t frame_size;
  size_t frame_alignment;
  /// The frame offset of each argument that is not hidden.
  uint32_t *offsets;
  fwd_layout result;
  /// The bytes of the result without padding.
  size_t value_size;
  bool returns_object;
  const fwd_cif *cif;
  /// NULL if the signature has none: then calls go through `cif`.
  const fwd_call_plan *plan;
  /// The loops of a void method that goes to all responders; NULL in both if it has none.
  fwd_replayers replayers;
  /// Whether FWD_REPLAY_NARROW words are enough for a loop, and for pointers to all arguments.
  bool is_narrow;
  fwd_register_loads loads;
} fwd_compiled_method;

struct fwd_proxy {
  void *owner;
  const fwd_proxy_operations *operations;
  fwd_subscriber_list *list;
  bool ignores_unknown_selectors;
  /// Whether the last reference has been released. Set by the releasing thread before any destroy notifier runs. Threads
  /// that have a reference read false, since it is set after the last one is gone.
  bool is_closing;
  size_t method_count;
  /// A hash table from selectors to method indices plus one; 0 is a free slot. The number of slots is a power of
  /// two, at least twice the number of methods.
  size_t slot_count;
  uint32_t *slots;
  /// The memory of all methods' offsets.
  uint32_t *offsets;
  fwd_compiled_method *methods;
  /// Whether invocations without a response go to `operations->forward_unhandled`.
  _Atomic bool forwards_unhandled;
};

static inline const fwd_compiled_method *fwd_compiled_method_of(const fwd_proxy_method *method) {
  return (const fwd_compiled_method *)method;
}

#endif
