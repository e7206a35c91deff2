// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

@testable import ForwardingRemote

@Suite(.timeLimit(.minutes(15))) struct ConsumerTests {
  private let server: NATSServer
  private let link: RemoteConnection
  private let proxy: DynamicProxy
  private let schema: WireSchema

  init() async throws {
    server = try NATSServer().start()
    link = try await RemoteConnection(to: server.url, options: .patient)
    proxy = try Feed.proxy()
    schema = try WireSchema(of: proxy)
  }

  @Test func `A consumer continues after its position, and waits for its producer`() async throws {
    final class Noticing: RemotePositions {
      let kept = RemoteMemoryPositions()
      let loads = Collected<String>()
      func load(_ producer: String) -> RemotePosition? {
        loads.append(producer)
        return kept.load(producer)
      }
      func commit(
        _ position: RemotePosition, of producer: String, delivering deliver: () throws -> Void
      ) throws {
        try kept.commit(position, of: producer, delivering: deliver)
      }
    }
    let positions = Noticing()
    let first = try Receiver()
    let consumer = try link.consumer(
      "sensors", into: first.proxy, first.schema, positions: positions)
    let task = Task { try await consumer.run() }
    // A consumer that runs has read its position.
    try #require(await eventually { !positions.loads.all.isEmpty })
    let second = await remoteError { try await consumer.run() }
    #expect(second?.code == .invalidArgument)
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    for number in 0..<10 { try proxy.send(Feed.number, Int64(number)) }
    #expect(await eventually { first.numbers.all.count == 10 })
    task.cancel()
    try await task.value
    for number in 10..<20 { try proxy.send(Feed.number, Int64(number)) }
    try await publisher.flush()
    let next = try Receiver()
    try await link.consumer("sensors", into: next.proxy, next.schema, positions: positions).during {
      #expect(await eventually { next.numbers.all.count == 10 })
    }
    #expect(first.numbers.all == Array(0..<10) && next.numbers.all == Array(10..<20))
    try await publisher.close()
  }

  @Test func `A consumer can begin with the newest call`() async throws {
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    for number in 0..<10 { try proxy.send(Feed.number, Int64(number)) }
    try await publisher.flush()
    let receiver = try Receiver()
    let consumer = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, start: .newest)
    try await consumer.during {
      #expect(await eventually { consumer.position != nil })
      try proxy.send(Feed.number, 99)
      #expect(await eventually { !receiver.numbers.all.isEmpty })
    }
    #expect(receiver.numbers.all == [99] && consumer.position?.calls == 11)
    try await publisher.close()
  }

  @Test func `A consumer that begins with the newest call skips none while it waits`() async throws
  {
    let receiver = try Receiver()
    let consumer = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, start: .newest)
    try await consumer.during {
      #expect(await eventually { consumer.position != nil })
      // The producer publishes while the consumer sleeps between two attempts.
      try await Task.sleep(for: .milliseconds(800))
      let publisher = try await link.publisher("sensors", of: proxy, schema)
      for number in 0..<10 { try proxy.send(Feed.number, Int64(number)) }
      try await publisher.close()
      #expect(await eventually { receiver.numbers.all.count == 10 })
    }
    // Connected, without a call so far, and then without a server.
    let second = try Receiver()
    let other = try link.consumer("sensors", into: second.proxy, second.schema, start: .newest)
    try await other.during {
      #expect(await eventually { other.position != nil })
      server.kill()
      try await Task.sleep(for: .milliseconds(500))
      try server.start()
      let publisher = try await link.publisher("sensors", of: proxy, schema)
      for number in 10..<20 { try proxy.send(Feed.number, Int64(number)) }
      try await publisher.close(within: .seconds(60))
      #expect(await eventually { second.numbers.all.count == 10 })
    }
    #expect(receiver.numbers.all == Array(0..<10) && second.numbers.all == Array(10..<20))
  }

  @Test func `An error does not name the password of a URL`() async throws {
    let error = await remoteError {
      _ = try await RemoteConnection(
        to: "nats://ada:hidden@127.0.0.1:1", options: .patient)
    }
    #expect(error?.description.contains("nats://127.0.0.1:1") == true)
    #expect(error?.description.contains("hidden") == false)
  }

  @Test func `A schema that has changed is an error that names the method`() async throws {
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    try proxy.send(Feed.number, 1)
    try await publisher.close()
    let other = try DynamicProxy {
      $0.optional(Method("number:", ((Double) -> Void).self))
      $0.optional(Feed.tick)
    }
    let seen = Collected<Double>()
    let token = try other.subscribe {
      $0.on(Method("number:", ((Double) -> Void).self)) { seen.append($0) }
    }
    let positions = RemoteMemoryPositions()
    let consumer = try link.consumer(
      "sensors", into: other, WireSchema(of: other), positions: positions)
    let error = await remoteError { try await consumer.run() }
    #expect(error?.code == .undecodable && error?.wireError?.code == .schemaMismatch)
    #expect(error?.description.contains("\"number:\"") == true)
    #expect(error?.description.contains("producer \"sensors\": message 2") == true)
    // The message that took the log has been consumed.
    #expect(positions.load("sensors")?.isAt(message: 1, calls: 0) == true)
    #expect(seen.all.isEmpty)
    token.cancel()
  }

  @Test func `A message that no publisher has made is an error`() async throws {
    try await link.publisher("sensors", of: proxy, schema).close()
    let raw = try link.engine.connect(promptly: true) { _ in }
    try raw.append([Array("hello".utf8)], to: "sensors", after: 1)
    let receiver = try Receiver()
    let consumer = try link.consumer("sensors", into: receiver.proxy, receiver.schema)
    let error = await remoteError { try await consumer.run() }
    #expect(error?.code == .undecodable && error?.description.contains("5 bytes") == true)
    let publishing = await remoteError {
      _ = try await link.publisher("sensors", of: proxy, schema)
    }
    #expect(publishing?.code == .undecodable)
    raw.close()
  }

  @Test func `Calls that the log has removed are missed`() async throws {
    var options = RemotePublisherOptions()
    options.logSize = 256 << 10
    options.maxCallsPerMessage = 10
    let publisher = try await link.publisher("sensors", of: proxy, schema, options: options)
    let positions = RemoteMemoryPositions(["sensors": RemotePosition(message: 1, calls: 0)])
    for number in 0..<8000 { try proxy.send(Feed.number, Int64(number)) }
    try await publisher.close()
    let receiver = try Receiver()
    let late = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, positions: positions)
    let error = await remoteError { try await late.run() }
    #expect(error?.code == .missingCalls)
    #expect(error?.description.contains("the calls 1 to ") == true)
    #expect(receiver.numbers.all.isEmpty)
    // One without a position begins with what there is.
    let fresh = try link.consumer("sensors", into: receiver.proxy, receiver.schema)
    try await fresh.during { #expect(await eventually { fresh.position?.calls == 8000 }) }
    #expect(receiver.numbers.all == Array((receiver.numbers.all.first ?? 0)..<8000))
    #expect((receiver.numbers.all.first ?? 0) > 0)
  }

  @Test func `A position that cannot be stored ends the consumer, which can run again`()
    async throws
  {
    final class Failing: RemotePositions, @unchecked Sendable {
      // SAFETY: the consumer's thread uses it while the test waits.
      var fails = true
      let kept = RemoteMemoryPositions()
      func load(_ producer: String) throws -> RemotePosition? { kept.load(producer) }
      func commit(
        _ position: RemotePosition, of producer: String, delivering deliver: () throws -> Void
      ) throws {
        if fails { throw CancellationError() }
        try kept.commit(position, of: producer, delivering: deliver)
      }
    }
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    try proxy.send(Feed.number, 7)
    try await publisher.close()
    let positions = Failing()
    let receiver = try Receiver()
    let consumer = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, positions: positions)
    let error = await remoteError { try await consumer.run() }
    #expect(error?.code == .positionNotStored && receiver.numbers.all.isEmpty)
    #expect(
      error?.description
        == "producer \"sensors\": the position cannot be stored: CancellationError()")
    positions.fails = false
    try await consumer.during { #expect(await eventually { receiver.numbers.all == [7] }) }
  }

  @Test func `A slow subscriber holds the server back, and gets everything`() async throws {
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    let text = String(repeating: "x", count: 4000)
    for number in 0..<5000 { try proxy.send(Feed.tick, Double(number), text) }
    try await publisher.close(within: .seconds(120))
    let slow = try Feed.proxy()
    let seen = Collected<Double>()
    let token = try slow.subscribe {
      $0.on(Feed.tick) { number, _ in
        if Int(number) % 500 == 0 { usleep(200_000) }
        seen.append(number)
      }
    }
    try await link.consumer("sensors", into: slow, schema).during {
      #expect(await eventually { seen.all.count == 5000 })
    }
    #expect(seen.all == (0..<5000).map(Double.init))
    token.cancel()
  }

  @Test func `A store that the server has lost is an error for both sides`() async throws {
    let link = try await RemoteConnection(
      engine: link.engine, timeout: link.timeout, lostLogWait: .seconds(1))
    let errors = Collected<RemoteError>()
    var options = RemotePublisherOptions()
    options.onError = { errors.append($0) }
    let publisher = try await link.publisher("sensors", of: proxy, schema, options: options)
    try proxy.send(Feed.number, 1)
    try await publisher.flush()
    let positions = RemoteMemoryPositions(["sensors": RemotePosition(message: 2, calls: 1)])
    server.kill()
    try server.removeStore()
    try server.start()
    try proxy.send(Feed.number, 2)
    // The error is reported after the failure is set.
    #expect(await eventually { publisher.failure != nil && !errors.all.isEmpty })
    #expect(publisher.failure?.code == .logLost && errors.all.map(\.code) == [.logLost])
    let flushing = await remoteError { try await publisher.flush() }
    #expect(flushing?.code == .logLost)
    let receiver = try Receiver()
    let consumer = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, positions: positions)
    let error = await remoteError { try await consumer.run() }
    #expect(error?.code == .logLost && error?.description.contains("message 2") == true)
    // A new log that is shorter.
    try await link.publisher("sensors", of: proxy, schema).close()
    let shorter = await remoteError { try await consumer.run() }
    #expect(shorter?.description.contains("the log ends at message 1") == true)
  }

  @Test func `A log that was made anew is an error, though it has the message and the call`()
    async throws
  {
    let link = try await RemoteConnection(
      engine: link.engine, timeout: link.timeout, lostLogWait: .seconds(1))
    var options = RemotePublisherOptions()
    options.maxCallsPerMessage = 1
    func publish(_ numbers: ClosedRange<Int64>) async throws {
      let publisher = try await link.publisher("sensors", of: proxy, schema, options: options)
      for number in numbers { try proxy.send(Feed.number, number) }
      try await publisher.close()
    }
    try await publish(1...3)
    let positions = RemoteMemoryPositions()
    let receiver = try Receiver()
    let consumer = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, positions: positions)
    try await consumer.during { #expect(await eventually { consumer.position?.calls == 3 }) }
    #expect(positions.load("sensors")?.message == 4)
    server.kill()
    try server.removeStore()
    try server.start()
    // Message 4 ends with call 3 again.
    try await publish(101...105)
    let error = await ending(of: consumer)
    #expect(error?.code == .logLost, "\(error as Any)")
    #expect(error?.description.contains("message 4") == true, "\(error as Any)")
    #expect(receiver.numbers.all == [1, 2, 3])
  }

  /// Returns the error that ends a consumer; nil if the consumer runs on for some seconds.
  private func ending(of consumer: RemoteConsumer) async -> RemoteError? {
    let task = Task { await remoteError { try await consumer.run() } }
    let limit = Task {
      try await Task.sleep(for: .seconds(20))
      task.cancel()
    }
    defer { limit.cancel() }
    return await task.value
  }

  // MARK: Stores of positions

  @Test(arguments: [0, 2]) func `A commit that does not deliver once is an error`(
    _ count: Int
  ) async throws {
    struct Miscounting: RemotePositions {
      let count: Int
      let kept = RemoteMemoryPositions()
      func load(_ producer: String) -> RemotePosition? { kept.load(producer) }
      func commit(
        _ position: RemotePosition, of producer: String, delivering deliver: () throws -> Void
      ) throws {
        try kept.commit(position, of: producer) { for _ in 0..<count { try deliver() } }
      }
    }
    let publisher = try await link.publisher("sensors", of: proxy, schema)
    for number: Int64 in 1...3 { try proxy.send(Feed.number, number) }
    try await publisher.close()
    let receiver = try Receiver()
    let consumer = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, positions: Miscounting(count: count))
    let error = await ending(of: consumer)
    #expect(error?.code == .positionNotStored, "\(error as Any)")
    #expect(
      error?.description
        == "producer \"sensors\": `commit` called `deliver` \(count) times, expected once")
    // No call is delivered twice, and the position stays before the calls that were not delivered.
    let numbers = receiver.numbers.all
    #expect(numbers == Array([1, 2, 3].prefix(count == 0 ? 0 : numbers.count)))
    #expect(consumer.position == nil)
  }

  // MARK: Distant servers

  @Test func `A server whose responses take more than a second can be used`() async throws {
    let near = try await link.publisher("sensors", of: proxy, schema)
    for number: Int64 in 1...10 { try proxy.send(Feed.number, number) }
    try await near.close()
    let network = try DelayingProxy(to: server.port, delay: .milliseconds(600))
    let far = try await RemoteConnection(
      to: "nats://127.0.0.1:\(network.port)", options: .patient)
    let receiver = try Receiver()
    try await far.consumer("sensors", into: receiver.proxy, receiver.schema).during {
      async let publisher = far.publisher("sensors", of: proxy, schema)
      #expect(await eventually(within: 20) { receiver.numbers.all.count == 10 })
      let storedCount = try await publisher.storedCount
      #expect(storedCount == 10)
      try await publisher.close()
    }
    withExtendedLifetime(network) {}
  }
}
