// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import Synchronization
import Testing

@testable import Forwarding

/// `DynamicProxy.Subscription.current`.
@Suite struct CurrentSubscriptionTests {
  private typealias Subscription = DynamicProxy.Subscription

  private static let tick = Method("tick:", ((Int64) -> Void).self)
  private static let name = Method("name:", ((String) -> Void).self)
  private static let score = Method("score", (() -> Int64).self)
  private static let found = Method("found:", ((Int64) -> Bool).self)

  private func make(_ configuration: DynamicProxy.Configuration = .init()) throws -> DynamicProxy {
    try DynamicProxy("Clock", configuration: configuration) {
      $0.optional(Self.tick)
      $0.optional(Self.name)
      $0.optional(Self.score, result: .callAll(pick: .last))
      $0.optional(Self.found, result: .until { $0 })
    }
  }

  /// The subscriptions that handlers have asked for.
  private let asked = Box<[Subscription?]>([])

  private func ask() -> @Sendable () -> Void {
    { [asked] in
      let current = Subscription.current
      asked.update { $0.append(current) }
    }
  }

  @Test(arguments: [1, 3, 40])
  func `each handler gets its own`(count: Int) throws {
    let proxy = try make()
    let ask = ask()
    var expected: [Subscription] = []
    var owners: [Bystander] = []
    var tokens: [DynamicProxy.Token] = []
    for index in 0..<count {
      let owner = Bystander()
      owners.append(owner)
      // Closures weakly and strongly held, counted ones, and those of a token.
      switch index % 4 {
      case 3:
        tokens.append(
          try proxy.subscribe {
            $0.on(Self.tick) { _ in ask() }
            $0.on(Self.name) { _ in ask() }
            $0.on(Self.score) {
              ask()
              return 1
            }
            $0.on(Self.found) { _ in
              ask()
              return false
            }
          })
        expected.append(try #require(tokens.last?.subscription))
      case let kind:
        expected.append(
          try proxy.subscribe(
            owner, lifetime: kind == 1 ? .strong : .weak, times: kind == 2 ? 100 : nil
          ) {
            $0.on(Self.tick) { _, _ in ask() }
            $0.on(Self.name) { _, _ in ask() }
            $0.on(Self.score) { _ in
              ask()
              return 1
            }
            $0.on(Self.found) { _, _ in
              ask()
              return false
            }
          })
      }
    }
    try proxy.send(Self.tick, 1)
    #expect(asked.value == expected)
    asked.value = []
    try proxy.send(Self.name, "a")
    #expect(asked.value == expected)
    asked.value = []
    _ = try proxy.send(Self.score)
    #expect(asked.value == expected)
    asked.value = []
    _ = try proxy.send(Self.found, 1)
    #expect(asked.value == expected)
    asked.value = []
    try proxy.withBatch { try proxy.send(Self.tick, 1) }
    #expect(asked.value == expected)
    #expect(Subscription.current == nil)
    withExtendedLifetime((owners, tokens)) {}
  }

  /// A loop does not note which C function it calls, and closures among them must
  /// not be taken for theirs.
  @Test func `C functions have the sender only`() throws {
    final class Asker: DynamicProxy.Subscriber {
      static let asked = Box<[Bool]>([])
      static let functionTable = FunctionTable(for: Asker.self) {
        let tick: @convention(c) (UnsafeRawPointer, Int64) -> Void = { _, _ in note() }
        let score: @convention(c) (UnsafeRawPointer) -> Int64 = { _ in
          note()
          return 1
        }
        unsafe $0.function(CurrentSubscriptionTests.tick, calling: tick)
        unsafe $0.function(CurrentSubscriptionTests.score, calling: score)
      }
      static func note() {
        let hasSender = unsafe fwd_current_proxy() != nil
        let hasNone = Subscription.current == nil
        asked.update { $0.append(hasSender && hasNone) }
      }
    }
    let proxy = try make()
    let (ask, owner) = (ask(), Bystander())
    var askers: [Asker] = []
    var expected: [Subscription] = []
    for index in 0..<6 {
      askers.append(Asker())
      try proxy.subscribe(askers[index], lifetime: index % 2 == 0 ? .weak : .strong)
      expected.append(
        try proxy.subscribe(owner, times: index == 3 ? 9 : nil) {
          $0.on(Self.tick) { _, _ in ask() }
          $0.on(Self.score) { _ in
            ask()
            return 1
          }
        })
    }
    try proxy.send(Self.tick, 1)
    _ = try proxy.send(Self.score)
    #expect(asked.value == expected + expected)
    #expect(Asker.asked.value == Array(repeating: true, count: 12))
    #expect(unsafe fwd_current_proxy() == nil)
    withExtendedLifetime((askers, owner)) {}
  }

  @Test func `its proxy is the sender, and it can end itself`() throws {
    let proxy = try make()
    let owner = Bystander()
    let seen = Box<[Int64]>([])
    let senders = Box<[ObjectIdentifier]>([])
    try proxy.subscribe(owner) {
      $0.on(Self.tick) { owner, count in
        let current = Subscription.current
        seen.update { $0.append(count) }
        if let proxy = current?.proxy { senders.update { $0.append(ObjectIdentifier(proxy)) } }
        #expect(current?.subscriber === owner)
        if count == 2 { #expect(current?.cancel() == true) }
      }
    }
    for count in 1...3 { try proxy.send(Self.tick, Int64(count)) }
    #expect(seen.value == [1, 2] && proxy.count == 0)
    #expect(senders.value == [ObjectIdentifier(proxy), ObjectIdentifier(proxy)])
    withExtendedLifetime(owner) {}
  }

  @Test func `a handler that blocks itself is not called from inside`() throws {
    let proxy = try make()
    let calls = Box(0)
    let token = try proxy.subscribe {
      $0.on(Self.tick) { count in
        calls.value += 1
        let current = Subscription.current
        try? current?.block().during { try current?.proxy?.send(Self.tick, count + 1) }
      }
    }
    try proxy.send(Self.tick, 1)
    try proxy.send(Self.tick, 1)
    #expect(calls.value == 2)
    withExtendedLifetime(token) {}
  }

  @Test func `in nested sends it is the innermost, and then the outer one again`() throws {
    let (outer, inner) = (try make(), try make())
    let ask = ask()
    let first = try outer.subscribe {
      $0.on(Self.tick) { count in
        ask()
        try? inner.send(Self.tick, count)
        ask()
      }
    }
    let second = try inner.subscribe { $0.on(Self.tick) { _ in ask() } }
    try outer.send(Self.tick, 1)
    #expect(asked.value == [first.subscription, second.subscription, first.subscription])
    withExtendedLifetime((first, second)) {}
  }

  @Test func `interceptors, forward targets and other threads have none`() throws {
    let proxy = try make()
    let ask = ask()
    let target = Bystander()
    try proxy.setForwardTarget(target) {
      $0.on(Self.score) { _ in
        ask()
        return 1
      }
    }
    let token = try proxy.subscribe {
      $0.on(Self.tick) { _ in onThreads(1) { _ in ask() } }
    }
    let tokens = [
      try proxy.before(Self.tick) { _ in ask() }, try proxy.after(Self.tick) { _ in ask() },
      try proxy.around(Self.tick.selector) { _, proceed in
        ask()
        try proceed()
      },
    ]
    try proxy.send(Self.tick, 1)
    _ = try proxy.send(Self.score)
    #expect(asked.value == [nil, nil, nil, nil, nil])
    withExtendedLifetime((token, tokens, target)) {}
  }

  /// The list gives up what a cancelled subscription held when the fan-out leaves
  /// it, behind the last delivery.
  @Test func `a deinitialiser behind the last delivery has none`() throws {
    final class Last: Sendable {
      let onDeath: @Sendable () -> Void
      init(_ onDeath: @escaping @Sendable () -> Void) { self.onDeath = onDeath }
      deinit { onDeath() }
    }
    let proxy = try make()
    let ask = ask()
    do {
      let last = Last(ask)
      try proxy.subscribe(last, lifetime: .strong) {
        $0.on(Self.tick) { _, _ in Subscription.current?.cancel() }
      }
    }
    try proxy.send(Self.tick, 1)
    #expect(asked.value == [nil])
  }

  @Test func `threads have their own`() throws {
    let proxy = try make()
    let faults = Atomic<Int>(0)
    onThreads(4) { _ in
      for _ in 0..<200 {
        let owner = Bystander()
        let seen = Box<Subscription?>(nil)
        guard
          let subscription = try? proxy.subscribe(
            owner,
            {
              $0.on(Self.tick) { object, _ in
                let current = Subscription.current
                if current?.subscriber !== object && current?.isLive == true {
                  faults.add(1, ordering: .relaxed)
                }
                seen.value = current
              }
            })
        else { return }
        try? proxy.send(Self.tick, 1)
        if seen.value != subscription { faults.add(1, ordering: .relaxed) }
        subscription.cancel()
      }
    }
    #expect(faults.load(ordering: .relaxed) == 0)
  }
}
