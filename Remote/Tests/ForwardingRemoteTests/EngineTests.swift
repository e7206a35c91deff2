// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

@testable import ForwardingRemote

/// Publishers and consumers with an engine other than NATS, and with faults that a real server
/// rarely has.
@Suite(.timeLimit(.minutes(15))) struct EngineTests {
  private let engine = MemoryEngine()
  private let link: RemoteConnection
  private let proxy: DynamicProxy
  private let schema: WireSchema

  init() async throws {
    link = try await RemoteConnection(
      engine: engine, timeout: .seconds(2), lostLogWait: .milliseconds(500))
    proxy = try Feed.proxy()
    schema = try WireSchema(of: proxy)
  }

  @Test func `Another engine carries calls and requests`() async throws {
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    for number in 0..<1000 { try proxy.send(Feed.number, Int64(number)) }
    try await publisher.close()
    let receiver = try Receiver()
    try await link.consumer("sensors", into: receiver.proxy, receiver.schema).during {
      #expect(await eventually { receiver.numbers.all.count == 1000 })
    }
    #expect(receiver.numbers.all == Array(0..<1000))
    let twice = Method("twice:", ((Int64) -> Int64).self)
    let asked = try DynamicProxy { $0.optional(twice) }
    let token = try asked.subscribe { $0.on(twice) { $0 * 2 } }
    let responder = try await link.respond(to: "numbers", with: asked, WireSchema(of: asked))
    #expect(try await link.request("numbers", WireSchema(of: asked), twice, 4) == 8)
    responder.close()
    token.cancel()
  }

  @Test func `Messages that were stored without an acknowledgement are not stored again`()
    async throws
  {
    var options = RemotePublisherOptions()
    options.maxCallsPerMessage = 1
    let publisher = try await link.publisher("sensors", of: proxy, schema, options: options)
    for round in 0..<20 {
      engine.swallow(3)
      for number in 0..<10 { try proxy.send(Feed.number, Int64(round * 10 + number)) }
      try await publisher.flush(within: .seconds(60))
    }
    let stored = try engine.messages("sensors").filter {
      // SAFETY: the span is used during the call.
      try unsafe !MessageTrailer.read($0.span.bytes).takesLog
    }
    #expect(publisher.storedCount == 200 && stored.count == 200)
    let receiver = try Receiver()
    try await link.consumer("sensors", into: receiver.proxy, receiver.schema).during {
      #expect(await eventually { receiver.numbers.all.count == 200 })
    }
    #expect(receiver.numbers.all == Array(0..<200))
    try await publisher.close()
  }

  @Test func `A publisher without a connection loses its name to one that begins`() async throws {
    let errors = Collected<RemoteError>()
    var options = RemotePublisherOptions()
    options.onError = { errors.append($0) }
    let first = try await link.publisher("sensors", of: proxy, schema, options: options)
    try proxy.send(Feed.number, 1)
    try await first.flush()
    engine.setAway(true)
    try proxy.send(Feed.number, 2)
    let other = try Feed.proxy()
    // The second one reaches the engine before the first one does again.
    let core = PublisherCore(
      "sensors", engine, RemotePublisherOptions(), schema: schema.bytes, timeout: .seconds(2))
    var second: RemotePublisher?
    while second == nil {
      engine.setAway(false)
      second = try? RemotePublisher(core, other, schema)
      if first.failure == nil && second == nil { engine.setAway(true) }
    }
    try other.send(Feed.number, 3)
    try await second?.flush()
    // The error is reported after the failure is set.
    #expect(await eventually { first.failure != nil && !errors.all.isEmpty })
    // Whichever came first, each call is stored once, and only one of them goes on.
    #expect(first.failure?.code == .producerTaken)
    #expect(errors.all.map(\.code) == [.producerTaken])
    let receiver = try Receiver()
    try await link.consumer("sensors", into: receiver.proxy, receiver.schema).during {
      #expect(await eventually { receiver.numbers.all.last == 3 })
    }
    #expect(receiver.numbers.all == [1, 3] || receiver.numbers.all == [1, 2, 3])
    try await second?.close()
  }

  @Test func `A log that ends before what was acknowledged is lost`() async throws {
    var options = RemotePublisherOptions()
    options.onError = { _ in }
    options.maxCallsPerMessage = 1
    // The log is too short for 200 ms below, or for longer on a slow machine.
    let link = try await RemoteConnection(
      engine: engine, timeout: .seconds(2), lostLogWait: .seconds(5))
    let publisher = try await link.publisher("sensors", of: proxy, schema, options: options)
    for number in 0..<10 { try proxy.send(Feed.number, Int64(number)) }
    try await publisher.flush()
    let messages = engine.messages("sensors")
    engine.setMessages("sensors", messages.prefix(5))
    engine.cut()
    // A server that was cut off from its cluster is back before the wait ends.
    // Not by `Task.sleep`, which may take seconds while other tests block the threads of tasks.
    usleep(200_000)
    #expect(publisher.failure == nil)
    engine.setMessages("sensors", messages)
    try proxy.send(Feed.number, 10)
    try await publisher.flush(within: .seconds(60))
    engine.setMessages("sensors", messages.prefix(5))
    engine.cut()
    #expect(await eventually { publisher.failure != nil })
    #expect(publisher.failure?.code == .logLost)
    #expect(
      publisher.failure?.description
        == "producer \"sensors\": the log ends at message 5, but the server had acknowledged message 13"
    )
  }

  // MARK: Events of links that have been replaced

  private static let twice = Method("twice:", ((Int64) -> Int64).self)

  @Test func `An event of an earlier link does not reach a responder's present link`() async throws
  {
    let proxy = try DynamicProxy { $0.optional(Self.twice) }
    let schema = try WireSchema(of: proxy)
    let token = try proxy.subscribe { $0.on(Self.twice) { $0 * 2 } }
    let responder = try await link.respond(to: "numbers", with: proxy, schema)
    func isAnswered() async -> Bool {
      (try? await link.request("numbers", schema, Self.twice, 4)) == 8
    }
    engine.cut()
    #expect(await eventually { await isAnswered() })
    let made = engine.linkCount.made
    engine.report(late: .failed(RemoteError(.disconnected, "late")))
    engine.report(late: .failed(RemoteError(.permissionDenied, "late")))
    try await Task.sleep(for: .milliseconds(300))
    #expect(responder.failure == nil && engine.linkCount.made == made)
    #expect(await isAnswered())
    responder.close()
    token.cancel()
  }

  @Test func `An event of an earlier link does not reach a publisher's present link`() async throws
  {
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    engine.cut()
    try proxy.send(Feed.number, 1)
    try await publisher.flush()
    let made = engine.linkCount.made
    engine.report(late: .stored(1000))
    engine.report(late: .failed(RemoteError(.permissionDenied, "late")))
    try proxy.send(Feed.number, 2)
    try await publisher.flush()
    #expect(publisher.failure == nil && engine.linkCount.made == made)
    // Each of the two links has taken the log.
    #expect(engine.messages("sensors").count == 4)
    try await publisher.close()
  }

  @Test func `A link for requests that has failed is closed`() async throws {
    for _ in 0..<3 {
      engine.cut()
      let error = await remoteError {
        _ = try await link.request("nobody", WireSchema(of: Self.twiceProxy()), Self.twice, 4)
      }
      #expect(error?.code == .noResponders)
      #expect(engine.linkCount.open == 1)
    }
  }

  private static func twiceProxy() throws -> DynamicProxy {
    try DynamicProxy { $0.optional(twice) }
  }

  @Test func `Trailers of messages are checked`() throws {
    func read(_ message: [UInt8]) throws(RemoteError) -> MessageTrailer {
      // SAFETY: the span is used during the call.
      try unsafe MessageTrailer.read(message.span.bytes)
    }
    let trailer = MessageTrailer(
      writer: WriterIdentity(high: 1, low: 2), firstCall: 7, confirmed: 5, confirmedCalls: 6,
      callCount: 3)
    var good: [UInt8] = [1, 2, 3]
    trailer.append(to: &good)
    #expect(try read(good) == trailer)
    #expect(good.suffix(8) == Array("FWDLOG2\n".utf8)[...])
    #expect(trailer.lastCall == 9)
    for change in [
      (good.count - 1, UInt8(0)), (good.count - 12, 9), (3 + 16 + 7, 0xFF), (3 + 24 + 7, 0xFF),
    ] {
      var bad = good
      bad[change.0] = change.1
      #expect(throws: RemoteError.self) { try read(bad) }
    }
    for count in 0..<MessageTrailer.size {
      let short = Array(good.suffix(count))
      #expect(throws: RemoteError.self) { try read(short) }
    }
  }
}
