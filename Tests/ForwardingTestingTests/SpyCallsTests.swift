// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingTesting
import Testing

@Suite struct SpyCallsTests {
  private let spy: Spy
  private var proxy: DynamicProxy { spy.proxy }

  init() throws { spy = try Spy(Parsing.table.get()) }

  @Test func `Calls are recorded with typed arguments`() throws {
    try proxy.send(Parsing.started, "a")
    try proxy.send(Parsing.text, "some text that is no small string", 7)
    try proxy.send(Parsing.text, nil, -1)
    try proxy.send(Parsing.started, "b")
    try proxy.send(Parsing.finished)
    #expect(spy.calls(of: Parsing.started) == ["a", "b"])
    let texts = spy.calls(of: Parsing.text)
    #expect(texts.map(\.0) == ["some text that is no small string", nil])
    #expect(texts.map(\.1) == [7, -1])
    #expect(spy.calls(of: Parsing.finished).count == 1)
    #expect(spy.calls(of: Parsing.limit).isEmpty)
  }

  @Test func `An optional argument is read as an optional`() throws {
    let named = Method("named:", ((String?) -> Void).self)
    let spy = try Spy { $0.optional(named) }
    for name in [nil, "a", nil] { try spy.proxy.send(named, name) }
    #expect(spy.calls(of: named) == [nil, "a", nil])
    #expect(spy.calls(of: named).filter { $0 == nil }.count == 2)
    #expect(spy.calls(of: named).map { $0 ?? "none" } == ["none", "a", "none"])
    let selector = named.selector
    let hasNil = spy.calls(of: selector, as: String?.self).contains(nil)
    // An expression that the compiler could not check with tuples of one element.
    let count = String(describing: spy.calls(of: selector, as: String?.self).count)
    #expect(hasNil && count == "3")
  }

  @Test func `Strings of each length are recorded`() throws {
    // The record contains strings of up to 23 bytes. Longer strings are allocated.
    let texts = (0...40).map { String(repeating: "ä", count: $0 / 2) + ($0 % 2 == 0 ? "" : "x") }
    for text in texts { try spy.proxy.send(Parsing.started, text) }
    #expect(spy.calls(of: Parsing.started) == texts)
  }

  @Test func `Strings are copied, and raw pointers are recorded as addresses`() throws {
    // Without a NUL behind the length: only the callee knows how much it may read.
    let bytes: [CChar] = [65, 66, 67]
    try unsafe bytes.withUnsafeBufferPointer { buffer in
      let start = buffer.baseAddress!
      unsafe try proxy.send(Parsing.raw, start, 3)
      let starts = unsafe spy.calls(of: Parsing.raw).map { unsafe UInt(bitPattern: $0.0) }
      #expect(starts == [UInt(bitPattern: start)])
    }
    // A key of the same signature that would read what the address points to.
    let text = Method("raw:length:", ((String, Int32) -> Void).self)
    let found = try issues { #expect(spy.calls(of: text).isEmpty) }
    #expect(found.count == 1)
    #expect(found.first?.text.contains("was recorded as an address") == true)
  }

  @Test func `Objects are retained until the spy is released`() throws {
    let life = Life()
    do {
      let spy = try Spy(Parsing.table.get())
      spy.stub(Parsing.keep) { $0.name == "kept" ? $0 : nil }
      #expect(try spy.proxy.send(Parsing.keep, Token("kept", life))?.name == "kept")
      #expect(try spy.proxy.send(Parsing.keep, Token("dropped", life)) == nil)
      #expect(life.live == 2)
      #expect(spy.calls(of: Parsing.keep).map(\.name) == ["kept", "dropped"])
    }
    #expect(life.live == 0)
  }

  @Test func `Many calls are recorded in order across methods`() throws {
    for index in 0..<10_000 {
      try proxy.send(Parsing.text, "text \(index)", Int64(index))
      if index % 3 == 0 { try proxy.send(Parsing.finished) }
    }
    let texts = spy.calls(of: Parsing.text)
    #expect(texts.map(\.1) == (0..<10_000).map(Int64.init))
    #expect(texts.map(\.0) == (0..<10_000).map { "text \($0)" })
    #expect(spy.calls(of: Parsing.finished).count == 3334)
  }

  @Test func `Calls through a C function pointer are recorded`() throws {
    let function = try proxy.functionPointer(for: Parsing.ask)
    spy.stub(Parsing.ask) { $0 * 2 }
    let call = unsafe function.unsafeCast(
      to: (@convention(c) (Int32) -> Int32).self)
    #expect(call(21) == 42)
    #expect(spy.calls(of: Parsing.ask) == [21])
  }

  @Test func `Calls of many threads are recorded, each thread's in order`() async throws {
    spy.stub(Parsing.ask) { $0 + 1 }
    let replies = Life()
    await onThreads(4) { [proxy] thread in
      for number in 0..<2000 {
        let reply = try? proxy.send(Parsing.ask, Int32(thread * 10_000 + number)) as Int32
        if reply == Int32(thread * 10_000 + number + 1) { replies.add(1) }
        try? proxy.send(Parsing.started, "\(thread)")
      }
    }
    #expect(replies.live == 8000)
    let numbers = spy.calls(of: Parsing.ask)
    for thread in Int32(0)..<4 {
      let own = numbers.filter { $0 / 10_000 == thread }
      #expect(own == (0..<2000).map { thread * 10_000 + $0 })
    }
    #expect(spy.calls(of: Parsing.started).count == 8000)
  }

  @Test func `A spy of a proxy hears its calls until it is released`() throws {
    let own = try DynamicProxy(adopting: Parsing.table.get())
    let log = Life()
    var configuration = DynamicProxy.Configuration()
    configuration.conformance = .lenient
    let shared = try DynamicProxy(
      adopting: own.protocols, configuration: configuration)
    let token = try shared.subscribe { $0.on(Parsing.started) { _ in log.add(1) } }
    var spy: Spy? = try Spy(shared)
    try shared.send(Parsing.started, "a")
    #expect(spy?.calls(of: Parsing.started) == ["a"])
    #expect(shared.count == 2)
    spy = nil
    #expect(shared.count == 1)
    try shared.send(Parsing.started, "b")
    #expect(log.live == 2)
    token.cancel()
  }

  @Test func `A table of encodings records numbers, objects and addresses`() throws {
    let table = try ProtocolTable("Encoded") {
      $0.required("number:object:flag:text:", "v@d@B*")
    }
    let spy = try Spy(table)
    let key = unsafe Method(
      "number:object:flag:text:",
      ((Double, Token, Bool, UnsafePointer<CChar>?) -> Void).self)
    let token = Token("a")
    try unsafe spy.proxy.send(key, 0.5, token, true, nil)
    let calls = unsafe spy.calls(of: key).map { unsafe ($0, $1, $2, $3 == nil) }
    #expect(calls.count == 1)
    #expect(calls.allSatisfy { $0 == 0.5 && $1 === token && $2 && $3 })
  }

  @Test func `The description lists the calls`() throws {
    try proxy.send(Parsing.started, "a")
    try proxy.send(Parsing.text, nil, 3)
    try proxy.send(Parsing.finished)
    #expect(spy.description == #"Spy of started:("a"), text:at:(nil, 3), finished()"#)
    #expect(try Spy(Parsing.table.get()).description == "Spy of none")
  }
}
