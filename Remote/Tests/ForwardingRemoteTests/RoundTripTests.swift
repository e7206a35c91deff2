// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingRemote
import ForwardingWire
import RemoteSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct RoundTripTests {
  @Test func `Calls reach a proxy of another process once and in order`() async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url)
    let proxy = try Feed.proxy()
    let publisher = try await link.publisher("sensors", of: proxy, WireSchema(of: proxy))
    for number in 0..<5000 { try proxy.send(Feed.number, Int64(number)) }
    try proxy.send(Feed.tick, 101.5, "ACME")
    try await publisher.flush()
    #expect(publisher.storedCount == 5001)
    let receiver = try Receiver()
    let consumer = try link.consumer("sensors", into: receiver.proxy, receiver.schema)
    try await consumer.during {
      #expect(await eventually { receiver.ticks.all.count == 1 })
      // While the consumer runs.
      try proxy.send(Feed.number, -1)
      #expect(await eventually { receiver.numbers.all.count == 5001 })
    }
    #expect(receiver.numbers.all == Array(0..<5000) + [-1])
    #expect(receiver.ticks.all == ["ACME 101.5"])
    #expect(consumer.position?.calls == 5002)
    try await publisher.close()
    #expect(publisher.droppedCount == 0 && publisher.failure == nil)
  }
}
