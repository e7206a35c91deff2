// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Decides which messages of a log are accepted. Publishers and consumers read a log by this rule, so
/// all of them get the same calls.
///
/// A log can have messages that are not accepted. A publisher has many messages in flight, each for the
/// position after the one before. Suppose that another publisher takes the log, and that messages of the
/// first one arrive after that:
///
///     position    1      2     3      4     5      6     7
///     message     take   a1    take   a3    take   b1    b2
///     writer      A      A     B      A     B      B     B
///     accepted    yes    yes   yes    no    yes    yes   yes
///
/// Here the server has refused `a2`, which was sent for position 3, but has stored `a3`, since position 4
/// was free. It then refused `b1` for position 4, and B has connected again.
///
/// So a message is accepted if its writer was the last one to take the log, and if its first call is
/// the one after the last accepted call. A writer that sends a call again sends the same call.
///
/// A reader need not begin with the first message. It begins with the *base* of a message: an earlier state, which the
/// writer of the message knew and put into its trailer.
internal struct AcceptedCalls: Equatable {
  /// The position of the last accepted message.
  internal private(set) var position: UInt64
  /// The number of the last accepted call.
  internal private(set) var calls: UInt64
  /// The publisher that has the log. Nil if the log has had no message, or if this is unknown.
  internal private(set) var writer: WriterIdentity?
  /// The position of the last message, accepted or not.
  internal private(set) var end: UInt64

  /// The state after an accepted message.
  internal init(position: UInt64, calls: UInt64, writer: WriterIdentity?) {
    (self.position, self.calls, self.writer, end) = (position, calls, writer, position)
  }

  /// The state before the first message of a log.
  internal static let beginning = AcceptedCalls(position: 0, calls: 0, writer: nil)

  /// Continues with the next message of the log.
  ///
  /// - Returns: whether the message is accepted.
  /// - Throws: `missingCalls`; `undecodable` if the numbers contradict each other; `disconnected`
  ///   if the caller must find out from other messages which publisher has the log.
  internal mutating func advance(
    over trailer: MessageTrailer, at position: UInt64
  ) throws(RemoteError) -> Bool {
    if trailer.confirmed < position { adoptMissed(trailer) }
    if accepts(trailer) {
      (self.position, calls, writer, end) = (position, trailer.lastCall, trailer.writer, position)
      return true
    }
    // A writer that takes the log has read all messages before. A writer that names an accepted message has
    // read the log up to that message.
    if trailer.takesLog && trailer.firstCall <= calls {
      throw RemoteError(
        .undecodable,
        "a publisher takes the log before call \(trailer.firstCall), expected call \(calls + 1)")
    }
    if trailer.takesLog { throw missing(upTo: trailer.firstCall - 1) }
    if trailer.confirmed > self.position && trailer.confirmedCalls > calls {
      throw missing(upTo: trailer.confirmedCalls)
    }
    guard writer != nil else {
      throw position == 1
        ? RemoteError(.undecodable, "no publisher takes the log by its first message")
        : RemoteError(.disconnected, "messages before it have been removed in the meantime")
    }
    end = position
    return false
  }

  private func accepts(_ trailer: MessageTrailer) -> Bool {
    trailer.firstCall == calls + 1 && (trailer.takesLog || trailer.writer == writer)
  }

  /// Catches up with accepted messages without calls, which have been removed: by them, the writer of this
  /// message had taken the log.
  private mutating func adoptMissed(_ trailer: MessageTrailer) {
    let isLater = trailer.confirmed > position || (trailer.confirmed == position && writer == nil)
    guard isLater, !trailer.takesLog, trailer.confirmedCalls == calls else { return }
    (position, writer) = (trailer.confirmed, trailer.writer)
    end = max(end, position)
  }

  /// The error if calls after these up to a number are missing.
  internal func missing(upTo last: UInt64) -> RemoteError {
    RemoteError(
      .missingCalls,
      "the calls \(calls + 1) to \(last) are missing: the log has removed messages after message "
        + "\(position)")
  }
}

extension MessageTrailer {
  /// The latest state that the writer knew when it sent the message. If the message takes the log, the
  /// state after it.
  internal func base(at position: UInt64) -> AcceptedCalls {
    takesLog
      ? AcceptedCalls(position: position, calls: lastCall, writer: writer)
      : AcceptedCalls(position: confirmed, calls: confirmedCalls, writer: writer)
  }
}
