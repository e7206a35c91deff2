// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_PROXY_H
#define FWD_SRC_PROXY_H

#include "fan_out/method_set.h"
#include "members/subscriber_list.h"

struct fwd_proxy {
  void *owner;
  const fwd_proxy_operations *operations;
  fwd_subscriber_list *list;
  bool ignores_unknown_selectors;
  /// Whether the last reference has been released. Set by the releasing thread before any destroy notifier runs. Threads
  /// that have a reference read false, since it is set after the last one is gone.
  bool is_closing;
  fwd_method_set *methods;
  /// Whether invocations without a response go to `operations->forward_unhandled`.
  _Atomic bool forwards_unhandled;
};

#endif
