// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// palacaze/sigslot.

#include "CPeers.h"

#if __has_include(<sigslot/signal.hpp>)

#include <memory>
#include <sigslot/signal.hpp>

#include "cpp_library.h"

namespace {

template <bool tracks>
struct library {
  using signal = sigslot::signal<int64_t, double>;
  using receiver = std::shared_ptr<void>;
  using connection = sigslot::connection;

  static receiver make_receiver(const bench_slot &slot) { return receiver(slot.receiver, [](void *) {}); }
  static connection connect(signal &made, const bench_slot &slot, receiver &receiver) {
    auto call = [function = slot_function(slot), pointer = slot.receiver](int64_t count, double scale) {
      function(pointer, count, scale);
    };
    if constexpr (tracks) {
      return made.connect(call, receiver);
    } else {
      return made.connect(call);
    }
  }
  static void disconnect(signal &, connection &connection) { connection.disconnect(); }
  static void emit(signal &made) { made(bench_the_message.count, bench_the_message.scale); }
};

}  // namespace

const peer_library *peer_sigslot_tracked(void) { return &cpp_library<library<true>>::library; }
const peer_library *peer_sigslot_untracked(void) { return &cpp_library<library<false>>::library; }

#else

const peer_library *peer_sigslot_tracked(void) { return nullptr; }
const peer_library *peer_sigslot_untracked(void) { return nullptr; }

#endif
