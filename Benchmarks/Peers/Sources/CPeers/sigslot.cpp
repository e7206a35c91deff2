// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// palacaze/sigslot.

#include "CPeers.h"

#if __has_include(<sigslot/signal.hpp>)

#include <memory>
#include <sigslot/signal.hpp>
#include <vector>

namespace {

using signal_type = sigslot::signal<int64_t, double>;

struct fan_out {
  signal_type signal;
  // The connections track these owners of the receivers.
  std::vector<std::shared_ptr<void>> receivers;
};

template <bool tracks>
peer_signal *connect(const bench_slot *slots, size_t count) {
  auto made = std::make_unique<fan_out>();
  for (size_t i = 0; i < count; i++) {
    auto function = reinterpret_cast<void (*)(void *, int64_t, double)>(slots[i].function);
    auto call = [function, pointer = slots[i].receiver](int64_t count, double scale) {
      function(pointer, count, scale);
    };
    if constexpr (tracks) {
      auto receiver = std::shared_ptr<void>(slots[i].receiver, [](void *) {});
      made->signal.connect(call, receiver);
      made->receivers.push_back(std::move(receiver));
    } else {
      made->signal.connect(call);
    }
  }
  return reinterpret_cast<peer_signal *>(made.release());
}

void emit(peer_signal *signal, size_t iterations) {
  auto made = reinterpret_cast<fan_out *>(signal);
  for (size_t i = 0; i < iterations; i++) made->signal(bench_the_message.count, bench_the_message.scale);
}

const peer_library tracked = {connect<true>, emit};
const peer_library untracked = {connect<false>, emit};

}  // namespace

const peer_library *peer_sigslot_tracked(void) { return &tracked; }
const peer_library *peer_sigslot_untracked(void) { return &untracked; }

#else

const peer_library *peer_sigslot_tracked(void) { return nullptr; }
const peer_library *peer_sigslot_untracked(void) { return nullptr; }

#endif
