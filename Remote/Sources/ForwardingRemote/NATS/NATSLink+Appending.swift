// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS
internal import Foundation

/// Where a link appends, made at the first use.
internal struct NATSAppending {
  var log: String
  var subject: String
  /// The subject to which the server's acknowledgements go.
  var acknowledgements: String
}

/// The position of the last acknowledged message of a link.
private final class Acknowledged: @unchecked Sendable {
  // SAFETY: one thread of the client at a time calls the closure of a subscription, in order.
  var position: UInt64

  init(_ position: UInt64) { self.position = position }
}

extension NATSLink {
  /// Requests an acknowledgement of each message: the last one does not stand for the others. If the server
  /// refuses one since somebody else has its position, it may still store the ones that follow.
  internal func append(
    _ messages: [[UInt8]], to log: String, after position: UInt64
  ) throws(RemoteError) {
    let (connection, appending) = unsafe try appending(to: log, after: position)
    for (index, message) in messages.enumerated() {
      let status = unsafe Self.publish(
        message, to: appending.subject, appending.acknowledgements,
        after: position + UInt64(index), connection)
      if status != NATS_OK { throw error(status, "appending to the log \"\(log)\"") }
    }
  }

  @unsafe private static func publish(
    _ message: [UInt8], to subject: String, _ acknowledgements: String, after position: UInt64,
    _ connection: OpaquePointer
  ) -> natsStatus {
    var outgoing: OpaquePointer?
    var status = unsafe message.withUnsafeBytes { bytes in
      unsafe natsMsg_Create(
        &outgoing, subject, acknowledgements,
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    defer { unsafe natsMsg_Destroy(outgoing) }
    if status == NATS_OK {
      status = unsafe natsMsgHeader_Set(
        outgoing, ServerStatus.expectedPositionHeader, String(position))
    }
    if status == NATS_OK { status = unsafe natsConnection_PublishMsg(connection, outgoing) }
    return status
  }

  /// Returns the connection, and where to append.
  ///
  /// - Parameter position: what the first message of the link follows.
  private func appending(
    to log: String, after position: UInt64
  ) throws(RemoteError) -> (OpaquePointer, NATSAppending) {
    let (fault, connection, known) = unsafe stateForAppending
    if let fault { throw fault }
    guard let connection = unsafe connection else {
      throw RemoteError(.disconnected, "the link has no connection")
    }
    if let known, known.log == log { return unsafe (connection, known) }
    let appending = NATSAppending(
      log: log, subject: Self.subject(log), acknowledgements: NATSInbox.newSubject())
    let acknowledged = Acknowledged(position)
    try subscribe(appending.acknowledgements) { [weak self] message, isFollowed in
      self?.appended(message, acknowledged, isFollowed)
    }
    setAppending(appending)
    return unsafe (connection, appending)
  }

  /// Reads the server's acknowledgement of an appended message:
  /// `{"stream":"FWD_a", "seq":1}`, or one with an error.
  private func appended(
    _ message: NATSMessage, _ acknowledged: Acknowledged, _ isFollowed: Bool
  ) {
    if message.count == 0, message.header(ServerStatus.header) == ServerStatus.noResponders {
      return handler(
        .failed(
          RemoteError(
            .serverFault, "no server responds for the log: it has no leader, or is gone")))
    }
    if let position = message.withBytes(Self.storedPosition) {
      return stored(position, acknowledged, isFollowed)
    }
    let bytes = message.bytes
    let response = try? NATSJSON.decoder.decode(AppendResponse.self, from: Data(bytes))
    if let fault = response?.error { return handler(.failed(fault.error("appending"))) }
    if let position = response?.seq, (1..<UInt64(Int64.max)).contains(position) {
      return stored(position, acknowledged, isFollowed)
    }
    let text = String(decoding: bytes.prefix(200), as: UTF8.self)
    handler(.failed(RemoteError(.serverFault, "the server's response is not understood: \(text)")))
  }

  /// So many acknowledgements are reported together at most.
  private static let reportInterval: UInt64 = 128

  /// A message counts as stored only if all that the link has appended before it are.
  ///
  /// - Parameter isFollowed: whether another acknowledgement waits, which can be reported for this one.
  private func stored(_ position: UInt64, _ acknowledged: Acknowledged, _ isFollowed: Bool) {
    guard position == acknowledged.position + 1 else {
      return handler(
        .failed(
          RemoteError(
            .conflict,
            "the server acknowledges message \(position) after message \(acknowledged.position)")))
    }
    acknowledged.position = position
    // The publisher takes its lock for each report. Callers that wait for room need some of them.
    if !isFollowed || position % Self.reportInterval == 0 { handler(.stored(position)) }
  }

  /// The position in an acknowledgement of the usual form; nil for every other one. They are
  /// frequent, and a JSON decoder takes longer than everything else.
  private static func storedPosition(_ response: RawSpan) -> UInt64? {
    // SAFETY: the indices are checked, and the buffer is used during the call.
    unsafe response.withUnsafeBytes { bytes in
      guard unsafe bytes.starts(with: #"{"stream":""#.utf8) else { return nil }
      // From the end: digits, then the key.
      var index = bytes.count - 2
      guard index > 0, unsafe bytes[index + 1] == 0x7D else { return nil }
      var (position, scale): (UInt64, UInt64) = (0, 1)
      while index > 0, case let digit = unsafe bytes[index], (0x30...0x39).contains(digit) {
        let (value, overflows) = scale.multipliedReportingOverflow(by: UInt64(digit - 0x30))
        if overflows { return nil }
        position &+= value
        scale = scale &* 10
        index -= 1
      }
      let key = unsafe bytes[...index].suffix(6)
      return unsafe (1..<UInt64(Int64.max)).contains(position) && key.elementsEqual(#""seq":"#.utf8)
        ? position : nil
    }
  }
}
