// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Synchronization
  import Testing

  @Forwarded
  private protocol Closing: AnyObject {
    func close(_ row: Int) throws(any Error)
    func close(text: String) throws -> Int
    func wait(_ row: Int) async throws
  }

  private final class ClosingOne: Closing {
    var count = 0
    var failure: Failure?
    init(_ failure: Failure? = nil) { self.failure = failure }
    func close(_ row: Int) throws {
      count += 1
      if let failure { throw failure }
    }
    func close(text: String) throws -> Int {
      count += 1
      if let failure { throw failure }
      return 1
    }
    func wait(_ row: Int) async throws { try close(row) }
  }

  /// What happens when listeners throw.
  @Suite struct ForwardedErrorsTests {
    private typealias Configuration = DynamicProxy.Configuration
    private let listeners = [
      ClosingOne(), ClosingOne(Failure(1)), ClosingOne(), ClosingOne(Failure(2)),
    ]

    private func make(_ configuration: Configuration) throws -> ClosingProxy {
      let proxy = try ClosingProxy(configuration: configuration)
      for listener in listeners { try proxy.subscribe(listener) }
      return proxy
    }

    private var counts: [Int] { listeners.map(\.count) }

    @Test func `fail fast: the first error ends the fan-out`() async throws {
      let proxy = try make(Configuration())
      #expect(throws: Failure(1)) { try proxy.close(1) }
      #expect(counts == [1, 1, 0, 0])
      await #expect(throws: Failure(1)) { try await proxy.wait(1) }
      #expect(counts == [2, 2, 0, 0])
    }

    @Test func `collect: all are called, and all errors thrown with their authors`() async throws {
      var configuration = Configuration()
      configuration.listenerErrors = .collect
      let proxy = try make(configuration)
      let errors = try #require(throws: ForwardedErrors.self) { try proxy.close(1) }
      #expect(counts == [1, 1, 1, 1] && errors.failures.count == 2 && errors.selector == "close:")
      #expect(errors.failures.compactMap { $0.error as? Failure } == [Failure(1), Failure(2)])
      #expect(
        errors.failures.map(\.author) == [1, 3].map { ObjectIdentifier(listeners[$0]) })
      #expect(errors.description.contains("2 failed in \"close:\": ClosingOne: Failure(code: 1)"))
      let waited = try await #require(throws: ForwardedErrors.self) { try await proxy.wait(1) }
      #expect(counts == [2, 2, 2, 2] && waited.failures.count == 2)
      for listener in listeners { listener.failure = nil }
      try proxy.close(1)
      try await proxy.wait(1)
      #expect(counts == [4, 4, 4, 4])
    }

    @Test func `continue: all are called, and the handler is told`() async throws {
      let told = Mutex<[String]>([])
      var configuration = Configuration()
      configuration.listenerErrors = .continue
      configuration.onListenerError = { error, method in
        told.withLock { $0.append("\(method) \(error)") }
      }
      let proxy = try make(configuration)
      try proxy.close(1)
      #expect(counts == [1, 1, 1, 1])
      #expect(told.withLock { $0 } == ["close: Failure(code: 1)", "close: Failure(code: 2)"])
      try await proxy.wait(1)
      #expect(told.withLock { $0.last } == "wait: Failure(code: 2)")
    }

    @Test func `continue: without a handler the proxy's is told`() throws {
      let errors = Errors()
      var configuration = Configuration()
      configuration.listenerErrors = .continue
      configuration.onError = { errors.append($0) }
      let proxy = try make(configuration)
      try proxy.close(1)
      #expect(errors.codes == [.deliveryFailed, .deliveryFailed])
      #expect(errors.descriptions[0].contains("ClosingOne threw from \"close:\""))
    }

    @Test func `single methods may do otherwise`() async throws {
      var configuration = Configuration()
      configuration.listenerErrors = .continue
      configuration.onListenerError = { _, _ in }
      configuration.listenerErrorsByMethod[ClosingProxy.selector(for: .close)] = .failFast
      configuration.listenerErrorsByMethod[ClosingProxy.selector(for: .wait)] = .collect
      let proxy = try make(configuration)
      #expect(throws: Failure(1)) { try proxy.close(1) }
      await #expect(throws: ForwardedErrors.self) { try await proxy.wait(1) }
      #expect(counts == [2, 2, 1, 1])
    }

    @Test func `a method with a result throws the first responder's error`() throws {
      var configuration = Configuration()
      configuration.listenerErrors = .collect
      let proxy = try make(configuration)
      proxy.unsubscribe(listeners[0])
      #expect(throws: Failure(1)) { try proxy.close(text: "") }
      #expect(counts == [0, 1, 0, 0])
    }

    @Test func `errors of listeners of a proxy that listens`() throws {
      var configuration = Configuration()
      configuration.listenerErrors = .collect
      let outer = try ClosingProxy(configuration: configuration)
      let inner = try make(Configuration())
      let last = ClosingOne(Failure(9))
      try outer.subscribe(inner)
      try outer.subscribe(last)
      let errors = try #require(throws: ForwardedErrors.self) { try outer.close(1) }
      #expect(
        errors.failures.compactMap { $0.error as? Failure } == [Failure(1), Failure(2), Failure(9)])
    }

    @Test func `an untyped subscriber's error is collected, and is the last`() throws {
      var configuration = Configuration()
      configuration.listenerErrors = .collect
      configuration.conformance = .lenient
      let proxy = try ClosingProxy(configuration: configuration)
      let first = ClosingOne(Failure(1))
      let owner = Tracked()
      try proxy.subscribe(first)
      try unsafe proxy.proxy.subscribe(owner) {
        unsafe $0.on("close:") {
          (_: Tracked, _: Int, error: UnsafeMutablePointer<(any Error)?>) -> Bool in
          unsafe error.pointee = Failure(7)
          return true
        }
      }
      let errors = try #require(throws: ForwardedErrors.self) { try proxy.close(1) }
      #expect(errors.failures.compactMap { $0.error as? Failure } == [Failure(1), Failure(7)])
      #expect(errors.failures[1].author == nil)
    }
  }
#endif
