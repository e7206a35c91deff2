// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_PROXY_H
#define FWD_SRC_PROXY_H

#include "record.h"
#include "subscriber_list.h"

/// A method with what the fan-out would otherwise ask the signature for at each invocation.
typedef struct fwd_method_entry {
  /// First, so that a pointer to it is one to the entry.
  fwd_proxy_method method;
  size_t index;
  size_t argument_count;
  size_t hidden_count;
  fwd_layout result;
  /// The bytes of the result that carry value.
  size_t value_size;
  bool returns_object;
} fwd_method_entry;

struct fwd_proxy {
  void *owner;
  const fwd_proxy_operations *operations;
  fwd_subscriber_list *list;
  bool ignores_unknown_selectors;
  size_t method_count;
  /// A power of two above twice the count; entries are method indices plus one, 0 is free.
  size_t slot_count;
  uint32_t *slots;
  fwd_method_entry *methods;
};

static inline const fwd_method_entry *fwd_method_entry_of(const fwd_proxy_method *method) {
  return (const fwd_method_entry *)method;
}

#endif
