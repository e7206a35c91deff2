// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingPresets
import Testing

@testable import Forwarding

/// What MSProxyListener does, by number, under its preset; where that is a
/// defect, what is done instead.
@Suite struct ProxyListenerTests {
  let journal = Journal()

  private static let parent = ProtocolTable.table("Parent") { $0.required("ping:", "v@:i") }
  private static let playing = ProtocolTable.table("Playing", inheriting: [parent]) {
    $0.optional("score:", "i@:i")
    $0.required("setTitle:", "v@:@")
    $0.required("title", "@@:")
    $0.optional("finish", "v@:")
  }
  private static let derived = ProtocolTable.table("Derived", inheriting: [playing]) {
    $0.required("rewind", "v@:")
  }

  private func proxy(
    _ protocols: ProtocolTable..., configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration(.proxyListener)
    configure(&configuration)
    return try DynamicProxy(
      adopting: protocols.isEmpty ? [Self.playing] : protocols, configuration: configuration)
  }

  @Test("1.3.1 exactly one protocol, or it is an error that names what was given")
  func oneProtocol() throws {
    #expect(try proxy().protocols.map(\.name) == ["Playing"])
    let configuration = DynamicProxy.Configuration(.proxyListener)
    let none = #expect(throws: ForwardingError.self) {
      try DynamicProxy(adopting: [], configuration: configuration)
    }
    #expect(none?.code == .wrongProtocolCount)
    let two = #expect(throws: ForwardingError.self) {
      try DynamicProxy(adopting: .pinging, Self.playing, configuration: configuration)
    }
    #expect(two?.code == .wrongProtocolCount)
    #expect(
      two?.description == """
        the proxy adopts 2 protocols ("Pinging", "Playing"), but its configuration asks for \
        exactly one
        """)
  }

  @Test("1.3.2 strangers to the protocol, those who are in and the proxy itself are ignored")
  func refusals() throws {
    let proxy = try proxy()
    // A Listener has no title.
    let misfit = Listener("m", journal)
    let refused = try proxy.subscribe(misfit)
    #expect(!refused.isLive && !refused.cancel())
    #expect(!proxy.contains(misfit) && proxy.count == 0)
    let itself = try proxy.subscribe(proxy)
    #expect(!itself.isLive && proxy.count == 0)
    let player = Player("a", journal)
    let first = try proxy.subscribe(player)
    #expect(first.isLive)
    let again = try proxy.subscribe(player)
    #expect(again == first && proxy.count == 1)
    try proxy.ping()
    #expect(journal.take() == ["a1"])
    // Closures, too: their token is not live.
    let token = try proxy.subscribe { $0.on("ping:") { (_: Int32) in } }
    #expect(!token.isLive && !token.cancel())
    // Longer circles.
    let inner = try self.proxy()
    #expect(try proxy.subscribe(inner).isLive)
    #expect(try !inner.subscribe(proxy).isLive)
    #expect(inner.count == 0)
  }

  @Test("1.3.2 a duplicate may be refused silently, and mistakes in types are errors all the same")
  func otherRefusals() throws {
    let proxy = try proxy { $0.duplicates = .fail }
    let player = Player("a", journal)
    let first = try proxy.subscribe(player)
    let second = try proxy.subscribe(player)
    #expect(first.isLive && !second.isLive && first != second)
    let other = ProtocolTable.table("Other") { $0.required("ping:", "d@:d") }
    let mistyped = #expect(throws: ForwardingError.self) {
      try self.proxy(other).subscribe(player)
    }
    #expect(mistyped?.code == .signatureMismatch)
    let place = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(Player("b", journal), at: .index(7))
    }
    #expect(place?.code == .indexOutOfRange)
  }

  @Test("1.3.2 equal objects are two listeners: who is in is decided by identity")
  func equality() throws {
    let proxy = try proxy()
    let (a, b) = (Player("a", journal), Player("b", journal))
    #expect(a == b && a.hashValue == b.hashValue)
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    #expect(proxy.count == 2)
    proxy.unsubscribe(a)
    #expect(proxy.contains(b) && !proxy.contains(a))
  }

  @Test("1.3.3 contains, count of the living, removing all; removing a stranger does nothing")
  func container() throws {
    let proxy = try proxy()
    let a = Player("a", journal)
    var b: Player? = Player("b", journal)
    try proxy.subscribe(a)
    try proxy.subscribe(try #require(b))
    #expect(proxy.contains(a) && proxy.count == 2)
    #expect(!proxy.unsubscribe(Listener("m", journal)))
    #expect(!proxy.unsubscribe(Player("c", journal)))
    #expect(proxy.count == 2)
    b = nil
    #expect(proxy.count == 1)
    #expect(proxy.unsubscribe(a) && proxy.count == 0 && !proxy.contains(a))
    try proxy.subscribe(a)
    proxy.unsubscribeAll()
    #expect(proxy.count == 0 && !proxy.contains(a))
  }

  @Test("1.3.4 who implements a derived protocol is a listener of its parent")
  func derivedListeners() throws {
    let rewinding = RewindingPlayer("r", journal)
    #expect(throws: Never.self) {
      try RewindingPlayer.functionTable.validate(for: Self.derived)
    }
    for table in [Self.derived, Self.playing, Self.parent] {
      let proxy = try proxy(table)
      #expect(try proxy.subscribe(rewinding).isLive)
      try proxy.ping()
      #expect(journal.take() == ["r1"])
    }
    // The other way round something is missing.
    #expect(try !proxy(Self.derived).subscribe(Player("a", journal)).isLive)
  }

  @Test("1.3.5 the order is that of subscription, where it was undefined")
  func order() throws {
    let proxy = try proxy()
    let players = (0..<20).map { Player("\($0) ", journal) }
    defer { withExtendedLifetime(players) {} }
    for player in players { try proxy.subscribe(player) }
    try proxy.ping()
    #expect(journal.take() == (0..<20).map { "\($0) 1" })
  }

  @Test("1.3.6 all are called for a result too, and the last one's counts: by the list's order")
  func results() throws {
    let proxy = try proxy()
    let (a, b) = (Player("a", journal, score: 5), Player("b", journal, score: 7))
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    #expect(try proxy.send("score:", Int32(1)) == Int32(7))
    #expect(journal.take() == ["a1", "b1"])
    try proxy.subscribe(a, at: .last)
    try proxy.subscribe(b, at: .first)
    #expect(try proxy.send("score:", Int32(1)) == Int32(5))
    #expect(journal.take() == ["b1", "a1"])
    // A method may have a policy of its own, in the protocol or the configuration.
    let first = try self.proxy { $0.results["score:"] = .first }
    try first.subscribe(a)
    try first.subscribe(b)
    #expect(try first.send("score:", Int32(1)) == Int32(5))
    #expect(journal.take() == ["a1"])
    let summing = ProtocolTable.table("Summing") {
      $0.optional("score:", "i@:i", result: .reduce(Int32(0)) { $0 + $1 })
    }
    let sum = try self.proxy(summing)
    try sum.subscribe(a)
    try sum.subscribe(b)
    #expect(try sum.send("score:", Int32(1)) == Int32(12))
  }

  @Test("1.3.7 unknown selectors and calls that nobody answers are swallowed, and give zero")
  func swallowing() throws {
    let proxy = try proxy()
    try proxy.ping()
    try proxy.send("unheard of", Int32(1), 2.5)
    #expect(try proxy.send("score:", Int32(1)) == Int32(0))
    let title: Title? = try proxy.send("title")
    #expect(title == nil)
    #expect(try proxy.send("unheard of") == UInt64(0))
    #expect(try proxy.send("unheard:", 1) == false)
    // A listener that has died answers no more.
    var a: Player? = Player("a", journal, score: 5)
    try proxy.subscribe(try #require(a))
    #expect(try proxy.send("score:", Int32(1)) == Int32(5))
    a = nil
    #expect(try proxy.send("score:", Int32(1)) == Int32(0))
    #expect(journal.take() == ["a1"])
  }

  @Test("1.3.8 it responds to what the protocol declares, whoever listens")
  func responds() throws {
    let proxy = try proxy()
    for _ in 0...1 {
      for selector in ["ping:", "score:", "title", "setTitle:", "finish"] {
        #expect(try proxy.responds(to: MethodSelector(validating: selector)))
      }
      #expect(!proxy.responds(to: "rewind") && !proxy.responds(to: "unheard of"))
      try proxy.subscribe(RewindingPlayer("r", journal), lifetime: .strong)
    }
  }

  @Test("1.3.9 it conforms to the protocol and its parents, not to what derives from it")
  func conforms() throws {
    let proxy = try proxy()
    #expect(proxy.conforms(to: Self.playing) && proxy.conforms(to: Self.parent))
    try proxy.subscribe(RewindingPlayer("r", journal), lifetime: .strong)
    #expect(!proxy.conforms(to: Self.derived) && !proxy.conforms(to: .pinging))
  }

  @Test("1.3.10 getters and setters of properties are forwarded like other methods")
  func properties() throws {
    let proxy = try proxy()
    let (a, b) = (Player("a", journal), Player("b", journal))
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    let title = Title("overture")
    try proxy.send("setTitle:", title)
    #expect(a.title.value === title && b.title.value === title)
    b.title.value = Title("finale")
    let read: Title = try proxy.send("title")
    #expect(read.text == "finale")
  }

  @Test("1.3.11 listeners may come and go in the middle of a call, on any thread")
  func changes() throws {
    let proxy = try proxy()
    let (b, late) = (Player("b", journal), Player("l", journal))
    let a = Player("a", journal)
    a.action.value = { player in
      player.action.value = nil
      #expect(throws: Never.self) { try proxy.subscribe(late) }
      #expect(proxy.unsubscribe(b))
      proxy.unsubscribe(player)
    }
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    try proxy.ping(1)
    #expect(journal.take() == ["a1"])
    try proxy.ping(2)
    #expect(journal.take() == ["l2"])
    onThreads(4) { number in
      for _ in 0..<300 {
        if number < 2 {
          _ = try? proxy.subscribe(number == 0 ? a : b)
          proxy.unsubscribe(number == 0 ? a : b)
        } else {
          try? proxy.ping(3)
        }
      }
    }
    #expect(journal.take().count { $0 == "l3" } == 600)
    #expect(proxy.count == 1)
  }

  @Test("1.3.12 the description names the protocol and the listeners")
  func description() throws {
    let proxy = try proxy()
    #expect(String(reflecting: proxy) == "DynamicProxy<Playing> of 0: ")
    let (a, r) = (Player("a", journal), RewindingPlayer("r", journal))
    try proxy.subscribe(a)
    try proxy.subscribe(r)
    #expect(String(reflecting: proxy) == "DynamicProxy<Playing> of 2: Player, RewindingPlayer")
  }
}

