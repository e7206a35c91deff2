// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import Dispatch
  import ForwardingMacros
  import Foundation
  import Synchronization
  import Testing

  @Forwarded
  private protocol ReleaseDelegate: AnyObject {
    func rang(_ count: Int)
  }

  /// Notes on which thread it dies. Not `Sendable`.
  private final class LocalListener: ReleaseDelegate {
    final class Deaths: Sendable {
      private let counts = Mutex((here: 0, elsewhere: 0))
      var here: Int { counts.withLock { $0.here } }
      var elsewhere: Int { counts.withLock { $0.elsewhere } }
      func note(isHere: Bool) {
        counts.withLock { if isHere { $0.here += 1 } else { $0.elsewhere += 1 } }
      }
    }

    private let thread = Thread.current
    private let deaths: Deaths
    private(set) var count = 0
    init(_ deaths: Deaths) { self.deaths = deaths }
    func rang(_ count: Int) { self.count += count }
    deinit { deaths.note(isHere: Thread.current === thread) }
  }

  @Suite struct ListenerReleaseTests {
    private let deaths = LocalListener.Deaths()

    /// Runs a closure on another thread, and waits.
    private func elsewhere(_ body: @escaping @Sendable () -> Void) {
      let isDone = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        body()
        isDone.signal()
      }
      isDone.wait()
    }

    @Test func `a listener that is kept alive dies where its proxy is used`() throws {
      let proxy = ReleaseDelegateProxy()
      for round in 1...200 {
        let subscription = try #require(
          proxy.subscribe(LocalListener(deaths), lifetime: .strong))
        proxy.rang(1)
        elsewhere { subscription.cancel() }
        #expect(proxy.count == 0)
        #expect(deaths.here == round && deaths.elsewhere == 0)
      }
    }

    @Test func `it dies with its proxy at the latest`() throws {
      do {
        let proxy = ReleaseDelegateProxy()
        let subscription = try #require(
          proxy.subscribe(LocalListener(deaths), lifetime: .strong))
        elsewhere { subscription.cancel() }
        #expect(deaths.here == 0 && deaths.elsewhere == 0)
        withExtendedLifetime(proxy) {}
      }
      #expect(deaths.here == 1 && deaths.elsewhere == 0)
    }

    @Test func `so do the listeners of a proxy that is kept alive by another`() throws {
      let outer = ReleaseDelegateProxy()
      let subscription: DynamicProxy.Subscription
      do {
        let inner = ReleaseDelegateProxy()
        inner.subscribe(LocalListener(deaths), lifetime: .strong)
        subscription = try #require(outer.subscribe(inner, lifetime: .strong))
      }
      outer.rang(1)
      elsewhere { subscription.cancel() }
      #expect(deaths.elsewhere == 0)
      #expect(outer.count == 0)
      #expect(deaths.here == 1 && deaths.elsewhere == 0)
    }

    @Test func `a listener that its proxy unsubscribes is released at once`() {
      let proxy = ReleaseDelegateProxy()
      do {
        let listener = LocalListener(deaths)
        proxy.subscribe(listener, lifetime: .strong)
        #expect(proxy.unsubscribe(listener))
      }
      #expect(deaths.here == 1 && deaths.elsewhere == 0)
    }
  }
#endif
