// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwardingInternal
import Testing

@testable import Forwarding

/// What proxies and function tables remember of each other.
@Suite struct JoinedTablesTests {
  private static func protocolTable(required: Bool = false) throws -> ProtocolTable {
    try ProtocolTable("Ping") {
      if required { $0.required("ping", "v@:") } else { $0.optional("ping", "v@:") }
      $0.optional("other", "v@:")
    }
  }

  private static func table(_ calls: Box<Int> = Box(0)) -> FunctionTable {
    FunctionTable(for: Bystander.self) {
      $0.on("ping") { (_: Bystander) in calls.update { $0 += 1 } }
    }
  }

  private func joined(_ table: FunctionTable, _ proxy: DynamicProxy) -> JoinedTable? {
    // No proxy has the number 0, so this finds what belongs to the plan.
    let found = try? table.joins.find(for: 0, proxy.core.plan.number) {
      _ throws(ForwardingError) in
    }
    guard case .joined(let joined) = found else { return nil }
    return joined
  }

  @Test func `proxies of one protocol share a plan, unless they configure its methods`() throws {
    let table = try Self.protocolTable()
    let first = try DynamicProxy(adopting: table)
    var configuration = DynamicProxy.Configuration()
    configuration.duplicates = .allow
    #expect(try DynamicProxy(adopting: table).core.plan === first.core.plan)
    #expect(
      try DynamicProxy(adopting: table, configuration: configuration).core.plan === first.core.plan)
    configuration.noResponder = .fail
    #expect(
      try DynamicProxy(adopting: table, configuration: configuration).core.plan !== first.core.plan)
    #expect(try DynamicProxy(adopting: table, table).core.plan !== first.core.plan)
    #expect(try DynamicProxy(adopting: Self.protocolTable()).core.plan !== first.core.plan)
  }

  @Test func `closures are bound once for all proxies of a plan`() throws {
    let adopted = try Self.protocolTable()
    let calls = Box(0)
    let table = Self.table(calls)
    let proxies = try (0..<3).map { _ in try DynamicProxy(adopting: adopted) }
    let owner = Bystander()
    var seen: JoinedTable?
    for proxy in proxies {
      try proxy.subscribe(owner, table: table)
      let joined = try #require(self.joined(table, proxy))
      #expect(seen == nil || seen === joined)
      seen = joined
    }
    for proxy in proxies { try proxy.send("ping") }
    #expect(calls.value == 3)
  }

  @Test func `more plans than a table remembers are all served`() throws {
    let calls = Box(0)
    let table = Self.table(calls)
    let owner = Bystander()
    let proxies = try (0..<10).map { _ in try DynamicProxy(adopting: Self.protocolTable()) }
    for _ in 0..<2 {
      for proxy in proxies { try proxy.subscribe(owner, table: table) }
    }
    for proxy in proxies { try proxy.send("ping") }
    #expect(calls.value == 10)
    #expect(proxies.allSatisfy { $0.count == 1 })
    #expect(proxies.filter { joined(table, $0) != nil }.count == 4)
  }

  @Test func `each proxy judges a remembered table by its own rules`() throws {
    let adopted = try Self.protocolTable(required: true)
    let table = FunctionTable(for: Bystander.self) {
      $0.on("other") { (_: Bystander) in }
      $0.on("unknown") { (_: Bystander) in }
    }
    let owner = Bystander()
    var lenient = DynamicProxy.Configuration()
    lenient.unknownFunctions = .ignore
    lenient.conformance = .lenient
    let first = try DynamicProxy(adopting: adopted, configuration: lenient)
    try first.subscribe(owner, table: table)
    var half = lenient
    half.conformance = .implemented
    let second = try DynamicProxy(adopting: adopted, configuration: half)
    #expect(second.core.plan === first.core.plan)
    #expect(throws: ForwardingError.self) { try second.subscribe(owner, table: table) }
    half = lenient
    half.unknownFunctions = .fail
    let third = try DynamicProxy(adopting: adopted, configuration: half)
    let error = #expect(throws: ForwardingError.self) { try third.subscribe(owner, table: table) }
    #expect(error?.code == .unknownSelector)
    #expect((first.count, second.count, third.count) == (1, 0, 0))
  }

  @Test func `one object with one table is one subscriber, however often it comes`() throws {
    let proxy = try DynamicProxy(adopting: Self.protocolTable())
    let (table, other) = (Self.table(), Self.table())
    let owner = Bystander()
    let first = try proxy.subscribe(owner, table: table)
    #expect(try proxy.subscribe(owner, table: table) == first)
    #expect(try proxy.subscribe(owner, table: other) != first)
    // Another proxy in between, so that the table has forgotten the first.
    try DynamicProxy(adopting: Self.protocolTable()).subscribe(owner, table: table)
    #expect(try proxy.subscribe(owner, table: table) == first)
    #expect(proxy.count == 2)
  }

  @Test func `what closures capture is given up with the table and its subscriptions`() throws {
    let proxy = try DynamicProxy(adopting: Self.protocolTable())
    let owner = Bystander()
    weak var captured: Box<Int>?
    let subscription: DynamicProxy.Subscription
    do {
      let box = Box(0)
      captured = box
      subscription = try proxy.subscribe(owner, table: Self.table(box))
    }
    #expect(captured != nil)
    try proxy.send("ping")
    #expect(captured?.value == 1)
    subscription.cancel()
    #expect(captured == nil)
  }

  @Test func `a proxy finds the tables of its subscribers, however many they are`() throws {
    let proxy = try DynamicProxy(adopting: Self.protocolTable())
    let calls = Box(0)
    let tables = (0..<10).map { _ in Self.table(calls) }
    let owners = (0..<3).map { _ in Bystander() }
    var subscriptions: [DynamicProxy.Subscription] = []
    for owner in owners {
      for table in tables { subscriptions.append(try proxy.subscribe(owner, table: table)) }
    }
    let found = tables.map { table in
      proxy.subscribers.sharedTable(ObjectIdentifier(table.identity))
    }
    #expect(found.allSatisfy { $0 != nil })
    #expect(Set(found.compactMap { $0.map(ObjectIdentifier.init) }).count == 10)
    for owner in owners {
      for (index, table) in tables.enumerated() {
        #expect(try proxy.subscribe(owner, table: table) == subscriptions[index])
      }
      subscriptions.removeFirst(10)
    }
    try proxy.send("ping")
    #expect(calls.value == 30)
  }

  @Test func `a table is not found after its last subscriber has left`() throws {
    let proxy = try DynamicProxy(adopting: Self.protocolTable())
    let (table, owner) = (Self.table(), Bystander())
    let key = ObjectIdentifier(table.identity)
    let others = (0..<3).map { _ in Bystander() }
    for index in 0..<3 {
      let first = try proxy.subscribe(owner, table: table)
      let second = try proxy.subscribe(others[index], table: table)
      #expect(first.cancel())
      #expect(proxy.subscribers.sharedTable(key) != nil)
      #expect(second.cancel() && !second.cancel())
      #expect(proxy.subscribers.sharedTable(key) == nil)
    }
  }

  @Test func `a table that a proxy has given up becomes that of the next one`() throws {
    let adopted = try Self.protocolTable(required: true)
    let calls = Box(0)
    let table = FunctionTable(for: Bystander.self) {
      $0.on("other") { (_: Bystander) in calls.update { $0 += 1 } }
    }
    let (owner, key) = (Bystander(), ObjectIdentifier(table.identity))
    var lenient = DynamicProxy.Configuration()
    lenient.conformance = .lenient
    var given: [ObjectIdentifier] = []
    for _ in 0..<3 {
      let proxy = try DynamicProxy(adopting: adopted, configuration: lenient)
      try proxy.subscribe(owner, table: table)
      try proxy.send("other")
      given.append(ObjectIdentifier(try #require(proxy.subscribers.sharedTable(key))))
    }
    #expect(Set(given).count == 1)
    // While one proxy has the table, another proxy gets a different one.
    let two = try (0..<2).map { _ in
      try DynamicProxy(adopting: adopted, configuration: lenient)
    }
    for proxy in two { try proxy.subscribe(owner, table: table) }
    #expect(two[0].subscribers.sharedTable(key) !== two[1].subscribers.sharedTable(key))
    // Each proxy judges it.
    let strict = try DynamicProxy(adopting: adopted)
    #expect(throws: ForwardingError.self) { try strict.subscribe(owner, table: table) }
    #expect(throws: ForwardingError.self) { try strict.subscribe(owner, table: table) }
    #expect(strict.count == 0 && calls.value == 3)
  }

  @Test func `a table is shared once, wherever its subscribers stand`() throws {
    let proxy = try DynamicProxy(adopting: Self.protocolTable())
    let tables = [Self.table(), Self.table()]
    let subscribers = (0..<6).map { _ in Bystander() }
    for subscriber in subscribers {
      try proxy.subscribe(subscriber, table: tables[0], at: .first)
    }
    #expect(unsafe fwd_list_has_room_to_share(proxy.subscribers.list))
    // So the list finds another table, too.
    try proxy.subscribe(subscribers[0], table: tables[1], at: .first)
    for table in tables {
      let key = ObjectIdentifier(table.identity)
      #expect(proxy.subscribers.sharedTable(key) != nil)
      #expect(unsafe fwd_list_shared_table(proxy.subscribers.list, key.address) != nil)
    }
  }

  @Test func `joined tables are found while they live`() throws {
    let plan = try DynamicProxy(adopting: Self.protocolTable()).core.plan
    let tables = (0..<40).map { _ in Self.table() }
    var joined = JoinedTables()
    var made = try tables.map { table in
      let dispatch = try DispatchTable(JoinedTable(table, plan), isSingle: false)
      _ = joined.remember(dispatch, ObjectIdentifier(table.identity))
      return dispatch
    }
    for (table, dispatch) in zip(tables, made) {
      #expect(joined.find(ObjectIdentifier(table.identity)) === dispatch)
    }
    made = Array(made.prefix(20))
    for (index, table) in tables.enumerated() {
      #expect((joined.find(ObjectIdentifier(table.identity)) != nil) == (index < 20))
    }
  }
}
