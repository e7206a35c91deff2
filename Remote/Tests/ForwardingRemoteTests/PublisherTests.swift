// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct PublisherTests {
  @Test func `A second publisher of a name is refused, and the first one goes on`() async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url)
    let (first, second) = (try Feed.proxy(), try Feed.proxy())
    let publisher = try await link.publisher("sensors", of: first, WireSchema(of: first))
    let error = await remoteError {
      _ = try await link.publisher("sensors", of: second, WireSchema(of: second))
    }
    #expect(error?.code == .producerTaken)
    #expect(error?.description.contains("process \(getpid())") == true)
    try first.send(Feed.number, 1)
    try await publisher.flush()
    #expect(publisher.storedCount == 1)
    try await publisher.close()
    // When it has ended, the name is free, and the count goes on.
    let next = try await link.publisher("sensors", of: second, WireSchema(of: second))
    #expect(next.storedCount == 1)
    try await next.close()
  }

  @Test func `One of two publishers that begin at the same time is refused`() async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url)
    for round in 0..<5 {
      let name = "sensors-\(round)"
      let publishers = await withTaskGroup(of: RemotePublisher?.self) { group in
        for _ in 0..<4 {
          group.addTask {
            guard let proxy = try? Feed.proxy(), let schema = try? WireSchema(of: proxy) else {
              return nil
            }
            return try? await link.publisher(name, of: proxy, schema)
          }
        }
        var made: [RemotePublisher] = []
        for await publisher in group { if let publisher { made.append(publisher) } }
        return made
      }
      // One that asked before the other had begun may be told later.
      #expect(await eventually { publishers.filter { $0.failure == nil }.count <= 1 })
      #expect(publishers.count == 1)
      for publisher in publishers { try await publisher.close() }
    }
  }

  @Test func `A server that is killed and started again loses and doubles nothing`() async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url)
    let proxy = try Feed.proxy()
    let publisher = try await link.publisher("sensors", of: proxy, WireSchema(of: proxy))
    let receiver = try Receiver()
    let consumer = try link.consumer("sensors", into: receiver.proxy, receiver.schema)
    try await consumer.during {
      for number in 0..<6000 {
        try proxy.send(Feed.number, Int64(number))
        if number % 2000 == 1000 {
          server.kill()
          for number in 0..<10 { try proxy.send(Feed.tick, Double(number), "away") }
          try server.start()
        }
        if number % 50 == 0 { try await Task.sleep(for: .milliseconds(1)) }
      }
      try await publisher.flush(within: .seconds(60))
      #expect(await eventually { receiver.numbers.all.count == 6000 })
    }
    #expect(receiver.numbers.all == Array(0..<6000))
    #expect(receiver.ticks.all.count == 30)
    try await publisher.close()
  }

  @Test func `A server without room stores nothing more, and loses nothing when it has room again`()
    async throws
  {
    func room(_ size: String) -> String {
      "jetstream { store_dir: \"DIRECTORY/store\", max_file: \(size) }"
    }
    let server = try NATSServer(room("1MB"), jetStream: false).start()
    let link = try await RemoteConnection(to: server.url, options: .patient)
    let proxy = try Feed.proxy()
    var options = RemotePublisherOptions()
    options.overflow = .fail
    let publisher = try await link.publisher(
      "sensors", of: proxy, WireSchema(of: proxy), options: options)
    let text = String(repeating: "x", count: 1000)
    for number in 0..<2000 { try proxy.send(Feed.tick, Double(number), text) }
    let error = await remoteError { try await publisher.flush(within: .seconds(2)) }
    #expect(error?.code == .timedOut, "\(error as Any)")
    #expect(error?.description.contains("insufficient resources") == true, "\(error as Any)")
    #expect(publisher.failure == nil && (1..<2000).contains(publisher.storedCount))
    // A consumer gets what is stored.
    let receiver = try Receiver()
    let consumer = try link.consumer("sensors", into: receiver.proxy, receiver.schema)
    try await consumer.during {
      #expect(await eventually { receiver.ticks.all.count >= publisher.storedCount })
      #expect(receiver.ticks.all.count < 2000)
      server.kill()
      try server.start(room("100MB"))
      try await publisher.flush(within: .seconds(60))
      #expect(await eventually { receiver.ticks.all.count == 2000 })
    }
    #expect(publisher.storedCount == 2000)
    #expect(receiver.ticks.all == (0..<2000).map { "\(text) \(Double($0))" })
    try await publisher.close()
  }

  @Test func `Calls of several threads arrive, each thread's in order`() async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url)
    let proxy = try Feed.proxy()
    let publisher = try await link.publisher("sensors", of: proxy, WireSchema(of: proxy))
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<2000 { try? proxy.send(Feed.number, Int64(thread) << 32 | Int64(number)) }
    }
    try await publisher.close()
    let receiver = try Receiver()
    try await link.consumer("sensors", into: receiver.proxy, receiver.schema).during {
      #expect(await eventually { receiver.numbers.all.count == 8000 })
    }
    var next: [Int64] = [0, 0, 0, 0]
    for number in receiver.numbers.all {
      #expect(number & 0xFFFF_FFFF == next[Int(number >> 32)])
      next[Int(number >> 32)] += 1
    }
    #expect(next == [2000, 2000, 2000, 2000])
  }

  @Test func `One call per message makes a message of each call`() async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url)
    let proxy = try Feed.proxy()
    var options = RemotePublisherOptions()
    options.maxCallsPerMessage = 1
    let publisher = try await link.publisher(
      "single", of: proxy, WireSchema(of: proxy), options: options)
    let joining = try await link.publisher("joined", of: proxy, WireSchema(of: proxy))
    for number in 0..<1000 { try proxy.send(Feed.number, Int64(number)) }
    try await publisher.close()
    try await joining.close()
    let receiver = try Receiver()
    let single = try link.consumer("single", into: receiver.proxy, receiver.schema)
    try await single.during { #expect(await eventually { single.position?.calls == 1000 }) }
    // The first message has taken the log.
    #expect(single.position?.isAt(message: 1001, calls: 1000) == true)
    let joined = try link.consumer("joined", into: receiver.proxy, receiver.schema)
    try await joined.during { #expect(await eventually { joined.position?.calls == 1000 }) }
    #expect((joined.position?.message ?? .max) < 500)
  }

  @Test func `A call that is too large is reported and not sent, and others are`() async throws {
    let server = try NATSServer("max_payload: 4096").start()
    let link = try await RemoteConnection(to: server.url)
    let proxy = try Feed.proxy()
    let errors = Collected<RemoteError>()
    var options = RemotePublisherOptions()
    options.onError = { errors.append($0) }
    let publisher = try await link.publisher(
      "sensors", of: proxy, WireSchema(of: proxy), options: options)
    try proxy.send(Feed.tick, 1, String(repeating: "x", count: 5000))
    for _ in 0..<100 { try proxy.send(Feed.tick, 2, String(repeating: "y", count: 3000)) }
    try await publisher.close()
    #expect(errors.all.map(\.code) == [.messageTooLarge])
    #expect(errors.all.first?.description.contains("at most \(4096 - 128)") == true)
    #expect(publisher.droppedCount == 1 && publisher.storedCount == 100)
    #expect(publisher.failure == nil)
  }

  @Test func `A call of nearly the greatest size survives a new connection`() async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url)
    let proxy = try Feed.proxy()
    let schema = try WireSchema(of: proxy)
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    try proxy.send(Feed.tick, 1, String(repeating: "x", count: (1 << 20) - 700))
    try await publisher.flush()
    // The publisher must read its last message.
    server.kill()
    try server.start()
    try proxy.send(Feed.number, 1)
    try await publisher.close(within: .seconds(60))
    #expect(publisher.storedCount == 2 && publisher.droppedCount == 0)
  }

  @Test func `Names and options that are not valid are refused`() async throws {
    let server = try NATSServer().start()
    let link = try await RemoteConnection(to: server.url)
    let proxy = try Feed.proxy()
    let schema = try WireSchema(of: proxy)
    for name in ["", "a b", "a.b", "a*", "ä", String(repeating: "x", count: 65)] {
      let error = await remoteError { _ = try await link.publisher(name, of: proxy, schema) }
      #expect(error?.code == .invalidArgument && error?.description.contains("\"\(name)\"") == true)
      let other = await remoteError { _ = try link.consumer(name, into: proxy, schema) }
      #expect(other?.code == .invalidArgument)
    }
    var options = RemotePublisherOptions()
    options.maxCallsPerMessage = 0
    let error = await remoteError {
      _ = try await link.publisher("a", of: proxy, schema, options: options)
    }
    #expect(
      error?.code == .invalidArgument && error?.description.contains("maxCallsPerMessage 0") == true
    )
    options.maxCallsPerMessage = 1
    options.logSize = 1000
    let small = await remoteError {
      _ = try await link.publisher("a", of: proxy, schema, options: options)
    }
    #expect(small?.code == .invalidArgument && small?.description.contains("logSize 1000") == true)
    let other = try DynamicProxy { $0.optional(Feed.number) }
    let mismatch = await remoteError { _ = try await link.publisher("a", of: other, schema) }
    #expect(mismatch?.code == .invalidArgument && mismatch?.wireError?.code == .methodMismatch)
    // The refused publisher has not kept the name.
    try await link.publisher("a", of: proxy, schema).close()
  }
}
