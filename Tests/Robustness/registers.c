// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tests that the replay loops load the registers of every shape: each number of integer and vector registers that a void
/// method can have, with a receiver alone and with a receiver and a selector. The first integer and the first vector have 4
/// bytes, or all have 8. The test calls one, two, three and five subscribers, which the proxy holds weakly or not at all, with a
/// frame and with pointers to the arguments, also in a batch. Each must get its own receiver and its own context. The loop passes
/// the context in the integer register behind those of the method, or on the stack if the method uses all integer registers.

#include <stdint.h>
#include <string.h>

#include "abi/convention.h"
#include "check.h"
#include "fwd_fan_out.h"
#include "objects.h"
#include "proxies.h"

#if FWD_HAS_CALL_PLANS

enum { vector_count = 8, subscriber_limit = 5, argument_limit = FWD_INTEGER_REGISTERS + vector_count };

/// What the subscribers have been given, in the order of the calls.
static struct {
  /// The last is the word on the stack.
  uint64_t integers[FWD_INTEGER_REGISTERS + 1];
  double vectors[vector_count];
} taken[subscriber_limit];
static size_t calls;

#if FWD_IS_SYSV
#define MORE_INTEGERS
#define MORE_VALUES
#else
#define MORE_INTEGERS uint64_t i6, uint64_t i7,
#define MORE_VALUES i6, i7,
#endif

/// Takes all registers. Those that a method does not have hold anything.
static void take(uint64_t i0, uint64_t i1, uint64_t i2, uint64_t i3, uint64_t i4, uint64_t i5, MORE_INTEGERS uint64_t word,
                 double v0, double v1, double v2, double v3, double v4, double v5, double v6, double v7) {
  const uint64_t integers[] = {i0, i1, i2, i3, i4, i5, MORE_VALUES word};
  const double vectors[] = {v0, v1, v2, v3, v4, v5, v6, v7};
  if (!EXPECT(calls < subscriber_limit)) return;
  memcpy(taken[calls].integers, integers, sizeof integers);
  memcpy(taken[calls].vectors, vectors, sizeof vectors);
  calls++;
}

static void report(void *owner, fwd_selector selector, const fwd_error *error) {
  (void)owner, (void)selector;
  EXPECT(!error);
}

static const fwd_proxy_operations operations = {
    .report = report, .met_the_dead = note_nothing, .find_responders = note_nothing};

/// A method of `integers` integer registers, the hidden ones included, and `vectors` vector registers.
typedef struct shape {
  size_t hidden, integers, vectors;
  bool is_weak;
  /// Whether the first integer is an int, and the first vector a float.
  bool is_narrow;
} shape;

static void check_taken(const shape *shape, fwd_selector selector, size_t subscriber_count, void *const *receivers,
                        const char *contexts) {
  EXPECT(calls == subscriber_count);
  for (size_t i = 0; i < calls; i++) {
    EXPECT(taken[i].integers[0] == (uint64_t)(uintptr_t)receivers[i]);
    if (shape->hidden == 2) EXPECT(taken[i].integers[1] == (uint64_t)(uintptr_t)selector);
    for (size_t j = shape->hidden; j < shape->integers; j++) {
      bool is_int = shape->is_narrow && j == shape->hidden;
      EXPECT(is_int ? (int32_t)taken[i].integers[j] == -7 : taken[i].integers[j] == 1000 + j);
    }
    for (size_t j = 0; j < shape->vectors; j++) {
      float narrow;
      memcpy(&narrow, &taken[i].vectors[j], sizeof narrow);
      EXPECT(shape->is_narrow && j == 0 ? narrow == 0.25f : taken[i].vectors[j] == 0.5 + (double)j);
    }
    EXPECT(taken[i].integers[shape->integers] == (uint64_t)(uintptr_t)&contexts[i]);
  }
}