private final class Title: Sendable {
  let text: String
  init(_ text: String) { self.text = text }
}

/// Has all that a player must have; all players are equal.
private final class Player: DynamicProxy.Subscriber, Hashable {
  let name: String
  let journal: Journal
  let score: Int32
  let title = Box(Title("untitled"))
  let action = Box<(@Sendable (Player) -> Void)?>(nil)

  init(_ name: String, _ journal: Journal, score: Int32 = 0) {
    self.name = name
    self.journal = journal
    self.score = score
  }

  static func == (left: Player, right: Player) -> Bool { true }
  func hash(into hasher: inout Hasher) {}

  static let functionTable = FunctionTable(for: Player.self) {
    $0.on("ping:") { (self: Player, number: Int32) in
      self.journal.note("\(self.name)\(number)")
      self.action.value?(self)
    }
    $0.on("score:") { (self: Player, number: Int32) -> Int32 in
      self.journal.note("\(self.name)\(number)")
      return self.score
    }
    $0.on("setTitle:") { (self: Player, title: Title) in self.title.value = title }
    $0.on("title") { (self: Player) -> Title in self.title.value }
  }
}

private final class RewindingPlayer: DynamicProxy.Subscriber {
  let name: String
  let journal: Journal

  init(_ name: String, _ journal: Journal) {
    self.name = name
    self.journal = journal
  }

  static let functionTable = FunctionTable(for: RewindingPlayer.self) {
    $0.on("ping:") { (self: RewindingPlayer, number: Int32) in
      self.journal.note("\(self.name)\(number)")
    }
    $0.on("setTitle:") { (_: RewindingPlayer, _: Title) in }
    $0.on("title") { (_: RewindingPlayer) -> Title in Title("rewound") }
    $0.on("rewind") { (_: RewindingPlayer) in }
  }
}
