// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingDelivery
import Synchronization
import Testing

/// Subscriptions, subscribers and proxies that end while messages wait.
@Suite struct EndingDeliveryTests {
  @Test func `A cancellation drops what a used-up subscription has waiting`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "used up")
    queue.suspend()
    let log = Log()
    let made = Lock<DynamicProxy.QueuedSubscription?>(nil)
    let subscription = try proxy.subscribe(log, on: queue, to: Feed.number, times: 5) {
      log, number in
      log.numbers.append(number)
      if number == 2 { made.withLock { $0 }?.cancel() }
    }
    made.withLock { $0 = subscription }
    for number in 0..<10 { try proxy.send(Feed.number, Int64(number)) }
    queue.resume()
    await subscription.drained()
    #expect(log.numbers == [0, 1, 2])
    #expect(!subscription.cancel())
  }

  @Test func `A cancellation drops what a dead proxy has left`() async throws {
    var proxy: DynamicProxy? = try Feed.proxy()
    let queue = DispatchQueue(label: "left")
    queue.suspend()
    let life = Life()
    let log = Log()
    let subscription = try proxy!.subscribe(log, on: queue, to: Feed.object) { log, _ in
      log.numbers.append(1)
    }
    for _ in 0..<10 { try proxy!.send(Feed.object, Tracked(life)) }
    proxy = nil
    #expect(life.live == 10)
    #expect(!subscription.cancel())
    queue.resume()
    await subscription.drained()
    #expect(log.numbers.isEmpty)
    #expect(life.live == 0)
    // All is freed now.
    #expect(!subscription.cancel())
    #expect(subscription.droppedCount == 0)
  }

  @Test func `A cancellation inside the delivery is the last of it`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "inside")
    queue.suspend()
    let life = Life()
    let log = Log()
    let made = Lock<DynamicProxy.QueuedSubscription?>(nil)
    let subscription = try proxy.subscribe(log, on: queue, to: Feed.object, lifetime: .strong) {
      [tracked = Tracked(life)] log, _ in
      log.numbers.append(Int64(tracked.life.live))
      made.withLock { $0 }?.cancel()
      proxy.unsubscribeAll()
      proxy.unsubscribe(log)
      // What the closure has captured still exists.
      log.numbers.append(Int64(tracked.life.live))
    }
    made.withLock { $0 = subscription }
    for _ in 0..<10 { try proxy.send(Feed.object, Tracked(life)) }
    queue.resume()
    await subscription.drained()
    #expect(log.numbers.count == 2)
    made.withLock { $0 = nil }
    #expect(await eventually { life.live == 0 })
  }

  @Test func `Four threads cancel while four forward`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "under fire")
    let life = Life()
    for round in 0..<40 {
      let rules: [DynamicProxy.Overflow] = [
        .unbounded, .dropOldest(limit: 3), .dropNewest(limit: 3), .block(limit: 2), .latest,
      ]
      let subscriptions = try (0..<4).map { _ in
        try proxy.subscribe(
          Log(), on: queue, to: Feed.object, lifetime: .strong, times: round % 3 == 0 ? 20 : nil,
          overflow: rules[round % rules.count]
        ) { [tracked = Tracked(life)] log, _ in log.numbers.append(Int64(tracked.life.live)) }
      }
      await onThreads(8) { thread in
        if thread < 4 {
          for _ in 0..<50 { try? proxy.send(Feed.object, Tracked(life)) }
        } else {
          for subscription in subscriptions { subscription.cancel() }
        }
      }
      for subscription in subscriptions { subscription.cancel() }
      await subscriptions[0].drained()
    }
    #expect(await eventually { life.live == 0 })
  }

  /// Forwards when it dies.
  final class Herald: Sendable {
    let proxy: DynamicProxy
    let number: Int64
    init(_ proxy: DynamicProxy, _ number: Int64) {
      self.proxy = proxy
      self.number = number
    }
    deinit { try? proxy.send(Feed.number, number) }
  }

  @Test func `Subscribers and arguments forward when they die`() async throws {
    let proxy = try Feed.proxy()
    let inner = try DynamicProxy { $0.optional("herald:", "v@:@") }
    let queue = DispatchQueue(label: "heralds")
    let log = Log()
    let subscription = try proxy.subscribe(log, on: queue, to: Feed.number) { log, number in
      log.numbers.append(number)
    }
    queue.suspend()
    var herald: Herald? = Herald(proxy, 1)
    // Dies with messages queued.
    let dying = try inner.subscribe(herald!, on: queue, to: "herald:") {
      (_: Herald, _: Herald) in Issue.record("the subscriber is dead")
    }
    try inner.send("herald:", Herald(proxy, 2))
    herald = nil
    // Is kept until the last delivery has been made.
    let strong = try inner.subscribe(
      Herald(proxy, 3), on: queue, to: "herald:", lifetime: .strong, times: 1
    ) { (_: Herald, _: Herald) in }
    try inner.send("herald:", Herald(proxy, 4))
    // Gives way to the next one, on this thread.
    let latest = try inner.subscribe(log, on: queue, to: "herald:", overflow: .latest) {
      (_: Log, _: Herald) in
    }
    try inner.send("herald:", Herald(proxy, 5))
    try inner.send("herald:", Herald(proxy, 6))
    queue.resume()
    #expect(await eventually { queue.sync { log.numbers.count } == 6 })
    #expect(queue.sync { log.numbers.sorted() } == [1, 2, 3, 4, 5, 6])
    await subscription.drained()
    for each in [dying, strong, latest] { each.cancel() }
  }

  @Test func `A subscriber, a proxy and a queue die while threads wait for room`() async throws {
    for round in 0..<30 {
      let life = Life()
      let queue = DispatchQueue(label: "waiting")
      queue.suspend()
      let proxy = try Feed.proxy()
      var log: Log? = Log()
      let subscription = try proxy.subscribe(
        log!, on: queue, to: Feed.object, overflow: .block(limit: 1)
      ) { log, _ in log.numbers.append(1) }
      async let feeding: Void = onThreads(3) { [weak proxy] _ in
        for _ in 0..<3 { try? proxy?.send(Feed.object, Tracked(life)) }
      }
      while life.live == 0 { await Task.yield() }
      switch round % 3 {
      case 0: log = nil
      case 1: proxy.unsubscribeAll()
      default: subscription.cancel()
      }
      queue.resume()
      await feeding
      await subscription.drained()
      withExtendedLifetime(log) {}
      #expect(await eventually { life.live == 0 })
    }
  }

  @Test func `A blocked subscription gets what was sent before`() async throws {
    let proxy = try Feed.proxy()
    let queue = DispatchQueue(label: "blocked")
    queue.suspend()
    let log = Log()
    let queued = try proxy.subscribe(log, on: queue, to: Feed.number) { log, number in
      log.numbers.append(number)
    }
    try proxy.send(Feed.number, 1)
    let block = try queued.subscription.block()
    try proxy.send(Feed.number, 2)
    queue.resume()
    await queued.drained()
    #expect(log.numbers == [1])
    _ = block
  }

  @Test func `Actors come and go at the same addresses`() async throws {
    // The proxies that the two threads share. With a single one, each message would go to
    // all actors before it.
    let proxies = try (0..<20).map { _ in try Feed.proxy() }
    let kept = Collection<Counter>()
    let own = Deliveries()
    let subscriptions = Collection<DynamicProxy.QueuedSubscription>()
    await onThreads(2) { _ in
      for index in 0..<2000 {
        let proxy = proxies[index / 100]
        let counter = Counter()
        let subscription = try? proxy.subscribe(actor: counter, to: Feed.number) {
          (counter: isolated Counter, number: Int64) in counter.preconditionIsolated()
        }
        try? proxy.send(Feed.number, Int64(index))
        let last = try? DynamicProxy { $0.optional(Feed.number) }
        let isKept = index % 2 == 1
        let made = try? last?.subscribe(actor: counter, to: Feed.number) {
          (counter: isolated Counter, number: Int64) in
          counter.preconditionIsolated()
          if isKept { own.add() }
        }
        try? last?.send(Feed.number, 0)
        if isKept {
          kept.append(counter)
          if let made { subscriptions.append(made) }
        } else {
          // The actor dies, perhaps with messages.
          subscription?.cancel()
        }
      }
    }
    for subscription in subscriptions.take() { await subscription.drained() }
    #expect(own.count == 2000)
    #expect(kept.take().count == 2000)
  }
}
