// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// palacaze/sigslot.

#include "CPeers.h"

#if __has_include(<sigslot/signal.hpp>)

#include <bench_closures.h>
#include <memory>
#include <sigslot/signal.hpp>

#include "cpp_library.h"

namespace {

/// Calls a slot.
struct call {
  void (*function)(void *, int64_t, double);
  void *receiver;

  explicit call(const bench_slot &slot) : function(slot_function(slot)), receiver(slot.receiver) {}
  void operator()(int64_t count, double scale) const { function(receiver, count, scale); }
};

/// Does what the Swift closures of the rows of closures do, and ignores the slot.
struct add {
  explicit add(const bench_slot &) {}
  void operator()(int64_t count, double scale) const { bench_closures_add(count + static_cast<int64_t>(scale)); }
};

template <bool tracks, typename Call>
struct library {
  using signal = sigslot::signal<int64_t, double>;
  using receiver = std::shared_ptr<void>;
  using connection = sigslot::connection;

  static receiver make_receiver(const bench_slot &slot) { return receiver(slot.receiver, [](void *) {}); }
  static connection connect(signal &made, const bench_slot &slot, receiver &receiver) {
    if constexpr (tracks) {
      return made.connect(Call(slot), receiver);
    } else {
      return made.connect(Call(slot));
    }
  }
  static void disconnect(signal &, connection &connection) { connection.disconnect(); }
  static void emit(signal &made) { made(bench_the_message.count, bench_the_message.scale); }
};

}  // namespace

const peer_library *peer_sigslot_tracked(void) { return &cpp_library<library<true, call>>::library; }
const peer_library *peer_sigslot_untracked(void) { return &cpp_library<library<false, call>>::library; }
const peer_library *peer_sigslot_lambda(void) { return &cpp_library<library<true, add>>::library; }

#else

const peer_library *peer_sigslot_tracked(void) { return nullptr; }
const peer_library *peer_sigslot_untracked(void) { return nullptr; }
const peer_library *peer_sigslot_lambda(void) { return nullptr; }

#endif
