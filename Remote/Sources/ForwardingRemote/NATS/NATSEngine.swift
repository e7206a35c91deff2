// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CNATS
internal import Foundation

/// Connects to servers of NATS.
internal struct NATSEngine: RemoteEngine {
  internal let servers: [String]
  internal let options: RemoteOptions

  internal func connect(
    promptly: Bool, _ handler: @escaping @Sendable (RemoteEvent) -> Void
  ) throws(RemoteError) -> any RemoteLink {
    let target = shownServers
    let link = NATSLink(timeout: options.timeout.milliseconds, handler)
    var settings: OpaquePointer?
    try unsafe check(natsOptions_Create(&settings), "the client")
    defer { unsafe natsOptions_Destroy(settings) }
    // SAFETY: the settings live until the end of this function. The client copies
    // strings.
    try unsafe setServers(settings)
    try unsafe setIdentity(settings)
    try unsafe setBehaviour(settings, link)
    try unsafe check(natsOptions_SetSendAsap(settings, promptly), "the client")
    var connection: OpaquePointer?
    var status = unsafe natsConnection_Connect(&connection, settings)
    // With a credentials file, version 3.4.1 of the client is refused about once in 300 connections,
    // though the user is valid: it depends on the random text that the client signs.
    var retries = options.credentials.isSigned ? 2 : 0
    while status == NATS_CONNECTION_AUTH_FAILED, retries > 0 {
      retries -= 1
      status = unsafe natsConnection_Connect(&connection, settings)
    }
    guard status == NATS_OK, let connection = unsafe connection else {
      link.close()
      throw Self.connectionError(status, target)
    }
    unsafe link.begin(connection)
    return link
  }

  /// The servers for messages: without the users and passwords that URLs may have.
  private var shownServers: String {
    servers.map { server -> String in
      guard let end = server.lastIndex(of: "@") else { return server }
      let scheme = server.range(of: "://").map { server[..<$0.upperBound] } ?? ""
      return String(scheme + server[server.index(after: end)...])
    }.joined(separator: ", ")
  }

  @unsafe private func setServers(_ settings: OpaquePointer?) throws(RemoteError) {
    guard !servers.isEmpty else {
      throw RemoteError(
        .invalidArgument, "there is no server, expected a URL such as nats://host:4222")
    }
    var addresses: [UnsafePointer<CChar>?] = unsafe servers.map {
      unsafe UnsafePointer(strdup($0))
    }
    defer {
      for index in servers.indices { unsafe free(UnsafeMutablePointer(mutating: addresses[index])) }
    }
    let status = unsafe addresses.withUnsafeMutableBufferPointer {
      unsafe natsOptions_SetServers(settings, $0.baseAddress, Int32($0.count))
    }
    try check(status, "the servers \(shownServers)")
  }

  @unsafe private func setIdentity(_ settings: OpaquePointer?) throws(RemoteError) {
    switch options.credentials {
    case .none: break
    case .user(let name, let password):
      try unsafe check(natsOptions_SetUserInfo(settings, name, password), "the user \"\(name)\"")
    case .token(let token): try unsafe check(natsOptions_SetToken(settings, token), "the token")
    case .file(let path):
      try readable(path, "the credentials")
      try unsafe check(
        natsOptions_SetUserCredentialsFromFiles(settings, path, nil), "the credentials in \(path)")
    }
    guard let tls = options.tls else { return }
    try unsafe check(natsOptions_SetSecure(settings, true), "TLS")
    if let authorities = tls.authorities {
      try readable(authorities, "the authorities")
      try unsafe check(
        natsOptions_LoadCATrustedCertificates(settings, authorities),
        "the authorities in \(authorities)")
    }
    if let identity = tls.identity {
      try readable(identity.certificate, "the certificate")
      try readable(identity.key, "the key")
      try unsafe check(
        natsOptions_LoadCertificatesChain(settings, identity.certificate, identity.key),
        "the certificate in \(identity.certificate) with the key in \(identity.key)")
    }
  }

  private func readable(_ path: String, _ name: String) throws(RemoteError) {
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw RemoteError(.invalidArgument, "\(name): there is no readable file at \(path)")
    }
  }

  @unsafe private func setBehaviour(
    _ settings: OpaquePointer?, _ link: NATSLink
  ) throws(RemoteError) {
    let time = max(options.timeout.milliseconds, 1)
    let context = unsafe link.context
    try unsafe check(natsOptions_SetTimeout(settings, time), "the timeout")
    try unsafe check(natsOptions_SetWriteDeadline(settings, time), "the timeout")
    try unsafe check(natsOptions_SetPingInterval(settings, time), "the timeout")
    try unsafe check(natsOptions_SetMaxPingsOut(settings, 1), "the client")
    // A client that connects again by itself resends pending messages after those that
    // were published since, which changes the order.
    try unsafe check(natsOptions_SetAllowReconnect(settings, false), "the client")
    try unsafe check(natsOptions_SetName(settings, "swift-forwarding"), "the client")
    try unsafe check(
      natsOptions_SetErrorHandler(settings, natsErrorCallback, context), "the client")
    try unsafe check(natsOptions_SetClosedCB(settings, natsClosedCallback, context), "the client")
  }

  private func check(_ status: natsStatus, _ what: String) throws(RemoteError) {
    if status == NATS_OK { return }
    throw RemoteError(.invalidArgument, "\(what): \(text(status))\(Self.detail)")
  }

  /// The client's description of this thread's last error, in parentheses.
  private static var detail: String { threadError.map { " (\($0))" } ?? "" }

  private static func connectionError(_ status: natsStatus, _ target: String) -> RemoteError {
    let sentence = "connecting to \(target): \(text(status))\(detail)"
    switch status {
    case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED:
      return RemoteError(.authenticationFailed, sentence)
    case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_WANTED, NATS_SECURE_CONNECTION_REQUIRED:
      return RemoteError(.insecure, sentence)
    case NATS_INVALID_ARG, NATS_ADDRESS_MISSING:
      return RemoteError(.invalidArgument, sentence)
    default: return RemoteError(.disconnected, sentence)
    }
  }
}
