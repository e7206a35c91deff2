// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// fr00b0/nod.

#include "CPeers.h"

#if __has_include(<nod/nod.hpp>)

#include <nod/nod.hpp>

#include "cpp_library.h"

namespace {

struct library {
  using signal = nod::signal<void(int64_t, double)>;
  struct receiver {};
  using connection = nod::connection;

  static receiver make_receiver(const bench_slot &) { return {}; }
  static connection connect(signal &made, const bench_slot &slot, receiver &) {
    return made.connect([function = slot_function(slot), pointer = slot.receiver](int64_t count, double scale) {
      function(pointer, count, scale);
    });
  }
  static void disconnect(signal &, connection &connection) { connection.disconnect(); }
  static void emit(signal &made) { made(bench_the_message.count, bench_the_message.scale); }
};

}  // namespace

const peer_library *peer_nod(void) { return &cpp_library<library>::library; }

#else

const peer_library *peer_nod(void) { return nullptr; }

#endif
