// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Refuses lines that are long, and cannot judge lines that are not UTF-8.

#include "../plugin.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_LIMIT = 80 };

static atomic_size_t told_count;

/// Whether bytes are UTF-8, by their lead and continuation bytes.
static bool is_utf8(const unsigned char *text, size_t length) {
  size_t index = 0;
  while (index < length) {
    unsigned char lead = text[index++];
    size_t following = lead < 0x80 ? 0 : lead >= 0xC2 && lead < 0xE0 ? 1 : lead >= 0xE0 && lead < 0xF0 ? 2
                                     : lead >= 0xF0 && lead < 0xF5   ? 3
                                                                     : SIZE_MAX;
    if (following > length - index) return false;
    for (; following > 0; following--) {
      if ((text[index++] & 0xC0) != 0x80) return false;
    }
  }
  return true;
}

/// A handler, since it may fail. `arguments` has the receiver, the text and the length.
static bool keeps(void *instance, fwd_selector selector, void *const *arguments, void *result, fwd_error *error) {
  (void)instance, (void)selector;
  const unsigned char *text;
  size_t length;
  memcpy(&text, arguments[1], sizeof text);
  memcpy(&length, arguments[2], sizeof length);
  if (!is_utf8(text, length)) {
    snprintf(error->message, sizeof error->message, "the line is not UTF-8");
    return false;
  }
  *(bool *)result = length <= LENGTH_LIMIT;
  return true;
}

static bool line(void *instance, fwd_selector selector, void *const *arguments, void *result, fwd_error *error) {
  (void)instance, (void)selector, (void)arguments, (void)result, (void)error;
  atomic_fetch_add_explicit(&told_count, 1, memory_order_relaxed);
  return true;
}

static bool line_count(void *instance, fwd_selector selector, void *const *arguments, void *result, fwd_error *error) {
  (void)instance, (void)selector, (void)arguments, (void)error;
  size_t count = atomic_load_explicit(&told_count, memory_order_relaxed);
  memcpy(result, &count, sizeof count);
  return true;
}

fwd_status plugin_start(plugin_instance *instance, fwd_error *error) {
  static const fwd_handled_method methods[] = {
      {PLUGIN_KEEPS, PLUGIN_KEEPS_TYPES, keeps},
      {PLUGIN_LINE, PLUGIN_LINE_TYPES, line},
      {PLUGIN_LINE_COUNT, PLUGIN_LINE_COUNT_TYPES, line_count},
  };
  return fwd_proxy_subscribe_handlers(instance->proxy, instance, methods, 3, instance->ended, NULL,
                                      &instance->subscription, error);
}
