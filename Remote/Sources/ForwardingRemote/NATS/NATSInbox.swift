// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS

/// A subscription to a subject of its own, from which messages are taken one by one. It
/// ends with the object.
@safe internal final class NATSInbox {
  internal let subject: String
  // The client keeps the connection for as long as the subscription.
  private let subscription: OpaquePointer

  @unsafe internal init(_ connection: OpaquePointer, _ link: NATSLink) throws(RemoteError) {
    subject = Self.newSubject()
    var subscription: OpaquePointer?
    let status = unsafe natsConnection_SubscribeSync(&subscription, connection, subject)
    guard status == NATS_OK, let subscription = unsafe subscription else {
      throw link.error(status, "subscribing to \"\(subject)\"")
    }
    unsafe self.subscription = subscription
    // The server's flow control bounds what waits here.
    unsafe natsSubscription_SetPendingLimits(subscription, -1, -1)
  }

  deinit {
    unsafe natsSubscription_Unsubscribe(subscription)
    unsafe natsSubscription_Destroy(subscription)
  }

  /// A subject that nobody else uses.
  internal static func newSubject() -> String {
    let identity = WriterIdentity.random()
    return "_INBOX.fwd\(String(identity.high, radix: 36))\(String(identity.low, radix: 36))"
  }

  /// Takes the next message.
  ///
  /// - Returns: the client's status instead, if there is none before the deadline.
  internal func next(within milliseconds: Int64) -> Result<NATSMessage, NATSFailure> {
    var message: OpaquePointer?
    let status = unsafe natsSubscription_NextMsg(&message, subscription, max(1, milliseconds))
    guard status == NATS_OK, let message = unsafe message else {
      return .failure(NATSFailure(status: status))
    }
    return .success(unsafe NATSMessage(owning: message))
  }

  /// How many messages have arrived and not been taken.
  internal var waiting: Int {
    var count: Int32 = 0
    guard unsafe natsSubscription_GetPending(subscription, &count, nil) == NATS_OK else { return 0 }
    return Int(count)
  }
}

/// A status of the client other than success.
internal struct NATSFailure: Error {
  internal let status: natsStatus
}
