// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fan_out/reading.h"

__attribute__((cold)) void fwd_note_vain(const fwd_emission *state, size_t asked) {
  fwd_proxy *proxy = state->proxy;
  if (!fwd_list_note_vain(fwd_proxy_list(proxy), asked, state->responses)) return;
  void *owner = fwd_emission_pin(proxy, state->delivery);
  if (owner) proxy->operations->find_responders(owner, state->method->index);
}

void fwd_leave_eventful(fwd_emission *state, fwd_hazard *hazard, size_t asked) {
  // Freeing retired objects runs foreign code, which must not find the last delivery's record: it may be freed.
  state->frame.kind = FWD_NESTING_LEAVES;
  size_t visited = state->frame.met_dead ? fwd_visited_as_announced(state, hazard, asked) : 0;
  fwd_hazard_leave_as_announced(hazard, &fwd_proxy_list(state->proxy)->domain);
  fwd_emission_leave(state, visited);
}
