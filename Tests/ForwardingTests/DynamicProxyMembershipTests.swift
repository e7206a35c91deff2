// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DynamicProxyMembershipTests {
  let journal = Journal()

  // MARK: Joining and leaving

  @Test func `delivers to all subscribers in order of subscription`() throws {
    let proxy = try DynamicProxy.pinging()
    let listeners = ["a", "b", "c"].map { Listener($0, journal) }
    defer { withExtendedLifetime(listeners) {} }
    for listener in listeners { try proxy.subscribe(listener) }
    try proxy.ping(7)
    #expect(journal.take() == ["a7", "b7", "c7"])
    #expect(proxy.count == 3)
    #expect(proxy.liveSubscribers.map { ObjectIdentifier($0) } == listeners.map { .init($0) })
  }

  @Test func `an object that has left is not called any more`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    let first = try proxy.subscribe(a)
    try proxy.subscribe(b)
    #expect(proxy.contains(a))
    #expect(proxy.unsubscribe(a))
    #expect(!proxy.contains(a))
    #expect(!first.isLive)
    try proxy.ping()
    #expect(journal.take() == ["b1"])
    #expect(!proxy.unsubscribe(a))
    #expect(!first.cancel())
    #expect(proxy.count == 1)
  }

  @Test func `a subscription ends once`() throws {
    let proxy = try DynamicProxy.pinging()
    let a = Listener("a", journal)
    let subscription = try proxy.subscribe(a)
    #expect(subscription.isLive)
    #expect(subscription.cancel())
    #expect(!subscription.isLive)
    #expect(!subscription.cancel())
    // A new one is another.
    let again = try proxy.subscribe(a)
    #expect(again != subscription)
    #expect(!subscription.cancel())
    #expect(again.isLive)
  }

  @Test func `unsubscribing everyone leaves an empty proxy that can be used again`() throws {
    let proxy = try DynamicProxy.pinging()
    let listeners = (0..<100).map { Listener("\($0)", journal) }
    defer { withExtendedLifetime(listeners) {} }
    for listener in listeners { try proxy.subscribe(listener) }
    proxy.unsubscribeAll()
    #expect(proxy.count == 0)
    try proxy.ping()
    #expect(journal.take().isEmpty)
    try proxy.subscribe(listeners[3])
    try proxy.ping()
    #expect(journal.take() == ["31"])
  }

  @Test func `two proxies know nothing of each other`() throws {
    let (left, right) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    let a = Listener("a", journal)
    let subscription = try left.subscribe(a)
    let other = try right.subscribe(a)
    #expect(subscription != other)
    left.unsubscribe(a)
    try left.ping(1)
    try right.ping(2)
    #expect(journal.take() == ["a2"])
  }

  @Test func `unsubscribing an object ends its table's subscription and its closures'`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, journal) = (Listener("a", journal), journal)
    try proxy.subscribe(a)
    try proxy.subscribe(a) {
      $0.on("ping:") { (self: Listener, number: Int32) in
        journal.note("closure \(self.name)\(number)")
      }
    }
    try proxy.ping()
    #expect(journal.take() == ["a1", "closure a1"])
    #expect(proxy.unsubscribe(a))
    try proxy.ping()
    #expect(journal.take().isEmpty)
    #expect(proxy.count == 0)
  }

  // MARK: The same object twice

  @Test func `an object that subscribes twice is delivered to once`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    let first = try proxy.subscribe(a)
    try proxy.subscribe(b)
    #expect(try proxy.subscribe(a) == first)
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1"])
    #expect(proxy.count == 2)
    // One cancellation ends it.
    #expect(first.cancel())
    try proxy.ping()
    #expect(journal.take() == ["b1"])
  }

  @Test func `an object may be delivered to as often as it has subscribed`() throws {
    let proxy = try DynamicProxy.pinging { $0.duplicates = .allow }
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    let first = try proxy.subscribe(a)
    try proxy.subscribe(b)
    let second = try proxy.subscribe(a)
    #expect(first != second)
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1", "a1"])
    #expect(first.cancel())
    try proxy.ping()
    #expect(journal.take() == ["b1", "a1"])
    #expect(proxy.contains(a))
    try proxy.subscribe(a)
    #expect(proxy.unsubscribe(a))
    try proxy.ping()
    #expect(journal.take() == ["b1"])
  }

  @Test func `a duplicate may be refused`() throws {
    let proxy = try DynamicProxy.pinging { $0.duplicates = .fail }
    let a = Listener("a", journal)
    let first = try proxy.subscribe(a)
    for position in [.last, .first, .index(0), .after(first)] as [DynamicProxy.Position] {
      let error = #expect(throws: ForwardingError.self) { try proxy.subscribe(a, at: position) }
      #expect(error?.code == .duplicate)
    }
    try proxy.ping()
    #expect(journal.take() == ["a1"])
    first.cancel()
    try proxy.subscribe(a)
    try proxy.ping()
    #expect(journal.take() == ["a1"])
  }

  @Test func `one object with two tables is two subscribers`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, journal) = (Listener("a", journal), journal)
    let other = FunctionTable(for: Listener.self) {
      $0.on("ping:") { (self: Listener, number: Int32) in
        journal.note("other \(self.name)\(number)")
      }
    }
    try proxy.subscribe(a)
    let second = try proxy.subscribe(a, table: other)
    #expect(try proxy.subscribe(a, table: other) == second)
    try proxy.ping()
    #expect(journal.take() == ["a1", "other a1"])
  }

  @Test func `equal objects are two subscribers: identity is the pointer`() throws {
    final class Equal: DynamicProxy.Subscriber, Equatable {
      let journal: Journal
      init(_ journal: Journal) { self.journal = journal }
      static func == (left: Equal, right: Equal) -> Bool { true }
      static let functionTable = FunctionTable(for: Equal.self) {
        $0.on("ping:") { (self: Equal, _: Int32) in self.journal.note("called") }
      }
    }
    let proxy = try DynamicProxy.pinging()
    let (a, b) = (Equal(journal), Equal(journal))
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    try proxy.ping()
    #expect(journal.take() == ["called", "called"])
    proxy.unsubscribe(b)
    #expect(proxy.contains(a) && !proxy.contains(b))
  }

  // MARK: What subscribers must have

  private static let both = ProtocolTable.table("Both") {
    $0.required("ping:", "v@:i")
    $0.required("pong:", "v@:i")
  }
  private static let opening = ProtocolTable.table("Opening") { $0.required("open", "v@:") }
  private static let chatting = ProtocolTable.table("Chatting") { $0.optional("chat:", "v@:i") }

  private func owner(
    of selectors: [String], in proxy: DynamicProxy
  ) throws -> (Bystander, DynamicProxy.Subscription) {
    let owner = Bystander()
    let subscription = try proxy.subscribe(owner) { builder in
      for selector in selectors.map(MethodSelector.init(stringLiteral:)) {
        if selector.name.hasSuffix(":") {
          builder.on(Method(selector)) { (_: Bystander, _: Int32) in }
        } else {
          builder.on(Method(selector)) { (_: Bystander) in }
        }
      }
    }
    return (owner, subscription)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let conformance: DynamicProxy.Configuration.Conformance
    let selectors: [String]
    /// The method whose lack is told; nil if the subscriber is let in.
    let missing: String?

    init(
      _ conformance: DynamicProxy.Configuration.Conformance, _ selectors: [String],
      missing: String? = nil
    ) {
      self.conformance = conformance
      self.selectors = selectors
      self.missing = missing
    }

    var testDescription: String { "\(conformance) \(selectors) \(missing ?? "fits")" }
  }

  // "Both" asks for ping: and pong:, "Opening" for open, "Chatting" for nothing.
  static let cases = [
    Case(.implemented, ["ping:", "pong:"]),
    Case(.implemented, ["ping:", "pong:", "open", "chat:"]),
    Case(.implemented, ["open"]),
    Case(.implemented, ["chat:"]),
    Case(.implemented, ["ping:"], missing: "pong:"),
    Case(.implemented, ["ping:", "open"], missing: "pong:"),
    Case(.all, ["ping:", "pong:", "open"]),
    Case(.all, ["ping:", "pong:"], missing: "open"),
    Case(.all, ["open"], missing: "ping:"),
    Case(.all, [], missing: "ping:"),
    Case(.any, ["open"]),
    Case(.any, ["ping:", "open"]),
    Case(.any, ["ping:", "pong:"]),
    Case(.lenient, ["ping:"]),
    Case(.lenient, []),
    Case(.lenient, ["unknown"]),
  ]

  @Test("asks for required methods as configured", arguments: cases)
  func conformance(_ row: Case) throws {
    var configuration = DynamicProxy.Configuration()
    configuration.conformance = row.conformance
    configuration.unknownFunctions = .ignore
    let proxy = try DynamicProxy(
      adopting: Self.both, Self.opening, Self.chatting, configuration: configuration)
    if let missing = row.missing {
      let error = #expect(throws: ForwardingError.self) {
        _ = try owner(of: row.selectors, in: proxy)
      }
      #expect(error?.code == .missingMethod)
      #expect(error?.selector == missing)
      #expect(error?.description.contains("\"\(missing)\"") == true)
      #expect(proxy.count == 0)
    } else {
      let (owner, subscription) = try owner(of: row.selectors, in: proxy)
      #expect(subscription.isLive)
      #expect(proxy.liveSubscribers.first === owner)
    }
  }

  @Test(
    "where no protocol is implemented, the first lack is told",
    arguments: [.implemented, .any] as [DynamicProxy.Configuration.Conformance])
  func nothing(conformance: DynamicProxy.Configuration.Conformance) throws {
    var configuration = DynamicProxy.Configuration()
    configuration.conformance = conformance
    configuration.unknownFunctions = .ignore
    let proxy = try DynamicProxy(
      adopting: Self.both, Self.opening, configuration: configuration)
    let error = #expect(throws: ForwardingError.self) { _ = try owner(of: [], in: proxy) }
    #expect(error?.code == .missingMethod)
    #expect(
      error?.description
        == #"the function table lacks "ping:", which protocol "Both" requires"#)
  }

  @Test func `a parent's required methods are required`() throws {
    let child = ProtocolTable.table("Child", inheriting: [Self.opening]) { $0.optional("x", "v@:") }
    let proxy = try DynamicProxy(adopting: child)
    let error = #expect(throws: ForwardingError.self) { _ = try owner(of: ["x"], in: proxy) }
    #expect(error?.selector == "open")
    let (bystander, _) = try owner(of: ["open"], in: proxy)
    withExtendedLifetime(bystander) { #expect(proxy.count == 1) }
  }

  @Test(
    "a method with other types is refused, whatever is required",
    arguments: [
      .implemented, .all, .any, .lenient,
    ] as [DynamicProxy.Configuration.Conformance])
  func mismatch(conformance: DynamicProxy.Configuration.Conformance) throws {
    let proxy = try DynamicProxy.pinging { $0.conformance = conformance }
    let owner = Bystander()
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(owner) {
        $0.on("ping:") { (_: Bystander, _: Int32) in }
        $0.on("score:") { (_: Bystander, _: Double) -> Int32 in 0 }
      }
    }
    #expect(error?.code == .signatureMismatch)
    #expect(error?.selector == "score:")
    #expect(error?.description.contains("'i' (Int32), got Double") == true)
    #expect(error?.description.contains("\"i@:i\"") == true)
    #expect(proxy.count == 0 && !proxy.contains(owner))
  }

  @Test func `methods that no protocol declares are never called`() throws {
    let proxy = try DynamicProxy.pinging { $0.unknownFunctions = .ignore }
    let (a, journal) = (Bystander(), journal)
    try proxy.subscribe(a) {
      $0.on("ping:") { (_: Bystander, number: Int32) in journal.note("\(number)") }
      $0.on("undeclared:") { (_: Bystander, _: Int32) in journal.note("undeclared") }
    }
    #expect(throws: ForwardingError.self) { try proxy.send("undeclared:", Int32(1)) }
    try proxy.ping()
    #expect(journal.take() == ["1"])
  }

  @Test func `optional methods are skipped where they are missing`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, b, journal) = (Listener("a", journal), Bystander(), journal)
    try proxy.subscribe(a)
    try proxy.subscribe(b) {
      $0.on("ping:") { (_: Bystander, _: Int32) in journal.note("b") }
      $0.on("finish") { (_: Bystander) in journal.note("b finishes") }
    }
    try proxy.send("finish")
    #expect(journal.take() == ["b finishes"])
    try proxy.ping()
    #expect(journal.take() == ["a1", "b"])
  }

  @Test func `a table is for the objects of its class`() throws {
    let proxy = try DynamicProxy.pinging()
    let stranger = Bystander()
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(stranger, table: Listener.functionTable)
    }
    #expect(error?.code == .typeMismatch)
    #expect(error?.description.contains("Listener") == true)
    #expect(error?.description.contains("Bystander") == true)
    #expect(proxy.count == 0)
  }

  @Test func `objects of a subclass may use the table of their superclass`() throws {
    class Base: @unchecked Sendable {
      let journal: Journal
      init(_ journal: Journal) { self.journal = journal }
    }
    final class Derived: Base, @unchecked Sendable {}
    let table = FunctionTable(for: Base.self) {
      $0.on("ping:") { (self: Base, _: Int32) in self.journal.note("\(type(of: self))") }
    }
    let proxy = try DynamicProxy.pinging()
    let derived = Derived(journal)
    try proxy.subscribe(derived, table: table)
    try proxy.ping()
    #expect(journal.take() == ["Derived"])
  }

  // MARK: Many

  @Test func `thousands of subscribers come and go`() throws {
    let proxy = try DynamicProxy.pinging()
    var listeners = (0..<2000).map { _ in Listener("x", journal) }
    for listener in listeners { try proxy.subscribe(listener) }
    try proxy.ping()
    #expect(journal.take().count == 2000)
    // Every other dies, and some leave.
    listeners = listeners.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
    for listener in listeners.prefix(100) { #expect(proxy.unsubscribe(listener)) }
    #expect(proxy.count == 900)
    try proxy.ping()
    #expect(journal.take().count == 900)
    #expect(proxy.subscribers.places == 900)
    withExtendedLifetime(listeners) {}
  }

  @Test func `subscribers that die without a fan-out are taken out as others come`() throws {
    let proxy = try DynamicProxy.pinging()
    let population = Population()
    for _ in 0..<10_000 {
      let captured = population.make()
      try proxy.subscribe(Bystander()) {
        $0.on("ping:") { (_: Bystander, _: Int32) in withExtendedLifetime(captured) {} }
      }
    }
    #expect(population.living <= 128)
    #expect(proxy.count == 0)
  }

  @Test("the dead do not pile up, wherever others join", arguments: [0, 1, 2])
  func deadBehindOthers(place: Int) throws {
    let positions: [DynamicProxy.Position] = [.first, .last, .priority(5)]
    let proxy = try DynamicProxy.pinging { $0.conformance = .lenient }
    let keeper = Bystander()
    try proxy.subscribe(keeper) { $0.on("finish") { (_: Bystander) in } }
    for _ in 0..<500 {
      // Nobody meets them: they do not implement what is forwarded.
      try proxy.subscribe(Bystander(), at: positions[place]) {
        $0.on("finish") { (_: Bystander) in }
      }
      try proxy.ping()
    }
    #expect(proxy.count == 1)
    #expect(proxy.subscribers.places < 40)
  }

  @Test func `who has left is forgotten without a fan-out`() throws {
    let proxy = try DynamicProxy.pinging { $0.conformance = .lenient }
    let listener = Bystander()
    for _ in 0..<3 {
      let subscription = try proxy.subscribe(listener) { $0.on("finish") { (_: Bystander) in } }
      subscription.cancel()
      #expect(proxy.subscribers.places == 0)
    }
  }
}