static void try_shape(const shape *shape, size_t subscriber_count) {
  static const char contexts[subscriber_limit];
  static int places[subscriber_limit];
  char encoding[64] = "v@";
  if (shape->hidden == 2) strcat(encoding, ":");
  for (size_t i = shape->hidden; i < shape->integers; i++) {
    strcat(encoding, shape->is_narrow && i == shape->hidden ? "i" : "q");
  }
  for (size_t i = 0; i < shape->vectors; i++) strcat(encoding, shape->is_narrow && i == 0 ? "f" : "d");

  fake_object *owner = object_create(NULL, NULL);
  fwd_signature *signature = NULL;
  NEED(fwd_signature_create(encoding, strlen(encoding), &signature, NULL) == FWD_OK);
  fwd_proxy_method method = {.selector = fwd_selector_register("take"), .signature = signature};
  fwd_proxy *proxy = new_proxy(&method, 1, owner, &operations);
  NEED(proxy);
  size_t frame_size = fwd_signature_frame_size(signature);
  fwd_signature_release(signature);

  fake_object *objects[subscriber_limit] = {NULL};
  void *receivers[subscriber_limit];
  for (size_t i = 0; i < subscriber_count; i++) {
    if (shape->is_weak) objects[i] = object_create(NULL, NULL);
    receivers[i] = shape->is_weak ? (void *)objects[i] : (void *)&places[i];
    fwd_dispatch_table *table = fwd_dispatch_table_create(1, NULL);
    NEED(table);
    *fwd_dispatch_table_entry(table, 0) =
        (fwd_implementation){.function = (void (*)(void))take, .context = &contexts[i]};
    fwd_subscriber subscriber = {
        .object = objects[i], .hold = shape->is_weak ? FWD_HOLD_WEAK : FWD_HOLD_NONE, .receiver = receivers[i]};
    fwd_garbage garbage = {.first = NULL};
    NEED(fwd_list_insert(fwd_proxy_core_list(proxy), &subscriber, table, FWD_LIST_END, &garbage));
    fwd_garbage_collect(garbage);
    fwd_dispatch_table_release(table);
  }

  _Alignas(16) char frame[8 * argument_limit];
  void *arguments[argument_limit];
  size_t count = 0, size = 0;
  NEED(frame_size <= sizeof frame);
  for (size_t i = shape->hidden; i < shape->integers + shape->vectors; i++) {
    bool is_vector = i >= shape->integers;
    size_t index = is_vector ? i - shape->integers : i - shape->hidden;
    int32_t narrow_integer = -7;
    float narrow_vector = 0.25f;
    int64_t integer = 1000 + (int64_t)i;
    double vector = 0.5 + (double)index;
    bool is_narrow = shape->is_narrow && index == 0;
    size_t bytes = is_narrow ? 4 : 8;
    size = (size + bytes - 1) / bytes * bytes;
    const void *value = is_vector ? (is_narrow ? (void *)&narrow_vector : (void *)&vector)
                                  : (is_narrow ? (void *)&narrow_integer : (void *)&integer);
    arguments[count++] = memcpy(frame + size, value, bytes);
    size += bytes;
  }

  calls = 0;
  EXPECT(fwd_forward(proxy, method.selector, frame, frame_size, NULL, 0) == FWD_OK);
  check_taken(shape, method.selector, subscriber_count, receivers, contexts);
  calls = 0;
  EXPECT(fwd_forward_arguments(proxy, method.selector, arguments, count, NULL, 0) == FWD_OK);
  check_taken(shape, method.selector, subscriber_count, receivers, contexts);

  calls = 0;
  fwd_batch *batch = fwd_batch_create(proxy);
  NEED(batch);
  EXPECT(fwd_batch_forward(batch, method.selector, frame, frame_size, NULL, 0) == FWD_OK);
  check_taken(shape, method.selector, subscriber_count, receivers, contexts);
  fwd_batch_destroy(batch);

  fwd_proxy_core_release(proxy);
  swift_release(owner);
  for (size_t i = 0; i < subscriber_count; i++) {
    if (objects[i]) swift_release(objects[i]);
  }
}

int main(void) {
  // The names are printed at the end, too.
  static char names[3][FWD_INTEGER_REGISTERS + 1][vector_count + 1][4][80];
  for (size_t hidden = 1; hidden <= 2; hidden++) {
    for (size_t integers = hidden; integers <= FWD_INTEGER_REGISTERS; integers++) {
      for (size_t vectors = 0; vectors <= vector_count; vectors++) {
        for (int way = 0; way < 4; way++) {
          bool is_weak = way & 1, is_narrow = way & 2;
          char *name = names[hidden][integers][vectors][way];
          snprintf(name, 80, "%zu hidden, %zu integer and %zu vector registers, %s%s", hidden, integers, vectors,
                   is_weak ? "weak" : "not held", is_narrow ? ", two of 4 bytes" : "");
          check_begin(name);
          const size_t counts[] = {1, 2, 3, subscriber_limit};
          for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            try_shape(&(shape){hidden, integers, vectors, is_weak, is_narrow}, counts[i]);
          }
        }
      }
    }
  }
  check_begin("all objects are freed");
  EXPECT(atomic_load(&objects_allocated) == 0);
  return check_finish();
}

#else

int main(void) { return check_finish(); }

#endif
