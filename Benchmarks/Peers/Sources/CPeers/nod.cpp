// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// fr00b0/nod.

#include "CPeers.h"

#if __has_include(<nod/nod.hpp>)

#include <memory>
#include <nod/nod.hpp>

namespace {

using signal_type = nod::signal<void(int64_t, double)>;

peer_signal *connect(const bench_slot *slots, size_t count) {
  auto made = std::make_unique<signal_type>();
  for (size_t i = 0; i < count; i++) {
    auto function = reinterpret_cast<void (*)(void *, int64_t, double)>(slots[i].function);
    made->connect([function, pointer = slots[i].receiver](int64_t count, double scale) {
      function(pointer, count, scale);
    });
  }
  return reinterpret_cast<peer_signal *>(made.release());
}

void emit(peer_signal *signal, size_t iterations) {
  auto made = reinterpret_cast<signal_type *>(signal);
  for (size_t i = 0; i < iterations; i++) (*made)(bench_the_message.count, bench_the_message.scale);
}

const peer_library library = {connect, emit};

}  // namespace

const peer_library *peer_nod(void) { return &library; }

#else

const peer_library *peer_nod(void) { return nullptr; }

#endif
