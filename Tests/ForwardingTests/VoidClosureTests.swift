// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// Closures for void methods whose last expression has a value by accident.
@Suite struct VoidClosureTests {
  private func makeProxy() throws -> DynamicProxy {
    try DynamicProxy(adopting: ProtocolTable("VoidClosures") { $0.optional("changed:", "v@:i") })
  }

  private final class Owner: Sendable {
    let seen = Box<[Int32]>([])
  }

  private final class Value: Sendable {
    let ended: Box<Int>
    init(_ ended: Box<Int>) { self.ended = ended }
    deinit { ended.update { $0 += 1 } }
  }

  @Test func `any result of a closure is dropped`() throws {
    let proxy = try makeProxy()
    let owner = Owner()
    let seen = owner.seen
    try proxy.subscribe(owner) {
      $0.on("changed:") { (owner: Owner, value: Int32) -> ()? in
        owner.seen.update { $0.append(value) }
        return .some(())
      }
    }
    let tokens = [
      try proxy.subscribe {
        $0.on("changed:") { (value: Int32) -> (old: Int, new: Int) in
          seen.update { $0.append(value + 1) }
          return (1, 2)
        }
      },
      try proxy.subscribe {
        $0.on("changed:") { (value: Int32) -> String in
          seen.update { $0.append(value + 2) }
          return String(repeating: "a longer text than fits a word", count: 3)
        }
      },
      try proxy.subscribe {
        $0.on("changed:") { (value: Int32) -> Task<Void, Never> in
          seen.update { $0.append(value + 3) }
          return Task {}
        }
      },
    ]
    try proxy.send("changed:", Int32(10))
    #expect(seen.value == [10, 11, 12, 13])
    withExtendedLifetime(tokens) {}
  }

  @Test func `a result that is an object is released`() throws {
    let proxy = try makeProxy()
    let ended = Box(0)
    let token = try proxy.subscribe {
      $0.on("changed:") { (_: Int32) -> Value? in Value(ended) }
    }
    for count in 1...3 {
      try proxy.send("changed:", Int32(count))
      #expect(ended.value == count)
    }
    withExtendedLifetime(token) {}
  }

  @Test func `an object that somebody keeps is not released too often`() throws {
    let proxy = try makeProxy()
    let ended = Box(0)
    do {
      let kept = Value(ended)
      let token = try proxy.subscribe { $0.on("changed:") { (_: Int32) -> Value in kept } }
      for count in 1...5 { try proxy.send("changed:", Int32(count)) }
      #expect(ended.value == 0)
      withExtendedLifetime((kept, token)) {}
    }
    // The closure's reference goes with the subscription.
    try proxy.send("changed:", Int32(6))
    #expect(ended.value <= 1)
  }

  @Test func `interceptors and feeds drop results, too`() throws {
    let proxy = try makeProxy()
    let ended = Box(0)
    let feed = try proxy.feed("changed:") { (_: Int32) in Value(ended) }
    try proxy.send("changed:", Int32(1))
    #expect(ended.value == 1)
    let instead = try proxy.instead("changed:") { (_: Int32) in Value(ended) }
    try proxy.send("changed:", Int32(1))
    #expect(ended.value == 2)
    withExtendedLifetime((feed, instead)) {}
  }

  @Test func `a method with a result still needs its type`() throws {
    let table = try ProtocolTable("Counting") { $0.optional("count", "i@:") }
    var builder = FunctionTable.Builder<Void>()
    builder.on("count") { () -> ()? in nil }
    let functions = FunctionTable(methods: builder.methods, fault: builder.fault)
    let error = #expect(throws: ForwardingError.self) { try functions.validate(for: table) }
    #expect(error?.code == .signatureMismatch)
    #expect(error?.description.contains("got Optional<()>") == true)
  }
}
