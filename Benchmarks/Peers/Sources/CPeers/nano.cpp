// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// NoAvailableAlias/nano-signal-slot.

#include "CPeers.h"

#if __has_include(<nano_signal_slot.hpp>)

#include <memory>
#include <nano_signal_slot.hpp>
#include <vector>

namespace {

/// Calls a slot. The signal tracks it as an observer.
template <typename Policy>
class observer : public Nano::Observer<Policy> {
 public:
  explicit observer(const bench_slot &slot)
      : function(reinterpret_cast<void (*)(void *, int64_t, double)>(slot.function)), receiver(slot.receiver) {}

  void notify(int64_t count, double scale) { function(receiver, count, scale); }

 private:
  void (*function)(void *, int64_t, double);
  void *receiver;
};

template <typename Policy>
struct fan_out {
  Nano::Signal<void(int64_t, double), Policy> signal;
  std::vector<std::unique_ptr<observer<Policy>>> observers;
};

template <typename Policy>
peer_signal *connect(const bench_slot *slots, size_t count) {
  auto made = std::make_unique<fan_out<Policy>>();
  for (size_t i = 0; i < count; i++) {
    auto each = std::make_unique<observer<Policy>>(slots[i]);
    made->signal.template connect<&observer<Policy>::notify>(each.get());
    made->observers.push_back(std::move(each));
  }
  return reinterpret_cast<peer_signal *>(made.release());
}

template <typename Policy>
void emit(peer_signal *signal, size_t iterations) {
  auto made = reinterpret_cast<fan_out<Policy> *>(signal);
  for (size_t i = 0; i < iterations; i++) made->signal.fire(bench_the_message.count, bench_the_message.scale);
}

using safe = Nano::TS_Policy_Safe<>;
using plain = Nano::ST_Policy;

const peer_library tracked_library = {connect<safe>, emit<safe>};
const peer_library plain_library = {connect<plain>, emit<plain>};

}  // namespace

const peer_library *peer_nano_tracked(void) { return &tracked_library; }
const peer_library *peer_nano_plain(void) { return &plain_library; }

#else

const peer_library *peer_nano_tracked(void) { return nullptr; }
const peer_library *peer_nano_plain(void) { return nullptr; }

#endif
