// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Takes its time for each line, as a plug-in that writes to a disk.

#include "../plugin.h"

#include <time.h>

static void line(plugin_instance *instance, const char *text, size_t length, size_t number) {
  (void)instance, (void)text, (void)length, (void)number;
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

fwd_status plugin_start(plugin_instance *instance, fwd_error *error) {
  static const fwd_method methods[] = {{PLUGIN_LINE, PLUGIN_LINE_TYPES, (void (*)(void))line}};
  return fwd_proxy_subscribe(instance->proxy, instance, methods, 1, instance->ended, NULL, &instance->subscription,
                             error);
}
