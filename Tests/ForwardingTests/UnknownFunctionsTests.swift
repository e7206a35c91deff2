// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingPresets
import Testing

@testable import Forwarding

/// Subscribers with functions that no protocol of the proxy declares.
@Suite struct UnknownFunctionsTests {
  private let gun = Result {
    try ProtocolTable("Gun") {
      $0.optional("fire:", "v@:i")
      $0.optional("aim:at:", "v@:ii")
      $0.optional("reload", "v@:")
    }
  }

  private func proxy(
    _ unknown: DynamicProxy.Configuration.Unknown = .fail
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.unknownFunctions = unknown
    return try DynamicProxy(adopting: gun.get(), configuration: configuration)
  }

  private func expectRefusal(
    _ code: ForwardingError.Code, _ words: [String] = [], of proxy: DynamicProxy,
    _ body: () throws -> Void
  ) {
    let error = #expect(throws: ForwardingError.self) { try body() }
    #expect(error?.code == code)
    for word in words { #expect(error?.description.contains(word) == true) }
    #expect(proxy.count == 0)
  }

  @Test func `a misspelt selector is refused, with the one that is meant`() throws {
    let proxy = try proxy()
    let owner = Bystander()
    let words = ["\"fier:\"", "did you mean \"fire:\"?", "it adopts \"Gun\""]
    expectRefusal(.unknownSelector, words, of: proxy) {
      try proxy.subscribe(owner) { $0.on("fier:") { (_: Bystander, _: Int32) in } }
    }
    expectRefusal(.unknownSelector, words, of: proxy) {
      _ = try proxy.subscribe { $0.on("fier:") { (_: Int32) in } }
    }
    let table = FunctionTable(for: Bystander.self) {
      $0.on("fire:") { (_: Bystander, _: Int32) in }
      $0.on("fier:") { (_: Bystander, _: Int32) in }
      $0.on("zoom") { (_: Bystander) in }
    }
    expectRefusal(.unknownSelector, words + ["nor 1 more"], of: proxy) {
      try proxy.subscribe(owner, table: table)
    }
    expectRefusal(.unknownSelector, words, of: proxy) {
      try proxy.setForwardTarget(owner, table: table)
    }
    #expect(proxy.forwardTarget == nil)
  }

  @Test func `a selector that is like no other has no suggestion`() throws {
    let proxy = try proxy()
    let error = #expect(throws: ForwardingError.self) {
      _ = try proxy.subscribe { $0.on("somethingElse:entirely:") { (_: Int32, _: Int32) in } }
    }
    #expect(error?.description.contains("did you mean") == false)
  }

  @Test func `forwarding a misspelt selector suggests one, too`() throws {
    let proxy = try proxy()
    let error = #expect(throws: ForwardingError.self) { try proxy.send("relaod") }
    #expect(error?.description.contains("did you mean \"reload\"?") == true)
  }

  @Test func `a table without functions is refused`() throws {
    let proxy = try proxy()
    let owner = Bystander()
    expectRefusal(.emptyTable, of: proxy) { try proxy.subscribe(owner) { _ in } }
    expectRefusal(.emptyTable, of: proxy) { _ = try proxy.subscribe { _ in } }
    expectRefusal(.emptyTable, of: proxy) {
      try proxy.subscribe(owner, table: FunctionTable(for: Bystander.self) { _ in })
    }
  }

  @Test func `a configuration allows tables of several proxies`() throws {
    let proxy = try proxy(.ignore)
    let (owner, journal) = (Bystander(), Journal())
    try proxy.subscribe(owner) {
      $0.on("fire:") { (_: Bystander, number: Int32) in journal.note("fire \(number)") }
      $0.on("zoom") { (_: Bystander) in journal.note("zoom") }
    }
    try proxy.subscribe(owner) { _ in }
    try proxy.send("fire:", Int32(1))
    #expect(journal.take() == ["fire 1"])
    #expect(throws: ForwardingError.self) { try proxy.send("zoom") }
  }

  @Test(
    "presets of systems whose subscribers are objects allow other methods",
    arguments: [
      DynamicProxy.Preset.ksDelegateForwarding, .multiDelegate(strict: true),
      .multiDelegate(strict: false), .proxyListener, .delegateMatrioska, .protocolProxy,
    ])
  func presets(preset: DynamicProxy.Preset) {
    #expect(DynamicProxy.Configuration(preset).unknownFunctions == .ignore)
  }

  @Test(
    "near names are those that few changes lead to",
    arguments: [
      ("fier:", ["fire:"]), ("fire", ["fire:", "fired"]), ("reload", ["reload"]), ("", []),
      ("x", []), ("relod", ["reload"]), ("moveBy:to:", ["moveby:to:"]),
    ])
  func nearness(name: String, expected: [String]) {
    let names = ["fire:", "reload", "moveTo:by:", "moveby:to:", "fired", "a"]
    let found = nearNames(to: name, among: names)
    #expect(found.starts(with: expected) || found == expected, "\(found)")
    #expect(found.count <= 3)
    if expected.isEmpty { #expect(found.isEmpty) }
  }
}
