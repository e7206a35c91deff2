// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Decides which messages of a log are accepted. Publishers and consumers read a log by this rule, so
/// all of them see the same calls.
///
/// A log can have messages that nobody may count. A publisher sends several messages in a row, each
/// for the position after the one before. Suppose that another publisher takes the log, and that the
/// network delivers messages of the first one after that:
///
///     position    1      2     3      4     5     6
///     log         take   a1    take   a3    b1    b2
///     writer      A      A     B      A     B     B
///     accepted    yes    yes   yes    no    yes   yes
///
/// Here the server has refused `a2`, which was sent for position 3, but has stored `a3`, since position 4 was
/// free. It then refused `b1` for position 4, so B sent it again.
///
/// So a message is accepted if its writer was the last one to take the log, and if its first call is
/// the one after the last accepted call. A message with the right writer and number has the right calls,
/// since a publisher that sends again sends the same ones. `a3` has the wrong writer, and would have the wrong
/// number without the second publisher.
///
/// A message that is not accepted can also mean that messages before it are missing. Then the positions have a gap,
/// or the message names an accepted message before it (`confirmed`) that this reader has not seen.
internal struct AcceptedCalls: Equatable {
  /// The position of the last accepted message.
  internal private(set) var position: UInt64
  /// The number of the last accepted call.
  internal private(set) var calls: UInt64
  /// The publisher that has the log; nil if it is unknown, since the message has been removed that
  /// would say it.
  internal private(set) var writer: WriterIdentity?
  /// The position of the last message, accepted or not.
  internal private(set) var end: UInt64

  /// The state after an accepted message.
  internal init(position: UInt64, calls: UInt64, writer: WriterIdentity?) {
    (self.position, self.calls, self.writer, end) = (position, calls, writer, position)
  }

  /// Takes the next message of the log.
  ///
  /// - Returns: whether it is accepted.
  /// - Throws: `missingCalls`; `undecodable` if the numbers of the calls contradict each other.
  internal mutating func take(
    _ trailer: MessageTrailer, at position: UInt64
  ) throws(RemoteError) -> Bool {
    let isWriter = trailer.takesLog || writer == nil || trailer.writer == writer
    if isWriter && trailer.firstCall == calls + 1 {
      (self.position, calls, writer, end) = (position, trailer.lastCall, trailer.writer, position)
      return true
    }
    guard trailer.confirmed <= self.position, position == end + 1 else {
      throw RemoteError(.missingCalls, missing(before: position, trailer))
    }
    guard !trailer.takesLog else {
      throw RemoteError(
        .undecodable,
        "a publisher takes the log before call \(trailer.firstCall), expected call \(calls + 1)")
    }
    end = position
    return false
  }

  private func missing(before position: UInt64, _ trailer: MessageTrailer) -> String {
    trailer.firstCall > calls + 1
      ? "the calls \(calls + 1) to \(trailer.firstCall - 1) are missing: the log goes on with call "
        + "\(trailer.firstCall)"
      : "calls after call \(calls) are missing: the log has them between message \(self.position) "
        + "and message \(position)"
  }
}

extension RemoteLink {
  /// The trailer of a message; nil if the log does not have the message.
  internal func trailer(
    at position: UInt64, of log: String
  ) throws(RemoteError) -> MessageTrailer? {
    guard let message = try message(at: position, of: log) else { return nil }
    return try unsafe MessageTrailer.read(message.span.bytes)
  }

  /// Returns the state at the end of a log.
  ///
  /// - Complexity: reads the messages that the last publisher had on its way at once.
  /// - Throws: `logLost` if the log has had messages and has removed all of them.
  internal func acceptedCalls(
    of log: RemoteLog, named name: String
  ) throws(RemoteError) -> AcceptedCalls {
    if log.last == 0 { return AcceptedCalls(position: 0, calls: 0, writer: nil) }
    guard let last = try trailer(at: log.last, of: name) else {
      throw RemoteError(
        .logLost,
        "the log has removed all of its \(log.last) messages, so the number of calls is unknown")
    }
    guard last.confirmed < log.last else {
      throw RemoteError(
        .undecodable,
        "message \(log.last) names an accepted message before it: \(last.confirmed)")
    }
    var state = AcceptedCalls(position: 0, calls: 0, writer: nil)
    if last.confirmed > 0, let trailer = try trailer(at: last.confirmed, of: name) {
      state = AcceptedCalls(
        position: last.confirmed, calls: trailer.lastCall, writer: trailer.writer)
    } else if log.first > 1 {
      state = try oldestCalls(of: log, named: name)
    }
    try advance(&state, to: log.last, of: name)
    return state
  }

  /// Returns the state before the oldest message, which is taken as accepted.
  internal func oldestCalls(
    of log: RemoteLog, named name: String
  ) throws(RemoteError) -> AcceptedCalls {
    let trailer = try presentTrailer(at: log.first, of: name)
    return AcceptedCalls(position: log.first - 1, calls: trailer.firstCall - 1, writer: nil)
  }

  /// Reads on to a position.
  internal func advance(
    _ state: inout AcceptedCalls, to position: UInt64, of log: String
  ) throws(RemoteError) {
    while state.end < position {
      let next = state.end + 1
      _ = try state.take(presentTrailer(at: next, of: log), at: next)
    }
  }

  private func presentTrailer(
    at position: UInt64, of log: String
  ) throws(RemoteError) -> MessageTrailer {
    if let trailer = try trailer(at: position, of: log) { return trailer }
    throw RemoteError(.disconnected, "message \(position) has been removed in the meantime")
  }
}
