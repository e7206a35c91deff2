// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

/// Certificates are made with the program openssl.
@Suite(.timeLimit(.minutes(15))) struct SecurityTests {
  private let server: NATSServer
  private let directory: String

  init() throws {
    server = try NATSServer()
    directory = server.directory.path
    let script = """
      set -e; cd "\(directory)"
      for ca in ca other; do
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$ca" -keyout $ca-key.pem -out $ca.pem
      done
      printf 'subjectAltName=IP:127.0.0.1' > names
      for name in server client; do
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" -keyout $name-key.pem -out $name.csr
        openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile names -out $name.pem
      done
      """
    try run("/bin/sh", "-c", script)
  }

  private func run(_ program: String, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  private func options(
    authorities: String? = nil, identity: String? = nil
  ) -> RemoteOptions {
    var options = RemoteOptions()
    options.tls = RemoteTLS(
      authorities: authorities.map { "\(directory)/\($0).pem" },
      identity: identity.map {
        (certificate: "\(directory)/\($0).pem", key: "\(directory)/\($0)-key.pem")
      })
    return options
  }

  private func start(verify: Bool) throws {
    try server.start(
      """
      tls { cert_file: "DIRECTORY/server.pem", key_file: "DIRECTORY/server-key.pem",
        ca_file: "DIRECTORY/ca.pem", verify: \(verify) }
      """)
  }

  @Test func `Calls pass a server with TLS, whose certificate is checked`() async throws {
    try start(verify: false)
    let link = try await RemoteConnection(to: server.url, options: options(authorities: "ca"))
    let proxy = try Feed.proxy()
    let publisher = try await link.publisher("sensors", of: proxy, WireSchema(of: proxy))
    try proxy.send(Feed.number, 1)
    try await publisher.close()
    let receiver = try Receiver()
    try await link.consumer("sensors", into: receiver.proxy, receiver.schema).during {
      #expect(await eventually { receiver.numbers.all == [1] })
    }
    for wrong in [options(authorities: "other"), options()] {
      let error = await remoteError {
        _ = try await RemoteConnection(to: server.url, options: wrong)
      }
      #expect(error?.code == .insecure, "\(error as Any)")
    }
    // The certificate has another name.
    let misnamed = await remoteError {
      _ = try await RemoteConnection(
        to: "nats://localhost:\(server.port)", options: options(authorities: "ca"))
    }
    #expect(misnamed?.code == .insecure, "\(misnamed as Any)")
    let plain = await remoteError { _ = try await RemoteConnection(to: server.url) }
    #expect(plain?.code == .insecure, "\(plain as Any)")
  }

  @Test func `A server can ask for a certificate`() async throws {
    try start(verify: true)
    _ = try await RemoteConnection(
      to: server.url, options: options(authorities: "ca", identity: "client"))
    let error = await remoteError {
      _ = try await RemoteConnection(to: server.url, options: options(authorities: "ca"))
    }
    #expect(error?.code == .insecure || error?.code == .disconnected, "\(error as Any)")
    let absent = await remoteError {
      _ = try await RemoteConnection(
        to: server.url, options: options(authorities: "ca", identity: "nobody"))
    }
    #expect(absent?.code == .invalidArgument)
    #expect(absent?.description.contains("\(directory)/nobody.pem") == true)
  }

  @Test func `A credentials file is checked`() async throws {
    let server = try NATSServer(jetStream: false)
    let directory = server.directory.path
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("RemoteSupport/credentials.py")
    try run("/usr/bin/env", "python3", script.path, directory)
    try server.start(String(contentsOfFile: directory + "/users.conf", encoding: .utf8))
    var options = RemoteOptions()
    options.credentials = .file(directory + "/user.creds")
    let link = try await RemoteConnection(to: server.url, options: options)
    let proxy = try Feed.proxy()
    let error = await remoteError {
      try await link.request("nobody", WireSchema(of: proxy), Feed.number, 1)
    }
    #expect(error?.code == .noResponders)
    // The client's signature of some random texts is refused.
    for _ in 0..<200 { _ = try await RemoteConnection(to: server.url, options: options) }
    options.credentials = .file(directory + "/stranger.creds")
    for wrong in [options, RemoteOptions()] {
      let error = await remoteError {
        _ = try await RemoteConnection(to: server.url, options: wrong)
      }
      #expect(error?.code == .authenticationFailed, "\(error as Any)")
    }
  }

  @Test func `A server without TLS is refused when it is asked for`() async throws {
    try server.start()
    let error = await remoteError {
      _ = try await RemoteConnection(to: server.url, options: options(authorities: "ca"))
    }
    #expect(error?.code == .insecure, "\(error as Any)")
  }
}
