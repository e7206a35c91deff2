// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// Closures that leave out parameters of their method.
@Suite struct FewerParametersTests {
  private static let visit = Method("visit:status:kind:", ((Int64, Double, Int32) -> Int32).self)
  private static let moved = Method("moved:by:", ((Int32, Double) -> Void).self)
  private static let done = Method("done", (() -> Void).self)

  private let journal = Journal()

  private func make() throws -> DynamicProxy {
    try DynamicProxy {
      $0.optional(Self.visit)
      $0.optional(Self.moved)
      $0.optional(Self.done)
    }
  }

  @Test func `with a key a closure may leave out all arguments`() throws {
    let proxy = try make()
    let owner = Listener("a", journal)
    try proxy.subscribe(owner) {
      $0.on(Self.visit) { owner in
        owner.journal.note("visit \(owner.name)")
        return 7
      }
      $0.on(Self.moved) { $0.journal.note("moved \($0.name)") }
      $0.on(Self.done) { owner in owner.journal.note("done") }
    }
    #expect(try proxy.send(Self.visit, 1, 2, 3) == 7)
    try proxy.send(Self.moved, 1, 2)
    try proxy.send(Self.done)
    #expect(journal.take() == ["visit a", "moved a", "done"])
    withExtendedLifetime(owner) {}
  }

  @Test func `without an owner, too`() throws {
    let proxy = try make()
    let token = try proxy.subscribe { [journal] in
      $0.on(Self.visit) { 8 }
      $0.on(Self.moved) { journal.note("moved") }
      $0.on(Self.done) { journal.note("done") }
    }
    #expect(try proxy.send(Self.visit, 1, 2, 3) == 8)
    try proxy.send(Self.moved, 1, 2)
    try proxy.send(Self.done)
    #expect(journal.take() == ["moved", "done"])
    withExtendedLifetime(token) {}
  }

  @Test func `one with all arguments still gets them`() throws {
    let proxy = try make()
    let owner = Listener("a", journal)
    try proxy.subscribe(owner) {
      $0.on(Self.visit) { owner, node, weight, kind in
        owner.journal.note("\(node) \(weight) \(kind)")
        return kind
      }
      $0.on(Self.moved) { $0.journal.note("\($1) \($2)") }
    }
    #expect(try proxy.send(Self.visit, 1, 2, 3) == 3)
    try proxy.send(Self.moved, 1, 2)
    #expect(journal.take() == ["1 2.0 3", "1 2.0"])
    withExtendedLifetime(owner) {}
  }

  @Test func `with a literal a closure may have the first few`() throws {
    let proxy = try make()
    let owner = Listener("a", journal)
    try proxy.subscribe(owner) {
      $0.on("visit:status:kind:") { (owner: Listener, node: Int64) in
        owner.journal.note("visit \(node)")
        return Int32(4)
      }
      $0.on("moved:by:") { (owner: Listener) in owner.journal.note("moved") }
    }
    let token = try proxy.subscribe { [journal] in
      $0.on("moved:by:") { (joint: Int32) in journal.note("joint \(joint)") }
    }
    #expect(try proxy.send(Self.visit, 1, 2, 3) == 4)
    try proxy.send(Self.moved, 1, 2)
    #expect(journal.take() == ["visit 1", "moved", "joint 1"])
    withExtendedLifetime((owner, token)) {}
  }

  @Test func `the types are checked as those of all arguments`() throws {
    let proxy = try make()
    let owner = Bystander()
    let wrong = Method("moved:by:", ((Int32, Int64) -> Void).self)
    let error = #expect(throws: ForwardingError.self) {
      try proxy.subscribe(owner) { $0.on(wrong) { _ in } }
    }
    #expect(error?.code == .signatureMismatch)
    let short = Method("moved:by:", ((Int32) -> Void).self)
    #expect(throws: ForwardingError.self) {
      try proxy.subscribe(owner) { $0.on(short) { _ in } }
    }
    #expect(throws: ForwardingError.self) {
      try proxy.subscribe(owner) {
        $0.on("moved:by:") { (_: Bystander, _: Int32, _: Double, _: Int32) in }
      }
    }
  }

  /// Each way to give a closure, with a literal and with a key without a stated type.
  @Test func `interceptions, feeds and signals may have the first few`() async throws {
    let proxy = try make()
    let tokens = [
      try proxy.before("visit:status:kind:") { [journal] (node: Int64) in
        journal.note("before \(node)")
      },
      try proxy.before(Method(Self.visit.selector)) { [journal] in journal.note("before") },
      try proxy.after(Method(Self.visit.selector)) { [journal] (node: Int64, weight: Double) in
        journal.note("after \(node) \(weight)")
      },
    ]
    let instead = try proxy.instead("visit:status:kind:") { (node: Int64) -> Int32 in Int32(node) }
    #expect(try proxy.send(Self.visit, 5, 2.5, 3) == 5)
    instead.cancel()
    let constant = try proxy.instead(Method(Self.visit.selector)) { Int32(6) }
    #expect(try proxy.send(Self.visit, 5, 2.5, 3) == 6)
    #expect(
      journal.take() == ["before 5", "before", "after 5 2.5", "before 5", "before", "after 5 2.5"])
    constant.cancel()
    for token in tokens { token.cancel() }

    let feed = try proxy.feed(Method(Self.visit.selector)) { Int32(7) }
    #expect(try proxy.send(Self.visit, 5, 2.5, 3) == 7)
    let signal = try proxy.signal(for: Method(Self.moved.selector)) { (joint: Int32) in joint }
    try proxy.send(Self.moved, 8, 1)
    var joints = signal.makeAsyncIterator()
    #expect(await joints.next() == 8)
    withExtendedLifetime(feed) {}
  }

  @Test func `a key with a stated type, and a closure with too many, are refused`() throws {
    let proxy = try make()
    let short = Method("visit:status:kind:", ((Int64) -> Int32).self)
    expectMismatch { try proxy.instead(short) { Int32($0) } }
    expectMismatch { try proxy.before(short) { _ in } }
    expectMismatch { try proxy.feed(short) { Int32($0) } }
    expectMismatch { try proxy.instead("moved:by:") { (_: Int32, _: Double, _: Int32) in } }
    expectMismatch { try proxy.instead(Method(Self.moved.selector)) { (_: Int64) in } }
  }

  private func expectMismatch(
    at location: SourceLocation = #_sourceLocation, _ attempt: () throws -> DynamicProxy.Token
  ) {
    let error = #expect(throws: ForwardingError.self, sourceLocation: location) {
      _ = try attempt()
    }
    #expect(error?.code == .signatureMismatch, sourceLocation: location)
  }
}
