// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import CTestFixtures
import Synchronization
import Testing

@testable import Forwarding

@Suite struct DynamicProxyInterceptionTests {
  private let journal = Journal()

  private static let table = ProtocolTable.table("Intercepted") {
    $0.optional("ping:", "v@:i")
    $0.optional("add:to:", "i@:ii")
    $0.optional("scale:by:", "d@:id")
    $0.optional("given:", "i@:i", default: Int32(-7))
    $0.optional("sum:", "i@:i", result: .reduce(Int32(0), +))
    $0.optional("large:", "{fixture_large=qqqd}@:{fixture_large=qqqd}")
    $0.optional("same:", "@@:@")
    $0.optional("text:", "v@:*")
    $0.optional("handle", "v@:", result: .untilHandled)
  }

  private func proxy(
    _ errors: Box<[ForwardingError]> = Box([]),
    _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { error in errors.update { $0.append(error) } }
    configure(&configuration)
    return try DynamicProxy(adopting: Self.table, configuration: configuration)
  }

  /// A proxy with a subscriber that notes its calls.
  private func answering(
    _ errors: Box<[ForwardingError]> = Box([])
  ) throws -> (DynamicProxy, DynamicProxy.Token) {
    let proxy = try proxy(errors)
    let token = try proxy.subscribe { [journal] in
      $0.on("ping:") { (number: Int32) in journal.note("ping\(number)") }
      $0.on("add:to:") { (left: Int32, right: Int32) -> Int32 in
        journal.note("\(left)+\(right)")
        return left + right
      }
      $0.on("same:") { (object: AnyObject?) -> AnyObject? in object }
      $0.on("large:") { (value: fixture_large) -> fixture_large in value }
    }
    return (proxy, token)
  }

  // MARK: Taps

  @Test func `taps see the arguments before and after the subscribers`() throws {
    let (proxy, token) = try answering()
    let taps = [
      try proxy.after("ping:") { [journal] (number: Int32) in journal.note("after\(number)") },
      try proxy.before("ping:") { [journal] (number: Int32) in journal.note("one\(number)") },
      try proxy.before("ping:") { [journal] in journal.note("two") },
      try proxy.after("ping:") { [journal] in journal.note("last") },
    ]
    try proxy.send("ping:", Int32(4))
    #expect(journal.take() == ["one4", "two", "ping4", "after4", "last"])
    #expect(taps.map(\.isLive) == [true, true, true, true])
    withExtendedLifetime(token) {}
  }

  @Test func `a method with a result is tapped too, and its result passes`() throws {
    let (proxy, token) = try answering()
    let taps = [
      try proxy.before("add:to:") { [journal] (left: Int32) in journal.note("<\(left)") },
      try proxy.observe("add:to:", isAfter: true) { [journal] invocation in
        let result = (try? invocation.result(as: Int32.self)) ?? 0
        let right = (try? invocation.argument(at: 3, as: Int32.self)) ?? 0
        journal.note("\(invocation.selector.name) \(right) \(result)")
      },
    ]
    let sum: Int32 = try proxy.send("add:to:", Int32(2), Int32(3))
    #expect(sum == 5 && journal.take() == ["<2", "2+3", "add:to: 3 5"])
    // One that is not wanted.
    try proxy.send("add:to:", Int32(4), Int32(5))
    #expect(journal.take() == ["<4", "4+5", "add:to: 5 9"])
    withExtendedLifetime((token, taps)) {}
  }

  @Test func `what a tap changes in its invocation, nobody sees`() throws {
    let (proxy, token) = try answering()
    let taps = [
      try proxy.observe("add:to:") { invocation in
        #expect(!invocation.hasResult)
        #expect(throws: Never.self) { try invocation.setArgument(Int32(99), at: 2) }
      },
      try proxy.observe("add:to:", isAfter: true) { invocation in
        #expect(throws: Never.self) { try invocation.setResult(Int32(99)) }
      },
    ]
    let sum: Int32 = try proxy.send("add:to:", Int32(2), Int32(3))
    #expect(sum == 5)
    withExtendedLifetime((token, taps)) {}
  }

