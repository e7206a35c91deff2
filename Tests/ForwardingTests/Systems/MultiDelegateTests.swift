// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import ForwardingPresets
import Testing

@testable import Forwarding

/// What ILABMultiDelegate does, by number, under its preset; where that is a
/// defect, what is done instead.
@Suite struct MultiDelegateTests {
  let journal = Journal()

  private static let both = ProtocolTable.table("Both") {
    $0.required("ping:", "v@:i")
    $0.required("pong:", "v@:i")
  }
  /// What `Listener` has no method of.
  private static let opening = ProtocolTable.table("Opening") { $0.required("open", "v@:") }

  private func proxy(
    _ protocols: ProtocolTable..., strict: Bool = true,
    _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration(.multiDelegate(strict: strict))
    configure(&configuration)
    return try DynamicProxy(
      adopting: protocols.isEmpty ? [.pinging] : protocols, configuration: configuration)
  }

  private func listeners(_ names: String...) -> [Listener] {
    names.map { Listener($0, journal) }
  }

  /// The names of the live subscribers in order.
  private func order(_ proxy: DynamicProxy) -> String {
    proxy.liveSubscribers.map { ($0 as? Listener)?.name ?? "?" }.joined()
  }

  // MARK: Making

  @Test("1.2.1 there must be a protocol, and it is an error if there is none")
  func protocols() throws {
    let error = #expect(throws: ForwardingError.self) { try DynamicProxy.multiDelegate() }
    #expect(error?.code == .wrongProtocolCount)
    #expect(
      error?.description
        == "the proxy adopts no protocol, but its configuration asks for at least one")
    let proxy = try DynamicProxy.multiDelegate(adopting: .pinging, Self.opening)
    #expect(proxy.protocols.map(\.name) == ["Pinging", "Opening"])
  }

  // MARK: Joining

  @Test("1.2.2 strict is the default, and refuses who lacks any of the protocols")
  func strict() throws {
    let proxy = try DynamicProxy.multiDelegate(adopting: .pinging, Self.opening)
    let all = listeners("a", "b")
    for position in [.last, .first, .index(0)] as [DynamicProxy.Position] {
      let error = #expect(throws: ForwardingError.self) {
        try proxy.subscribe(all[0], at: position)
      }
      #expect(error?.code == .missingMethod && error?.selector == "open")
    }
    #expect(proxy.count == 0)
    let one = try DynamicProxy.multiDelegate(adopting: .pinging)
    try one.subscribe(all[1])
    #expect(order(one) == "b")
  }

  @Test("1.2.3 a proxy that is not strict takes any object")
  func lenient() throws {
    let proxy = try DynamicProxy.multiDelegate(adopting: .pinging, Self.opening, strict: false)
    let (a, stranger) = (Listener("a", journal), Bystander())
    try proxy.subscribe(a)
    try proxy.subscribe(stranger) { _ in }
    #expect(proxy.count == 2 && proxy.contains(stranger))
    try proxy.ping()
    #expect(journal.take() == ["a1"])
  }

  @Test("1.2.4 who is in already is not entered again")
  func duplicates() throws {
    let proxy = try proxy()
    let all = listeners("a", "b")
    let first = try proxy.subscribe(all[0])
    try proxy.subscribe(all[1])
    #expect(try proxy.subscribe(all[0]) == first)
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1"])
  }

  // MARK: Places

  @Test("1.2.5 beside another one moves; before a stranger is the end, behind one the front")
  func anchors() throws {
    let proxy = try proxy()
    let all = listeners("a", "b", "c")
    for listener in all { try proxy.subscribe(listener) }
    try proxy.subscribe(all[2], at: .before(all[0]))
    #expect(order(proxy) == "cab")
    try proxy.subscribe(all[2], at: .after(all[0]))
    #expect(order(proxy) == "acb")
    // Strangers, and one who has left.
    let (stranger, gone) = (Listener("s", journal), Listener("g", journal))
    let left = try proxy.subscribe(gone)
    left.cancel()
    let new = listeners("d", "e", "f", "g")
    try proxy.subscribe(new[0], at: .before(stranger))
    #expect(order(proxy) == "acbd")
    try proxy.subscribe(new[1], at: .after(stranger))
    #expect(order(proxy) == "eacbd")
    try proxy.subscribe(new[2], at: .before(left))
    try proxy.subscribe(new[3], at: .after(left))
    #expect(order(proxy) == "geacbdf")
    // Who is in already moves there.
    try proxy.subscribe(all[0], at: .before(stranger))
    #expect(order(proxy) == "gecbdfa")
    try proxy.subscribe(all[0], at: .after(stranger))
    #expect(order(proxy) == "agecbdf")
    try proxy.ping()
    #expect(journal.take() == ["a1", "g1", "e1", "c1", "b1", "d1", "f1"])
  }

  @Test("1.2.5 without the preset a stranger is no anchor, and the error says so")
  func unknownAnchor() throws {
    let proxy = try DynamicProxy.pinging()
    let all = listeners("a", "b")
    for position in [.before(all[1]), .after(all[1])] as [DynamicProxy.Position] {
      let error = #expect(throws: ForwardingError.self) {
        try proxy.subscribe(all[0], at: position)
      }
      #expect(error?.code == .notSubscribed)
    }
    #expect(proxy.count == 0)
  }

  @Test("1.2.6 before itself is the end, behind itself the front; the dead are strangers")
  func ownAnchor() throws {
    let proxy = try proxy()
    let all = listeners("a", "b", "c")
    let subscriptions = try all.map { try proxy.subscribe($0) }
    #expect(try proxy.subscribe(all[1], at: .before(all[1])) == subscriptions[1])
    #expect(order(proxy) == "acb")
    #expect(try proxy.subscribe(all[1], at: .after(subscriptions[1])) == subscriptions[1])
    #expect(order(proxy) == "bac")
    // No place of one who has died is taken for that of another.
    var dead: Listener? = Listener("d", journal)
    let death = try proxy.subscribe(try #require(dead), at: .first)
    dead = nil
    try proxy.subscribe(all[2], at: .before(death))
    #expect(order(proxy) == "bac")
    try proxy.subscribe(all[2], at: .after(death))
    #expect(order(proxy) == "cba")
    // Without the preset it stays.
    let usual = try DynamicProxy.pinging()
    for listener in all { try usual.subscribe(listener) }
    try usual.subscribe(all[1], at: .before(all[1]))
    try usual.subscribe(all[1], at: .after(all[1]))
    #expect(order(usual) == "abc")
  }

  @Test("1.2.7 at an index: one who is in moves, and an index past the end is an error")
  func index() throws {
    let proxy = try proxy()
    let all = listeners("a", "b", "c")
    for listener in all { try proxy.subscribe(listener, at: .index(0)) }
    #expect(order(proxy) == "cba")
    try proxy.subscribe(all[2], at: .index(3))
    #expect(order(proxy) == "bac")
    try proxy.subscribe(all[2], at: .index(1))
    #expect(order(proxy) == "bca")
    for index in [-1, 4] {
      let error = #expect(throws: ForwardingError.self) {
        try proxy.subscribe(Listener("d", journal), at: .index(index))
      }
      #expect(error?.code == .indexOutOfRange)
    }
    #expect(order(proxy) == "bca")
  }

  // MARK: Leaving

  @Test("1.2.8 removing a stranger is silent, removing takes the dead out, and all can be removed")
  func removing() throws {
    let proxy = try proxy()
    let (a, stranger) = (Listener("a", journal), Listener("s", journal))
    #expect(!proxy.unsubscribe(stranger))
    try proxy.subscribe(a)
    let population = Population()
    do {
      let dying = Listener("d", journal)
      let tracked = population.make()
      dying.onDeath.value = { withExtendedLifetime(tracked) {} }
      try proxy.subscribe(dying)
    }
    #expect(population.living == 0 && proxy.count == 1)
    #expect(proxy.unsubscribe(a))
    #expect(!proxy.unsubscribe(a))
    #expect(proxy.count == 0)
    try proxy.subscribe(a)
    try proxy.subscribe(stranger)
    proxy.unsubscribeAll()
    #expect(proxy.count == 0)
    try proxy.ping()
    #expect(journal.take().isEmpty)
  }

  @Test("1.2.9 subscribers are not kept alive, are told apart by identity, and skipped when dead")
  func lifetimes() throws {
    let proxy = try proxy()
    let a = Listener("a", journal)
    var same: Listener? = Listener("a", journal)
    weak let observed = same
    try proxy.subscribe(try #require(same))
    try proxy.subscribe(a)
    #expect(proxy.count == 2)
    same = nil
    #expect(observed == nil && proxy.contains(a))
    try proxy.ping()
    #expect(journal.take() == ["a1"])
  }

  // MARK: Being called

  @Test("1.2.10 each call goes in the order of the list")
  func order() throws {
    let proxy = try proxy()
    let all = listeners("a", "b", "c")
    for listener in all.reversed() { try proxy.subscribe(listener) }
    for number in 1...3 as ClosedRange<Int32> {
      try proxy.ping(number)
      #expect(journal.take() == ["c\(number)", "b\(number)", "a\(number)"])
    }
  }

  @Test("1.2.11 void methods go to all; one with a result to the first responder alone")
  func results() throws {
    let proxy = try proxy(strict: false)
    let (a, b) = (Listener("a", journal, score: 5), Listener("b", journal, score: 7))
    let silent = Bystander()
    try proxy.subscribe(silent) { _ in }
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1"])
    #expect(try proxy.send("score:", Int32(1)) == Int32(5))
    #expect(journal.take() == ["a1"])
    // As the older release, and AIMultiDelegate, did.
    let older = try self.proxy { $0.standardResult = .last }
    try older.subscribe(a)
    try older.subscribe(b)
    #expect(try older.send("score:", Int32(1)) == Int32(7))
    #expect(journal.take() == ["a1", "b1"])
  }

  @Test("1.2.12 it responds to what some live subscriber implements, so that callers have defaults")
  func responds() throws {
    let proxy = try proxy()
    #expect(!proxy.responds(to: "ping:"))
    var a: Listener? = Listener("a", journal)
    try proxy.subscribe(try #require(a))
    #expect(proxy.responds(to: "ping:") && proxy.responds(to: "score:"))
    #expect(!proxy.responds(to: "finish"))
    #expect(!proxy.responds(to: "unknown"))
    a = nil
    #expect(!proxy.responds(to: "ping:"))
  }

  @Test("1.2.13 what a proxy conforms to is its own affair, not that of all proxies")
  func conforms() throws {
    let (pinging, opening) = (try proxy(), try proxy(Self.opening))
    #expect(pinging.conforms(to: .pinging) && !pinging.conforms(to: Self.opening))
    #expect(opening.conforms(to: Self.opening) && !opening.conforms(to: .pinging))
  }

  // MARK: Nobody there

  private static let shapes = ProtocolTable.table("Shapes") {
    $0.optional("void", "v@:")
    $0.optional("int", "i@:")
    $0.optional("object", "@@:")
    $0.optional("small", "{Small=dd}@:")
    $0.optional("large", "{Large=dddddd}@:")
  }

  /// Two registers, and in memory.
  private struct Small: TypeEncodable, Equatable {
    var x = 1.0, y = 1.0
    static let typeEncoding = "{Small=dd}"
  }
  private struct Large: TypeEncodable, Equatable {
    var a = 1.0, b = 1.0, c = 1.0, d = 1.0, e = 1.0, f = 1.0
    static let typeEncoding = "{Large=dddddd}"
  }

  @Test("1.2.14 an empty proxy swallows what it is sent, and its result is zero, of structs too")
  func empty() throws {
    let proxy = try proxy(Self.shapes)
    try proxy.send("void")
    try proxy.send("unheard of", Int32(1), 2.0)
    #expect(try proxy.send("int") == Int32(0))
    let object: Journal? = try proxy.send("object")
    #expect(object == nil)
    #expect(try proxy.send("small") == Small(x: 0, y: 0))
    #expect(try proxy.send("large") == Large(a: 0, b: 0, c: 0, d: 0, e: 0, f: 0))
    #expect(try proxy.send("unheard of") == Large(a: 0, b: 0, c: 0, d: 0, e: 0, f: 0))
    // As bytes, and behind a C function: every byte, and no byte more.
    var bytes = [UInt8](repeating: 0xAA, count: 64)
    try unsafe bytes.withUnsafeMutableBytes { bytes in
      try unsafe proxy.method(for: "large").forward(
        frame: UnsafeRawBufferPointer(start: nil, count: 0),
        result: UnsafeMutableRawBufferPointer(rebasing: bytes[8..<56]))
    }
    #expect(bytes[..<8].allSatisfy { $0 == 0xAA } && bytes[56...].allSatisfy { $0 == 0xAA })
    #expect(bytes[8..<56].allSatisfy { $0 == 0 })
    let function = try proxy.functionPointer(for: "small")
    let call = unsafe function.unsafeCast(to: (@convention(c) () -> fixture_point).self)
    let pair = call()
    #expect(pair.x == 0 && pair.y == 0)
    withExtendedLifetime(function) {}
  }

  @Test("1.2.15 subscribers none of whom responds are no crash, but as good as none")
  func noResponder() throws {
    let proxy = try proxy(Self.shapes)
    let silent = Bystander()
    try proxy.subscribe(silent) { _ in }
    try proxy.send("void")
    #expect(try proxy.send("int") == Int32(0))
    #expect(try proxy.send("large") == Large(a: 0, b: 0, c: 0, d: 0, e: 0, f: 0))
    // The default of a protocol goes before.
    let given = ProtocolTable.table("Given") { $0.optional("int", "i@:", default: Int32(-1)) }
    let other = try self.proxy(given)
    try other.subscribe(silent) { _ in }
    #expect(try other.send("int") == Int32(-1))
  }

  // MARK: Changes in the middle

  @Test("1.2.16 who joins in the middle waits for the next call; who leaves or dies is not called")
  func changes() throws {
    let proxy = try proxy()
    let (b, late) = (Listener("b", journal), Listener("l", journal))
    let dying = Box<Listener?>(Listener("d", journal))
    let a = Listener("a", journal) { listener in
      listener.action.value = nil
      #expect(throws: Never.self) { try proxy.subscribe(late) }
      #expect(proxy.unsubscribe(b))
      dying.value = nil
    }
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    try dying.value.map { _ = try proxy.subscribe($0) }
    try proxy.ping(1)
    #expect(journal.take() == ["a1"])
    try proxy.ping(2)
    #expect(journal.take() == ["a2", "l2"])
  }

  @Test("1.2.17 looking a signature up changes nothing, in the middle of a call and on any thread")
  func lookUp() throws {
    let proxy = try proxy()
    let all = ["a", "b", "c"].map { Listener($0, journal, score: 3) }
    let signature = try? proxy.method(for: "score:").signature
    let dying = Box<Listener?>(Listener("d", journal))
    all[0].action.value = { _ in
      dying.value = nil
      #expect((try? proxy.method(for: "score:").signature) == signature)
      #expect(proxy.responds(to: "score:"))
    }
    try proxy.subscribe(all[0])
    try dying.value.map { _ = try proxy.subscribe($0) }
    try proxy.subscribe(all[1])
    try proxy.subscribe(all[2])
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1", "c1"])
    // Others look, forward, join and leave at the same time.
    all[0].action.value = nil
    let count = Box(0)
    onThreads(4) { number in
      for round in 0..<500 {
        if number == 0 {
          proxy.unsubscribe(all[1])
          _ = try? proxy.subscribe(all[1])
        } else if (try? proxy.method(for: "score:").signature) == signature {
          // Whoever leaves in the middle, there is one who answers.
          #expect(throws: Never.self) {
            let score: Int32 = try proxy.send("score:", Int32(round))
            if score == 3 { count.update { $0 += 1 } }
          }
        }
      }
    }
    #expect(count.value == 1500)
    #expect(order(proxy) == "acb")
  }

  @Test("1.2.18 a host that keeps what a proxy responds to is told when that changes")
  func cachingHost() throws {
    let changes = Journal()
    let proxy = try proxy {
      $0.onCapabilityChange = { changes.note("\($0) \($1)") }
    }
    let all = listeners("a", "b")
    try proxy.subscribe(all[0])
    #expect(changes.take() == ["ping: true", "score: true"])
    try proxy.subscribe(all[1])
    proxy.unsubscribe(all[0])
    #expect(changes.take().isEmpty)
    proxy.unsubscribe(all[1])
    #expect(changes.take() == ["ping: false", "score: false"])
  }

  @Test("1.2.19 no selector is the proxy's own: description and hash are forwarded like others")
  func baseClass() throws {
    let table = ProtocolTable.table("Described") {
      $0.required("description", "i@:")
      $0.required("hash", "i@:")
      $0.required("isEqual:", "B@:@")
    }
    let proxy = try proxy(table)
    let owner = Bystander()
    try proxy.subscribe(owner) {
      $0.on("description") { (_: Bystander) -> Int32 in 1 }
      $0.on("hash") { (_: Bystander) -> Int32 in 2 }
      $0.on("isEqual:") { (self: Bystander, other: AnyObject) in self === other }
    }
    #expect(try proxy.send("description") == Int32(1))
    #expect(try proxy.send("hash") == Int32(2))
    #expect(try proxy.send("isEqual:", owner as AnyObject) == true)
    #expect(try proxy.send("isEqual:", proxy as AnyObject) == false)
  }
}
