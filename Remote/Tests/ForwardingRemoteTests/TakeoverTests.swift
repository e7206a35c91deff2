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
@Suite(.timeLimit(.minutes(15))) struct TakeoverTests {
  private let engine = MemoryEngine()
  private let link: RemoteConnection

  init() async throws {
    // A publisher that cannot be reached must not connect again, however slow the machine is.
    link = try await RemoteConnection(engine: engine, timeout: .seconds(60))
  }

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
      _ = await eventually(within: 60) { receiver.numbers.all.count >= count }
    }
    return receiver.numbers.all
  }

  /// Replaces a publisher that has one call in the log and three in flight, which then arrive.
  private func replace() async throws -> (first: Source, second: Source) {
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
    return (first, second)
  }

  @Test func `Late messages of a replaced publisher are not accepted, though the log has them`()
    async throws
  {
    let (first, second) = try await replace()
    try second.send(5, 6, 7)
    try await second.publisher.flush()
    #expect(second.publisher.storedCount == 4)
    #expect(await eventually { first.publisher.failure?.code == .producerTaken })
    #expect(first.publisher.storedCount == 1)
    #expect(try await received(4, from: link) == [1, 5, 6, 7])
    try await second.publisher.close()
    // The next publisher, and a consumer that begins at the end, count as the others do.
    try appendLate(5)
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

  /// A message of one call, of the publisher that has made another message.
  private func message(
    by other: [UInt8]?, _ call: UInt64, confirming confirmed: (message: UInt64, call: UInt64)
  ) throws -> [UInt8] {
    let other = try #require(other)
    // SAFETY: the span is used during the call.
    let writer = try unsafe MessageTrailer.read(other.span.bytes).writer
    var message: [UInt8] = []
    MessageTrailer(
      writer: writer, firstCall: call, confirmed: confirmed.message,
      confirmedCalls: confirmed.call, callCount: 1
    ).append(to: &message)
    return message
  }

  /// Appends a message of the log's first publisher, which knows the log up to message 2.
  private func appendLate(_ call: UInt64) throws {
    let messages = engine.messages("sensors")
    engine.setMessages(
      "sensors", messages + [try message(by: messages.first, call, confirming: (2, 1))])
  }

  @Test func `A consumer that begins again behind late messages skips those that follow`()
    async throws
  {
    let first = try await source(link)
    try first.send(1)
    try await first.publisher.close()
    let second = try await source(link)
    // It has the right number. The consumer learns from the message at its position which publisher has the log.
    try appendLate(2)
    try second.send(2)
    try await second.publisher.close()
    let positions = RemoteMemoryPositions(["sensors": RemotePosition(message: 3, calls: 1)])
    let receiver = try Receiver()
    let consumer = try link.consumer(
      "sensors", into: receiver.proxy, receiver.schema, positions: positions)
    try await consumer.during { _ = await eventually { !receiver.numbers.all.isEmpty } }
    #expect(receiver.numbers.all == [2])
    // The second publisher's first message was refused, and it has taken the log again.
    #expect(positions.load("sensors")?.isAt(message: 6, calls: 2) == true)
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
    // The same numbers, and another publisher.
    let other = try outcome(RemotePosition(message: 2, calls: 1, writer: 7), after: 1)
    #expect(other.numbers.isEmpty && other.error?.code == .logLost, "\(other)")
    #expect(
      other.error?.description
        == "producer \"sensors\": message 2 is of another publisher than the position: the log was made anew"
    )
    // A position that was stored without its publisher.
    let unknown = try outcome(RemotePosition(message: 2, calls: 1), after: 2)
    #expect(unknown.numbers == [2, 3] && unknown.error == nil, "\(unknown)")
  }

  @Test func `A consumer goes on after each message of a log that several publishers had`()
    async throws
  {
    try await lateLog()
    let messages = engine.messages("sensors")
    let numbers: [Int64] = [1, 5, 6, 7]
    for count in 1...messages.count {
      engine.setMessages("sensors", messages.prefix(count))
      let receiver = try Receiver()
      let positions = RemoteMemoryPositions()
      let consumer = try link.consumer(
        "sensors", into: receiver.proxy, receiver.schema, positions: positions)
      try await consumer.during {
        try #require(await eventually { positions.load("sensors") != nil })
        try await Task.sleep(for: .milliseconds(50))
      }
      let position = try #require(positions.load("sensors"))
      #expect(position.writer != nil)
      engine.setMessages("sensors", messages)
      let missing = Array(numbers.dropFirst(Int(position.calls)))
      let outcome = try outcome(position, after: missing.count)
      #expect(outcome.numbers == missing && outcome.error == nil, "\(position): \(outcome)")
    }
  }

  @Test func `Positions that were stored without a publisher can be read`() throws {
    let former = Data(#"{"message":4,"calls":3}"#.utf8)
    let position = try JSONDecoder().decode(RemotePosition.self, from: former)
    #expect(position == RemotePosition(message: 4, calls: 3) && position.writer == nil)
    let stored = RemotePosition(message: 4, calls: 3, writer: UInt64(Int64.max))
    let bytes = try JSONEncoder().encode(stored)
    #expect(try JSONDecoder().decode(RemotePosition.self, from: bytes) == stored)
    for _ in 0..<1000 { #expect(WriterIdentity.random().number <= UInt64(Int64.max)) }
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
      if Bool.random() { engine.swallow(1) }
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
    try checkAgreement()
    var counts = [UInt64](repeating: 0, count: stored.count)
    for number in receiver.numbers.all.dropLast() {
      let publisher = Int(number >> 32)
      #expect(number & 0xFFFF_FFFF == counts[publisher], "publisher \(publisher)")
      counts[publisher] += 1
    }
    for (count, stored) in zip(counts, stored) { #expect(count >= stored) }
    #expect(counts.filter { $0 > 0 }.count > 10)
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

  /// Compares the states that readers find from any message with those of a reader of the whole log.
  private func checkAgreement() throws {
    let trailers = try engine.messages("sensors").map {
      // SAFETY: the span is used during the call.
      try unsafe MessageTrailer.read($0.span.bytes)
    }
    let last = UInt64(trailers.count)
    var states = [AcceptedCalls.beginning]
    for (index, trailer) in trailers.enumerated() {
      var state = states[index]
      _ = try state.advance(over: trailer, at: UInt64(index) + 1)
      states.append(state)
    }
    let raw = try engine.connect(promptly: true) { _ in }
    defer { raw.close() }
    for first in 1...last {
      engine.remove(before: first)
      let log = RemoteLog(first: first, last: last)
      // One reader begins with the end, another one with the oldest message.
      do throws(RemoteError) {
        let end = try raw.endState(of: log, named: "sensors")
        #expect(end == states[Int(last)], "the end, from message \(first)")
      } catch {
        #expect(error.code == .logLost, "\(error)")
      }
      guard let known = try raw.firstKnownCalls(of: log, named: "sensors") else { continue }
      let state = states[Int(known.position)]
      #expect((known.position, known.calls) == (state.position, state.calls), "from \(first)")
      #expect(first == 1 || known.writer == state.writer, "from \(first)")
    }
    engine.remove(before: 1)
    for end in 1...last {
      let found = try raw.endState(of: RemoteLog(first: 1, last: end), named: "sensors")
      #expect(found == states[Int(end)], "up to message \(end)")
    }
  }

  // MARK: Logs that have removed messages

  /// Makes a log of nine messages: A takes the log, 1, B takes the log, 3 and 4 of A late, B takes the log again, 5 to 7.
  private func lateLog() async throws {
    let (_, second) = try await replace()
    for number: Int64 in 5...7 {
      try second.send(number)
      try await second.publisher.flush()
    }
    try await second.publisher.close()
    #expect(second.publisher.storedCount == 4 && engine.messages("sensors").count == 9)
  }

  /// What a consumer gets until it has so many calls and waited a moment for more, and the error that ends it.
  private func outcome(
    _ position: RemotePosition? = nil, after count: Int
  ) throws -> (numbers: [Int64], error: RemoteError?) {
    let receiver = try Receiver()
    let positions = RemoteMemoryPositions(position.map { ["sensors": $0] } ?? [:])
    let loop = ConsumerLoop(
      "sensors", engine, receiver.proxy, receiver.schema, positions, .oldest, lostLogWait: .zero)
    let cancellation = Cancellation()
    let end = Thread {
      let end = ContinuousClock.now + .seconds(120)
      while receiver.numbers.all.count < count, .now < end { usleep(5000) }
      usleep(50_000)
      cancellation.cancel()
    }
    end.start()
    do throws(RemoteError) {
      try loop.run(cancellation)
      return (receiver.numbers.all, nil)
    } catch {
      return (receiver.numbers.all, error)
    }
  }

  @Test func `A consumer from the oldest message does not begin with late ones`() async throws {
    try await lateLog()
    for (first, numbers): (UInt64, [Int64]) in [
      (1, [1, 5, 6, 7]), (3, [5, 6, 7]), (4, [5, 6, 7]), (5, [5, 6, 7]), (7, [5, 6, 7]),
      (8, [6, 7]),
    ] {
      engine.remove(before: first)
      let outcome = try outcome(after: numbers.count)
      #expect(outcome.numbers == numbers && outcome.error == nil, "from message \(first)")
    }
  }

  @Test func `A consumer whose message was removed goes on if no call is missing`() async throws {
    try await lateLog()
    for first: UInt64 in 3...6 {
      engine.remove(before: first)
      for position in [RemotePosition(message: 2, calls: 1), .init(message: 3, calls: 1)] {
        let outcome = try outcome(position, after: 3)
        #expect(
          outcome.numbers == [5, 6, 7] && outcome.error == nil,
          "\(position), from message \(first): \(outcome)")
      }
    }
    // Nobody can know that the call of message 2 is the only one that is missing.
    let missing = try outcome(RemotePosition(message: 1, calls: 0), after: 1)
    #expect(missing.numbers.isEmpty && missing.error?.code == .missingCalls)
    engine.remove(before: 8)
    let others = try outcome(RemotePosition(message: 3, calls: 1), after: 1)
    #expect(others.numbers.isEmpty && others.error?.code == .missingCalls)
    #expect(
      others.error?.description.contains("the calls 2 to 2 are missing") == true, "\(others)")
  }

  @Test func `Messages in flight before a publisher was replaced tell who had the log`() throws {
    func trailer(_ writer: UInt64, _ call: UInt64, _ count: UInt32, _ confirmed: (UInt64, UInt64))
      -> MessageTrailer
    {
      MessageTrailer(
        writer: WriterIdentity(high: writer, low: 0), firstCall: call, confirmed: confirmed.0,
        confirmedCalls: confirmed.1, callCount: count)
    }
    let trailers = [
      trailer(1, 1, 0, (0, 0)), trailer(1, 1, 1, (1, 0)), trailer(1, 2, 1, (1, 0)),
      trailer(1, 3, 1, (1, 0)), trailer(2, 4, 0, (4, 3)), trailer(2, 4, 1, (5, 3)),
    ]
    let proxy = try Feed.proxy()
    let records = Collected<[UInt8]>()
    let schema = try WireSchema(of: proxy)
    let token = try proxy.record(with: WireEncoder(schema)) { record in
      unsafe record.withUnsafeBytes { unsafe records.append([UInt8]($0)) }
    }
    try proxy.send(Feed.number, 1)
    token.cancel()
    engine.setMessages(
      "sensors",
      trailers.map {
        // Each message with a call has the same one.
        var message = $0.takesLog ? [] : schema.bytes + records.all[0]
        $0.append(to: &message)
        return message
      })
    engine.remove(before: 3)
    let raw = try engine.connect(promptly: true) { _ in }
    defer { raw.close() }
    let log = RemoteLog(first: 3, last: 6)
    let known = try #require(try raw.firstKnownCalls(of: log, named: "sensors"))
    #expect(known.position == 5 && known.calls == 3)
    let holder = try raw.holder(of: log, named: "sensors", before: known)
    var state = AcceptedCalls(position: 2, calls: 1, writer: holder)
    for position in 3...6 {
      #expect(try state.advance(over: trailers[position - 1], at: UInt64(position)))
    }
    #expect(state.calls == 4)
    #expect(try outcome(RemotePosition(message: 2, calls: 1), after: 0).error == nil)
  }

  @Test func `A publisher that begins after messages were removed counts right, or is refused`()
    async throws
  {
    try await lateLog()
    for first: UInt64 in [4, 7] {
      engine.remove(before: first)
      let next = try await source(link)
      #expect(next.publisher.storedCount == 4)
      try await next.publisher.close()
    }
    // The last message is late, and names a removed one.
    try appendLate(8)
    let late = engine.messages("sensors").suffix(1)
    let next = try await source(link)
    #expect(next.publisher.storedCount == 4)
    try await next.publisher.close()
    // A log of nothing else tells no state.
    engine.setMessages("sensors", late + late + late + late)
    engine.remove(before: 4)
    let error = await remoteError { _ = try await source(link) }
    #expect(error?.code == .logLost, "\(error as Any)")
  }

  @Test func `Calls that come after all messages were removed are consumed`() async throws {
    let first = try await source(link)
    try first.send(1, 2)
    try await first.publisher.flush()
    engine.remove(before: UInt64(engine.messages("sensors").count) + 1)
    let receivers = [try Receiver(), try Receiver()]
    let consumers = try receivers.enumerated().map {
      try link.consumer(
        "sensors", into: $1.proxy, $1.schema,
        positions: RemoteMemoryPositions(
          $0 == 0 ? [:] : ["sensors": RemotePosition(message: 3, calls: 2)]))
    }
    try await consumers[0].during {
      try await consumers[1].during {
        try await Task.sleep(for: .milliseconds(100))
        try first.send(3, 4)
        try await first.publisher.flush()
        #expect(await eventually { receivers.allSatisfy { $0.numbers.all == [3, 4] } })
      }
    }
    try await first.publisher.close()
  }

  @Test func `A message removed from the middle ends a publisher that needs it`() async throws {
    let proxy = try Feed.proxy()
    let core = PublisherCore(
      "sensors", engine, RemotePublisherOptions(), schema: try WireSchema(of: proxy).bytes,
      timeout: .seconds(2), lostLogWait: .milliseconds(100))
    var publisher: RemotePublisher? = try RemotePublisher(core, proxy, WireSchema(of: proxy))
    // Stored, and not acknowledged.
    engine.swallow(1)
    engine.remove(at: 2)
    try proxy.send(Feed.number, 1)
    #expect(await eventually { core.withLock { core.failure }?.code == .logLost })
    publisher = nil
    _ = publisher
  }

  // MARK: Reads and messages

  @Test func `A foreign message does not make all messages in flight useless`() async throws {
    let first = try await source(link)
    engine.freeze()
    for number in 0..<1000 { try first.send(Int64(number)) }
    try #require(await eventually { engine.heldCount == 1000 })
    let taking = engine.messages("sensors")
    engine.setMessages("sensors", taking + [try message(by: taking.first, 5, confirming: (1, 0))])
    // Those in flight are stored, and sent again by a link that asks first.
    engine.thaw()
    try await first.publisher.close()
    #expect(first.publisher.storedCount == 1000)
    #expect(engine.messages("sensors").count <= 2010)
    let numbers = try await received(1000, from: link)
    #expect(numbers == Array(0..<1000))
  }

  @Test func `A message that names one far before it is refused`() async throws {
    let first = try await source(link)
    for number in 0..<10 { try first.send(Int64(number)) }
    try await first.publisher.close()
    let messages = engine.messages("sensors")
    let filler = [[UInt8]](repeating: messages[2], count: 5000)
    let far = try message(by: messages.first, 5, confirming: (1, 0))
    engine.setMessages("sensors", messages + filler + [far])
    let before = engine.readCount
    let error = await remoteError { _ = try await source(link) }
    #expect(error?.code == .undecodable && engine.readCount < before + 10, "\(error as Any)")
  }

  @Test func `A publisher waits while late messages arrive`() async throws {
    let first = try await source(link)
    try first.send(1)
    try await first.publisher.close()
    // One more arrives whenever the publisher has read the end of the log.
    arrive(6)
    let second = try await source(link)
    #expect(second.publisher.storedCount == 1 && engine.messages("sensors").count == 9)
    try await second.publisher.close()
  }

  private func arrive(_ count: UInt64) {
    if count == 0 { return }
    engine.next(.fetching) {
      try? appendLate(20 - count)
      arrive(count - 1)
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
    let late = try message(by: raw.message(at: 1, of: "sensors"), 5, confirming: (2, 1))
    try raw.append([late], to: "sensors", after: 3)
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
