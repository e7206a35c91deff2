// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Signals of other libraries, each behind the same three functions.

#ifndef CPEERS_H
#define CPEERS_H

#include <bench_fan_out.h>

#include "peer_sqlite.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A signal of (int64, double) with connected receivers. Both live until the process ends.
typedef struct peer_signal peer_signal;

/// The signals of one library.
typedef struct peer_library {
  /// Connects all slots in order. Returns NULL on failure.
  peer_signal *FWD_NULLABLE (*FWD_NONNULL connect)(const bench_slot *FWD_NONNULL slots, size_t count);
  /// Emits the current message.
  void (*FWD_NONNULL emit)(peer_signal *FWD_NONNULL signal, size_t iterations);

  // The rest is NULL for libraries in C, for GNUstep and for Qt.

  /// Disconnects all slots, then connects all of them again.
  void (*FWD_NULLABLE reconnect_all)(peer_signal *FWD_NONNULL signal, size_t iterations);
  /// Disconnects one slot and connects it again: another one each time.
  void (*FWD_NULLABLE reconnect_one)(peer_signal *FWD_NONNULL signal, size_t iterations);
  /// Makes another signal, connects the first `count` slots of this one to it, and ends it; before that it emits the
  /// current message if `emits`.
  void (*FWD_NULLABLE remake)(peer_signal *FWD_NONNULL signal, size_t count, bool emits, size_t iterations);
} peer_library;

// Each is NULL if the library's headers were missing when this was compiled.

/// GLib with its generic marshaller.
const peer_library *FWD_NULLABLE peer_glib_generic(void);
/// GLib with the marshaller that glib-genmarshal generates for this signature.
const peer_library *FWD_NULLABLE peer_glib_generated(void);
/// GNUstep's `NSInvocation`, which a proxy's `forwardInvocation:` sends to each target.
const peer_library *FWD_NULLABLE peer_gnustep(void);
/// Boost.Signals2. Each connection tracks its receiver.
const peer_library *FWD_NULLABLE peer_signals2(void);
/// sigslot's thread-safe signal. Each connection tracks its receiver.
const peer_library *FWD_NULLABLE peer_sigslot_tracked(void);
/// The same without tracking.
const peer_library *FWD_NULLABLE peer_sigslot_untracked(void);
/// The same as tracked, with lambdas in place of the slots: they add their arguments by `bench_closures_add`.
const peer_library *FWD_NULLABLE peer_sigslot_lambda(void);
/// nod's thread-safe signal, which cannot track receivers.
const peer_library *FWD_NULLABLE peer_nod(void);
/// nano-signal-slot with the policy that is thread-safe and reentrant. Each connection tracks its receiver.
const peer_library *FWD_NULLABLE peer_nano_tracked(void);
/// nano-signal-slot with its default policy, for one thread. A receiver disconnects when it dies.
const peer_library *FWD_NULLABLE peer_nano_plain(void);
/// Qt, with connections that end with their receiver. It needs the output of moc for qt_emitter.h.
const peer_library *FWD_NULLABLE peer_qt(void);

#ifdef __cplusplus
}
#endif

#endif
