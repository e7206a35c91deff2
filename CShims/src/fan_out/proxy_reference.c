// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a thread can do with no more than a reference to a proxy. anchor.h explains why that is safe.

#include "fan_out/anchor.h"
#include "fan_out/proxy.h"
#include "fwd_draft.h"
#include "members/garbage.h"

fwd_proxy_reference fwd_proxy_core_reference(const fwd_proxy *proxy) {
  fwd_anchor *anchor = proxy->anchor;
  // A load first: all threads that subscribe would write the same cache line.
  if (!atomic_load_explicit(&anchor->is_known, memory_order_relaxed)) {
    atomic_store_explicit(&anchor->is_known, true, memory_order_relaxed);
  }
  return (fwd_proxy_reference){anchor, atomic_load_explicit(&anchor->generation, memory_order_relaxed)};
}

/// Whether the proxy of a reference exists. The anchor is locked.
static bool exists(fwd_proxy_reference reference) {
  fwd_anchor *anchor = reference.anchor;
  uint64_t generation = atomic_load_explicit(&anchor->generation, memory_order_relaxed);
  return generation == reference.generation && anchor->owner;
}

void *fwd_proxy_reference_retain_owner(fwd_proxy_reference reference) {
  fwd_anchor *anchor = reference.anchor;
  fwd_lock_lock(&anchor->lock);
  void *owner = exists(reference) ? fwd_weak_take(anchor->owner) : NULL;
  fwd_lock_unlock(&anchor->lock);
  return owner;
}

/// Whether the end of a subscription leaves only memory behind: no object to release, no notifier to call, and no table,
/// whose functions may have objects.
static bool leaves_only_memory(const fwd_record *record) {
  uintptr_t held = fwd_held_behind_gate(fwd_record_word(record));
  return fwd_held_is_weak(held) && atomic_load_explicit(&record->table->members, memory_order_relaxed) > 1;
}

/// Ends a subscription of a proxy that exists. The anchor is locked, and unlocked when this returns.
static fwd_leaving leave(fwd_anchor *anchor, fwd_subscription identifier) {
  fwd_proxy *proxy = anchor->proxy;
  fwd_subscriber_list *list = fwd_proxy_list(proxy);
  bool asks_owner = proxy->is_watched || fwd_proxy_is_closing(proxy);
  fwd_record *record = asks_owner ? NULL : fwd_list_find(list, identifier);
  // What runs foreign code needs the owner, which must not die meanwhile.
  bool needs_owner = record && !leaves_only_memory(record);
  void *owner = needs_owner ? fwd_weak_take(anchor->owner) : NULL;
  if (!record || (needs_owner && !owner)) {
    fwd_lock_unlock(&anchor->lock);
    return record ? FWD_LEAVING_NOT_LIVE : FWD_LEAVING_ASKS_OWNER;
  }
  bool was_live = fwd_record_lives(record);
  fwd_garbage garbage = {.first = NULL};
  fwd_list_end(list, record, &garbage);
  // Collecting also frees what has waited for readers, which may run foreign code.
  if (garbage.first && !owner) owner = fwd_weak_take(anchor->owner);
  // A dying owner has waited for no reader, so only memory is left. It is of the list's domain, and the C part may go as
  // soon as the lock is open.
  bool keeps_proxy = garbage.first && !owner;
  if (keeps_proxy) fwd_proxy_core_retain(proxy);
  fwd_lock_unlock(&anchor->lock);
  if (garbage.first) fwd_garbage_collect(garbage);
  if (keeps_proxy) fwd_proxy_core_release(proxy);
  if (owner) fwd_object_release(owner);
  return was_live ? FWD_LEAVING_DONE : FWD_LEAVING_NOT_LIVE;
}

fwd_leaving fwd_proxy_reference_leave(fwd_proxy_reference reference, fwd_subscription identifier) {
  if (fwd_thread_changes()) return FWD_LEAVING_ASKS_OWNER;
  fwd_anchor *anchor = reference.anchor;
  fwd_lock_lock(&anchor->lock);
  if (!exists(reference) || fwd_weak_is_dead(anchor->owner)) {
    fwd_lock_unlock(&anchor->lock);
    return FWD_LEAVING_NOT_LIVE;
  }
  return leave(anchor, identifier);
}
