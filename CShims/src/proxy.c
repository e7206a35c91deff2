// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The C part of a proxy: its methods by selector, and the entries that forward to them.

#include "proxy.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

// MARK: Creation

static size_t slot_of(const fwd_proxy *proxy, fwd_selector selector) {
  // Selectors are heap addresses: their low bits are alike, so they are mixed first.
  return (size_t)(((uint64_t)(uintptr_t)selector * 0x9E3779B97F4A7C15u) >> 32) & (proxy->slot_count - 1);
}

fwd_proxy *fwd_proxy_core_create(const fwd_proxy_method *methods, size_t count, bool ignores_unknown_selectors,
                                 void *owner, const fwd_proxy_operations *operations) {
  fwd_proxy *proxy = calloc(1, sizeof *proxy);
  if (!proxy) return NULL;
  proxy->owner = owner;
  proxy->operations = operations;
  proxy->ignores_unknown_selectors = ignores_unknown_selectors;
  proxy->slot_count = 4;
  while (proxy->slot_count < count * 2) proxy->slot_count *= 2;
  proxy->list = fwd_list_create();
  proxy->slots = calloc(proxy->slot_count, sizeof *proxy->slots);
  proxy->methods = calloc(count ? count : 1, sizeof *proxy->methods);
  if (!proxy->list || !proxy->slots || !proxy->methods) {
    fwd_proxy_core_destroy(proxy);
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    fwd_method_entry *entry = &proxy->methods[i];
    entry->method = methods[i];
    fwd_signature *signature = fwd_signature_retain(methods[i].signature);
    proxy->method_count++;
    entry->index = i;
    entry->argument_count = fwd_signature_argument_count(signature);
    entry->hidden_count = fwd_signature_hidden_count(signature);
    fwd_signature_result(signature, &entry->result);
    const fwd_type *result =
        fwd_encoding_type(fwd_signature_encoding(signature), fwd_signature_result_type(signature));
    entry->returns_object = result->kind == FWD_TYPE_OBJECT;
    size_t slot = slot_of(proxy, methods[i].selector);
    while (proxy->slots[slot]) slot = (slot + 1) & (proxy->slot_count - 1);
    proxy->slots[slot] = (uint32_t)i + 1;
  }
  return proxy;
}

void fwd_proxy_core_destroy(fwd_proxy *proxy) {
  if (!proxy) return;
  fwd_list_destroy(proxy->list);
  for (size_t i = 0; i < proxy->method_count; i++) fwd_signature_destroy(proxy->methods[i].method.signature);
  free(proxy->methods);
  free(proxy->slots);
  free(proxy);
}

void *fwd_proxy_core_owner(const fwd_proxy *proxy) { return proxy->owner; }

fwd_subscriber_list *fwd_proxy_core_list(fwd_proxy *proxy) { return proxy->list; }

const fwd_proxy_method *fwd_proxy_core_method(const fwd_proxy *proxy, fwd_selector selector) {
  if (!selector) return NULL;
  for (size_t slot = slot_of(proxy, selector); proxy->slots[slot]; slot = (slot + 1) & (proxy->slot_count - 1)) {
    const fwd_method_entry *entry = &proxy->methods[proxy->slots[slot] - 1];
    if (entry->method.selector == selector) return &entry->method;
  }
  return NULL;
}

const fwd_signature *fwd_proxy_signature(const fwd_proxy *proxy, fwd_selector selector) {
  const fwd_proxy_method *method = proxy ? fwd_proxy_core_method(proxy, selector) : NULL;
  return method ? method->signature : NULL;
}

// MARK: Capabilities

bool fwd_proxy_core_responds(fwd_proxy *proxy, const fwd_proxy_method *method) {
  size_t index = fwd_method_entry_of(method)->index;
  fwd_snapshot snapshot = fwd_list_enter(proxy->list);
  bool responds = false;
  for (size_t i = 0; i < snapshot.count && !responds; i++) {
    responds = fwd_record_implements(snapshot.records[i], index) && fwd_record_is_live(snapshot.records[i]);
  }
  fwd_list_leave(snapshot);
  return responds;
}

bool fwd_proxy_responds(fwd_proxy *proxy, fwd_selector selector) {
  const fwd_proxy_method *method = proxy ? fwd_proxy_core_method(proxy, selector) : NULL;
  return method && fwd_proxy_core_responds(proxy, method);
}

size_t fwd_proxy_subscriber_count(fwd_proxy *proxy) {
  if (!proxy) return 0;
  fwd_snapshot snapshot = fwd_list_enter(proxy->list);
  size_t count = 0;
  for (size_t i = 0; i < snapshot.count; i++) count += fwd_record_is_live(snapshot.records[i]);
  fwd_list_leave(snapshot);
  return count;
}

// MARK: Forwarding