  @Test func `closures are checked when they are registered`() throws {
    let proxy = try proxy()
    func fails(
      _ code: ForwardingError.Code, _ body: () throws -> DynamicProxy.Token
    ) -> String? {
      let error = #expect(throws: ForwardingError.self) { _ = try body() }
      #expect(error?.code == code)
      return error?.description
    }
    let wrong = fails(.signatureMismatch) { try proxy.before("ping:") { (_: Double) in } }
    #expect(wrong?.contains("parameter 1 of \"ping:\" is 'i' (Int32), got Double") == true)
    let many = fails(.signatureMismatch) {
      try proxy.after("ping:") { (_: Int32, _: Int32) in }
    }
    #expect(many?.contains("takes at most 1 argument (v@:i), got 2") == true)
    _ = fails(.signatureMismatch) {
      try proxy.instead("add:to:") { (_: Int32, _: Int32, _: Int32) -> Int32 in 0 }
    }
    _ = fails(.signatureMismatch) {
      try proxy.instead("add:to:") { (_: Int32, _: Int32) -> Double in 0 }
    }
    _ = fails(.unknownSelector) { try proxy.before("nothing") {} }
    _ = fails(.unknownSelector) { try proxy.around("nothing") { _, _ in } }
    #expect(!proxy.responds(to: "ping:") && !proxy.responds(to: "add:to:"))
  }

