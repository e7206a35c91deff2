// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The CPU time of the calling thread, in seconds.
private func threadSeconds() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// What positions, removals and deaths cost when there are many subscribers.
/// Each test compares two numbers of subscribers on the same machine and build.
@Suite struct DynamicProxyManyTests {
  let journal = Journal()

  private final class Member: Sendable {}

  private let table = FunctionTable(for: Member.self) {
    $0.on("ping:") { (_: Member, _: Int32) in }
  }

  private let scoring = FunctionTable(for: Member.self) {
    $0.on("ping:") { (_: Member, _: Int32) in }
    $0.on("score:") { (_: Member, value: Int32) -> Int32 in value }
  }

  /// Expects that the CPU time for each member hardly grows with their number.
  /// `seconds` gives the time for a number of members. If the work on all other
  /// members dominated, it would grow 16-fold. How much of the list an insertion
  /// copies, the C target's tests check more strictly.
  ///
  /// Compares one run of 32,000 members with 16 runs of 2,000, so that other processes
  /// disturb both measurements for about as long. They may still disturb one more than
  /// the other, so one comparison of up to ten must be good.
  private func expectSteadyCost(
    sourceLocation: SourceLocation = #_sourceLocation, _ seconds: (Int) throws -> Double
  ) rethrows {
    let (few, many, limit) = (2_000, 32_000, 6.0)
    var comparisons: [String] = []
    for _ in 0..<10 {
      let manyTime = try seconds(many)
      let fewTime = try (0..<many / few).reduce(0) { sum, _ in sum + (try seconds(few)) }
      if manyTime < limit * fewTime { return }
      let (each, eachOfFew) = (manyTime / Double(many) * 1e9, fewTime / Double(many) * 1e9)
      comparisons.append("\(Int(each)) ns each of \(many), \(Int(eachOfFew)) of \(few)")
    }
    Issue.record("\(comparisons.joined(separator: "; "))", sourceLocation: sourceLocation)
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

  @Test func `subscribing first costs as much for many as for few`() throws {
    try expectSteadyCost { count in
      let (seconds, order) = try subscribe(count) { _, _ in .first }
      #expect(order == (0..<count).reversed())
      return seconds
    }
  }

  @Test func `subscribing with rising priorities costs as much for many as for few`() throws {
    try expectSteadyCost { count in
      let (seconds, order) = try subscribe(count) { index, _ in .priority(index) }
      #expect(order == (0..<count).reversed())
      return seconds
    }
  }

  @Test func `subscribing behind a low priority costs as much for many as for few`() throws {
    try expectSteadyCost { count in
      let (seconds, order) = try subscribe(count) { index, _ in index == 0 ? .priority(-1) : .last }
      #expect(order == Array(1..<count) + [0])
      return seconds
    }
  }

  @Test func `subscribing beside another subscription costs as much for many as for few`() throws {
    var random = SystemRandomNumberGenerator()
    try expectSteadyCost { count in
      var anchors: [Int] = []
      let (seconds, order) = try subscribe(count) { index, subscriptions in
        if index == 0 { return .last }
        let anchor = Int.random(in: 0..<index, using: &random)
        anchors.append(anchor)
        return .before(subscriptions[anchor])
      }
      #expect(order == orderBefore(anchors))
      return seconds
    }
  }

  /// The order of members of which each but the first was inserted before an
  /// earlier one. It is that of a tree walk: each member comes before its anchor,
  /// behind the earlier ones of the anchor.
  private func orderBefore(_ anchors: [Int]) -> [Int] {
    var children: [[Int]] = Array(repeating: [], count: anchors.count + 1)
    for (index, anchor) in anchors.enumerated() { children[anchor].append(index + 1) }
    var order: [Int] = []
    var stack: [(member: Int, next: Int)] = [(0, 0)]
    while let (member, next) = stack.last {
      if next < children[member].count {
        stack[stack.count - 1].next += 1
        stack.append((children[member][next], 0))
      } else {
        order.append(member)
        stack.removeLast()
      }
    }
    return order
  }

  @Test func `removing the first of many costs as much as of few`() throws {
    try expectSteadyCost { count in
      let proxy = try DynamicProxy.pinging()
      let members = (0..<count).map { _ in Member() }
      var subscriptions: [DynamicProxy.Subscription] = []
      for member in members { subscriptions.append(try proxy.subscribe(member, table: scoring)) }
      let start = threadSeconds()
      for subscription in subscriptions.dropLast() {
        #expect(subscription.cancel())
        let score: Int32 = try proxy.send("score:", Int32(7))
        #expect(score == 7)
      }
      let seconds = threadSeconds() - start
      #expect(proxy.count == 1)
      withExtendedLifetime(members) {}
      return seconds
    }
  }

  @Test func `the death of the first of many costs as much as of few`() throws {
    try expectSteadyCost { count in
      let proxy = try DynamicProxy.pinging()
      var members: [Member?] = (0..<count).map { _ in Member() }
      for member in members { try proxy.subscribe(member!, table: scoring) }
      let start = threadSeconds()
      for index in members.indices.dropLast() {
        members[index] = nil
        let score: Int32 = try proxy.send("score:", Int32(7))
        #expect(score == 7)
      }
      let seconds = threadSeconds() - start
      #expect(proxy.count == 1)
      return seconds
    }
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

  @Test func `subscribing to a long list releases what closures of the dead captured`() throws {
    let population = Population()
    let proxy = try DynamicProxy.pinging()
    var bystanders = (0..<64).map { _ in Bystander() }
    for bystander in bystanders {
      let captured = population.make()
      try proxy.subscribe(bystander) {
        $0.on("ping:") { (_: Bystander, _: Int32) in withExtendedLifetime(captured) {} }
      }
    }
    bystanders = []
    #expect(population.living == 64)
    let members = (0..<64).map { _ in Member() }
    for member in members { try proxy.subscribe(member, table: scoring) }
    #expect(population.living == 0 && proxy.count == 64)
  }

  @Test func `cancelling gives records back, from the middle too`() throws {
    let proxy = try DynamicProxy.pinging()
    let members = (0..<64).map { _ in Member() }
    let subscriptions = try members.map { try proxy.subscribe($0, table: scoring) }
    for subscription in subscriptions[12..<52] { #expect(subscription.cancel()) }
    #expect(proxy.subscribers.places < 64)
    #expect(proxy.count == 24)
  }
}
