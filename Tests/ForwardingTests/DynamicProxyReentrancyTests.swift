// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DynamicProxyReentrancyTests {
  let journal = Journal()

  // MARK: Joining

  @Test(
    "one who joins during a fan-out takes part from the next one on",
    arguments: [
      "last", "first", "index 0", "before", "after", "priority",
    ])
  func joins(place: String) throws {
    let proxy = try DynamicProxy.pinging()
    let (b, new) = (Listener("b", journal), Listener("n", journal))
    let a = Listener("a", journal) { listener in
      listener.action.value = nil
      let position: DynamicProxy.Position =
        switch place {
        case "first": .first
        case "index 0": .index(0)
        case "before": .before(b)
        case "after": .after(b)
        case "priority": .priority(1)
        default: .last
        }
      #expect(throws: Never.self) { try proxy.subscribe(new, at: position) }
    }
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1"])
    try proxy.ping(2)
    let expected =
      switch place {
      case "first", "index 0", "priority": ["n2", "a2", "b2"]
      case "before": ["a2", "n2", "b2"]
      default: ["a2", "b2", "n2"]
      }
    #expect(journal.take() == expected)
  }

  @Test func `the last one may bring in many, again and again`() throws {
    let proxy = try DynamicProxy.pinging()
    let (holder, journal) = (Box<[Listener]>([]), journal)
    let a = Listener("a", journal) { _ in
      // More than any array has room for, so that it is replaced under the fan-out.
      for _ in 0..<50 {
        let new = Listener("n", journal)
        holder.update { $0.append(new) }
        #expect(throws: Never.self) { try proxy.subscribe(new) }
      }
    }
    try proxy.subscribe(a)
    for round in 0..<5 {
      try proxy.ping()
      #expect(journal.take().count == 1 + 50 * round)
    }
  }

  // MARK: Leaving

  @Test(
    "one who leaves during a fan-out is not called any more",
    arguments: [
      "cancel", "unsubscribe", "all",
    ])
  func leaves(how: String) throws {
    let proxy = try DynamicProxy.pinging()
    let (b, c) = (Listener("b", journal), Listener("c", journal))
    let subscriptions = Box<[DynamicProxy.Subscription]>([])
    let a = Listener("a", journal) { _ in
      switch how {
      case "cancel": subscriptions.value[0].cancel()
      case "unsubscribe": proxy.unsubscribe(b)
      default: proxy.unsubscribeAll()
      }
    }
    try proxy.subscribe(a)
    subscriptions.value = [try proxy.subscribe(b)]
    try proxy.subscribe(c)
    try proxy.ping()
    #expect(journal.take() == (how == "all" ? ["a1"] : ["a1", "c1"]))
    try proxy.ping(2)
    #expect(journal.take() == (how == "all" ? [] : ["a2", "c2"]))
  }

  @Test("leaving in one's own call skips nobody", arguments: 0..<4)
  func leavesItself(position: Int) throws {
    let proxy = try DynamicProxy.pinging()
    let listeners = (0..<4).map { Listener("\($0):", journal) }
    defer { withExtendedLifetime(listeners) {} }
    for listener in listeners { try proxy.subscribe(listener) }
    listeners[position].action.value = { proxy.unsubscribe($0) }
    try proxy.ping()
    #expect(journal.take() == ["0:1", "1:1", "2:1", "3:1"])
    try proxy.ping(2)
    var expected = ["0:2", "1:2", "2:2", "3:2"]
    expected.remove(at: position)
    #expect(journal.take() == expected)
  }

  @Test func `leaving when one was called already skips nobody`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, c) = (Listener("a", journal), Listener("c", journal))
    let b = Listener("b", journal) { _ in proxy.unsubscribe(a) }
    for listener in [a, b, c] { try proxy.subscribe(listener) }
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1", "c1"])
  }

  @Test func `one who leaves and comes back takes part from the next fan-out on`() throws {
    let proxy = try DynamicProxy.pinging()
    let b = Listener("b", journal)
    let a = Listener("a", journal) { _ in
      proxy.unsubscribe(b)
      #expect(throws: Never.self) { try proxy.subscribe(b) }
    }
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    try proxy.ping()
    #expect(journal.take() == ["a1"])
  }

  @Test func `everyone leaving in his own call leaves an empty proxy`() throws {
    let proxy = try DynamicProxy.pinging()
    let listeners = (0..<100).map { _ in Listener("x", journal) { proxy.unsubscribe($0) } }
    defer { withExtendedLifetime(listeners) {} }
    for listener in listeners { try proxy.subscribe(listener) }
    try proxy.ping()
    #expect(journal.take().count == 100)
    #expect(proxy.count == 0)
    try proxy.ping()
    #expect(journal.take().isEmpty)
  }

  // MARK: Forwarding inside a forwarding

  @Test func `a forwarding inside a forwarding goes to everyone, in its own order`() throws {
    let proxy = try DynamicProxy.pinging()
    let a = Listener("a", journal) { listener in
      listener.action.value = nil
      #expect(throws: Never.self) { try proxy.ping(2) }
    }
    let b = Listener("b", journal)
    try proxy.subscribe(a)
    try proxy.subscribe(b)
    try proxy.ping()
    #expect(journal.take() == ["a1", "a2", "b2", "b1"])
  }

  @Test func `nests deep`() throws {
    let proxy = try DynamicProxy.pinging()
    let depth = Box(0)
    let a = Listener("a", journal) { _ in
      let level = depth.update { depth in
        depth += 1
        return depth
      }
      if level < 200 { #expect(throws: Never.self) { try proxy.ping(0) } }
    }
    try proxy.subscribe(a)
    try proxy.ping(0)
    #expect(journal.take().count == 200)
  }

  @Test func `who joins in an outer fan-out takes part in an inner one`() throws {
    let proxy = try DynamicProxy.pinging()
    let new = Listener("n", journal)
    let a = Listener("a", journal) { listener in
      listener.action.value = nil
      #expect(throws: Never.self) {
        try proxy.subscribe(new)
        try proxy.ping(2)
      }
    }
    try proxy.subscribe(a)
    try proxy.ping(1)
    #expect(journal.take() == ["a1", "a2", "n2"])
  }

  @Test func `who leaves in an inner fan-out is not called in an outer one`() throws {
    let proxy = try DynamicProxy.pinging()
    let c = Listener("c", journal)
    let b = Listener("b", journal) { _ in proxy.unsubscribe(c) }
    let a = Listener("a", journal) { listener in
      listener.action.value = nil
      #expect(throws: Never.self) { try proxy.ping(2) }
    }
    for listener in [a, b, c] { try proxy.subscribe(listener) }
    try proxy.ping(1)
    #expect(journal.take() == ["a1", "a2", "b2", "b1"])
  }

  @Test func `results of an inner forwarding do not touch those of the outer one`() throws {
    let proxy = try DynamicProxy.pinging { $0.conformance = .lenient }
    let inner = Box<Int32>(0)
    let owner = Bystander()
    // A proxy that its own closures keep would never be given up.
    try proxy.subscribe(owner) {
      $0.on("score:") { [weak proxy] (_: Bystander, number: Int32) -> Int32 in
        if number > 0, let proxy {
          #expect(throws: Never.self) { inner.value = try proxy.send("score:", number - 1) }
        }
        return number * 10 + inner.value
      }
    }
    #expect(try proxy.send("score:", Int32(2)) == Int32(30))
  }

  // MARK: Locks

  @Test func `a subscriber may use the proxy from another thread and wait for it`() throws {
    // With a lock held during calls this would never return.
    let proxy = try DynamicProxy.pinging()
    let (new, journal) = (Listener("n", journal), journal)
    let a = Listener("a", journal) { listener in
      listener.action.value = nil
      onThreads(1) { _ in
        #expect(throws: Never.self) {
          try proxy.subscribe(new)
          try proxy.ping(2)
          #expect(proxy.responds(to: "ping:"))
          proxy.unsubscribe(new)
        }
      }
    }
    try proxy.subscribe(a)
    try proxy.ping()
    #expect(journal.take() == ["a1", "a2", "n2"])
  }
}