/// Gives the method in `*method`, or NULL there with FWD_OK if the selector is unknown and to be ignored.
static fwd_status find_method(fwd_proxy *proxy, fwd_selector selector, const char *name,
                              const fwd_proxy_method **method) {
  *method = NULL;
  if (!proxy) return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "forwarding \"%.100s\": no proxy", name);
  *method = fwd_proxy_core_method(proxy, selector);
  if (*method || proxy->ignores_unknown_selectors) return FWD_OK;
  return fwd_fail(NULL, FWD_UNKNOWN_SELECTOR, 0, "no protocol of the proxy declares \"%.150s\"", name);
}

static fwd_status check_result(const fwd_method_entry *entry, const void *result, size_t size, fwd_error *error) {
  if (size == entry->result.size && (result || size == 0)) return FWD_OK;
  if (!result && size == 0) return FWD_OK;
  if (!result) {
    return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "the result buffer of \"%.100s\" is NULL, but %zu bytes long",
                    fwd_selector_name(entry->method.selector), size);
  }
  return fwd_fail(error, FWD_WRONG_SIZE, 0, "the result buffer of \"%.100s\" has %zu bytes, expected %zu",
                  fwd_selector_name(entry->method.selector), size, entry->result.size);
}

fwd_status fwd_forward_method(fwd_proxy *proxy, const fwd_proxy_method *method, const void *frame,
                              size_t frame_size, void *result, size_t result_size, fwd_error *error) {
  const fwd_method_entry *entry = fwd_method_entry_of(method);
  size_t expected = fwd_signature_frame_size(method->signature);
  if (frame_size != expected) {
    return fwd_fail(error, FWD_WRONG_SIZE, 0, "the argument frame of \"%.100s\" has %zu bytes, expected %zu for %.60s",
                    fwd_selector_name(method->selector), frame_size, expected,
                    fwd_encoding_text(fwd_signature_encoding(method->signature)));
  }
  if (!frame && frame_size > 0) {
    return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "the argument frame of \"%.100s\" is NULL, expected %zu bytes",
                    fwd_selector_name(method->selector), expected);
  }
  fwd_status status = check_result(entry, result, result_size, error);
  if (status != FWD_OK) return status;
  // Deliveries read the arguments in place, as values of their types.
  size_t alignment = fwd_signature_frame_alignment(method->signature);
  void *copy = NULL;
  if (((uintptr_t)frame & (alignment - 1)) != 0) {
    copy = aligned_alloc(alignment, frame_size);
    if (!copy) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for an argument frame of %zu bytes", frame_size);
    frame = memcpy(copy, frame, frame_size);
  }
  fwd_delivery delivery = {.frame = frame, .result = result};
  status = fwd_fan_out(proxy, method, &delivery, error);
  free(copy);
  return status;
}

fwd_status fwd_forward(fwd_proxy *proxy, fwd_selector selector, const void *frame, size_t frame_size, void *result,
                       size_t result_size) {
  const fwd_proxy_method *method;
  fwd_status status = find_method(proxy, selector, fwd_selector_name(selector), &method);
  if (!method) return status;
  return fwd_forward_method(proxy, method, frame, frame_size, result, result_size, NULL);
}

fwd_status fwd_forward_named(fwd_proxy *proxy, const char *name, const void *frame, size_t frame_size, void *result,
                             size_t result_size) {
  const fwd_proxy_method *method;
  // Looked up, not registered: names that come from outside must not fill the table.
  fwd_status status = find_method(proxy, fwd_selector_find(name), name ? name : "", &method);
  if (!method) return status;
  return fwd_forward_method(proxy, method, frame, frame_size, result, result_size, NULL);
}

fwd_status fwd_forward_arguments(fwd_proxy *proxy, fwd_selector selector, void *const *arguments, size_t count,
                                 void *result, size_t result_size) {
  const fwd_proxy_method *method;
  fwd_status status = find_method(proxy, selector, fwd_selector_name(selector), &method);
  if (!method) return status;
  const fwd_method_entry *entry = fwd_method_entry_of(method);
  size_t expected = entry->argument_count - entry->hidden_count;
  if (count != expected) {
    return fwd_fail(NULL, FWD_OUT_OF_RANGE, count, "\"%.100s\" got %zu arguments, expected %zu for %.60s",
                    fwd_selector_name(selector), count, expected,
                    fwd_encoding_text(fwd_signature_encoding(method->signature)));
  }
  for (size_t i = 0; i < count; i++) {
    if (!arguments || !arguments[i]) {
      return fwd_fail(NULL, FWD_NULL_ARGUMENT, i, "no address for argument %zu of \"%.100s\"",
                      i + entry->hidden_count, fwd_selector_name(selector));
    }
  }
  status = check_result(entry, result, result_size, NULL);
  if (status != FWD_OK) return status;
  fwd_delivery delivery = {.arguments = arguments, .result = result};
  return fwd_fan_out(proxy, method, &delivery, NULL);
}
