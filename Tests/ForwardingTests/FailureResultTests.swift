// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

/// Results of deliveries that fail: a hook that cannot be asked does not allow.
@Suite struct FailureResultTests {
  private let journal = Journal()

  /// A proxy whose subscribers fail for a null pointer.
  private func proxy(
    _ declare: (inout ProtocolTable.Builder) -> Void
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { [journal] error in journal.note("\(error.code)") }
    return try DynamicProxy(
      adopting: ProtocolTable("Authorizer", declare), configuration: configuration)
  }

  private func subscribe(
    _ proxy: DynamicProxy, _ selector: MethodSelector, _ name: String = "a",
    answering answer: Int32 = 0
  ) throws -> DynamicProxy.Token {
    let journal = journal
    return try proxy.subscribe {
      unsafe $0.on(Method(selector)) { (_: UnsafePointer<CChar>) -> Int32 in
        journal.note(name)
        return answer
      }
    }
  }

  private typealias Authorizer = @convention(c) (UnsafePointer<CChar>?) -> Int32

  /// Sends a null pointer.
  private func sendNull<Output>(_ proxy: DynamicProxy, _ selector: MethodSelector) throws -> Output
  {
    let null = unsafe UnsafePointer<CChar>?.none
    return try unsafe proxy.send(Method(selector), null)
  }

  /// Calls a C function with a null pointer, or with a text.
  private func call(_ function: FunctionPointer, _ text: String?) -> Int32 {
    let authorize = unsafe function.unsafeCast(to: Authorizer.self)
    guard let text else { return authorize(nil) }
    return unsafe text.withCString { unsafe authorize($0) }
  }

  // MARK: Vetoes

  @Test func `an authorizer that cannot be asked denies`() throws {
    let proxy = try proxy {
      $0.required("authorize:", "i@:*", result: .untilNonzero, onFailure: Int32(1))
      $0.required("unsafe:", "i@:*", result: .untilNonzero, default: Int32(0))
    }
    var configured: [DynamicProxy.Token] = []
    configured.append(
      try proxy.subscribe { [journal] in
        unsafe $0.on("authorize:") { (_: UnsafePointer<CChar>) -> Int32 in
          journal.note("asked")
          return 0
        }
        unsafe $0.on("unsafe:") { (_: UnsafePointer<CChar>) -> Int32 in 0 }
      })
    let denied: Int32 = try sendNull(proxy, "authorize:")
    #expect(denied == 1)
    #expect(journal.take() == ["nullPointer"])
    // What it was without: a default result that means "allowed".
    let allowed: Int32 = try sendNull(proxy, "unsafe:")
    #expect(allowed == 0)
    _ = journal.take()
    let callback = try proxy.functionPointer(for: "authorize:")
    #expect(call(callback, "x") == 0)
    #expect(journal.take() == ["asked"])
    withExtendedLifetime(configured) {}
  }

  @Test func `the caller of a C function pointer is denied, too`() throws {
    let proxy = try proxy {
      $0.required("authorize:", "i@:*", result: .untilNonzero, onFailure: Int32(1))
    }
    let callback = try proxy.functionPointer(for: "authorize:")
    // Nobody is there, which is an error without a default result.
    #expect(call(callback, nil) == 1)
    #expect(journal.take() == ["noResponder"])
    let token = try subscribe(proxy, "authorize:")
    #expect(call(callback, nil) == 1)
    #expect(journal.take() == ["nullPointer"])
    #expect(call(callback, "x") == 0)
    #expect(journal.take() == ["a"])
    // An interceptor that throws is no delivery, but its caller cannot be told.
    struct Fault: Error {}
    let around = try proxy.around("authorize:") { _, _ in throw Fault() }
    #expect(call(callback, "x") == 1)
    withExtendedLifetime((token, around)) {}
  }

  // MARK: Results that cannot be made

