// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// Proxies in several slots, and hubs that become one while a call is under way.
@Suite struct SlotReentrancyTests {
  private let notes = Notes()

  private func listener(_ name: String) -> FetchListener { FetchListener(name, notes) }

  // MARK: One proxy in several slots

  /// Two slots of one object, which keep their delegates.
  private final class Strong {
    var delegate: (any FetchDelegate)?
    var second: (any FetchDelegate)?
  }

  private func front(_ service: Strong) -> DelegateForwarder<Strong, FetchProxy> {
    DelegateForwarder(
      service,
      hub: DelegateHub(
        FetchProxy(), SlotAccess(read: { service.delegate }, write: { service.delegate = $0 }),
        DelegateSlotOptions(lifetime: .strong)))
  }

  @Test(arguments: [false, true])
  func `a proxy in two slots gives the first back behind another hub`(isSameObject: Bool) throws {
    let service = Strong()
    let other = isSameObject ? service : Strong()
    weak var weakly: FetchListener?
    let options = DelegateSlotOptions(lifetime: .strong)
    let shared = FetchProxy()
    var inner: DelegateForwarder<Strong, FetchProxy>?
    do {
      let a = listener("a")
      weakly = a
      service.delegate = a
      inner = DelegateForwarder(service, \.delegate, options: options, proxy: shared)
    }
    let outer = front(service)
    let second = DelegateForwarder(other, \.second, options: options, proxy: shared)
    inner?.stop()
    inner = nil
    #expect(weakly != nil)
    service.delegate?.fetched(1)
    #expect(notes.take() == ["a1"])
    outer.stop()
    #expect(service.delegate === weakly)
    service.delegate?.fetched(1)
    #expect(notes.take() == ["a1"])
    #expect(second.hub.isInstalled)
  }

  @Test func `a delegate of two slots with one proxy is called until the last lets go`() throws {
    let (first, second) = (Fetcher(), Fetcher())
    let a = listener("a")
    first.delegate = a
    second.delegate = a
    let shared = FetchProxy()
    let one = DelegateForwarder(first, \.delegate, proxy: shared)
    let two = DelegateForwarder(second, \.delegate, proxy: shared)
    second.fetch()
    #expect(notes.take() == ["a1"])
    one.stop()
    second.fetch()
    #expect(notes.take() == ["a1"])
    two.stop()
    #expect(first.delegate === a && second.delegate === a)
  }

  // MARK: Hubs that become one

  private final class Derived: Fetcher {}

  private typealias Hub = DelegateHub<FetchProxy>
  private func hubs(
    _ service: Derived, _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) -> (base: Hub, derived: Hub) {
    (
      DelegateSlots.hub(of: service as Fetcher, \.delegate, proxy: FetchProxy()),
      DelegateSlots.hub(
        of: service, \Derived.delegate as ReferenceWritableKeyPath, proxy: FetchProxy(configure))
    )
  }
  private func derived(_ service: Derived) -> DelegateForwarder<Derived, FetchProxy> {
    DelegateForwarder(
      service, \Derived.delegate as ReferenceWritableKeyPath, proxy: FetchProxy())
  }

  @Test func `a listener of both hubs is called once when they are one`() throws {
    let service = Derived()
    let c = listener("c")
    let (base, derived) = hubs(service)
    try base.subscribe(c)
    try derived.subscribe(c)
    let (first, second) = (DelegateForwarder(service as Fetcher), self.derived(service))
    #expect(first.hub === second.hub)
    service.fetch()
    #expect(notes.take() == ["c1"])
  }

  @Test func `a listener that subscribes again after the hubs are one is called once`() throws {
    let service = Derived()
    let c = listener("c")
    let (_, derived) = hubs(service)
    try derived.subscribe(c)
    let (first, second) = (DelegateForwarder(service as Fetcher), self.derived(service))
    #expect(first.hub === second.hub)
    try second.subscribe(c)
    service.fetch()
    #expect(notes.take() == ["c1"])
  }

