// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import ForwardingRemote

/// Which messages of a log are accepted.
@Suite struct AcceptedCallsTests {
  private static let (first, second) = (
    WriterIdentity(high: 1, low: 0), WriterIdentity(high: 2, low: 0)
  )

  private static func calls(
    _ range: ClosedRange<UInt64>, by writer: WriterIdentity,
    confirming confirmed: (message: UInt64, call: UInt64) = (0, 0)
  ) -> MessageTrailer {
    MessageTrailer(
      writer: writer, firstCall: range.lowerBound, confirmed: confirmed.message,
      confirmedCalls: confirmed.call, callCount: UInt32(range.count))
  }

  private static func takes(_ writer: WriterIdentity, before call: UInt64) -> MessageTrailer {
    MessageTrailer(
      writer: writer, firstCall: call, confirmed: 0, confirmedCalls: 0, callCount: 0)
  }

  @Test func `The writer that last took the log continues its numbers`() throws {
    let (first, second) = (Self.first, Self.second)
    var state = AcceptedCalls.beginning
    let log: [(MessageTrailer, isAccepted: Bool)] = [
      (Self.takes(first, before: 1), true),
      (Self.calls(1...3, by: first), true),
      (Self.takes(second, before: 4), true),
      (Self.calls(4...5, by: first), false),
      (Self.calls(6...6, by: second), false),
      (Self.calls(4...5, by: second), true),
      (Self.calls(4...5, by: second), false),
      (Self.calls(6...6, by: first), false),
      (Self.calls(6...6, by: second), true),
    ]
    for (index, message) in log.enumerated() {
      let position = UInt64(index) + 1
      #expect(
        try state.advance(over: message.0, at: position) == message.isAccepted,
        "message \(position)")
      #expect(state.end == position)
    }
    #expect(state.position == 9 && state.calls == 6 && state.writer == second)
  }

  @Test func `An unknown writer is the one who takes the log, or knew its state`() throws {
    let unknown = AcceptedCalls(position: 10, calls: 20, writer: nil)
    var state = unknown
    #expect(
      try state.advance(over: Self.calls(21...21, by: Self.first, confirming: (10, 20)), at: 11))
    #expect(state.writer == Self.first)
    state = unknown
    #expect(try state.advance(over: Self.takes(Self.second, before: 21), at: 12))
    #expect(state.writer == Self.second)
    // A message without calls, by which it took the log, has been removed.
    state = AcceptedCalls(position: 10, calls: 20, writer: Self.second)
    #expect(
      try state.advance(over: Self.calls(21...22, by: Self.first, confirming: (12, 20)), at: 13))
    #expect(state.writer == Self.first && state.position == 13)
    // A message that names one behind it proves nothing.
    for confirmed: UInt64 in [13, 14, 1 << 62] {
      state = AcceptedCalls(position: 10, calls: 20, writer: Self.second)
      let forged = Self.calls(21...22, by: Self.first, confirming: (confirmed, 20))
      #expect(try !state.advance(over: forged, at: 13))
      #expect(state.position == 10 && state.end == 13)
    }
    // It may have lost the log since then.
    state = unknown
    let error = #expect(throws: RemoteError.self) {
      try state.advance(over: Self.calls(21...21, by: Self.first, confirming: (9, 19)), at: 11)
    }
    #expect(error?.code == .disconnected)
  }

  @Test func `Messages that are missing are an error, not messages that are not accepted`() throws {
    func error(_ trailer: MessageTrailer) -> RemoteError? {
      var state = AcceptedCalls(position: 10, calls: 20, writer: Self.first)
      return #expect(throws: RemoteError.self) { _ = try state.advance(over: trailer, at: 15) }
    }
    let known = error(Self.calls(25...26, by: Self.first, confirming: (13, 23)))
    #expect(known?.code == .missingCalls)
    #expect(
      known?.description
        == "the calls 21 to 23 are missing: the log has removed messages after message 10")
    #expect(error(Self.takes(Self.second, before: 23))?.code == .missingCalls)
    #expect(error(Self.takes(Self.second, before: 20))?.code == .undecodable)
    // Late messages say nothing about those that were removed before them.
    var state = AcceptedCalls(position: 10, calls: 20, writer: Self.first)
    #expect(
      try !state.advance(over: Self.calls(25...26, by: Self.second, confirming: (3, 4)), at: 15))
    #expect(
      try state.advance(over: Self.calls(21...22, by: Self.first, confirming: (10, 20)), at: 16))
    #expect(state.position == 16 && state.calls == 22)
  }

  @Test func `A message tells an earlier state`() {
    let take = Self.takes(Self.first, before: 5)
    #expect(take.base(at: 9) == AcceptedCalls(position: 9, calls: 4, writer: Self.first))
    let message = Self.calls(7...8, by: Self.second, confirming: (3, 4))
    #expect(message.base(at: 9) == AcceptedCalls(position: 3, calls: 4, writer: Self.second))
  }
}
