// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// An emission: one fan-out under way, with what it knows of its arguments, its deliveries and its results.

#ifndef FWD_SRC_EMISSION_H
#define FWD_SRC_EMISSION_H

#include <stddef.h>
#include <string.h>

#include "base/short_loop.h"
#include "base/turns.h"
#include "fan_out/nesting.h"
#include "fan_out/proxy.h"
#include "fan_out/replay.h"
#include "fwd_fan_out.h"
#include "members/record.h"

/// One fan-out under way. Each level of a recursion has one on the stack, so it is kept small;
/// Tests/Robustness/nesting.c measures what a level takes.
typedef struct fwd_emission {
  fwd_nesting_frame frame;
  fwd_proxy *proxy;
  const fwd_compiled_method *method;
  const fwd_delivery *delivery;
  size_t responses;
  /// The first failure of a delivery, on the heap; NULL if there was none.
  const struct fwd_kept_error *failure;
  /// A pointer to each argument of the signature. Loops set it only for a delivery by `fwd_deliver_to`. NULL if
  /// C functions are called by a filler, and the delivery has pointers.
  void **arguments;
} fwd_emission;

/// The delivery at hand, where deliveries are made one after another.
typedef struct fwd_at_hand {
  /// NULL whenever code runs that is not the subscriber's.
  const fwd_record *record;
  /// What the delivery writes its result to, and the result that is kept so far.
  void *result;
  void *kept;
  /// The function that was called first, for `fwd_take_turn`.
  fwd_function first;
} fwd_at_hand;

/// A fan-out with something to decide after each delivery.
typedef struct fwd_deciding_emission {
  /// First, so that a pointer to it is one to the whole.
  fwd_emission emission;
  fwd_at_hand at_hand;
} fwd_deciding_emission;

/// Bytes that are aligned as malloc's memory is, which is what any type of an encoding needs.
typedef struct fwd_aligned_bytes {
  _Alignas(max_align_t) unsigned char bytes[_Alignof(max_align_t)];
} fwd_aligned_bytes;

/// A fan-out by a loop.
typedef struct fwd_looped_emission {
  /// The record of the closure at hand, for closures that ask; NULL for a C function, since to store it at each delivery
  /// would cost some percent of a call.
  const fwd_record *record;
  fwd_emission emission;
} fwd_looped_emission;

/// The fan-out by a loop that an emission is part of.
static inline fwd_looped_emission *fwd_looped_emission_of(fwd_emission *state) {
  return (fwd_looped_emission *)((char *)state - offsetof(fwd_looped_emission, emission));
}

/// Begins a fan-out. Sets all of the frame but `outer`. A fan-out that delivers must then call `fwd_nesting_push`.
static inline void fwd_emission_begin(fwd_emission *state, fwd_proxy *proxy, const fwd_compiled_method *method,
                                      const fwd_delivery *delivery, fwd_nesting_kind kind) {
  state->proxy = proxy;
  state->method = method;
  state->delivery = delivery;
  state->responses = 0;
  // These members are adjacent, so compilers set them with one store.
  state->frame.handled = false;
  state->frame.kind = (uint8_t)kind;
  state->frame.met_dead = false;
  state->frame.is_filled = false;
  state->frame.withdrawn = 0;
  state->failure = NULL;
}

// MARK: The caller's part

/// Returns the C function pointer whose call a delivery is, or NULL.
static inline const fwd_function_target *fwd_called_function(const fwd_delivery *delivery) {
  return delivery->arguments ? delivery->function : NULL;
}

/// The depth of the fan-out's visit to the list (reclaim/hazard.h). Arguments behind pointers are mostly those of a C
/// function pointer, whose call is a visit to its slot.
static inline size_t fwd_depth_of(const fwd_delivery *delivery) { return delivery->arguments ? 1 : 0; }

/// Returns the proxy's owner, which lives until the end of the fan-out; NULL if it has died.
void *fwd_emission_pin(fwd_proxy *proxy, const fwd_delivery *delivery);
/// Puts pointers to the arguments, which the method or the caller has, into an array with room for all. Each delivery sets
/// the receiver, which is NULL until then.
static inline void fwd_find_arguments(const fwd_compiled_method *method, const fwd_delivery *delivery, void **arguments) {
  static void *const no_receiver = NULL;
  uint32_t hidden_count = method->hidden_count, count = method->argument_count;
  if (hidden_count > 0) arguments[0] = (void *)(uintptr_t)&no_receiver;
  // Only read, though a pointer array cannot say so.
  if (hidden_count > 1) arguments[1] = (void *)(uintptr_t)&method->method.selector;
  if (delivery->arguments) {
    FWD_SHORT_LOOP
    for (uint32_t i = hidden_count; i < count; i++) arguments[i] = delivery->arguments[i - hidden_count];
    return;
  }
  uintptr_t frame = (uintptr_t)delivery->frame;
  FWD_SHORT_LOOP
  for (uint32_t i = hidden_count; i < count; i++) arguments[i] = (void *)(frame + method->offsets[i - hidden_count]);
}

// MARK: Results

static inline void fwd_emission_release_object(const void *result) {
  void *object;
  memcpy(&object, result, sizeof object);
  fwd_object_release(object);
}

/// Releases a result that nobody gets.
static inline void fwd_emission_discard(const fwd_compiled_method *method, const void *result) {
  if (method->returns_object) fwd_emission_release_object(result);
}

/// Copies a result that the proxy keeps: the caller gets a reference of its own to an object in it.
static inline void fwd_emission_copy_result(const fwd_compiled_method *method, const void *stored, void *result) {
  memcpy(result, stored, method->result.size);
  if (!method->returns_object) return;
  void *object;
  memcpy(&object, stored, sizeof object);
  fwd_object_retain(object);
}

// MARK: The emission of this thread

/// Returns the emission that a frame is part of; NULL if it is part of none.
static inline fwd_emission *fwd_emission_of_frame(fwd_nesting_frame *frame) {
  if (frame->kind == FWD_NESTING_OTHER || frame->kind == FWD_NESTING_MAILED) return NULL;
  return (fwd_emission *)((char *)frame - offsetof(fwd_emission, frame));
}

/// Returns the emission that delivers on this thread, or NULL.
fwd_emission *fwd_emission_of_thread(void);

#endif
