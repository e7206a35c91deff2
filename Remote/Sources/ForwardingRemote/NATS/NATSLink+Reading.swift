// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS
internal import Foundation

/// What a link reads: the server's consumer pushes messages to an inbox.
internal struct NATSReading {
  var inbox: NATSInbox
  var log: String
  /// The position of the last message that was taken.
  var position: UInt64
  /// How many messages the server's consumer has delivered.
  var deliveries: UInt64 = 0
  var lastSign = ContinuousClock.now
}

extension NATSLink {
  internal func read(_ log: String, after position: UInt64) throws(RemoteError) {
    // The server makes a consumer for each repetition. So each repetition names another inbox, and the
    // server removes the consumers whose inboxes are gone.
    var inboxes: [NATSInbox] = []
    let response: ConsumerResponse
    do throws(RemoteError) {
      response = try apiRequest("CONSUMER.CREATE.FWD_\(log)") { () throws(RemoteError) in
        let inbox = try inbox()
        inboxes.append(inbox)
        return ConsumerRequest(
          streamName: "FWD_\(log)",
          config: ConsumerRequest.Configuration(
            deliverSubject: inbox.subject, optStartSeq: position + 1,
            idleHeartbeat: Timing.heartbeat.milliseconds * 1_000_000,
            inactiveThreshold: Timing.abandonedConsumer.milliseconds * 1_000_000))
      }
    } catch {
      throw error.at("reading the log \"\(log)\"")
    }
    if let fault = response.error { throw fault.error("reading the log \"\(log)\"") }
    guard let inbox = inboxes.first(where: { $0.subject == response.config?.deliverSubject }) else {
      throw RemoteError(
        .serverFault,
        "reading the log \"\(log)\": the server delivers to "
          + "\"\(response.config?.deliverSubject ?? "")\", which nobody has requested")
    }
    reading = NATSReading(inbox: inbox, log: log, position: position)
  }

  internal func nextMessages(
    within time: Duration, _ body: (UInt64, RawSpan) -> Bool
  ) throws(RemoteError) {
    guard var reading else { throw RemoteError(.closed, "the link reads no log") }
    defer { self.reading = reading }
    try checkFault()
    let first: NATSMessage
    switch reading.inbox.next(within: time.milliseconds) {
    case .success(let message): first = message
    case .failure(let failure):
      if failure.status == NATS_NO_RESPONDERS {
        // The client takes every empty message with this status for the server's. But this inbox
        // gets messages of the log, and the server's are never of this kind.
        throw RemoteError(
          .undecodable,
          "the first message after message \(reading.position) is empty and has the status "
            + "\(ServerStatus.noResponders): no publisher has made it")
      }
      guard failure.status == NATS_TIMEOUT else {
        throw error(failure.status, "reading the log \"\(reading.log)\"")
      }
      if reading.lastSign.duration(to: .now) > Timing.silence {
        throw RemoteError(
          .disconnected, "the server sends no heartbeats for the log \"\(reading.log)\"")
      }
      return
    }
    reading.lastSign = .now
    // Without this number the client would wait for one more.
    var left = reading.inbox.waiting
    var message = first
    while try take(message, &reading, body), left > 0,
      case .success(let next) = reading.inbox.next(within: 1)
    {
      message = next
      left -= 1
    }
  }

  /// Returns whether the body wants more messages.
  private func take(
    _ message: NATSMessage, _ reading: inout NATSReading, _ body: (UInt64, RawSpan) -> Bool
  ) throws(RemoteError) -> Bool {
    // A message of the log has a place, whatever headers its writer has given it.
    guard let place = message.place else {
      if message.count == 0, message.header(ServerStatus.header) != nil {
        try takeStatus(message, &reading)
      }
      return true
    }
    guard place.delivery == reading.deliveries + 1 else {
      throw RemoteError(
        .disconnected,
        "the log \"\(reading.log)\": delivery \(reading.deliveries + 1) was lost on the way, got "
          + "\(place.delivery)")
    }
    reading.deliveries = place.delivery
    // A lower position has been read already.
    guard place.position > reading.position else { return true }
    reading.position = place.position
    return message.withBytes { body(place.position, $0) }
  }

  /// Responds to flow control, and looks for deliveries that were lost at the end.
  private func takeStatus(
    _ message: NATSMessage, _ reading: inout NATSReading
  ) throws(RemoteError) {
    guard message.header(ServerStatus.header) == ServerStatus.control else {
      throw RemoteError(
        .disconnected,
        "the log \"\(reading.log)\": the server ends the delivery: status "
          + "\(message.header(ServerStatus.header) ?? ""), \(message.header(ServerStatus.descriptionHeader) ?? "")"
      )
    }
    // The messages that came before have been taken over, and are consumed when the group that they belong to is.
    if let subject = message.header(ServerStatus.stalledHeader) ?? message.reply {
      let status = unsafe natsConnection_Publish(try client(), subject, nil, 0)
      if status != NATS_OK { throw error(status, "the log \"\(reading.log)\"") }
    }
    if let last = message.header(ServerStatus.lastDeliveryHeader).flatMap({ UInt64($0) }),
      last > reading.deliveries
    {
      throw RemoteError(
        .disconnected,
        "the log \"\(reading.log)\": \(last - reading.deliveries) deliveries were lost on the way")
    }
  }
}
