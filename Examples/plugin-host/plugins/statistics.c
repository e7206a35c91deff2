// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Counts the lines that are kept.

#include "../plugin.h"

#include <stdatomic.h>
#include <stdlib.h>

static void line(plugin_instance *instance, const char *text, size_t length, size_t number) {
  (void)text, (void)length, (void)number;
  // Threads of the host forward at the same time.
  atomic_fetch_add_explicit((atomic_size_t *)instance->state, 1, memory_order_relaxed);
}

static size_t line_count(plugin_instance *instance) {
  return atomic_load_explicit((atomic_size_t *)instance->state, memory_order_relaxed);
}

fwd_status plugin_start(plugin_instance *instance, fwd_error *error) {
  static const fwd_method methods[] = {
      {PLUGIN_LINE, PLUGIN_LINE_TYPES, (void (*)(void))line},
      {PLUGIN_LINE_COUNT, PLUGIN_LINE_COUNT_TYPES, (void (*)(void))line_count},
  };
  instance->state = calloc(1, sizeof(atomic_size_t));
  if (!instance->state) return FWD_NO_MEMORY;
  return fwd_proxy_subscribe(instance->proxy, instance, methods, 2, instance->ended, NULL, &instance->subscription,
                             error);
}

void plugin_stop(plugin_instance *instance) { free(instance->state); }
