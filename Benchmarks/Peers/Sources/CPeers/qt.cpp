// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Qt's signals.

#include "CPeers.h"

#if __has_include(<QObject>) && __has_include("moc_qt_emitter.inc")

// Qt has macros for "slots" and "emit".
#define QT_NO_KEYWORDS

#include <memory>
#include <vector>

#include "qt_emitter.h"

#include "moc_qt_emitter.inc"

struct peer_signal {
  emitter source;
  std::vector<std::unique_ptr<QObject>> receivers;
};

static peer_signal *connect(const bench_slot *slots, size_t count) {
  auto made = std::make_unique<peer_signal>();
  for (size_t i = 0; i < count; i++) {
    // The connection ends with the receiver.
    auto context = std::make_unique<QObject>();
    auto function = reinterpret_cast<void (*)(void *, int64_t, double)>(slots[i].function);
    auto call = [function, receiver = slots[i].receiver](qint64 count, double scale) {
      function(receiver, count, scale);
    };
    QObject::connect(&made->source, &emitter::notify, context.get(), call);
    made->receivers.push_back(std::move(context));
  }
  return made.release();
}

static void emit(peer_signal *signal, size_t iterations) {
  for (size_t i = 0; i < iterations; i++) {
    signal->source.notify(bench_the_message.count, bench_the_message.scale);
  }
}

static const peer_library library = {connect, emit, nullptr, nullptr, nullptr};

const peer_library *peer_qt(void) { return &library; }

#else

const peer_library *peer_qt(void) { return nullptr; }

#endif
