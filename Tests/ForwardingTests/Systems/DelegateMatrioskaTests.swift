// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingPresets
import Testing

@testable import Forwarding

/// What LBDelegateMatrioska does, by number, under its preset; where that is a
/// defect, what is done instead.
@Suite struct DelegateMatrioskaTests {
  let journal = Journal()

  private static let opening = ProtocolTable.table("Opening") {
    $0.required("open", "v@:")
    $0.optional("width", "i@:")
  }

  private func listeners(_ names: String...) -> [Listener] {
    names.map { Listener($0, journal, score: Int32($0.utf8.first ?? 0)) }
  }

  @Test("1.4.1 the list is given when the proxy is made, the outermost first")
  func list() throws {
    let all = listeners("a", "b", "c")
    let proxy = try DynamicProxy(adopting: .pinging, forwardingTo: all)
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1", "c1"])
    let reversed = try DynamicProxy(
      adopting: [.pinging, Self.opening], forwardingTo: all.reversed())
    try reversed.ping()
    #expect(journal.take() == ["c1", "b1", "a1"])
    // What cannot be made says why, of the proxy and of a member.
    let other = ProtocolTable.table("Other") { $0.required("ping:", "d@:d") }
    let clash = #expect(throws: ForwardingError.self) {
      try DynamicProxy(adopting: .pinging, other, forwardingTo: all)
    }
    #expect(clash?.code == .conflict)
    let misfit = #expect(throws: ForwardingError.self) {
      try DynamicProxy(adopting: other, forwardingTo: all)
    }
    #expect(misfit?.code == .signatureMismatch)
  }

  @Test("1.4.2 an object that stands twice is called twice; the list is weak and can be read")
  func duplicates() throws {
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    var c: Listener? = Listener("c", journal)
    let proxy = try DynamicProxy(
      adopting: .pinging, forwardingTo: [a, b, try #require(c), a])
    #expect(
      proxy.liveSubscribers.map { ObjectIdentifier($0) }
        == [a, b, c, a].compactMap { $0.map { ObjectIdentifier($0) } })
    c = nil
    #expect(proxy.liveSubscribers.map { ObjectIdentifier($0) } == [a, b, a].map { .init($0) })
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1", "a1"])
  }

  @Test("1.4.3 it responds and conforms if and only if some live delegate does")
  func capabilities() throws {
    let a = Listener("a", journal)
    var opener: Opener? = Opener()
    let proxy = try DynamicProxy(
      adopting: .pinging, Self.opening, forwardingTo: [a, try #require(opener)])
    #expect(proxy.responds(to: "ping:") && proxy.responds(to: "open"))
    #expect(!proxy.responds(to: "width") && !proxy.responds(to: "finish"))
    #expect(proxy.conforms(to: .pinging) && proxy.conforms(to: Self.opening))
    opener = nil
    #expect(!proxy.responds(to: "open") && proxy.responds(to: "ping:"))
    #expect(proxy.conforms(to: .pinging) && !proxy.conforms(to: Self.opening))
    let empty = try DynamicProxy(adopting: .pinging, forwardingTo: [])
    #expect(!empty.conforms(to: .pinging))
  }

  @Test("1.4.4 a void method goes to all in order, one with a result to the first responder alone")
  func results() throws {
    let all = listeners("a", "b")
    let opener = Opener()
    let proxy = try DynamicProxy(
      adopting: .pinging, Self.opening, forwardingTo: [opener, all[0], all[1]])
    try proxy.ping(2)
    #expect(journal.take() == ["a2", "b2"])
    #expect(try proxy.send("score:", Int32(3)) == all[0].score)
    #expect(journal.take() == ["a3"])
  }

  @Test("1.4.5 none who responds is no crash: void is ignored, a result an error or the default")
  func noResponder() throws {
    let given = ProtocolTable.table("Given") { $0.optional("height", "i@:", default: Int32(44)) }
    let a = Listener("a", journal)
    for members in [[], [a]] {
      let proxy = try DynamicProxy(
        adopting: .pinging, Self.opening, given, forwardingTo: members)
      #expect(!proxy.responds(to: "width"))
      try proxy.send("finish")
      try proxy.send("open")
      let error = #expect(throws: ForwardingError.self) {
        let _: Int32 = try proxy.send("width")
      }
      #expect(error?.code == .noResponder && error?.selector == "width")
      #expect(try proxy.send("height") == Int32(44))
      let unknown = #expect(throws: ForwardingError.self) { try proxy.send("unheard of") }
      #expect(unknown?.code == .unknownSelector)
    }
  }

  @Test("1.4.6 if the first responder dies under way, the next one answers")
  func deathUnderWay() throws {
    let dying = Box<Listener?>(Listener("d", journal, score: 1))
    let b = Listener("b", journal, score: 7)
    // Found, and asked for its signature, while the first responder lives.
    let proxy = try DynamicProxy(
      adopting: .pinging, forwardingTo: [try #require(dying.value), b])
    let method = try proxy.method(for: "score:")
    #expect(proxy.responds(to: "score:"))
    #expect(try proxy.send("score:", Int32(1)) == Int32(1))
    dying.value = nil
    #expect(method.signature == (try? proxy.method(for: "score:").signature))
    #expect(try proxy.send("score:", Int32(2)) == Int32(7))
    #expect(journal.take() == ["d1", "b2"])
    // And when its death is the work of an outer proxy's subscriber.
    dying.value = Listener("e", journal, score: 1)
    let inner = try DynamicProxy(
      adopting: .pinging, forwardingTo: [try #require(dying.value), b])
    let outer = try DynamicProxy.pinging { $0.results["score:"] = .callAll(pick: .last) }
    let killer = Listener("k", journal) { _ in dying.value = nil }
    try outer.subscribe(killer)
    try outer.subscribe(inner)
    #expect(try outer.send("score:", Int32(3)) == Int32(7))
    #expect(journal.take() == ["k3", "b3"])
  }

  @Test("1.4.7 a proxy is itself: its equality, hash and description, on any thread")
  func root() throws {
    let a = Listener("a", journal)
    let left = try DynamicProxy(adopting: .pinging, forwardingTo: [a])
    let right = try DynamicProxy(adopting: .pinging, forwardingTo: [a])
    #expect(left !== right && ObjectIdentifier(left) != ObjectIdentifier(right))
    #expect(left.description == "DynamicProxy<Pinging> of 1: Listener")
    onThreads(4) { number in
      for round in 0..<200 {
        if number == 0 { _ = try? left.subscribe(a, at: .first).cancel() }
        try? left.ping(Int32(round))
      }
    }
    #expect(journal.take().count >= 800 && left.count == 1)
  }
}

private final class Opener: DynamicProxy.Subscriber {
  static let functionTable = FunctionTable(for: Opener.self) {
    $0.on("open") { (_: Opener) in }
  }
}
