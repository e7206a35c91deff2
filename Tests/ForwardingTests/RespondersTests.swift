// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwardingInternal
import Dispatch
import Testing

@testable import Forwarding

/// Methods that few of many subscribers implement: after some fan-outs only those are visited.
@Suite struct RespondersTests {
  private static let rare = Method("rare:", ((Int) -> Void).self)
  private static let ask = Method("ask:", ((Int) -> Int).self)
  private static let common = Method("common", (() -> Void).self)

  private static func makeProxy() throws -> DynamicProxy {
    try DynamicProxy {
      $0.optional(rare)
      $0.optional(ask, result: .callAll(pick: .last))
      $0.optional(common)
    }
  }

  private final class Log: Sendable {
    private let lines = Box<[String]>([])
    func note(_ line: String) { lines.update { $0.append(line) } }
    func take() -> [String] {
      lines.update { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  /// Subscribes many that do not implement the rare methods.
  private static func crowd(_ proxy: DynamicProxy, _ count: Int) throws -> [DynamicProxy.Token] {
    try (0..<count).map { _ in try proxy.subscribe { $0.on(common) {} } }
  }

  private static func subscribe(
    _ proxy: DynamicProxy, _ name: String, _ log: Log, at position: DynamicProxy.Position = .last
  ) throws -> DynamicProxy.Token {
    try proxy.subscribe(at: position) {
      $0.on(rare) { number in log.note("\(name)\(number)") }
      $0.on(ask) { number in
        log.note("\(name)?")
        return number + 1
      }
    }
  }

  /// Fans out until the responders have been found.
  private static func warmUp(_ proxy: DynamicProxy, _ log: Log) throws {
    for _ in 0..<40 {
      try proxy.send(rare, 0)
      _ = try proxy.send(ask, 0)
    }
    _ = log.take()
  }

  @Test func `the order stays that of the list, whatever changes`() throws {
    let proxy = try Self.makeProxy()
    let log = Log()
    var crowd = try Self.crowd(proxy, 30)
    let first = try Self.subscribe(proxy, "a", log)
    crowd += try Self.crowd(proxy, 30)
    let second = try Self.subscribe(proxy, "b", log)
    func sees(_ expected: String...) throws {
      try proxy.send(Self.rare, 1)
      #expect(log.take() == expected.map { "\($0)1" })
      _ = try proxy.send(Self.ask, 1)
      #expect(log.take() == expected.map { "\($0)?" })
    }
    try Self.warmUp(proxy, log)
    try sees("a", "b")
    let third = try Self.subscribe(proxy, "c", log)
    try sees("a", "b", "c")
    try Self.warmUp(proxy, log)
    try sees("a", "b", "c")
    let front = try Self.subscribe(proxy, "d", log, at: .first)
    try sees("d", "a", "b", "c")
    try Self.warmUp(proxy, log)
    first.cancel()
    try sees("d", "b", "c")
    try Self.warmUp(proxy, log)
    let identifier = try #require(third.subscription).identifier
    try proxy.subscribers.move(identifier, to: .first)
    try sees("c", "d", "b")
    try Self.warmUp(proxy, log)
    for token in crowd { token.cancel() }
    try sees("c", "d", "b")
    withExtendedLifetime((second, third, front)) {}
  }

  @Test(arguments: [false, true])
  func `a fan-out that meets a dead responder ends its subscription`(_ isObserved: Bool) throws {
    let deaths = Box(0)
    var configuration = DynamicProxy.Configuration()
    configuration.onMembershipChange = { _, change in
      if change == .died { deaths.update { $0 += 1 } }
    }
    let proxy = try DynamicProxy("Rarely", configuration: configuration) {
      $0.optional(Self.rare)
      $0.optional(Self.common)
    }
    let crowd = try Self.crowd(proxy, 40)
    final class Listener: Sendable {}
    var listener: Listener? = Listener()
    if let listener { try proxy.subscribe(listener) { $0.on(Self.rare) { _, _ in } } }
    let staying = try proxy.subscribe { $0.on(Self.rare) { _ in } }
    let observer = isObserved ? try proxy.before(Self.rare) { _ in } : nil
    for _ in 0..<40 { try proxy.send(Self.rare, 0) }
    listener = nil
    #expect(deaths.value == 0)
    try proxy.send(Self.rare, 1)
    #expect(deaths.value == 1)
    withExtendedLifetime((crowd, staying, observer)) {}
  }

  @Test func `those that die, end, are blocked or used up are left out`() throws {
    let proxy = try Self.makeProxy()
    let log = Log()
    let crowd = try Self.crowd(proxy, 40)
    final class Listener: Sendable {}
    var listener: Listener? = Listener()
    if let listener {
      try proxy.subscribe(listener) { $0.on(Self.rare) { _, number in log.note("weak\(number)") } }
    }
    let blocked = try Self.subscribe(proxy, "blocked", log)
    let staying = try Self.subscribe(proxy, "staying", log)
    let limited = try proxy.subscribe(times: 60) {
      $0.on(Self.rare) { number in log.note("limited\(number)") }
    }
    try Self.warmUp(proxy, log)
    try proxy.send(Self.rare, 1)
    #expect(log.take() == ["weak1", "blocked1", "staying1", "limited1"])
    let block = try #require(blocked.subscription).block()
    listener = nil
    try proxy.send(Self.rare, 2)
    #expect(log.take() == ["staying2", "limited2"])
    block.cancel()
    for _ in 0..<18 { try proxy.send(Self.rare, 0) }
    _ = log.take()
    try proxy.send(Self.rare, 3)
    #expect(log.take() == ["blocked3", "staying3"])
    staying.cancel()
    try proxy.send(Self.rare, 4)
    #expect(log.take() == ["blocked4"])
    #expect(proxy.count == crowd.count + 1)
    withExtendedLifetime((blocked, limited, crowd)) {}
  }

  @Test func `a list of many segments has them, too`() throws {
    let proxy = try Self.makeProxy()
    let log = Log()
    var tokens = try Self.crowd(proxy, 5000)
    tokens.append(try Self.subscribe(proxy, "a", log))
    tokens += try Self.crowd(proxy, 5000)
    tokens.append(try Self.subscribe(proxy, "b", log))
    try Self.warmUp(proxy, log)
    try proxy.send(Self.rare, 1)
    #expect(try proxy.send(Self.ask, 1) == 2)
    #expect(log.take() == ["a1", "b1", "a?", "b?"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `a handler may change the list that it is called from`() throws {
    let proxy = try Self.makeProxy()
    let log = Log()
    let crowd = try Self.crowd(proxy, 40)
    let added = Box<[DynamicProxy.Token]>([])
    let adding = try proxy.subscribe {
      $0.on(Self.rare) { [weak proxy] number in
        log.note("adding\(number)")
        guard number == 1, let proxy, let made = try? Self.subscribe(proxy, "new", log) else {
          return
        }
        added.update { $0.append(made) }
        try? proxy.send(Self.rare, 2)
      }
    }
    let last = try Self.subscribe(proxy, "last", log)
    try Self.warmUp(proxy, log)
    try proxy.send(Self.rare, 1)
    #expect(log.take() == ["adding1", "adding2", "last2", "new2", "last1"])
    withExtendedLifetime((crowd, adding, last, added)) {}
  }

  @Test func `fan-outs of several threads see each change whole`() throws {
    let proxy = try Self.makeProxy()
    let sums = Box(0)
    let crowd = try Self.crowd(proxy, 30)
    let staying = try proxy.subscribe { $0.on(Self.rare) { _ in sums.update { $0 += 1 } } }
    let rounds = 3000
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      for _ in 0..<rounds {
        if thread < 2 {
          try? proxy.send(Self.rare, 1)
        } else {
          // Not called by anybody else: one that has ended is not called any more.
          let ended = Box(false)
          let token = try? proxy.subscribe(at: .first) {
            $0.on(Self.rare) { _ in #expect(!ended.value) }
          }
          token?.cancel()
        }
      }
    }
    #expect(sums.value == 2 * rounds)
    withExtendedLifetime((staying, crowd)) {}
  }

  @Test func `once found, nothing is asked in vain, and nothing is allocated`() throws {
    let proxy = try Self.makeProxy()
    let log = Log()
    let crowd = try Self.crowd(proxy, 100)
    let token = try Self.subscribe(proxy, "a", log)
    let before = unsafe fwd_list_footprint(fwd_proxy_core_list(proxy.core.handle))
    try Self.warmUp(proxy, log)
    let after = unsafe fwd_list_footprint(fwd_proxy_core_list(proxy.core.handle))
    // An array of one record for each of two methods.
    #expect(after > before && after < before + 300)
    for _ in 0..<1000 { try proxy.send(Self.rare, 1) }
    #expect(unsafe fwd_list_footprint(fwd_proxy_core_list(proxy.core.handle)) == after)
    withExtendedLifetime((token, crowd)) {}
  }
}
