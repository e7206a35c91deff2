// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

/// Method keys that are string literals, or made of a selector alone.
@Suite struct MethodLiteralTests {
  private let journal = Journal()

  private func proxy(
    _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> (DynamicProxy, DynamicProxy.Token) {
    var configuration = DynamicProxy.Configuration()
    configure(&configuration)
    let proxy = try DynamicProxy("Literals", configuration: configuration) {
      $0.required("add:to:", "i@:ii")
      $0.required("large:", "{fixture_large=qqqd}@:q")
      $0.optional("note:of:", "v@:i*")
    }
    let token = try proxy.subscribe { [journal] in
      $0.on("add:to:") { (left: Int32, right: Int32) -> Int32 in left + right }
      $0.on("large:") { (first: Int64) -> fixture_large in
        journal.note("large \(first)")
        return fixture_large(a: first, b: 2, c: 3, d: 4)
      }
      $0.on("note:of:") { (number: Int32, text: String) in journal.note("\(number) \(text)") }
    }
    return (proxy, token)
  }

  @Test func `the context gives a literal its types`() throws {
    let (proxy, token) = try proxy()
    for _ in 0..<3 {
      let sum: Int32 = try proxy.send("add:to:", Int32(1), Int32(2))
      #expect(sum == 3)
      #expect(try proxy.send("add:to:", Int32(3), Int32(4)) as Int32 == 7)
      #expect(try proxy.collect("add:to:", as: Int32.self, Int32(3), Int32(4)).map(\.value) == [7])
      try proxy.send("note:of:", Int32(5), "six")
    }
    #expect(journal.take() == ["5 six", "5 six", "5 six"])
    withExtendedLifetime(token) {}
  }

  @Test func `a literal and a declared key of the same types are one key`() {
    let declared = Method("add:to:", ((Int32, Int32) -> Int32).self)
    for _ in 0..<2 {
      let literal: Forwarding.Method<Int32, Int32, Int32> = "add:to:"
      #expect(literal.token == declared.token && literal.selector == declared.selector)
      let other: Forwarding.Method<Int32, Int32, Int64> = "add:to:"
      #expect(other.token != declared.token)
    }
  }

  @Test func `a selector that is known at run time is a key with the types of the context`() throws
  {
    let (proxy, token) = try proxy()
    let selector = try MethodSelector(validating: ["add", "to", ""].joined(separator: ":"))
    let sum = try proxy.send(Method(selector), Int32(1), Int32(2)) as Int32
    #expect(sum == 3)
    let before = try proxy.before(Method(selector)) { [journal] (left: Int32, right: Int32) in
      journal.note("\(left) \(right)")
    }
    try proxy.send(Method(selector), Int32(4), Int32(5))
    #expect(journal.take() == ["4 5"])
    withExtendedLifetime((token, before)) {}
  }

  @Test func `a result of any size is dropped`() throws {
    let (proxy, token) = try proxy()
    func send<Output>(_: Output.Type) throws -> Output {
      try proxy.send(Method<Output, Int64>("large:"), 2)
    }
    for _ in 0..<2 {
      try proxy.send("large:", Int64(1))
      // The generic form, which does not know that there is no result.
      try send(Void.self)
      let large = try send(fixture_large.self)
      #expect(large.a == 2 && large.d == 4)
    }
    #expect(journal.take().count == 6)
    withExtendedLifetime(token) {}
  }

  @Test func `a key without a result does not stand for one elsewhere`() throws {
    let (proxy, token) = try proxy()
    let key = Method("add:to:", ((Int32, Int32) -> Void).self)
    try proxy.send(key, 1, 2)
    for body in [
      { _ = try proxy.method(for: key) }, { _ = try proxy.functionPointer(for: key) },
      { _ = try proxy.collect(key, 1, 2) }, { _ = try proxy.instead(key) { _, _ in } },
    ] as [() throws -> Void] {
      let error = #expect(throws: ForwardingError.self) { try body() }
      #expect(error?.code == .signatureMismatch)
      #expect(error?.description.contains("the result of \"add:to:\" is 'i' (Int32)") == true)
    }
    withExtendedLifetime(token) {}
  }

  @Test func `the closure of a literal may leave out parameters, that of a key may not`() throws {
    let (proxy, token) = try proxy()
    let before = try proxy.before("note:of:") { [journal] (number: Int32) in
      journal.note("before \(number)")
    }
    try proxy.send("note:of:", Int32(1), "one")
    #expect(journal.take() == ["before 1", "1 one"])
    let key = Method("note:of:", ((Int32) -> Void).self)
    let error = #expect(throws: ForwardingError.self) { _ = try proxy.after(key) { _ in } }
    #expect(error?.code == .signatureMismatch)
    withExtendedLifetime((token, before)) {}
  }

  @Test func `an unknown literal is ignored where the configuration says so`() throws {
    let (proxy, token) = try proxy { $0.unknownSelectors = .ignore }
    try proxy.send("never:", 1)
    #expect(try proxy.send("never:", 1) as Int == 0)
    #expect(try proxy.send("never:", "text") as Bool == false)
    withExtendedLifetime(token) {}
  }

  @Test func `literals are found on several threads`() throws {
    let (proxy, token) = try proxy()
    let wrong = Box(0)
    onThreads(4) { number in
      for round in 0..<500 {
        let (left, right) = (Int32(number), Int32(round))
        let sum = try? proxy.send("add:to:", left, right) as Int32
        if sum != left + right { wrong.update { $0 += 1 } }
        try? proxy.send("add:to:", left, right)
      }
    }
    #expect(wrong.value == 0)
    withExtendedLifetime(token) {}
  }

  @Test func `a method remembers the two last keys that fit it`() throws {
    let (proxy, token) = try proxy()
    let method = try proxy.method(for: "add:to:")
    let result = Method("add:to:", ((Int32, Int32) -> Int32).self)
    let void = Method("add:to:", ((Int32, Int32) -> Void).self)
    _ = try proxy.send(result, 1, 2)
    try proxy.send(void, 1, 2)
    #expect(unsafe proxy.core.verifiedKeys.holds(result.token, method.entry))
    #expect(unsafe proxy.core.verifiedKeys.holds(void.token, method.entry))
    withExtendedLifetime(token) {}
  }
}
