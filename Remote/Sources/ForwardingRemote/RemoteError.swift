// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import ForwardingWire

/// The error that every throwing function of this module throws.
///
/// `code` says what is wrong. `description` says in one sentence what was given, what
/// was expected and where:
///
/// ```
/// producer "sensors": the calls 4012 to 4100 are missing: the log has removed messages after message 80
/// ```
public struct RemoteError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong.
  ///
  /// Later versions may add codes, so a `switch` needs an `@unknown default`.
  @nonexhaustive
  public enum Code: String, Sendable, CaseIterable {
    // MARK: Connections

    /// A name, an address, an option or a file is not valid.
    case invalidArgument
    /// No server can be reached, or the connection ended. Publishers and consumers that are
    /// running connect again instead of throwing this.
    case disconnected
    /// The server refuses the user, the password, the token or the credentials.
    case authenticationFailed
    /// The TLS handshake failed, or one side has no TLS.
    case insecure
    /// The server does not permit a subject. The description names it.
    case permissionDenied
    /// The server does not do what is needed: it has no JetStream, no room left, or too
    /// few servers for the replicas.
    case serverFault
    /// Nothing happened before the deadline.
    case timedOut
    /// The object has been closed.
    case closed

    // MARK: Publishing

    /// Another publisher of this name is running, or has taken over.
    case producerTaken
    /// The log does not end where this link expected its end.
    case conflict
    /// The buffer is full, and the rule is ``RemoteOverflow/fail``.
    case bufferFull
    /// A call is larger than a message may be: than the server permits, or than a quarter of the log.
    case messageTooLarge

    // MARK: Consuming

    /// The server no longer has messages that it had acknowledged. Publishers and consumers that
    /// are running throw this when they have found it at every attempt for 20 seconds: a server
    /// that has just been cut off from its cluster may describe an old state of the log.
    case logLost
    /// The log begins after the next call that the consumer needs.
    case missingCalls
    /// A message cannot be decoded, has another number of calls than its trailer says, or
    /// the producer's schema does not fit the consumer's: see ``RemoteError/wireError``.
    case undecodable
    /// The consumer's proxy could not forward a call.
    case notForwarded
    /// The consumer's position could not be read or stored.
    case positionNotStored

    // MARK: Requests

    /// Nobody responds to requests of this name.
    case noResponders
    /// The responder's proxy threw an error.
    case responderFailed
  }

  /// What is wrong.
  public let code: Code

  /// One sentence that says what was given, what was expected and where.
  public let description: String

  /// The fault of the wire form, with the codes `undecodable` and `notForwarded`.
  public let wireError: WireError?

  /// Creates an error, for engines of your own.
  public init(_ code: Code, _ description: String, wireError: WireError? = nil) {
    self.code = code
    self.description = description
    self.wireError = wireError
  }

  /// Whether connecting again can help.
  package var isTransient: Bool {
    switch code {
    case .disconnected, .timedOut, .conflict, .serverFault: true
    default: false
    }
  }

  /// Returns the error with the place where it happened.
  internal func at(_ place: String) -> RemoteError {
    RemoteError(code, "\(place): \(description)", wireError: wireError)
  }
}
