// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The entries that forward: they find the method and check what was given.

#include <stdlib.h>
#include <string.h>

#include "fan_out/batch.h"
#include "fan_out/check.h"
#include "base/error.h"
#include "fwd_fan_out.h"

/// Gives the method in `*method`, or NULL there with FWD_OK if the selector is unknown and to be ignored.
static fwd_status find_method(fwd_proxy *proxy, fwd_selector selector, const char *name,
                              const fwd_proxy_method **method) {
  *method = NULL;
  if (!proxy) return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "forwarding \"%.100s\": no proxy", name);
  if (!selector && (!name || !*name)) return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "forwarding: no selector");
  *method = fwd_proxy_core_method(proxy, selector);
  if (*method || proxy->ignores_unknown_selectors) return FWD_OK;
  return fwd_fail(NULL, FWD_UNKNOWN_SELECTOR, 0, "no protocol of the proxy declares \"%.150s\"", name);
}

/// What an unknown selector gives: zero, if it is to be ignored.
static fwd_status ignored(fwd_status status, void *result, size_t result_size) {
  if (status == FWD_OK && result) memset(result, 0, result_size);
  return status;
}

/// Gives up the reference that a C program's call had, which may be the last one to the proxy. What that
/// runs may fail in its own ways: the message stays that of the call.
static fwd_status release_owner(void *owner, fwd_status status) {
  if (status == FWD_OK) {
    fwd_object_release(owner);
    return status;
  }
  fwd_error error;
  fwd_error_last(&error);
  fwd_object_release(owner);
  fwd_error_set(NULL, error.status, error.offset, error.message);
  return status;
}

/// Fans out for a C program. It may give up its last reference to the proxy inside the fan-out.
static fwd_status fan_out_held(fwd_proxy *proxy, const fwd_proxy_method *method, const fwd_delivery *delivery) {
  void *owner = proxy->owner;
  fwd_object_retain(owner);
  return release_owner(owner, fwd_fan_out(proxy, method, delivery, NULL));
}

static fwd_status forward_frame(fwd_proxy *proxy, const fwd_proxy_method *method, const void *frame,
                                size_t frame_size, void *result, size_t result_size) {
  void *owner = proxy->owner;
  fwd_object_retain(owner);
  return release_owner(owner, fwd_forward_method(proxy, method, NULL, frame, frame_size, result,
                                                 result_size, NULL));
}

fwd_status fwd_forward(fwd_proxy *proxy, fwd_selector selector, const void *frame, size_t frame_size, void *result,
                       size_t result_size) {
  const fwd_proxy_method *method;
  fwd_status status = find_method(proxy, selector, fwd_selector_name(selector), &method);
  if (!method) return ignored(status, result, result_size);
  return forward_frame(proxy, method, frame, frame_size, result, result_size);
}

fwd_status fwd_forward_named(fwd_proxy *proxy, const char *name, const void *frame, size_t frame_size, void *result,
                             size_t result_size) {
  const fwd_proxy_method *method;
  // Looked up, not registered: names that come from outside must not fill the table.
  fwd_status status = find_method(proxy, fwd_selector_find(name), name ? name : "", &method);
  if (!method) return ignored(status, result, result_size);
  return forward_frame(proxy, method, frame, frame_size, result, result_size);
}

fwd_status fwd_batch_forward(fwd_batch *batch, fwd_selector selector, const void *frame,
                             size_t frame_size, void *result, size_t result_size) {
  const fwd_proxy_method *method;
  fwd_proxy *proxy = batch ? batch->proxy : NULL;
  fwd_status status = find_method(proxy, selector, fwd_selector_name(selector), &method);
  if (!method) return ignored(status, result, result_size);
  // The batch keeps the proxy.
  return fwd_forward_method(proxy, method, batch, frame, frame_size, result, result_size, NULL);
}

/// The layout of an argument, counted behind the receiver and the selector.
static fwd_layout argument_layout(const fwd_method_entry *entry, size_t index) {
  fwd_layout layout;
  fwd_signature_argument(entry->method.signature, index + entry->hidden_count, &layout);
  return layout;
}

/// Forwards arguments that do not all lie where values of their types may: from a frame of their bytes.
static fwd_status forward_copied(fwd_proxy *proxy, const fwd_method_entry *entry, void *const *arguments,
                                 size_t count, void *result) {
  const fwd_signature *signature = entry->method.signature;
  size_t size = fwd_signature_frame_size(signature);
  char *frame = malloc(size);
  if (!frame) return fwd_fail(NULL, FWD_NO_MEMORY, 0, "no memory for an argument frame of %zu bytes", size);
  for (size_t i = 0; i < count; i++) {
    fwd_layout layout = argument_layout(entry, i);
    memcpy(frame + layout.offset, arguments[i], layout.size);
  }
  fwd_delivery delivery = {.frame = frame, .result = result};
  fwd_status status = fan_out_held(proxy, &entry->method, &delivery);
  free(frame);
  return status;
}

fwd_status fwd_forward_arguments(fwd_proxy *proxy, fwd_selector selector, void *const *arguments, size_t count,
                                 void *result, size_t result_size) {
  const fwd_proxy_method *method;
  fwd_status status = find_method(proxy, selector, fwd_selector_name(selector), &method);
  if (!method) return ignored(status, result, result_size);
  const fwd_method_entry *entry = fwd_method_entry_of(method);
  size_t expected = entry->argument_count - entry->hidden_count;
  if (count != expected) {
    return fwd_fail(NULL, FWD_OUT_OF_RANGE, count, "\"%.100s\" got %zu arguments, expected %zu for %.60s",
                    fwd_selector_name(selector), count, expected,
                    fwd_encoding_text(fwd_signature_encoding(method->signature)));
  }
  bool aligned = true;
  for (size_t i = 0; i < count; i++) {
    if (!arguments || !arguments[i]) {
      return fwd_fail(NULL, FWD_NULL_ARGUMENT, i, "no address for argument %zu of \"%.100s\"",
                      i + entry->hidden_count, fwd_selector_name(selector));
    }
    aligned = aligned && ((uintptr_t)arguments[i] & (argument_layout(entry, i).alignment - 1)) == 0;
  }
  status = fwd_check_result(entry, result, result_size, NULL);
  if (status != FWD_OK) return status;
  if (!aligned) return forward_copied(proxy, entry, arguments, count, result);
  fwd_delivery delivery = {.arguments = arguments, .result = result};
  return fan_out_held(proxy, method, &delivery);
}
