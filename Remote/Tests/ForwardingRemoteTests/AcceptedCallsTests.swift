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
    _ range: ClosedRange<UInt64>, by writer: WriterIdentity, confirming confirmed: UInt64 = 0
  ) -> MessageTrailer {
    MessageTrailer(
      writer: writer, firstCall: range.lowerBound, confirmed: confirmed,
      callCount: UInt32(range.count))
  }

  private static func takes(_ writer: WriterIdentity, before call: UInt64) -> MessageTrailer {
    MessageTrailer(writer: writer, firstCall: call, confirmed: 0, callCount: 0)
  }

  @Test func `The writer that last took the log continues its numbers`() throws {
    let (first, second) = (Self.first, Self.second)
    var state = AcceptedCalls(position: 0, calls: 0, writer: nil)
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
      #expect(try state.take(message.0, at: position) == message.isAccepted, "message \(position)")
      #expect(state.end == position)
    }
    #expect(state.position == 9 && state.calls == 6 && state.writer == second)
  }

  @Test func `An unknown writer is that of the first message with the right number`() throws {
    var state = AcceptedCalls(position: 10, calls: 20, writer: nil)
    #expect(try !state.take(Self.calls(22...23, by: Self.second, confirming: 9), at: 11))
    #expect(try state.take(Self.calls(21...21, by: Self.first), at: 12))
    #expect(state.writer == Self.first)
  }

  @Test func `Messages that are missing are an error, not calls that do not count`() {
    func error(_ trailer: MessageTrailer, at position: UInt64) -> RemoteError? {
      var state = AcceptedCalls(position: 10, calls: 20, writer: Self.first)
      return #expect(throws: RemoteError.self) { _ = try state.take(trailer, at: position) }
    }
    // The positions have a gap.
    let gap = error(Self.calls(25...26, by: Self.first), at: 15)
    #expect(gap?.code == .missingCalls)
    #expect(
      gap?.description == "the calls 21 to 24 are missing: the log goes on with call 25")
    #expect(error(Self.calls(21...21, by: Self.second), at: 12)?.code == .missingCalls)
    // A publisher knows an accepted message after the last one that was seen.
    let known = error(Self.calls(19...19, by: Self.second, confirming: 11), at: 11)
    #expect(known?.code == .missingCalls)
    // Nobody takes the log at another number than the next one.
    #expect(error(Self.takes(Self.second, before: 20), at: 11)?.code == .undecodable)
    #expect(error(Self.takes(Self.second, before: 22), at: 11)?.code == .undecodable)
  }

  @Test func `A message that was removed may be one that did not count`() throws {
    var state = AcceptedCalls(position: 10, calls: 20, writer: Self.first)
    #expect(try state.take(Self.calls(21...22, by: Self.first, confirming: 10), at: 13))
    #expect(state.position == 13 && state.calls == 22)
  }
}
