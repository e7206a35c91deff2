// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

@testable import ForwardingRemote

/// A publisher takes the log of one that is alive but cannot be reached, and whose messages arrive
/// late.
@Suite(.timeLimit(.minutes(2))) struct TakeoverTests {
  private let engine = MemoryEngine()
  private let link: RemoteConnection

  init() async throws { link = try await RemoteConnection(engine: engine) }

  /// A publisher of one call a message, and its proxy.
  private struct Source {
    let proxy: DynamicProxy
    let publisher: RemotePublisher

    func send(_ numbers: Int64...) throws {
      for number in numbers { try proxy.send(Feed.number, number) }
    }
  }

  private func source(_ link: RemoteConnection) async throws -> Source {
    let proxy = try Feed.proxy()
    var options = RemotePublisherOptions()
    options.maxCallsPerMessage = 1
    options.onError = { _ in }
    let publisher = try await link.publisher(
      "sensors", of: proxy, WireSchema(of: proxy), options: options)
    return Source(proxy: proxy, publisher: publisher)
  }

  /// What a consumer gets from the whole log.
  private func received(_ count: Int, from link: RemoteConnection) async throws -> [Int64] {
    let receiver = try Receiver()
    try await link.consumer("sensors", into: receiver.proxy, receiver.schema).during {
      _ = await eventually(within: 5) { receiver.numbers.all.count >= count }
    }
    return receiver.numbers.all
  }

  @Test func `Late messages of a replaced publisher do not count, though the log has them`()
    async throws
  {
    let first = try await source(link)
    try first.send(1)
    try await first.publisher.flush()
    engine.freeze()
    try first.send(2, 3, 4)
    try #require(await eventually { engine.heldCount == 3 })
    let second = try await source(link)
    #expect(second.publisher.storedCount == 1)
    // Call 2 is refused, and the others find their positions free.
    engine.thaw()
    #expect(engine.messages("sensors").count == 5)
    try second.send(5, 6, 7)
    try await second.publisher.flush()
    #expect(second.publisher.storedCount == 4)
    #expect(await eventually { first.publisher.failure?.code == .producerTaken })
    #expect(first.publisher.storedCount == 1)
    #expect(try await received(4, from: link) == [1, 5, 6, 7])
    try await second.publisher.close()
    // The next publisher, and a consumer that begins at the end, count as the others do.
    engine.setMessages("sensors", engine.messages("sensors") + [try lateMessage()])
    let receiver = try Receiver()
    let newest = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, start: .newest)
    try await newest.during {
      try #require(await eventually { newest.position?.calls == 4 })
      let third = try await source(link)
      #expect(third.publisher.storedCount == 4)
      try third.send(8)
      try await third.publisher.close()
      #expect(await eventually { receiver.numbers.all == [8] })
    }
    #expect(try await received(5, from: link) == [1, 5, 6, 7, 8])
  }

  /// A message of another publisher with the number that the log expects next.
  private func lateMessage() throws -> [UInt8] {
    var message: [UInt8] = []
    MessageTrailer(
      writer: WriterIdentity(high: 7, low: 7), firstCall: 5, confirmed: 2, callCount: 1
    ).append(to: &message)
    return message
  }

  @Test func `A consumer that begins again behind late messages skips those that follow`()
    async throws
  {
    let first = try await source(link)
    try first.send(1)
    try await first.publisher.close()
    let positions = RemoteMemoryPositions(["sensors": RemotePosition(message: 2, calls: 1)])
    // It has the right number, and the log's publisher is known from the message at the position.
    var late: [UInt8] = []
    MessageTrailer(
      writer: WriterIdentity(high: 7, low: 7), firstCall: 2, confirmed: 1, callCount: 1
    ).append(to: &late)
    engine.setMessages("sensors", engine.messages("sensors") + [late])
    let second = try await source(link)
    try second.send(2)
    try await second.publisher.close()
    let receiver = try Receiver()
    let consumer = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, positions: positions)
    try await consumer.during { _ = await eventually { !receiver.numbers.all.isEmpty } }
    #expect(receiver.numbers.all == [2])
    #expect(positions.load("sensors") == RemotePosition(message: 5, calls: 2))
  }

  @Test func `A position of another log is an error`() async throws {
    let first = try await source(link)
    try first.send(1, 2, 3)
    try await first.publisher.close()
    let receiver = try Receiver()
    let loop = ConsumerLoop(
      "sensors", engine, receiver.proxy, receiver.schema,
      RemoteMemoryPositions(["sensors": RemotePosition(message: 2, calls: 7)]), .oldest,
      lostLogWait: .zero)
    let error = #expect(throws: RemoteError.self) { try loop.run(Cancellation()) }
    #expect(error?.code == .logLost)
    #expect(
      error?.description
        == "producer \"sensors\": message 2 ends with call 1, but the position is call 7")
  }

  @Test func `Publishers that replace each other on a bad network lose and double nothing`()
    async throws
  {
    // Each call is its publisher's number and its own number.
    var stored: [UInt64] = []
    var former: Source?
    for round in 0..<100 {
      let current = try await replacement()
      var sent: Int64 = 0
      func send(_ count: Int) throws {
        for _ in 0..<count {
          try current.send(Int64(round) << 32 | sent)
          sent += 1
        }
      }
      let before = current.publisher.storedCount
      try send(.random(in: 0...4))
      if Bool.random() { try await current.publisher.flush() }
      // The former publisher's messages arrive, some of them, and it may learn what has happened.
      engine.thaw(delivering: .random(in: 0...9))
      try send(.random(in: 0...4))
      if Bool.random() { engine.cut() }
      if Bool.random() { engine.swallow(.random(in: 1...3)) }
      if Bool.random() { try await current.publisher.flush() }
      former = current
      engine.freeze()
      try send(.random(in: 0...9))
      usleep(.random(in: 0...3000))
      stored.append(current.publisher.storedCount - before)
    }
    _ = former
    let last = try await replacement()
    engine.thaw()
    try last.send(-1)
    try await last.publisher.close()
    let receiver = try Receiver()
    try await link.consumer("sensors", into: receiver.proxy, receiver.schema).during {
      #expect(await eventually { receiver.numbers.all.last == -1 })
    }
    var counts = [UInt64](repeating: 0, count: stored.count)
    for number in receiver.numbers.all.dropLast() {
      let publisher = Int(number >> 32)
      #expect(number & 0xFFFF_FFFF == counts[publisher], "publisher \(publisher)")
      counts[publisher] += 1
    }
    for (count, stored) in zip(counts, stored) { #expect(count >= stored) }
    #expect(counts.contains { $0 > 0 })
  }

  /// A publisher that takes the log while all others are frozen.
  private func replacement() async throws -> Source {
    engine.swallow(0)
    while true {
      // One that connects again at this moment responds.
      engine.freeze()
      do {
        return try await source(link)
      } catch let error as RemoteError where error.code == .producerTaken {
        usleep(1000)
      }
    }
  }

  @Test func `A server stores late messages, and consumers skip them`() async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url)
    let first = try await source(link)
    try first.send(1)
    try await first.publisher.close()
    let second = try await source(link)
    // A link of the first publisher, as it were.
    let raw = try link.engine.connect(promptly: true) { _ in }
    try raw.append([try lateMessage()], to: "sensors", after: 3)
    #expect(await eventually { (try? raw.log("sensors")?.last) == 4 })
    raw.close()
    try second.send(2, 3, 4)
    try await second.publisher.close()
    #expect(second.publisher.storedCount == 4)
    #expect(try await received(4, from: link) == [1, 2, 3, 4])
    let third = try await source(link)
    #expect(third.publisher.storedCount == 4)
    try await third.publisher.close()
  }
}
