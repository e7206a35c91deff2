// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

// Takes a log, and finds out which calls it has.
extension PublisherCore {
  private var ownerAddress: String { "owner.\(name)" }

  /// Connects, and takes the log: from then on, what an earlier publisher of the name appends is
  /// refused, or stored and not accepted.
  internal func open() throws(RemoteError) {
    var attempts = 0
    do throws(RemoteError) {
      while true {
        attempts += 1
        do throws(RemoteError) { return try takeLog() } catch {
          // Late messages of an earlier publisher, or another one that begins. The latter
          // responds at the next attempt.
          guard error.code == .conflict, attempts < Self.attempts else { throw error }
        }
      }
    } catch {
      slot.close()
      let isLate = error.code == .conflict
      throw (isLate ? taken("another publisher appends at the same time") : error).at(place)
    }
  }

  /// How often a publisher tries to take a log to which others append.
  private static let attempts = 5

  private func takeLog() throws(RemoteError) {
    let link = try connect()
    let log = try link.makeLog(name, replicas: options.replicas, size: options.logSize)
    try checkOwner(link)
    try respondAsOwner(on: link)
    let end = try link.acceptedCalls(of: log, named: name)
    withLock {
      storedPosition = log.last
      confirmedPosition = end.position
      storedCalls = end.calls
      acceptedCalls = end.calls
    }
    try takeLog(link, after: end)
  }

  private var place: String { "producer \"\(name)\"" }

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
    let deadline = Date(timeIntervalSinceNow: timeout.seconds)
    condition.lock()
    while !isOwner && !isClosing && slot.fault == nil && slot.generation == generation {
      if !condition.wait(until: deadline) { break }
    }
    let owns = isOwner && !isAbandoned && failure == nil
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
  private func takeLog(_ link: any RemoteLink, after end: AcceptedCalls) throws(RemoteError) {
    var message: [UInt8] = []
    MessageTrailer(
      writer: identity, firstCall: end.calls + 1, confirmed: end.position, callCount: 0
    ).append(to: &message)
    try link.append([message], to: name, after: end.end)
    let deadline = Date(timeIntervalSinceNow: timeout.seconds)
    condition.lock()
    defer { condition.unlock() }
    while takenPosition <= end.end {
      if let fault = slot.fault { throw fault }
      guard condition.wait(until: deadline) else {
        throw RemoteError(.timedOut, "the server stored nothing within \(timeout)")
      }
    }
    (storedPosition, confirmedPosition) = (takenPosition, takenPosition)
    isOwner = true
    condition.broadcast()
  }

  // MARK: Connecting again

  /// Connects again. Forgets the messages that the log has, so that the others can be
  /// appended after them.
  internal func reconnect() throws(RemoteError) {
    let link = try connect()
    guard let log = try link.log(name) else {
      throw RemoteError(.logLost, "the server has no such log")
    }
    let known = withLock { storedPosition }
    guard log.last >= known else {
      throw RemoteError(
        .logLost,
        "the log ends at message \(log.last), but the server had acknowledged message \(known)")
    }
    let (confirmed, calls) = withLock { (confirmedPosition, storedCalls) }
    var end = AcceptedCalls(position: confirmed, calls: calls, writer: identity)
    if let trailer = try link.trailer(at: confirmed, of: name) {
      guard trailer.writer == identity, trailer.lastCall == calls else {
        throw RemoteError(
          .logLost,
          "message \(confirmed) of the log is not the one that the server had acknowledged")
      }
      try link.advance(&end, to: log.last, of: name)
    } else {
      end = try link.acceptedCalls(of: log, named: name)
    }
    guard end.writer == identity else {
      throw taken("another publisher of this name has taken over while this one had no connection")
    }
    guard end.calls >= calls else {
      throw RemoteError(
        .logLost,
        "the log ends with call \(end.calls), but the server had acknowledged call \(calls)")
    }
    try respondAsOwner(on: link)
    withLock {
      messages.rewind()
      stored(upToCall: end.calls)
      storedPosition = log.last
      confirmedPosition = end.position
      lastProgress = .now
      lastFault = nil
      condition.broadcast()
    }
  }

  private func connect() throws(RemoteError) -> any RemoteLink {
    let link = try slot.connect { [weak self] position in
      guard let self else { return }
      if isOwner { return stored(upTo: position) }
      takenPosition = position
      condition.broadcast()
    }
    withLock {
      // A message that is larger than the log could never be stored.
      messageLimit = min(link.messageLimit, (options.logSize ?? .max) / 4)
    }
    return link
  }
}
