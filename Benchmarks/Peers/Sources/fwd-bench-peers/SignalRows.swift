// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import CFwdMeasure
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
      (Way.gnustep, peer_gnustep()),
      (Way.signals2, peer_signals2()),
      ("Qt: connections with a receiver", peer_qt()),
    ]
    return unsafe libraries.flatMap { way, library in
      unsafe library.map { unsafe rows(way, stage, $0.pointee) } ?? []
    }
  }

  /// Few receivers only: connecting one to nano-signal-slot takes O(*n*) time.
  private static func headerOnly(_ stage: Stage) -> [Row] {
    let libraries = unsafe [
      (Way.sigslotTracked, peer_sigslot_tracked()),
      ("sigslot: untracked slots", peer_sigslot_untracked()),
      ("nod: thread-safe signal", peer_nod()),
      ("nano-signal-slot: tracked, thread-safe", peer_nano_tracked()),
      ("nano-signal-slot: one thread", peer_nano_plain()),
    ]
    return unsafe libraries.flatMap { way, library in
      unsafe library.map { unsafe rows(way, stage, $0.pointee) } ?? []
    }
  }

  private static func rows(_ way: String, _ stage: Stage, _ library: peer_library) -> [Row] {
    let signal = Kept { try PeerSignal(library, stage) }
    var rows = [
      Row.fanOut(way, stage.size, stage.inC) {
        let signal = try signal.get()
        return { iterations in
          signal.emit(iterations)
          return 0
        }
      }
    ]
    guard unsafe library.remake != nil else { return rows }
    if stage.size == 64 {
      rows.append(reconnecting(Way.replacing(way), stage, signal, 1) { $0.reconnectOne($1) })
      rows.append(
        reconnecting(Way.rejoining(way), stage, signal, stage.size) { $0.reconnectAll($1) })
    }
    if stage.size == 1 {
      rows.append(remaking(Way.remaking(way), stage, signal, slots: 0))
      rows.append(remaking(Way.remakingWithOne(way), stage, signal, slots: 1))
    }
    return rows
  }

  // MARK: - Closures

  /// A row of lambdas that do what the Swift closures of `ClosureRows` do.
  static func closures(_ size: Int) -> [Row] {
    guard let library = unsafe peer_sigslot_lambda() else { return [] }
    let signal = Kept { try PeerSignal(unsafe library.pointee, Stage(size)) }
    let row = Row(
      group: ClosureRows.name, way: Way.sigslotLambda, size: size, deliveries: size
    ) { iterations in
      orWrong {
        let signal = try signal.get()
        let before = bench_closures_sum()
        let start = bench_start()
        signal.emit(iterations)
        let sample = bench_finish(start, 0, 0)
        let message = unsafe bench_current_message().pointee
        let each = message.count + Int64(message.scale)
        let added = bench_closures_sum() - before
        return Sample(sample, isRight: added == each * Int64(iterations * size))
      }
    }
    return [row]
  }

  // MARK: - Connections

  /// A row in which slots disconnect and connect again. An emission afterwards
  /// has to reach each of them once.
  private static func reconnecting(
    _ way: String, _ stage: Stage, _ signal: Kept<PeerSignal>, _ deliveries: Int,
    _ reconnect: @escaping (PeerSignal, Int) -> Void
  ) -> Row {
    Row(group: FanOutRows.name, way: way, size: stage.size, deliveries: deliveries) { iterations in
      orWrong {
        let signal = try signal.get()
        let start = bench_start()
        reconnect(signal, iterations)
        let sample = bench_finish(start, 0, 0)
        let before = stage.cCrowd.sum
        signal.emit(1)
        return Sample(sample, isRight: stage.cCrowd.sum - before == sum(stage.size))
      }
    }
  }

  /// A row in which signals are made and ended.
  private static func remaking(
    _ way: String, _ stage: Stage, _ signal: Kept<PeerSignal>, slots: Int
  ) -> Row {
    Row(
      group: FanOutRows.name, way: way, size: stage.size,
      run: { iterations in
        orWrong {
          let signal = try signal.get()
          let start = bench_start()
          signal.remake(iterations, slots: slots)
          return Sample(bench_finish(start, 0, 0))
        }
      },
      verify: { iterations in
        orWrong {
          let signal = try signal.get()
          let before = stage.cCrowd.sum
          signal.remake(iterations, slots: slots, emits: true)
          let received = stage.cCrowd.sum - before
          return Sample(bench_sample(), isRight: received == sum(iterations * slots))
        }
      })
  }

  /// What so many deliveries add up to.
  private static func sum(_ deliveries: Int) -> Int64 {
    Int64(deliveries) * Int64(BENCH_MESSAGE_SUM)
  }
}
