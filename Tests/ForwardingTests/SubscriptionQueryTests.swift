// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// `DynamicProxy.subscriptions(of:implementing:)`.
@Suite struct SubscriptionQueryTests {
  private let proxy: DynamicProxy

  init() throws {
    proxy = try DynamicProxy(
      adopting: ProtocolTable("Queried") {
        $0.optional("one", "v@:")
        $0.optional("two", "v@:")
      })
  }

  private func one(_ calls: Box<Int> = Box(0)) -> FunctionTable {
    FunctionTable(for: Bystander.self) {
      $0.on("one") { (_: Bystander) in calls.update { $0 += 1 } }
    }
  }

  @Test func `they are found by object and by method, in order`() throws {
    let (first, second) = (Bystander(), Bystander())
    let a = try proxy.subscribe(first, table: one())
    let b = try proxy.subscribe(second, table: one())
    let c = try proxy.subscribe(first) { $0.on("two") { (_: Bystander) in } }
    let token = try proxy.subscribe { $0.on("two") {} }
    let d = try #require(token.subscription)
    #expect(proxy.subscriptions() == [a, b, c, d])
    #expect(proxy.subscriptions(of: first) == [a, c])
    #expect(proxy.subscriptions(implementing: "two") == [c, d])
    #expect(proxy.subscriptions(of: first, implementing: "two") == [c])
    #expect(proxy.subscriptions(of: second, implementing: "two") == [])
    #expect(proxy.subscriptions().map { $0.subscriber === first } == [true, false, true, false])
    #expect(proxy.subscriptions().compactMap(\.subscriber).count == 3)
    #expect(proxy.subscriptions(implementing: "three") == [])
    withExtendedLifetime((first, second)) {}
  }

  @Test func `those of an object can be blocked, counted and ended`() throws {
    let calls = Box(0)
    let (first, second) = (Bystander(), Bystander())
    for table in [one(calls), one(calls)] { try proxy.subscribe(first, table: table) }
    try proxy.subscribe(second, table: one(calls))
    let pauses = try proxy.subscriptions(of: first).map { try $0.block() }
    // Who is blocked is still a member.
    #expect(proxy.subscriptions(of: first).count == 2)
    try proxy.send("one")
    #expect(calls.value == 1 && pauses.count == 2 && pauses.allSatisfy(\.isLive))
    for subscription in proxy.subscriptions(of: first) { #expect(subscription.cancel()) }
    #expect(proxy.subscriptions(of: first) == [])
    #expect(proxy.subscriptions().count == 1)
    withExtendedLifetime((first, second)) {}
  }

  @Test func `a group is blocked, asked and ended by one token`() throws {
    let calls = Box(0)
    let (first, second) = (Bystander(), Bystander())
    let group = try [first, second].map { try proxy.subscribe($0, table: one(calls)) }
    try proxy.subscribe(second, table: one(calls))
    try DynamicProxy.Token(group.map { try $0.block() }).during {
      #expect(group.map(\.isBlocked) == [true, true])
      try proxy.send("one")
    }
    #expect(calls.value == 1 && group.map(\.isBlocked) == [false, false])

    let tap = try proxy.before("one") { calls.update { $0 += 100 } }
    let token = DynamicProxy.Token(group.map { DynamicProxy.Token($0) } + [tap])
    #expect(token.isLive && token.subscription == nil)
    group[0].cancel()
    #expect(token.isLive)
    #expect(token.cancel() && !token.isLive && !token.cancel())
    try proxy.send("one")
    #expect(calls.value == 2 && proxy.subscriptions().count == 1)

    var dropped: DynamicProxy.Token? = DynamicProxy.Token([try proxy.before("one") {}])
    #expect(dropped?.isLive == true && !DynamicProxy.Token([DynamicProxy.Token]()).isLive)
    dropped = nil
    withExtendedLifetime((first, second)) {}
  }

  @Test func `the dead are not among them`() throws {
    do {
      let mortal = Bystander()
      try proxy.subscribe(mortal, table: one())
      #expect(proxy.subscriptions().count == 1)
    }
    #expect(proxy.subscriptions() == [])
  }
}
