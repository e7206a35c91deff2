// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingDelivery
import Synchronization
import Testing

@globalActor actor Database {
  static let shared = Database()
}

@Suite struct ActorDeliveryTests {
  @Test func `Messages of four threads arrive complete, each thread's in order`() async throws {
    let proxy = try Feed.proxy()
    let counter = Counter()
    let subscription = try proxy.subscribe(actor: counter, to: Feed.number) {
      (counter: isolated Counter, number: Int64) in counter.numbers.append(number)
    }
    let perThread: Int64 = 50_000
    await onThreads(4) { thread in
      for number in 0..<perThread {
        try? proxy.send(Feed.number, Int64(thread) << 32 | number)
      }
    }
    await subscription.drained()
    let numbers = await counter.numbers
    #expect(numbers.count == 4 * Int(perThread))
    var next: [Int64] = [0, 0, 0, 0]
    for number in numbers {
      let thread = Int(number >> 32)
      #expect(number & 0xFFFF_FFFF == next[thread])
      next[thread] = (number & 0xFFFF_FFFF) + 1
    }
  }

  @Test func `Strings and several arguments are copied`() async throws {
    let proxy = try Feed.proxy()
    let counter = Counter()
    let subscription = try proxy.subscribe(actor: counter, to: Feed.tick) {
      (counter: isolated Counter, price: Double, symbol: String) in
      counter.texts.append("\(symbol) \(price)")
    }
    for index in 0..<100 { try proxy.send(Feed.tick, Double(index), "symbol \(index)") }
    await subscription.drained()
    let texts = (0..<100).map { "symbol \($0) \(Double($0))" }
    #expect(await counter.texts == texts)
  }

  @Test func `A literal key takes its types from the closure`() async throws {
    let proxy = try Feed.proxy()
    let counter = Counter()
    let subscription = try proxy.subscribe(actor: counter, to: "number:") {
      (counter: isolated Counter, number: Int64) in counter.numbers.append(number)
    }
    try proxy.send(Feed.number, 7)
    await subscription.drained()
    #expect(await counter.numbers == [7])
  }

  @Test func `Nothing is delivered after a cancellation on the actor`() async throws {
    let proxy = try Feed.proxy()
    let counter = Counter()
    // Bounded, since the actor may have to wait for a thread while the two threads send.
    let subscription = try proxy.subscribe(
      actor: counter, to: Feed.number, overflow: .dropNewest(limit: 10_000)
    ) { (counter: isolated Counter, number: Int64) in counter.numbers.append(number) }
    let stops = Stop()
    async let feeding: Void = onThreads(2) { _ in
      while !stops.isSet { try? proxy.send(Feed.number, 1) }
    }
    #expect(await eventually { await !counter.numbers.isEmpty })
    func cancel(_ counter: isolated Counter) -> Int {
      subscription.cancel()
      return counter.numbers.count
    }
    let count = await cancel(counter)
    try await Task.sleep(for: .milliseconds(20))
    #expect(await counter.numbers.count == count)
    stops.set()
    await feeding
    await subscription.drained()
    #expect(await counter.numbers.count == count)
  }

  @Test func `A delivery that is due keeps the actor alive`() async throws {
    let proxy = try Feed.proxy()
    let life = Life()
    var counter: Counter? = Counter()
    weak let observed = counter
    let deliveries = Deliveries()
    let subscription = try proxy.subscribe(actor: counter!, to: Feed.object) {
      (counter: isolated Counter, _: Tracked) in deliveries.add()
    }
    // Keeps the actor busy until this function has given up its reference, so that all messages
    // stay queued.
    func send(_ counter: isolated Counter, _ isGivenUp: DispatchSemaphore) throws {
      for _ in 0..<10_000 { try proxy.send(Feed.object, Tracked(life)) }
      #expect(life.live == 10_000)
      isGivenUp.wait()
    }
    let isGivenUp = DispatchSemaphore(value: 0)
    let sending = Task { [actor = counter!] in try await send(actor, isGivenUp) }
    counter = nil
    isGivenUp.signal()
    try await sending.value
    await subscription.drained()
    #expect(await eventually { observed == nil && life.live == 0 })
    #expect(deliveries.count == 10_000)
    try proxy.send(Feed.object, Tracked(life))
    #expect(life.live == 0)
    await subscription.drained()
    #expect(deliveries.count == 10_000)
  }

