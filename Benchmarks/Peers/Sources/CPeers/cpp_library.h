// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The functions of a `peer_library`, written once for all C++ libraries.

#ifndef CPP_LIBRARY_H
#define CPP_LIBRARY_H

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "CPeers.h"

/// The function of a slot, with its type.
inline auto slot_function(const bench_slot &slot) {
  return reinterpret_cast<void (*)(void *, int64_t, double)>(slot.function);
}

/// Implements a `peer_library`. `Library` has three types and four functions:
///
///     using signal                    // of (int64_t, double)
///     using receiver                  // what a connection tracks
///     using connection                // what a connection is ended by
///     static receiver make_receiver(const bench_slot &slot)
///     static connection connect(signal &signal, const bench_slot &slot, receiver &receiver)
///     static void disconnect(signal &signal, connection &connection)
///     static void emit(signal &signal)
template <typename Library>
class cpp_library {
 public:
  static peer_signal *connect(const bench_slot *slots, size_t count) {
    auto made = std::make_unique<fan_out>();
    made->slots.assign(slots, slots + count);
    for (auto &slot : made->slots) made->receivers.push_back(Library::make_receiver(slot));
    made->connections.resize(count);
    for (size_t i = 0; i < count; i++) made->connect(i);
    return reinterpret_cast<peer_signal *>(made.release());
  }

  static void emit(peer_signal *signal, size_t iterations) {
    auto &made = of(signal);
    for (size_t i = 0; i < iterations; i++) Library::emit(made.signal);
  }

  static void reconnect_all(peer_signal *signal, size_t iterations) {
    auto &made = of(signal);
    for (size_t i = 0; i < iterations; i++) {
      for (auto &connection : made.connections) Library::disconnect(made.signal, connection);
      for (size_t slot = 0; slot < made.slots.size(); slot++) made.connect(slot);
    }
  }

  static void reconnect_one(peer_signal *signal, size_t iterations) {
    auto &made = of(signal);
    for (size_t i = 0; i < iterations; i++) {
      // Anywhere: the first slot may be easier to find than the others.
      made.next = (made.next + 7919) % made.slots.size();
      Library::disconnect(made.signal, made.connections[made.next]);
      made.connect(made.next);
    }
  }

  static void remake(peer_signal *signal, size_t count, bool emits, size_t iterations) {
    auto &made = of(signal);
    for (size_t i = 0; i < iterations; i++) {
      // On the heap, as a proxy is.
      auto other = std::make_unique<typename Library::signal>();
      for (size_t slot = 0; slot < count; slot++) Library::connect(*other, made.slots[slot], made.receivers[slot]);
      if (emits) Library::emit(*other);
    }
  }

  static constexpr peer_library library = {connect, emit, reconnect_all, reconnect_one, remake};

 private:
  struct fan_out {
    // Before the signal, which may refer to them when it ends.
    std::vector<typename Library::receiver> receivers;
    typename Library::signal signal;
    std::vector<bench_slot> slots;
    std::vector<typename Library::connection> connections;
    size_t next = 0;

    void connect(size_t slot) { connections[slot] = Library::connect(signal, slots[slot], receivers[slot]); }
  };

  static fan_out &of(peer_signal *signal) { return *reinterpret_cast<fan_out *>(signal); }
};

#endif
