// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/method_set.h"

#include <float.h>
#include <stdlib.h>

#include "call/signature.h"
#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

/// See `is_plain` of fwd_compiled_method.
static bool is_plain(const fwd_proxy_method *method, const fwd_layout *result) {
  return result->size == 0 && !method->fold.step && method->policy == FWD_RESULT_DEFAULT;
}

/// See `needs_last_only` of fwd_compiled_method.
static bool needs_last_only(const fwd_compiled_method *compiled) {
  return compiled->is_plain ||
         (compiled->method.policy == FWD_RESULT_ALL_LAST && !compiled->method.fold.step && !compiled->returns_object);
}

/// Fills a compiled method. `offsets` has room for the frame offset of each argument.
static void compile(fwd_compiled_method *compiled, const fwd_proxy_method *method, size_t index,
                    uint32_t *offsets) {
  fwd_signature *signature = fwd_signature_retain(method->signature);
  compiled->method = *method;
  compiled->index = index;
  compiled->implementation = fwd_dispatch_table_offset(index);
  compiled->argument_count = (uint32_t)fwd_signature_argument_count(signature);
  compiled->hidden_count = (uint32_t)fwd_signature_hidden_count(signature);
  compiled->frame_size = fwd_signature_frame_size(signature);
  compiled->alignment_mask = fwd_signature_frame_alignment(signature) - 1;
  compiled->offsets = offsets;
  for (size_t i = compiled->hidden_count; i < compiled->argument_count; i++) {
    fwd_layout layout;
    fwd_signature_argument(signature, i, &layout);
    // Fits: a frame has at most FWD_BY_VALUE_LIMIT bytes.
    offsets[i - compiled->hidden_count] = (uint32_t)layout.offset;
  }
  fwd_signature_result(signature, &compiled->result);
  const fwd_type *result = fwd_encoding_type(fwd_signature_encoding(signature),
                                             fwd_signature_result_type(signature));
  compiled->returns_object = result->kind == FWD_TYPE_OBJECT;
  // The x87 format has 80 bits, and padding after them.
  bool is_x87 = result->kind == FWD_TYPE_LONG_DOUBLE && LDBL_MANT_DIG == 64;
  compiled->value_size = is_x87 ? 10 : compiled->result.size;
  bool is_floating =
      result->kind == FWD_TYPE_FLOAT || result->kind == FWD_TYPE_DOUBLE || result->kind == FWD_TYPE_LONG_DOUBLE;
  compiled->last_byte_mask = is_floating && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0x7f : 0xff;
  compiled->cif = fwd_signature_cif(signature);
  compiled->plan = fwd_cif_plan(compiled->cif);
  // Arguments without bytes take no register, so there may be more arguments than registers. A loop
  // has room for as many pointers as registers.
  compiled->is_plain = is_plain(method, &compiled->result);
  compiled->needs_last_only = needs_last_only(compiled);
  if (compiled->plan && compiled->is_plain && compiled->argument_count <= FWD_REPLAY_WIDE) {
    compiled->replayers = fwd_replayers_find(compiled->plan);
  }
  compiled->is_small = compiled->plan && compiled->plan->stack_size == 0 && compiled->result.size <= FWD_SMALL_RESULT &&
                       compiled->argument_count <= FWD_SMALL_ARGUMENTS;
#if FWD_HAS_FILLED_CALLS
  const fwd_call_plan *plan = compiled->plan;
  compiled->is_filled = plan && fwd_replay_fits(plan) && plan->integer_count + plan->vector_count > FWD_REPLAY_NARROW &&
                        compiled->argument_count <= FWD_REPLAY_WIDE;
#endif
  if (compiled->replayers.call || compiled->is_filled) {
    compiled->loads = fwd_replay_prepare(compiled->plan, offsets, compiled->hidden_count);
  }
  if (compiled->replayers.call) {
    // Words are read as such, so a frame that need not be aligned like one is copied to them.
    if (compiled->alignment_mask < sizeof(fwd_replay_word) - 1 && compiled->loads.kind == FWD_LOADS_IN_ORDER) {
      compiled->loads.kind = FWD_LOADS_OF_8_BYTES;
    }
    compiled->is_narrow = compiled->argument_count <= FWD_REPLAY_NARROW &&
                          compiled->loads.first + compiled->loads.count <= FWD_REPLAY_NARROW;
  }
}

fwd_method_set *fwd_method_set_create(const fwd_proxy_method *methods, size_t count) {
  size_t slot_count = 4, argument_count = 1;
  while (slot_count < count * 2) slot_count *= 2;
  for (size_t i = 0; i < count; i++) argument_count += fwd_signature_argument_count(methods[i].signature);
  fwd_method_set *set = calloc(1, sizeof *set + slot_count * sizeof set->slots[0]);
  if (!set) return NULL;
  atomic_init(&set->references, 1);
  set->slot_count = slot_count;
  set->offsets = calloc(argument_count, sizeof *set->offsets);
  set->methods = calloc(count ? count : 1, sizeof *set->methods);
  if (!set->offsets || !set->methods) {
    fwd_method_set_release(set);
    return NULL;
  }
  uint32_t *offsets = set->offsets;
  for (size_t i = 0; i < count; i++) {
    compile(&set->methods[i], &methods[i], i, offsets);
    set->count++;
    offsets += set->methods[i].argument_count;
    size_t slot = fwd_method_set_slot(set, methods[i].selector);
    while (set->slots[slot]) slot = (slot + 1) & (slot_count - 1);
    set->slots[slot] = (uint32_t)i + 1;
  }
  return set;
}

void fwd_method_set_keep(fwd_method_set *set, void *object) {
  fwd_object_retain(object);
  set->keeper = object;
}

fwd_method_set *fwd_method_set_retain(fwd_method_set *set) {
  atomic_fetch_add_explicit(&set->references, 1, memory_order_relaxed);
  return set;
}

void fwd_method_set_release(fwd_method_set *set) {
  if (!set || atomic_fetch_sub_explicit(&set->references, 1, memory_order_acq_rel) > 1) return;
  for (size_t i = 0; i < set->count; i++) fwd_signature_release(set->methods[i].method.signature);
  void *keeper = set->keeper;
  free(set->methods);
  free(set->offsets);
  free(set);
  fwd_object_release(keeper);
}

const fwd_proxy_method *fwd_method_set_method(const fwd_method_set *set, fwd_selector selector) {
  const fwd_compiled_method *compiled = fwd_method_set_find(set, selector);
  return compiled ? &compiled->method : NULL;
}

size_t fwd_proxy_method_index(const fwd_proxy_method *method) {
  return fwd_compiled_method_of(method)->index;
}

bool fwd_proxy_method_returns_object(const fwd_proxy_method *method) {
  return fwd_compiled_method_of(method)->returns_object;
}

FWD_SMALL_CODE_END
