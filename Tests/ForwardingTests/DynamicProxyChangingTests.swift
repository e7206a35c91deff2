// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// `DynamicProxy.change(_:)`.
@Suite struct DynamicProxyChangingTests {
  private static let tick = Method("tick:", ((Int64) -> Void).self)
  private static let sum = Method("sum:", ((Int64) -> Int64).self)

  private struct Failure: Error {}

  private let journal = Journal()

  private func make(
    _ change: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    change(&configuration)
    return try DynamicProxy("Clock", configuration: configuration) {
      $0.optional(Self.tick)
      $0.optional(Self.sum, result: .reduce(Int64(0), +))
    }
  }

  /// Subscribes a closure that notes its name.
  private func add(
    _ name: String, to proxy: DynamicProxy, at position: DynamicProxy.Position = .last,
    times: Int? = nil
  ) throws -> DynamicProxy.Token {
    let journal = journal
    return try proxy.subscribe(at: position, times: times) {
      $0.on(Self.tick) { _ in journal.note(name) }
      $0.on(Self.sum) { (value: Int64) in value }
    }
  }

  private func ticks(_ proxy: DynamicProxy) throws -> [String] {
    try proxy.send(Self.tick, 1)
    return journal.take()
  }

  // MARK: Taking effect

  @Test func `a change takes effect when its closure has returned`() throws {
    let proxy = try make()
    let old = try add("old", to: proxy)
    var new: DynamicProxy.Token?
    let output = try proxy.change { inner in
      #expect(inner === proxy)
      new = try add("new", to: inner)
      #expect(old.cancel())
      #expect(try ticks(proxy) == ["old"])
      #expect(proxy.count == 1 && proxy.responds(to: "tick:"))
      return 7
    }
    #expect(output == 7)
    #expect(try ticks(proxy) == ["new"])
    #expect(!old.isLive && new?.isLive == true && proxy.count == 1)
    #expect(!old.cancel() && new?.cancel() == true)
    #expect(try ticks(proxy) == [])
  }

  @Test func `a token that is replaced in a change is called until then`() throws {
    let proxy = try make()
    var token = try add("old", to: proxy)
    try proxy.change {
      token = try add("new", to: $0)
      #expect(try ticks($0) == ["old"])
    }
    #expect(try ticks(proxy) == ["new"])
    withExtendedLifetime(token) {}
  }

  @Test func `a subscriber that is cancelled in a change lives until then`() throws {
    let proxy = try make()
    var owner: Bystander? = Bystander()
    weak let observed = owner
    let journal = journal
    let subscription = try proxy.subscribe(owner!) {
      $0.on(Self.tick) { _, _ in journal.note("owner") }
    }
    try proxy.change {
      #expect(subscription.cancel())
      owner = nil
      let called = try ticks($0)
      #expect(called == ["owner"])
    }
    #expect(observed == nil)
    #expect(try ticks(proxy) == [])
  }

  @Test func `positions and priorities count the subscribers of the same change`() throws {
    let proxy = try make()
    var tokens = [try add("a", to: proxy), try add("b", to: proxy)]
    let b = tokens[1].subscription!
    try proxy.change { _ in
      let c = try add("c", to: proxy, at: .before(b))
      tokens += [
        c, try add("d", to: proxy, at: .before(c.subscription!)),
        try add("high", to: proxy, at: .priority(5)),
        try add("first", to: proxy, at: .first), try add("last", to: proxy),
        try add("second", to: proxy, at: .index(1)),
      ]
      tokens[0].cancel()
    }
    #expect(try ticks(proxy) == ["first", "second", "high", "d", "c", "b", "last"])
  }

  @Test func `an index of a change does not count those that have ended in it`() throws {
    let proxy = try make()
    let tokens = try ["a", "b", "c"].map { try add($0, to: proxy) }
    let new = try proxy.change { inner in
      tokens[0].cancel()
      return try add("new", to: inner, at: .index(1))
    }
    #expect(try ticks(proxy) == ["b", "new", "c"])
    withExtendedLifetime((tokens, new)) {}
  }

