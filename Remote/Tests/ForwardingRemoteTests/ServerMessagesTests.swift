// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

@testable import ForwardingRemote

/// The words, codes and headers of the installed server, as `ServerMessages.swift` expects them.
@Suite(.timeLimit(.minutes(15))) struct ServerMessagesTests {
  private func link(
    _ server: NATSServer, _ handler: @escaping @Sendable (RemoteEvent) -> Void = { _ in }
  ) throws -> NATSLink {
    let engine = NATSEngine(servers: [server.url], options: .patient)
    return try #require(engine.connect(promptly: true, handler) as? NATSLink)
  }

  // MARK: Refused subjects

  @Test func `The sentence of a refusal names the subject`() throws {
    for (sentence, subject) in [
      ("Permissions Violation for Publish to \"fwd.log.a\"", "fwd.log.a"),
      ("Permissions Violation for Publish with Reply of \"_INBOX.a\"", "_INBOX.a"),
      ("Permissions Violation for Subscription to \"fwd.a\" using queue \"fwd\"", "fwd.a"),
      ("Permissions Violation for Subscription to \"fwd.a\" (sid \"7\")", "fwd.a"),
      ("Permissions Violation", nil), ("Permissions Violation of \"a", nil), ("", nil),
    ] {
      #expect(PermissionViolation(sentence: sentence).subject == subject, "\(sentence)")
    }
  }

  @Test func `The server refuses with the sentences that are known`() async throws {
    let server = try NATSServer(
      """
      no_auth_user: a
      authorization { users = [ { user: a, password: p, permissions: {
        publish: ["open"], subscribe: ["_INBOX.>"] } } ] }
      """
    ).start()
    let cases: [(String, (NATSLink) throws -> Void)] = [
      ("\"closed\"", { try? $0.request(subject: "closed", [], within: .seconds(1)) { _ in true } }),
      ("\"closed\"", { try $0.subscribe("closed") { _, _ in } }),
      ("\"closed\" using queue \"q\"", { try $0.subscribe("closed", group: "q") { _, _ in } }),
    ]
    for (words, refuse) in cases {
      let errors = Collected<RemoteError>()
      let link = try link(server) { if case .failed(let error) = $0 { errors.append(error) } }
      try refuse(link)
      #expect(await eventually { !errors.all.isEmpty })
      let error = try #require(errors.all.first)
      #expect(error.code == .permissionDenied && error.description.hasSuffix(words), "\(error)")
      #expect(throws: error) { try link.checkFault(concerning: "closed") }
      // A request to another subject on the same link is not affected.
      try link.checkFault(concerning: "open")
      let other = #expect(throws: RemoteError.self) {
        try link.request(subject: "open", [], within: .seconds(1)) { _ in true }
      }
      #expect(other?.code == .noResponders)
      link.close()
    }
  }

  // MARK: Codes of JetStream

  @Test func `JetStream's errors have the codes that are known`() async throws {
    let server = try NATSServer().start()
    let events = Collected<RemoteError?>()
    let link = try link(server) {
      if case .failed(let error) = $0 { events.append(error) } else { events.append(nil) }
    }
    func outcome(_ body: () throws -> Void) async throws -> RemoteError? {
      let count = events.all.count
      try body()
      #expect(await eventually { events.all.count > count })
      return events.all.last ?? nil
    }
    // Stream and message not found.
    #expect(try link.log("a") == nil)
    #expect(try link.makeLog("a", replicas: 1, size: nil) == RemoteLog(first: 1, last: 0))
    #expect(try link.message(at: 7, of: "a") == nil)
    // Wrong last sequence.
    #expect(try await outcome { try link.append([[1]], to: "a", after: 0) } == nil)
    let conflict = try await outcome { try link.append([[1]], to: "a", after: 0) }
    #expect(conflict?.code == .conflict, "\(conflict as Any)")
    // Name in use, with another configuration.
    struct Limited: Encodable {
      var name: String
      var subjects: [String]
      var maxMsgSize = 100
    }
    let taken: StreamResponse = try link.apiRequest(
      "STREAM.CREATE.FWD_a", Limited(name: "FWD_a", subjects: ["fwd.log.a"]))
    #expect(taken.error?.errCode == 10058, "\(taken)")
    // Message too large for the stream.
    let limited: StreamResponse = try link.apiRequest(
      "STREAM.CREATE.FWD_b", Limited(name: "FWD_b", subjects: ["fwd.log.b"]))
    #expect(limited.error == nil)
    let large = try await outcome {
      try link.append([[UInt8](repeating: 0, count: 500)], to: "b", after: 0)
    }
    #expect(large?.code == .messageTooLarge, "\(large as Any)")
    // No stream has the subject: the status 503.
    let absent = try await outcome { try link.append([[1]], to: "nowhere", after: 0) }
    #expect(absent?.code == .serverFault, "\(absent as Any)")
    #expect(absent?.description.contains("no server responds for the log") == true)
    link.close()
  }

  @Test func `Each message of an append is acknowledged, or refused with the reason`()
    async throws
  {
    let server = try NATSServer().start()
    let events = Collected<String>()
    func newLink() throws -> NATSLink {
      try link(server) {
        switch $0 {
        case .stored(let position): events.append("\(position)")
        case .failed(let error): events.append("\(error.code)")
        }
      }
    }
    struct Limited: Encodable {
      var name = "FWD_a"
      var subjects = ["fwd.log.a"]
      var maxMsgSize = 100
    }
    let first = try newLink()
    let made: StreamResponse = try first.apiRequest("STREAM.CREATE.FWD_a", Limited())
    #expect(made.error == nil)
    let small = [[UInt8]](repeating: [1], count: 10)
    let large = [UInt8](repeating: 0, count: 500)
    try first.append(small, to: "a", after: 0)
    try first.append(small, to: "a", after: 10)
    // One report may stand for several acknowledgements.
    #expect(await eventually { events.all.last == "20" }, "\(events.all)")
    #expect(events.all.allSatisfy { UInt64($0) != nil }, "\(events.all)")
    // A message in the middle is refused, and so are those after it.
    let tooLarge = "\(RemoteError.Code.messageTooLarge)"
    let conflict = "\(RemoteError.Code.conflict)"
    try first.append([[1], large] + small, to: "a", after: 20)
    let refusals = [tooLarge] + [String](repeating: conflict, count: 10)
    #expect(await eventually { events.all.suffix(11) == refusals[...] }, "\(events.all)")
    #expect(try first.log("a")?.last == 21)
    first.close()
    // A refused message whose position another link has taken, and one that follows this one.
    let (second, third) = (try newLink(), try newLink())
    try third.append([[1]], to: "a", after: 21)
    #expect(await eventually { events.all.last == "22" }, "\(events.all)")
    try second.append([[1], [1]], to: "a", after: 21)
    #expect(await eventually { events.all.suffix(2) == [conflict, conflict] }, "\(events.all)")
    #expect(try third.log("a")?.last == 23, "the second message is stored, and not accepted")
    second.close()
    third.close()
  }

  // MARK: Requests to JetStream

  @Test(arguments: [0, 1]) func `A link reads by the repetition that a late server responds to`(
    _ repetition: Int
  ) async throws {
    // The test responds in place of JetStream.
    let server = try NATSServer(jetStream: false).start()
    let link = try link(server)
    let client = try RawClient(server.port)
    try client.subscribe("$JS.API.CONSUMER.CREATE.FWD_a")
    async let error = remoteError {
      try await onThread { () throws(RemoteError) in try link.read("a", after: 0) }
    }
    let requests = try await onThread { Result { try [client.message(), client.message()] } }.get()
    #expect(requests[0].reply == requests[1].reply)
    let subjects = try requests.map {
      let request = try NATSJSON.decoder.decode(ConsumerResponse.self, from: Data($0.contents.utf8))
      return try #require(request.config?.deliverSubject)
    }
    #expect(subjects[0] != subjects[1])
    try client.publish(
      requests[repetition].reply,
      contents: #"{"config":{"deliver_subject":"\#(subjects[repetition])"}}"#)
    let thrown = await error
    #expect(thrown == nil)
    #expect(link.reading?.inbox.subject == subjects[repetition])
    link.close()
  }

  // MARK: Empty messages of others with a status

  @Test(arguments: ["503", "100", "408", "text"])
  func `An empty message in a log with a status of its own is not one of a publisher`(
    _ status: String
  ) async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url, options: .patient)
    let proxy = try Feed.proxy()
    let schema = try WireSchema(of: proxy)
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    for number in 0..<10 { try proxy.send(Feed.number, Int64(number)) }
    try await publisher.close()
    let stored = try self.link(server).log("sensors")?.last ?? 0
    try RawClient(server.port).publish("fwd.log.sensors", headers: "Status: \(status)")
    // The client keeps the message with the status 503 for itself.
    let place = status == "503" ? "after message \(stored) " : "message \(stored + 1):"
    let receiver = try Receiver()
    let consumer = try link.consumer("sensors", into: receiver.proxy, receiver.schema)
    let error = await remoteError { try await consumer.run() }
    #expect(error?.code == .undecodable, "\(error as Any)")
    #expect(error?.description.contains(place) == true, "\(error as Any)")
    // The calls before it are delivered.
    #expect(receiver.numbers.all == Array(0..<10))
    let publishing = await remoteError {
      _ = try await link.publisher("sensors", of: proxy, schema)
    }
    #expect(publishing?.code == .undecodable, "\(publishing as Any)")
  }

  @Test func `An empty request with a status gets an error as its response`() async throws {
    let server = try NATSServer(jetStream: false).start()
    let link = try await RemoteConnection(to: server.url, options: .patient)
    let proxy = try Feed.proxy()
    let responder = try await link.respond(to: "numbers", with: proxy, WireSchema(of: proxy))
    let client = try RawClient(server.port)
    try client.subscribe("_INBOX.raw")
    try client.publish("fwd.service.numbers.one", reply: "_INBOX.raw", headers: "Status: 503")
    #expect(try client.message().contents.hasPrefix("FWDERR1\n"))
    responder.close()
  }

  @Test func `An empty response with a status is an error`() async throws {
    let server = try NATSServer(jetStream: false).start()
    let link = try await RemoteConnection(to: server.url, options: .patient)
    let client = try RawClient(server.port)
    try client.subscribe("fwd.service.numbers.one")
    for (status, code) in [("503", RemoteError.Code.noResponders), ("408", .undecodable)] {
      async let error = remoteError {
        try await link.request("numbers", WireSchema(of: Feed.proxy()), Feed.number, 1)
      }
      // Not on a thread of tasks, where the request may be waiting for its turn.
      let response = try await onThread {
        Result { try client.publish(client.message().reply, headers: "Status: \(status)") }
      }
      try response.get()
      let thrown = await error
      #expect(thrown?.code == code, "\(thrown as Any)")
    }
  }
}
