// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DynamicProxyOrderingTests {
  let journal = Journal()

  private func listeners(_ names: String) -> [Listener] {
    names.map { Listener(String($0), journal) }
  }

  /// The names in order of delivery.
  private func order(_ proxy: DynamicProxy) throws -> String {
    try proxy.send("ping:", Int32(0))
    return journal.take().map { String($0.dropLast()) }.joined()
  }

  // MARK: Positions

  @Test func `places at the front, at the end, and at an index`() throws {
    let proxy = try DynamicProxy.pinging()
    let l = listeners("abcde")
    defer { withExtendedLifetime(l) {} }
    try proxy.subscribe(l[0])
    try proxy.subscribe(l[1], at: .last)
    #expect(try order(proxy) == "ab")
    try proxy.subscribe(l[2], at: .first)
    #expect(try order(proxy) == "cab")
    try proxy.subscribe(l[3], at: .index(1))
    #expect(try order(proxy) == "cdab")
    // The number of subscribers is the end.
    try proxy.subscribe(l[4], at: .index(4))
    #expect(try order(proxy) == "cdabe")
  }

  @Test func `places beside another subscription or object`() throws {
    let proxy = try DynamicProxy.pinging()
    let l = listeners("abcdef")
    defer { withExtendedLifetime(l) {} }
    let a = try proxy.subscribe(l[0])
    try proxy.subscribe(l[1])
    try proxy.subscribe(l[2], at: .before(a))
    #expect(try order(proxy) == "cab")
    try proxy.subscribe(l[3], at: .after(a))
    #expect(try order(proxy) == "cadb")
    try proxy.subscribe(l[4], at: .before(l[1]))
    #expect(try order(proxy) == "cadeb")
    try proxy.subscribe(l[5], at: .after(l[1]))
    #expect(try order(proxy) == "cadebf")
  }

  @Test func `beside an object with several subscriptions means beside the first of them`() throws {
    let proxy = try DynamicProxy.pinging { $0.duplicates = .allow }
    let l = listeners("abcd")
    defer { withExtendedLifetime(l) {} }
    try proxy.subscribe(l[0])
    try proxy.subscribe(l[1])
    try proxy.subscribe(l[0])
    try proxy.subscribe(l[2], at: .after(l[0]))
    #expect(try order(proxy) == "acba")
    try proxy.subscribe(l[3], at: .before(l[0]))
    #expect(try order(proxy) == "dacba")
  }

  @Test func `tokens and closures take positions too`() throws {
    let proxy = try DynamicProxy.pinging()
    let (l, journal) = (listeners("ab"), journal)
    defer { withExtendedLifetime(l) {} }
    let a = try proxy.subscribe(l[0])
    let token = try proxy.subscribe(at: .before(a)) {
      $0.on("ping:") { (_: Int32) in journal.note("t0") }
    }
    try proxy.subscribe(l[1], at: .first) {
      $0.on("ping:") { (_: Listener, _: Int32) in journal.note("o0") }
    }
    #expect(try order(proxy) == "ota")
    let subscription = try #require(token.subscription)
    try proxy.subscribe(l[1], at: .after(subscription))
    #expect(try order(proxy) == "otba")
  }

  // MARK: Faults

  @Test("refuses an index that is none", arguments: [-1, 3, Int.max, Int.min])
  func index(index: Int) throws {
    let proxy = try DynamicProxy.pinging()
    let l = listeners("abc")
    defer { withExtendedLifetime(l) {} }
    try proxy.subscribe(l[0])
    try proxy.subscribe(l[1])
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(l[2], at: .index(index))
    }
    #expect(error?.code == .indexOutOfRange)
    #expect(
      error?.description
        == "there is no position \(index): expected 0 to 2, the number of subscribers")
    #expect(try order(proxy) == "ab")
    // A duplicate is refused alike, and stays where it is.
    let moved = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(l[0], at: .index(index))
    }
    #expect(moved?.code == .indexOutOfRange)
    #expect(try order(proxy) == "ab")
  }

  @Test func `refuses anchors that are not subscribed`() throws {
    let (proxy, other) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    let l = listeners("abcd")
    defer { withExtendedLifetime(l) {} }
    try proxy.subscribe(l[0])
    let ended = try proxy.subscribe(l[1])
    ended.cancel()
    let foreign = try other.subscribe(l[2])
    let positions: [DynamicProxy.Position] = [
      .before(ended), .after(ended), .before(foreign), .after(foreign), .before(l[2]), .after(l[2]),
      .before(l[1]), .after(l[3]),
    ]
    for position in positions {
      // As a newcomer, and as one that would be moved.
      for listener in [l[3], l[0]] {
        let error = #expect(throws: ForwardingError.self) {
          try proxy.subscribe(listener, at: position)
        }
        #expect(error?.code == .notSubscribed)
        let anchor =
          switch position.anchor {
          case .subscription: "a subscription, has ended or is of another proxy"
          default: "an object of class Listener, is not subscribed"
          }
        #expect(error?.description == "the anchor of the position, \(anchor)")
      }
      #expect(try order(proxy) == "a")
      #expect(!proxy.contains(l[3]))
    }
  }

  @Test func `refuses anchors that have died, seen or not`() throws {
    let proxy = try DynamicProxy.pinging()
    let l = listeners("ab")
    defer { withExtendedLifetime(l) {} }
    try proxy.subscribe(l[0])
    let dead = try proxy.subscribe(Listener("x", journal))
    #expect(!dead.isLive)
    for _ in 0..<2 {
      for position in [.before(dead), .after(dead)] as [DynamicProxy.Position] {
        let error = #expect(throws: ForwardingError.self) {
          try proxy.subscribe(l[1], at: position)
        }
        #expect(error?.code == .notSubscribed)
      }
      #expect(try order(proxy) == "a")
    }
  }

  @Test func `indices do not count the dead`() throws {
    let proxy = try DynamicProxy.pinging()
    let l = listeners("abc")
    defer { withExtendedLifetime(l) {} }
    try proxy.subscribe(Listener("x", journal))
    try proxy.subscribe(l[0])
    try proxy.subscribe(Listener("y", journal))
    #expect(proxy.count == 1)
    #expect(throws: ForwardingError.self) { try proxy.subscribe(l[1], at: .index(2)) }
    try proxy.subscribe(l[1], at: .index(0))
    try proxy.subscribe(Listener("z", journal), at: .index(0))
    try proxy.subscribe(l[2], at: .index(1))
    #expect(try order(proxy) == "bca")
  }

  // MARK: Moving

  @Test func `a duplicate without a position stays where it is`() throws {
    let proxy = try DynamicProxy.pinging()
    let l = listeners("abc")
    defer { withExtendedLifetime(l) {} }
    for listener in l { try proxy.subscribe(listener) }
    try proxy.subscribe(l[0])
    try proxy.subscribe(l[0], at: .last)
    #expect(try order(proxy) == "abc")
  }

  struct Move: Sendable, CustomTestStringConvertible {
    let who: Character
    let place: Place
    let result: String
    enum Place: Sendable {
      case first
      case index(Int)
      case before(Character)
      case after(Character)
      case priority(Int)
    }
    init(_ who: Character, _ place: Place, _ result: String) {
      (self.who, self.place, self.result) = (who, place, result)
    }
    var testDescription: String { "\(who) \(place) \(result)" }
  }

  static let moves = [
    Move("a", .first, "abcd"), Move("c", .first, "cabd"), Move("d", .first, "dabc"),
    // An index names the one who has it now; behind the last is the end.
    Move("a", .index(0), "abcd"), Move("a", .index(1), "abcd"), Move("a", .index(2), "bacd"),
    Move("a", .index(3), "bcad"), Move("a", .index(4), "bcda"), Move("d", .index(0), "dabc"),
    Move("d", .index(2), "abdc"), Move("d", .index(3), "abcd"), Move("d", .index(4), "abcd"),
    Move("a", .before("c"), "bacd"), Move("a", .after("c"), "bcad"),
    Move("d", .before("a"), "dabc"),
    Move("d", .after("a"), "adbc"), Move("b", .after("d"), "acdb"),
    // Beside itself is where it is.
    Move("b", .before("b"), "abcd"), Move("b", .after("b"), "abcd"),
    // The end of a priority; all others have 0.
    Move("a", .priority(0), "bcda"), Move("c", .priority(1), "cabd"),
    Move("a", .priority(-1), "bcda"),
  ]

  @Test("a duplicate with a position is moved", arguments: moves, [false, true])
  func move(_ move: Move, whileForwarding: Bool) throws {
    let proxy = try DynamicProxy.pinging()
    let l = Dictionary(uniqueKeysWithValues: "abcd".map { ($0, Listener(String($0), journal)) })
    defer { withExtendedLifetime(l) {} }
    for name in "abcd" { try proxy.subscribe(l[name]!) }
    let before = proxy.liveSubscribers.count
    let position: DynamicProxy.Position =
      switch move.place {
      case .first: .first
      case .index(let index): .index(index)
      case .before(let name): .before(l[name]!)
      case .after(let name): .after(l[name]!)
      case .priority(let priority): .priority(priority)
      }
    let who = try #require(l[move.who])
    if whileForwarding {
      // The fan-out under way keeps its order, and misses nobody.
      l["b"]!.action.value = { listener in
        listener.action.value = nil
        #expect(throws: Never.self) { try proxy.subscribe(who, at: position) }
      }
      #expect(try order(proxy) == "abcd")
    } else {
      let first = try proxy.subscribe(who)
      #expect(try proxy.subscribe(who, at: position) == first)
      #expect(first.isLive)
    }
    #expect(try order(proxy) == move.result)
    #expect(proxy.liveSubscribers.count == before)
    #expect(proxy.unsubscribe(who))
    #expect(try order(proxy) == move.result.filter { $0 != move.who })
  }

  // MARK: Priorities

  @Test func `higher priorities come first, equal ones in order of subscription`() throws {
    let proxy = try DynamicProxy.pinging()
    let l = listeners("abcdefgh")
    defer { withExtendedLifetime(l) {} }
    for (listener, priority) in zip(l, [0, 5, -5, 5, 0, 10, -5, 7]) {
      try proxy.subscribe(listener, at: .priority(priority))
    }
    #expect(try order(proxy) == "fhbdaecg")
  }

  @Test func `subscribers without a priority have 0`() throws {
    let proxy = try DynamicProxy.pinging()
    let l = listeners("abcd")
    defer { withExtendedLifetime(l) {} }
    try proxy.subscribe(l[0], at: .priority(-1))
    try proxy.subscribe(l[1])
    try proxy.subscribe(l[2], at: .priority(1))
    try proxy.subscribe(l[3])
    #expect(try order(proxy) == "cbda")
  }

  @Test func `priorities stay in order as members come, go and move`() throws {
    var random = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0..<UInt64.max, using: &random)
    var generator = SplitMix(seed)
    let proxy = try DynamicProxy.pinging()
    let l = listeners("abcdefghijkl")
    defer { withExtendedLifetime(l) {} }
    // What a stable sort would give.
    var model: [(name: String, priority: Int)] = []
    for _ in 0..<500 {
      let listener = l.randomElement(using: &generator)!
      model.removeAll { $0.name == listener.name }
      if Int.random(in: 0..<3, using: &generator) == 0 {
        proxy.unsubscribe(listener)
      } else {
        let priority = Int.random(in: -2...2, using: &generator)
        try proxy.subscribe(listener, at: .priority(priority))
        let index = model.firstIndex { $0.priority < priority } ?? model.count
        model.insert((listener.name, priority), at: index)
      }
      #expect(try order(proxy) == model.map(\.name).joined(), "seed \(seed)")
    }
  }

  @Test func `extreme priorities are priorities`() throws {
    let proxy = try DynamicProxy.pinging()
    let l = listeners("abc")
    defer { withExtendedLifetime(l) {} }
    try proxy.subscribe(l[0], at: .priority(.min))
    try proxy.subscribe(l[1], at: .priority(.max))
    try proxy.subscribe(l[2])
    #expect(try order(proxy) == "bca")
  }
}

/// A generator that a printed seed repeats.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
