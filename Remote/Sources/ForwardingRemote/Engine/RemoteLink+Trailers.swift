// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

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
  /// - Complexity: reads the messages that the writer of the last one had in flight.
  /// - Throws: `logLost` if messages that decide about it have been removed.
  internal func endState(
    of log: RemoteLog, named name: String
  ) throws(RemoteError) -> AcceptedCalls {
    if log.last == 0 { return .beginning }
    guard let last = try trailer(at: log.last, of: name) else {
      throw RemoteError(
        .logLost,
        "the log has removed its last message, \(log.last), so the number of calls is unknown")
    }
    var state = last.base(at: log.last)
    guard state.position <= log.last, log.last - state.position <= MessageTrailer.mostInFlight
    else {
      throw RemoteError(
        .undecodable,
        "message \(log.last) names message \(state.position) as accepted, expected one of the "
          + "\(MessageTrailer.mostInFlight) before it")
    }
    if state.position + 1 < log.first {
      guard let known = try firstKnownCalls(of: log, named: name) else {
        throw RemoteError(
          .logLost,
          "the log has removed messages before message \(log.first), so the number of calls is unknown"
        )
      }
      state = known
    }
    while state.end < log.last {
      let next = state.end + 1
      _ = try state.advance(over: storedTrailer(at: next, of: name), at: next)
    }
    return state
  }

  /// Returns the earliest state that the remaining messages of a log prove. Returns nil if none does: each names a
  /// message that has been removed.
  internal func firstKnownCalls(
    of log: RemoteLog, named name: String
  ) throws(RemoteError) -> AcceptedCalls? {
    if log.first == 1 { return AcceptedCalls.beginning }
    var position = log.first
    while position <= log.last, position - log.first <= MessageTrailer.mostInFlight {
      let base = try storedTrailer(at: position, of: name).base(at: position)
      if base.position + 1 >= log.first, base.position <= position { return base }
      position += 1
    }
    return nil
  }

  /// Returns which publisher had a log at its oldest message, if a later state is known.
  ///
  /// Its messages name an accepted message after it had taken the log. Late messages of others name earlier ones.
  internal func holder(
    of log: RemoteLog, named name: String, before known: AcceptedCalls
  ) throws(RemoteError) -> WriterIdentity? {
    var (holder, confirmed) = (known.writer, UInt64(0))
    var position = log.first
    while position <= known.position {
      let trailer = try storedTrailer(at: position, of: name)
      // Another publisher has the log from here on.
      if trailer.takesLog { break }
      if trailer.confirmed >= confirmed {
        (holder, confirmed) = (trailer.writer, trailer.confirmed)
      }
      position += 1
    }
    return holder
  }

  /// The trailer of a message that the log has had a moment ago.
  private func storedTrailer(
    at position: UInt64, of name: String
  ) throws(RemoteError) -> MessageTrailer {
    if let trailer = try trailer(at: position, of: name) { return trailer }
    if let log = try log(name), position < log.first {
      throw RemoteError(.disconnected, "message \(position) has been removed in the meantime")
    }
    throw RemoteError(.logLost, "message \(position) has been removed from the middle of the log")
  }
}
