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

  @Forwarded
  private protocol SharedReleaseDelegate: AnyObject, Sendable {
    func rang()
  }

  private final class SharedListener: SharedReleaseDelegate {
    func rang() {}
  }

  @Forwarded @MainActor
  private protocol MainReleaseDelegate: AnyObject {
    func rang()
  }

  @MainActor private final class MainListener: MainReleaseDelegate {
    func rang() {}
  }

  /// Notes whether it dies on the main actor. Not `Sendable`, although its protocol has an
  /// actor.
  private final class MainPainter {
    // The main actor runs on the main queue, but on Linux not on one thread.
    private static let isMain = DispatchSpecificKey<Bool>()
    private let deaths: LocalListener.Deaths
    init(_ deaths: LocalListener.Deaths) {
      self.deaths = deaths
      DispatchQueue.main.setSpecific(key: Self.isMain, value: true)
    }
    deinit { deaths.note(isHere: DispatchQueue.getSpecific(key: Self.isMain) == true) }
  }
  extension MainPainter: MainReleaseDelegate {
    func rang() {}
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
        let subscription = try proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        proxy.rang(1)
        elsewhere { subscription.cancel() }
        #expect(proxy.count == 0)
        #expect(deaths.here == round && deaths.elsewhere == 0)
      }
    }

    @Test func `it dies with its proxy at the latest`() throws {
      do {
        let proxy = ReleaseDelegateProxy()
        let subscription = try proxy.subscribe(LocalListener(deaths), lifetime: .strong)
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
        try inner.subscribe(LocalListener(deaths), lifetime: .strong)
        subscription = try outer.subscribe(inner, lifetime: .strong)
      }
      outer.rang(1)
      elsewhere { subscription.cancel() }
      #expect(deaths.elsewhere == 0)
      #expect(outer.count == 0)
      #expect(deaths.here == 1 && deaths.elsewhere == 0)
    }

    private final class Bell {
      weak var delegate: (any ReleaseDelegate)?
    }

    /// Has another thread search the table of hubs, which releases those of dead objects.
    private func searchHubsElsewhere() {
      elsewhere {
        let bell = Bell()
        withExtendedLifetime(
          DelegateForwarder(bell, \.delegate, isolation: nil, proxy: ReleaseDelegateProxy())
        ) {}
      }
    }

    @Test func `the proxy of a slot keeps listeners only while the slot has a forwarder`() throws {
      do {
        let bell = Bell()
        do {
          let proxy = ReleaseDelegateProxy()
          try proxy.subscribe(LocalListener(deaths), lifetime: .strong)
          let forwarder = DelegateForwarder(bell, \.delegate, isolation: nil, proxy: proxy)
          try forwarder.proxy.subscribe(LocalListener(deaths), lifetime: .strong)
          try forwarder.proxy.setForwardTarget(LocalListener(deaths), lifetime: .strong)
          bell.delegate?.rang(1)
          #expect(deaths.here == 0 && proxy.count == 2)
        }
        #expect(deaths.here == 3)
        // Again, with a proxy that is used after its forwarder.
        let forwarder = DelegateForwarder(
          bell, \.delegate, isolation: nil, proxy: ReleaseDelegateProxy())
        try forwarder.proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        #expect(forwarder.proxy.count == 1)
        forwarder.stop()
        #expect(deaths.here == 4)
        try forwarder.proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        #expect(deaths.here == 5)
      }
      searchHubsElsewhere()
      #expect(deaths.here == 5 && deaths.elsewhere == 0)
    }

    private class Base {
      weak var delegate: (any ReleaseDelegate)?
    }
    private final class Derived: Base {}

    @Test func `so do the proxies of hubs that have become one`() throws {
      do {
        let object = Derived()
        // Two key paths for one slot.
        let first = DelegateForwarder(
          object, \.delegate, isolation: nil, proxy: ReleaseDelegateProxy())
        let own = first.proxy
        try own.subscribe(LocalListener(deaths), lifetime: .strong)
        first.stop()
        let second = DelegateForwarder(
          object as Base, \.delegate, isolation: nil, proxy: ReleaseDelegateProxy())
        let third = DelegateForwarder(
          object, \.delegate, isolation: nil, proxy: ReleaseDelegateProxy())
        #expect(second.proxy === third.proxy)
        #expect(deaths.here == 1)
        try own.subscribe(LocalListener(deaths), lifetime: .strong)
        try second.proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        object.delegate?.rang(1)
        withExtendedLifetime((second, third)) {}
      }
      #expect(deaths.here == 3 && deaths.elsewhere == 0)
      searchHubsElsewhere()
      #expect(deaths.elsewhere == 0)
    }

    private typealias Forwarder = DelegateForwarder<Bell, ReleaseDelegateProxy>

    @Test func `merging keeps the listeners of both hubs`() throws {
      for swaps in [false, true] {
        let object = Derived()
        let path: ReferenceWritableKeyPath<Base, (any ReleaseDelegate)?> = \.delegate
        let derived: ReferenceWritableKeyPath<Derived, (any ReleaseDelegate)?> = \.delegate
        // Two hubs, which are made while the slot is empty.
        DelegateForwarder(object as Base, path, isolation: nil, proxy: ReleaseDelegateProxy())
          .stop()
        DelegateForwarder(object, derived, isolation: nil, proxy: ReleaseDelegateProxy()).stop()
        let first = DelegateForwarder(
          object as Base, path, isolation: nil, proxy: ReleaseDelegateProxy())
        try first.proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        let earlier = first.proxy
        object.delegate = nil
        let second = DelegateForwarder(
          object, derived, isolation: nil, proxy: ReleaseDelegateProxy())
        try second.proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        let later = second.proxy
        if swaps { second.recheck() }
        first.recheck()
        #expect(first.proxy === second.proxy)
        try earlier.subscribe(LocalListener(deaths), lifetime: .strong)
        try later.subscribe(LocalListener(deaths), lifetime: .strong)
        #expect(deaths.here == (swaps ? 4 : 0) && deaths.elsewhere == 0)
        first.stop()
        #expect(deaths.here == (swaps ? 4 : 0))
        second.stop()
        #expect(deaths.here == (swaps ? 8 : 4) && deaths.elsewhere == 0)
      }
      searchHubsElsewhere()
      #expect(deaths.elsewhere == 0)
    }

    @Test func `a proxy of two slots keeps listeners while one of them has a forwarder`() throws {
      let proxy = ReleaseDelegateProxy()
      do {
        let bells = (Bell(), Bell())
        let first = DelegateForwarder(bells.0, \.delegate, isolation: nil, proxy: proxy)
        let second = DelegateForwarder(bells.1, \.delegate, isolation: nil, proxy: proxy)
        try proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        second.stop()
        try proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        #expect(deaths.here == 0 && proxy.count == 2)
        first.stop()
        #expect(deaths.here == 2 && proxy.count == 0)
        try proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        #expect(deaths.here == 3 && proxy.count == 0)
      }
      // Without slots it keeps them again.
      searchHubsElsewhere()
      try proxy.subscribe(LocalListener(deaths), lifetime: .strong)
      #expect(deaths.here == 3 && proxy.count == 1)
    }

    @Test func `claiming a slot that is taken leaves the proxy as it was`() throws {
      do {
        let bell = Bell()
        let occupant = LocalListener(deaths)
        bell.delegate = occupant
        let proxy = ReleaseDelegateProxy()
        try proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        let error = #expect(throws: ForwardingError.self) {
          _ = try Forwarder.claiming(bell, \.delegate, isolation: nil, proxy: proxy)
        }
        #expect(error?.code == .slotTaken && deaths.here == 0)
        // The proxy and the options of later forwarders are their own.
        let own = ReleaseDelegateProxy()
        let forwarder = DelegateForwarder(bell, \.delegate, isolation: nil, proxy: own)
        #expect(forwarder.proxy === own)
        bell.delegate?.rang(1)
        #expect(occupant.count == 1)
      }
      searchHubsElsewhere()
      #expect(deaths.here == 2 && deaths.elsewhere == 0)
    }

    private final class StrongBell {
      var delegate: (any ReleaseDelegate)?
    }

    @Test func `a delegate that a slot keeps dies where the slot is used`() throws {
      let options = DelegateSlotOptions(lifetime: .strong)
      do {
        let bell = StrongBell()
        bell.delegate = LocalListener(deaths)
        let outer = ReleaseDelegateProxy()
        do {
          let forwarder = DelegateForwarder(
            bell, \.delegate, options: options, isolation: nil, proxy: ReleaseDelegateProxy())
          try outer.subscribe(forwarder.proxy)
          bell.delegate = outer
        }
        // The slot has another delegate, so nothing keeps the old one.
        #expect(deaths.here == 1)
        // The same if the other delegate is the proxy of a hub without a forwarder.
        let idle = DelegateForwarder(
          Bell(), \.delegate, isolation: nil, proxy: ReleaseDelegateProxy())
        let owner = idle.service
        let idleProxy = idle.proxy
        idle.stop()
        bell.delegate = LocalListener(deaths)
        do {
          let forwarder = DelegateForwarder(
            bell, \.delegate, options: options, isolation: nil, proxy: ReleaseDelegateProxy())
          try idleProxy.subscribe(forwarder.proxy)
          bell.delegate = idleProxy
        }
        #expect(deaths.here == 2)
        withExtendedLifetime(owner) {}
      }
      searchHubsElsewhere()
      #expect(deaths.here == 2 && deaths.elsewhere == 0)
    }

    private final class Slotted {
      @DelegateSlot(ReleaseDelegateProxy(), options: DelegateSlotOptions(lifetime: .strong))
      var delegate: (any ReleaseDelegate)?

      /// Sets a delegate that the slot keeps alive, and hands it to a second hub: the slot's own
      /// hub ends while the second one has the slot.
      func handOver(
        _ listener: LocalListener
      ) -> DelegateForwarder<Slotted, ReleaseDelegateProxy> {
        delegate = listener
        let inner = DelegateForwarder(self, \.$delegate, isolation: nil)
        let outer = DelegateForwarder(
          self, \.delegate, options: DelegateSlotOptions(lifetime: .strong), isolation: nil,
          proxy: ReleaseDelegateProxy())
        inner.stop()
        return outer
      }
    }

    @Test func `a delegate that another hub keeps is dropped or kept as the slot would`() throws {
      do {
        let object = Slotted()
        let outer = object.handOver(LocalListener(deaths))
        object.delegate?.rang(1)
        #expect(deaths.here == 0)
        // The hub that keeps it adopts another one.
        object.delegate = nil
        outer.recheck()
        #expect(deaths.here == 1)
      }
      do {
        let object = Slotted()
        let outer = object.handOver(LocalListener(deaths))
        // The hub behind takes the delegate again.
        let second = DelegateForwarder(object, \.$delegate, isolation: nil)
        object.delegate = second.original
        outer.stop()
        object.delegate?.rang(3)
        #expect(deaths.here == 1)
        second.stop()
        #expect((object.delegate as? LocalListener)?.count == 3)
      }
      #expect(deaths.here == 2)
      do {
        let object = Slotted()
        let outer = object.handOver(LocalListener(deaths))
        // The hub behind gets another delegate, and keeps that itself.
        let second = DelegateForwarder(object, \.$delegate, isolation: nil)
        object.delegate = LocalListener(deaths)
        outer.recheck()
        #expect(deaths.here == 3)
        outer.stop()
        object.delegate?.rang(5)
        second.stop()
        #expect((object.delegate as? LocalListener)?.count == 5 && deaths.here == 3)
      }
      searchHubsElsewhere()
      #expect(deaths.here == 4 && deaths.elsewhere == 0)
    }

    /// Has its delegate subscribe when it is set.
    private final class Asking {
      var isSet: () -> Void = {}
      weak var delegate: (any ReleaseDelegate)? { didSet { if delegate != nil { isSet() } } }
    }

    @Test func `a listener is kept while a later forwarder takes the slot`() throws {
      let asking = Asking()
      let first = DelegateForwarder(
        asking, \.delegate, isolation: nil, proxy: ReleaseDelegateProxy())
      let proxy = first.proxy
      first.stop()
      asking.isSet = { [deaths] in
        _ = try? proxy.subscribe(LocalListener(deaths), lifetime: .strong)
      }
      let second = DelegateForwarder(
        asking, \.delegate, isolation: nil, proxy: ReleaseDelegateProxy())
      #expect(deaths.here == 0 && proxy.count == 1)
      asking.isSet = {}
      second.stop()
      #expect(deaths.here == 1)
    }

    /// A proxy of another class than the generated one.
    private final class OtherProxy: ReleaseDelegate, SlotProxy {
      let inner = ReleaseDelegateProxy()
      var asListener: any ReleaseDelegate { self }
      @unsafe var forwardingProxy: DynamicProxy { unsafe inner.forwardingProxy }
      func rang(_ count: Int) { inner.rang(count) }
      @unsafe func subscribeListener(
        _ listener: any ReleaseDelegate, at position: DynamicProxy.Position,
        lifetime: DynamicProxy.Lifetime
      ) throws(ForwardingError) -> DynamicProxy.Subscription {
        try unsafe inner.subscribeListener(listener, at: position, lifetime: lifetime)
      }
      static func object(of listener: any ReleaseDelegate) -> AnyObject { listener }
      @unsafe static func subscriber(for listener: any ReleaseDelegate) -> AnyObject {
        unsafe ReleaseDelegateProxy.subscriber(for: listener)
      }
    }

    @Test func `hubs of two kinds hand the delegate that a slot keeps on`() throws {
      let options = DelegateSlotOptions(lifetime: .strong)
      for endsFirst in [true, false] {
        let died = deaths.here
        do {
          let bell = StrongBell()
          bell.delegate = LocalListener(deaths)
          let inner = DelegateForwarder(
            bell, \.delegate, options: options, isolation: nil, proxy: ReleaseDelegateProxy())
          let outer = DelegateForwarder(
            bell, \.delegate, options: options, isolation: nil, proxy: OtherProxy())
          // The delegate is a proxy that delegates to this hub: it is not adopted.
          inner.recheck()
          if endsFirst { inner.stop() } else { outer.stop() }
          bell.delegate?.rang(2)
          #expect(deaths.here == died)
          inner.stop()
          outer.stop()
          #expect((bell.delegate as? LocalListener)?.count == 2)
          #expect(deaths.here == died)
        }
        #expect(deaths.here == died + 1)
      }
      searchHubsElsewhere()
      #expect(deaths.here == 2 && deaths.elsewhere == 0)
    }

    @Test func `a listener whose deinit ends the forwarder does not keep another one`() throws {
      final class Ending: ReleaseDelegate {
        let end: () -> Void
        init(_ end: @escaping () -> Void) { self.end = end }
        func rang(_ count: Int) {}
        deinit { end() }
      }
      final class Subscribing: ReleaseDelegate {
        let subscribe: () -> Void
        init(_ subscribe: @escaping () -> Void) { self.subscribe = subscribe }
        func rang(_ count: Int) { subscribe() }
      }
      do {
        let bell = Bell()
        var forwarder: Forwarder? = DelegateForwarder(
          bell, \.delegate, isolation: nil, proxy: ReleaseDelegateProxy())
        let proxy = try #require(forwarder).proxy
        for _ in 0..<14 { try proxy.subscribe(LocalListener(deaths), lifetime: .strong) }
        try proxy.subscribe(Ending { forwarder = nil }, lifetime: .strong, times: 1)
        let subscribing = Subscribing { [deaths] in
          // The 17th: all are checked, and the one that has been used up dies.
          _ = try? proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        }
        try proxy.subscribe(subscribing, lifetime: .strong)
        bell.delegate?.rang(1)
        #expect(forwarder == nil && deaths.here == 15)
      }
      searchHubsElsewhere()
      #expect(deaths.here == 15 && deaths.elsewhere == 0)
    }

    /// Has another thread cancel a subscription, and stops it inside of that, after the
    /// end of the subscription. Calls a closure meanwhile, and waits for the thread.
    private func whileCancelling(
      _ subscription: DynamicProxy.Subscription, _ stop: Stop, _ body: () -> Void
    ) {
      let isDone = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        subscription.cancel()
        isDone.signal()
      }
      stop.reached.wait()
      body()
      stop.over.signal()
      isDone.wait()
    }

    /// Where a thread stops that cancels a subscription.
    private final class Stop: Sendable {
      let reached = DispatchSemaphore(value: 0)
      let over = DispatchSemaphore(value: 0)

      var configuration: DynamicProxy.Configuration {
        var configuration = DynamicProxy.Configuration()
        configuration.onMembershipChange = { [self] _, change in
          guard change == .left else { return }
          reached.signal()
          over.wait()
        }
        return configuration
      }
    }

    @Test(arguments: [DynamicProxy.Lifetime.weak, .strong])
    func `they die here if the proxy dies while another thread cancels`(
      _ lifetime: DynamicProxy.Lifetime
    ) throws {
      let stop = Stop()
      var proxy: ReleaseDelegateProxy? = try ReleaseDelegateProxy(configuration: stop.configuration)
      try proxy?.subscribe(LocalListener(deaths), lifetime: .strong)
      do {
        let inner = ReleaseDelegateProxy()
        try inner.subscribe(LocalListener(deaths), lifetime: .strong)
        try proxy?.subscribe(inner, lifetime: .strong)
      }
      try proxy?.setForwardTarget(LocalListener(deaths), lifetime: .strong)
      let listener = LocalListener(deaths)
      let subscription = try #require(try proxy?.subscribe(listener, lifetime: lifetime))
      whileCancelling(subscription, stop) {
        proxy = nil
        #expect(deaths.here == 3)
      }
      #expect(deaths.elsewhere == 0)
      withExtendedLifetime(listener) {}
    }

    /// Waits for another thread, which may need the processor. Most waits only spin, so that both
    /// threads run at the same time.
    private static func wait(_ count: inout Int) {
      count += 1
      if count % 200 == 0 { usleep(100) }
    }

    @Test func `they die here if the proxy is asked while another thread cancels`() throws {
      let proxy = ReleaseDelegateProxy()
      let subscriptions = Mutex<[DynamicProxy.Subscription]>([])
      let rounds = 20_000
      let isDone = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        var (cancelled, waits) = (0, 0)
        while cancelled < rounds {
          guard let next = subscriptions.withLock({ $0.popLast() }) else {
            Self.wait(&waits)
            continue
          }
          next.cancel()
          cancelled += 1
        }
        isDone.signal()
      }
      var waits = 0
      for _ in 1...rounds {
        let subscription = try proxy.subscribe(LocalListener(deaths), lifetime: .strong)
        subscriptions.withLock { $0.append(subscription) }
        while proxy.count > 4 { Self.wait(&waits) }
      }
      isDone.wait()
      #expect(proxy.count == 0)
      #expect(deaths.elsewhere == 0)
      #expect(deaths.here == rounds)
    }

    @Test func `a listener that its proxy unsubscribes is released at once`() throws {
      let proxy = ReleaseDelegateProxy()
      do {
        let listener = LocalListener(deaths)
        try proxy.subscribe(listener, lifetime: .strong)
        #expect(proxy.unsubscribe(listener))
      }
      #expect(deaths.here == 1 && deaths.elsewhere == 0)
    }

    @Test func `a listener for one call is released when the call returns`() throws {
      let proxy = ReleaseDelegateProxy()
      try proxy.subscribe(LocalListener(deaths), lifetime: .strong, times: 1)
      try proxy.subscribe(LocalListener(deaths), lifetime: .strong, times: 2)
      proxy.rang(1)
      #expect(deaths.here == 1)
      proxy.rang(1)
      #expect(deaths.here == 2 && deaths.elsewhere == 0)
    }

    @Test func `a forward target is released when another replaces it`() throws {
      let proxy = ReleaseDelegateProxy()
      try proxy.setForwardTarget(LocalListener(deaths), lifetime: .strong)
      proxy.rang(1)
      try proxy.setForwardTarget(LocalListener(deaths), for: .everything, lifetime: .strong)
      #expect(deaths.here == 1)
      proxy.unsubscribeAll()
      #expect(deaths.here == 2)
      try proxy.setForwardTarget(LocalListener(deaths), lifetime: .strong)
      proxy.removeForwardTarget()
      #expect(deaths.here == 3 && deaths.elsewhere == 0)
    }

    @Test func `a forward target that is a typed proxy stays one`() throws {
      let (proxy, target) = (ReleaseDelegateProxy(), ReleaseDelegateProxy())
      try proxy.setForwardTarget(target)
      #expect(proxy.forwardTarget === target)
    }

    @Test func `a subscription of shared listeners gives the proxy`() throws {
      let proxy = SharedReleaseDelegateProxy()
      let listener = SharedListener()
      let subscription = try proxy.subscribe(listener)
      #expect(subscription.proxy === proxy.proxy && subscription.subscriber === listener)
    }

    @Test func `shared listeners live as long as the untyped proxy`() throws {
      let untyped: DynamicProxy
      do {
        let proxy = SharedReleaseDelegateProxy()
        try proxy.subscribe(SharedListener(), lifetime: .strong)
        untyped = proxy.proxy
      }
      #expect(untyped.count == 1)
    }

    @Test @MainActor func `a subscription gives no other actor the proxy`() throws {
      let proxy = MainReleaseDelegateProxy()
      let listener = MainListener()
      let subscription = try proxy.subscribe(listener)
      #expect(subscription.isLive == true)
      #expect(subscription.proxy == nil && subscription.subscriber == nil)
    }

    @Test @MainActor func `a proxy of an actor releases its listeners there`() async throws {
      var proxy: MainReleaseDelegateProxy? = MainReleaseDelegateProxy()
      try proxy?.subscribe(MainPainter(deaths), lifetime: .strong)
      try proxy?.setForwardTarget(MainPainter(deaths), lifetime: .strong)
      let sent = Mutex(proxy)
      proxy = nil
      await Task.detached { sent.withLock { $0 = nil } }.value
      for _ in 1...1000 where deaths.here + deaths.elsewhere < 2 { await Task.yield() }
      #expect(deaths.here == 2 && deaths.elsewhere == 0)
    }

    @Test func `no subscription gives another thread the proxy or a listener`() throws {
      let seen = Mutex<[DynamicProxy.Subscription]>([])
      var configuration = DynamicProxy.Configuration()
      configuration.onMembershipChange = { subscription, _ in
        seen.withLock { $0.append(subscription) }
      }
      let proxy = try ReleaseDelegateProxy(configuration: configuration)
      let listener = LocalListener(deaths)
      try proxy.subscribe(listener)
      let token = try proxy.on(.rang) { (_: Int) in
        let current = DynamicProxy.Subscription.current
        seen.withLock { $0 += current.map { [$0] } ?? [] }
      }
      seen.withLock { $0 += token.subscription.map { [$0] } ?? [] }
      proxy.rang(1)
      let subscriptions = seen.withLock { $0 }
      #expect(subscriptions.count == 4 && subscriptions.allSatisfy(\.isLive))
      #expect(subscriptions.allSatisfy { $0.proxy == nil && $0.subscriber == nil })
      withExtendedLifetime((proxy, listener)) {}
    }
  }
#endif
