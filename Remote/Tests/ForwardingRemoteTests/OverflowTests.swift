// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

/// A server that is slow: its process is stopped.
@Suite(.timeLimit(.minutes(15))) struct OverflowTests {
  private let server: NATSServer
  private let link: RemoteConnection
  private let proxy: DynamicProxy

  init() async throws {
    server = try NATSServer().start()
    link = try await RemoteConnection(to: server.url)
    proxy = try Feed.proxy()
  }

  private func publisher(_ overflow: RemoteOverflow) async throws -> RemotePublisher {
    var options = RemotePublisherOptions()
    options.overflow = overflow
    options.bufferSize = 64 << 10
    options.onError = { _ in }
    return try await link.publisher("sensors", of: proxy, WireSchema(of: proxy), options: options)
  }

  @Test func `The caller waits until there is room, and nothing is lost`() async throws {
    let publisher = try await publisher(.block)
    server.freeze()
    let sent = Collected<Int64>()
    let proxy = proxy
    let caller = Task.detached {
      for number in 0..<20_000 {
        try proxy.send(Feed.number, Int64(number))
        sent.append(Int64(number))
      }
    }
    #expect(await eventually { sent.all.count > 100 })
    var waiting = 0
    let isWaiting = await eventually(within: 60) {
      waiting = sent.all.count
      try? await Task.sleep(for: .milliseconds(500))
      return sent.all.count == waiting
    }
    #expect(isWaiting && waiting < 20_000)
    server.thaw()
    try await caller.value
    try await publisher.close(within: .seconds(60))
    #expect(publisher.storedCount == 20_000 && publisher.droppedCount == 0)
  }

  @Test func `Calls are dropped and counted, and the others are stored`() async throws {
    let publisher = try await publisher(.drop)
    server.freeze()
    for number in 0..<20_000 { try proxy.send(Feed.number, Int64(number)) }
    let dropped = publisher.droppedCount
    #expect(dropped > 10_000 && dropped < 20_000)
    server.thaw()
    try await publisher.flush(within: .seconds(60))
    #expect(publisher.storedCount + publisher.droppedCount == 20_000)
    try proxy.send(Feed.number, -1)
    try await publisher.close()
    let receiver = try Receiver()
    try await link.consumer("sensors", into: receiver.proxy, receiver.schema).during {
      #expect(await eventually { receiver.numbers.all.last == -1 })
    }
    #expect(receiver.numbers.all == receiver.numbers.all.dropLast().sorted() + [-1])
    #expect(receiver.numbers.all.count == Int(publisher.storedCount))
  }

  @Test func `The publisher fails, and has sent a beginning without gaps`() async throws {
    let publisher = try await publisher(.fail)
    for number in 0..<10 { try proxy.send(Feed.number, Int64(number)) }
    try await publisher.flush()
    server.freeze()
    for number in 10..<20_000 { try proxy.send(Feed.number, Int64(number)) }
    #expect(publisher.failure?.code == .bufferFull)
    let error = await remoteError { try await publisher.flush() }
    #expect(error?.code == .bufferFull && error?.description.contains("65536") == true)
    server.thaw()
    let receiver = try Receiver()
    let consumer = try link.consumer("sensors", into: receiver.proxy, receiver.schema)
    try await consumer.during {
      #expect(await eventually { receiver.numbers.all.count >= 10 })
      try await Task.sleep(for: .milliseconds(200))
    }
    #expect(receiver.numbers.all == Array(0..<Int64(receiver.numbers.all.count)))
  }

  @Test func `A flush that cannot end says why`() async throws {
    let publisher = try await publisher(.block)
    server.kill()
    try proxy.send(Feed.number, 1)
    // The publisher knows the reason when it has tried to connect again.
    var error: RemoteError?
    let hasReason = await eventually(within: 60) {
      error = await remoteError { try await publisher.flush(within: .seconds(1)) }
      let reason = "connecting to nats://127.0.0.1:\(server.port)"
      return error?.description.contains(reason) == true
    }
    #expect(hasReason && error?.code == .timedOut)
    #expect(error?.description.contains("1 calls are not stored") == true)
    let closing = await remoteError { try await publisher.close(within: .milliseconds(100)) }
    #expect(closing?.code == .timedOut)
  }
}
