// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Synchronization
import Testing

@testable import Forwarding

/// `Configuration.onMembershipChange`.
@Suite struct MembershipObserverTests {
  private static let tick = Method("tick:", ((Int64) -> Void).self)

  private let changes = Box<[String]>([])
  private let subscriptions = Box<[DynamicProxy.Subscription]>([])

  private func make(
    _ change: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.onMembershipChange = { [changes, subscriptions] subscription, change in
      changes.update { $0.append("\(change)") }
      subscriptions.update { $0.append(subscription) }
    }
    change(&configuration)
    return try DynamicProxy("Clock", configuration: configuration) { $0.optional(Self.tick) }
  }

  private func take() -> [String] {
    changes.update { all in
      defer { all = [] }
      return all
    }
  }

  private func subscribe(
    _ owner: Bystander, to proxy: DynamicProxy, times: Int? = nil
  ) throws -> DynamicProxy.Subscription {
    try proxy.subscribe(owner, times: times) { $0.on(Self.tick) { _, _ in } }
  }

  @Test func `joins and leaves are told once each, in order`() throws {
    let proxy = try make()
    let owner = Bystander()
    let first = try subscribe(owner, to: proxy)
    #expect(take() == ["joined"] && subscriptions.value == [first])
    #expect(subscriptions.value[0].subscriber === owner && subscriptions.value[0].proxy === proxy)
    let second = try subscribe(owner, to: proxy)
    first.cancel()
    first.cancel()
    #expect(take() == ["joined", "left"] && subscriptions.value == [first, second, first])
    proxy.unsubscribe(owner)
    #expect(take() == ["left"])
    let token = try proxy.subscribe { $0.on(Self.tick) { _ in } }
    _ = try subscribe(owner, to: proxy)
    proxy.unsubscribeAll()
    #expect(take() == ["joined", "joined", "left", "left"])
    withExtendedLifetime(token) {}
  }

  // The end of a subscription whose table others share has a shorter way in the shim.
  @Test func `subscriptions that share a table are told of like others`() throws {
    let proxy = try make()
    let table = FunctionTable(for: Bystander.self) { $0.on(Self.tick) { _, _ in } }
    let owners = [Bystander(), Bystander(), Bystander()]
    let joined = try owners.map { try proxy.subscribe($0, table: table) }
    #expect(take() == ["joined", "joined", "joined"])
    for subscription in joined {
      #expect(subscription.cancel())
      #expect(take() == ["left"] && subscriptions.value.last == subscription)
      #expect(subscription.subscriber == nil)
    }
    withExtendedLifetime(owners) {}
  }

  @Test func `a duplicate, a move and a block are no change`() throws {
    let proxy = try make()
    let owner = Bystander()
    let table = FunctionTable(for: Bystander.self) { $0.on(Self.tick) { _, _ in } }
    let first = try proxy.subscribe(owner, table: table)
    _ = try proxy.subscribe(owner, table: table, at: .first)
    try first.block().cancel()
    #expect(take() == ["joined"])
    withExtendedLifetime(owner) {}
  }

  @Test func `a death is told when it is noticed`() throws {
    let proxy = try make()
    var owner: Bystander? = Bystander()
    let subscription = try subscribe(owner!, to: proxy)
    owner = nil
    #expect(take() == ["joined"])
    try proxy.send(Self.tick, 1)
    #expect(take() == ["died"] && subscriptions.value == [subscription, subscription])
    #expect(subscriptions.value[1].subscriber == nil)
    // A query notices it, too.
    owner = Bystander()
    _ = try subscribe(owner!, to: proxy)
    owner = nil
    #expect(proxy.count == 0 && take() == ["joined", "died"])
  }

  @Test func `the last delivery of a subscription is its end`() throws {
    let proxy = try make()
    let owner = Bystander()
    _ = try subscribe(owner, to: proxy, times: 2)
    try proxy.send(Self.tick, 1)
    #expect(take() == ["joined"])
    try proxy.send(Self.tick, 1)
    #expect(take() == ["left"])
    withExtendedLifetime(owner) {}
  }

  @Test func `the end of the proxy and the forward target are not told`() throws {
    let owner = Bystander()
    do {
      let proxy = try make()
      _ = try subscribe(owner, to: proxy)
      try proxy.setForwardTarget(owner) { $0.on(Self.tick) { _, _ in } }
      proxy.removeForwardTarget()
    }
    #expect(take() == ["joined"])
  }

  @Test func `both observers are told, members first`() throws {
    let proxy = try make { [changes] in
      $0.onCapabilityChange = { selector, responds in
        changes.update { $0.append("\(selector) \(responds)") }
      }
    }
    let owner = Bystander()
    let subscription = try subscribe(owner, to: proxy)
    subscription.cancel()
    #expect(take() == ["joined", "tick: true", "left", "tick: false"])
  }

  /// One interceptor is called in the fan-out itself, several are called after it.
  @Test(arguments: [1, 2], [false, true])
  func `a member that leaves by its last delivery is told of before those after it`(
    interceptors: Int, byFunction: Bool
  ) throws {
    let proxy = try make()
    let owner = Bystander()
    _ = try subscribe(owner, to: proxy, times: 1)
    let others = Bystander()
    _ = try subscribe(others, to: proxy)
    let afters = try (0..<interceptors).map { _ in
      try proxy.after(Self.tick) { [changes] _ in changes.update { $0.append("after") } }
    }
    if byFunction {
      let function = try proxy.functionPointer(for: Self.tick)
      unsafe function.unsafeCast(to: (@convention(c) (Int64) -> Void).self)(1)
    } else {
      try proxy.send(Self.tick, 1)
    }
    #expect(
      take() == ["joined", "joined", "left"] + Array(repeating: "after", count: interceptors))
    withExtendedLifetime((owner, others, afters)) {}
  }

  @Test func `an observer may change the membership`() throws {
    let proxy = Box<DynamicProxy?>(nil)
    let owner = Bystander()
    let made = try make { [changes] in
      $0.onMembershipChange = { subscription, change in
        changes.update { $0.append("\(change)") }
        if change == .joined { subscription.cancel() }
      }
    }
    proxy.value = made
    let subscription = try subscribe(owner, to: made)
    #expect(!subscription.isLive && take() == ["joined", "left"])
  }

  @Test func `with threads each join has one end behind it`() throws {
    struct Tally: Sendable {
      var joined: Set<DynamicProxy.Subscription> = []
      var ended: Set<DynamicProxy.Subscription> = []
      var faults = 0
    }
    let tally = Box(Tally())
    let proxy = try make {
      $0.onMembershipChange = { subscription, change in
        tally.update { tally in
          switch change {
          case .joined: if !tally.joined.insert(subscription).inserted { tally.faults += 1 }
          case .left, .died:
            let isKnown = tally.joined.contains(subscription)
            if !isKnown || !tally.ended.insert(subscription).inserted { tally.faults += 1 }
          }
        }
      }
    }
    onThreads(4) { thread in
      for index in 0..<200 {
        let owner = Bystander()
        let subscription = try? proxy.subscribe(owner, times: index % 3 == 0 ? 1 : nil) {
          $0.on(Self.tick) { _, _ in }
        }
        if thread == 0 { try? proxy.send(Self.tick, 1) }
        if index % 2 == 0 { subscription?.cancel() }
      }
    }
    #expect(proxy.count == 0)
    let result = tally.value
    #expect(result.faults == 0 && result.joined.count == 800 && result.ended == result.joined)
  }
}
