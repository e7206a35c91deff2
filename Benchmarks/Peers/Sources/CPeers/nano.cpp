// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// NoAvailableAlias/nano-signal-slot.

#include "CPeers.h"

#if __has_include(<nano_signal_slot.hpp>)

#include <memory>
#include <nano_signal_slot.hpp>

#include "cpp_library.h"

namespace {

/// Calls a slot. The signal tracks it as an observer.
template <typename Policy>
class observer : public Nano::Observer<Policy> {
 public:
  explicit observer(const bench_slot &slot) : function(slot_function(slot)), receiver(slot.receiver) {}

  void notify(int64_t count, double scale) { function(receiver, count, scale); }

 private:
  void (*function)(void *, int64_t, double);
  void *receiver;
};

template <typename Policy>
struct library {
  using signal = Nano::Signal<void(int64_t, double), Policy>;
  using receiver = std::unique_ptr<observer<Policy>>;
  /// A connection is ended by its receiver.
  using connection = observer<Policy> *;

  static receiver make_receiver(const bench_slot &slot) { return std::make_unique<observer<Policy>>(slot); }
  static connection connect(signal &made, const bench_slot &, receiver &receiver) {
    made.template connect<&observer<Policy>::notify>(receiver.get());
    return receiver.get();
  }
  static void disconnect(signal &made, connection &connection) {
    made.template disconnect<&observer<Policy>::notify>(connection);
  }
  static void emit(signal &made) { made.fire(bench_the_message.count, bench_the_message.scale); }
};

}  // namespace

const peer_library *peer_nano_tracked(void) { return &cpp_library<library<Nano::TS_Policy_Safe<>>>::library; }
const peer_library *peer_nano_plain(void) { return &cpp_library<library<Nano::ST_Policy>>::library; }

#else

const peer_library *peer_nano_tracked(void) { return nullptr; }
const peer_library *peer_nano_plain(void) { return nullptr; }

#endif
