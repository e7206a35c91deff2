// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_PROXY_H
#define FWD_SRC_PROXY_H

#include "call/call_interface.h"
#include "fwd_proxy.h"
#include "fan_out/replay.h"
#include "members/subscriber_list.h"

/// A method with what the fan-out would otherwise ask the signature for at each invocation.
typedef struct fwd_method_entry {
  /// First, so that a pointer to it is one to the entry.
  fwd_proxy_method method;
  size_t index;
  uint32_t argument_count;
  uint32_t hidden_count;
  size_t frame_size;
  size_t frame_alignment;
  /// Where the arguments behind the hidden ones stand in the frame.
  uint32_t *offsets;
  fwd_layout result;
  /// The bytes of the result that carry value.
  size_t value_size;
  bool returns_object;
  const fwd_cif *cif;
  /// NULL if there is none: then calls go through `cif`.
  const fwd_call_plan *plan;
  /// For void methods that are called alike whatever happens; NULL if there are none.
  fwd_replayers replayers;
  fwd_register_loads loads;
} fwd_method_entry;

struct fwd_proxy {
  void *owner;
  const fwd_proxy_operations *operations;
  fwd_subscriber_list *list;
  bool ignores_unknown_selectors;
  /// Whether the last reference has been released. Set by the releasing thread before any destroy notifier runs, and
  /// asked by the notifiers, so on one thread.
  bool is_closing;
  size_t method_count;
  /// A power of two, at least twice the count; entries are method indices plus one, 0 is free.
  size_t slot_count;
  uint32_t *slots;
  /// The offsets of all methods.
  uint32_t *offsets;
  fwd_method_entry *methods;
  /// Whether the operations are asked where nobody responds.
  _Atomic bool forwards_unhandled;
};

static inline const fwd_method_entry *fwd_method_entry_of(const fwd_proxy_method *method) {
  return (const fwd_method_entry *)method;
}

#endif
