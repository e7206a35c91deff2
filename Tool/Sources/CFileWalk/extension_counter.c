// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#define _GNU_SOURCE

#include "extension_counter.h"

#include <ftw.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "file_walk.h"

struct extension_counter {
  /// One reference of the creator, one of the subscription.
  atomic_int references;
  fwd_proxy *proxy;
  fwd_subscription subscription;
  uint64_t file_limit;
  uint64_t files;
  bool has_left;
  bool has_failed;
  /// The extensions in the order of their first files.
  extension_count *counts;
  size_t count;
  size_t capacity;
  /// Open addressing: an index of `counts` and 1 more; 0 is free. The size is a
  /// power of two.
  uint32_t *slots;
  size_t slot_count;
};

extension_counter *extension_counter_create(void) {
  extension_counter *counter = calloc(1, sizeof *counter);
  if (counter) atomic_init(&counter->references, 1);
  return counter;
}

void extension_counter_release(extension_counter *counter) {
  if (!counter || atomic_fetch_sub_explicit(&counter->references, 1, memory_order_acq_rel) > 1) return;
  for (size_t index = 0; index < counter->count; index++) free((char *)counter->counts[index].name);
  free(counter->counts);
  free(counter->slots);
  free(counter);
}

bool extension_counter_has_left(const extension_counter *counter) { return counter->has_left; }

bool extension_counter_has_failed(const extension_counter *counter) { return counter->has_failed; }

size_t extension_counter_count(const extension_counter *counter) { return counter->count; }

extension_count extension_counter_at(const extension_counter *counter, size_t index) {
  return counter->counts[index];
}

// The table of extensions.

/// FNV-1a.
static uint64_t hash(const char *name, size_t length) {
  uint64_t value = 0xcbf29ce484222325u;
  for (size_t index = 0; index < length; index++) value = (value ^ (unsigned char)name[index]) * 0x100000001b3u;
  return value;
}

/// The slot that holds the extension, or the free one where it belongs.
static size_t find_slot(const extension_counter *counter, const char *name, size_t length) {
  size_t mask = counter->slot_count - 1;
  for (size_t slot = hash(name, length) & mask;; slot = (slot + 1) & mask) {
    if (counter->slots[slot] == 0) return slot;
    const extension_count *found = &counter->counts[counter->slots[slot] - 1];
    if (found->length == length && memcmp(found->name, name, length) == 0) return slot;
  }
}

/// Doubles the room once it is half full.
static bool make_room(extension_counter *counter) {
  if (counter->count < counter->capacity) return true;
  size_t capacity = counter->capacity ? 2 * counter->capacity : 64;
  if (capacity >= UINT32_MAX / 2) return false;
  extension_count *counts = realloc(counter->counts, capacity * sizeof *counts);
  if (!counts) return false;
  counter->counts = counts;
  uint32_t *slots = calloc(2 * capacity, sizeof *slots);
  if (!slots) return false;
  free(counter->slots);
  counter->slots = slots;
  counter->slot_count = 2 * capacity;
  counter->capacity = capacity;
  for (size_t index = 0; index < counter->count; index++) {
    slots[find_slot(counter, counts[index].name, counts[index].length)] = (uint32_t)index + 1;
  }
  return true;
}

static bool add(extension_counter *counter, const char *name, size_t length, uint64_t bytes) {
  if (!make_room(counter)) return false;
  size_t slot = find_slot(counter, name, length);
  if (counter->slots[slot] == 0) {
    char *copy = malloc(length + 1);
    if (!copy) return false;
    memcpy(copy, name, length);
    counter->counts[counter->count] = (extension_count){.name = copy, .length = length};
    counter->slots[slot] = (uint32_t)++counter->count;
  }
  extension_count *found = &counter->counts[counter->slots[slot] - 1];
  found->files += 1;
  // Sparse files can claim any size, so the sum saturates.
  found->bytes = found->bytes + bytes < bytes ? UINT64_MAX : found->bytes + bytes;
  return true;
}

// The subscriber.

/// Implements `visit:status:kind:position:` of FileVisitor.
static int visit(extension_counter *counter, fwd_selector selector, const char *path, const struct stat *status,
                 int kind, struct FTW *position) {
  (void)selector;
  if (file_kind_of(kind, status) != FILE_KIND_REGULAR) return 0;

  // A dot at the beginning (".profile") or at the end ("name.") begins no
  // extension.
  const char *name = path + position->base;
  const char *dot = strrchr(name, '.');
  const char *extension = dot && dot != name ? dot + 1 : "";
  if (!add(counter, extension, strlen(extension), (uint64_t)status->st_size)) counter->has_failed = true;

  if (++counter->files == counter->file_limit) {
    // A subscriber may end its subscription during its own call. The fan-out
    // goes on with the others.
    counter->has_left = true;
    extension_counter_unsubscribe(counter);
  }
  return 0;
}

static const fwd_method methods[] = {
    {"visit:status:kind:position:", "i^v:*^{stat=}i^{FTW=ii}", (void (*)(void))visit},
};

static void release(void *counter) { extension_counter_release(counter); }

fwd_status extension_counter_subscribe(extension_counter *counter, fwd_proxy *proxy, uint64_t file_limit,
                                       fwd_error *error) {
  counter->proxy = proxy;
  counter->file_limit = file_limit;
  atomic_fetch_add_explicit(&counter->references, 1, memory_order_relaxed);
  fwd_status status = fwd_proxy_subscribe(proxy, counter, methods, sizeof methods / sizeof *methods, release,
                                          NULL, &counter->subscription, error);
  if (status != FWD_OK) extension_counter_release(counter);
  return status;
}

void extension_counter_unsubscribe(extension_counter *counter) {
  fwd_subscription subscription = counter->subscription;
  counter->subscription = 0;
  if (subscription) (void)fwd_proxy_unsubscribe(counter->proxy, subscription);
}
