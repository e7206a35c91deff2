// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS

// Each address has two subjects: every responder gets the messages of one, and one responder those of the
// other.
extension NATSLink {
  internal func respond(
    to address: String, _ response: @escaping @Sendable ([UInt8]) -> [UInt8]?
  ) throws(RemoteError) {
    let reply: @Sendable (NATSMessage) -> Void = { [weak self] message in
      guard let subject = message.reply, let response = response(message.bytes) else { return }
      self?.send(response, to: subject)
    }
    // Requests have no flow control, so the client drops those that wait too long.
    let limit = (count: Int32(4096), size: Int32(8 << 20))
    try subscribe("fwd.\(address).all", limit: limit) { message, _ in reply(message) }
    try subscribe("fwd.\(address).one", group: "fwd", limit: limit) { message, _ in
      reply(message)
    }
    try settle()
  }

  private func send(_ response: [UInt8], to subject: String) {
    guard let connection = unsafe try? client() else { return }
    // If this fails, the connection has ended, and the request times out.
    _ = unsafe response.withUnsafeBytes {
      unsafe natsConnection_Publish(connection, subject, $0.baseAddress, Int32($0.count))
    }
  }

  internal func request(
    _ address: String, everyone: Bool, _ request: [UInt8], within time: Duration,
    _ body: ([UInt8]) -> Bool
  ) throws(RemoteError) {
    try self.request(
      subject: "fwd.\(address).\(everyone ? "all" : "one")", request, within: time, body)
  }

  /// Publishes a request, and calls `body` with each response until it returns false.
  internal func request(
    subject: String, _ request: [UInt8], within time: Duration, _ body: ([UInt8]) -> Bool
  ) throws(RemoteError) {
    try self.request(
      subject: subject, within: time, repeatedEach: time, { () throws(RemoteError) in request },
      body)
  }

  /// Publishes a request, and calls `body` with each response until it returns false.
  ///
  /// - Parameters:
  ///   - interval: after so much time without an end, the request is published again. The responses
  ///     to all repetitions count.
  ///   - request: makes the request, for each repetition.
  internal func request(
    subject: String, within time: Duration, repeatedEach interval: Duration,
    _ request: () throws(RemoteError) -> [UInt8], _ body: ([UInt8]) -> Bool
  ) throws(RemoteError) {
    let inbox = try inbox()
    // The server may have refused the subject of another request on this link.
    try checkFault(concerning: subject, inbox.subject)
    try publish(request(), to: subject, reply: inbox)
    let start = ContinuousClock.now
    var repetition = start + interval
    while true {
      let now = ContinuousClock.now
      let left = now.duration(to: start + time)
      guard left > .zero else {
        throw RemoteError(.timedOut, "the request to \"\(subject)\": no response within \(time)")
      }
      if now >= repetition {
        try publish(request(), to: subject, reply: inbox)
        repetition = now + interval
      }
      switch inbox.next(within: min(left, Timing.refusalCheck).milliseconds) {
      case .success(let message): if !body(message.bytes) { return }
      // A subject that is not permitted is told as a fault of the link.
      case .failure(let failure) where failure.status == NATS_TIMEOUT:
        try checkFault(concerning: subject, inbox.subject)
      case .failure(let failure): throw error(failure.status, "the request to \"\(subject)\"")
      }
    }
  }

  private func publish(
    _ request: [UInt8], to subject: String, reply inbox: NATSInbox
  ) throws(RemoteError) {
    let connection = try unsafe client()
    let status = unsafe request.withUnsafeBytes { bytes in
      unsafe natsConnection_PublishRequest(
        connection, subject, inbox.subject, bytes.baseAddress, Int32(bytes.count))
    }
    if status != NATS_OK { throw error(status, "the request to \"\(subject)\"") }
  }
}
