// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Synchronization
  import Testing

  /// The proxy is as private as its protocol.
  @Forwarded
  private protocol Hidden: AnyObject {
    func reveal()
    @Optional func hide(_ reason: String) -> Int
  }

  private final class HiddenListener: Hidden {
    var count = 0
    func reveal() { count += 1 }
  }

  @Suite struct ForwardedProxyTests {
    // MARK: Listeners

    @Test func `listeners are called in order and nobody twice`() throws {
      let delegates = DownloadDelegateProxy()
      var order: [Int] = []
      let first = Listener()
      let second = FullListener<Int>()
      let download = Download()
      try delegates.subscribe(second)
      try delegates.subscribe(first, at: .first)
      try delegates.subscribe(first)
      #expect(delegates.count == 2)
      delegates.download(download, didReceive: 3, of: 4)
      order.append(first.log.count)
      delegates.download(download, didReceive: 4, of: nil)
      #expect(first.log == ["download 3/4", "download 4/?"])
      #expect(second.log == ["Int 3", "Int 4"])
      #expect(order == [1])
    }

    @Test func `the proxy is one of themselves`() throws {
      let inner = DownloadDelegateProxy()
      let listener = Listener()
      try inner.subscribe(listener)
      let delegate: any DownloadDelegate = inner
      delegate.download(Download("by any"), didReceive: 1, of: nil)
      #expect(listener.log == ["by any 1/?"])
    }

    @Test(arguments: [DynamicProxy.Lifetime.weak, .strong])
    func `a private protocol has a private proxy`(_ lifetime: DynamicProxy.Lifetime) throws {
      let proxy = HiddenProxy()
      let listener = HiddenListener()
      try proxy.subscribe(listener, lifetime: lifetime)
      proxy.reveal()
      #expect(listener.count == 1 && proxy.hide("") == 0 && !proxy.responds(to: .hide))
    }

    @Test func `listeners are held weakly unless one asks`() throws {
      let delegates = DownloadDelegateProxy()
      var weak: Listener? = Listener()
      try weak.map { _ = try delegates.subscribe($0) }
      weak = nil
      #expect(delegates.count == 0)
      try delegates.subscribe(Listener(), lifetime: .strong)
      #expect(delegates.count == 1)
      delegates.unsubscribeAll()
      #expect(delegates.count == 0)
    }

    @Test func `who unsubscribes is not called`() throws {
      let delegates = DownloadDelegateProxy()
      let listener = Listener()
      let subscription = try delegates.subscribe(listener)
      #expect(delegates.contains(listener) && subscription.isLive)
      #expect(delegates.unsubscribe(listener))
      #expect(!delegates.contains(listener) && !subscription.isLive)
      #expect(!delegates.unsubscribe(listener))
      delegates.download(Download(), didReceive: 1, of: 1)
      #expect(listener.log.isEmpty)
    }

    @Test func `refused listeners are errors`() throws {
      var configuration = DynamicProxy.Configuration()
      configuration.duplicates = .fail
      let delegates = try DownloadDelegateProxy(configuration: configuration)
      let listener = Listener()
      try delegates.subscribe(listener)
      let duplicate = #expect(throws: ForwardingError.self) { try delegates.subscribe(listener) }
      #expect(duplicate?.code == .duplicate)
      let limit = #expect(throws: ForwardingError.self) {
        try delegates.subscribe(Listener(), times: 0)
      }
      #expect(limit?.code == .invalidLimit)
      #expect(delegates.count == 1)
    }

    // MARK: Other typed proxies

    @Test func `a proxy forwards to another and not to itself`() throws {
      let outer = DownloadDelegateProxy()
      let inner = DownloadDelegateProxy()
      let listener = FullListener<Int>()
      try outer.subscribe(inner)
      #expect(outer.contains(inner) && outer.count == 1)
      try inner.subscribe(listener)
      try outer.downloadDidFinish(Download(), at: "/")
      #expect(listener.log == ["finished at /"])
      for proxy in [inner, outer] {
        let error = #expect(throws: ForwardingError.self) { try proxy.subscribe(outer) }
        #expect(error?.code == .cycle)
      }
      listener.failure = Failure(1)
      #expect(throws: Failure(1)) { try outer.downloadDidFinish(Download(), at: "/") }
      #expect(outer.unsubscribe(inner))
      outer.download(Download(), didReceive: 1, of: 1)
      #expect(listener.log.count == 2)
    }

    // MARK: Optional methods

    @Test func `who leaves a method out does not respond`() throws {
      let delegates = DownloadDelegateProxy()
      #expect(!delegates.responds(to: .downloadDidReceiveOf))
      let lacking = Listener()
      let full = FullListener<String>()
      try delegates.subscribe(lacking)
      #expect(delegates.responds(to: .downloadDidReceiveOf))
      #expect(!delegates.responds(to: .downloadDidFinishAt))
      #expect(!DownloadDelegateProxy.responds(lacking, to: .downloadDidFinishAt))
      #expect(DownloadDelegateProxy.responds(lacking, to: .downloadShouldContinueAfter))
      #expect(DownloadDelegateProxy.responds(full, to: .downloadDidFinishAt))
      try delegates.downloadDidFinish(Download(), at: "nobody")
      try delegates.subscribe(full)
      #expect(delegates.responds(to: .downloadDidFinishAt))
      try delegates.downloadDidFinish(Download(), at: "/")
      #expect(full.log == ["finished at /"])
      delegates.unsubscribe(full)
      #expect(!delegates.responds(to: .downloadDidFinishAt))
    }

    @Test func `a method that is left out can be called all the same`() throws {
      let listener: any DownloadDelegate = Listener()
      try listener.downloadDidFinish(Download(), at: "/")
      let counter: any Space.Observer = Counter()
      #expect(counter.label("") == nil)
    }

    /// The conformance is the base class's, which lacks the method.
    @Test func `a subclass that adds a method does not respond`() throws {
      final class Derived: Listener {
        func downloadDidFinish(_ download: Download, at path: String) throws {}
      }
      let listener = Derived()
      let delegates = DownloadDelegateProxy()
      try delegates.subscribe(listener)
      #expect(!delegates.responds(to: .downloadDidFinishAt))
      delegates.download(Download("a"), didReceive: 1, of: nil)
      #expect(listener.log == ["a 1/?"])
    }

    // MARK: Throwing

    @Test func `the first error ends the fan-out`() throws {
      let delegates = DownloadDelegateProxy()
      let listeners = (0..<3).map { _ in FullListener<Int>() }
      for listener in listeners { try delegates.subscribe(listener) }
      listeners[1].failure = Failure(5)
      #expect(throws: Failure(5)) { try delegates.downloadDidFinish(Download(), at: "/") }
      #expect(listeners.map(\.log.count) == [1, 1, 0])
    }

    // MARK: Results

    @Test func `the first responder answers`() throws {
      let delegates = DownloadDelegateProxy()
      let first = Listener()
      let second = FullListener<Int>()
      #expect(!delegates.download(Download(), shouldContinueAfter: Failure(1)))
      try delegates.subscribe(first)
      try delegates.subscribe(second)
      #expect(delegates.download(Download(), shouldContinueAfter: Failure(1)))
      delegates.unsubscribe(first)
      #expect(!delegates.download(Download(), shouldContinueAfter: Failure(1)))
    }

    @Test func `a policy is named by the selector`() throws {
      let selector = DownloadDelegateProxy.selector(for: .downloadShouldContinueAfter)
      #expect(selector == "download:shouldContinueAfter:")
      var configuration = DynamicProxy.Configuration()
      configuration.results[selector] = .all
      let delegates = try DownloadDelegateProxy(configuration: configuration)
      let first = Listener()
      let second = Listener()
      try delegates.subscribe(first)
      try delegates.subscribe(second)
      #expect(delegates.download(Download(), shouldContinueAfter: Failure(1)))
      second.answer = false
      #expect(!delegates.download(Download(), shouldContinueAfter: Failure(1)))
    }

    @Test(arguments: ["nameOf:", "list:", "shape:"])
    func `results in memory take no policy`(_ selector: String) {
      var configuration = DynamicProxy.Configuration()
      configuration.results[MethodSelector(stringLiteral: selector)] = .callAll(pick: .last)
      #expect(throws: ForwardingError.self) { try KindsProxy(configuration: configuration) }
    }

    // MARK: Threads

    @Test func `a proxy of a sendable protocol is sendable`() async throws {
      let proxy = Space.ObserverProxy()
      let counters = (0..<8).map { _ in Counter() }
      try await withThrowingTaskGroup { group in
        for counter in counters {
          group.addTask {
            try proxy.subscribe(counter)
            for index in 0..<1000 { proxy.moved(1, index == 0) }
          }
        }
        try await group.waitForAll()
      }
      #expect(counters.allSatisfy { $0.count.load(ordering: .relaxed) >= 1000 })
      #expect(proxy.proxy.protocols.map(\.name).count == 1)
    }
  }

  /// Keeps what an error handler is told.
  final class Errors: Sendable {
    private let list = Mutex<[ForwardingError]>([])
    func append(_ error: ForwardingError) { list.withLock { $0.append(error) } }
    var codes: [ForwardingError.Code] { list.withLock { $0.map(\.code) } }
    var descriptions: [String] { list.withLock { $0.map(\.description) } }
  }
#endif
