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
    if let position, max(position.message, position.calls) > UInt64(Int64.max) {
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
    var position: RemotePosition
    if let known = self.position {
      position = known
    } else {
      position = try beginning(link, log)
      // The next connection must not skip what comes until then.
      if start == .newest { self.position = position }
    }
    guard log.last >= position.message else {
      throw RemoteError(
        .logLost,
        "the log ends at message \(log.last), but the position is message \(position.message)")
    }
    backoff.logFound()
    try link.read(name, after: position.message)
    var group = MessageGroup()
    while !cancellation.isCancelled {
      group.removeAll()
      try link.nextMessages(within: Timing.cancellationCheck) { group.append($1, at: $0) }
      if group.isEmpty { continue }
      try deliver(group, from: &position)
      backoff.reset()
    }
  }

  /// The position before the first message to consume.
  private func beginning(
    _ link: any RemoteLink, _ log: RemoteLog
  ) throws(RemoteError) -> RemotePosition {
    let message = start == .oldest ? log.first : log.last
    guard log.last > 0, log.first <= log.last else {
      return RemotePosition(message: log.last, calls: 0)
    }
    guard let bytes = try link.message(at: message, of: name) else {
      throw RemoteError(.disconnected, "message \(message) has been removed in the meantime")
    }
    let trailer = try unsafe MessageTrailer.read(bytes.span.bytes)
    return start == .oldest
      ? RemotePosition(message: message - 1, calls: trailer.firstCall - 1)
      : RemotePosition(message: message, calls: trailer.lastCall)
  }

  // MARK: Delivering

  /// Delivers the calls of some messages and stores the position. If a message is bad, those
  /// before it are delivered.
  private func deliver(
    _ group: MessageGroup, from position: inout RemotePosition
  ) throws(RemoteError) {
    let (records, next, fault) = group.decode(after: position, schema)
    if next != position {
      try commit(next, records)
      position = next
      self.position = next
    }
    if let fault { throw fault }
  }

  private func commit(_ position: RemotePosition, _ records: [WireRecord]) throws(RemoteError) {
    var fault: RemoteError?
    do {
      try positions.commit(position, of: name) {
        do throws(WireError) {
          for record in records { try forward(record) }
        } catch {
          let error = RemoteError(.notForwarded, "a call: \(error)", wireError: error)
          fault = error
          throw error
        }
      }
    } catch {
      throw fault ?? self.error(.positionNotStored, "the position cannot be stored: \(error)")
    }
    if let fault { throw fault }
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
