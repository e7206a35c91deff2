// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Removes white space from the end of each line before the other plug-ins see it.

#include "../plugin.h"

#include <string.h>

static fwd_status trim(void *instance, fwd_invocation *invocation) {
  (void)instance;
  const char *text;
  size_t length;
  memcpy(&text, fwd_invocation_argument(invocation, 1), sizeof text);
  memcpy(&length, fwd_invocation_argument(invocation, 2), sizeof length);
  size_t trimmed = length;
  while (trimmed > 0 && (text[trimmed - 1] == ' ' || text[trimmed - 1] == '\t')) trimmed--;
  if (trimmed != length) {
    fwd_status status = fwd_invocation_set_argument(invocation, 2, &trimmed, sizeof trimmed);
    if (status != FWD_OK) return status;
  }
  return fwd_invocation_proceed(invocation);
}

fwd_status plugin_start(plugin_instance *instance, fwd_error *error) {
  return fwd_proxy_intercept(instance->proxy, fwd_selector_register(PLUGIN_KEEPS), FWD_INTERCEPT_AROUND, trim, instance,
                             instance->ended, &instance->interception, error);
}
