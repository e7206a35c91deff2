// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How long this module waits, and why. Waits that the user chooses are in `RemoteOptions`.
internal enum Timing {
  // MARK: Connecting again

  /// The wait before the first attempt to connect again. A server that was restarted is soon
  /// back, and each further wait is twice as long.
  static let firstPause = Duration.milliseconds(20)

  /// The longest wait before an attempt: what a user notices as "at once" after an outage, and
  /// few enough attempts for a server with thousands of clients.
  static let longestPause = Duration.seconds(1)

  /// A responder's link that lasts for less than this counts as a failed attempt. Otherwise a
  /// server that accepts connections and drops them would get them without a pause.
  static let stableLink = Duration.seconds(1)

  /// A log that is gone or too short counts as lost after this time. A leader of a cluster that
  /// is cut off from the other servers describes its own log until it steps down. It does so
  /// when it has not heard of a majority for 10 seconds, and it checks every 10 seconds.
  static let lostLog = Duration.seconds(20)

  // MARK: Publishing

  /// How long a starting publisher waits for the response of another one of its name. A running
  /// publisher responds at once, unless it is taking the log.
  static let ownerResponse = Duration.seconds(2)

  /// How often a publisher with unacknowledged messages checks for its time-out.
  static let acknowledgementCheck = Duration.milliseconds(100)

  // MARK: Consuming

  /// The server sends a heartbeat after this time without a message. The consumers of a large
  /// cluster are many, so it is not less.
  static let heartbeat = Duration.seconds(1)

  /// Reading fails after this time without a message or a heartbeat. One heartbeat may come
  /// late when the server is busy.
  static let silence = heartbeat * 3

  /// The server removes its side of a consumer when nobody has listened to it for this time.
  /// It outlasts `silence`, so that a consumer which still reads keeps its server's side.
  static let abandonedConsumer = Duration.seconds(5)

  /// How often a consumer without messages checks whether it has been cancelled.
  static let cancellationCheck = Duration.milliseconds(50)

  // MARK: Requests

  /// A cluster without a leader drops requests to JetStream instead of responding, so they are
  /// repeated after this time. A distant server then responds more than once.
  static let repeatedRequest = Duration.seconds(1)

  /// How often a request that waits for a response checks whether the server has refused its
  /// subject: the client reports this on another thread.
  static let refusalCheck = Duration.milliseconds(20)
}

extension Duration {
  internal var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }

  /// Whole milliseconds, at least 1.
  internal var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return max(1, min(seconds, 1 << 40) * 1000 + attoseconds / 1_000_000_000_000_000)
  }
}
