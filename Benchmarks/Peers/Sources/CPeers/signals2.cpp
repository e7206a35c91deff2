// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Boost.Signals2.

#include "CPeers.h"

#if __has_include(<boost/signals2.hpp>)

#include <boost/signals2.hpp>
#include <memory>
#include <vector>

using signal_type = boost::signals2::signal<void(int64_t, double)>;

struct peer_signal {
  signal_type signal;
  // The connections track these owners of the receivers.
  std::vector<std::shared_ptr<void>> receivers;
};

static peer_signal *connect(const bench_slot *slots, size_t count) {
  auto made = std::make_unique<peer_signal>();
  for (size_t i = 0; i < count; i++) {
    auto receiver = std::shared_ptr<void>(slots[i].receiver, [](void *) {});
    auto function = reinterpret_cast<void (*)(void *, int64_t, double)>(slots[i].function);
    auto call = [function, pointer = receiver.get()](int64_t count, double scale) { function(pointer, count, scale); };
    made->signal.connect(signal_type::slot_type(call).track_foreign(receiver));
    made->receivers.push_back(std::move(receiver));
  }
  return made.release();
}

static void emit(peer_signal *signal, size_t iterations) {
  for (size_t i = 0; i < iterations; i++) signal->signal(bench_the_message.count, bench_the_message.scale);
}

static const peer_library library = {connect, emit};

const peer_library *peer_signals2(void) { return &library; }

#else

const peer_library *peer_signals2(void) { return nullptr; }

#endif
