// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingDelivery
import Synchronization
import Testing

/// Runs jobs on a queue, and does not say whether a thread is there.
final class SilentExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "silent")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

/// An actor on an executor of its own choice, which may forward when it dies.
actor Hosted<Executor: SerialExecutor> {
  let executor: Executor
  nonisolated let log: Log
  let last: DynamicProxy?

  init(_ executor: Executor, _ log: Log, last: DynamicProxy? = nil) {
    self.executor = executor
    self.log = log
    self.last = last
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  deinit { if let last { try? last.send(Feed.number, -1) } }
}

/// Where messages are delivered.
@Suite struct PlaceDeliveryTests {
  @Test(arguments: [true, false])
  func `An executor and its actors share one mailbox`(actorFirst: Bool) async throws {
    let proxy = try Feed.proxy()
    let executor = QueueExecutor()
    let log = Log()
    let actor = Hosted(executor, log)
    func subscribeActor() throws -> DynamicProxy.QueuedSubscription {
      try proxy.subscribe(actor: actor, to: Feed.number) {
        (actor: isolated Hosted<QueueExecutor>, number: Int64) in actor.log.numbers.append(number)
      }
    }
    func subscribeLog() throws -> DynamicProxy.QueuedSubscription {
      try proxy.subscribe(log, on: executor, to: Feed.number) { log, number in
        log.numbers.append(-number)
      }
    }
    executor.queue.suspend()
    if actorFirst { _ = try subscribeActor() }
    let subscription = try subscribeLog()
    if !actorFirst { _ = try subscribeActor() }
    for number in 1...500 { try proxy.send(Feed.number, Int64(number)) }
    executor.queue.resume()
    await subscription.drained()
    let sign: Int64 = actorFirst ? 1 : -1
    let expected = (1...Int64(500)).flatMap { number in [sign * number, -sign * number] }
    #expect(log.numbers == expected)
  }

  @Test func `Subscriptions that nobody has kept share the mailbox`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "discarded")
    let log = Log()
    queue.suspend()
    for sign: Int64 in [1, -1] {
      try proxy.subscribe(log, on: queue, to: Feed.number) { log, number in
        log.numbers.append(sign * number)
      }
    }
    for number: Int64 in 1...100 { try proxy.send(Feed.number, number) }
    queue.resume()
    let last = try proxy.subscribe(log, on: queue, to: Feed.number) { _, _ in }
    await last.drained()
    let expected = (1...Int64(100)).flatMap { number in [number, -number] }
    #expect(log.numbers == expected)
  }

  @Test func `An executor outlives its actors`() async throws {
    let proxy = try Feed.proxy()
    let executor = QueueExecutor()
    let log = Log()
    var actor: Hosted? = Hosted(executor, log)
    let first = try proxy.subscribe(actor: actor!, to: Feed.number) {
      (actor: isolated Hosted<QueueExecutor>, number: Int64) in actor.log.numbers.append(-1)
    }
    let second = try proxy.subscribe(log, on: executor, to: Feed.number) { log, number in
      log.numbers.append(number)
    }
    await first.drained()
    actor = nil
    try proxy.send(Feed.number, 7)
    await second.drained()
    #expect(log.numbers == [7])
  }

  @Test func `An executor that does not say where it is cannot be waited for`() async throws {
    let proxy = try Feed.proxy()
    let executor = SilentExecutor()
    let log = Log()
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(log, on: executor, to: Feed.number, overflow: .block(limit: 1)) { _, _ in
      }
    }
    #expect(error?.code == .notMailable)
    #expect(error?.description.contains("isIsolatingCurrentContext()") == true)
    // Without waiting it serves.
    let subscription = try proxy.subscribe(log, on: executor, to: Feed.number) { log, number in
      log.numbers.append(number)
      if number < 5 { try? proxy.send(Feed.number, number + 1) }
    }
    try proxy.send(Feed.number, 1)
    #expect(await eventually { executor.queue.sync { log.numbers.count } == 5 })
    subscription.cancel()
  }

  @Test func `Actors of one executor die and forward while others subscribe`() async throws {
    let executor = SilentExecutor()
    let log = Log()
    let last = try DynamicProxy { $0.optional(Feed.number) }
    let anchor = Hosted(executor, log)
    let subscription = try last.subscribe(actor: anchor, to: Feed.number) {
      (actor: isolated Hosted<SilentExecutor>, number: Int64) in actor.log.numbers.append(number)
    }
    let proxy = try Feed.proxy()
    await onThreads(3) { thread in
      for _ in 0..<1000 {
        let actor = Hosted(executor, log, last: last)
        let made = try? proxy.subscribe(actor: actor, to: Feed.number) {
          (actor: isolated Hosted<SilentExecutor>, number: Int64) in
        }
        if thread == 0 { try? proxy.send(Feed.number, 1) }
        made?.cancel()
      }
    }
    #expect(await eventually { executor.queue.sync { log.numbers.count } == 3000 })
    await subscription.drained()
    withExtendedLifetime(anchor) {}
  }

  @MainActor static func view() -> View { View() }

  @TaskLocal static var witness: Tracked?

  @Test func `The main actor's mailbox keeps no task-local values`() async throws {
    let life = Life()
    let proxy = try Feed.proxy()
    let view = await Self.view()
    // With a mailbox of its own.
    let subscription = try Self.$witness.withValue(Tracked(life)) {
      let subscription = try proxy.subscribe(
        view, on: MainActor.shared, to: Feed.number, pace: .throttled(every: .zero)
      ) { view, number in view.rows.append("\(number) \(Self.witness == nil)") }
      try proxy.send(Feed.number, 1)
      return subscription
    }
    await subscription.drained()
    #expect(await eventually { life.live == 0 })
    #expect(await view.rows == ["1 true"])
    subscription.cancel()
  }

  @Test(arguments: [true, false])
  func `Actors and executors keep no task-local values`(_ isPaced: Bool) async throws {
    let life = Life()
    let proxy = try Feed.proxy()
    let counter = Counter()
    let log = Log()
    let executor = QueueExecutor()
    let pace: Pace = isPaced ? .throttled(every: .zero) : .immediate
    try await Self.$witness.withValue(Tracked(life)) {
      let first = try proxy.subscribe(actor: counter, to: Feed.number, pace: pace) {
        (counter: isolated Counter, _: Int64) in counter.texts.append("\(Self.witness == nil)")
      }
      let second = try proxy.subscribe(log, on: executor, to: Feed.number, pace: pace) { log, _ in
        log.texts.append("\(Self.witness == nil)")
      }
      try proxy.send(Feed.number, 1)
      await first.drained()
      await second.drained()
    }
    #expect(await eventually { life.live == 0 })
    #expect(await counter.texts == ["true"])
    #expect(log.texts == ["true"])
  }

  @Test func `The first messages for the main actor come at once from many threads`() async throws {
    let proxy = try Feed.proxy()
    for _ in 0..<200 {
      let view = await Self.view()
      // Each has a mailbox of its own, whose first drains are started here.
      let subscription = try proxy.subscribe(
        view, on: MainActor.shared, to: Feed.number, pace: .throttled(every: .zero)
      ) { view, number in view.rows.append("\(number)") }
      await onThreads(3) { thread in
        for number in 0..<5 { try? proxy.send(Feed.number, Int64(number)) }
      }
      await subscription.drained()
      #expect(await view.rows.count == 15)
      subscription.cancel()
    }
  }

  @Test func `Concurrent, nested, global and main queues deliver one at a time`() async throws {
    let target = DispatchQueue(label: "target")
    let queues = [
      DispatchQueue(label: "concurrent", attributes: .concurrent),
      DispatchQueue(label: "nested", target: DispatchQueue(label: "inner", target: target)),
      DispatchQueue.global(), DispatchQueue.main,
    ]
    let proxy = try Feed.proxy()
    for queue in queues {
      let log = Log()
      let subscription = try proxy.subscribe(
        log, on: queue, to: Feed.number, overflow: .block(limit: 3)
      ) { log, number in log.numbers.append(number) }
      await onThreads(4) { thread in
        for number in 0..<200 { try? proxy.send(Feed.number, Int64(thread * 1000 + number)) }
      }
      await subscription.drained()
      for thread in 0..<4 {
        let own = log.numbers.filter { $0 / 1000 == Int64(thread) }
        #expect(own == (0..<200).map { Int64(thread * 1000 + $0) })
      }
      subscription.cancel()
    }
  }

  @Test func `Tasks that wait for a queue do not keep it from going on`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "pool")
    let log = Log()
    let subscription = try proxy.subscribe(
      log, on: queue, to: Feed.number, overflow: .block(limit: 1)
    ) { log, number in log.numbers.append(number) }
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          for number in 0..<20 { try? proxy.send(Feed.number, Int64(task * 100 + number)) }
        }
      }
    }
    await subscription.drained()
    #expect(log.numbers.count == 320)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(-1)])
  func `Intervals that are not positive deliver at once`(interval: Duration) async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "at once")
    let log = Log()
    for pace in [Pace.throttled(every: interval), .debounced(for: interval)] {
      let subscription = try proxy.subscribe(log, on: queue, to: Feed.number, pace: pace) {
        log, number in log.numbers.append(number)
      }
      for number: Int64 in 0..<100 { try proxy.send(Feed.number, number) }
      await subscription.drained()
      subscription.cancel()
    }
    #expect(log.numbers == Array(0..<100) + Array(0..<100))
  }

  @Test func `A clock that goes backwards delays no message for ever`() async throws {
    let proxy = try Feed.proxy()
    let clock = ManualClock()
    let queue = DispatchQueue(label: "backwards")
    let log = Log()
    let subscription = try proxy.subscribe(
      log, on: queue, to: Feed.number, pace: .debounced(for: .milliseconds(10), clock: clock)
    ) { log, number in log.numbers.append(number) }
    clock.advance(by: 1000)
    try proxy.send(Feed.number, 1)
    #expect(await eventually { clock.sleeperCount == 1 })
    clock.advance(by: -500)
    try proxy.send(Feed.number, 2)
    clock.advance(by: 510)
    // The second message came meanwhile, so there is one more interval.
    #expect(await eventually { clock.sleeperCount == 1 })
    clock.advance(by: 10)
    await subscription.drained()
    #expect(log.numbers == [1, 2])
  }

  @Test func `An interval may be longer than the clock runs`() async throws {
    let proxy = try Feed.proxy()
    let clock = NotingClock()
    let log = Log()
    let longest = Duration.seconds(Int64.max)
    for pace in [
      Pace.throttled(every: longest, clock: clock), .debounced(for: longest, clock: clock),
    ] {
      let subscription = try proxy.subscribe(
        log, on: DispatchQueue(label: "pause"), to: Feed.number, pace: pace
      ) { log, number in log.numbers.append(number) }
      try proxy.send(Feed.number, 1)
      await subscription.drained()
      subscription.cancel()
    }
    #expect(log.numbers == [1, 1])
    let deadlines = clock.deadlines.take()
    #expect(deadlines.count == 2)
    for deadline in deadlines {
      #expect(deadline > ContinuousClock().now.advanced(by: .seconds(1_000_000_000_000)))
      // Swift's own clock traps for a deadline that is out of its range.
      let sleep = Task { try await ContinuousClock().sleep(until: deadline) }
      sleep.cancel()
      _ = await sleep.result
    }
  }

  @Test func `A cancellation during the pause releases what waits`() async throws {
    let proxy = try Feed.proxy()
    let clock = ManualClock()
    let queue = DispatchQueue(label: "pause")
    let life = Life()
    let log = Log()
    let subscription = try proxy.subscribe(
      log, on: queue, to: Feed.object, pace: .throttled(every: .seconds(3600), clock: clock)
    ) { log, _ in log.numbers.append(1) }
    for _ in 0..<10 { try proxy.send(Feed.object, Tracked(life)) }
    #expect(await eventually { clock.sleeperCount == 1 })
    subscription.cancel()
    // Nobody waits for an hour.
    await subscription.drained()
    #expect(life.live == 0)
    clock.advance(by: 3_600_000)
    try await Task.sleep(for: .milliseconds(5))
    #expect(log.numbers.isEmpty)
  }
}

/// Notes the deadlines of sleeps, which end at once.
private final class NotingClock: Clock, Sendable {
  let deadlines = Collection<ContinuousClock.Instant>()
  var now: ContinuousClock.Instant { ContinuousClock().now }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    deadlines.append(deadline)
  }
}
