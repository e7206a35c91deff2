// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// How a proxy finds the table of a class whose objects subscribe.
@Suite struct SubscriberClassTests {
  private class Pinged: DynamicProxy.Subscriber, @unchecked Sendable {
    static let table = FunctionTable(for: Pinged.self) {
      $0.on("ping") { (self: Pinged) in self.pings += 1 }
    }
    static let otherTable = FunctionTable(for: Pinged.self) {
      $0.on("ping") { (self: Pinged) in self.pings += 100 }
    }

    class var functionTable: FunctionTable { table }

    var pings = 0
  }

  private final class Inheriting: Pinged, @unchecked Sendable {}

  private final class Overriding: Pinged, @unchecked Sendable {
    static let ownTable = FunctionTable(for: Overriding.self) {
      $0.on("ping") { (self: Overriding) in self.pings += 10 }
    }
    override class var functionTable: FunctionTable { ownTable }
  }

  /// Its table is for the superclass, and differs from that of the superclass.
  private final class Disguised: Pinged, @unchecked Sendable {
    override class var functionTable: FunctionTable { otherTable }
  }

  private func proxy(
    _ duplicates: DynamicProxy.Configuration.Duplicates = .once
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.duplicates = duplicates
    return try DynamicProxy(
      adopting: ProtocolTable("Ping") { $0.optional("ping", "v@:") }, configuration: configuration)
  }

  @Test func `a class is asked once, until its last object leaves`() throws {
    final class Own: DynamicProxy.Subscriber, @unchecked Sendable {
      static let timesAsked = Lock(0)
      static let table = FunctionTable(for: Own.self) {
        $0.on("ping") { (self: Own) in self.pings += 1 }
      }
      static var functionTable: FunctionTable {
        timesAsked.withLock { $0 += 1 }
        return table
      }
      var pings = 0
    }
    let proxy = try proxy()
    let subscribers = (0..<40).map { _ in Own() }
    for round in 1...3 {
      let subscriptions = try subscribers.map { try proxy.subscribe($0) }
      #expect(Own.timesAsked.withLock { $0 } == round)
      try proxy.send("ping")
      #expect(subscribers.allSatisfy { $0.pings == round })
      #expect(proxy.count == 40)
      #expect(subscriptions.allSatisfy { $0.cancel() })
      #expect(subscriptions.allSatisfy { !$0.cancel() })
      #expect(proxy.count == 0)
    }
  }

  @Test func `each object has the table of its own class`() throws {
    let orders: [[Int]] = [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]]
    for order in orders {
      let proxy = try proxy()
      // Two of each, since the second one finds what the first one has.
      let subscribers: [Pinged] = [
        Pinged(), Inheriting(), Overriding(), Disguised(),
        Pinged(), Inheriting(), Overriding(), Disguised(),
      ]
      for index in order + order.map({ $0 + 4 }) { try proxy.subscribe(subscribers[index]) }
      try proxy.send("ping")
      #expect(subscribers.map(\.pings) == [1, 1, 10, 100, 1, 1, 10, 100])
      #expect(proxy.count == 8)
    }
  }

  @Test func `a class's table that is passed makes the same subscriber`() throws {
    let (proxy, first, second) = (try proxy(), Pinged(), Pinged())
    let subscription = try proxy.subscribe(first)
    #expect(try proxy.subscribe(first, table: Pinged.table) == subscription)
    let passed = try proxy.subscribe(second, table: Pinged.table)
    #expect(try proxy.subscribe(second) == passed)
    #expect(try proxy.subscribe(second) == passed)
    try proxy.send("ping")
    #expect(first.pings == 1 && second.pings == 1 && proxy.count == 2)
  }

  @Test func `another table for a class is not the class's table`() throws {
    let (proxy, first, second) = (try proxy(), Pinged(), Pinged())
    try proxy.subscribe(first, table: Pinged.otherTable)
    try proxy.subscribe(second)
    try proxy.subscribe(first)
    try proxy.send("ping")
    #expect(first.pings == 101 && second.pings == 1 && proxy.count == 3)
  }

  @Test func `an object that subscribes again is refused or added, as configured`() throws {
    let (refusing, allowing) = (try proxy(.fail), try proxy(.allow))
    let (first, subscriber) = (Pinged(), Pinged())
    for proxy in [refusing, allowing] {
      try proxy.subscribe(first)
      try proxy.subscribe(subscriber)
    }
    let error = try #require(throws: ForwardingError.self) { try refusing.subscribe(subscriber) }
    #expect(error.code == .duplicate)
    try allowing.subscribe(subscriber)
    try allowing.send("ping")
    #expect(first.pings == 1 && subscriber.pings == 2)
    #expect(refusing.count == 2 && allowing.count == 3)
  }

  @Test func `a list finds the tables of four classes, and others are found elsewhere`() throws {
    let proxy = try proxy()
    // Tables of one class take the places that a list has.
    let tables = (0..<5).map { index in
      FunctionTable(for: Pinged.self) {
        $0.on("ping") { (self: Pinged) in self.pings += 1000 * (index + 1) }
      }
    }
    let passed = tables.map { _ in Pinged() }
    for (subscriber, table) in zip(passed, tables) { try proxy.subscribe(subscriber, table: table) }
    let subscribers = (0..<3).map { _ in Pinged() }
    for subscriber in subscribers + subscribers {
      try proxy.subscribe(subscriber, lifetime: .strong)
    }
    try proxy.send("ping")
    #expect(passed.map(\.pings) == [1000, 2000, 3000, 4000, 5000])
    #expect(subscribers.map(\.pings) == [1, 1, 1] && proxy.count == 8)
  }

  @Test func `limits and positions hold beside the class's table`() throws {
    let proxy = try proxy()
    let subscribers = (0..<3).map { _ in Pinged() }
    try proxy.subscribe(subscribers[0])
    let limited = try proxy.subscribe(subscribers[1], times: 1)
    try proxy.subscribe(subscribers[2], at: .first, lifetime: .strong)
    #expect(proxy.liveSubscribers.first as? Pinged === subscribers[2])
    for _ in 0..<2 { try proxy.send("ping") }
    #expect(subscribers.map(\.pings) == [2, 1, 2])
    #expect(!limited.isLive && proxy.count == 2)
  }
}
