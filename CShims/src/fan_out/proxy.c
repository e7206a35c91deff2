// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The C part of a proxy: its methods by selector, and its subscribers.

#include "fan_out/proxy.h"

#include <float.h>
#include <stdlib.h>

#include "base/error.h"
#include "call/signature.h"

// MARK: Creation

static size_t slot_of(const fwd_proxy *proxy, fwd_selector selector) {
  // Selectors are heap addresses: their low bits are alike, so they are mixed first.
  return (size_t)(((uint64_t)(uintptr_t)selector * 0x9E3779B97F4A7C15u) >> 32) & (proxy->slot_count - 1);
}

/// Whether a method's deliveries have nothing to decide: there is no result, and every responder is called.
static bool is_plain(const fwd_proxy_method *method, const fwd_layout *result) {
  return result->size == 0 && !method->fold.step && method->policy == FWD_RESULT_DEFAULT;
}

/// Fills a compiled method. `offsets` has room for the frame offset of each argument.
static void compile(fwd_compiled_method *compiled, const fwd_proxy_method *method, size_t index,
                    uint32_t *offsets) {
  fwd_signature *signature = fwd_signature_retain(method->signature);
  compiled->method = *method;
  compiled->index = index;
  compiled->argument_count = (uint32_t)fwd_signature_argument_count(signature);
  compiled->hidden_count = (uint32_t)fwd_signature_hidden_count(signature);
  compiled->frame_size = fwd_signature_frame_size(signature);
  compiled->frame_alignment = fwd_signature_frame_alignment(signature);
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
  compiled->cif = fwd_signature_cif(signature);
  compiled->plan = fwd_cif_plan(compiled->cif);
  // Arguments without bytes take no register, so there may be more arguments than registers. A loop
  // has room for as many pointers as registers.
  if (compiled->plan && is_plain(method, &compiled->result) && compiled->argument_count <= FWD_REPLAY_WORDS) {
    compiled->replayers = fwd_replayers_find(compiled->plan);
  }
  if (compiled->replayers.weak) {
    compiled->loads = fwd_replay_prepare(compiled->plan, offsets, compiled->hidden_count);
    compiled->is_narrow = compiled->argument_count <= FWD_REPLAY_NARROW &&
                          compiled->loads.first + compiled->loads.count <= FWD_REPLAY_NARROW;
  }
}

fwd_proxy *fwd_proxy_core_create(const fwd_proxy_method *methods, size_t count,
                                 bool ignores_unknown_selectors, void *owner,
                                 const fwd_proxy_operations *operations) {
  fwd_proxy *proxy = calloc(1, sizeof *proxy);
  if (!proxy) return NULL;
  proxy->owner = owner;
  proxy->operations = operations;
  proxy->ignores_unknown_selectors = ignores_unknown_selectors;
  proxy->slot_count = 4;
  while (proxy->slot_count < count * 2) proxy->slot_count *= 2;
  size_t argument_count = 1;
  for (size_t i = 0; i < count; i++) {
    argument_count += fwd_signature_argument_count(methods[i].signature);
  }
  proxy->list = fwd_list_create(count);
  proxy->slots = calloc(proxy->slot_count, sizeof *proxy->slots);
  proxy->offsets = calloc(argument_count, sizeof *proxy->offsets);
  proxy->methods = calloc(count ? count : 1, sizeof *proxy->methods);
  if (!proxy->list || !proxy->slots || !proxy->offsets || !proxy->methods) {
    fwd_proxy_core_destroy(proxy);
    return NULL;
  }
  uint32_t *offsets = proxy->offsets;
  for (size_t i = 0; i < count; i++) {
    compile(&proxy->methods[i], &methods[i], i, offsets);
    proxy->method_count++;
    offsets += proxy->methods[i].argument_count;
    size_t slot = slot_of(proxy, methods[i].selector);
    while (proxy->slots[slot]) slot = (slot + 1) & (proxy->slot_count - 1);
    proxy->slots[slot] = (uint32_t)i + 1;
  }
  return proxy;
}

void fwd_proxy_core_close(fwd_proxy *proxy, fwd_garbage *garbage) {
  proxy->is_closing = true;
  fwd_list_close(proxy->list, garbage);
}

bool fwd_proxy_core_is_closing(const fwd_proxy *proxy) { return proxy->is_closing; }

fwd_status fwd_proxy_core_fail_closing(fwd_error *error) {
  return fwd_fail(error, FWD_DEAD, 0,
                  "the proxy is being released: its last reference is gone, and its subscriptions have ended");
}

void fwd_proxy_core_destroy(fwd_proxy *proxy) {
  if (!proxy) return;
  if (proxy->list && !proxy->is_closing) {
    fwd_garbage garbage = {.first = NULL};
    fwd_proxy_core_close(proxy, &garbage);
    fwd_garbage_free(garbage);
  }
  fwd_list_destroy(proxy->list);
  for (size_t i = 0; i < proxy->method_count; i++) {
    fwd_signature_release(proxy->methods[i].method.signature);
  }
  free(proxy->methods);
  free(proxy->offsets);
  free(proxy->slots);
  free(proxy);
}

void fwd_proxy_core_adopt(fwd_proxy *proxy, void *owner) { proxy->owner = owner; }

void *fwd_proxy_core_owner(const fwd_proxy *proxy) { return proxy->owner; }

void fwd_proxy_core_set_forwards(fwd_proxy *proxy, bool forwards) {
  atomic_store_explicit(&proxy->forwards_unhandled, forwards, memory_order_release);
}

fwd_subscriber_list *fwd_proxy_core_list(fwd_proxy *proxy) { return proxy->list; }

const fwd_proxy_method *fwd_proxy_core_method(const fwd_proxy *proxy, fwd_selector selector) {
  if (!selector) return NULL;
  for (size_t slot = slot_of(proxy, selector); proxy->slots[slot]; slot = (slot + 1) & (proxy->slot_count - 1)) {
    const fwd_compiled_method *compiled = &proxy->methods[proxy->slots[slot] - 1];
    if (compiled->method.selector == selector) return &compiled->method;
  }
  return NULL;
}

size_t fwd_proxy_method_index(const fwd_proxy_method *method) {
  return fwd_compiled_method_of(method)->index;
}

const fwd_signature *fwd_proxy_signature(const fwd_proxy *proxy, fwd_selector selector) {
  const fwd_proxy_method *method = proxy ? fwd_proxy_core_method(proxy, selector) : NULL;
  return method ? method->signature : NULL;
}
