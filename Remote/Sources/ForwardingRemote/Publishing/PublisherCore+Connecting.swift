// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

// Takes a log, and finds out which calls it has.
extension PublisherCore {
  private var ownerAddress: String { "owner.\(name)" }

  /// Connects, and takes the log: from then on, what an earlier publisher of the name appends is
  /// refused, or stored and not accepted.
  internal func open() throws(RemoteError) {
    let end = SuspendingClock.now + timeout
    var backoff = Backoff()
    do throws(RemoteError) {
      while true {
        do throws(RemoteError) { return try takeLog(isFirst: true) } catch {
          // Late messages of an earlier publisher, or another one that begins. The latter
          // responds at the next attempt.
          guard error.code == .conflict, SuspendingClock.now < end else { throw error }
          Thread.sleep(forTimeInterval: try backoff.pause(after: error).seconds)
        }
      }
    } catch {
      slot.close()
      let isTaken = error.code == .conflict
      throw (isTaken ? taken("others append to its log for \(timeout)") : error).at(place)
    }
  }

  /// Connects again. Forgets the messages that the log has, so that the others can be
  /// appended after them.
  internal func reconnect() throws(RemoteError) { try takeLog(isFirst: false) }

  /// Connects, finds out which calls the log has, and takes it.
  ///
  /// A link sends one message, and waits until it is stored, before it sends many at once: if others append too, their
  /// message makes all of those useless.
  private func takeLog(isFirst: Bool) throws(RemoteError) {
    // First, so that no acknowledgement of the former link counts from here on.
    slot.close()
    withLock { takenPosition = nil }
    let link = try connect()
    // Also if the publisher was closed before the link was made.
    if withLock({ isAbandoned }) { throw closed }
    let log =
      try isFirst
      ? link.makeLog(name, replicas: options.replicas, size: options.logSize) : link.log(name)
    guard let log else { throw RemoteError(.logLost, "the server has no such log") }
    if isFirst { try checkOwner(link) } else { try checkLength(log) }
    try respondAsOwner(on: link)
    let end = try link.endState(of: log, named: name)
    if !isFirst { try checkOwn(end) }
    withLock {
      logSize = log.size
      // A larger message could remove the one that it names.
      messageLimit = min(link.messageLimit, (log.size ?? .max) / 4)
      messages.rewind()
      stored(upToCall: end.calls)
      storedCalls = end.calls
      if isFirst { lastCall = end.calls }
      condition.broadcast()
    }
    try appendTakingMessage(link, after: end)
  }

  private func checkLength(_ log: RemoteLog) throws(RemoteError) {
    let known = withLock { storedPosition }
    guard log.last >= known else {
      throw RemoteError(
        .logLost,
        "the log ends at message \(log.last), but the server had acknowledged message \(known)")
    }
  }

  /// Throws if the log does not continue what this publisher has stored.
  private func checkOwn(_ end: AcceptedCalls) throws(RemoteError) {
    guard end.writer == identity else {
      throw taken("another publisher of this name has taken over while this one had no connection")
    }
    let known = withLock { storedCalls }
    guard end.calls >= known else {
      throw RemoteError(
        .logLost,
        "the log ends with call \(end.calls), but the server had acknowledged call \(known)")
    }
  }

  private var place: String { "producer \"\(name)\"" }

  private var closed: RemoteError { RemoteError(.disconnected, "the publisher has been closed") }

  private func taken(_ reason: String) -> RemoteError {
    RemoteError(.producerTaken, reason)
  }

  /// Responds to other publishers of the name for as long as the link lasts.
  private func respondAsOwner(on link: any RemoteLink) throws(RemoteError) {
    let generation = withLock { slot.generation }
    try link.respond(to: ownerAddress) { [weak self] _ in self?.ownerResponse(generation) }
  }

  /// Returns the response to another publisher of the name. Waits while the log is being taken
  /// with the link that got the request; nil if that fails.
  ///
  /// A publisher reads the end of the log, then asks for others, then begins to respond, then takes
  /// the log. So one that gets no response has read the log before any other took it, and
  /// cannot take it after that.
  private func ownerResponse(_ generation: Int) -> [UInt8]? {
    let deadline = condition.deadline(after: timeout)
    condition.lock()
    while takenPosition == nil && !isClosing && slot.fault == nil && slot.generation == generation {
      if !condition.wait(until: deadline) { break }
    }
    let owns =
      takenPosition != nil && slot.generation == generation && !isAbandoned && failure == nil
    condition.unlock()
    guard owns else { return nil }
    return Array("process \(ProcessInfo.processInfo.processIdentifier) on \(Self.host)".utf8)
  }

  /// The name of this machine. Foundation looks it up in the name service.
  private static var host: String {
    var name = [CChar](repeating: 0, count: 256)
    // SAFETY: the last byte stays 0.
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "another machine" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Throws if another publisher of the name is running.
  private func checkOwner(_ link: any RemoteLink) throws(RemoteError) {
    var owner: String?
    do throws(RemoteError) {
      let time = min(timeout, Timing.ownerResponse)
      try link.request(ownerAddress, everyone: true, [], within: time) { response in
        owner = String(decoding: response.prefix(200), as: UTF8.self)
        return false
      }
    } catch {
      // Nothing responds: the earlier publisher is dead, or does not reach the server.
      guard error.code == .noResponders || error.code == .timedOut else { throw error }
    }
    if let owner { throw taken("another publisher of this name is running: \(owner)") }
  }

  /// Appends a message without calls, and waits until it is stored.
  private func appendTakingMessage(_ link: any RemoteLink, after end: AcceptedCalls)
    throws(RemoteError)
  {
    var message: [UInt8] = []
    MessageTrailer(
      writer: identity, firstCall: end.calls + 1, confirmed: end.position,
      confirmedCalls: end.calls, callCount: 0
    ).append(to: &message)
    try link.append([message], to: name, after: end.end)
    let deadline = condition.deadline(after: timeout)
    condition.lock()
    defer { condition.unlock() }
    while takenPosition == nil {
      if let fault = slot.fault { throw fault }
      if isAbandoned { throw closed }
      guard condition.wait(until: deadline) || takenPosition != nil else {
        throw RemoteError(.timedOut, "the server stored nothing within \(timeout)")
      }
    }
    guard takenPosition == end.end + 1 else {
      throw RemoteError(
        .conflict,
        "message \(end.end + 1) takes the log, but message \(takenPosition ?? 0) is stored")
    }
    storedPosition = end.end + 1
    lastProgress = .now
    lastFault = nil
    condition.broadcast()
  }

  private func connect() throws(RemoteError) -> any RemoteLink {
    try slot.connect { [weak self] position in
      guard let self else { return }
      if takenPosition != nil { return stored(upTo: position) }
      takenPosition = position
      condition.broadcast()
    }
  }
}
