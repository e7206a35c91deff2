// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingDelivery
import Synchronization
import Testing

@Suite struct QueueDeliveryTests {
  @Test func `Structs, small numbers and nil strings are copied`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "values")
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: Feed.point) { log, point, small in
      log.points.append(Point(x: point.x + Double(small), y: point.y))
    }
    try proxy.subscribe(log, on: queue, to: Feed.name) { log, name in log.texts.append(name) }
    for index in 0..<50 {
      try proxy.send(Feed.point, Point(x: Double(index), y: Int32(index)), -1)
      try proxy.send(Feed.name, index % 2 == 0 ? nil : String(repeating: "ä", count: index * 40))
    }
    await subscription.drained()
    let points = (0..<50).map { Point(x: Double($0) - 1, y: Int32($0)) }
    #expect(log.points == points)
    let texts = (0..<50).map { $0 % 2 == 0 ? nil : String(repeating: "ä", count: $0 * 40) }
    #expect(log.texts == texts)
  }

  @Test func `A subscriber that dies with messages queued is not called, and objects go`()
    async throws
  {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "dying")
    queue.suspend()
    let life = Life()
    var log: Log? = Log()
    weak let observed = log
    let subscription = try proxy.subscribe(log!, on: queue, to: Feed.object) { _, _ in
      Issue.record("the subscriber is dead")
    }
    for _ in 0..<10 { try proxy.send(Feed.object, Tracked(life)) }
    #expect(life.live == 10)
    log = nil
    #expect(observed == nil)
    queue.resume()
    await subscription.drained()
    #expect(life.live == 0)
  }

  @Test func `Messages of a proxy that has died are delivered`() async throws {
    var proxy: DynamicProxy? = try Feed.proxy()
    let queue = DispatchQueue(label: "orphans")
    queue.suspend()
    let log = Log()
    let subscription = try proxy!.subscribe(log, on: queue, to: Feed.number) { log, number in
      log.numbers.append(number)
    }
    for number in 0..<10 { try proxy!.send(Feed.number, Int64(number)) }
    proxy = nil
    #expect(subscription.subscription.proxy == nil)
    queue.resume()
    await subscription.drained()
    #expect(log.numbers == (0..<10).map(Int64.init))
  }

  @Test func `A limit of deliveries counts messages, and the last one arrives`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "limited")
    queue.suspend()
    let life = Life()
    let log = Log()
    let subscription = try proxy.subscribe(
      log, on: queue, to: Feed.number, lifetime: .strong, times: 3
    ) { [tracked = Tracked(life)] log, number in
      _ = tracked
      log.numbers.append(number)
    }
    for number in 0..<10 { try proxy.send(Feed.number, Int64(number)) }
    #expect(!subscription.subscription.isLive)
    queue.resume()
    await subscription.drained()
    #expect(log.numbers == [0, 1, 2])
    #expect(await eventually { life.live == 0 })
  }

  @Test(arguments: [true, false])
  func `Cancelled messages are dropped`(all: Bool) async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "cancelled")
    queue.suspend()
    let life = Life()
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: Feed.object) { _, _ in
      Issue.record("cancelled")
    }
    for _ in 0..<10 { try proxy.send(Feed.object, Tracked(life)) }
    if all { proxy.unsubscribeAll() } else { #expect(subscription.cancel()) }
    queue.resume()
    await subscription.drained()
    #expect(life.live == 0)
  }

  static let rules: [(DynamicProxy.Overflow, [Int64], Int)] = [
    (.unbounded, Array(0..<100), 0), (.dropOldest(limit: 3), [97, 98, 99], 97),
    (.dropNewest(limit: 3), [0, 1, 2], 97), (.latest, [99], 99),
  ]

  @Test(arguments: rules)
  func `Overflow rules keep what they say`(
    rule: DynamicProxy.Overflow, kept: [Int64], dropped: Int
  ) async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "overflow")
    queue.suspend()
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: Feed.number, overflow: rule) {
      log, number in log.numbers.append(number)
    }
    for number in 0..<100 { try proxy.send(Feed.number, Int64(number)) }
    queue.resume()
    await subscription.drained()
    #expect(log.numbers == kept)
    #expect(subscription.droppedCount == dropped)
  }

  @Test func `Limits count what a drain has taken, too`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "taken")
    queue.suspend()
    let log = Log()
    let subscription = try proxy.subscribe(
      log, on: queue, to: Feed.number, overflow: .dropOldest(limit: 5)
    ) { log, number in
      log.numbers.append(number)
      // While the drain has 1...4: they give way to 10...14.
      if number == 0 { for number: Int64 in 10..<15 { try? proxy.send(Feed.number, number) } }
    }
    for number in 0..<5 { try proxy.send(Feed.number, Int64(number)) }
    queue.resume()
    await subscription.drained()
    // The drain goes on with 10...14 if they were sent after this task began to wait.
    queue.sync {}
    #expect(log.numbers == [0, 10, 11, 12, 13, 14])
    #expect(subscription.droppedCount == 4)
  }

  @Test func `Memory stays bounded while messages of any size are dropped`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "bounded")
    queue.suspend()
    let log = Log()
    let other = Log()
    let subscription = try proxy.subscribe(
      log, on: queue, to: Feed.name, overflow: .dropOldest(limit: 2)
    ) { log, name in log.texts.append(name) }
    // Its messages stay where they are while those around them are dropped.
    try proxy.subscribe(other, on: queue, to: Feed.number) { other, number in
      other.numbers.append(number)
    }
    for index in 0..<50_000 {
      try proxy.send(Feed.name, String(repeating: "x", count: index % 900))
      if index % 1000 == 0 { try proxy.send(Feed.number, Int64(index)) }
    }
    queue.resume()
    await subscription.drained()
    let kept = log.texts.map { $0?.count ?? -1 }
    #expect(kept == [49_998 % 900, 49_999 % 900])
    #expect(other.numbers == (0..<50).map { Int64($0) * 1000 })
  }

  @Test func `Objects that are dropped are released`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "released")
    queue.suspend()
    let life = Life()
    let log = Log()
    let subscription = try proxy.subscribe(
      log, on: queue, to: Feed.object, overflow: .dropOldest(limit: 3)
    ) { _, _ in }
    for _ in 0..<5000 { try proxy.send(Feed.object, Tracked(life)) }
    #expect(life.live == 3)
    queue.resume()
    await subscription.drained()
    #expect(life.live == 0)
  }

  @Test func `A full mailbox makes threads wait, but not the queue itself`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "blocking")
    let log = Log()
    let subscription = try proxy.subscribe(
      log, on: queue, to: Feed.number, overflow: .block(limit: 4)
    ) { log, number in
      log.numbers.append(number)
      // More than the limit, forwarded by the delivery itself.
      if number == 10 { for number: Int64 in 100..<120 { try? proxy.send(Feed.number, number) } }
    }
    await onThreads(2) { thread in
      for number in 0..<50 { try? proxy.send(Feed.number, Int64(thread * 1000 + number)) }
    }
    // On the queue, but not in a delivery.
    queue.sync { for number: Int64 in 200..<220 { try? proxy.send(Feed.number, number) } }
    await subscription.drained()
    for numbers: Range<Int64> in [0..<50, 100..<120, 200..<220, 1000..<1050] {
      #expect(log.numbers.filter(numbers.contains) == Array(numbers))
    }
    #expect(log.numbers.count == 140)
    #expect(subscription.droppedCount == 0)
  }

  @Test func `A cancellation wakes threads that wait for room`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "stuck")
    queue.suspend()
    let log = Log()
    let life = Life()
    let subscription = try proxy.subscribe(
      log, on: queue, to: Feed.object, overflow: .block(limit: 1)
    ) { log, _ in log.numbers.append(1) }
    async let feeding: Void = onThreads(3) { _ in
      for _ in 0..<3 { try? proxy.send(Feed.object, Tracked(life)) }
    }
    // One waits in the mailbox, and each thread has one for which there is no room.
    #expect(await eventually { life.live == 4 })
    subscription.cancel()
    await feeding
    queue.resume()
    await subscription.drained()
    #expect(log.numbers.isEmpty && life.live == 0)
  }

  @Test func `A serial executor delivers`() async throws {
    let proxy = try Feed.proxy()
    let executor = QueueExecutor()
    let log = Log()
    let subscription = try proxy.subscribe(
      log, on: executor, to: Feed.number, overflow: .block(limit: 2)
    ) { log, number in
      if executor.isHere { log.numbers.append(number) }
    }
    for number in 0..<200 { try proxy.send(Feed.number, Int64(number)) }
    await subscription.drained()
    #expect(log.numbers == (0..<200).map(Int64.init))
  }

  @Test func `A result is left out if the policy calls all, else the method is refused`()
    async throws
  {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "results")
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: "sum:") {
      (log: Log, number: Int64) in log.numbers.append(number)
    }
    let token = try proxy.subscribe { $0.on(Feed.sum) { number in number * 2 } }
    #expect(try proxy.send(Feed.sum, 21) == 42)
    await subscription.drained()
    #expect(log.numbers == [21])
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(log, on: queue, to: "ask:") { (log: Log, number: Int64) in }
    }
    #expect(error?.code == .notMailable)
    #expect(error?.description.contains("\"ask:\" has a result") == true)
    token.cancel()
  }

  @Test func `A subscriber that is told later does not count as a responder`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "told")
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: "sum:") {
      (log: Log, number: Int64) in log.numbers.append(number)
    }
    #expect(!proxy.responds(to: Feed.sum.selector))
    #expect("\(proxy.explain(Feed.sum.selector))".contains("  is called      Log"))
    let target = try Feed.proxy()
    let adder = try target.subscribe { $0.on(Feed.sum) { $0 + 1 } }
    try proxy.setForwardTarget(target)
    #expect(
      "\(proxy.explain(Feed.sum.selector))".contains(
        "is called      DynamicProxy, the forward target"))
    #expect(proxy.responds(to: Feed.sum.selector))
    #expect(try proxy.send(Feed.sum, 4) == 5)
    await subscription.drained()
    #expect(log.numbers == [4])
    withExtendedLifetime(adder) {}
  }

  @Test func `A closure that runs later knows its subscription`() async throws {
    var proxy: DynamicProxy? = try Feed.proxy()
    let queue = DispatchQueue(label: "current")
    let seen = Mutex<[DynamicProxy.Subscription?]>([])
    let proxies = Mutex<[Bool]>([])
    let log = Log()
    queue.suspend()
    let subscription = try proxy!.subscribe(log, on: queue, to: Feed.number) { log, number in
      let current = DynamicProxy.Subscription.current
      seen.withLock { $0.append(current) }
      proxies.withLock { $0.append(current?.proxy != nil) }
      log.numbers.append(number)
      if current?.subscriber === log, number == 2 { current?.cancel() }
    }
    for number: Int64 in 1...3 { try proxy!.send(Feed.number, number) }
    #expect(DynamicProxy.Subscription.current == nil)
    queue.resume()
    await subscription.drained()
    // The drain resumes this task before it ends. Until then it would deliver the next message,
    // although the queue is suspended.
    queue.sync {}
    #expect(seen.withLock { $0.allSatisfy { $0?.subscriber == nil } && $0.count == 2 })
    #expect(log.numbers == [1, 2] && !subscription.subscription.isLive)
    #expect(proxies.withLock { $0 } == [true, true])
    // The proxy may have died.
    let second = try proxy!.subscribe(log, on: queue, to: Feed.number) { _, _ in
      let current = DynamicProxy.Subscription.current
      seen.withLock { $0.append(current) }
      proxies.withLock { $0.append(current?.proxy != nil) }
    }
    queue.suspend()
    try proxy!.send(Feed.number, 4)
    proxy = nil
    queue.resume()
    await second.drained()
    #expect(seen.withLock { $0.count == 3 && $0[2] != nil })
    #expect(proxies.withLock { $0 } == [true, true, false])
  }

  @Test func `Limits below one are refused`() throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "limits")
    for rule: DynamicProxy.Overflow in [
      .dropOldest(limit: 0), .dropNewest(limit: -1), .block(limit: 0),
    ] {
      let error = #expect(throws: ForwardingError.self) {
        try proxy.subscribe(Log(), on: queue, to: Feed.number, overflow: rule) { _, _ in }
      }
      #expect(error?.code == .invalidLimit)
    }
    let unknown = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(Log(), on: queue, to: "numbr:") { (_: Log, _: Int64) in }
    }
    #expect(unknown?.code == .unknownSelector)
  }

  @Test func `A bad argument is reported, and the others are delivered`() async throws {
    let reports = Log()
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { reports.texts.append($0.description) }
    let proxy = try Feed.proxy(configuration)
    let queue = DispatchQueue(label: "reports")
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: Feed.tick) { log, _, symbol in
      log.texts.append(symbol)
    }
    let bytes: [CChar] = [-1, -2, 0]
    try unsafe bytes.withUnsafeBufferPointer {
      try unsafe proxy.send("tick:symbol:", 1.0, $0.baseAddress!)
    }
    try proxy.send(Feed.tick, 2, "fine")
    await subscription.drained()
    #expect(log.texts == ["fine"])
    #expect(reports.texts.count == 1)
    #expect(reports.texts.first??.contains("not UTF-8") == true)
  }
}