  @Test func `a subscription for some deliveries counts those after the change`() throws {
    let proxy = try make()
    let token = try proxy.change { inner in
      let token = try add("once", to: inner, times: 1)
      #expect(try ticks(inner) == [])
      return token
    }
    #expect(try ticks(proxy) == ["once"])
    #expect(try ticks(proxy) == [])
    withExtendedLifetime(token) {}
  }

  @Test func `an empty change changes nothing`() throws {
    let proxy = try make()
    let token = try add("a", to: proxy)
    try proxy.change { _ in }
    try proxy.change { _ in try proxy.change { _ in } }
    #expect(try ticks(proxy) == ["a"])
    withExtendedLifetime(token) {}
  }

  @Test func `all subscriptions of an object and of the proxy end with a change`() throws {
    let proxy = try make()
    let (owner, other) = (Bystander(), Bystander())
    let journal = journal
    func subscribe(_ owner: Bystander, _ name: String) throws {
      try proxy.subscribe(owner) { $0.on(Self.tick) { _, _ in journal.note(name) } }
    }
    for name in ["1", "2"] { try subscribe(owner, name) }
    try subscribe(other, "other")
    try proxy.change {
      try subscribe(owner, "3")
      #expect($0.unsubscribe(owner))
      #expect(!$0.unsubscribe(owner))
      try subscribe(owner, "4")
      #expect(try ticks($0) == ["1", "2", "other"])
    }
    #expect(try ticks(proxy) == ["other", "4"])
    try proxy.change {
      try subscribe(owner, "5")
      $0.unsubscribeAll()
      try subscribe(owner, "6")
      #expect(try ticks($0) == ["other", "4"])
    }
    #expect(try ticks(proxy) == ["6"])
    withExtendedLifetime((owner, other)) {}
  }

  // MARK: Nothing takes effect

