// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct ForwardTargetTests {
  let journal = Journal()

  func score(_ proxy: DynamicProxy, _ number: Int32 = 1) throws -> Int32 {
    try proxy.send("score:", number)
  }

  // MARK: Who is called

  @Test func `what nobody handles goes to the target, and what one handles does not`() throws {
    let proxy = try DynamicProxy.pinging()
    let target = Listener("t", journal, score: 7)
    try proxy.setForwardTarget(target)
    #expect(proxy.forwardTarget === target)
    try proxy.ping()
    #expect(try score(proxy, 2) == 7)
    #expect(journal.take() == ["t1", "t2"])
    let token = try proxy.feed("score:") { (number: Int32) in number * 10 }
    try proxy.ping(3)
    #expect(try score(proxy, 4) == 40)
    #expect(journal.take() == ["t3"])
    let a = Listener("a", journal)
    try proxy.subscribe(a)
    try proxy.ping(5)
    #expect(journal.take() == ["a5"])
    proxy.unsubscribe(a)
    token.cancel()
    try proxy.ping(6)
    #expect(try score(proxy, 7) == 7)
    #expect(journal.take() == ["t6", "t7"])
    // It is no subscriber.
    #expect(proxy.count == 0 && proxy.liveSubscribers.isEmpty && !proxy.contains(target))
    proxy.unsubscribeAll()
    try proxy.ping(8)
    #expect(journal.take() == ["t8"])
  }

  @Test func `with the scope of everything it is the last subscriber, also of later ones`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, b, target) = (
      Listener("a", journal), Listener("b", journal, score: 1), Listener("t", journal, score: 2)
    )
    try proxy.subscribe(a)
    try proxy.setForwardTarget(target, for: .everything)
    try proxy.subscribe(b)
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1", "t1"])
    proxy.unsubscribeAll()
    try proxy.ping()
    #expect(journal.take().isEmpty)
    #expect(proxy.forwardTarget === target)
  }

  @Test func `a target may lack methods, required or not`() throws {
    final class Half: Sendable {}
    let proxy = try DynamicProxy.pinging { $0.conformance = .all }
    let (half, journal) = (Half(), journal)
    try proxy.setForwardTarget(half) {
      $0.on("finish") { (_: Half) in journal.note("finish") } as Void
    }
    try proxy.send("finish")
    try proxy.ping()
    #expect(throws: ForwardingError.self) { _ = try score(proxy) }
    #expect(journal.take() == ["finish"])
    #expect(proxy.responds(to: "finish") && !proxy.responds(to: "ping:"))
  }

  @Test func `one that has handled a method and failed keeps it from the target`() throws {
    enum Phase: Int32 { case began = 1 }
    let proxy = try DynamicProxy.pinging { $0.onError = { _ in } }
    let target = Listener("t", journal, score: 3)
    try proxy.setForwardTarget(target)
    let token = try proxy.feed("score:") { (phase: Phase) in phase.rawValue }
    #expect(throws: ForwardingError.self) { _ = try score(proxy, 9) }
    #expect(journal.take().isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test func `the rules of the proxy hold where the target does not answer`() throws {
    final class Half: Sendable {}
    let half = Half()
    let reports = Box<[ForwardingError.Code]>([])
    for (rule, isAnswered) in [
      (DynamicProxy.Configuration.NoResponder.standard, false), (.ignore, true), (.fail, false),
      (.report, true),
    ] {
      let proxy = try DynamicProxy.pinging { configuration in
        configuration.noResponder = rule
        configuration.unknownFunctions = .ignore
        configuration.onError = { error in reports.update { $0.append(error.code) } }
      }
      try proxy.setForwardTarget(half) { _ in }
      #expect((try? score(proxy)) == (isAnswered ? 0 : nil), "\(rule)")
      #expect(((try? proxy.ping()) != nil) == (rule != .fail), "\(rule)")
    }
    #expect(reports.value == [.noResponder, .noResponder])
  }

  @Test func `defaults, quantifiers and policies are those of the proxy`() throws {
    let table = ProtocolTable.table("Policies") {
      $0.optional("any", "B@:", result: .any)
      $0.optional("all", "B@:", result: .all)
      $0.optional("level", "i@:", default: Int32(5))
    }
    final class Half: Sendable {}
    var configuration = DynamicProxy.Configuration()
    configuration.unknownFunctions = .ignore
    let proxy = try DynamicProxy(adopting: table, configuration: configuration)
    let half = Half()
    try proxy.setForwardTarget(half) { _ in }
    #expect(try proxy.send("any") == false)
    #expect(try proxy.send("all") == true)
    #expect(try proxy.send("level") == Int32(5))
    try proxy.setForwardTarget(half) {
      $0.on("any") { (_: Half) in true }
      $0.on("all") { (_: Half) in false }
      $0.on("level") { (_: Half) in Int32(6) }
    }
    #expect(try proxy.send("any") == true)
    #expect(try proxy.send("all") == false)
    #expect(try proxy.send("level") == Int32(6))
  }

  @Test func `objects, collected answers and C callers reach the target`() throws {
    let table = ProtocolTable.table("Kinds") {
      $0.optional("cell:", "@@:q")
      $0.optional("score:", "i@:i")
    }
    final class Target: Sendable {}
    let (proxy, target, population) = (try DynamicProxy(adopting: table), Target(), Population())
    try proxy.setForwardTarget(target) {
      $0.on("cell:") { (_: Target, row: Int64) in population.make() }
      $0.on("score:") { (_: Target, number: Int32) in number + 1 }
    }
    do {
      let cell: Population.Tracked = try proxy.send("cell:", Int64(0))
      #expect(population.living == 1)
      withExtendedLifetime(cell) {}
    }
    #expect(population.living == 0)
    let answers = try proxy.collect("score:", as: Int32.self, Int32(1))
    #expect(answers.map(\.value) == [2])
    #expect(answers.first?.author === target)
    let function = try proxy.functionPointer(for: "score:")
    let call: @convention(c) (Int32) -> Int32 = unsafe function.unsafeCast()
    #expect(call(4) == 5)
  }

  @Test func `a batch hands on what none of its subscribers handles`() throws {
    final class Half: Sendable {}
    let (proxy, half, journal) = (try DynamicProxy.pinging(), Half(), journal)
    let a = Listener("a", journal)
    try proxy.subscribe(a)
    try proxy.setForwardTarget(half) {
      $0.on("finish") { (_: Half) in journal.note("finish") } as Void
      $0.on("ping:") { (_: Half, number: Int32) in journal.note("no") } as Void
    }
    try proxy.withBatch {
      try proxy.send("finish")
      try proxy.send("ping:", Int32(0))
    }
    #expect(journal.take() == ["finish", "a0"])
  }

  @Test func `a blocked subscriber does not handle what it implements`() throws {
    let proxy = try DynamicProxy.pinging()
    let (a, target) = (Listener("a", journal), Listener("t", journal))
    let subscription = try proxy.subscribe(a)
    try proxy.setForwardTarget(target)
    try subscription.block().during { try proxy.ping() }
    try proxy.ping(2)
    #expect(journal.take() == ["t1", "a2"])
  }

  @Test func `it is forwarded to while a method has only dead subscribers`() throws {
    let proxy = try DynamicProxy.pinging()
    let target = Listener("t", journal)
    try proxy.setForwardTarget(target)
    try proxy.subscribe(Listener("a", journal))
    try proxy.ping()
    #expect(journal.take() == ["t1"])
  }

  @Test func `that it is handled is told by the target as by a subscriber`() throws {
    let table = ProtocolTable.table("Handled") { $0.optional("try", "v@:", result: .untilHandled) }
    final class Half: Sendable {}
    let (outer, inner) = (try DynamicProxy(adopting: table), try DynamicProxy(adopting: table))
    let (half, after, journal) = (Half(), Half(), journal)
    try outer.subscribe(inner)
    try outer.subscribe(after) { $0.on("try") { (_: Half) in journal.note("after") } as Void }
    try inner.setForwardTarget(half) {
      $0.on("try") { (_: Half) in
        journal.note("target")
        DynamicProxy.markHandled()
      } as Void
    }
    try outer.send("try")
    #expect(journal.take() == ["target"])
  }

  // MARK: Lifetimes

  @Test func `it is not kept alive, and when it has died nobody answers`() throws {
    let proxy = try DynamicProxy.pinging()
    do {
      let target = Listener("t", journal)
      try proxy.setForwardTarget(target)
      #expect(proxy.responds(to: "ping:"))
      withExtendedLifetime(target) {}
    }
    #expect(proxy.forwardTarget == nil)
    #expect(!proxy.responds(to: "ping:"))
    try proxy.ping()
    #expect(throws: ForwardingError.self) { _ = try score(proxy) }
    #expect(journal.take().isEmpty)
  }

  @Test func `it is kept if that is asked for, until another is set or the proxy dies`() throws {
    weak var (tracked, other): (Listener?, Listener?) = (nil, nil)
    do {
      let proxy = try DynamicProxy.pinging()
      do {
        let target = Listener("t", journal)
        tracked = target
        try proxy.setForwardTarget(target, lifetime: .strong)
      }
      try proxy.ping()
      #expect(journal.take() == ["t1"])
      do {
        let target = Listener("u", journal)
        other = target
        try proxy.setForwardTarget(target, lifetime: .strong)
      }
      #expect(tracked == nil)
      try proxy.ping()
      #expect(journal.take() == ["u1"])
    }
    #expect(other == nil)
  }

  @Test func `setting another one, or none, ends the first, in its own call too`() throws {
    let proxy = try DynamicProxy.pinging()
    let second = Listener("second", journal)
    let first = Listener("first", journal) { _ in try? proxy.setForwardTarget(second) }
    try proxy.setForwardTarget(first)
    try proxy.ping()
    try proxy.ping()
    #expect(journal.take() == ["first1", "second1"])
    proxy.removeForwardTarget()
    #expect(proxy.forwardTarget == nil)
    try proxy.ping()
    #expect(journal.take().isEmpty)
    proxy.removeForwardTarget()
  }

  @Test func `a target with wrong types is refused, and the earlier one stays`() throws {
    final class Wrong: DynamicProxy.Subscriber {
      static let functionTable = FunctionTable(for: Wrong.self) {
        $0.on("ping:") { (_: Wrong, number: Double) in }
      }
    }
    let proxy = try DynamicProxy.pinging()
    let (target, wrong) = (Listener("t", journal), Wrong())
    try proxy.setForwardTarget(target)
    do {
      try proxy.setForwardTarget(wrong)
      Issue.record("it was not refused")
    } catch {
      #expect(error.code == .signatureMismatch)
    }
    #expect(throws: ForwardingError.self) {
      try proxy.setForwardTarget(Bystander(), table: Listener.functionTable)
    }
    #expect(proxy.forwardTarget === target)
  }

  // MARK: Capabilities

  @Test func `changes of the target are told as changes of the subscribers are`() throws {
    let changes = Journal()
    let proxy = try DynamicProxy.pinging { configuration in
      configuration.onCapabilityChange = { changes.note("\($0)\($1 ? "+" : "-")") }
    }
    let (a, target) = (Listener("a", journal), Listener("t", journal))
    try proxy.setForwardTarget(target)
    #expect(changes.take() == ["ping:+", "score:+"])
    try proxy.subscribe(a)
    proxy.unsubscribe(a)
    #expect(changes.take().isEmpty)
    proxy.removeForwardTarget()
    #expect(changes.take() == ["ping:-", "score:-"])
    try proxy.subscribe(a)
    #expect(changes.take() == ["ping:+", "score:+"])
    do {
      try proxy.setForwardTarget(Listener("u", journal))
    }
    proxy.unsubscribe(a)
    try proxy.ping()
    #expect(changes.take() == ["ping:-", "score:-"])
  }

  @Test func `whether subscribers conform counts it`() throws {
    let proxy = try DynamicProxy.pinging { $0.conforming = .subscribers }
    let other = ProtocolTable.table("Finishing") { $0.required("finish", "v@:") }
    let target = Listener("t", journal)
    #expect(!proxy.conforms(to: .pinging))
    try proxy.setForwardTarget(target)
    #expect(proxy.conforms(to: .pinging))
    #expect(!proxy.conforms(to: other))
    proxy.removeForwardTarget()
    #expect(!proxy.conforms(to: .pinging))
  }

  // MARK: Proxies as targets

  @Test func `another proxy gets what is not handled, for all its subscribers`() throws {
    let (proxy, other) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    let (a, b) = (Listener("a", journal, score: 4), Listener("b", journal))
    try other.subscribe(a)
    try other.subscribe(b)
    try proxy.setForwardTarget(other)
    #expect(proxy.forwardTarget === other)
    #expect(proxy.responds(to: "ping:") && !proxy.responds(to: "finish"))
    try proxy.ping()
    #expect(try score(proxy) == 4)
    #expect(journal.take() == ["a1", "b1", "a1"])
    try proxy.setForwardTarget(other, for: .everything)
    let c = Listener("c", journal)
    try proxy.subscribe(c)
    try proxy.ping(2)
    #expect(journal.take() == ["c2", "a2", "b2"])
    other.unsubscribeAll()
    proxy.unsubscribe(c)
    #expect(!proxy.responds(to: "ping:"))
  }

  @Test func `circles through targets are refused, from either side`() throws {
    let (a, b, c) = (
      try DynamicProxy.pinging(), try DynamicProxy.pinging(), try DynamicProxy.pinging()
    )
    func isCycle(_ body: () throws -> Void) -> Bool {
      do { try body() } catch { return (error as? ForwardingError)?.code == .cycle }
      return false
    }
    #expect(isCycle { try a.setForwardTarget(a) })
    try a.setForwardTarget(b)
    #expect(isCycle { try b.setForwardTarget(a) })
    #expect(isCycle { try b.setForwardTarget(a, for: .everything) })
    #expect(isCycle { try b.subscribe(a) })
    try b.subscribe(c)
    #expect(isCycle { try c.setForwardTarget(a) })
    #expect(isCycle { try c.subscribe(a) })
    #expect(b.forwardTarget == nil && c.forwardTarget == nil)
    // What has ended makes no circle.
    a.removeForwardTarget()
    // A proxy that is subscribed handles what it declares.
    b.unsubscribe(c)
    try b.setForwardTarget(a)
    let listener = Listener("x", journal)
    try a.subscribe(listener)
    try b.send("ping:", Int32(1))
    #expect(journal.take() == ["x1"])
  }

  @Test func `a proxy that is a target is not kept alive, nor the one that has it`() throws {
    weak var (outer, inner): (DynamicProxy?, DynamicProxy?) = (nil, nil)
    do {
      let (proxy, other) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
      (outer, inner) = (proxy, other)
      try proxy.setForwardTarget(other)
      let target = Listener("t", journal)
      try other.setForwardTarget(target, lifetime: .strong)
      try proxy.ping()
      #expect(journal.take() == ["t1"])
    }
    #expect(outer == nil && inner == nil)
  }

  // MARK: Threads

  @Test func `while targets change on other threads, one of them answers`() throws {
    let proxy = try DynamicProxy.pinging()
    let listeners = (0..<2).map { Listener("\($0)", Journal(), score: Int32($0) + 1) }
    try proxy.setForwardTarget(listeners[0])
    let wrong = Box(0)
    onThreads(4) { thread in
      for round in 0..<500 {
        if thread < 2 {
          let answer = try? proxy.send("score:", Int32(0)) as Int32
          if answer != 1 && answer != 2 { wrong.update { $0 += 1 } }
        } else {
          try? proxy.setForwardTarget(listeners[(thread + round) % 2])
        }
      }
    }
    #expect(proxy.responds(to: "score:"))
    withExtendedLifetime(listeners) {}
    #expect(wrong.value == 0)
  }
}
