// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct AccessTests {
  private func options(_ credentials: RemoteCredentials) -> RemoteOptions {
    var options = RemoteOptions.patient
    options.credentials = credentials
    return options
  }

  @Test func `A server that is absent is an error with its address`() async throws {
    let port = try NATSServer.freePort()
    let error = await remoteError { _ = try await RemoteConnection(to: "nats://127.0.0.1:\(port)") }
    #expect(error?.code == .disconnected)
    #expect(error?.description.contains("nats://127.0.0.1:\(port)") == true)
    let nonsense = await remoteError { _ = try await RemoteConnection(to: "nats://") }
    #expect(nonsense != nil)
    let nothing = await remoteError { _ = try await RemoteConnection(to: " ,") }
    #expect(nothing?.code == .invalidArgument && nothing?.description.contains("nats://") == true)
  }

  @Test func `A server without JetStream is an error`() async throws {
    let server = try NATSServer(jetStream: false).start()
    let link = try await RemoteConnection(to: server.url, options: .patient)
    let proxy = try Feed.proxy()
    let error = await remoteError {
      _ = try await link.publisher("sensors", of: proxy, WireSchema(of: proxy))
    }
    #expect(error?.code == .serverFault)
    #expect(error?.description.contains("is JetStream enabled?") == true)
  }

  @Test func `User, password and token are checked`() async throws {
    let server = try NATSServer("authorization { user: me, password: secret }").start()
    for wrong in [
      RemoteCredentials.none, .user("me", password: "guess"), .token("secret"),
    ] {
      let error = await remoteError {
        _ = try await RemoteConnection(to: server.url, options: options(wrong))
      }
      #expect(error?.code == .authenticationFailed, "\(error as Any)")
    }
    _ = try await RemoteConnection(
      to: server.url, options: options(.user("me", password: "secret")))
    _ = try await RemoteConnection(to: "nats://me:secret@127.0.0.1:\(server.port)")
    let other = try NATSServer("authorization { token: \"t0ken\" }").start()
    _ = try await RemoteConnection(to: other.url, options: options(.token("t0ken")))
    let error = await remoteError {
      _ = try await RemoteConnection(to: other.url, options: options(.token("guess")))
    }
    #expect(error?.code == .authenticationFailed)
  }

  @Test func `A credentials file that is absent is named`() async throws {
    let server = try NATSServer().start()
    let error = await remoteError {
      _ = try await RemoteConnection(to: server.url, options: options(.file("/nowhere.creds")))
    }
    #expect(
      error?.code == .invalidArgument && error?.description.contains("/nowhere.creds") == true)
  }

  private static let permissions = """
    authorization {
      users = [
        { user: boss, password: p }
        { user: publisher, password: p, permissions: {
            publish: ["fwd.log.mine", "fwd.owner.mine.*", "_INBOX.>",
              "$JS.API.STREAM.*.FWD_mine", "$JS.API.STREAM.MSG.GET.FWD_mine"]
            subscribe: ["fwd.owner.mine.*", "_INBOX.>"] } }
        { user: consumer, password: p, permissions: {
            publish: ["$JS.API.STREAM.INFO.FWD_mine", "$JS.API.STREAM.MSG.GET.FWD_mine",
              "$JS.API.CONSUMER.CREATE.FWD_mine", "$JS.FC.>"]
            subscribe: ["_INBOX.>"] } }
        { user: half, password: p, permissions: {
            publish: ["fwd.owner.>", "_INBOX.>", "$JS.API.>"], subscribe: [">"] } }
      ]
    }
    """

  @Test func `The permissions that are documented suffice`() async throws {
    let server = try NATSServer(Self.permissions).start()
    let proxy = try Feed.proxy()
    let schema = try WireSchema(of: proxy)
    let publishing = try await RemoteConnection(
      to: server.url, options: options(.user("publisher", password: "p")))
    let publisher = try await publishing.publisher("mine", of: proxy, schema)
    try proxy.send(Feed.number, 1)
    try await publisher.flush()
    server.kill()
    try server.start()
    for number in 2..<4000 { try proxy.send(Feed.number, Int64(number)) }
    try await publisher.close(within: .seconds(60))
    let again = try await publishing.publisher("mine", of: proxy, schema)
    #expect(again.storedCount == 3999)
    let taken = await remoteError { _ = try await publishing.publisher("mine", of: proxy, schema) }
    #expect(taken?.code == .producerTaken)
    try await again.close()
    let receiver = try Receiver()
    let consuming = try await RemoteConnection(
      to: server.url, options: options(.user("consumer", password: "p")))
    try await consuming.consumer("mine", into: receiver.proxy, receiver.schema).during {
      #expect(await eventually { receiver.numbers.all.count == 3999 })
    }
  }

  @Test func `A subject that is not permitted is an error of the publisher and the consumer`()
    async throws
  {
    let server = try NATSServer(Self.permissions).start()
    let proxy = try Feed.proxy()
    let schema = try WireSchema(of: proxy)
    let publishing = try await RemoteConnection(
      to: server.url, options: options(.user("publisher", password: "p")))
    let theirs = await remoteError {
      _ = try await publishing.publisher("theirs", of: proxy, schema)
    }
    #expect(theirs?.code == .permissionDenied, "\(theirs as Any)")
    #expect(theirs?.description.contains("FWD_theirs") == true, "\(theirs as Any)")
    // May do everything but append.
    let half = try await RemoteConnection(
      to: server.url, options: options(.user("half", password: "p")))
    let appending = await remoteError { _ = try await half.publisher("theirs", of: proxy, schema) }
    #expect(appending?.code == .permissionDenied, "\(appending as Any)")
    #expect(appending?.description.contains("\"fwd.log.theirs\"") == true, "\(appending as Any)")
    let consuming = try await RemoteConnection(
      to: server.url, options: options(.user("consumer", password: "p")))
    let receiver = try Receiver()
    let consumer = try consuming.consumer("theirs", into: receiver.proxy, receiver.schema)
    let reading = await remoteError { try await consumer.run() }
    #expect(reading?.code == .permissionDenied, "\(reading as Any)")
  }

  @Test func `A permission that is taken away ends the publisher with an error`() async throws {
    let server = try NATSServer(
      "authorization { users = [ { user: a, password: p } ] }"
    ).start()
    let proxy = try Feed.proxy()
    let link = try await RemoteConnection(
      to: server.url, options: options(.user("a", password: "p")))
    var settings = RemotePublisherOptions()
    settings.onError = { _ in }
    let publisher = try await link.publisher(
      "sensors", of: proxy, WireSchema(of: proxy), options: settings)
    server.kill()
    try server.start(
      "authorization { users = [ { user: a, password: p, permissions: { publish: { deny: \"fwd.log.>\" } } } ] }"
    )
    try proxy.send(Feed.number, 1)
    #expect(await eventually { publisher.failure != nil })
    #expect(publisher.failure?.code == .permissionDenied)
  }
}