  @Test func `after an error nobody is called after`() throws {
    let proxy = try proxy()
    let tap = try proxy.after("add:to:") { [journal] in journal.note("after") }
    let error = #expect(throws: ForwardingError.self) {
      let _: Int32 = try proxy.send("add:to:", Int32(1), Int32(2))
    }
    #expect(error?.code == .noResponder && journal.take() == [])
    withExtendedLifetime(tap) {}
  }

  /// C calls interceptors that are all closures; Swift does if one gets an
  /// invocation.
  @Test(arguments: [false, true])
  func `a tap that cannot take its argument is in nobody's way`(byInvocation: Bool) throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    var taps = [
      try unsafe proxy.before("text:") { (_: UnsafePointer<CChar>) in Issue.record("called") },
      try proxy.before("text:") { [journal] in journal.note("other") },
    ]
    if byInvocation { taps.append(try proxy.around("text:") { _, proceed in try proceed() }) }
    try unsafe proxy.send("text:", nil as UnsafePointer<CChar>?)
    #expect(journal.take() == ["other"])
    #expect(errors.value.map(\.code) == [.nullPointer])
    #expect(errors.value.map(\.selector) == ["text:"])
    withExtendedLifetime(taps) {}
  }

  /// The only interceptor of a method is called in another way than one of several.
  @Test(arguments: [false, true], [false, true])
  func `the only tap that cannot take its argument is in nobody's way`(
    isAfter: Bool, byFunction: Bool
  ) throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try proxy(errors)
    let calls = Box(0)
    let token = try proxy.subscribe {
      unsafe $0.on("text:") { (_: UnsafePointer<CChar>?) in calls.update { $0 += 1 } }
    }
    let refuse: @Sendable (UnsafePointer<CChar>) -> Void = { _ in Issue.record("called") }
    let tap =
      try unsafe isAfter ? proxy.after("text:", refuse) : proxy.before("text:", refuse)
    if byFunction {
      let text = unsafe Method("text:", ((UnsafePointer<CChar>?) -> Void).self)
      let function = try unsafe proxy.functionPointer(for: text)
      unsafe function.unsafeCast(to: (@convention(c) (UnsafePointer<CChar>?) -> Void).self)(nil)
    } else {
      try unsafe proxy.send("text:", nil as UnsafePointer<CChar>?)
    }
    #expect(calls.value == 1)
    #expect(errors.value.map(\.code) == [.nullPointer])
    withExtendedLifetime((token, tap)) {}
  }

  /// What joins during an invocation has no part in it, but the one that is
  /// called instead of the subscribers is the one of the moment.
  @Test func `one of another kind may take the place of one during an invocation`() throws {
    let proxy = try proxy()
    let tokens = Box<[DynamicProxy.Token]>([])
    tokens.update {
      $0.append(try! proxy.instead("given:") { (_: Int32) -> Int32 in 1 })
    }
    let taps = [
      try proxy.before("given:") { [unowned proxy, journal] in
        journal.note("before")
        guard let old = tokens.value.first, tokens.value.count == 1 else { return }
        old.cancel()
        tokens.update {
          $0.append(
            try! proxy.around("given:") { _, proceed in
              journal.note("around")
              try proceed()
            })
          $0.append(try! proxy.instead("given:") { (_: Int32) -> Int32 in 2 })
        }
      },
      try proxy.after("given:") { [journal] in journal.note("after") },
    ]
    #expect(try proxy.send("given:", Int32(0)) == Int32(2))
    #expect(journal.take() == ["before", "after"])
    #expect(try proxy.send("given:", Int32(0)) == Int32(2))
    #expect(journal.take() == ["before", "around", "after"])
    withExtendedLifetime(taps) {}
    tokens.update { $0 = [] }
  }

  // MARK: Instead

  @Test func `nothing slips through to the subscribers while one replaces another`() throws {
    let (proxy, token) = try answering()
    let stubs = Box<[DynamicProxy.Token]>([])
    func stub(_ answer: Int32) throws -> DynamicProxy.Token {
      try proxy.instead("add:to:", replacing: true) { (_: Int32, _: Int32) -> Int32 in answer }
    }
    stubs.value = [try stub(100)]
    let tap = try proxy.before("add:to:") { [weak proxy] in
      // Two, so that the first has gone too.
      for answer: Int32 in [101, 102] {
        let stub = try? proxy?.instead("add:to:", replacing: true) {
          (_: Int32, _: Int32) -> Int32 in answer
        }
        stubs.update { stubs in stubs += stub.map { [$0] } ?? [] }
      }
    }
    let sum: Int32 = try proxy.send("add:to:", Int32(2), Int32(3))
    #expect(sum == 102 && journal.take() == [])
    tap.cancel()
    // One that is cancelled leaves it to the subscribers.
    let cancelling = try proxy.before("add:to:") { stubs.value = [] }
    let own: Int32 = try proxy.send("add:to:", Int32(2), Int32(3))
    #expect(own == 5 && journal.take() == ["2+3"])
    withExtendedLifetime((token, cancelling)) {}
  }

  @Test func `one instead of the subscribers that is used up may be followed by another`() throws {
    let (proxy, token) = try answering()
    let next = Mutex<DynamicProxy.Token?>(nil)
    let first = try proxy.instead("add:to:", times: 1) {
      [unowned proxy] (_: Int32, _: Int32) -> Int32 in
      let other = try? proxy.instead("add:to:", times: 1) { (_: Int32, _: Int32) -> Int32 in 2 }
      next.withLock { $0 = other }
      return 1
    }
    let results: [Int32] = try (0..<3).map { _ in try proxy.send("add:to:", Int32(6), Int32(7)) }
    #expect(results == [1, 2, 13])
    withExtendedLifetime((token, first, next.withLock { $0 })) {}
  }

  @Test func `one instead of the subscribers answers for them`() throws {
    let (proxy, token) = try answering()
    let stub = try proxy.instead("add:to:") { (left: Int32, right: Int32) -> Int32 in left * right }
    let product: Int32 = try proxy.send("add:to:", Int32(6), Int32(7))
    #expect(product == 42 && journal.take() == [])
    let error = #expect(throws: ForwardingError.self) {
      _ = try proxy.instead("add:to:") { (_: Int32, _: Int32) -> Int32 in 0 }
    }
    #expect(error?.code == .duplicate && stub.isLive)
    let other = try proxy.instead("add:to:", replacing: true) { (_: Int32, _: Int32) -> Int32 in 1 }
    #expect(!stub.isLive && !stub.cancel() && other.isLive)
    let one: Int32 = try proxy.send("add:to:", Int32(6), Int32(7))
    #expect(one == 1)
    #expect(other.cancel() && !other.cancel() && !other.isLive)
    let sum: Int32 = try proxy.send("add:to:", Int32(6), Int32(7))
    #expect(sum == 13)
    withExtendedLifetime(token) {}
  }

  @Test func `structs and large results pass`() throws {
    let (proxy, token) = try answering()
    let given = fixture_large(a: 1, b: 2, c: 3, d: 4.5)
    let around = try proxy.around("large:") { invocation, proceed in
      var argument = try invocation.argument(at: 2, as: fixture_large.self)
      argument.a += 10
      try invocation.setArgument(argument, at: 2)
      try proceed()
      var result = try invocation.result(as: fixture_large.self)
      result.c += 100
      try invocation.setResult(result)
    }
    let result: fixture_large = try proxy.send("large:", given)
    #expect(result.a == 11 && result.b == 2 && result.c == 103 && result.d == 4.5)
    around.cancel()
    let stub = try proxy.instead("large:") { (value: fixture_large) -> fixture_large in
      fixture_large(a: value.b, b: value.a, c: -1, d: value.d)
    }
    let swapped: fixture_large = try proxy.send("large:", given)
    #expect(swapped.a == 2 && swapped.b == 1 && swapped.c == -1 && swapped.d == 4.5)
    withExtendedLifetime((token, stub)) {}
  }

  // MARK: Around

  @Test func `the first around is the outermost, between befores and afters`() throws {
    let (proxy, token) = try answering()
    let tokens = [
      try proxy.after("ping:") { [journal] in journal.note("after") },
      try proxy.around("ping:") { [journal] _, proceed in
        journal.note("(")
        try proceed()
        journal.note(")")
      },
      try proxy.around("ping:") { [journal] _, proceed in
        journal.note("[")
        try proceed()
        journal.note("]")
      },
      try proxy.before("ping:") { [journal] in journal.note("before") },
    ]
    try proxy.send("ping:", Int32(1))
    #expect(journal.take() == ["before", "(", "[", "ping1", "]", ")", "after"])
    let stub = try proxy.instead("ping:") { [journal] (_: Int32) in journal.note("stub") }
    try proxy.send("ping:", Int32(1))
    #expect(journal.take() == ["before", "(", "[", "stub", "]", ")", "after"])
    withExtendedLifetime((token, tokens, stub)) {}
  }

  @Test func `an around changes arguments and the result, but not those of taps`() throws {
    let (proxy, token) = try answering()
    let tokens = [
      try proxy.around("add:to:") { invocation, proceed in
        try invocation.setArgument(Int32(10), at: 3)
        try proceed()
        try invocation.setResult(try invocation.result(as: Int32.self) * 2)
      },
      try proxy.observe("add:to:", isAfter: true) { [journal] invocation in
        let right = (try? invocation.argument(at: 3, as: Int32.self)) ?? 0
        journal.note("\(right) \((try? invocation.result(as: Int32.self)) ?? 0)")
      },
    ]
    let result: Int32 = try proxy.send("add:to:", Int32(1), Int32(2))
    #expect(result == 22 && journal.take() == ["1+10", "2 22"])
    withExtendedLifetime((token, tokens)) {}
  }

  @Test func `one that does not proceed answers, gives the default, or fails`() throws {
    let (proxy, token) = try answering()
    let answers = Box(true)
    let tokens = [
      try proxy.around("add:to:") { invocation, _ in
        if answers.value { try invocation.setResult(Int32(8)) }
      },
      try proxy.around("given:") { _, _ in },
      try proxy.around("ping:") { _, _ in },
    ]
    let eight: Int32 = try proxy.send("add:to:", Int32(1), Int32(2))
    #expect(eight == 8)
    answers.value = false
    let error = #expect(throws: ForwardingError.self) {
      let _: Int32 = try proxy.send("add:to:", Int32(1), Int32(2))
    }
    #expect(error?.code == .noResponder && error?.selector == "add:to:")
    let given: Int32 = try proxy.send("given:", Int32(1))
    #expect(given == -7)
    try proxy.send("ping:", Int32(1))
    #expect(journal.take() == [])
    withExtendedLifetime((token, tokens)) {}
  }

  private struct Refusal: Error {}

  @Test func `what an around throws goes to the caller, once to the handler`() throws {
    let errors = Box<[ForwardingError]>([])
    let (proxy, token) = try answering(errors)
    let tokens = [
      try proxy.around("ping:") { _, proceed in try proceed() },
      try proxy.around("ping:") { _, _ in throw Refusal() },
      try proxy.after("ping:") { [journal] in journal.note("after") },
    ]
    let error = #expect(throws: ForwardingError.self) { try proxy.send("ping:", Int32(1)) }
    #expect(error?.code == .deliveryFailed)
    #expect(error?.description == "an interceptor of \"ping:\" has thrown: Refusal()")
    #expect(errors.value == (error.map { [$0] } ?? []) && journal.take() == [])
    withExtendedLifetime((token, tokens)) {}
  }

  @Test func `an around may see what went wrong, and answer`() throws {
    let proxy = try proxy()
    let around = try proxy.around("add:to:") { invocation, proceed in
      do {
        try proceed()
      } catch let error as ForwardingError {
        #expect(error.code == .noResponder && !invocation.hasResult)
        try invocation.setResult(Int32(1))
      }
    }
    let result: Int32 = try proxy.send("add:to:", Int32(1), Int32(2))
    #expect(result == 1)
    withExtendedLifetime(around) {}
  }

  @Test func `proceeding again forwards again, and not at all once it is over`() throws {
    let kept = Box<UncheckedProceed?>(nil)
    weak var kin: DynamicProxy?
    do {
      let (proxy, token) = try answering()
      kin = proxy
      let around = try proxy.around("ping:") { invocation, proceed in
        try proceed()
        try invocation.setArgument(Int32(2), at: 2)
        try proceed()
        kept.value = UncheckedProceed(proceed)
      }
      try proxy.send("ping:", Int32(1))
      #expect(journal.take() == ["ping1", "ping2"])
      let error = #expect(throws: ForwardingError.self) { try kept.value?.proceed() }
      #expect(error?.code == .deliveryFailed && journal.take() == [])
      withExtendedLifetime((token, around)) {}
    }
    #expect(kin == nil && kept.value != nil, "what is over keeps no proxy")
  }

  /// Kept beyond its call, to see that it notices.
  private struct UncheckedProceed: @unchecked Sendable {
    let proceed: Proceed
    init(_ proceed: Proceed) { self.proceed = proceed }
  }

  // MARK: Objects

  @Test func `objects are neither leaked nor given up too early`() throws {
    let population = Population()
    let (proxy, token) = try answering()
    let kept = Box<[Invocation.Kept]>([])
    do {
      let tokens = [
        try proxy.before("same:") { (_: AnyObject?) in },
        try proxy.around("same:") { invocation, proceed in
          try proceed()
          try proceed()
          let first = try invocation.result(as: AnyObject?.self)
          #expect(first is Population.Tracked)
          try invocation.setResult(population.make())
        },
        try proxy.observe("same:", isAfter: true) { invocation in
          let invocation = Invocation.Kept(invocation)
          kept.update { $0.append(invocation) }
        },
      ]
      let result: AnyObject? = try proxy.send("same:", population.make())
      #expect(result is Population.Tracked)
      // The caller does not want it.
      try proxy.send("same:", population.make())
      withExtendedLifetime(tokens) {}
    }
    // The invocations have the arguments and the results.
    #expect(population.living == 4)
    #expect(try kept.value[0].invocation.argument(at: 2, as: AnyObject?.self) is Population.Tracked)
    kept.value = []
    #expect(population.living == 0)
    let stub = try proxy.instead("same:") { (_: AnyObject?) -> AnyObject? in population.make() }
    do {
      let result: AnyObject? = try proxy.send("same:", population.make())
      #expect(result != nil && population.living == 1)
    }
    try proxy.send("same:", population.make())
    let answers = try proxy.collect("same:", as: AnyObject?.self, population.make())
    #expect(answers.count == 1 && population.living == 1)
    withExtendedLifetime((token, stub, answers)) {}
  }

  @Test func `what closures hold is given up with the token, or with the proxy`() throws {
    let population = Population()
    let proxy = try proxy()
    var token: DynamicProxy.Token? = try proxy.before("ping:") { [tracked = population.make()] in
      withExtendedLifetime(tracked) {}
    }
    #expect(population.living == 1 && token?.isLive == true)
    token = nil
    #expect(population.living == 0 && !proxy.responds(to: "ping:"))
    var mortal: DynamicProxy? = try self.proxy()
    let outliving = try mortal?.instead("ping:") { [tracked = population.make()] (_: Int32) in
      withExtendedLifetime(tracked) {}
    }
    mortal = nil
    #expect(outliving?.isLive == false && outliving?.cancel() == false && population.living == 0)
  }

  // MARK: Responding

  @Test func `interceptors respond, and hosts are told`() throws {
    let proxy = try proxy { [journal] in
      $0.noResponder = .fail
      $0.onCapabilityChange = { journal.note("\($0) \($1)") }
    }
    #expect(throws: ForwardingError.self) { try proxy.send("ping:", Int32(1)) }
    let tap = try proxy.before("ping:") {}
    #expect(journal.take() == ["ping: true"] && proxy.responds(to: "ping:"))
    try proxy.send("ping:", Int32(1))
    tap.cancel()
    #expect(journal.take() == ["ping: false"] && !proxy.responds(to: "ping:"))
    // A tap gives no result.
    let other = try proxy.after("add:to:") {}
    #expect(journal.take() == [] && !proxy.responds(to: "add:to:"))
    let stub = try proxy.instead("add:to:") { (_: Int32, _: Int32) -> Int32 in 0 }
    #expect(journal.take() == ["add:to: true"] && proxy.responds(to: "add:to:"))
    stub.cancel()
    #expect(journal.take() == ["add:to: false"])
    let outer = try self.proxy()
    try outer.subscribe(proxy)
    #expect(!outer.responds(to: "add:to:"))
    let around = try proxy.around("add:to:") { invocation, _ in try invocation.setResult(Int32(3)) }
    #expect(outer.responds(to: "add:to:"))
    withExtendedLifetime((other, around)) {}
  }

  // MARK: All ways in

  @Test func `whichever way an invocation comes in, it is intercepted`() throws {
    let (proxy, token) = try answering()
    let calls = Box(0)
    let around = try proxy.around("add:to:") { invocation, proceed in
      calls.value += 1
      try invocation.setArgument(Int32(40), at: 2)
      try proceed()
    }
    let sent: Int32 = try proxy.send("add:to:", Int32(0), Int32(1))
    #expect(sent == 41)
    let add = try proxy.method(for: "add:to:")
    var result: Int32 = 0
    var frame: (Int32, Int32) = (0, 2)
    try unsafe withUnsafeMutableBytes(of: &result) { result in
      try unsafe withUnsafeBytes(of: &frame) { try unsafe add.forward(frame: $0, result: result) }
    }
    #expect(result == 42)
    var (left, right): (Int32, Int32) = (0, 3)
    try unsafe withUnsafeMutablePointer(to: &left) { left in
      try unsafe withUnsafeMutablePointer(to: &right) { right in
        let pointers = unsafe [UnsafeMutableRawPointer(left), UnsafeMutableRawPointer(right)]
        try unsafe withUnsafeMutableBytes(of: &result) { result in
          try unsafe pointers.withUnsafeBufferPointer {
            try unsafe add.forward(arguments: $0, result: result)
          }
        }
      }
    }
    #expect(result == 43)
    // From C, by name, and a function pointer.
    frame.1 = 4
    #expect(
      unsafe fwd_forward_named(proxy.unsafeHandle, "add:to:", &frame, 8, &result, 4) == FWD_OK)
    #expect(result == 44)
    let function = try proxy.functionPointer(for: "add:to:")
    let called: @convention(c) (Int32, Int32) -> Int32 = unsafe function.unsafeCast()
    #expect(called(0, 5) == 45)
    // An invocation, a batch, another proxy, and what typed proxies use.
    let invocation = try Invocation("add:to:", add.signature)
    try invocation.setArgument(Int32(6), at: 3)
    try proxy.forward(invocation)
    #expect(try invocation.result(as: Int32.self) == 46)
    #expect(try invocation.argument(at: 2, as: Int32.self) == 0)
    result = try proxy.withBatch { try proxy.send("add:to:", Int32(0), Int32(7)) }
    #expect(result == 47)
    let outer = try self.proxy()
    try outer.subscribe(proxy)
    let chained: Int32 = try outer.send("add:to:", Int32(0), Int32(8))
    #expect(chained == 48)
    frame.1 = 9
    #expect(unsafe MethodTarget(proxy, "add:to:").forward(&frame, &result) && result == 49)
    #expect(calls.value == 9)
    withExtendedLifetime((token, around, function)) {}
  }

  @Test(
    "C functions get what an interceptor has put in place of a C caller's arguments",
    arguments: [1, 2, 5])
  func replacedArguments(subscribers: Int) throws {
    let proxy = try DynamicProxy { $0.optional("add:times:", "v^vii") }
    let sums = UnsafeMutablePointer<Int64>.allocate(capacity: subscribers)
    unsafe sums.initialize(repeating: 0, count: subscribers)
    defer { unsafe sums.deallocate() }
    let add: @convention(c) (UnsafeMutablePointer<Int64>, Int32, Int32) -> Void = {
      unsafe $0.pointee += Int64($1 * $2)
    }
    try unsafe "add:times:".withCString { name in
      try unsafe "v^vii".withCString { encoding in
        var method = unsafe fwd_method(
          selector: name, encoding: encoding,
          function: unsafeBitCast(add, to: (@convention(c) () -> Void).self))
        for number in 0..<subscribers {
          let status = unsafe fwd_proxy_subscribe(
            proxy.unsafeHandle, sums + number, &method, 1, nil, nil, nil, nil)
          try #require(status == FWD_OK)
        }
      }
    }
    let function = try proxy.functionPointer(for: "add:times:", context: .first)
    let call: @convention(c) (UnsafeMutableRawPointer?, Int32, Int32) -> Void =
      unsafe function.unsafeCast()
    call(nil, 1, 1)
    let around = try proxy.around("add:times:") { invocation, proceed in
      try invocation.setArgument(Int32(4), at: 1)
      try proceed()
    }
    call(nil, 2, 10)
    around.cancel()
    let before = try proxy.before("add:times:") { (_: Int32, _: Int32) in }
    call(nil, 30, 10)
    for number in 0..<subscribers { #expect(unsafe sums[number] == 341) }
    withExtendedLifetime((function, before)) {}
  }

  @Test func `small integers of a C caller are extended for C functions`() throws {
    let proxy = try DynamicProxy { $0.optional("add:", "v^vc") }
    let sum = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
    unsafe sum.initialize(to: 0)
    defer { unsafe sum.deallocate() }
    // The whole register, of which the proxy's method has one byte.
    let add: @convention(c) (UnsafeMutablePointer<Int64>, Int64) -> Void = {
      unsafe $0.pointee += Int64(Int32(truncatingIfNeeded: $1))
    }
    try unsafe "add:".withCString { name in
      try unsafe "v^vc".withCString { encoding in
        var method = unsafe fwd_method(
          selector: name, encoding: encoding,
          function: unsafeBitCast(add, to: (@convention(c) () -> Void).self))
        let status = unsafe fwd_proxy_subscribe(
          proxy.unsafeHandle, sum, &method, 1, nil, nil, nil, nil)
        try #require(status == FWD_OK)
      }
    }
    let function = try proxy.functionPointer(for: "add:", context: .first)
    let call: @convention(c) (UnsafeMutableRawPointer?, Int8) -> Void = unsafe function.unsafeCast()
    // As a caller may leave the bits that the argument does not have.
    let raw = unsafe unsafeBitCast(
      call, to: (@convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void).self)
    raw(nil, 0x1234_5678_9ABC_DEFF)
    #expect(unsafe sum.pointee == -1)
    withExtendedLifetime(function) {}
  }

  @Test func `who collects gets the answers of all, or that of an interceptor`() throws {
    let proxy = try proxy()
    let owners = [Bystander(), Bystander()]
    for owner in owners {
      try proxy.subscribe(owner) { $0.on("sum:") { (_: Bystander, number: Int32) in number } }
    }
    let goes = Box(true)
    let around = try proxy.around("sum:") { invocation, proceed in
      try invocation.setArgument(Int32(5), at: 2)
      if goes.value { try proceed() } else { try invocation.setResult(Int32(6)) }
    }
    let answers = try proxy.collect("sum:", as: Int32.self, Int32(1))
    #expect(answers.map(\.value) == [5, 5])
    #expect(zip(answers, owners).allSatisfy { $0.author === $1 && $0.subscription.isLive })
    goes.value = false
    let one = try proxy.collect("sum:", as: Int32.self, Int32(1))
    #expect(one.map(\.value) == [6] && one[0].author == nil && !one[0].subscription.isLive)
    around.cancel()
    let sum: Int32 = try proxy.send("sum:", Int32(4))
    #expect(sum == 8)
  }

  @Test func `a batch goes on with its own subscribers`() throws {
    let (proxy, token) = try answering()
    let tap = try proxy.before("ping:") { [journal] in journal.note("before") }
    var late: DynamicProxy.Token?
    try proxy.withBatch {
      late = try proxy.subscribe { [journal] in
        $0.on("ping:") { (_: Int32) in journal.note("late") }
      }
      try proxy.send("ping:", Int32(3))
      try proxy.send(Method("ping:", ((Int32) -> Void).self), 4)
    }
    #expect(journal.take() == ["before", "ping3", "before", "ping4"])
    withExtendedLifetime((token, tap, late)) {}
  }

  @Test func `marking as handled concerns the invocation that is intercepted`() throws {
    let inner = try proxy()
    let outer = try proxy()
    let stub = try inner.instead("handle") { DynamicProxy.markHandled() }
    try outer.subscribe(inner)
    let token = try outer.subscribe { [journal] in
      $0.on("handle") { journal.note("outer") }
    }
    try outer.send("handle")
    #expect(journal.take() == [])
    stub.cancel()
    let tap = try inner.before("handle") {}
    let marker = try inner.subscribe { [journal] in
      $0.on("handle") {
        journal.note("inner")
        DynamicProxy.markHandled()
      }
    }
    try outer.send("handle")
    #expect(journal.take() == ["inner"])
    withExtendedLifetime((token, tap, marker)) {}
  }

  // MARK: Reentrancy

  @Test func `whoever is cancelled inside is not called, whoever joins is from the next on`() throws
  {
    let (proxy, token) = try answering()
    let tokens = Box<[DynamicProxy.Token]>([])
    let journal = journal
    let first = try proxy.before("ping:") {
      journal.note("first")
      for token in tokens.value { token.cancel() }
      tokens.value = []
      #expect(throws: Never.self) {
        let late = try proxy.after("ping:") { journal.note("late") }
        tokens.update { $0.append(late) }
      }
    }
    tokens.value = [
      try proxy.before("ping:") { journal.note("second") },
      try proxy.around("ping:") { _, _ in journal.note("around") },
      try proxy.instead("ping:") { (_: Int32) in journal.note("stub") },
      try proxy.after("ping:") { journal.note("after") },
    ]
    try proxy.send("ping:", Int32(1))
    #expect(journal.take() == ["first", "ping1"])
    first.cancel()
    try proxy.send("ping:", Int32(2))
    #expect(journal.take() == ["ping2", "late"])
    tokens.value = []
    withExtendedLifetime(token) {}
  }

  @Test func `an interceptor may forward, and cancel itself`() throws {
    let (proxy, token) = try answering()
    let own = Box<DynamicProxy.Token?>(nil)
    own.value = try proxy.around("ping:") { [journal] invocation, proceed in
      let number = try invocation.argument(at: 2, as: Int32.self)
      journal.note("around\(number)")
      if number < 3 { try proxy.send("ping:", number + 1) } else { own.value?.cancel() }
      try proceed()
    }
    try proxy.send("ping:", Int32(1))
    #expect(journal.take() == ["around1", "around2", "around3", "ping3", "ping2", "ping1"])
    try proxy.send("ping:", Int32(1))
    #expect(journal.take() == ["ping1"])
    own.value = nil
    withExtendedLifetime(token) {}
  }

  // MARK: Threads

  @Test func `interceptors come and go while others forward`() throws {
    let proxy = try proxy()
    let calls = Atomic<Int>(0)
    let token = try proxy.subscribe {
      $0.on("add:to:") { (left: Int32, right: Int32) -> Int32 in left + right }
    }
    let forwarders = Atomic<Int>(2)
    onThreads(4) { thread in
      if thread < 2 {
        for number: Int32 in 0..<400 {
          #expect(throws: Never.self) {
            let sum: Int32 = try proxy.send("add:to:", number, Int32(1))
            #expect(sum == number + 1 || sum == number + 2)
          }
        }
        forwarders.subtract(1, ordering: .acquiringAndReleasing)
        return
      }
      while forwarders.load(ordering: .acquiring) > 0 {
        #expect(throws: Never.self) {
          let tap = try proxy.before("add:to:") { (_: Int32) in
            calls.add(1, ordering: .relaxed)
          }
          if thread == 2 {
            let around = try proxy.around("add:to:") { invocation, proceed in
              try proceed()
              try invocation.setResult(try invocation.result(as: Int32.self) + 1)
            }
            #expect(around.cancel())
          }
          withExtendedLifetime(tap) {}
        }
      }
    }
    let before = calls.load(ordering: .relaxed)
    let sum: Int32 = try proxy.send("add:to:", Int32(1), Int32(1))
    #expect(sum == 2 && calls.load(ordering: .relaxed) == before)
    withExtendedLifetime(token) {}
  }

  // MARK: Limits

  /// C calls interceptors that are all closures; Swift does if one is around.
  @Test(arguments: [false, true])
  func `interceptors end after as many calls as they were made for`(byInvocation: Bool) throws {
    let (proxy, token) = try answering()
    var tokens = [
      try proxy.before("add:to:", times: 1) { [journal] in journal.note("before") },
      try proxy.after("add:to:", times: 2) { [journal] in journal.note("after") },
      try proxy.instead("add:to:", times: 1) { [journal] (_: Int32, _: Int32) -> Int32 in
        journal.note("instead")
        return 0
      },
    ]
    if byInvocation {
      tokens.append(
        try proxy.around("add:to:", times: 3) { [journal] _, proceed in
          journal.note("around")
          try proceed()
        })
    }
    let around = byInvocation ? ["around"] : []
    #expect(try proxy.send("add:to:", Int32(1), Int32(2)) == Int32(0))
    #expect(journal.take() == ["before"] + around + ["instead", "after"])
    #expect(!tokens[0].isLive && tokens[1].isLive && !tokens[2].isLive)
    #expect(try proxy.send("add:to:", Int32(1), Int32(2)) == Int32(3))
    #expect(journal.take() == around + ["1+2", "after"])
    #expect(!tokens[1].isLive)
    for _ in 0..<2 { #expect(try proxy.send("add:to:", Int32(1), Int32(2)) == Int32(3)) }
    #expect(journal.take() == around + ["1+2", "1+2"])
    #expect(tokens.allSatisfy { !$0.isLive && !$0.cancel() })
    withExtendedLifetime(token) {}
  }

  @Test func `one that is used up does not respond, and is given up`() throws {
    let population = Population()
    let proxy = try proxy { [journal] in
      $0.onCapabilityChange = { journal.note("\($0) \($1)") }
    }
    var counted: Population.Tracked? = population.make()
    let token = try proxy.instead("add:to:", times: 1) { [counted] (left: Int32, _: Int32) in
      withExtendedLifetime(counted) { left }
    }
    counted = nil
    #expect(proxy.responds(to: "add:to:") && population.living == 1)
    #expect(try proxy.send("add:to:", Int32(4), Int32(0)) == Int32(4))
    #expect(!proxy.responds(to: "add:to:"))
    #expect(journal.take() == ["add:to: true", "add:to: false"])
    // There is room for another one.
    let other = try proxy.instead("add:to:") { (_: Int32, right: Int32) in right }
    #expect(try proxy.send("add:to:", Int32(4), Int32(1)) == Int32(1))
    #expect(!token.isLive)
    withExtendedLifetime((token, other)) {}
    #expect(population.living == 0)
  }

  @Test func `a limit below one is refused`() throws {
    let proxy = try proxy()
    let error = #expect(throws: ForwardingError.self) {
      _ = try proxy.before("ping:", times: 0) {}
    }
    #expect(error?.code == .invalidLimit && error?.selector == "ping:")
    #expect(error?.description == "\"times\" for \"ping:\" is 0, expected 1 or more")
  }

  @Test func `a limit holds, whatever threads use it`() async throws {
    let proxy = try proxy()
    let calls = Box(0)
    let token = try proxy.before("ping:", times: 100) { calls.update { $0 += 1 } }
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask { for number in 0..<200 { try! proxy.send("ping:", Int32(number)) } }
      }
    }
    #expect(calls.value == 100 && !token.isLive)
  }
}

extension Invocation {
  /// An invocation that outlives its call; the test reads it alone.
  fileprivate struct Kept: @unchecked Sendable {
    let invocation: Invocation
    init(_ invocation: Invocation) { self.invocation = invocation }
  }
}