  @Test func `a delegate that has subscribed by the hub that goes is called once`() throws {
    let service = Derived()
    let a = listener("a")
    service.delegate = a
    let (_, derived) = hubs(service)
    try derived.subscribe(a)
    let (first, second) = (DelegateForwarder(service as Fetcher), self.derived(service))
    #expect(first.hub === second.hub)
    service.fetch()
    #expect(notes.take() == ["a1"])
  }

  @Test func `a listener leaves by a forwarder of hubs that are one`() throws {
    let service = Derived()
    let (b, c) = (listener("b"), listener("c"))
    let (_, derived) = hubs(service)
    try derived.subscribe(b)
    try derived.subscribe(c)
    let (first, second) = (DelegateForwarder(service as Fetcher), self.derived(service))
    #expect(second.unsubscribe(b))
    #expect(first.unsubscribe(c))
    service.fetch()
    #expect(notes.take() == [])
  }

  /// What an observer does at the first change of a kind.
  private final class Plan: @unchecked Sendable {
    // Sendable: used on one thread.
    var onJoin: (() -> Void)?
    var onLeave: (() -> Void)?
  }

  @Test func `a listener is called once if the hubs become one while it subscribes`() throws {
    let service = Derived()
    let c = listener("c")
    let plan = Plan()
    let (_, derived) = hubs(service) {
      $0.onMembershipChange = { _, _ in plan.onJoin.take()?() }
    }
    var forwarders: [AnyObject] = []
    plan.onJoin = {
      forwarders = [DelegateForwarder(service as Fetcher), self.derived(service)]
    }
    try derived.subscribe(c)
    #expect(forwarders.count == 2)
    service.fetch()
    #expect(notes.take() == ["c1"])
  }

  @Test(arguments: [false, true])
  func `a delegate is called once if the hubs become one while it moves`(moves: Bool) throws {
    let service = Derived()
    let a = listener("a")
    let b = listener("b")
    service.delegate = a
    let plan = Plan()
    let (_, derived) = hubs(service) {
      $0.onMembershipChange = { _, _ in plan.onLeave.take()?() }
    }
    let first = self.derived(service)
    #expect(derived.isInstalled)
    try first.subscribe(b)
    var forwarders: [AnyObject] = []
    plan.onLeave = {
      first.stop()
      forwarders = [DelegateForwarder(service as Fetcher), self.derived(service)]
    }
    try derived.subscribe(a, at: moves ? DynamicProxy.Position.after(b) : .first)
    #expect(forwarders.count == 2)
    service.fetch()
    #expect(notes.take().filter { $0 == "a1" } == ["a1"])
  }

  @Test func `a listener of both hubs is kept alive if one of them was to keep it`() throws {
    let service = Derived()
    var c: FetchListener? = listener("c")
    let (base, derived) = hubs(service)
    try base.subscribe(c)
    try derived.subscribe(c, lifetime: .strong)
    let first = DelegateForwarder(service as Fetcher)
    try first.subscribe(c, lifetime: .weak)
    let second = self.derived(service)
    c = nil
    service.fetch()
    #expect(notes.take() == ["c1"])
    withExtendedLifetime((first, second)) {}
  }

  @Test func `a listener of a hub that has gone moves to a position`() throws {
    let service = Derived()
    let (b, c) = (listener("b"), listener("c"))
    let (base, derived) = hubs(service)
    try base.subscribe(b)
    try derived.subscribe(c)
    let (first, second) = (DelegateForwarder(service as Fetcher), self.derived(service))
    service.fetch()
    #expect(notes.take() == ["b1", "c1"])
    try first.subscribe(c, at: .first)
    service.fetch()
    #expect(notes.take() == ["c1", "b1"])
    service.delegate = c
    second.recheck()
    service.fetch()
    #expect(notes.take() == ["c1", "b1"])
    #expect(second.unsubscribe(c) && !second.unsubscribe(c))
    service.fetch()
    #expect(notes.take() == ["c1", "b1"])
  }
}
