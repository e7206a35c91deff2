// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import Dispatch
  import Foundation
  import Forwarding
  import ForwardingDelivery
  import ForwardingMacros
  import Synchronization
  import Testing

  /// Any thread calls its proxies. Listeners live on actors and queues.
  @Forwarded(sendable: true)
  protocol Feed: AnyObject {
    func tick(_ price: Double, _ symbol: String)
    @Optional func listed(_ reading: Reading, _ sighting: Sighting, _ seen: Seen?)
    func closed()
  }

  @Forwarded(sendable: true)
  protocol Exchange: Feed {
    func halted(_ reasons: [String])
  }

  @globalActor actor LedgerActor { static let shared = LedgerActor() }

  /// Lives on the main actor, and leaves the optional method out.
  @MainActor private final class Display: @MainActor Feed {
    var lines: [String] = []
    var onTick: () -> Void = {}

    func tick(_ price: Double, _ symbol: String) {
      MainActor.assertIsolated()
      lines.append("\(symbol) \(price)")
      onTick()
    }
    func closed() { lines.append("closed") }
  }

  @MainActor private final class Floor: @MainActor Exchange {
    var lines: [String] = []
    func tick(_ price: Double, _ symbol: String) { lines.append("\(symbol) \(price)") }
    func listed(_ reading: Reading, _ sighting: Sighting, _ seen: Seen?) {
      let isSeen = sighting.object != nil && sighting.object === seen
      lines.append("\(reading.texts) \(reading.note ?? "-") \(sighting.name) \(isSeen)")
    }
    func closed() { lines.append("closed") }
    func halted(_ reasons: [String]) { lines.append("\(reasons)") }
  }

  @LedgerActor private final class Journal: @LedgerActor Feed {
    var lines: [String] = []
    func tick(_ price: Double, _ symbol: String) {
      LedgerActor.assertIsolated()
      lines.append("\(symbol) \(price)")
    }
    func closed() { lines.append("closed") }
  }

  /// May be used in one place only.
  private final class Tally: Feed {
    var sum = 0.0
    var closings = 0
    let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }
    deinit { onEnd() }
    func tick(_ price: Double, _ symbol: String) { sum += price }
    func closed() { closings += 1 }
  }

  /// An actor with a listener as a part of its state.
  private actor Accountant {
    private let tally = Tally()
    var sum: Double { tally.sum }
    var closings: Int { tally.closings }

    func listen(to feed: FeedProxy) throws -> DynamicProxy.QueuedSubscription {
      try feed.subscribe(tally, on: self)
    }
  }

  /// Any thread may call it.
  private final class Log: Feed, Sendable {
    private let text = Mutex<[String]>([])
    var lines: [String] { text.withLock { $0 } }
    func tick(_ price: Double, _ symbol: String) { text.withLock { $0.append("\(price)") } }
    func closed() { text.withLock { $0.append("closed") } }
  }

  private final class Lane: SerialExecutor {
    let queue = DispatchQueue(label: "lane")
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  /// How many listeners have ended, and how many of them where they do not live.
  private final class Endings: Sendable {
    let all = Atomic(0)
    let elsewhere = Atomic(0)
    let isDone = Atomic(false)
  }

  @MainActor @Suite struct QueuedListenersTests {
    @Test func `a listener of the main actor is called there, in order`() async throws {
      let feed = FeedProxy()
      let display = Display()
      let subscription = try feed.subscribe(display, on: MainActor.shared)
      await Task.detached {
        for index in 0..<100 {
          feed.tick(Double(index), "a symbol with a long name")
          if index % 10 == 9 { feed.closed() }
        }
      }.value
      await subscription.drained()
      let expected = (0..<100).flatMap {
        ["a symbol with a long name \(Double($0))"] + ($0 % 10 == 9 ? ["closed"] : [])
      }
      #expect(display.lines == expected)
    }

    @Test func `listeners and closures of an actor share its order`() async throws {
      let (feed, exchange) = (FeedProxy(), ExchangeProxy())
      let display = Display()
      try feed.subscribe(display, on: MainActor.shared)
      try exchange.proxy.subscribe(display, on: MainActor.shared, to: ExchangeProxy.Keys.halted) {
        display, reasons in display.lines.append("\(reasons)")
      }
      for index in 0..<5 {
        feed.tick(Double(index), "a")
        exchange.halted(["reason \(index)"])
        feed.closed()
      }
      #expect(display.lines.isEmpty)
      await Task.yield()
      try await feed.subscribe(display, on: MainActor.shared).drained()
      #expect(
        display.lines == (0..<5).flatMap { ["a \(Double($0))", "[\"reason \($0)\"]", "closed"] })
    }

    @LedgerActor @Test func `a listener of another global actor`() async throws {
      let feed = FeedProxy()
      let journal = Journal()
      let subscription = try feed.subscribe(journal, on: LedgerActor.shared)
      feed.tick(1, "a")
      feed.closed()
      await subscription.drained()
      #expect(journal.lines == ["a 1.0", "closed"])
    }

    @Test func `a listener that is part of an actor's state`() async throws {
      let feed = FeedProxy()
      let counter = Accountant()
      let subscription = try await counter.listen(to: feed)
      for index in 1...100 { feed.tick(Double(index), "a") }
      feed.closed()
      await subscription.drained()
      #expect(await counter.sum == 5050)
      #expect(await counter.closings == 1)
    }

    @Test func `listeners on a queue and on an executor`() async throws {
      let feed = FeedProxy()
      let log = Log()
      let (queue, lane) = (DispatchQueue(label: "log"), Lane())
      let onQueue = try feed.subscribe(log, on: queue, overflow: .block(limit: 2))
      let onLane = try feed.subscribe(log, on: lane)
      let end = DispatchSemaphore(value: 0)
      let kept = try feed.subscribe(Tally { end.signal() }, on: queue, lifetime: .strong)
      for _ in 0..<10 { feed.closed() }
      await onQueue.drained()
      await onLane.drained()
      await kept.drained()
      #expect(log.lines == Array(repeating: "closed", count: 20))
      #expect(feed.count == 3)
      // The listener that was given up goes with its subscription.
      #expect(kept.cancel())
      await Task.detached { end.wait() }.value
    }

    @Test func `values, and optional methods that a listener leaves out`() async throws {
      let exchange = ExchangeProxy()
      let (floor, display) = (Floor(), Display())
      #expect(!exchange.responds(to: FeedProxy.Requirement.listed))
      let partly = FeedProxy()
      try partly.subscribe(display, on: MainActor.shared)
      #expect(!partly.responds(to: .listed))
      let subscription = try exchange.subscribe(floor, on: MainActor.shared)
      #expect(exchange.responds(to: FeedProxy.Requirement.listed))
      let seen = Seen()
      let name = "a sighting with a long name"
      await Task.detached {
        exchange.listed(
          Reading(texts: ["a text that is not small"], note: "n"),
          Sighting(object: seen, name: name), seen)
        exchange.listed(
          Reading(texts: [], note: nil), Sighting(object: Seen(), name: name), nil)
        exchange.halted(["one reason", "and another"])
        exchange.closed()
        partly.listed(
          Reading(texts: [], note: nil), Sighting(object: nil, name: ""), nil)
      }.value
      await subscription.drained()
      #expect(
        floor.lines == [
          "[\"a text that is not small\"] n \(name) true", "[] - \(name) false",
          "[\"one reason\", \"and another\"]", "closed",
        ])
      #expect(display.lines.isEmpty)
      withExtendedLifetime(seen) {}
    }

    @Test func `overflow counts the messages of all methods`() async throws {
      let feed = FeedProxy()
      let display = Display()
      let subscription = try feed.subscribe(
        display, on: MainActor.shared, overflow: .dropOldest(limit: 3))
      let last = Display()
      let latest = try feed.subscribe(last, on: MainActor.shared, overflow: .latest)
      for index in 0..<4 {
        feed.tick(Double(index), "a")
        feed.closed()
      }
      await subscription.drained()
      #expect(display.lines == ["closed", "a 3.0", "closed"])
      #expect(last.lines == ["closed"])
      #expect(subscription.droppedCount == 5 && latest.droppedCount == 7)
    }

    @Test func `a limit counts the calls of all methods`() async throws {
      let feed = FeedProxy()
      let display = Display()
      let subscription = try feed.subscribe(display, on: MainActor.shared, times: 3)
      for _ in 0..<3 {
        feed.tick(1, "a")
        feed.closed()
      }
      await subscription.drained()
      #expect(display.lines == ["a 1.0", "closed", "a 1.0"])
      #expect(!subscription.subscription.isLive && feed.count == 0)
    }

    @Test func `with a pace, the listener has a mailbox of its own`() async throws {
      let feed = FeedProxy()
      let (display, other) = (Display(), Display())
      let subscription = try feed.subscribe(
        display, on: MainActor.shared, overflow: .latest,
        pace: .debounced(for: .milliseconds(1)))
      let direct = try feed.subscribe(other, on: MainActor.shared)
      for index in 0..<10 { feed.tick(Double(index), "a") }
      await direct.drained()
      await subscription.drained()
      #expect(display.lines == ["a 9.0"])
      #expect(other.lines.count == 10)
    }

    @Test func `after cancel nothing more is delivered`() async throws {
      let feed = FeedProxy()
      let display = Display()
      let subscription = try feed.subscribe(display, on: MainActor.shared)
      display.onTick = { subscription.cancel() }
      for _ in 0..<3 {
        feed.tick(1, "a")
        feed.closed()
      }
      await subscription.drained()
      #expect(display.lines == ["a 1.0"])
      #expect(!subscription.subscription.isLive && feed.count == 0)
      #expect(!subscription.cancel())
    }

    @Test func `messages of a proxy that has died are delivered`() async throws {
      var feed: FeedProxy? = FeedProxy()
      let display = Display()
      let subscription = try #require(feed).subscribe(display, on: MainActor.shared)
      feed?.tick(1, "a")
      feed = nil
      await subscription.drained()
      #expect(display.lines == ["a 1.0"])
    }

    @Test func `a listener whose actor has died ends its subscription with the next message`()
      async throws
    {
      let feed = FeedProxy()
      let kept = Accountant()
      let first = try await kept.listen(to: feed)
      for _ in 0..<3 { _ = try await Accountant().listen(to: feed) }
      // A delivery that was due may have kept an actor for a moment.
      for _ in 0..<1000 where feed.count > 1 {
        feed.tick(1, "a")
        await first.drained()
      }
      #expect(feed.count == 1)
      #expect(first.cancel())
      #expect(feed.count == 0 && !feed.responds(to: .tick))
    }

    @Test func `a listener that has died ends its subscription with the next message`()
      async throws
    {
      let feed = FeedProxy()
      let subscription = try feed.subscribe(Display(), on: MainActor.shared)
      #expect(subscription.subscription.subscriber == nil)
      #expect(subscription.subscription.isLive && feed.count == 1)
      feed.tick(1, "a")
      feed.closed()
      await subscription.drained()
      #expect(!subscription.subscription.isLive && feed.count == 0)
      #expect(!feed.responds(to: .tick))
    }

    /// A listener that is not `Sendable` must not be released by a thread that forwards.
    @Test func `a listener is released where it lives`() async throws {
      let feed = FeedProxy()
      // The main queue may change its thread.
      let here = DispatchSpecificKey<Bool>()
      DispatchQueue.main.setSpecific(key: here, value: true)
      let seen = Endings()
      // Threads, since tasks that never wait would keep all others from running.
      let running = DispatchGroup()
      for _ in 0..<2 {
        running.enter()
        Thread.detachNewThread {
          while !seen.isDone.load(ordering: .relaxed) { feed.tick(1, "a") }
          running.leave()
        }
      }
      let rounds = 300
      for _ in 0..<rounds {
        let listener = Tally {
          if DispatchQueue.getSpecific(key: here) == nil {
            seen.elsewhere.add(1, ordering: .relaxed)
          }
          seen.all.add(1, ordering: .relaxed)
        }
        let subscription = try feed.subscribe(
          listener, on: MainActor.shared, overflow: .dropNewest(limit: 4))
        await subscription.drained()
        #expect(feed.responds(to: .closed) && feed.proxy.subscriptions().count >= 1)
        if listener.sum < 0 { Issue.record("unused") }
      }
      seen.isDone.store(true, ordering: .relaxed)
      await withCheckedContinuation { running.notify(queue: .global(), execute: $0.resume) }
      #expect(seen.all.load(ordering: .relaxed) == rounds)
      #expect(seen.elsewhere.load(ordering: .relaxed) == 0)
    }

    @Test func `a typed proxy can be a listener`() async throws {
      let (feed, relay) = (FeedProxy(), FeedProxy())
      let log = Log()
      try relay.subscribe(log)
      let subscription = try feed.subscribe(relay, on: MainActor.shared)
      await Task.detached {
        feed.tick(1, "a")
        feed.closed()
      }.value
      await subscription.drained()
      #expect(log.lines == ["1.0", "closed"])
    }

    @Test func `listeners that are Sendable are called directly as well`() async throws {
      let exchange = ExchangeProxy()
      let feed = FeedProxy()
      let log = Log()
      let direct = try feed.subscribe(log)
      feed.closed()
      #expect(log.lines == ["closed"])
      #expect(feed.contains(log) && direct.isLive)
      #expect(feed.asListener === feed)
      #expect(exchange.count == 0)
    }

    @Test func `four threads reach listeners in four places, each in its order`() async throws {
      let feed = FeedProxy()
      let (display, counter, log) = (Display(), Accountant(), Log())
      let queue = DispatchQueue(label: "q")
      let subscriptions = [
        try feed.subscribe(display, on: MainActor.shared),
        try await counter.listen(to: feed),
        try feed.subscribe(log, on: queue),
      ]
      await withTaskGroup(of: Void.self) { group in
        for thread in 0..<4 {
          group.addTask {
            for index in 0..<1000 { feed.tick(Double(index), "thread \(thread)") }
          }
        }
      }
      for subscription in subscriptions { await subscription.drained() }
      for thread in 0..<4 {
        let own = display.lines.filter { $0.hasPrefix("thread \(thread)") }
        #expect(own == (0..<1000).map { "thread \(thread) \(Double($0))" })
      }
      #expect(display.lines.count == 4000 && log.lines.count == 4000)
      #expect(await counter.sum == 4 * 499_500)
    }
  }
#endif
