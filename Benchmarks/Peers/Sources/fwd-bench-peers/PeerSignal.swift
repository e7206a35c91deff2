// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import CPeers
internal import FwdBenchReceivers
internal import FwdBenchRows

/// A signal of another library, connected to the C receivers of a stage.
@safe final class PeerSignal {
  private let library: peer_library
  private let handle: OpaquePointer

  /// - Throws: `EmissionFailure` if the slots cannot be connected.
  init(_ library: peer_library, _ stage: Stage) throws {
    let slots = unsafe bench_crowd_slots(stage.cCrowd.unsafeHandle, BENCH_MESSAGE_NOTIFY)
    guard let handle = unsafe library.connect(slots, stage.size) else { throw EmissionFailure() }
    self.library = library
    unsafe self.handle = handle
  }

  func emit(_ iterations: Int) { unsafe library.emit(handle, iterations) }

  /// All slots disconnect, then connect again.
  func reconnectAll(_ iterations: Int) { unsafe library.reconnect_all?(handle, iterations) }

  /// One slot disconnects and connects again.
  func reconnectOne(_ iterations: Int) { unsafe library.reconnect_one?(handle, iterations) }

  /// Another signal is made, connected to the first slots, and ended.
  func remake(_ iterations: Int, slots: Int, emits: Bool = false) {
    unsafe library.remake?(handle, slots, emits, iterations)
  }
}
