// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import CPeers
internal import FwdBenchDriver
internal import FwdBenchReceivers
internal import FwdBenchRows

/// The signals of C and C++ libraries, those that were installed when this was
/// compiled.
enum SignalRows {
  static func rows(_ stage: Stage) -> [Row] {
    installed(stage) + (stage.size <= 512 ? headerOnly(stage) : [])
  }

  private static func installed(_ stage: Stage) -> [Row] {
    let libraries = unsafe [
      (Way.glibGeneric, peer_glib_generic()),
      ("GLib: g_signal_emit, generated marshaller", peer_glib_generated()),
      ("Boost.Signals2: tracked slots", peer_signals2()),
      ("Qt: connections with a receiver", peer_qt()),
    ]
    return unsafe libraries.compactMap { way, library in
      unsafe library.map { unsafe row(way, stage, $0.pointee) }
    }
  }

  /// Few receivers only: connecting one to nano-signal-slot takes O(*n*) time.
  private static func headerOnly(_ stage: Stage) -> [Row] {
    let libraries = unsafe [
      ("sigslot: tracked slots", peer_sigslot_tracked()),
      ("sigslot: untracked slots", peer_sigslot_untracked()),
      ("nod: thread-safe signal", peer_nod()),
      ("nano-signal-slot: tracked, thread-safe", peer_nano_tracked()),
      ("nano-signal-slot: one thread", peer_nano_plain()),
    ]
    return unsafe libraries.compactMap { way, library in
      unsafe library.map { unsafe row(way, stage, $0.pointee) }
    }
  }

  private static func row(_ way: String, _ stage: Stage, _ library: peer_library) -> Row {
    .fanOut(way, stage.size, stage.inC) {
      let slots = unsafe bench_crowd_slots(stage.cCrowd.unsafeHandle, BENCH_MESSAGE_NOTIFY)
      guard let signal = unsafe library.connect(slots, stage.size) else { throw EmissionFailure() }
      return { iterations in
        unsafe library.emit(signal, iterations)
        return 0
      }
    }
  }
}
