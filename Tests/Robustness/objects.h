// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A minimal Swift runtime, for tests in C of subscribers that are objects. It defines the functions of swift_runtime.h
/// for objects that have a strong and an unowned reference count. Include it once in a program.

#ifndef FWD_OBJECTS_H
#define FWD_OBJECTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "check.h"
// Weak declarations must precede the definitions.
#include "members/swift_runtime.h"

typedef struct fake_object {
  /// `object_magic` until the memory is freed.
  uint64_t magic;
  void *memory;
  /// The strong references; 0 once deinitialisation has begun.
  atomic_long strong;
  /// The unowned references, and one that all strong references share. The memory is freed when it reaches 0.
  atomic_long unowned;
  /// Called when the last strong reference is released.
  void (*deinit)(struct fake_object *self);
  void *tag;
} fake_object;

static const uint64_t object_magic = 0x0b1ec70b1ec70b1e;
/// The objects whose memory is allocated, and those of them that have not begun to deinitialise.
static atomic_long objects_allocated, objects_alive;

static fake_object *object_check(void *address) {
  fake_object *self = address;
  NEED(self->magic == object_magic);
  return self;
}

/// Creates an object with one strong reference.
static fake_object *object_create(void (*deinit)(fake_object *self), void *tag) {
  // Every other object is aligned to 8 bytes only, as objects are that the Swift compiler lays out statically.
  static atomic_size_t count;
  char *memory = malloc(sizeof(fake_object) + 8);
  NEED(memory);
  fake_object *made = (fake_object *)(memory + 8 * (atomic_fetch_add(&count, 1) % 2));
  *made = (fake_object){.magic = object_magic, .memory = memory, .deinit = deinit, .tag = tag};
  atomic_init(&made->strong, 1);
  atomic_init(&made->unowned, 1);
  atomic_fetch_add_explicit(&objects_allocated, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&objects_alive, 1, memory_order_relaxed);
  return made;
}

void *swift_retain(void *address);
void swift_release(void *address);
void *swift_tryRetain(void *address);
bool swift_isDeallocating(void *address);
void *swift_unownedRetain(void *address);
void swift_unownedRelease(void *address);
void *swift_weakInit(void *reference, void *address);
void *swift_weakLoadStrong(void *reference);
void swift_weakDestroy(void *reference);

void *swift_unownedRetain(void *address) {
  long before = atomic_fetch_add_explicit(&object_check(address)->unowned, 1, memory_order_relaxed);
  EXPECT(before > 0);
  return address;
}

void swift_unownedRelease(void *address) {
  fake_object *self = object_check(address);
  long before = atomic_fetch_sub_explicit(&self->unowned, 1, memory_order_acq_rel);
  EXPECT(before > 0);
  if (before != 1) return;
  EXPECT(atomic_load_explicit(&self->strong, memory_order_relaxed) == 0);
  self->magic = 0;
  free(self->memory);
  atomic_fetch_sub_explicit(&objects_allocated, 1, memory_order_relaxed);
}

// No check of the count: a deinitialiser may retain `self`, too.
void *swift_retain(void *address) {
  atomic_fetch_add_explicit(&object_check(address)->strong, 1, memory_order_relaxed);
  return address;
}

void swift_release(void *address) {
  fake_object *self = object_check(address);
  long before = atomic_fetch_sub_explicit(&self->strong, 1, memory_order_acq_rel);
  EXPECT(before > 0);
  if (before != 1) return;
  atomic_fetch_sub_explicit(&objects_alive, 1, memory_order_relaxed);
  if (self->deinit) self->deinit(self);
  swift_unownedRelease(self);
}

void *swift_tryRetain(void *address) {
  fake_object *self = object_check(address);
  long strong = atomic_load_explicit(&self->strong, memory_order_relaxed);
  do {
    if (strong == 0) return NULL;
  } while (!atomic_compare_exchange_weak_explicit(&self->strong, &strong, strong + 1,
                                                  memory_order_acquire, memory_order_relaxed));
  return self;
}

bool swift_isDeallocating(void *address) {
  return atomic_load_explicit(&object_check(address)->strong, memory_order_relaxed) == 0;
}

// As in Swift, a weak reference to an object that is being deinitialised is empty from the start.
void *swift_weakInit(void *reference, void *address) {
  bool dying = swift_isDeallocating(address);
  void **place = reference;
  place[0] = dying ? NULL : swift_unownedRetain(address);
  place[1] = NULL;
  return reference;
}

void *swift_weakLoadStrong(void *reference) {
  void *address = *(void **)reference;
  return address ? swift_tryRetain(address) : NULL;
}

void swift_weakDestroy(void *reference) {
  void *address = *(void **)reference;
  if (address) swift_unownedRelease(address);
}

#endif
