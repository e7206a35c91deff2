// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

@testable import Forwarding

/// Closures before and after a void method: the fan-out calls them in its own emission.
@Suite struct ObservedFanOutTests {
  private let number = Method("number:", ((Int64) -> Void).self)
  /// Its arguments do not fit into registers.
  private let many = Method(
    "many:::::::", ((Int64, Int64, Int64, Int64, Int64, Int64, Int64) -> Void).self)

  /// A proxy of both methods, and the log of a closure that is subscribed to them.
  private func makeProxy(
    _ configuration: DynamicProxy.Configuration = .init()
  ) throws -> (proxy: DynamicProxy, log: Collected<String>, token: DynamicProxy.Token) {
    let proxy = try DynamicProxy(configuration: configuration) {
      $0.optional(number)
      $0.optional(many)
    }
    let log = Collected<String>()
    let token = try proxy.subscribe {
      $0.on(number) { log.append("number \($0)") }
      $0.on(many) { a, _, _, _, _, _, g in log.append("many \(a) \(g)") }
    }
    return (proxy, log, token)
  }

  private static let both = [ClosureConvention.packs, .loads]

  @Test(arguments: both) private func `All are called in order, whatever the arguments need`(
    convention: ClosureConvention
  ) throws {
    try ClosureConvention.$chosen.withValue(convention) {
      let (proxy, log, token) = try makeProxy()
      let tokens = [
        try proxy.before(number) { log.append("before \($0)") },
        try proxy.before(number) { log.append("again \($0)") },
        try proxy.after(number) { log.append("after \($0)") },
        try proxy.before(many) { a, _, _, _, _, _, g in log.append("before \(a) \(g)") },
        try proxy.after(many) { a, _, _, _, _, _, g in log.append("after \(a) \(g)") },
      ]
      try proxy.send(number, 1)
      try proxy.send(many, 1, 2, 3, 4, 5, 6, 7)
      try unsafe withUnsafeBytes(of: Int64(2)) {
        try unsafe proxy.method(for: number).forward(frame: $0)
      }
      let function = try proxy.functionPointer(for: number)
      unsafe function.unsafeCast(to: (@convention(c) (Int64) -> Void).self)(3)
      #expect(
        log.all == [
          "before 1", "again 1", "number 1", "after 1",
          "before 1 7", "many 1 7", "after 1 7",
          "before 2", "again 2", "number 2", "after 2",
          "before 3", "again 3", "number 3", "after 3",
        ])
      withExtendedLifetime((token, tokens, function)) {}
    }
  }

  @Test(arguments: both) private func `A raw observer gets the arguments behind the hidden ones`(
    convention: ClosureConvention
  ) throws {
    try ClosureConvention.$chosen.withValue(convention) {
      for encoding in ["v@qd", "v@:qd"] {
        let proxy = try DynamicProxy(adopting: ProtocolTable("P") { $0.optional("a:b:", encoding) })
        let seen = Collected<String>()
        // SAFETY: the closure reads what the encoding says.
        let observer = try unsafe proxy.unsafeObserve("a:b:") { arguments in
          let a = unsafe arguments[0].load(as: Int64.self)
          let b = unsafe arguments[1].load(as: Double.self)
          seen.append("\(a) \(b)")
        }
        let key = Method("a:b:", ((Int64, Double) -> Void).self)
        let token = try proxy.subscribe { $0.on(key) { a, b in seen.append("got \(a) \(b)") } }
        try proxy.send(key, 5, 0.5)
        #expect(seen.all == ["5 0.5", "got 5 0.5"])
        observer.cancel()
        try proxy.send(key, 6, 0.5)
        #expect(seen.all.count == 3)
        withExtendedLifetime(token) {}
      }
    }
  }

  @Test func `The fan-out sees what a closure before it has subscribed and cancelled`() throws {
    let (proxy, log, token) = try makeProxy()
    let later = Collected<DynamicProxy.Token>()
    let before = try proxy.before(number) { [unowned proxy] value in
      if value == 1 {
        let added = try? proxy.subscribe { $0.on(number) { log.append("new \($0)") } }
        if let added { later.append(added) }
      } else {
        token.cancel()
      }
    }
    try proxy.send(number, 1)
    try proxy.send(number, 2)
    #expect(log.all == ["number 1", "new 1", "new 2"])
    withExtendedLifetime((before, later)) {}
  }

  @Test func `An interceptor that ends itself and the others is called for the last time`() throws {
    let (proxy, log, token) = try makeProxy()
    let tokens = Collected<DynamicProxy.Token>()
    tokens.append(
      try proxy.before(number) { value in
        log.append("before \(value)")
        for token in tokens.all { token.cancel() }
      })
    tokens.append(try proxy.before(number) { log.append("second \($0)") })
    tokens.append(try proxy.after(number) { log.append("after \($0)") })
    try proxy.send(number, 1)
    try proxy.send(number, 2)
    #expect(log.all == ["before 1", "number 1", "number 2"])
    withExtendedLifetime(token) {}
  }

  @Test func `A limited interceptor is called as often as it says`() throws {
    let (proxy, log, token) = try makeProxy()
    let tokens = [
      try proxy.before(number, times: 2) { log.append("before \($0)") },
      try proxy.after(number, times: 1) { log.append("after \($0)") },
    ]
    for value in 1...3 { try proxy.send(number, Int64(value)) }
    #expect(
      log.all == ["before 1", "number 1", "after 1", "before 2", "number 2", "number 3"])
    withExtendedLifetime((token, tokens)) {}
  }

  @Test func `Interceptors that forward get their own subscribers and current subscription`() throws
  {
    let (proxy, log, token) = try makeProxy()
    let other = try makeProxy()
    let tokens = [
      try proxy.before(number) { value in
        #expect(DynamicProxy.Subscription.current == nil)
        try? other.proxy.send(number, value * 10)
      },
      try proxy.after(number) { value in
        if value == 1 { try? proxy.send(number, 2) }
        #expect(DynamicProxy.Subscription.current == nil)
      },
    ]
    try proxy.send(number, 1)
    #expect(log.all == ["number 1", "number 2"])
    #expect(other.log.all == ["number 10", "number 20"])
    withExtendedLifetime((token, tokens, other.token)) {}
  }

  /// The rule decides whether the loop has the interceptors.
  @Test(arguments: [.standard, .ignore, .fail] as [DynamicProxy.Configuration.NoResponder])
  func `A method without a responder is no error, and those after it are called`(
    rule: DynamicProxy.Configuration.NoResponder
  ) throws {
    var configuration = DynamicProxy.Configuration()
    configuration.noResponder = rule
    let (proxy, log, token) = try makeProxy(configuration)
    let tokens = [
      try proxy.before(number) { _ in token.cancel() },
      try proxy.after(number) { log.append("after \($0)") },
    ]
    try proxy.send(number, 1)
    try proxy.send(number, 2)
    #expect(log.all == ["after 1", "after 2"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `An invocation without a responder reaches the forward target`() throws {
    let (proxy, log, token) = try makeProxy()
    let target = try makeProxy()
    try proxy.setForwardTarget(target.proxy)
    let tokens = [
      try proxy.before(number) { _ in token.cancel() },
      try proxy.after(number) { log.append("after \($0)") },
    ]
    try proxy.send(number, 1)
    #expect(log.all == ["after 1"])
    #expect(target.log.all == ["number 1"])
    withExtendedLifetime((tokens, target)) {}
  }

  private final class Listener: Sendable {
    let log: Collected<String>
    init(_ log: Collected<String>) { self.log = log }
    deinit { log.append("deinit") }
  }

  /// The loop calls the closure before `number:`, and `fwd_intercept` calls the one before `many:`.
  @Test(arguments: [true, false])
  func `A subscriber that a closure lets go before is not called`(isNarrow: Bool) throws {
    let (proxy, _, token) = try makeProxy()
    token.cancel()
    let log = Collected<String>()
    var listener: Listener? = Listener(log)
    let table = FunctionTable(for: Listener.self) {
      $0.on(number) { listener, value in listener.log.append("number \(value)") }
      $0.on(many) { listener, a, _, _, _, _, _, _ in listener.log.append("many \(a)") }
    }
    let other = FunctionTable(for: Listener.self) {
      $0.on(number) { listener, value in listener.log.append("other \(value)") }
      $0.on(many) { listener, a, _, _, _, _, _, _ in listener.log.append("other \(a)") }
    }
    let strong = try proxy.subscribe(try #require(listener), table: table, lifetime: .strong)
    try proxy.subscribe(try #require(listener), table: other)
    listener = nil
    let before =
      isNarrow
      ? try proxy.before(number) { _ in strong.cancel() }
      : try proxy.before(many) { _, _, _, _, _, _, _ in strong.cancel() }
    if isNarrow { try proxy.send(number, 1) } else { try proxy.send(many, 1, 2, 3, 4, 5, 6, 7) }
    #expect(log.all == ["deinit"])
    withExtendedLifetime(before) {}
  }
}

/// What closures append to.
private final class Collected<Element: Sendable>: @unchecked Sendable {
  // SAFETY: the lock protects the elements.
  private let lock = NSLock()
  private var elements: [Element] = []

  var all: [Element] { lock.withLock { elements } }
  func append(_ element: Element) { lock.withLock { elements.append(element) } }
}
