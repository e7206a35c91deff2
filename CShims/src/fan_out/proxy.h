// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_PROXY_H
#define FWD_SRC_PROXY_H

#include "fan_out/method_set.h"
#include "members/subscriber_list.h"

/// Its list of subscriptions follows in the same allocation, and then its room.
struct fwd_proxy {
  void *owner;
  const fwd_proxy_operations *operations;
  /// For `operations->report`.
  void *reporter;
  /// A weak reference to the owner; 0 until the proxy is shared. Set after all else that `fwd_proxy_core_share` prepares.
  _Atomic fwd_weak weak_owner;
  /// One is the owner's, one is of each function that an object owns, and one is of each thread that frees what a
  /// subscription has left.
  _Atomic size_t references;
  /// The references to the owner that C programs have (pinning.h). Above 0 only if the proxy is shared.
  _Atomic size_t lent_references;
  fwd_method_set *methods;
  /// The room's offset from the proxy, in bytes.
  size_t room;
  /// It has the lock of the list.
  fwd_anchor *anchor;
  bool ignores_unknown_selectors;
  /// Whether the owner is dying. Set before any destroy notifier runs. Threads that have a reference to the owner read
  /// false, since it is set after the last one is gone.
  _Atomic bool is_closing;
  /// Whether it is a part of another proxy, which C programs do not know.
  bool is_hidden;
  /// Whether the owner has to be asked for each change of the list. Under the lock.
  bool is_watched;
  /// Whether the proxy has a reference to its methods.
  bool keeps_methods;
  /// Whether invocations without a response go to `operations->forward_unhandled`.
  _Atomic bool forwards_unhandled;
};

_Static_assert(sizeof(struct fwd_proxy) % _Alignof(fwd_subscriber_list) == 0, "the list begins where the proxy ends");

/// The list of the proxy's subscriptions.
static inline fwd_subscriber_list *fwd_proxy_list(const fwd_proxy *proxy) {
  // Only the proxy is constant.
  return (fwd_subscriber_list *)((uintptr_t)proxy + sizeof *proxy);
}

/// Whether the owner is dying.
static inline bool fwd_proxy_is_closing(const fwd_proxy *proxy) {
  return atomic_load_explicit(&proxy->is_closing, memory_order_relaxed);
}

/// Whether fan-outs may do without a reference to the owner.
static inline bool fwd_proxy_is_shared(const fwd_proxy *proxy) {
  return atomic_load_explicit(&proxy->weak_owner, memory_order_acquire) != 0;
}

/// Retains the owner for the call of a C program, which may release its last reference meanwhile, and returns it. Returns
/// NULL if the owner is dying: then a destroy notifier calls, which may run after the owner's death if the proxy is shared.
static inline void *fwd_proxy_hold(const fwd_proxy *proxy) {
  if (__builtin_expect(fwd_proxy_is_closing(proxy), 0)) return NULL;
  fwd_object_retain(proxy->owner);
  return proxy->owner;
}

/// Passes an error to the proxy's error handler.
static inline void fwd_proxy_report(const fwd_proxy *proxy, fwd_selector selector, const fwd_error *error) {
  proxy->operations->report(proxy->reporter, selector, error);
}

#endif
