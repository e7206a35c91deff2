// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How to connect to a server.
public struct RemoteOptions: Sendable {
  /// The user that connects. By default that of the URL, or none.
  public var credentials = RemoteCredentials.none
  /// The certificates. If nil, connections have no TLS, unless the URL begins with `tls://`.
  public var tls: RemoteTLS?
  /// How long connecting, and each request to the server, may take. A server that is silent for
  /// longer counts as dead. Publishers and consumers then connect again. A log that has vanished
  /// is an error after 20 seconds, whatever this time: see ``RemoteError/Code/logLost``.
  public var timeout = Duration.seconds(5)

  /// Creates the default options.
  public init() {}
}

/// The user that connects to a server.
public enum RemoteCredentials: Sendable {
  /// No user, or the one in the URL.
  case none
  /// A user and a password.
  case user(String, password: String)
  /// A token.
  case token(String)
  /// The path of a credentials file: a user's JWT and the seed of its key.
  case file(String)

  /// Whether the client proves its identity by a signature.
  internal var isSigned: Bool {
    if case .file = self { true } else { false }
  }
}

/// The certificates of a connection with TLS. The paths name PEM files.
public struct RemoteTLS: Sendable {
  /// The authorities that may have signed the server's certificate. If nil, those of the
  /// system.
  public var authorities: String?
  /// The certificate and the key that this program shows to the server.
  public var identity: (certificate: String, key: String)?

  /// Creates the description.
  public init(authorities: String? = nil, identity: (certificate: String, key: String)? = nil) {
    self.authorities = authorities
    self.identity = identity
  }
}
