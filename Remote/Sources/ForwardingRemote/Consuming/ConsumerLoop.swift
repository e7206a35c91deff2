// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import ForwardingWire
internal import Foundation

/// What a consumer's thread does.
internal final class ConsumerLoop: @unchecked Sendable {
  internal let name: String
  private let engine: any RemoteEngine
  private let proxy: DynamicProxy
  private let schema: WireSchema
  private let positions: any RemotePositions
  private let start: RemoteConsumer.Start
  private let lostLogWait: Duration

  // SAFETY: the lock protects the position. One thread at a time runs the loop.
  private let lock = NSLock()
  private var current: RemotePosition?

  internal init(
    _ name: String, _ engine: any RemoteEngine, _ proxy: DynamicProxy, _ schema: WireSchema,
    _ positions: any RemotePositions, _ start: RemoteConsumer.Start,
    lostLogWait: Duration
  ) {
    self.name = name
    self.engine = engine
    self.proxy = proxy
    self.schema = schema
    self.positions = positions
    self.start = start
    self.lostLogWait = lostLogWait
  }

  internal private(set) var position: RemotePosition? {
    get { lock.withLock { current } }
    set { lock.withLock { current = newValue } }
  }

  internal func run(_ cancellation: Cancellation) throws(RemoteError) {
    do {
      // A consumer that has begun with the newest call, and got none yet, begins there again.
      position = try positions.load(name) ?? position
    } catch {
      throw self.error(.positionNotStored, "the position cannot be read: \(error)")
    }
    if let position, max(position.message, position.calls, position.writer ?? 0) > UInt64(Int64.max)
    {
      throw self.error(
        .positionNotStored, "the stored position is \(position), expected at most \(Int64.max)")
    }
    let slot = LinkSlot(engine, promptly: false, cancellation.condition)
    do throws(RemoteError) {
      try slot.run(Backoff(lostLogWait: lostLogWait)) {
        (backoff: inout Backoff) throws(RemoteError) in
        // The server must not go on sending while this waits for the next attempt.
        defer { slot.close() }
        try session(slot, cancellation, &backoff)
      } until: {
        cancellation.isRequested
      }
    } catch {
      throw error.at("producer \"\(name)\"")
    }
  }

  private func error(_ code: RemoteError.Code, _ sentence: String) -> RemoteError {
    RemoteError(code, "producer \"\(name)\": \(sentence)")
  }

  // MARK: One connection

  /// Consumes until the link fails.
  private func session(
    _ slot: LinkSlot, _ cancellation: Cancellation, _ backoff: inout Backoff
  ) throws(RemoteError) {
    let link = try slot.connect()
    guard let log = try link.log(name) else {
      guard let position, position.message > 0 else {
        // All that the producer publishes from now on is new.
        if start == .newest { self.position = RemotePosition(message: 0, calls: 0) }
        throw RemoteError(.disconnected, "the producer has never published")
      }
      throw RemoteError(
        .logLost, "the server has no such log, but the position is message \(position.message)")
    }
    var state: AcceptedCalls
    if let position {
      state = try continuation(link, log, position)
    } else {
      state = try beginning(link, log)
      // The next connection must not skip what comes until then.
      if start == .newest { position = RemotePosition(state) }
    }
    backoff.logFound()
    try link.read(name, after: state.end)
    var group = MessageGroup()
    while !cancellation.isCancelled {
      group.removeAll()
      try link.nextMessages(within: Timing.cancellationCheck) { group.append($1, at: $0) }
      if group.isEmpty { continue }
      try deliver(group, from: &state)
      backoff.reset()
    }
  }

  /// The state at the position of an earlier connection.
  private func continuation(
    _ link: any RemoteLink, _ log: RemoteLog, _ position: RemotePosition
  ) throws(RemoteError) -> AcceptedCalls {
    guard log.last >= position.message else {
      throw RemoteError(
        .logLost,
        "the log ends at message \(log.last), but the position is message \(position.message)")
    }
    let trailer =
      position.message > 0 ? try link.trailer(at: position.message, of: name) : nil
    guard trailer == nil || trailer?.lastCall == position.calls else {
      throw RemoteError(
        .logLost,
        "message \(position.message) ends with call \(trailer?.lastCall ?? 0), but the position is "
          + "call \(position.calls)")
    }
    if let trailer, let writer = position.writer, trailer.writer.number != writer {
      throw RemoteError(
        .logLost,
        "message \(position.message) is of another publisher than the position: the log was made anew"
      )
    }
    let state = AcceptedCalls(
      position: position.message, calls: position.calls, writer: trailer?.writer)
    // If the message has been removed, a later message says which publisher had the log.
    guard trailer == nil, log.first > 1, log.first <= log.last else { return state }
    guard let known = try link.firstKnownCalls(of: log, named: name) else {
      throw RemoteError(.logLost, "the log has removed message \(position.message)")
    }
    if known.calls == position.calls { return known }
    guard position.message + 1 == log.first else { throw state.missing(upTo: known.calls) }
    let writer = try link.holder(of: log, named: name, before: known)
    return AcceptedCalls(position: position.message, calls: position.calls, writer: writer)
  }

  /// The state before the first message to consume.
  private func beginning(
    _ link: any RemoteLink, _ log: RemoteLog
  ) throws(RemoteError) -> AcceptedCalls {
    guard log.last == 0 || log.first <= log.last else {
      throw RemoteError(.disconnected, "the log has removed all of its \(log.last) messages")
    }
    if start == .newest { return try link.endState(of: log, named: name) }
    if let known = try link.firstKnownCalls(of: log, named: name) { return known }
    throw RemoteError(.logLost, "the log has removed messages that its oldest ones follow")
  }

  // MARK: Delivering

  /// Delivers the calls of some messages and stores the position. If a message is bad, those
  /// before it are delivered.
  private func deliver(
    _ group: MessageGroup, from state: inout AcceptedCalls
  ) throws(RemoteError) {
    let (records, next, fault) = group.decode(after: state, schema)
    let position = RemotePosition(next)
    if position != RemotePosition(state) {
      try commit(position, records)
      self.position = position
    }
    state = next
    if let fault { throw fault }
  }

  private func commit(_ position: RemotePosition, _ records: [WireRecord]) throws(RemoteError) {
    var fault: RemoteError?
    var deliveries = 0
    func miscounted() -> RemoteError {
      RemoteError(
        .positionNotStored, "`commit` called `deliver` \(deliveries) times, expected once")
    }
    do {
      try positions.commit(position, of: name) {
        deliveries += 1
        guard deliveries == 1 else { throw miscounted() }
        do throws(WireError) {
          for record in records { try forward(record) }
        } catch {
          let error = RemoteError(.notForwarded, "a call: \(error)", wireError: error)
          fault = error
          throw error
        }
      }
    } catch {
      if let fault { throw fault }
      if deliveries > 1 { throw miscounted() }
      throw RemoteError(.positionNotStored, "the position cannot be stored: \(error)")
    }
    if let fault { throw fault }
    guard deliveries == 1 else { throw miscounted() }
  }

  private func forward(_ record: WireRecord) throws(WireError) {
    do throws(WireError) {
      try record.forward(to: proxy)
    } catch {
      // A method with a result needs a subscriber for its result, which nobody wants here.
      if error.forwardingError?.code != .noResponder { throw error }
    }
  }
}

extension RemotePosition {
  fileprivate init(_ state: AcceptedCalls) {
    self.init(message: state.position, calls: state.calls, writer: state.writer?.number)
  }
}
