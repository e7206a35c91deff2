// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS

// Each address has two subjects: all who serve it hear of one, and one of them of the other.
extension NATSLink {
  internal func serve(
    _ address: String, _ answer: @escaping @Sendable ([UInt8]) -> [UInt8]?
  ) throws(RemoteError) {
    let reply: @Sendable (NATSMessage) -> Void = { [weak self] message in
      guard let subject = message.reply, let answer = answer(message.bytes) else { return }
      self?.reply(answer, to: subject)
    }
    // Requests have no flow control, so those that cannot be answered soon are dropped.
    let limit = (count: Int32(4096), size: Int32(8 << 20))
    try subscribe("fwd.\(address).all", limit: limit, reply)
    try subscribe("fwd.\(address).one", group: "fwd", limit: limit, reply)
    try settle()
  }

  private func reply(_ answer: [UInt8], to subject: String) {
    guard let connection = unsafe try? client() else { return }
    // If this fails, the connection has ended, and who asks gets no answer.
    _ = unsafe answer.withUnsafeBytes {
      unsafe natsConnection_Publish(connection, subject, $0.baseAddress, Int32($0.count))
    }
  }

  internal func ask(
    _ address: String, everyone: Bool, _ question: [UInt8], within time: Duration,
    _ body: ([UInt8]) -> Bool
  ) throws(RemoteError) {
    try ask(
      subject: "fwd.\(address).\(everyone ? "all" : "one")", question, within: time, body)
  }

  /// Publishes a question, and calls `body` with each answer until it returns false.
  internal func ask(
    subject: String, _ question: [UInt8], within time: Duration, _ body: ([UInt8]) -> Bool
  ) throws(RemoteError) {
    let inbox = try inbox()
    // The server may have refused the subject of another request on this link.
    try checkFault(concerning: subject, inbox.subject)
    let connection = try unsafe client()
    let status = unsafe question.withUnsafeBytes { bytes in
      unsafe natsConnection_PublishRequest(
        connection, subject, inbox.subject, bytes.baseAddress, Int32(bytes.count))
    }
    if status != NATS_OK { throw error(status, "asking \"\(subject)\"") }
    let end = ContinuousClock.now + time
    while true {
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else {
        throw RemoteError(.timedOut, "asking \"\(subject)\": no answer within \(time)")
      }
      switch inbox.next(within: min(left, Timing.refusalCheck).milliseconds) {
      case .success(let message): if !body(message.bytes) { return }
      // A subject that is not permitted is told as a fault of the link.
      case .failure(let failure) where failure.status == NATS_TIMEOUT:
        try checkFault(concerning: subject, inbox.subject)
      case .failure(let failure): throw error(failure.status, "asking \"\(subject)\"")
      }
    }
  }
}
