// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A minimal Swift runtime, for tests in C of subscribers that are objects. It defines the functions of swift_runtime.h for
/// objects whose reference counts are in one word, as those of Swift objects are (members/taking.h). So fan-outs change the
/// word themselves. With OBJECTS_COUNTS=unknown in the environment they call the functions here. Include it once in a program.

#ifndef FWD_OBJECTS_H
#define FWD_OBJECTS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
// Weak declarations must precede the definitions.
#include "members/swift_runtime.h"
#include "members/taking.h"

typedef struct fake_object {
  /// `object_magic` until the memory is freed.
  uint64_t magic;
  /// The parts are those of the constants below.
  _Atomic uint64_t counts;
  void *memory;
  /// Called when the last strong reference is released.
  void (*deinit)(struct fake_object *self);
  void *tag;
} fake_object;

static const uint64_t object_magic = 0x0b1ec70b1ec70b1e, freed_magic = 0xf3eedf3eedf3eed;
/// A strong reference, the mark of an object that deinitialises, and an unowned reference. The count of the strong references
/// is one less than their number, and all of them share an unowned one. The memory is freed when the last unowned one goes.
static const uint64_t one_strong = UINT64_C(1) << 33, deinitialises = UINT64_C(1) << 32, one_unowned = 2;
static const uint64_t new_counts = 3;
/// The objects whose memory is allocated, and those of them that have not begun to deinitialise.
static atomic_long objects_allocated, objects_alive;

/// Whether the library is to call the functions here rather than change counts itself.
static bool objects_count_unknown(void) {
  const char *counts = getenv("OBJECTS_COUNTS");
  return counts && strcmp(counts, "unknown") == 0;
}

/// Set by the first `object_create`.
static atomic_bool objects_were_created;

static fake_object *object_check(void *address) {
  fake_object *self = address;
  // Before main, the library looks at the counts of an object that has the first two words only, which is of no class.
  NEED(self->magic == object_magic || (self->magic == 0 && !atomic_load(&objects_were_created)));
  return self;
}

/// Creates an object with one strong reference.
static fake_object *object_create(void (*deinit)(fake_object *self), void *tag) {
  // Every other object is aligned to 8 bytes only, as objects are that the Swift compiler lays out statically.
  static atomic_size_t count;
  atomic_store(&objects_were_created, true);
  char *memory = malloc(sizeof(fake_object) + 8);
  NEED(memory);
  fake_object *made = (fake_object *)(memory + 8 * (atomic_fetch_add(&count, 1) % 2));
  *made = (fake_object){.magic = object_magic, .counts = new_counts, .memory = memory, .deinit = deinit, .tag = tag};
  atomic_fetch_add_explicit(&objects_allocated, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&objects_alive, 1, memory_order_relaxed);
  return made;
}

/// Checks that the library counts references as the environment says.
static inline void objects_check_counting(void) {
  check_begin("the library counts references as it should");
  EXPECT(fwd_counts_are_known != objects_count_unknown());
}

/// The strong references of an object; 0 once it has begun to deinitialise.
static inline long object_strong(fake_object *self) {
  uint64_t counts = atomic_load(&object_check(self)->counts);
  return counts & deinitialises ? 0 : (long)(counts / one_strong) + 1;
}

/// The unowned references, and one that all strong references share.
static inline long object_unowned(fake_object *self) {
  return (long)((uint32_t)atomic_load(&object_check(self)->counts) / one_unowned);
}

void *swift_retain(void *address);
void swift_release(void *address);
void *swift_tryRetain(void *address);
size_t swift_retainCount(void *address);
bool swift_isDeallocating(void *address);
void *swift_unownedRetain(void *address);
void swift_unownedRelease(void *address);
void *swift_weakInit(void *reference, void *address);
void *swift_weakLoadStrong(void *reference);
void swift_weakDestroy(void *reference);

void *swift_unownedRetain(void *address) {
  uint64_t before = atomic_fetch_add_explicit(&object_check(address)->counts, one_unowned, memory_order_relaxed);
  EXPECT((uint32_t)before >= one_unowned);
  return address;
}

void swift_unownedRelease(void *address) {
  fake_object *self = object_check(address);
  uint64_t before = atomic_fetch_sub_explicit(&self->counts, one_unowned, memory_order_acq_rel);
  EXPECT((uint32_t)before >= one_unowned);
  if ((uint32_t)before >= 2 * one_unowned) return;
  EXPECT(before & deinitialises);
  self->magic = freed_magic;
  free(self->memory);
  atomic_fetch_sub_explicit(&objects_allocated, 1, memory_order_relaxed);
}

// No check of the count: a deinitialiser may retain `self`, too.
void *swift_retain(void *address) {
  atomic_fetch_add_explicit(&object_check(address)->counts, one_strong, memory_order_relaxed);
  return address;
}

void swift_release(void *address) {
  fake_object *self = object_check(address);
  uint64_t before = atomic_load_explicit(&self->counts, memory_order_relaxed), after;
  do {
    EXPECT(before >= one_strong || !(before & deinitialises));
    after = before >= one_strong ? before - one_strong : before | deinitialises;
  } while (!atomic_compare_exchange_weak_explicit(&self->counts, &before, after, memory_order_acq_rel,
                                                  memory_order_relaxed));
  if (before >= one_strong) return;
  atomic_fetch_sub_explicit(&objects_alive, 1, memory_order_relaxed);
  if (self->deinit) self->deinit(self);
  swift_unownedRelease(self);
}

void *swift_tryRetain(void *address) {
  fake_object *self = object_check(address);
  uint64_t counts = atomic_load_explicit(&self->counts, memory_order_relaxed);
  do {
    if (counts & deinitialises) return NULL;
  } while (!atomic_compare_exchange_weak_explicit(&self->counts, &counts, counts + one_strong, memory_order_acquire,
                                                  memory_order_relaxed));
  return self;
}

size_t swift_retainCount(void *address) {
  // Then the library takes the counts to be elsewhere.
  if (objects_count_unknown()) return 0;
  return (size_t)(atomic_load_explicit(&object_check(address)->counts, memory_order_relaxed) / one_strong + 1);
}

bool swift_isDeallocating(void *address) {
  return atomic_load_explicit(&object_check(address)->counts, memory_order_relaxed) & deinitialises;
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
