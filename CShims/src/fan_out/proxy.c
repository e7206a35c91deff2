// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The C part of a proxy: its methods by selector, and its subscribers.

#include "fan_out/proxy.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"

// MARK: Creation

fwd_proxy *fwd_proxy_core_create(fwd_method_set *methods, bool ignores_unknown_selectors, size_t room, void *owner,
                                 const fwd_proxy_operations *operations) {
  size_t size = sizeof(fwd_proxy) + fwd_list_size(methods->count);
  size_t alignment = _Alignof(max_align_t), offset = (size + alignment - 1) & ~(alignment - 1);
  fwd_proxy *proxy = calloc(1, offset + room);
  if (!proxy) return NULL;
  fwd_list_init(fwd_proxy_list(proxy), methods->count, proxy);
  proxy->owner = owner;
  proxy->operations = operations;
  atomic_init(&proxy->references, 1);
  proxy->room = offset;
  proxy->ignores_unknown_selectors = ignores_unknown_selectors;
  proxy->methods = fwd_method_set_retain(methods);
  return proxy;
}

void fwd_proxy_core_close(fwd_proxy *proxy, fwd_garbage *garbage) {
  atomic_store_explicit(&proxy->is_closing, true, memory_order_relaxed);
  fwd_list_close(fwd_proxy_list(proxy), garbage);
}

bool fwd_proxy_core_is_closing(const fwd_proxy *proxy) { return fwd_proxy_is_closing(proxy); }

fwd_status fwd_proxy_core_fail_closing(fwd_error *error) {
  return fwd_fail(error, FWD_DEAD, 0,
                  "the proxy is being released: its last reference is gone, and its subscriptions have ended");
}

bool fwd_proxy_core_share(fwd_proxy *proxy) {
  if (proxy->weak_owner) return true;
  proxy->weak_owner = fwd_weak_create(proxy->owner, fwd_weak_kind_in_use());
  if (!proxy->weak_owner) return false;
  fwd_object_retain(proxy->reporter);
  return true;
}

bool fwd_proxy_core_is_shared(const fwd_proxy *proxy) { return proxy->weak_owner; }

void fwd_proxy_core_retain(fwd_proxy *proxy) {
  atomic_fetch_add_explicit(&proxy->references, 1, memory_order_relaxed);
}

void fwd_proxy_core_release(fwd_proxy *proxy) {
  if (!proxy) return;
  // Release and acquire: what others have done with the proxy comes before it is freed.
  if (atomic_fetch_sub_explicit(&proxy->references, 1, memory_order_acq_rel) != 1) return;
  if (!fwd_proxy_is_closing(proxy)) {
    fwd_garbage garbage = {.first = NULL};
    fwd_proxy_core_close(proxy, &garbage);
    fwd_garbage_free(garbage);
  }
  fwd_method_set *methods = proxy->methods;
  fwd_weak weak_owner = proxy->weak_owner;
  void *reporter = weak_owner ? proxy->reporter : NULL;
  // With the list the proxy goes.
  fwd_list_destroy(fwd_proxy_list(proxy));
  fwd_method_set_release(methods);
  if (weak_owner) fwd_weak_destroy(weak_owner);
  fwd_object_release(reporter);
}

void fwd_proxy_core_adopt(fwd_proxy *proxy, void *owner, void *reporter) {
  proxy->owner = owner;
  proxy->reporter = reporter;
}

void *fwd_proxy_core_owner(const fwd_proxy *proxy) { return proxy->owner; }

void fwd_proxy_core_hide(fwd_proxy *proxy) { proxy->is_hidden = true; }

void fwd_proxy_core_set_forwards(fwd_proxy *proxy, bool forwards) {
  atomic_store_explicit(&proxy->forwards_unhandled, forwards, memory_order_release);
}

fwd_subscriber_list *fwd_proxy_core_list(fwd_proxy *proxy) { return fwd_proxy_list(proxy); }

void *fwd_proxy_core_room(fwd_proxy *proxy) { return (char *)proxy + proxy->room; }

fwd_lock *fwd_proxy_core_lock(fwd_proxy *proxy) { return &proxy->lock; }

const fwd_proxy_method *fwd_proxy_core_method(const fwd_proxy *proxy, fwd_selector selector) {
  return fwd_method_set_method(proxy->methods, selector);
}

const fwd_signature *fwd_proxy_signature(const fwd_proxy *proxy, fwd_selector selector) {
  const fwd_proxy_method *method = proxy ? fwd_proxy_core_method(proxy, selector) : NULL;
  return method ? method->signature : NULL;
}
