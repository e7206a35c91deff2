// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingRemote
import Foundation

/// A service in this process, whose faults the tests choose.
final class MemoryEngine: RemoteEngine, @unchecked Sendable {
  // SAFETY: the lock protects all variables, those of the links included.
  let lock = NSLock()
  fileprivate var logs: [String: [[UInt8]]] = [:]
  fileprivate var links: [MemoryLink] = []
  /// What the links that have ended would call.
  fileprivate var lateHandlers: [@Sendable (RemoteEvent) -> Void] = []
  private var madeCount = 0
  fileprivate var closedCount = 0
  private var isAway = false
  /// What is called once and then released: a closure may refer to this engine.
  private var once: [Moment: @Sendable () -> Void] = [:]
  fileprivate var handlingCount = 0
  /// The oldest position that the logs still have, and one that they have not.
  fileprivate var (first, hole): (UInt64, UInt64) = (1, 0)
  /// How many single messages have been read.
  fileprivate(set) var readCount = 0
  /// What the frozen links append.
  private var held: [@Sendable () -> Void] = []
  /// How many appended messages are stored and not acknowledged, before a link ends.
  fileprivate var silentAppends = 0

  func connect(
    promptly: Bool, _ handler: @escaping @Sendable (RemoteEvent) -> Void
  ) throws(RemoteError) -> any RemoteLink {
    let link = lock.withLock { () -> MemoryLink? in
      if isAway { return nil }
      let link = MemoryLink(self, handler)
      links.append(link)
      madeCount += 1
      return link
    }
    guard let link else { throw RemoteError(.disconnected, "the engine is away") }
    reach(.connecting)
    return link
  }

  enum Moment {
    /// A link has been made, and its owner does not have it yet.
    case connecting
    /// A link has been closed by its owner.
    case closing
    /// A single message is about to be read.
    case fetching
  }

  /// Calls a closure the next time that a moment comes.
  func next(_ moment: Moment, _ body: @escaping @Sendable () -> Void) {
    lock.withLock { once[moment] = body }
  }

  fileprivate func reach(_ moment: Moment) {
    lock.withLock { once.removeValue(forKey: moment) }?()
  }

  /// How many requests have been passed to a responder.
  var handledRequestCount: Int { lock.withLock { handlingCount } }

  /// Ends the links, and refuses others until it is told otherwise.
  func setAway(_ isAway: Bool) {
    let ended = lock.withLock {
      self.isAway = isAway
      defer { if isAway { links = [] } }
      return isAway ? links : []
    }
    for link in ended { link.end() }
  }

  /// Ends the links that exist.
  func cut() {
    setAway(true)
    setAway(false)
  }

  // MARK: A network that holds messages back

  /// Holds back the messages that the present links append, and hides their services from requests.
  func freeze() { lock.withLock { for link in links { link.isFrozen = true } } }

  fileprivate func hold(_ append: @escaping @Sendable () -> Void) {
    lock.withLock { held.append(append) }
  }

  var heldCount: Int { lock.withLock { held.count } }

  /// Delivers some of what was held back, in order, and loses the rest.
  func thaw(delivering count: Int = .max) {
    let appends = takeHeld().prefix(count)
    lock.withLock { for link in links { link.isFrozen = false } }
    for append in appends { append() }
  }

  /// Takes what was held back: the caller may deliver it later.
  func takeHeld() -> [@Sendable () -> Void] {
    lock.withLock {
      defer { held = [] }
      return held
    }
  }

  /// How many links have been made, and how many of them their owners have not closed.
  var linkCount: (made: Int, open: Int) {
    lock.withLock { (madeCount, madeCount - closedCount) }
  }

  /// Calls the handlers of all links that have ended, as a client's thread may do.
  func report(late event: RemoteEvent) {
    for handler in lock.withLock({ lateHandlers }) { handler(event) }
  }

  /// Stores the next messages without acknowledging them, then ends the link.
  func swallow(_ count: Int) { lock.withLock { silentAppends = count } }

  /// Removes the messages of all logs before a position.
  func remove(before position: UInt64) { lock.withLock { first = position } }

  /// Removes one message.
  func remove(at position: UInt64) { lock.withLock { hole = position } }

  func messages(_ log: String) -> [[UInt8]] { lock.withLock { logs[log] ?? [] } }
  func setMessages(_ log: String, _ messages: some Sequence<[UInt8]>) {
    lock.withLock { logs[log] = Array(messages) }
  }
}

final class MemoryLink: RemoteLink, @unchecked Sendable {
  // SAFETY: the engine's lock protects the variables.
  private let engine: MemoryEngine
  private let handler: @Sendable (RemoteEvent) -> Void
  fileprivate private(set) var hasEnded = false
  fileprivate var isFrozen = false
  /// Whether the owner has closed the link.
  private var isClosed = false
  fileprivate var services: [String: @Sendable ([UInt8]) -> [UInt8]?] = [:]
  private var reading: (log: String, position: UInt64)?