@Suite struct SyncDeliveryTests {
  @Test func `The caller waits for the queue and gets the result`() throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "sync")
    let log = Log()
    let subscription = try proxy.subscribe(log, sync: queue, to: Feed.ask) { log, number in
      dispatchPrecondition(condition: .onQueue(queue))
      log.numbers.append(number)
      return number * 2
    }
    #expect(try proxy.send(Feed.ask, 21) == 42)
    // On the queue already, and on one that targets it: no deadlock.
    let other = DispatchQueue(label: "other", target: queue)
    let results = try (
      queue.sync { try proxy.send(Feed.ask, 4) }, other.sync { try proxy.send(Feed.ask, 5) }
    )
    #expect(results == (8, 10))
    #expect(log.numbers == [21, 4, 5])
    subscription.cancel()
    #expect(try proxy.send(Feed.ask, 1) == -1)
  }
}

@Suite struct PaceTests {
  /// A log that gets paced messages on a queue. The test moves the clock.
  private struct Paced {
    let proxy: DynamicProxy
    let clock = ManualClock()
    let queue = DispatchQueue(label: "paced")
    let log = Log()
    let subscription: DynamicProxy.QueuedSubscription

    /// - Parameter respond: is called after the delivery of each number, on the queue.
    init(
      _ overflow: DynamicProxy.Overflow = .unbounded, isThrottled: Bool = true,
      respond: @escaping @Sendable (DynamicProxy, Int64) -> Void = { _, _ in }
    ) throws {
      let proxy = try Feed.proxy()
      let interval = Duration.milliseconds(10)
      subscription = try proxy.subscribe(
        log, on: queue, to: Feed.number, overflow: overflow,
        pace: isThrottled
          ? .throttled(every: interval, clock: clock) : .debounced(for: interval, clock: clock)
      ) { log, number in
        log.numbers.append(number)
        respond(proxy, number)
      }
      self.proxy = proxy
    }

