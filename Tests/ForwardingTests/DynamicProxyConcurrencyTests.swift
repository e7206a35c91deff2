// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Synchronization
import Testing

@testable import Forwarding

/// Threads that forward while others change who is subscribed. Meant for the
/// thread and the address sanitizer as well.
@Suite(.serialized) struct DynamicProxyConcurrencyTests {
  private static let table = ProtocolTable.table("Counting") {
    $0.required("count:", "v@:q")
    $0.optional("sum:", "q@:q", result: .reduce(Int64(0), +))
  }

  /// Counts its calls by the thread that forwards.
  private final class Counter: DynamicProxy.Subscriber {
    private let calls: [Atomic64]
    init(_ threads: Int) { calls = (0..<threads).map { _ in Atomic64() } }

    func calls(from thread: Int) -> Int { calls[thread].value }

    static let functionTable = FunctionTable(for: Counter.self) {
      $0.on("count:") { (self: Counter, thread: Int64) in self.calls[Int(thread)].increment() }
      $0.on("sum:") { (_: Counter, number: Int64) -> Int64 in number }
    }
  }

  private final class Atomic64: Sendable {
    private let number = Atomic<Int>(0)
    var value: Int { number.load(ordering: .acquiring) }
    func increment() { number.add(1, ordering: .acquiringAndReleasing) }
  }

  private static let threads = 4
  private static let rounds = 300

  @Test func `subscriptions are cancelled and asked for their proxy while it dies`() throws {
    let steady = Counter(Self.threads)
    let cancelled = Atomic64()
    typealias Shared = (proxy: DynamicProxy?, subscriptions: [DynamicProxy.Subscription])
    let shared = Lock<Shared>((nil, []))
    let isDone = Atomic64()
    onThreads(Self.threads) { thread in
      if thread > 0 {
        while isDone.value == 0 {
          // Strong, weak, and the last of a table: some ends release objects.
          for subscription in shared.withLock({ $0.subscriptions }) {
            if subscription.isLive, let proxy = subscription.proxy {
              #expect(proxy.protocols.first === Self.table)
            }
            if subscription.cancel() { cancelled.increment() }
          }
          // The thread that makes the proxies needs a processor, too.
          usleep(1)
        }
        return
      }
      for round in 0..<Self.rounds {
        do {
          let before = cancelled.value
          let proxy = try DynamicProxy(adopting: Self.table)
          var subscriptions = [try proxy.subscribe(Counter(Self.threads), lifetime: .strong)]
          for _ in 0..<8 { subscriptions.append(try proxy.subscribe(Counter(1), at: .first)) }
          subscriptions.append(try proxy.subscribe(steady))
          subscriptions.append(
            try proxy.subscribe(steady) { $0.on("count:") { (_: Counter, _: Int64) in } })
          shared.withLock { $0 = (proxy, subscriptions) }
          // In every other round, the others cancel while the proxy lives.
          var waits = round.isMultiple(of: 2) ? 100_000 : 0
          while waits > 0 && cancelled.value == before {
            usleep(10)
            waits -= 1
          }
          // The others may have the last reference.
          shared.withLock { $0.proxy = nil }
        } catch {
          Issue.record(error)
        }
      }
      isDone.increment()
    }
    shared.withLock { $0 = (nil, []) }
    #expect(cancelled.value >= Self.rounds / 2 && cancelled.value <= Self.rounds * 11)
  }

  @Test func `whoever lives through gets exactly one call of each fan-out`() throws {
    let proxy = try DynamicProxy(adopting: Self.table)
    let steady = (0..<8).map { _ in Counter(Self.threads) }
    defer { withExtendedLifetime(steady) {} }
    for counter in steady { try proxy.subscribe(counter) }
    let isDone = Atomic64()
    // Two threads forward, one changes members, one lets objects die.
    onThreads(Self.threads) { thread in
      switch thread {
      case 0, 1:
        for _ in 0..<Self.rounds {
          #expect(throws: Never.self) { try proxy.send("count:", Int64(thread)) }
        }
        isDone.increment()
      case 2:
        let passing = Counter(Self.threads)
        while isDone.value < 2 {
          #expect(throws: Never.self) { try proxy.subscribe(passing, at: .first) }
          proxy.unsubscribe(passing)
          // Those who stay are moved about.
          #expect(throws: Never.self) { try proxy.subscribe(steady[3], at: .first) }
          #expect(throws: Never.self) { try proxy.subscribe(steady[4], at: .index(2)) }
          #expect(throws: Never.self) { try proxy.subscribe(steady[3], at: .priority(0)) }
        }
      default:
        while isDone.value < 2 {
          let dying = (0..<3).map { _ in Counter(Self.threads) }
          for counter in dying {
            #expect(throws: Never.self) { try proxy.subscribe(counter, at: .index(0)) }
          }
          let token = try? proxy.subscribe { $0.on("count:") { (_: Int64) in } }
          withExtendedLifetime(token) {}
        }
      }
    }
    for counter in steady {
      #expect(counter.calls(from: 0) == Self.rounds)
      #expect(counter.calls(from: 1) == Self.rounds)
    }
    #expect(proxy.count == steady.count)
  }

