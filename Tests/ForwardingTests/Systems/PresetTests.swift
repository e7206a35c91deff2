// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingPresets
import Testing

@testable import Forwarding

/// Presets where no test of their system's speaks of them.
@Suite struct PresetTests {
  let journal = Journal()

  private static let both = ProtocolTable.table("Both") {
    $0.required("ping:", "v@:i")
    $0.required("score:", "i@:i")
    $0.required("finish", "v@:")
  }

  @Test func `a KSDelegateForwarding takes any object, as often as it comes, and not itself`()
    throws
  {
    let proxy = try DynamicProxy(
      adopting: Self.both, configuration: .init(.ksDelegateForwarding))
    // A Listener cannot finish.
    let a = Listener("a", journal)
    let first = try proxy.subscribe(a)
    #expect(try proxy.subscribe(a) != first)
    #expect(try !proxy.subscribe(proxy).isLive)
    try proxy.ping()
    #expect(journal.take() == ["a1", "a1"])
    #expect(proxy.responds(to: "ping:") && !proxy.responds(to: "finish"))
    let unknown = #expect(throws: ForwardingError.self) { try proxy.send("unheard of") }
    #expect(unknown?.code == .unknownSelector)
  }

  @Test func `a ProtocolProxy takes handlers of single methods, and lacks one without a crash`()
    throws
  {
    let journal = journal
    let proxy = try DynamicProxy(adopting: Self.both, configuration: .init(.protocolProxy))
    let token = try proxy.subscribe {
      $0.on("score:") { (number: Int32) -> Int32 in number * 2 }
    }
    let other = try proxy.subscribe {
      $0.on("ping:") { (number: Int32) in journal.note("ping \(number)") }
    }
    #expect(try proxy.send("score:", Int32(4)) == Int32(8))
    try proxy.ping(3)
    #expect(journal.take() == ["ping 3"])
    #expect(!proxy.responds(to: "finish"))
    token.cancel()
    let error = #expect(throws: ForwardingError.self) {
      let _: Int32 = try proxy.send("score:", Int32(4))
    }
    #expect(error?.code == .noResponder)
    withExtendedLifetime(other) {}
    // Without the preset such a handler is no conformer.
    let usual = try DynamicProxy(adopting: Self.both)
    let refused = #expect(throws: ForwardingError.self) {
      _ = try usual.subscribe { $0.on("ping:") { (_: Int32) in } }
    }
    #expect(refused?.code == .missingMethod)
  }

  @Test func `a preset can be changed, and a list has whatever configuration one gives it`()
    throws
  {
    var configuration = DynamicProxy.Configuration(.delegateMatrioska)
    configuration.duplicates = .once
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    let proxy = try DynamicProxy(
      adopting: .pinging, forwardingTo: [b, a, b], configuration: configuration)
    try proxy.ping()
    #expect(journal.take() == ["b1", "a1"])
    // Who is refused is not passed over, and nothing is left of the proxy.
    let error = #expect(throws: ForwardingError.self) {
      try DynamicProxy(
        adopting: Self.both, forwardingTo: [a, b],
        configuration: .init(.multiDelegate(strict: true)))
    }
    #expect(error?.code == .missingMethod && error?.selector == "finish")
  }

  @Test(arguments: [DynamicProxy.Configuration.StandardResult.first, .last])
  func `only a method without a policy of its own is asked as the standard says`(
    _ standard: DynamicProxy.Configuration.StandardResult
  ) throws {
    let table = ProtocolTable.table("Policies") {
      $0.optional("score:", "i@:i", result: .first)
      $0.optional("ping:", "v@:i")
    }
    var configuration = DynamicProxy.Configuration()
    configuration.standardResult = standard
    let (a, b) = (Listener("a", journal, score: 1), Listener("b", journal, score: 2))
    let proxy = try DynamicProxy(
      adopting: table, forwardingTo: [a, b], configuration: configuration)
    #expect(try proxy.send("score:", Int32(0)) == Int32(1))
    #expect(journal.take() == ["a0"])
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1"])
  }
}
