// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import Synchronization
import Testing

@testable import Forwarding

/// `DynamicProxy.block(_:)`, and tokens for the duration of a closure.
@Suite struct BlockingTests {
  private static let tick = Method("tick:", ((Int64) -> Void).self)
  private static let tock = Method("tock:", ((Int64) -> Void).self)
  private static let score = Method("score", (() -> Int64).self)
  private static let level = Method("level", (() -> Int64).self)

  private let journal = Journal()

  private func make(
    _ change: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    change(&configuration)
    return try DynamicProxy("Clock", configuration: configuration) {
      $0.optional(Self.tick)
      $0.optional(Self.tock)
      $0.optional(Self.score)
      $0.optional(Self.level, default: 7)
    }
  }

  private func listen(to proxy: DynamicProxy, _ name: String = "") throws -> DynamicProxy.Token {
    try proxy.subscribe { [journal] in
      $0.on(Self.tick) { journal.note("\(name)tick \($0)") }
      $0.on(Self.tock) { journal.note("\(name)tock \($0)") }
      $0.on(Self.score) { 1 }
      $0.on(Self.level) { 2 }
    }
  }

  // MARK: Methods

  @Test func `a blocked method calls nobody, and the others go on`() throws {
    let proxy = try make()
    let token = try listen(to: proxy)
    let pause = try proxy.block(Self.tick.selector)
    try proxy.send(Self.tick, 1)
    try proxy.send(Self.tock, 1)
    // Who joins meanwhile is not called either.
    let late = try listen(to: proxy, "late ")
    try proxy.send(Self.tick, 2)
    #expect(journal.take() == ["tock 1"] && pause.isLive)
    #expect(pause.cancel() && !pause.isLive && !pause.cancel())
    try proxy.send(Self.tick, 3)
    #expect(journal.take() == ["tick 3", "late tick 3"])
    withExtendedLifetime((token, late)) {}
  }

  @Test func `closures before and after a blocked method are not called either`() throws {
    let proxy = try make()
    let token = try listen(to: proxy)
    let taps = [
      try proxy.before(Self.tick) { [journal] in journal.note("before \($0)") },
      try proxy.after(Self.tick) { [journal] in journal.note("after \($0)") },
    ]
    try proxy.send(Self.tick, 1)
    #expect(journal.take() == ["before 1", "tick 1", "after 1"])
    try proxy.block(Self.tick.selector).during {
      try proxy.send(Self.tick, 2)
      try proxy.send("tick:", Int64(2))
    }
    #expect(journal.take() == [])
    try proxy.send(Self.tick, 3)
    #expect(journal.take() == ["before 3", "tick 3", "after 3"])
    withExtendedLifetime((token, taps)) {}
  }

  @Test func `a blocked proxy calls nobody`() throws {
    let proxy = try make()
    let token = try listen(to: proxy)
    let pause = try proxy.block()
    let other = try proxy.block(Self.tick.selector)
    try proxy.send(Self.tick, 1)
    try proxy.send(Self.tock, 1)
    pause.cancel()
    // The other token still blocks its method.
    try proxy.send(Self.tick, 2)
    try proxy.send(Self.tock, 2)
    other.cancel()
    try proxy.send(Self.tick, 3)
    #expect(journal.take() == ["tock 2", "tick 3"])
    withExtendedLifetime(token) {}
  }

  @Test func `the result is that of a method without a responder`() throws {
    let proxy = try make()
    let token = try listen(to: proxy)
    let pause = try proxy.block()
    #expect(try proxy.send(Self.level) == 7)
    let error = #expect(throws: ForwardingError.self) { try proxy.send(Self.score) }
    #expect(error?.code == .noResponder)
    #expect(error?.description.contains("the proxy blocks \"score\"") == true)
    #expect(try proxy.collect(Self.level).isEmpty)
    pause.cancel()
    #expect(try proxy.send(Self.level) == 2 && proxy.send(Self.score) == 1)
    withExtendedLifetime(token) {}
  }