  @Test func `An actor that dies before a delivery is due gets none`() async throws {
    let proxy = try Feed.proxy()
    let life = Life()
    let clock = ManualClock()
    var counter: Counter? = Counter()
    let deliveries = Deliveries()
    let subscription = try proxy.subscribe(
      actor: counter!, to: Feed.object, pace: .throttled(every: .milliseconds(10), clock: clock)
    ) { (counter: isolated Counter, _: Tracked) in deliveries.add() }
    for _ in 0..<10_000 { try proxy.send(Feed.object, Tracked(life)) }
    #expect(await eventually { clock.sleeperCount == 1 })
    #expect(life.live == 10_000)
    counter = nil
    clock.advance(by: 10)
    await subscription.drained()
    #expect(life.live == 0 && deliveries.count == 0)
  }

  @Test func `Closures run on the global actor that they name`() async throws {
    let proxy = try Feed.proxy()
    let log = Log()
    let subscription = try proxy.subscribe(log, to: Feed.number) { @Database log, number in
      Database.shared.preconditionIsolated()
      log.numbers.append(number)
    }
    for number in 0..<100 { try proxy.send(Feed.number, Int64(number)) }
    await subscription.drained()
    #expect(log.numbers == (0..<100).map(Int64.init))
  }

  @Test func `A closure without isolation is refused`() throws {
    let proxy = try Feed.proxy()
    let log = Log()
    let body: @Sendable (Log, Int64) -> Void = { _, _ in }
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(log, to: Feed.number, body)
    }
    #expect(error?.code == .notMailable)
    #expect(error?.description.contains("has no isolation") == true)
  }

  @MainActor @Test func `The main actor gets messages, in order across its subscribers`()
    async throws
  {
    let proxy = try Feed.proxy()
    let view = View()
    let first = try proxy.subscribe(view, on: MainActor.shared, to: Feed.tick) {
      view, price, symbol in view.rows.append("\(symbol) \(price)")
    }
    try proxy.subscribe(view, to: Feed.tick) { @MainActor view, price, symbol in
      view.rows.append("again \(symbol) \(price)")
    }
    await onThreads(1) { _ in
      for index in 0..<1000 { try? proxy.send(Feed.tick, Double(index), "row") }
    }
    await first.drained()
    let rows = (0..<1000).flatMap { ["row \(Double($0))", "again row \(Double($0))"] }
    #expect(view.rows == rows)
  }

  @Test func `An actor with an executor shares the mailbox of the executor's actors`() async throws
  {
    actor Hosted {
      let executor: QueueExecutor
      nonisolated let log: Log
      init(_ executor: QueueExecutor, _ log: Log) {
        self.executor = executor
        self.log = log
      }
      nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
      }
    }
    let proxy = try Feed.proxy()
    let executor = QueueExecutor()
    let log = Log()
    let (one, other) = (Hosted(executor, log), Hosted(executor, log))
    let subscription = try proxy.subscribe(actor: one, to: Feed.number) {
      (hosted: isolated Hosted, number: Int64) in hosted.log.numbers.append(number)
    }
    try proxy.subscribe(actor: other, to: Feed.number) {
      (hosted: isolated Hosted, number: Int64) in hosted.log.numbers.append(-number)
    }
    for number in 1...500 { try proxy.send(Feed.number, Int64(number)) }
    await subscription.drained()
    let numbers = (1...500).flatMap { [Int64($0), -Int64($0)] }
    #expect(log.numbers == numbers)
  }

  @Test func `An actor cannot be waited for`() throws {
    let proxy = try Feed.proxy()
    let counter = Counter()
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(actor: counter, to: Feed.number, overflow: .block(limit: 1)) {
        (counter: isolated Counter, number: Int64) in counter.numbers.append(number)
      }
    }
    #expect(error?.code == .notMailable)
  }

  @Test func `An actor that forwards to itself gets the message later`() async throws {
    let proxy = try Feed.proxy()
    let counter = Counter()
    let subscription = try proxy.subscribe(actor: counter, to: Feed.number) {
      (counter: isolated Counter, number: Int64) in
      counter.numbers.append(number)
      if number < 5 { try? proxy.send(Feed.number, number + 1) }
      counter.numbers.append(-number)
    }
    try proxy.send(Feed.number, 1)
    #expect(await eventually { await counter.numbers.count == 10 })
    #expect(await counter.numbers == [1, -1, 2, -2, 3, -3, 4, -4, 5, -5])
    subscription.cancel()
  }
}

final class Stop: Sendable {
  private let flag = Atomic(false)
  var isSet: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}