  @Test func `each result counts whoever lives through, and who comes and goes at most once`()
    throws
  {
    let proxy = try DynamicProxy(adopting: Self.table)
    let steady = (0..<5).map { _ in Counter(1) }
    defer { withExtendedLifetime(steady) {} }
    for counter in steady { try proxy.subscribe(counter) }
    let isDone = Atomic64()
    onThreads(Self.threads) { thread in
      if thread < 2 {
        for _ in 0..<Self.rounds {
          #expect(throws: Never.self) {
            let sum: Int64 = try proxy.send("sum:", Int64(1))
            #expect((5...7).contains(sum))
          }
        }
        isDone.increment()
      } else {
        while isDone.value < 2 {
          let passing = Counter(1)
          #expect(throws: Never.self) { try proxy.subscribe(passing) }
          if thread == 2 { proxy.unsubscribe(passing) }
        }
      }
    }
    #expect(try proxy.send("sum:", Int64(1)) == Int64(5))
  }

  @Test func `objects that die while they are called die once, and nothing leaks`() throws {
    let proxy = try DynamicProxy(adopting: Self.table)
    let population = Population()
    let isDone = Atomic64()
    onThreads(Self.threads) { thread in
      if thread < 2 {
        for _ in 0..<Self.rounds {
          #expect(throws: Never.self) { try proxy.send("count:", Int64(0)) }
        }
        isDone.increment()
      } else {
        while isDone.value < 2 {
          let owner = Bystander()
          let captured = population.make()
          #expect(throws: Never.self) {
            try proxy.subscribe(owner) {
              $0.on("count:") { (_: Bystander, _: Int64) in withExtendedLifetime(captured) {} }
            }
          }
        }
      }
    }
    try proxy.send("count:", Int64(0))
    #expect(population.living == 0)
    #expect(proxy.subscribers.places == 0)
  }

  @Test func `the last one to leave a fan-out gives up whom it held`() throws {
    let population = Population()
    for _ in 0..<50 {
      let proxy = try DynamicProxy(adopting: Self.table)
      let captured = population.make()
      let owner = Bystander()
      try proxy.subscribe(owner, lifetime: .strong) {
        $0.on("count:") { (_: Bystander, _: Int64) in withExtendedLifetime(captured) {} }
      }
      onThreads(2) { thread in
        if thread == 0 {
          #expect(throws: Never.self) { try proxy.send("count:", Int64(0)) }
        } else {
          proxy.unsubscribeAll()
        }
      }
      #expect(proxy.count == 0)
    }
    #expect(population.living == 0)
  }

  @Test func `threads that subscribe the same objects agree`() throws {
    let proxy = try DynamicProxy(adopting: Self.table)
    let counters = (0..<20).map { _ in Counter(Self.threads) }
    defer { withExtendedLifetime(counters) {} }
    onThreads(Self.threads) { thread in
      for counter in thread.isMultiple(of: 2) ? counters : counters.reversed() {
        #expect(throws: Never.self) { try proxy.subscribe(counter) }
      }
    }
    #expect(proxy.count == counters.count)
    try proxy.send("count:", Int64(0))
    #expect(counters.allSatisfy { $0.calls(from: 0) == 1 })
    onThreads(Self.threads) { _ in for counter in counters { proxy.unsubscribe(counter) } }
    #expect(proxy.count == 0)
  }

  @Test func `capabilities may be asked and are told while members change`() throws {
    let changes = Atomic64()
    var configuration = DynamicProxy.Configuration()
    configuration.onCapabilityChange = { _, _ in changes.increment() }
    let proxy = try DynamicProxy(adopting: Self.table, configuration: configuration)
    onThreads(Self.threads) { thread in
      for _ in 0..<100 {
        let counter = Counter(1)
        if thread < 2 {
          #expect(throws: Never.self) { try proxy.subscribe(counter) }
          proxy.unsubscribe(counter)
        } else {
          _ = proxy.responds(to: "count:")
          _ = proxy.count
          _ = proxy.liveSubscribers
          _ = proxy.conforms(to: Self.table)
        }
      }
    }
    #expect(!proxy.responds(to: "count:"))
    // Gained and lost as often.
    #expect(changes.value.isMultiple(of: 2) && changes.value > 0)
  }
}
