// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Was written for a host whose lines had no number. The host refuses it.

#include "../plugin.h"

static void line(plugin_instance *instance, const char *text, size_t length) { (void)instance, (void)text, (void)length; }

fwd_status plugin_start(plugin_instance *instance, fwd_error *error) {
  static const fwd_method methods[] = {{PLUGIN_LINE, "v^v^cQ", (void (*)(void))line}};
  return fwd_proxy_subscribe(instance->proxy, instance, methods, 1, instance->ended, NULL, &instance->subscription,
                             error);
}
