// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The C part of a proxy: its methods by selector, and its subscribers.

#include "fan_out/proxy.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hot.h"
#include "fan_out/anchor.h"
#include "members/draft.h"
#include "reclaim/lock.h"

// MARK: Creation

fwd_proxy *fwd_proxy_core_create(fwd_method_set *methods, bool keeps_methods, bool ignores_unknown_selectors,
                                 size_t room, void *owner, const fwd_proxy_operations *operations) {
  size_t size = sizeof(fwd_proxy) + fwd_list_size(methods->count);
  size_t alignment = _Alignof(max_align_t), offset = (size + alignment - 1) & ~(alignment - 1);
  // glibc before 2.41 gives calloc no memory of the thread's cache, which is several times as fast.
  fwd_proxy *proxy = malloc(offset + room);
  fwd_anchor *anchor = proxy ? fwd_anchor_take() : NULL;
  if (!anchor) {
    free(proxy);
    return NULL;
  }
  // Otherwise the compiler calls calloc.
  atomic_signal_fence(memory_order_seq_cst);
  memset(proxy, 0, offset + room);
  fwd_list_init(fwd_proxy_list(proxy), methods->count, proxy);
  proxy->owner = owner;
  proxy->operations = operations;
  atomic_init(&proxy->references, 1);
  proxy->anchor = anchor;
  anchor->proxy = proxy;
  proxy->room = offset;
  proxy->ignores_unknown_selectors = ignores_unknown_selectors;
  proxy->methods = keeps_methods ? fwd_method_set_retain(methods) : methods;
  proxy->keeps_methods = keeps_methods;
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
  if (fwd_proxy_is_shared(proxy)) return true;
  fwd_lock *lock = &proxy->anchor->lock;
  fwd_lock_lock(lock);
  fwd_weak reference = proxy->weak_owner;
  if (!reference && (reference = fwd_weak_create(proxy->owner, fwd_weak_kind_in_use()))) {
    fwd_object_retain(proxy->reporter);
    if (!proxy->keeps_methods) fwd_method_set_retain(proxy->methods);
    proxy->keeps_methods = true;
    atomic_store_explicit(&proxy->weak_owner, reference, memory_order_release);
  }
  fwd_lock_unlock(lock);
  return reference != 0;
}

bool fwd_proxy_core_is_shared(const fwd_proxy *proxy) { return fwd_proxy_is_shared(proxy); }

bool fwd_proxy_core_is_alone(const fwd_proxy *proxy) {
  return !fwd_proxy_is_shared(proxy) && fwd_lock_is_open(&proxy->anchor->lock);
}

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
  fwd_method_set *methods = proxy->keeps_methods ? proxy->methods : NULL;
  fwd_weak weak_owner = proxy->weak_owner;
  void *reporter = weak_owner ? proxy->reporter : NULL;
  fwd_anchor *anchor = proxy->anchor;
  // With the list the proxy goes.
  fwd_list_destroy(fwd_proxy_list(proxy));
  fwd_method_set_release(methods);
  if (weak_owner) fwd_weak_destroy(weak_owner);
  fwd_object_release(reporter);
  fwd_anchor_give_back(anchor);
}

bool fwd_proxy_core_adopt(fwd_proxy *proxy, void *owner, void *reporter) {
  proxy->owner = owner;
  proxy->reporter = reporter;
  proxy->anchor->owner = fwd_weak_borrow(owner, fwd_weak_kind_in_use());
  return proxy->anchor->owner != 0;
}

void fwd_proxy_core_disown(fwd_proxy *proxy) { fwd_anchor_forget(proxy->anchor); }

void *fwd_proxy_core_owner(const fwd_proxy *proxy) { return proxy->owner; }

void fwd_proxy_core_hide(fwd_proxy *proxy) { proxy->is_hidden = true; }

void fwd_proxy_core_set_forwards(fwd_proxy *proxy, bool forwards) {
  atomic_store_explicit(&proxy->forwards_unhandled, forwards, memory_order_release);
}

fwd_subscriber_list *fwd_proxy_core_list(fwd_proxy *proxy) { return fwd_proxy_list(proxy); }

void *fwd_proxy_core_room(fwd_proxy *proxy) { return (char *)proxy + proxy->room; }

fwd_lock *fwd_proxy_core_lock(fwd_proxy *proxy) { return &proxy->anchor->lock; }

// MARK: Plain changes

void fwd_proxy_core_watch(fwd_proxy *proxy) { proxy->is_watched = true; }

FWD_HOT fwd_subscription fwd_proxy_core_join(fwd_proxy *proxy, void *object, const void *key, fwd_dispatch_table *table,
                                             fwd_hold hold, bool may_repeat, size_t limit) {
  fwd_subscriber_list *list = fwd_proxy_list(proxy);
  bool asks_owner = fwd_changes_of_thread || fwd_proxy_is_closing(proxy) || fwd_is_dying(object);
  if (asks_owner || (!table && !fwd_list_may_share_inline(list))) return 0;
  const fwd_subscriber subscriber = {.object = object, .hold = hold, .receiver = object, .limit = limit};
  fwd_subscription identifier = 0;
  fwd_garbage garbage = {.first = NULL};
  fwd_lock *lock = &proxy->anchor->lock;
  fwd_thread_block *block = fwd_lock_enter(lock);
  fwd_dispatch_table *shared = fwd_list_shared_table_inline(list, key);
  bool is_new = !shared && table && fwd_list_has_room_to_share(list);
  if (is_new) shared = table;
  if (FWD_USUALLY(shared && !proxy->is_watched)) {
    size_t last = fwd_segments_priority_index(list, 0, NULL);
    // With a key, a duplicate is not added: the owner decides what becomes of it.
    identifier = fwd_list_insert_unless(list, &subscriber, shared, last, may_repeat ? NULL : shared->key, &garbage);
    if (FWD_RARELY(is_new) && identifier) fwd_list_share_table(list, shared);
  }
  fwd_lock_leave(lock, block);
  if (FWD_RARELY(garbage.first != NULL)) fwd_garbage_collect(garbage);
  return identifier;
}

// MARK: Looking

const fwd_proxy_method *fwd_proxy_core_method(const fwd_proxy *proxy, fwd_selector selector) {
  return fwd_method_set_method(proxy->methods, selector);
}

const fwd_signature *fwd_proxy_signature(const fwd_proxy *proxy, fwd_selector selector) {
  const fwd_proxy_method *method = proxy ? fwd_proxy_core_method(proxy, selector) : NULL;
  return method ? method->signature : NULL;
}
