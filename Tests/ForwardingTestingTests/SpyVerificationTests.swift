// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingTesting
import Testing

@Suite struct SpyVerificationTests {
  private let spy: Spy
  private var proxy: DynamicProxy { spy.proxy }

  init() throws { spy = try Spy(Parsing.table.get()) }

  @Test func `A call with a result and no reply is an issue with its arguments`() throws {
    #expect(try proxy.send(Parsing.ask, 7) == 0)
    #expect(try proxy.send(Parsing.keep, Token("a")) == nil)
    let line = #line + 1
    let found = try issues { spy.verify() }
    #expect(found.map(\.line) == [line, line])
    #expect(
      found.first?.text == """
        unexpected call ask:(7): the method has a result, and the spy has no stub, script or default \
        for it; the caller got zero
        """)
    #expect(found.last?.text.hasPrefix("unexpected call keep:(") == true)
    #expect(try issues { spy.verify() }.isEmpty)
  }

  @Test func `Void calls are no issue`() throws {
    try proxy.send(Parsing.started, "a")
    #expect(try issues { spy.verify() }.isEmpty)
  }

  @Test func `Unexpected calls of other threads are issues of the test`() async throws {
    await onThreads(3) { [proxy] thread in
      #expect(Test.current == nil)
      _ = try? proxy.send(Parsing.ask, Int32(thread)) as Int32
    }
    #expect(Test.current != nil)
    let found = try issues { spy.verify() }
    #expect(
      Set(found.map { $0.text.prefix(23) }) == [
        "unexpected call ask:(0)", "unexpected call ask:(1)", "unexpected call ask:(2)",
      ])
  }

  @Test func `A spy that is released tells what no verification has told`() throws {
    var line = 0
    let found = try issues {
      line = #line + 1
      let spy = try Spy(Parsing.table.get())
      _ = try spy.proxy.send(Parsing.ask, 5) as Int32
      spy.verify()
      _ = try spy.proxy.send(Parsing.ask, 6) as Int32
    }
    let texts = found.map { $0.text.prefix(23) }
    #expect(texts == ["unexpected call ask:(5)", "unexpected call ask:(6)"])
    #expect(found.map(\.line) == [line + 2, line])
  }

  @Test func `Calls that come after the spy has died are told when the proxy dies`() throws {
    var line = 0
    let found = try issues {
      line = #line + 1
      var spy: Spy? = try Spy(Parsing.table.get())
      spy?.stub(Parsing.limit) { 1 }
      let proxy = try #require(spy?.proxy)
      spy = nil
      #expect(try proxy.send(Parsing.limit) == 1)
      _ = try proxy.send(Parsing.ask, 6) as Int32
    }
    #expect(found.map { $0.text.prefix(23) } == ["unexpected call ask:(6)"])
    #expect(found.map(\.line) == [line])
  }

  @Test func `Expected numbers of calls are compared where they were stated`() throws {
    let line = #line + 1
    spy.expect(Parsing.started, count: 2)
    spy.expect(Parsing.finished)
    spy.expect(Parsing.text, count: 0)
    try proxy.send(Parsing.started, "a")
    try proxy.send(Parsing.text, "b", 1)
    let found = try issues { spy.verify() }
    #expect(found.map(\.line) == [line, line + 1, line + 2])
    #expect(
      found.map(\.text) == [
        #"expected 2 calls of "started:", got 1: started:("a")"#,
        #"expected 1 call of "finished", got 0: none"#,
        #"expected 0 calls of "text:at:", got 1: text:at:("b", 1)"#,
      ])
    // They held until the verification.
    #expect(try issues { spy.verify() }.isEmpty)
    spy.expect(Parsing.started, count: 1)
    #expect(try issues { spy.verify() }.isEmpty)
  }

  @Test func `Calls in the expected order are no issue`() throws {
    try proxy.send(Parsing.started, "a")
    try proxy.send(Parsing.text, nil, 3)
    try proxy.send(Parsing.text, "b", 4)
    try proxy.send(Parsing.finished)
    let found = try issues {
      spy.verify {
        $0.call(Parsing.started, "a")
        $0.call(Parsing.text, nil, 3)
        $0.call(Parsing.text)
        $0.call(Parsing.finished)
      }
    }
    #expect(found.isEmpty)
  }

  @Test func `Another order, another argument, and a call more or less are issues`() throws {
    try proxy.send(Parsing.started, "a")
    try proxy.send(Parsing.text, "b", 4)
    let line = #line + 2
    let found = try issues {
      spy.verify {
        $0.call(Parsing.text, "b", 4)
        $0.call(Parsing.started, "a")
      }
      spy.verify {
        $0.call(Parsing.started)
        $0.call(Parsing.text, "b", 5)
      }
      spy.verify { $0.call(Parsing.started, "a") }
      spy.verify {
        $0.call(Parsing.started, "a")
        $0.call(Parsing.text)
        $0.call(Parsing.finished)
      }
      spy.verify { _ in }
    }
    #expect(found.map(\.line) == [line, line + 4, line + 8, line + 9, line + 14])
    #expect(
      found.first?.text == """
        call 1 is another: expected text:at:("b", 4), got started:("a")
        expected: text:at:("b", 4), started:("a")
        got: started:("a"), text:at:("b", 4)
        """)
    #expect(
      found.dropFirst().map { $0.text.prefix { !$0.isNewline } } == [
        #"call 2 is another: expected text:at:("b", 5), got text:at:("b", 4)"#,
        #"call 2 is another: expected no call, got text:at:("b", 4)"#,
        "call 3 is another: expected finished(), got no call",
        #"call 1 is another: expected no call, got started:("a")"#,
      ])
  }

  @Test func `A stub that cannot take an argument is an issue`() throws {
    let table = try ProtocolTable("Encoded") { $0.required("object:", "v@@") }
    let spy = try Spy(table)
    spy.stub(Method("object:", ((Token) -> Void).self)) { _ in }
    try spy.proxy.send(Method("object:", ((Token?) -> Void).self), nil)
    let found = try issues { spy.verify() }
    #expect(found.count == 1)
    #expect(found.first?.text.hasPrefix("the spy could not reply:") == true)
    #expect(spy.calls(of: Method("object:", ((Token?) -> Void).self)).count == 1)
  }

  @Test func `A misspelt send is the caller's error`() throws {
    let error = #expect(throws: ForwardingError.self) {
      try proxy.send(Method("stared:", ((String) -> Void).self), "a")
    }
    #expect(error?.code == .unknownSelector)
  }
}