  init(_ engine: MemoryEngine, _ handler: @escaping @Sendable (RemoteEvent) -> Void) {
    self.engine = engine
    self.handler = handler
  }

  let messageLimit = 1 << 20

  func end() {
    engine.lock.withLock { markEnded() }
    handler(.failed(RemoteError(.disconnected, "the link was cut")))
  }

  /// The lock is held.
  private func markEnded() {
    if !hasEnded { engine.lateHandlers.append(handler) }
    hasEnded = true
  }

  private func check() throws(RemoteError) {
    if engine.lock.withLock({ hasEnded }) { throw RemoteError(.disconnected, "the link has ended") }
  }

  func log(_ name: String) throws(RemoteError) -> RemoteLog? {
    try check()
    return engine.lock.withLock {
      engine.logs[name].map { RemoteLog(first: engine.first, last: UInt64($0.count)) }
    }
  }

  func makeLog(_ name: String, replicas: Int, size: Int?) throws(RemoteError) -> RemoteLog {
    try check()
    return engine.lock.withLock {
      RemoteLog(first: engine.first, last: UInt64(engine.logs[name, default: []].count))
    }
  }

  func message(at position: UInt64, of log: String) throws(RemoteError) -> [UInt8]? {
    try check()
    engine.reach(.fetching)
    return engine.lock.withLock {
      let messages = engine.logs[log] ?? []
      engine.readCount += 1
      if position < engine.first || position == engine.hole { return nil }
      return (1...UInt64(max(1, messages.count))).contains(position) && !messages.isEmpty
        ? messages[Int(position) - 1] : nil
    }
  }

  func append(_ messages: [[UInt8]], to log: String, after position: UInt64) throws(RemoteError) {
    try check()
    for (index, message) in messages.enumerated() {
      let position = position + UInt64(index)
      if engine.lock.withLock({ isFrozen }) {
        engine.hold { self.append(message, to: log, after: position) }
      } else {
        append(message, to: log, after: position)
      }
    }
  }

  /// Also for a link that has ended: the network has the message.
  private func append(_ message: [UInt8], to log: String, after position: UInt64) {
    let (event, cuts) = engine.lock.withLock { () -> (RemoteEvent?, Bool) in
      let last = UInt64(engine.logs[log, default: []].count)
      guard last == position else {
        return (
          .failed(RemoteError(.conflict, "the log ends at \(last), not at \(position)")), false
        )
      }
      engine.logs[log, default: []].append(message)
      if engine.silentAppends > 0 {
        engine.silentAppends -= 1
        return (nil, engine.silentAppends == 0)
      }
      return (.stored(last + 1), false)
    }
    if let event { handler(event) }
    if cuts { end() }
  }

  func read(_ log: String, after position: UInt64) throws(RemoteError) {
    try check()
    engine.lock.withLock { reading = (log, position) }
  }

  func nextMessages(
    within time: Duration, _ body: (UInt64, RawSpan) -> Bool
  ) throws(RemoteError) {
    try check()
    let messages = engine.lock.withLock { () -> [(UInt64, [UInt8])] in
      guard let (log, position) = reading else { return [] }
      let messages = (engine.logs[log] ?? []).enumerated().map {
        (UInt64($0.offset) + 1, $0.element)
      }
      .dropFirst(Int(max(position, engine.first - 1)))
      return Array(messages)
    }
    if messages.isEmpty { usleep(2000) }
    for (position, message) in messages {
      engine.lock.withLock { reading?.position = position }
      // SAFETY: the span is used during the call.
      if !body(position, unsafe message.span.bytes) { return }
    }
  }

  func respond(
    to address: String, _ response: @escaping @Sendable ([UInt8]) -> [UInt8]?
  ) throws(RemoteError) {
    try check()
    engine.lock.withLock { services[address] = response }
  }

  func request(
    _ address: String, everyone: Bool, _ request: [UInt8], within time: Duration,
    _ body: ([UInt8]) -> Bool
  ) throws(RemoteError) {
    try check()
    let responders = engine.lock.withLock {
      engine.links.filter { !$0.hasEnded && !$0.isFrozen }.compactMap { $0.services[address] }
    }
    if responders.isEmpty { throw RemoteError(.noResponders, "nobody responds to \(address)") }
    for respond in responders {
      engine.lock.withLock { engine.handlingCount += 1 }
      if let response = respond(request), !body(response) { return }
    }
    throw RemoteError(.timedOut, "no more responses from \(address)")
  }

  func close() {
    engine.lock.withLock {
      markEnded()
      if !isClosed { engine.closedCount += 1 }
      isClosed = true
      services = [:]
      engine.links.removeAll { $0 === self }
    }
    engine.reach(.closing)
  }
}
