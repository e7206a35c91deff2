// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS
internal import Foundation

// What this module reads from the server's words, codes and headers. `ServerMessagesTests` compares
// each with the installed server.

/// A refusal of a subject. The client delivers the status `NATS_NOT_PERMITTED` with the server's
/// sentence, and only the sentence names the subject:
///
/// ```
/// Permissions Violation for Publish to "fwd.log.a"
/// Permissions Violation for Publish with Reply of "_INBOX.a"
/// Permissions Violation for Subscription to "fwd.a" using queue "fwd"
/// ```
internal struct PermissionViolation {
  internal let sentence: String

  /// The subject; nil if the sentence has another form. It is the first quoted text.
  internal var subject: String? {
    let parts = sentence.split(separator: "\"", omittingEmptySubsequences: false)
    return parts.count >= 3 ? String(parts[1]) : nil
  }

  internal var error: RemoteError {
    RemoteError(.permissionDenied, "the server says: \(sentence)")
  }
}

/// The server sets the header `Status` in the messages that it writes itself.
internal enum ServerStatus {
  internal static let header = "Status"
  internal static let descriptionHeader = "Description"
  /// A heartbeat or a request of flow control.
  internal static let control = "100"
  /// No subscription takes the message, or no server has the stream.
  internal static let noResponders = "503"

  /// The number of the last message that the server's consumer has delivered.
  internal static let lastDeliveryHeader = "Nats-Last-Consumer"
  /// The subject of a flow control request that a heartbeat repeats.
  internal static let stalledHeader = "Nats-Consumer-Stalled"
  /// Makes the server refuse a message, unless the stream ends at this position.
  internal static let expectedPositionHeader = "Nats-Expected-Last-Sequence"
}

/// An error in a response of JetStream. It is recognised by its code, never by its description.
internal struct JetStreamFault: Decodable {
  var code: Int
  var errCode: UInt32?
  var description: String?

  internal func isCode(_ code: jsErrCode) -> Bool { errCode == code.rawValue }

  internal func error(_ place: String) -> RemoteError {
    let reason = description ?? "error \(errCode.map(Int.init) ?? code)"
    let known: [(jsErrCode, RemoteError.Code)] = [
      (JSStreamWrongLastSequenceErr, .conflict),
      (JSStreamMessageExceedsMaximumErr, .messageTooLarge),
      (JSStreamNotFoundErr, .logLost),
    ]
    let code = known.first { isCode($0.0) }?.1 ?? .serverFault
    return RemoteError(code, "\(place): the server says: \(reason)")
  }
}
