// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Signals of other libraries, each behind the same three functions.

#ifndef CPEERS_H
#define CPEERS_H

#include <bench_fan_out.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A signal of (int64, double) to which receivers are connected. It and they are kept until the process ends.
typedef struct peer_signal peer_signal;

/// One library's signals.
typedef struct peer_library {
  /// Connects all slots, in order. NULL if that fails.
  peer_signal *FWD_NULLABLE (*FWD_NONNULL connect)(const bench_slot *FWD_NONNULL slots, size_t count);
  /// Emits the current message.
  void (*FWD_NONNULL emit)(peer_signal *FWD_NONNULL signal, size_t iterations);
} peer_library;

// NULL if the library's headers were not there when this was compiled.

/// GLib, with the marshaller that it has for any signature.
const peer_library *FWD_NULLABLE peer_glib_generic(void);
/// GLib, with marshallers for this signature as glib-genmarshal writes them.
const peer_library *FWD_NULLABLE peer_glib_generated(void);
/// Boost.Signals2; each connection tracks its receiver.
const peer_library *FWD_NULLABLE peer_signals2(void);
/// Qt, where a receiver is connected as long as it lives. It also needs what moc makes of qt_emitter.h.
const peer_library *FWD_NULLABLE peer_qt(void);

#ifdef __cplusplus
}
#endif

#endif
