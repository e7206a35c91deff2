// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// `Configuration.onUnknown`: what no protocol of a proxy declares.
@Suite struct UnknownInvocationTests {
  private func proxy(
    _ handler: @escaping @Sendable (Invocation) throws -> Void
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.onUnknown = handler
    let table = try ProtocolTable("Known") { $0.optional("known:", "i@:i") }
    return try DynamicProxy(adopting: table, configuration: configuration)
  }

  @Test func `a send becomes an invocation with its types, and has the result that is set`() throws
  {
    let proxy = try proxy { invocation in
      #expect(invocation.selector == "add:to:" && invocation.signature.text == "i@id")
      let left = try invocation.argument(at: 1, as: Int32.self)
      let right = try invocation.argument(at: 2, as: Double.self)
      try invocation.setResult(left + Int32(right))
    }
    #expect(try proxy.send("add:to:", Int32(2), 3.0) == Int32(5))
    let key = Method("add:to:", ((Int32, Double) -> Int32).self)
    #expect(try proxy.send(key, 20, 22) == 42)
  }

  @Test func `objects and strings pass, and their references are counted`() throws {
    let population = Population()
    let proxy = try proxy { invocation in
      try invocation.setResult(try invocation.argument(at: 1, as: AnyObject?.self))
    }
    do {
      let object = population.make()
      let same: AnyObject? = try proxy.send("same:", object as AnyObject?)
      #expect(same === object)
    }
    #expect(population.living == 0)
    let names = Box<[String]>([])
    let other = try self.proxy { invocation in
      let name = try invocation.argument(at: 1, as: String.self)
      names.update { $0.append(name) }
    }
    try other.send("name:", "Löwe")
    #expect(names.value == ["Löwe"])
  }

  @Test func `an invocation as an object is handled as it is`() throws {
    let proxy = try proxy { try $0.setResult(Int32(9)) }
    let invocation = try Invocation("other", try MethodSignature("i@:"))
    try proxy.forward(invocation)
    #expect(try invocation.result(as: Int32.self) == 9)
  }

  @Test func `it may hand on to another proxy`() throws {
    let table = try ProtocolTable("Other") { $0.optional("twice:", "i@:i") }
    let other = try DynamicProxy(adopting: table)
    let token = try other.subscribe { $0.on("twice:") { (number: Int32) -> Int32 in 2 * number } }
    let proxy = try proxy { try other.forward($0) }
    #expect(try proxy.send("twice:", Int32(21)) == Int32(42))
    withExtendedLifetime(token) {}
  }

  @Test func `what is declared does not come here, and nothing else changes`() throws {
    let proxy = try proxy { _ in Issue.record("called") }
    let token = try proxy.subscribe { $0.on("known:") { (number: Int32) -> Int32 in number } }
    #expect(try proxy.send("known:", Int32(1)) == Int32(1))
    #expect(!proxy.responds(to: "unknown:"))
    #expect(throws: ForwardingError.self) { try proxy.method(for: "unknown:") }
    withExtendedLifetime(token) {}
  }

  @Test func `no result is an error, and so is what it throws`() throws {
    let proxy = try proxy { _ in }
    try proxy.send("done")
    let error = #expect(throws: ForwardingError.self) { _ = try proxy.send("count") as Int32 }
    #expect(error?.code == .noResponder && error?.description.contains("\"count\"") == true)
    struct Refusal: Error {}
    let refusing = try self.proxy { _ in throw Refusal() }
    let refusal = #expect(throws: ForwardingError.self) { try refusing.send("done") }
    #expect(refusal?.code == .deliveryFailed && refusal?.description.contains("Refusal") == true)
    let failing = try self.proxy { _ = try $0.argument(at: 7, as: Int32.self) }
    let failure = #expect(throws: ForwardingError.self) { try failing.send("done") }
    #expect(failure?.code == .indexOutOfRange)
  }

  @Test func `a recursion without an end is an error, long before the stack ends`() throws {
    let itself = Box<DynamicProxy?>(nil)
    let depth = Box(0)
    let proxy = try proxy { invocation in
      depth.update { $0 += 1 }
      try itself.value?.forward(invocation)
    }
    itself.update { $0 = proxy }
    let error = #expect(throws: ForwardingError.self) { try proxy.send("again") }
    #expect(error?.code == .nestedTooDeep && depth.value > 20)
    itself.update { $0 = nil }
    try proxy.send("again")
  }
}
