// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DynamicProxyChainingTests {
  let journal = Journal()

  // MARK: Forwarding

  @Test func `a proxy forwards what it is given to its own subscribers, in its place`() throws {
    let (outer, inner) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    let l = ["a", "b", "c", "d"].map { Listener($0, journal) }
    defer { withExtendedLifetime(l) {} }
    try outer.subscribe(l[0])
    try outer.subscribe(inner)
    try outer.subscribe(l[3])
    try inner.subscribe(l[1])
    try inner.subscribe(l[2])
    try outer.ping(5)
    #expect(journal.take() == ["a5", "b5", "c5", "d5"])
    try inner.ping(6)
    #expect(journal.take() == ["b6", "c6"])
    #expect(outer.unsubscribe(inner))
    try outer.ping(7)
    #expect(journal.take() == ["a7", "d7"])
  }

  @Test func `takes positions, and is subscribed once`() throws {
    let (outer, inner) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    try outer.subscribe(a)
    try inner.subscribe(b)
    let first = try outer.subscribe(inner)
    #expect(try outer.subscribe(inner) == first)
    #expect(try outer.subscribe(inner, at: .first) == first)
    try outer.ping()
    #expect(journal.take() == ["b1", "a1"])
    #expect(first.cancel())
    try outer.ping()
    #expect(journal.take() == ["a1"])
  }

  @Test func `a chain of many proxies forwards to its end`() throws {
    let proxies = try (0..<50).map { _ in try DynamicProxy.pinging() }
    defer { withExtendedLifetime(proxies) {} }
    for (outer, inner) in zip(proxies, proxies.dropFirst()) { try outer.subscribe(inner) }
    let a = Listener("a", journal, score: 9)
    try proxies[49].subscribe(a)
    try proxies[0].ping()
    #expect(journal.take() == ["a1"])
    #expect(try proxies[0].send("score:", Int32(2)) == Int32(9))
    #expect(proxies[0].responds(to: "score:"))
  }

  @Test func `results come through, by each proxy's own policy`() throws {
    let outer = try DynamicProxy.pinging { $0.results["score:"] = .callAll(pick: .last) }
    let inner = try DynamicProxy.pinging { $0.results["score:"] = .reduce(Int32(0), +) }
    let l = (1...4).map { Listener("\($0)", journal, score: $0) }
    defer { withExtendedLifetime(l) {} }
    try outer.subscribe(l[0])
    try outer.subscribe(inner)
    for listener in l[1...] { try inner.subscribe(listener) }
    #expect(try outer.send("score:", Int32(0)) == Int32(9))
    let answers = try outer.collect("score:", as: Int32.self, Int32(0))
    #expect(answers.map(\.value) == [1, 9])
    #expect(answers.last?.author === inner)
  }

  @Test func `a proxy that nobody answers in does not answer`() throws {
    let (outer, inner) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    let b = Listener("b", journal, score: 3)
    try outer.subscribe(inner)
    let error = #expect(throws: ForwardingError.self) {
      let _: Int32 = try outer.send("score:", Int32(1))
    }
    #expect(error?.code == .noResponder)
    try outer.subscribe(b)
    #expect(try outer.send("score:", Int32(1)) == Int32(3))
  }

  @Test func `objects come through without a leak`() throws {
    let table = ProtocolTable.table("Makers") { $0.optional("make:", "@@:@") }
    let (outer, inner) = (try DynamicProxy(adopting: table), try DynamicProxy(adopting: table))
    let population = Population()
    let token = try inner.subscribe {
      $0.on("make:") { (_: AnyObject?) -> AnyObject? in population.make() }
    }
    try outer.subscribe(inner)
    for _ in 0..<3 {
      let made: Population.Tracked = try outer.send("make:", population.make())
      withExtendedLifetime(made) { #expect(population.living >= 1) }
      try outer.send("make:", AnyObject?.none)
    }
    #expect(population.living == 0)
    withExtendedLifetime(token) {}
  }

  @Test func `what is handled inside is handled outside`() throws {
    let table = ProtocolTable.table("Events") {
      $0.optional("event", "v@:", result: .untilHandled)
    }
    let (outer, inner) = (try DynamicProxy(adopting: table), try DynamicProxy(adopting: table))
    let journal = journal
    let isHandled = Box(true)
    let inside = try inner.subscribe {
      $0.on("event") {
        journal.note("inside")
        if isHandled.value { DynamicProxy.markHandled() }
      }
    }
    try outer.subscribe(inner)
    let behind = try outer.subscribe { $0.on("event") { journal.note("behind") } }
    try outer.send("event")
    #expect(journal.take() == ["inside"])
    isHandled.value = false
    try outer.send("event")
    #expect(journal.take() == ["inside", "behind"])
    withExtendedLifetime((inside, behind)) {}
  }

  @Test func `a forwarding of one's own inside a fan-out is another invocation`() throws {
    let table = ProtocolTable.table("Events") {
      $0.optional("event", "v@:", result: .untilHandled)
    }
    let (outer, other) = (try DynamicProxy(adopting: table), try DynamicProxy(adopting: table))
    let journal = journal
    let tokens = [
      try other.subscribe { $0.on("event") { DynamicProxy.markHandled() } },
      try outer.subscribe {
        $0.on("event") {
          #expect(throws: Never.self) { try other.send("event") }
          return
        }
      },
      try outer.subscribe { $0.on("event") { journal.note("behind") } },
    ]
    try outer.send("event")
    #expect(journal.take() == ["behind"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `marking after a forwarding of one's own marks the outer one`() throws {
    let table = ProtocolTable.table("Events") {
      $0.optional("event", "v@:", result: .untilHandled)
    }
    let (outer, other) = (try DynamicProxy(adopting: table), try DynamicProxy(adopting: table))
    let journal = journal
    let tokens = [
      try outer.subscribe {
        $0.on("event") {
          #expect(throws: Never.self) { try other.send("event") }
          DynamicProxy.markHandled()
        }
      },
      try outer.subscribe { $0.on("event") { journal.note("behind") } },
    ]
    try outer.send("event")
    #expect(journal.take().isEmpty)
    withExtendedLifetime(tokens) {}
  }

  // MARK: Protocols

  @Test func `declared methods of both are forwarded, others are not`() throws {
    let outer = try DynamicProxy.pinging()
    let inner = try DynamicProxy(
      adopting: .pinging, .table("More") { $0.optional("more", "v@:") })
    let journal = journal
    let token = try inner.subscribe {
      $0.on("ping:") { (number: Int32) in journal.note("\(number)") }
      $0.on("more") { journal.note("more") }
    }
    try outer.subscribe(inner)
    try outer.ping()
    #expect(throws: ForwardingError.self) { try outer.send("more") }
    #expect(journal.take() == ["1"])
    withExtendedLifetime(token) {}
  }

  @Test func `a proxy that lacks a required method or disagrees is refused`() throws {
    let outer = try DynamicProxy.pinging()
    let lacking = try DynamicProxy(
      adopting: .table("Lacking") { $0.optional("score:", "i@:i") })
    let missing = #expect(throws: ForwardingError.self) { try outer.subscribe(lacking) }
    #expect(missing?.code == .missingMethod)
    let disagreeing = try DynamicProxy(
      adopting: .table("Other") { $0.optional("ping:", "v@:q") })
    let mismatch = #expect(throws: ForwardingError.self) { try outer.subscribe(disagreeing) }
    #expect(mismatch?.code == .signatureMismatch)
    #expect(mismatch?.description.contains("\"v@:q\"") == true)
    #expect(mismatch?.description.contains("\"v@:i\"") == true)
    #expect(outer.count == 0)
    // Neither is in the books: the other way is no circle.
    let (a, b) = (try DynamicProxy.pinging(), outer)
    try a.subscribe(b)
  }

  @Test func `responds as the subscribers of the chained proxy do`() throws {
    let (outer, inner) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    try outer.subscribe(inner)
    #expect(!outer.responds(to: "ping:"))
    do {
      let a = Listener("a", journal)
      try inner.subscribe(a)
      #expect(outer.responds(to: "ping:") && outer.responds(to: "score:"))
      #expect(!outer.responds(to: "finish"))
      withExtendedLifetime(a) {}
    }
    #expect(!outer.responds(to: "ping:"))
  }

  // MARK: Circles

  private func refuses(_ outer: DynamicProxy, _ inner: DynamicProxy) -> Bool {
    let count = outer.count
    let error = #expect(throws: ForwardingError.self) { try outer.subscribe(inner) }
    return error?.code == .cycle && outer.count == count && !outer.contains(inner)
  }

  @Test func `a proxy is not subscribed to itself`() throws {
    let proxy = try DynamicProxy.pinging()
    let a = Listener("a", journal)
    try proxy.subscribe(a)
    #expect(refuses(proxy, proxy))
    try proxy.ping()
    #expect(journal.take() == ["a1"])
  }

  @Test("proxies make no circle, however long", arguments: [2, 3, 10])
  func circle(length: Int) throws {
    let proxies = try (0..<length).map { _ in try DynamicProxy.pinging() }
    defer { withExtendedLifetime(proxies) {} }
    for (outer, inner) in zip(proxies, proxies.dropFirst()) { try outer.subscribe(inner) }
    #expect(refuses(proxies[length - 1], proxies[0]))
    let a = Listener("a", journal)
    try proxies[length - 1].subscribe(a)
    try proxies[0].ping()
    #expect(journal.take() == ["a1"])
    // Once opened, the other way is free.
    #expect(proxies[0].unsubscribe(proxies[1]))
    try proxies[length - 1].subscribe(proxies[0])
    #expect(refuses(proxies[0], proxies[1]))
  }

  @Test func `a proxy that was cancelled or moved is no link, or still one`() throws {
    let (a, b) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    let listener = Listener("x", journal)
    try a.subscribe(listener)
    let subscription = try a.subscribe(b)
    try a.subscribe(b, at: .first)
    #expect(refuses(b, a))
    subscription.cancel()
    try b.subscribe(a)
    #expect(refuses(a, b))
  }

  @Test func `a link that was in the way dies with its proxy`() throws {
    let (a, c) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    do {
      let b = try DynamicProxy.pinging()
      try a.subscribe(b)
      try b.subscribe(c)
      #expect(refuses(c, a))
    }
    try c.subscribe(a)
    #expect(refuses(a, c))
  }

  @Test func `diamonds are no circles`() throws {
    let top = try DynamicProxy.pinging()
    let sides = [try DynamicProxy.pinging(), try DynamicProxy.pinging()]
    defer { withExtendedLifetime(sides) {} }
    let bottom = try DynamicProxy.pinging()
    for side in sides {
      try top.subscribe(side)
      try side.subscribe(bottom)
    }
    let a = Listener("a", journal)
    try bottom.subscribe(a)
    try top.ping()
    #expect(journal.take() == ["a1", "a1"])
    #expect(refuses(bottom, top))
  }

  @Test func `a tower of diamonds is searched once`() throws {
    // 2 to the power of 40 ways lead from the bottom to the top.
    var layers: [[DynamicProxy]] = []
    for _ in 0..<40 {
      let layer = [try DynamicProxy.pinging(), try DynamicProxy.pinging()]
      for outer in layer { for inner in layers.last ?? [] { try outer.subscribe(inner) } }
      layers.append(layer)
    }
    #expect(refuses(layers[0][0], layers[39][1]))
  }

  @Test func `two threads close no circle between them`() throws {
    for _ in 0..<100 {
      let (a, b) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
      let codes = Box<[ForwardingError.Code]>([])
      onThreads(2) { number in
        do throws(ForwardingError) {
          try (number == 0 ? a : b).subscribe(number == 0 ? b : a)
        } catch {
          let code = error.code
          codes.update { $0.append(code) }
        }
      }
      #expect(codes.value == [.cycle])
      #expect(a.count + b.count == 1)
    }
  }

  // MARK: Lifetimes

  @Test func `a chained proxy is not kept alive, unless asked for`() throws {
    let outer = try DynamicProxy.pinging()
    let a = Listener("a", journal)
    weak var tracked: DynamicProxy?
    for lifetime in [.weak, .strong] as [DynamicProxy.Lifetime] {
      do {
        let inner = try DynamicProxy.pinging()
        tracked = inner
        try inner.subscribe(a)
        try outer.subscribe(inner, lifetime: lifetime)
        try outer.ping()
        #expect(journal.take() == ["a1"])
      }
      #expect((tracked == nil) == (lifetime == .weak))
      try outer.ping()
      #expect(journal.take() == (lifetime == .weak ? [] : ["a1"]))
    }
    outer.unsubscribeAll()
    #expect(tracked == nil)
  }

  @Test func `a chained proxy may be dropped in its own fan-out`() throws {
    let outer = try DynamicProxy.pinging()
    let holder = Box<DynamicProxy?>(nil)
    weak var tracked: DynamicProxy?
    let (a, b, c) = (
      Listener("a", journal) { _ in holder.value = nil }, Listener("b", journal),
      Listener("c", journal)
    )
    do {
      let inner = try DynamicProxy.pinging()
      (tracked, holder.value) = (inner, inner)
      try outer.subscribe(inner)
      try outer.subscribe(c)
      try inner.subscribe(a)
      try inner.subscribe(b)
    }
    try outer.ping()
    #expect(journal.take() == ["a1", "b1", "c1"])
    #expect(tracked == nil)
  }

  @Test func `proxies in a chain are given up`() throws {
    weak var first: DynamicProxy?
    weak var second: DynamicProxy?
    do {
      let (outer, inner) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
      (first, second) = (outer, inner)
      try outer.subscribe(inner, lifetime: .strong)
      try outer.ping()
    }
    #expect(first == nil && second == nil)
  }
}
