// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Boost.Signals2.

#include "CPeers.h"

#if __has_include(<boost/signals2.hpp>)

#include <boost/signals2.hpp>
#include <memory>

#include "cpp_library.h"

namespace {

struct signals2 {
  using signal = boost::signals2::signal<void(int64_t, double)>;
  using receiver = std::shared_ptr<void>;
  using connection = boost::signals2::connection;

  static receiver make_receiver(const bench_slot &slot) { return receiver(slot.receiver, [](void *) {}); }
  static connection connect(signal &made, const bench_slot &slot, receiver &receiver) {
    auto call = [function = slot_function(slot), pointer = slot.receiver](int64_t count, double scale) {
      function(pointer, count, scale);
    };
    return made.connect(signal::slot_type(call).track_foreign(receiver));
  }
  static void disconnect(signal &, connection &connection) { connection.disconnect(); }
  static void emit(signal &made) { made(bench_the_message.count, bench_the_message.scale); }
};

}  // namespace

const peer_library *peer_signals2(void) { return &cpp_library<signals2>::library; }

#else

const peer_library *peer_signals2(void) { return nullptr; }

#endif
