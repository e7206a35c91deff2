// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

/// Speaks the protocol of NATS over a socket, for messages that no client library sends.
public final class RawClient: @unchecked Sendable {
  // SAFETY: one test at a time uses it.
  private let socket: Int32
  private var received: [UInt8] = []

  /// Connects, and announces that the client knows headers.
  public init(_ port: UInt16) throws {
    guard let socket = NATSServer.connected(port) else {
      throw Failure(description: "there is no server on port \(port)")
    }
    self.socket = socket
    // A test that waits in vain fails.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    // SAFETY: the value has the size that is passed.
    unsafe setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    try send("CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\n")
    try settle()
  }

  deinit { close(socket) }

  public func publish(_ subject: String, contents: String) throws {
    try send("PUB \(subject) \(contents.utf8.count)\r\n\(contents)\r\n")
  }

  /// Publishes an empty message with headers, such as `Status: 503`.
  public func publish(_ subject: String, reply: String = "", headers: String) throws {
    let block = "NATS/1.0\r\n\(headers)\r\n\r\n"
    let size = block.utf8.count
    try send("HPUB \(subject) \(reply.isEmpty ? "" : reply + " ")\(size) \(size)\r\n\(block)\r\n")
  }

  public func subscribe(_ subject: String) throws {
    try send("SUB \(subject) 1\r\n")
    try settle()
  }

  /// Waits for a message, and returns its reply subject and its contents.
  public func message() throws -> (reply: String, contents: String) {
    let line = try line("MSG ")
    let words = line.split(separator: " ")
    let size = Int(words.last ?? "") ?? 0
    while received.count < size + 2 { try receive() }
    defer { received.removeFirst(size + 2) }
    let contents = String(decoding: received.prefix(size), as: UTF8.self)
    return (words.count > 4 ? String(words[3]) : "", contents)
  }

  /// Waits until the server has read everything.
  private func settle() throws {
    try send("PING\r\n")
    _ = try line("PONG")
  }

  private func send(_ text: String) throws {
    let bytes = Array(text.utf8)
    // SAFETY: the buffer has so many bytes.
    guard unsafe write(socket, bytes, bytes.count) == bytes.count else {
      throw Failure(description: "the socket takes nothing")
    }
  }

  private func receive() throws {
    var buffer = [UInt8](repeating: 0, count: 4096)
    // SAFETY: the buffer has the size that is passed.
    let count = unsafe read(socket, &buffer, buffer.count)
    guard count > 0 else { throw Failure(description: "the server sends nothing") }
    received += buffer.prefix(count)
  }

  /// Skips lines until one has a prefix, and returns that one.
  private func line(_ prefix: String) throws -> String {
    while true {
      while let end = received.firstIndex(of: 0x0A) {
        let line = String(decoding: received[..<end], as: UTF8.self)
        received.removeSubrange(...end)
        if line.hasPrefix(prefix) { return line.trimmingCharacters(in: .whitespacesAndNewlines) }
      }
      try receive()
    }
  }
}