  @Test func `a closure that throws changes nothing`() throws {
    let population = Population()
    let proxy = try make()
    let old = try add("old", to: proxy)
    var escaped: DynamicProxy.Token?
    #expect(throws: Failure.self) {
      try proxy.change { inner in
        let tracked = population.make()
        escaped = try inner.subscribe { $0.on(Self.tick) { _ in withExtendedLifetime(tracked) {} } }
        old.cancel()
        inner.unsubscribeAll()
        throw Failure()
      }
    }
    #expect(old.isLive && escaped?.isLive == false && population.living == 0)
    #expect(escaped?.cancel() == false)
    #expect(try ticks(proxy) == ["old"] && proxy.count == 1)
    #expect(old.cancel())
  }

  @Test(arguments: [DynamicProxy.ForwardScope.unhandled, .everything])
  func `a forward target is set at once, even if the change fails`(
    _ scope: DynamicProxy.ForwardScope
  ) throws {
    let proxy = try make()
    let (old, new) = (Bystander(), Bystander())
    func set(_ target: Bystander, _ name: String) throws {
      try proxy.setForwardTarget(target, for: scope) { [journal] in
        $0.on(Self.tick) { _, _ in journal.note(name) }
      }
    }
    try set(old, "old")
    #expect(throws: Failure.self) {
      try proxy.change { _ in
        try set(new, "new")
        #expect(try ticks(proxy) == ["new"])
        throw Failure()
      }
    }
    #expect(proxy.forwardTarget === new)
    #expect(try ticks(proxy) == ["new"])
    #expect(throws: Failure.self) {
      try proxy.change {
        $0.removeForwardTarget()
        throw Failure()
      }
    }
    try? proxy.send(Self.tick, 2)
    #expect(proxy.forwardTarget == nil && journal.take().isEmpty && proxy.count == 0)
    withExtendedLifetime((old, new)) {}
  }

  @Test func `a method that no protocol declares refuses the whole change`() throws {
    let proxy = try make()
    let old = try add("old", to: proxy)
    let failure = #expect(throws: ForwardingError.self) {
      try proxy.change { inner in
        old.cancel()
        _ = try add("new", to: inner)
        _ = try inner.subscribe { $0.on("tock:") { (_: Int64) in } }
      }
    }
    #expect(failure?.code == .unknownSelector)
    #expect(try ticks(proxy) == ["old"])
    withExtendedLifetime(old) {}
  }

  @Test(arguments: [DynamicProxy.Position.index(3), .index(-1)])
  func `an index out of range refuses the whole change`(_ position: DynamicProxy.Position) throws {
    let proxy = try make()
    let old = try add("old", to: proxy)
    var tokens: [DynamicProxy.Token] = []
    let failure = #expect(throws: ForwardingError.self) {
      try proxy.change {
        tokens.append(try add("a", to: $0))
        tokens.append(try add("b", to: $0, at: position))
        old.cancel()
      }
    }
    #expect(failure?.code == .indexOutOfRange)
    #expect(try ticks(proxy) == ["old"] && !tokens.contains { $0.isLive })
    withExtendedLifetime(old) {}
  }

  @Test func `an anchor that ends in the change refuses it`() throws {
    let proxy = try make()
    let (old, other) = (try add("old", to: proxy), try add("other", to: proxy))
    var new: DynamicProxy.Token?
    let failure = #expect(throws: ForwardingError.self) {
      try proxy.change {
        old.cancel()
        new = try add("new", to: $0, at: .after(old.subscription!))
      }
    }
    #expect(new?.isLive == false)
    #expect(failure?.code == .notSubscribed)
    #expect(try ticks(proxy) == ["old", "other"])
    withExtendedLifetime((old, other)) {}
  }

  // MARK: Duplicates

  @Test func `a duplicate keeps its subscription, and moves with the change`() throws {
    let proxy = try make()
    let journal = journal
    let table = FunctionTable(for: Bystander.self) {
      $0.on(Self.tick) { _, _ in journal.note("owner") }
    }
    let owner = Bystander()
    let first = try proxy.subscribe(owner, table: table)
    let other = try add("other", to: proxy)
    let (same, moved) = try proxy.change { inner in
      let same = try inner.subscribe(owner, table: table)
      let moved = try inner.subscribe(owner, table: table, at: .after(other.subscription!))
      #expect(try ticks(inner) == ["owner", "other"])
      return (same, moved)
    }
    #expect(same == first && moved == first)
    #expect(try ticks(proxy) == ["other", "owner"])
    // One that ends in the change is no duplicate; one that begins in it is.
    let (second, third) = try proxy.change { inner in
      first.cancel()
      return (
        try inner.subscribe(owner, table: table), try inner.subscribe(owner, table: table)
      )
    }
    #expect(second != first && third == second)
    #expect(try ticks(proxy) == ["other", "owner"])
    withExtendedLifetime((owner, other)) {}
  }

  @Test func `a refused duplicate refuses the whole change`() throws {
    let proxy = try make { $0.duplicates = .fail }
    let journal = journal
    let table = FunctionTable(for: Bystander.self) {
      $0.on(Self.tick) { _, _ in journal.note("owner") }
    }
    let owner = Bystander()
    let failure = #expect(throws: ForwardingError.self) {
      try proxy.change {
        try $0.subscribe(owner, table: table)
        try $0.subscribe(owner, table: table)
      }
    }
    #expect(failure?.code == .duplicate && proxy.count == 0)
    withExtendedLifetime(owner) {}
  }

  // MARK: Changes inside

  @Test func `a change in a change of the same proxy becomes part of it`() throws {
    let proxy = try make()
    let (a, b) = (try add("a", to: proxy), try add("b", to: proxy))
    var tokens: [DynamicProxy.Token] = []
    try proxy.change { _ in
      a.cancel()
      #expect(throws: Failure.self) {
        try proxy.change {
          tokens.append(try add("undone", to: $0))
          b.cancel()
          throw Failure()
        }
      }
      try proxy.change { tokens.append(try add("c", to: $0)) }
      #expect(try ticks(proxy) == ["a", "b"])
    }
    #expect(try ticks(proxy) == ["b", "c"])
    #expect(b.isLive && !tokens[0].isLive)
  }

  @Test func `changes of two proxies take effect on their own`() throws {
    let (outer, inner) = (try make(), try make())
    let old = try add("foreign", to: inner)
    var tokens: [DynamicProxy.Token] = []
    try outer.change { _ in
      tokens.append(try add("outer", to: outer))
      try inner.change { _ in
        tokens.append(try add("inner", to: inner))
        tokens.append(try add("late", to: outer))
        #expect(try ticks(inner) == ["foreign"])
      }
      #expect(try ticks(inner) == ["foreign", "inner"] && ticks(outer) == [])
      // A token of another proxy is cancelled at once.
      #expect(old.cancel())
      #expect(try ticks(inner) == ["inner"])
    }
    #expect(try ticks(outer) == ["outer", "late"])
  }

  @Test func `a subscription that has begun in a change can end in it`() throws {
    let proxy = try make()
    try proxy.change {
      let token = try add("a", to: $0)
      #expect(token.isLive)
      #expect(token.cancel() && !token.cancel() && !token.isLive)
      _ = try add("dropped", to: $0)
    }
    #expect(try ticks(proxy) == [] && proxy.count == 0)
  }

  // MARK: Fan-outs under way

  @Test func `a fan-out under way goes on with the subscribers from before`() throws {
    let proxy = try make()
    let journal = journal
    var tokens = [try add("a", to: proxy)]
    let later = Box<[DynamicProxy.Token]>([])
    tokens.append(
      try proxy.subscribe(times: 1) { [later] in
        $0.on(Self.tick) { _ in
          journal.note("changing")
          let all = later.value
          #expect(throws: Never.self) {
            let new = try proxy.change { inner in
              all[0].cancel()
              return try inner.subscribe(at: .last) {
                $0.on(Self.tick) { _ in journal.note("new") }
              }
            }
            later.update { $0.append(new) }
            // One inside of the other sees the change.
            try proxy.send(Self.tick, 2)
            journal.note("end")
          }
        }
      })
    later.value = [try add("b", to: proxy)]
    #expect(try ticks(proxy) == ["a", "changing", "a", "new", "end", "b"])
    #expect(try ticks(proxy) == ["a", "new"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `a batch has one set`() throws {
    let proxy = try make()
    let old = try add("old", to: proxy)
    var new: DynamicProxy.Token?
    try proxy.withBatch {
      try proxy.change {
        old.cancel()
        new = try $0.subscribe { $0.on(Self.sum) { (value: Int64) in value } }
      }
      // No subscriber from after the change has the method.
      #expect(try ticks(proxy) == ["old"])
    }
    #expect(try ticks(proxy) == [])
    withExtendedLifetime(new) {}
  }

  // MARK: Observers

  @Test func `observers are told after the change, of those that begin first`() throws {
    let journal = journal
    let proxy = try make {
      $0.onMembershipChange = { _, change in journal.note("\(change)") }
      $0.onCapabilityChange = { method, responds in journal.note("\(method) \(responds)") }
    }
    let old = try add("old", to: proxy)
    #expect(journal.take().sorted() == ["joined", "sum: true", "tick: true"])
    let new = try proxy.change { inner in
      old.cancel()
      let new = try add("new", to: inner)
      #expect(journal.take() == [])
      return new
    }
    // Somebody has responded all the time.
    #expect(journal.take() == ["joined", "left"])
    let ticker = try proxy.change { inner in
      new.cancel()
      return try inner.subscribe { $0.on(Self.tick) { _ in } }
    }
    #expect(journal.take() == ["joined", "left", "sum: false"])
    withExtendedLifetime(ticker) {}
  }

  @Test func `signals are part of a change`() async throws {
    let proxy = try make()
    let signal = try proxy.change { inner in
      let signal = try inner.signal(for: Self.tick)
      let again = try inner.signal(for: Self.tick)
      try inner.send(Self.tick, 1)
      withExtendedLifetime(again) {}
      return signal
    }
    try proxy.send(Self.tick, 2)
    var iterator = signal.makeAsyncIterator()
    #expect(await iterator.next() == 2)
  }

  @Test func `proxies that are subscribed in a change make no cycle`() throws {
    let (a, b) = (try make(), try make())
    try a.change { _ in
      try a.subscribe(b)
      let failure = #expect(throws: ForwardingError.self) { try b.subscribe(a) }
      #expect(failure?.code == .cycle)
    }
    let failure = #expect(throws: ForwardingError.self) { try b.subscribe(a) }
    #expect(failure?.code == .cycle)
  }

  // MARK: Other threads

  @Test func `another thread can cancel what begins with a change`() throws {
    let proxy = try make()
    let token = try proxy.change { inner in
      let token = try add("a", to: inner)
      onThreads(1) { _ in
        #expect(token.isLive && token.cancel() && !token.cancel())
      }
      return token
    }
    #expect(try ticks(proxy) == [] && !token.isLive)
  }

  @Test func `a change of another thread can cancel what begins with a change`() throws {
    let proxy = try make()
    let token = try proxy.change { inner in
      let token = try add("a", to: inner)
      onThreads(1) { _ in
        try? proxy.change { _ in #expect(token.cancel() && !token.cancel()) }
      }
      return token
    }
    #expect(try ticks(proxy) == [] && !token.isLive && proxy.count == 0)
  }

  // MARK: Anchors that leave

  @Test(arguments: [false, true])
  func `what joins and leaves in one change places others`(_ isCancelledByOther: Bool) throws {
    let log = Box<[String]>([])
    let proxy = try make {
      $0.onMembershipChange = { _, change in log.update { $0.append("\(change)") } }
    }
    let first = try add("first", to: proxy)
    let others = try proxy.change { inner in
      let anchor = try add("anchor", to: inner, at: .first)
      let last = try add("last", to: inner)
      let before = try add("before", to: inner, at: .before(anchor.subscription!))
      let after = try add("after", to: inner, at: .after(anchor.subscription!))
      if isCancelledByOther {
        onThreads(1) { _ in #expect(anchor.cancel()) }
      } else {
        anchor.cancel()
      }
      return [last, before, after]
    }
    #expect(try ticks(proxy) == ["before", "after", "first", "last"] && proxy.count == 4)
    #expect(log.value == ["joined", "joined", "joined", "joined"])
    withExtendedLifetime((first, others)) {}
  }

  @Test func `what moves and leaves in one change places others`() throws {
    let proxy = try make()
    let (a, b) = (try add("a", to: proxy), try add("b", to: proxy))
    let member = Member()
    let subscription = try proxy.subscribe(member)
    let new = try proxy.change { inner in
      try inner.subscribe(member, at: .first)
      let new = try add("new", to: inner, at: .after(subscription))
      subscription.cancel()
      return new
    }
    #expect(try ticks(proxy) == ["new", "a", "b"])
    withExtendedLifetime((a, b, member, new)) {}
  }

  @Test(arguments: [false, true])
  func `an object subscribes again in the change that it has left`(
    _ isCancelledByOther: Bool
  ) throws {
    let proxy = try make()
    let member = Member()
    try proxy.change { inner in
      let first = try inner.subscribe(member)
      if isCancelledByOther {
        onThreads(1) { _ in #expect(first.cancel()) }
      } else {
        first.cancel()
      }
      try inner.subscribe(member)
    }
    #expect(proxy.count == 1 && proxy.unsubscribe(member) && proxy.count == 0)
  }

  @Test func `a feed that is replaced twice in one change keeps its position`() throws {
    let ask = Method("ask:", ((Int32) -> Int32).self)
    let proxy = try DynamicProxy { $0.optional(ask, default: -1) }
    let feed = try proxy.feed(ask) { _ in 1 }
    let new = try proxy.change { inner in
      [
        try inner.feed(ask, replacing: true) { _ in 2 },
        try inner.feed(ask, replacing: true) { _ in 3 },
      ]
    }
    #expect(try proxy.send(ask, 0) == 3 && proxy.count == 1)
    withExtendedLifetime((feed, new)) {}
  }

  // MARK: Ends that nobody can repeat

  /// `unsubscribeAll` of the other change does not end what has not begun.
  @Test func `a token that dies behind unsubscribeAll in a change of another thread ends`() throws {
    let proxy = try make()
    try proxy.change { inner in
      let token = Box<DynamicProxy.Token?>(try add("a", to: inner))
      onThreads(1) { _ in
        try? proxy.change { other in
          other.unsubscribeAll()
          token.value = nil
        }
      }
    }
    #expect(try ticks(proxy) == [] && proxy.count == 0)
  }

  @Test(arguments: [false, true])
  func `a token that dies in a change that fails ends its subscription`(_ isNested: Bool) throws {
    let proxy = try make()
    let subscription = try {
      var token: DynamicProxy.Token? = DynamicProxy.Token(
        try proxy.subscribe(Box(0), lifetime: .strong) { $0.on(Self.tick) { _, _ in } })
      let subscription = token!.subscription!
      func fail(_ inner: DynamicProxy) throws {
        token = nil
        throw Failure()
      }
      #expect(throws: Failure.self) {
        try proxy.change { inner in
          if isNested { try? inner.change(fail) } else { try fail(inner) }
          #expect(subscription.isLive)
          throw Failure()
        }
      }
      return subscription
    }()
    #expect(!subscription.isLive && proxy.count == 0)
  }

  @Test func `a token that dies in a change that cannot take effect ends its subscription`() throws
  {
    let proxy = try make()
    var token: DynamicProxy.Token? = try add("a", to: proxy)
    var other: DynamicProxy.Token?
    #expect(throws: ForwardingError.self) {
      try proxy.change {
        token = nil
        other = try add("b", to: $0, at: .index(9))
      }
    }
    #expect(token == nil && proxy.count == 0 && other?.isLive == false)
  }

  // MARK: Feeds

  @Test func `a feed is replaced in a change, and counts again if that fails`() throws {
    let proxy = try make()
    let journal = journal
    func feed(_ name: String, replacing: Bool = false) throws -> DynamicProxy.Token {
      try proxy.feed(Self.tick, replacing: replacing) { _ in journal.note(name) }
    }
    let first = try feed("first")
    var second: DynamicProxy.Token?
    try proxy.change { _ in
      first.cancel()
      second = try feed("second")
      #expect(try ticks(proxy) == ["first"])
    }
    #expect(try ticks(proxy) == ["second"])
    #expect(throws: Failure.self) {
      try proxy.change { _ in
        let third = try feed("third", replacing: true)
        #expect(third.isLive)
        throw Failure()
      }
    }
    #expect(try ticks(proxy) == ["second"])
    #expect(throws: ForwardingError.self) { try feed("fourth") }
    let last = try feed("last", replacing: true)
    #expect(try ticks(proxy) == ["last"])
    withExtendedLifetime((second, last)) {}
  }

  @Test func `many subscribers of one class join in a change`() throws {
    let proxy = try make()
    let objects = (0..<20_000).map { _ in Member() }
    try proxy.change { for object in objects { try $0.subscribe(object) } }
    #expect(proxy.count == objects.count)
    try proxy.change { $0.unsubscribeAll() }
    #expect(proxy.count == 0)
  }

  private final class Member: DynamicProxy.Subscriber {
    static let functionTable = FunctionTable(for: Member.self) { $0.on(tick) { _, _ in } }
  }

  @Test func `what other threads do during a change takes effect at once`() throws {
    let proxy = try make()
    let (a, b) = (try add("a", to: proxy), try add("b", to: proxy))
    let others = Box<[DynamicProxy.Token]>([])
    let new = try proxy.change { inner in
      a.cancel()
      onThreads(1) { _ in
        b.cancel()
        #expect(a.cancel())
        let token = try? add("other", to: proxy)
        if let token { others.update { $0.append(token) } }
      }
      #expect(try ticks(inner) == ["other"])
      return try add("new", to: inner)
    }
    #expect(try ticks(proxy) == ["other", "new"])
    withExtendedLifetime((others, new)) {}
  }
}