    /// What has been delivered, read on the queue.
    var delivered: [Int64] { queue.sync { log.numbers } }
  }

  @Test func `A throttled subscription delivers the latest once in an interval`() async throws {
    let paced = try Paced(.latest)
    for number in 0..<30 {
      try paced.proxy.send(Feed.number, Int64(number))
      #expect(await eventually { paced.clock.sleeperCount == 1 })
      paced.clock.advance(by: 4)
      // At 12, 24, … the interval is over.
      if number % 3 == 2 { await paced.subscription.drained() }
    }
    let latest: [Int64] = [2, 5, 8, 11, 14, 17, 20, 23, 26, 29]
    #expect(paced.log.numbers == latest)
  }

  @Test func `A debounced subscription delivers when it has been quiet`() async throws {
    let proxy = try Feed.proxy()
    let clock = ManualClock()
    let counter = Counter()
    let subscription = try proxy.subscribe(
      actor: counter, to: Feed.number, overflow: .latest,
      pace: .debounced(for: .milliseconds(10), clock: clock)
    ) { (counter: isolated Counter, number: Int64) in counter.numbers.append(number) }
    for number in 0..<20 {
      try proxy.send(Feed.number, Int64(number))
      #expect(await eventually { clock.sleeperCount == 1 })
      clock.advance(by: 4)
    }
    #expect(await counter.numbers.isEmpty)
    // After the last interval nothing sleeps, and the delivery may still be to come.
    #expect(
      await eventually {
        if clock.sleeperCount == 1 { clock.advance(by: 10) }
        return await !counter.numbers.isEmpty
      })
    #expect(await counter.numbers == [19])
    #expect(subscription.droppedCount == 19)
  }

  @Test(arguments: [DynamicProxy.Overflow.unbounded, .latest])
  func `Thousands of messages are delivered at the end of one interval`(
    _ overflow: DynamicProxy.Overflow
  ) async throws {
    let paced = try Paced(overflow)
    for number in 0..<3000 { try paced.proxy.send(Feed.number, Int64(number)) }
    #expect(await eventually { paced.clock.sleeperCount == 1 })
    paced.clock.advance(by: 10)
    await paced.subscription.drained()
    #expect(paced.log.numbers == (overflow == .latest ? [2999] : (0..<3000).map(Int64.init)))
  }

  @Test(
    arguments: [true, false], [DynamicProxy.Overflow.unbounded, .latest, .dropNewest(limit: 1)])
  func `Messages that come during the deliveries wait for the next interval`(
    isThrottled: Bool, _ overflow: DynamicProxy.Overflow
  ) async throws {
    let paced = try Paced(overflow, isThrottled: isThrottled) { proxy, number in
      if number < 9 { try! proxy.send(Feed.number, number + 1) }
    }
    try paced.proxy.send(Feed.number, 0)
    for number: Int64 in 0..<10 {
      #expect(await eventually { paced.clock.sleeperCount == 1 })
      #expect(paced.delivered == Array(0..<number))
      paced.clock.advance(by: 10)
    }
    await paced.subscription.drained()
    #expect(paced.log.numbers == Array(0..<10))
    // Nothing waits, so no interval begins.
    try await Task.sleep(for: .milliseconds(5))
    #expect(paced.clock.sleeperCount == 0)
    #expect(paced.subscription.droppedCount == 0)
  }

  @Test func `The rest of many messages does not take later ones along`() async throws {
    let paced = try Paced { proxy, number in
      if number == 0 || number == 2999 { try! proxy.send(Feed.number, -1) }
    }
    for number in 0..<3000 { try paced.proxy.send(Feed.number, Int64(number)) }
    #expect(await eventually { paced.clock.sleeperCount == 1 })
    paced.clock.advance(by: 10)
    // The next interval begins when all of the 3,000 have been delivered.
    #expect(await eventually { paced.clock.sleeperCount == 1 })
    #expect(paced.delivered == Array(0..<3000))
    paced.clock.advance(by: 10)
    await paced.subscription.drained()
    #expect(paced.log.numbers == Array(0..<3000) + [-1, -1])
  }

  @Test func `The rest of many messages ends the interval, even if it is dropped`() async throws {
    let paced = try Paced(.dropOldest(limit: 2000)) { proxy, number in
      // A drain ends after 1,024 messages.
      guard number == 1023 else { return }
      for number: Int64 in 2000..<4000 { try! proxy.send(Feed.number, number) }
    }
    for number: Int64 in 0..<2000 { try paced.proxy.send(Feed.number, number) }
    #expect(await eventually { paced.clock.sleeperCount == 1 })
    paced.clock.advance(by: 10)
    #expect(await eventually { paced.clock.sleeperCount == 1 })
    #expect(paced.delivered == Array(0..<1024))
    paced.clock.advance(by: 10)
    await paced.subscription.drained()
    #expect(paced.log.numbers == Array(0..<1024) + Array(2000..<4000))
    #expect(paced.subscription.droppedCount == 976)
  }

  @Test func `A throttled subscription keeps to its interval while a thread sends`() async throws {
    let paced = try Paced(.latest)
    let isOver = Atomic(false)
    async let sent = Task.detached {
      var number: Int64 = 0
      while !isOver.load(ordering: .relaxed) {
        try paced.proxy.send(Feed.number, number)
        number += 1
        if number % 64 == 0 { await Task.yield() }
      }
      return number
    }.value
    for interval in 0..<50 {
      #expect(await eventually { paced.clock.sleeperCount == 1 })
      #expect(paced.delivered.count == interval)
      paced.clock.advance(by: 10)
    }
    isOver.store(true, ordering: .relaxed)
    let count = try await sent
    #expect(
      await eventually {
        if paced.clock.sleeperCount == 1 { paced.clock.advance(by: 10) }
        return paced.delivered.last == count - 1
      })
    let delivered = paced.delivered.count
    #expect(delivered == 50 || delivered == 51)
    #expect(paced.subscription.droppedCount == UInt64(Int(count) - delivered))
  }

  @Test func `Messages that are refused are no quiet`() async throws {
    let paced = try Paced(.dropNewest(limit: 1), isThrottled: false)
    for number in 0..<20 {
      try paced.proxy.send(Feed.number, Int64(number))
      #expect(await eventually { paced.clock.sleeperCount == 1 })
      paced.clock.advance(by: 4)
    }
    #expect(await eventually { paced.clock.sleeperCount == 1 })
    #expect(paced.delivered.isEmpty)
    while paced.delivered.isEmpty {
      if paced.clock.sleeperCount == 1 { paced.clock.advance(by: 10) }
      try await Task.sleep(for: .milliseconds(2))
    }
    await paced.subscription.drained()
    #expect(paced.log.numbers == [0])
    #expect(paced.subscription.droppedCount == 19)
  }

  @Test func `A paced mailbox cannot be waited for`() throws {
    let proxy = try Feed.proxy()
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(
        Log(), on: DispatchQueue(label: "paced"), to: Feed.number, overflow: .block(limit: 1),
        pace: .throttled(every: .milliseconds(1))
      ) { _, _ in }
    }
    #expect(error?.code == .notMailable)
    #expect(error?.description.contains("cannot wait for a paced delivery") == true)
  }
}