  @Test func `the configuration says what becomes of it`() throws {
    let ignoring = try make { $0.noResponder = .ignore }
    let token = try listen(to: ignoring)
    #expect(try ignoring.block().during { try ignoring.send(Self.score) } == 0)
    let reporting = try make { [journal] in
      $0.noResponder = .report
      $0.onError = { journal.note($0.description) }
    }
    try reporting.block().during { try reporting.send(Self.tick, 1) }
    #expect(journal.take() == ["the proxy blocks \"tick:\""])
    let failing = try make { $0.noResponder = .fail }
    let error = #expect(throws: ForwardingError.self) {
      try failing.block().during { try failing.send(Self.tick, 1) }
    }
    #expect(error?.code == .noResponder)
    withExtendedLifetime(token) {}
  }

  @Test func `neither interceptors nor the forward target are called`() throws {
    let proxy = try make()
    let target = Bystander()
    try proxy.setForwardTarget(target) { [journal] in
      $0.on(Self.tick) { _, count in journal.note("target \(count)") }
    }
    let tokens = [
      try proxy.before(Self.tick) { [journal] in journal.note("before \($0)") },
      try proxy.after(Self.tick) { [journal] in journal.note("after \($0)") },
      try proxy.around(Self.tick.selector) { [journal] _, proceed in
        journal.note("around")
        try proceed()
      },
    ]
    try proxy.block(Self.tick.selector).during { try proxy.send(Self.tick, 1) }
    #expect(journal.take() == [])
    try proxy.send(Self.tick, 2)
    #expect(journal.take() == ["before 2", "around", "target 2", "after 2"])
    withExtendedLifetime((tokens, target)) {}
  }

  @Test func `an interceptor that has not proceeded is stopped`() throws {
    let proxy = try make()
    let token = try listen(to: proxy)
    let pause = Box<DynamicProxy.Token?>(nil)
    let around = try proxy.around(Self.tick.selector) { [weak proxy] _, proceed in
      pause.value = try proxy?.block()
      try proceed()
    }
    try proxy.send(Self.tick, 1)
    #expect(journal.take() == [])
    withExtendedLifetime((token, around)) {}
  }

  @Test func `a batch, an invocation and a C function pointer are blocked, too`() throws {
    let proxy = try make()
    let token = try listen(to: proxy)
    let method = try proxy.method(for: Self.tick)
    let invocation = try Invocation(method.selector, method.signature)
    try invocation.setArgument(Int64(1), at: method.signature.firstArgumentIndex)
    let pointer = try proxy.functionPointer(for: Self.tick)
    let call = unsafe pointer.unsafeCast(to: (@convention(c) (Int64) -> Void).self)
    try proxy.block().during {
      try proxy.withBatch { try proxy.forward(invocation) }
      try proxy.forward(invocation)
      call(2)
    }
    #expect(journal.take() == [])
    call(3)
    #expect(journal.take() == ["tick 3"])
    withExtendedLifetime((token, pointer)) {}
  }

  @Test func `a blocked method does not respond`() throws {
    let proxy = try make { [journal] in
      $0.onCapabilityChange = { journal.note("\($0) \($1)") }
    }
    let target = Bystander()
    try proxy.setForwardTarget(target) { $0.on(Self.tock) { _, _ in } }
    let token = try proxy.subscribe { $0.on(Self.tick) { _ in } }
    #expect(journal.take() == ["tock: true", "tick: true"])
    let around = try proxy.around(Self.tick.selector) { _, proceed in try proceed() }
    let pause = try proxy.block()
    #expect(!proxy.responds(to: Self.tick) && !proxy.responds(to: Self.tock))
    #expect(Set(journal.take()) == ["tick: false", "tock: false"])
    pause.cancel()
    #expect(proxy.responds(to: Self.tick) && proxy.responds(to: Self.tock))
    #expect(Set(journal.take()) == ["tick: true", "tock: true"])
    withExtendedLifetime((token, around, target)) {}
  }

  @Test func `a proxy that is a subscriber can be blocked`() throws {
    let (outer, inner) = (try make(), try make())
    try outer.subscribe(inner)
    let token = try listen(to: inner)
    try inner.block().during {
      #expect(!outer.responds(to: Self.tick))
      try outer.send(Self.tick, 1)
    }
    try outer.send(Self.tick, 2)
    #expect(journal.take() == ["tick 2"])
    withExtendedLifetime(token) {}
  }

  @Test func `an unknown selector is an error`() throws {
    let proxy = try make()
    let error = #expect(throws: ForwardingError.self) { try proxy.block("tickk:") }
    #expect(error?.code == .unknownSelector)
    #expect(error?.description.contains("did you mean \"tick:\"") == true)
  }

  @Test func `a token outlives its proxy`() throws {
    var proxy: DynamicProxy? = try make()
    let pauses = [try proxy!.block(), try proxy!.block(Self.tick.selector)]
    proxy = nil
    for pause in pauses { #expect(!pause.isLive && !pause.cancel()) }
  }

  // MARK: Scopes

  private struct Failure: Error {}

  @Test func `a scope ends with its closure, however that ends`() throws {
    let proxy = try make()
    let token = try listen(to: proxy)
    let subscription = try #require(token.subscription)
    let sum = try subscription.block().during {
      #expect(subscription.isBlocked)
      try proxy.send(Self.tick, 1)
      return 3
    }
    #expect(sum == 3 && !subscription.isBlocked)
    #expect(throws: Failure.self) { try proxy.block().during { throw Failure() } }
    try proxy.send(Self.tick, 2)
    #expect(journal.take() == ["tick 2"])
  }

  @Test func `an asynchronous scope ends with its closure`() async throws {
    let proxy = try make()
    let token = try listen(to: proxy)
    try await proxy.block(Self.tick.selector).during {
      await Task.yield()
      try proxy.send(Self.tick, 1)
      await Task.yield()
    }
    await #expect(throws: Failure.self) {
      try await proxy.block().during {
        await Task.yield()
        throw Failure()
      }
    }
    let task = Task {
      _ = await #expect(throws: CancellationError.self) {
        try await proxy.block().during {
          while true {
            try Task.checkCancellation()
            await Task.yield()
          }
        }
      }
    }
    task.cancel()
    await task.value
    try proxy.send(Self.tick, 2)
    #expect(journal.take() == ["tick 2"])
    withExtendedLifetime(token) {}
  }

  @MainActor @Test func `an asynchronous scope stays on its actor`() async throws {
    let proxy = try make()
    var count = 0
    try await proxy.block().during {
      MainActor.assertIsolated()
      await Task.yield()
      MainActor.assertIsolated()
      count += 1
    }
    #expect(count == 1)
  }

  @Test func `subscriptions and interceptions have scopes, too`() throws {
    let proxy = try make()
    try listen(to: proxy).during { try proxy.send(Self.tick, 1) }
    let view = Bystander()
    let subscription = try proxy.subscribe(view) { [journal] in
      $0.on(Self.tick) { _, count in journal.note("view \(count)") }
    }
    try DynamicProxy.Token(subscription).during { try proxy.send(Self.tick, 2) }
    #expect(!subscription.isLive)
    try proxy.before(Self.tick) { [journal] in journal.note("before \($0)") }
      .during { try proxy.send(Self.tick, 3) }
    try proxy.send(Self.tick, 4)
    #expect(journal.take() == ["tick 1", "view 2", "before 3"])
    withExtendedLifetime(view) {}
  }

  @Test func `a token of a subscription ends it`() throws {
    let proxy = try make()
    let view = Bystander()
    let subscription = try proxy.subscribe(view) { $0.on(Self.tick) { _, _ in } }
    do {
      let token = DynamicProxy.Token(subscription)
      #expect(token.isLive && token.subscription == subscription)
    }
    #expect(!subscription.isLive && proxy.count == 0)
    withExtendedLifetime(view) {}
  }

  // MARK: C

  @Test func `a C program blocks a method and a proxy`() throws {
    let proxy = try make()
    let token = try listen(to: proxy)
    let destroyed = Box(0)
    // SAFETY: the context is released by the notifier.
    let context = unsafe Unmanaged.passRetained(destroyed).toOpaque()
    let destroy: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
      let count = unsafe Unmanaged<Box<Int>>.fromOpaque(context!).takeRetainedValue()
      count.value += 1
    }
    for name in [Self.tick.selector, nil] {
      let selector = unsafe name?.handle
      unsafe _ = Unmanaged.passUnretained(destroyed).retain()
      var interception: fwd_interception = 0
      let status = unsafe fwd_proxy_intercept(
        proxy.unsafeHandle, selector, FWD_INTERCEPT_BLOCK, nil, context, destroy, &interception,
        nil)
      #expect(status == FWD_OK && interception != 0)
      try proxy.send(Self.tick, 1)
      #expect(unsafe fwd_proxy_end_interception(proxy.unsafeHandle, interception) == FWD_OK)
      #expect(
        unsafe fwd_proxy_end_interception(proxy.unsafeHandle, interception) == FWD_NOT_SUBSCRIBED)
    }
    #expect(journal.take() == [] && destroyed.value == 2)
    try proxy.send(Self.tick, 2)
    #expect(journal.take() == ["tick 2"])
    let interceptor: fwd_interceptor = { _, _ in FWD_OK }
    let refused = unsafe fwd_proxy_intercept(
      proxy.unsafeHandle, nil, FWD_INTERCEPT_BLOCK, interceptor, nil, nil, nil, nil)
    #expect(refused == FWD_NOT_ALLOWED)
    unsafe Unmanaged<Box<Int>>.fromOpaque(context).release()
    withExtendedLifetime(token) {}
  }

  // MARK: Threads

  @Test func `nothing is lost while other threads block`() throws {
    let proxy = try make()
    let calls = Atomic<Int>(0)
    let token = try proxy.subscribe {
      $0.on(Self.tick) { _ in calls.add(1, ordering: .relaxed) }
    }
    let others = Atomic<Int>(3)
    onThreads(5) { thread in
      switch thread {
      case 0:
        while others.load(ordering: .acquiring) > 0 {
          #expect(throws: Never.self) { try proxy.send(Self.tick, 1) }
        }
        return
      case 1:
        for _ in 0..<300 {
          let listener = Bystander()
          _ = try? proxy.subscribe(listener) { $0.on(Self.tick) { _, _ in } }
        }
        return
      case 2: for _ in 0..<300 { _ = try? proxy.block(Self.tick.selector).cancel() }
      case 3: for _ in 0..<300 { _ = try? proxy.block().cancel() }
      default: for _ in 0..<300 { _ = try? token.subscription?.block().cancel() }
      }
      others.subtract(1, ordering: .acquiringAndReleasing)
    }
    let before = calls.load(ordering: .relaxed)
    try proxy.send(Self.tick, 1)
    #expect(calls.load(ordering: .relaxed) == before + 1)
    withExtendedLifetime(token) {}
  }
}
