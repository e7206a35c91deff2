// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingTesting
import Testing

@Suite struct SpyRepliesTests {
  private let spy: Spy
  private var proxy: DynamicProxy { spy.proxy }

  init() throws { spy = try Spy(Parsing.table.get()) }

  @Test func `A stub replies, and a later one replaces it`() throws {
    spy.stub(Parsing.ask) { number in number + 1 }
    #expect(try proxy.send(Parsing.ask, 1) == 2)
    spy.stub(Parsing.ask) { number in -number }
    #expect(try proxy.send(Parsing.ask, 1) == -1)
    #expect(spy.calls(of: Parsing.ask) == [1, 1])
  }

  @Test func `The stub of a void method is called with its arguments`() throws {
    let heard = Life()
    spy.stub(Parsing.text) { _, offset in heard.add(Int(offset)) }
    try proxy.send(Parsing.text, "a", 4)
    try proxy.send(Parsing.text, "b", 5)
    #expect(heard.live == 9)
  }

  @Test func `A method with a default needs no stub`() throws {
    #expect(try proxy.send(Parsing.limit) == 2.5)
    spy.stub(Parsing.limit) { 7 }
    #expect(try proxy.send(Parsing.limit) == 7)
    #expect(spy.calls(of: Parsing.limit).count == 2)
  }

  @Test func `A script replies in order, and one call more is an issue`() throws {
    spy.script(Parsing.ask, returning: 1, 2)
    spy.script(Parsing.ask, returning: 3)
    #expect(try (0..<3).map { _ in try proxy.send(Parsing.ask, 0) as Int32 } == [1, 2, 3])
    #expect(try issues { spy.verify() }.isEmpty)
    #expect(try proxy.send(Parsing.ask, 8) == 0)
    let line = #line + 1
    let found = try issues { spy.verify() }
    #expect(found.map(\.line) == [line])
    #expect(
      found.map(\.text) == [
        """
        unexpected call ask:(8): the script of the method had 3 results, and there is no stub
        """
      ])
  }

  @Test func `A stub replies when the script has ended`() throws {
    spy.stub(Parsing.ask) { $0 }
    spy.script(Parsing.ask, returning: 10)
    #expect(try proxy.send(Parsing.ask, 1) == 10)
    #expect(try proxy.send(Parsing.ask, 2) == 2)
    #expect(try issues { spy.verify() }.isEmpty)
  }

  @Test func `A script with results left is an issue where it was stated`() throws {
    let line = #line + 1
    spy.script(Parsing.ask, returning: 1, 2, 3)
    #expect(try proxy.send(Parsing.ask, 0) == 1)
    let found = try issues { spy.verify() }
    #expect(found.map(\.line) == [line])
    #expect(
      found.map(\.text) == [
        """
        expected 3 calls of "ask:", one for each result of its script, got 1
        """
      ])
    #expect(try issues { spy.verify() }.isEmpty)
  }

  @Test func `A scripted object is retained for each caller`() throws {
    let life = Life()
    do {
      let spy = try Spy(Parsing.table.get())
      let token = Token("given", life)
      spy.script(Parsing.keep, returning: token, nil, token)
      let given = try (0..<3).map { _ in try spy.proxy.send(Parsing.keep, token) as Token? }
      #expect(given.map { $0?.name } == ["given", nil, "given"])
    }
    #expect(life.live == 0)
  }

  @Test func `A stub with other types or of an unknown method is an issue`() throws {
    let wide = Method("ask:", ((Int64) -> Int32).self)
    let misspelt = Method("aks:", ((Int32) -> Int32).self)
    let line = #line + 2
    let found = try issues {
      spy.stub(wide) { _ in 1 }
      spy.script(misspelt, returning: 1)
      spy.stub(misspelt) { _ in 1 }
      spy.expect(misspelt)
      #expect(spy.calls(of: wide).isEmpty)
    }
    #expect(found.count == 5)
    #expect(found.first?.line == line)
    #expect(found[0].text.contains("\"ask:\"") && found[0].text.contains("Int64"))
    for issue in found[1...3] { #expect(issue.text.contains("did you mean \"ask:\"?")) }
    #expect(found[4].text.contains("does not fit"))
    #expect(try issues { spy.verify() }.isEmpty)
  }
}