  @Test func `an expression for a result that throws is an error, and not a result left out`()
    throws
  {
    let ask = unsafe Method("ask:", ((UnsafePointer<CChar>?) -> Int32).self)
    let policy = Method("policy", (() -> Int32).self)
    // Nobody says what the policy is.
    let rules = try DynamicProxy { $0.optional(policy) }
    let proxy = try DynamicProxy { unsafe $0.optional(ask) }
    func declare(_ builder: inout ProtocolTable.Builder) throws {
      unsafe builder.optional(ask, onFailure: try rules.send(policy))
    }
    func require(_ builder: inout ProtocolTable.Builder) throws {
      unsafe builder.required(ask, default: try rules.send(policy))
    }
    func set(_ table: inout DynamicProxy.CallbackTable<Callbacks>) throws {
      unsafe table.set(\.ask, to: ask, onFailure: try rules.send(policy))
    }
    var errors: [ForwardingError?] = []
    errors.append(
      #expect(throws: ForwardingError.self) {
        unsafe try proxy.functionPointer(for: ask, onFailure: rules.send(policy))
      })
    errors.append(
      #expect(throws: ForwardingError.self) {
        try ProtocolTable("Gate") { try? declare(&$0) }
      })
    errors.append(
      #expect(throws: ForwardingError.self) {
        try ProtocolTable("Gate") { try? require(&$0) }
      })
    errors.append(
      #expect(throws: ForwardingError.self) {
        _ = try unsafe proxy.callbackTable(Callbacks.self, owner: proxy) { try? set(&$0) }
      })
    for (error, role) in zip(errors, ["failures", "failures", "default", "failures"]) {
      #expect(error?.code == .noResponder && error?.selector == "ask:")
      let text = error?.description ?? ""
      #expect(text.contains("ask:") && text.contains(role) && text.contains("policy"), "\(text)")
    }
    // One that is left out still is.
    #expect(throws: Never.self) { unsafe try proxy.functionPointer(for: ask) }
  }

  @safe private struct Callbacks: BitwiseCopyable {
    var ask: (@convention(c) (UnsafePointer<CChar>?) -> Int32)?
  }

  // MARK: Policies

  /// The results of 5 and 7 with a failure between them, which counts as 3.
  @Test(
    "a policy treats a failed delivery as if the subscriber had returned its result",
    arguments: [
      ("first", 5, ["a"]), ("untilNonzero", 5, ["a"]), ("allFirst", 5, ["a", "failed", "c"]),
      ("allLast", 7, ["a", "failed", "c"]), ("untilThree", 3, ["a", "failed"]),
      ("sum", 15, ["a", "failed", "c"]),
    ])
  func policies(policy: String, expected: Int32, calls: [String]) throws {
    let rule: ResultPolicy =
      switch policy {
      case "first": .first
      case "untilNonzero": .untilNonzero
      case "allFirst": .callAll(pick: .first)
      case "allLast": .callAll(pick: .last)
      case "untilThree": .until { (value: Int32) in value == 3 }
      default: .reduce(Int32(0), +)
      }
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { [journal] _ in journal.note("failed") }
    let proxy = try DynamicProxy(
      adopting: ProtocolTable("Policies") {
        $0.required("ask:", "i@:*", result: rule, onFailure: Int32(3))
      }, configuration: configuration)
    // Those that take an optional pointer do not fail.
    let journal = journal
    let first = try proxy.subscribe {
      unsafe $0.on("ask:") { (_: UnsafePointer<CChar>?) -> Int32 in
        journal.note("a")
        return 5
      }
    }
    let failing = try subscribe(proxy, "ask:")
    let last = try proxy.subscribe {
      unsafe $0.on("ask:") { (_: UnsafePointer<CChar>?) -> Int32 in
        journal.note("c")
        return 7
      }
    }
    #expect(try sendNull(proxy, "ask:") as Int32 == expected)
    #expect(journal.take() == calls)
    let null = unsafe UnsafePointer<CChar>?.none
    let collected = try unsafe proxy.collect("ask:", as: Int32.self, null)
    #expect(collected.map(\.value) == [5, 3, 7])
    withExtendedLifetime((first, failing, last)) {}
  }

  @Test("any and all take the result of a failed delivery", arguments: [true, false])
  func quantifiers(onFailure: Bool) throws {
    let proxy = try proxy {
      $0.required("any:", "B@:*", result: .any, onFailure: onFailure)
      $0.required("all:", "B@:*", result: .all, onFailure: onFailure)
    }
    let token = try proxy.subscribe {
      unsafe $0.on("any:") { (_: UnsafePointer<CChar>) -> Bool in !onFailure }
      unsafe $0.on("all:") { (_: UnsafePointer<CChar>) -> Bool in !onFailure }
    }
    #expect(try sendNull(proxy, "any:") as Bool == onFailure)
    #expect(try sendNull(proxy, "all:") as Bool == onFailure)
    withExtendedLifetime(token) {}
  }

  // MARK: Chains, stubs, objects

  @Test func `a proxy that subscribes fails as a subscriber does`() throws {
    let inner = try proxy { $0.required("authorize:", "i@:*") }
    let outer = try proxy {
      $0.required("authorize:", "i@:*", result: .untilNonzero, onFailure: Int32(9))
    }
    let token = try subscribe(inner, "authorize:")
    try outer.subscribe(inner)
    #expect(try sendNull(outer, "authorize:") as Int32 == 9)
    withExtendedLifetime(token) {}
    // A proxy without a responder has not failed.
    token.cancel()
    #expect(throws: ForwardingError.self) { try sendNull(outer, "authorize:") as Int32 }
  }

  @Test func `an interceptor in the place of the subscribers fails as they do`() throws {
    let proxy = try proxy { $0.required("authorize:", "i@:*", onFailure: Int32(1)) }
    let token = try unsafe proxy.instead("authorize:") { (_: UnsafePointer<CChar>) -> Int32 in 0 }
    #expect(try sendNull(proxy, "authorize:") as Int32 == 1)
    #expect(journal.take() == ["nullPointer"])
    withExtendedLifetime(token) {}
  }

  @Test func `without such a result, an interceptor that fails fails the call`() throws {
    let proxy = try proxy { $0.required("authorize:", "i@:*", default: Int32(5)) }
    let function = try proxy.functionPointer(for: "authorize:")
    let token = try unsafe proxy.instead("authorize:") { (_: UnsafePointer<CChar>) -> Int32 in 7 }
    let error = #expect(throws: ForwardingError.self) {
      try sendNull(proxy, "authorize:") as Int32
    }
    #expect(error?.code == .nullPointer)
    // C cannot be told.
    #expect(call(function, nil) == 0)
    #expect(call(function, "/") == 7)
    token.cancel()
    #expect(call(function, nil) == 5)
  }

  @Test func `an object for failed deliveries is retained for each caller`() throws {
    let population = Population()
    do {
      let proxy = try proxy { $0.required("make:", "@@:*", onFailure: population.make()) }
      let token = try proxy.subscribe {
        unsafe $0.on("make:") { (_: UnsafePointer<CChar>) -> Population.Tracked in population.make()
        }
      }
      for _ in 0..<3 {
        let object: Population.Tracked = try sendNull(proxy, "make:")
        withExtendedLifetime(object) {}
      }
      #expect(population.living == 1)
      withExtendedLifetime(token) {}
    }
    #expect(population.living == 0)
  }

  // MARK: Function pointers

  /// Policies of a method without `onFailure:`, the result that its function pointer states, and what
  /// a C caller gets: if the subscriber that fails is alone, and if one that returns 1 stands behind it.
  private static let stated: [(ResultPolicy, stated: Int32, alone: Int32, withAnother: Int32)] = [
    (.first, -5, -5, -5), (.untilNonzero, -5, -5, -5), (.untilNonzero, 0, 0, 1),
    (.reduce(Int32(1)) { $0 == 0 ? 0 : $1 }, 0, 0, 0),
    (.reduce(Int32(1)) { $0 == 0 ? 0 : $1 }, 4, 4, 1),
    (.callAll(pick: .last), -5, -5, 1), (.callAll(pick: .first), -5, -5, -5),
  ]

  @Test(
    "the result that a function pointer states stands for each delivery that fails",
    arguments: stated, [false, true])
  func statedByFunction(
    _ row: (ResultPolicy, stated: Int32, alone: Int32, withAnother: Int32), isOwned: Bool
  ) throws {
    let proxy = try proxy {
      $0.optional("authorize:", "i@:*", result: row.0)
      $0.optional("default:", "i@:*", result: row.0, default: Int32(55))
      // The function's result takes the place of the method's.
      $0.optional("other:", "i@:*", result: row.0, onFailure: Int32(77))
    }
    for selector in ["authorize:", "default:", "other:"] as [MethodSelector] {
      let function = try proxy.functionPointer(
        for: selector, onFailure: row.stated, owner: isOwned ? proxy : nil)
      let tokens = [try subscribe(proxy, selector)]
      #expect(call(function, nil) == row.alone)
      #expect(journal.take() == ["nullPointer"])
      let others = try proxy.subscribe {
        unsafe $0.on(Method(selector)) { (_: UnsafePointer<CChar>?) -> Int32 in 1 }
      }
      #expect(call(function, nil) == row.withAnother)
      #expect(journal.take() == ["nullPointer"])
      // In a batch, and with an interceptor around the deliveries.
      #expect(try proxy.withBatch { call(function, nil) } == row.withAnother)
      let around = try proxy.around(selector) { _, proceed in try proceed() }
      #expect(call(function, nil) == row.withAnother)
      withExtendedLifetime((tokens, others, around)) {}
      _ = journal.take()
    }
  }

  @Test
  func `the function's result stands for interceptors that fail, but not in a forward target`()
    throws
  {
    let proxy = try proxy { $0.required("authorize:", "i@:*") }
    let function = try proxy.functionPointer(for: "authorize:", onFailure: Int32(-5))
    let typed = try unsafe proxy.instead("authorize:") { (_: UnsafePointer<CChar>) -> Int32 in 0 }
    #expect(call(function, nil) == -5)
    // The same on the path of interceptors around it.
    let around = try proxy.around("authorize:") { _, proceed in try proceed() }
    #expect(call(function, nil) == -5)
    #expect(journal.take() == ["nullPointer", "nullPointer"])
    typed.cancel()
    around.cancel()
    // A forward target and a proxy that subscribes use the failure result of their method. If it has none, the call
    // fails, and the function's result stands for it.
    for (failure, expected) in [(Int32(8), Int32(8)), (nil, -5)] {
      let other = try self.proxy {
        if let failure {
          $0.required("authorize:", "i@:*", onFailure: failure)
        } else {
          $0.required("authorize:", "i@:*")
        }
      }
      let token = try subscribe(other, "authorize:")
      try proxy.setForwardTarget(other)
      #expect(call(function, nil) == expected)
      proxy.removeForwardTarget()
      let subscription = try proxy.subscribe(other)
      #expect(call(function, nil) == expected)
      subscription.cancel()
      withExtendedLifetime((token, other)) {}
    }
  }

  @Test(arguments: [false, true])
  func `a function's result may be an object or large`(isOwned: Bool) throws {
    let population = Population()
    do {
      let proxy = try proxy {
        $0.optional("make:", "@@:*")
        $0.optional("large:", "{fixture_five=[5q]}@:*")
      }
      let owner = isOwned ? proxy : nil
      let make = try proxy.functionPointer(
        for: "make:", onFailure: population.make(), owner: owner)
      let large = try proxy.functionPointer(
        for: "large:", onFailure: fixture_five(words: (1, 2, 3, 4, 5)), owner: owner)
      typealias Text = UnsafePointer<CChar>
      let token = try proxy.subscribe {
        unsafe $0.on("make:") { (_: Text) -> Population.Tracked in population.make() }
        unsafe $0.on("large:") { (_: Text) -> fixture_five in fixture_five() }
      }
      let callMake = unsafe make.unsafeCast(
        to: (@convention(c) (Text?) -> UnsafeMutableRawPointer?).self)
      for _ in 0..<3 {
        unsafe Unmanaged<Population.Tracked>.fromOpaque(callMake(nil)!).release()
      }
      #expect(population.living == 1)
      let callLarge = unsafe large.unsafeCast(to: (@convention(c) (Text?) -> fixture_five).self)
      #expect(callLarge(nil).words.4 == 5)
      #expect(journal.take() == Array(repeating: "nullPointer", count: 4))
      withExtendedLifetime((make, large, token)) {}
    }
    // The tombstone of an owned function keeps its result.
    #expect(population.living == (isOwned ? 1 : 0))
  }

  /// The error handler ends the function, or what owns it, while a delivery fails.
  @Test(arguments: [false, true])
  func `a function may end while a delivery through it fails`(isOwned: Bool) throws {
    let ending = Box<[any AnyObject & Sendable]>([])
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { _ in ending.value = [] }
    let function: @convention(c) (UInt) -> Int32
    do {
      let proxy = try DynamicProxy(configuration: configuration) {
        $0.required("authorize:", "i@:*", result: .untilNonzero)
      }
      let pointer = try proxy.functionPointer(
        for: "authorize:", onFailure: Int32(-5), owner: isOwned ? proxy : nil)
      let token = try subscribe(proxy, "authorize:")
      ending.value = isOwned ? [proxy, token] : [pointer, token]
      function = unsafe pointer.unsafeCast()
    }
    #expect(function(0) == -5)
    #expect(ending.value.isEmpty)
    // Late.
    if isOwned { #expect(function(0) == -5) }
  }

  // MARK: Mistakes

  @Test func `a result for failures has to fit the method`() {
    for encoding in ["v@:*", "d@:*"] {
      let error = #expect(throws: ForwardingError.self) {
        _ = try ProtocolTable("Wrong") { $0.optional("a:", encoding, onFailure: Int32(1)) }
      }
      #expect(error?.code == .policyMismatch)
    }
  }
}
