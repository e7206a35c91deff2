// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// What positions, removals and deaths cost when there are many subscribers.
/// The limits of time are for a build without optimization on a busy machine;
/// an algorithm that looks at all subscribers each time takes many times as
/// long.
@Suite struct DynamicProxyManyTests {
  let journal = Journal()

  private final class Member: Sendable {}

  private let table = FunctionTable(for: Member.self) {
    $0.on("ping:") { (_: Member, _: Int32) in }
  }

  /// Subscribes many objects at the positions that `position` gives. Gives the
  /// seconds that it took, and the order.
  private func subscribe(
    _ count: Int, _ position: (Int, [DynamicProxy.Subscription]) -> DynamicProxy.Position
  ) throws -> (seconds: Double, order: [Int]) {
    let proxy = try DynamicProxy.pinging()
    let members = (0..<count).map { _ in Member() }
    var subscriptions: [DynamicProxy.Subscription] = []
    let start = threadSeconds()
    for (index, member) in members.enumerated() {
      subscriptions.append(
        try proxy.subscribe(member, table: table, at: position(index, subscriptions)))
    }
    let seconds = threadSeconds() - start
    let indices = Dictionary(
      uniqueKeysWithValues: members.enumerated().map { (ObjectIdentifier($0.element), $0.offset) })
    return (seconds, proxy.liveSubscribers.compactMap { indices[ObjectIdentifier($0)] })
  }

  @Test func `subscribing first, with rising priorities and behind a low one does not copy all`()
    throws
  {
    let count = 40_000
    let descending = Array((0..<count).reversed())
    let first = try subscribe(count) { _, _ in .first }
    #expect(first.order == descending)
    #expect(first.seconds < 4, "first: \(first.seconds) s")
    let rising = try subscribe(count) { index, _ in .priority(index) }
    #expect(rising.order == descending)
    #expect(rising.seconds < 4, "rising priorities: \(rising.seconds) s")
    let last = try subscribe(count) { index, _ in index == 0 ? .priority(-1) : .last }
    #expect(last.order == Array(1..<count) + [0])
    #expect(last.seconds < 4, "last: \(last.seconds) s")
  }

  @Test func `subscribing beside another subscription does not look at all`() throws {
    let count = 40_000
    var random = SystemRandomNumberGenerator()
    var anchors: [Int] = []
    let beside = try subscribe(count) { index, subscriptions in
      if index == 0 { return .last }
      let anchor = Int.random(in: 0..<index, using: &random)
      anchors.append(anchor)
      return .before(subscriptions[anchor])
    }
    #expect(beside.seconds < 4, "before: \(beside.seconds) s")
    // The order of insertion before an anchor is that of a tree walk: each
    // member comes before its anchor, behind the earlier ones of the anchor.
    var children: [[Int]] = Array(repeating: [], count: count)
    for (index, anchor) in anchors.enumerated() { children[anchor].append(index + 1) }
    var expected: [Int] = []
    var stack: [(member: Int, next: Int)] = [(0, 0)]
    while let (member, next) = stack.last {
      if next < children[member].count {
        stack[stack.count - 1].next += 1
        stack.append((children[member][next], 0))
      } else {
        expected.append(member)
        stack.removeLast()
      }
    }
    #expect(beside.order == expected)
  }

  @Test func `forwarding to the first responder after each removal does not copy all`() throws {
    let proxy = try DynamicProxy.pinging()
    let members = (0..<40_000).map { _ in Member() }
    let scoring = FunctionTable(for: Member.self) {
      $0.on("ping:") { (_: Member, _: Int32) in }
      $0.on("score:") { (_: Member, value: Int32) -> Int32 in value }
    }
    var subscriptions: [DynamicProxy.Subscription] = []
    for member in members { subscriptions.append(try proxy.subscribe(member, table: scoring)) }
    let start = threadSeconds()
    for subscription in subscriptions.dropLast() {
      #expect(subscription.cancel())
      let score: Int32 = try proxy.send("score:", Int32(7))
      #expect(score == 7)
    }
    let seconds = threadSeconds() - start
    #expect(seconds < 6, "removing the first: \(seconds) s")
    #expect(proxy.count == 1)
    withExtendedLifetime(members) {}
  }

  @Test func `a death before each delivery to the first responder does not copy all`() throws {
    let proxy = try DynamicProxy.pinging()
    var members: [Member?] = (0..<20_000).map { _ in Member() }
    let scoring = FunctionTable(for: Member.self) {
      $0.on("ping:") { (_: Member, _: Int32) in }
      $0.on("score:") { (_: Member, value: Int32) -> Int32 in value }
    }
    for member in members { try proxy.subscribe(member!, table: scoring) }
    let start = threadSeconds()
    for index in members.indices.dropLast() {
      members[index] = nil
      let score: Int32 = try proxy.send("score:", Int32(7))
      #expect(score == 7)
    }
    let seconds = threadSeconds() - start
    #expect(seconds < 4, "deaths of the first: \(seconds) s")
    #expect(proxy.count == 1)
  }

  // MARK: Captures of the dead

  private func subscribeDead(_ proxy: DynamicProxy, _ population: Population) throws {
    let captured = population.make()
    try proxy.subscribe(Bystander()) {
      $0.on("ping:") { (_: Bystander, _: Int32) in withExtendedLifetime(captured) {} }
    }
  }

  @Test func `counting, enumerating and asking release what closures of the dead captured`() throws
  {
    let queries: [(DynamicProxy) -> Void] = [
      { #expect($0.count == 0) },
      { #expect($0.liveSubscribers.isEmpty) },
      { #expect(!$0.responds(to: "ping:")) },
    ]
    for query in queries {
      let population = Population()
      let proxy = try DynamicProxy.pinging()
      for _ in 0..<3 { try subscribeDead(proxy, population) }
      #expect(population.living > 0)
      query(proxy)
      #expect(population.living == 0)
    }
  }

  @Test func `subscribing releases what closures of the dead captured`() throws {
    let population = Population()
    let proxy = try DynamicProxy.pinging()
    try subscribeDead(proxy, population)
    #expect(population.living == 1)
    let keeper = Listener("a", journal)
    for _ in 0..<2 { try proxy.subscribe(keeper, table: Listener.functionTable).cancel() }
    #expect(population.living == 0)
  }
}
