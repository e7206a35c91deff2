// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a thread can do with no more than a reference to a proxy. anchor.h explains why that is safe.

#include "base/hot.h"
#include "fan_out/anchor.h"
#include "fan_out/proxy.h"
#include "members/draft.h"
#include "members/garbage.h"
#include "reclaim/lock.h"

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
  return fwd_held_is_weak(held) && fwd_table_members(record->table) > 1;
}

/// The slow path of `fwd_proxy_reference_leave`. Ends the subscription of `record`. If `record` is NULL, the subscription has
/// ended already, and only the list has to be compacted. Unlocks the anchor. Returns false, and ends nothing, if the owner is
/// dying.
__attribute__((noinline)) static bool end_slowly(fwd_anchor *anchor, fwd_thread_block *block, fwd_record *record) {
  fwd_proxy *proxy = anchor->proxy;
  fwd_subscriber_list *list = fwd_proxy_list(proxy);
  // What runs foreign code needs the owner, which must not die meanwhile.
  bool needs_owner = record && !leaves_only_memory(record);
  void *owner = needs_owner ? fwd_weak_take(anchor->owner) : NULL;
  if (needs_owner && !owner) {
    fwd_lock_leave(&anchor->lock, block);
    return false;
  }
  fwd_garbage garbage = {.first = NULL};
  if (record) {
    fwd_list_end(list, record, &garbage);
  } else {
    fwd_list_compact_if_worth(list, &garbage);
  }
  // Collecting also frees what has waited for readers, which may run foreign code.
  if (garbage.first && !owner) owner = fwd_weak_take(anchor->owner);
  // A dying owner has waited for no reader, so only memory is left. It is of the list's domain, and the C part may go as
  // soon as the lock is open.
  bool keeps_proxy = garbage.first && !owner;
  if (keeps_proxy) fwd_proxy_core_retain(proxy);
  fwd_lock_leave(&anchor->lock, block);
  if (garbage.first) fwd_garbage_collect(garbage);
  if (keeps_proxy) fwd_proxy_core_release(proxy);
  if (owner) fwd_object_release(owner);
  return true;
}

FWD_HOT fwd_leaving fwd_proxy_reference_leave(fwd_proxy_reference reference, fwd_subscription identifier) {
  if (FWD_RARELY(fwd_changes_of_thread != NULL)) return FWD_LEAVING_ASKS_OWNER;
  fwd_anchor *anchor = reference.anchor;
  fwd_thread_block *block = fwd_lock_enter(&anchor->lock);
  fwd_leaving leaving = FWD_LEAVING_NOT_LIVE;
  if (FWD_USUALLY(exists(reference) && !fwd_weak_is_dead(anchor->owner))) {
    fwd_proxy *proxy = anchor->proxy;
    fwd_subscriber_list *list = fwd_proxy_list(proxy);
    bool asks_owner = proxy->is_watched || fwd_proxy_is_closing(proxy);
    uintptr_t held;
    fwd_record *record = asks_owner ? NULL : fwd_list_find_inline(list, identifier, &held);
    if (FWD_USUALLY(record != NULL)) {
      leaving = fwd_record_lives(record) ? FWD_LEAVING_DONE : FWD_LEAVING_NOT_LIVE;
      bool is_plain = fwd_list_end_plain(list, record, held);
      if (FWD_RARELY(!is_plain || fwd_list_compact_in_place(list))) {
        return end_slowly(anchor, block, is_plain ? NULL : record) ? leaving : FWD_LEAVING_NOT_LIVE;
      }
    } else {
      leaving = FWD_LEAVING_ASKS_OWNER;
    }
  }
  fwd_lock_leave(&anchor->lock, block);
  return leaving;
}
