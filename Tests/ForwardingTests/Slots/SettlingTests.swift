// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct SettlingTests {
  private let notes = Notes()

  private func listener(_ name: String) -> FetchListener { FetchListener(name, notes) }

  // MARK: Nothing is lost

  /// Runs a closure each time a delegate is set.
  private final class Telling: Fetcher {
    var action: ((Int) -> Void)?
    private var count = 0
    override var delegate: (any FetchDelegate)? {
      didSet {
        if delegate == nil { return }
        count += 1
        action?(count)
      }
    }
  }

  @Test(arguments: 1...20)
  func `a forwarder that stops while the slot is set again and again gives it back`(rounds: Int) {
    let errors = Journal()
    let service = Telling()
    let a = listener("a")
    service.delegate = a
    let forwarder = DelegateForwarder(
      service, \.delegate, proxy: FetchProxy { $0.onError = { errors.note("\($0.code)") } })
    let base = 2
    service.action = { [unowned forwarder] count in
      if count - base < rounds { return forwarder.hub.reassignSlot() }
      forwarder.stop()
    }
    forwarder.hub.reassignSlot()
    // A setter that never ends is given up on, and later looks go on.
    if rounds > 9 {
      #expect(errors.take() == ["cycle"])
      service.action = nil
      forwarder.stop()
    }
    #expect(service.delegate === a)
    #expect(errors.take() == [])
  }

  @Test func `threads that make and stop forwarders lose nothing and report no circle`() throws {
    let errors = Journal()
    let journal = Journal()
    for _ in 0..<20 {
      let target = SharedTarget()
      let original = Listener("a", journal)
      target.target = original
      onThreads(12) { _ in
        for _ in 0..<30 {
          guard
            let proxy = try? DynamicProxy.pinging({ $0.onError = { errors.note("\($0)") } })
          else { return }
          let forwarder = SendableDelegateForwarder(target, \.target, proxy: proxy)
          forwarder.recheck()
          forwarder.stop()
        }
      }
      #expect(target.target === original)
    }
    #expect(errors.take() == [])
    DelegateSlots.collect()
  }

  @Test func `a delegate that subscribes and leaves while it is replaced is gone in the end`()
    throws
  {
    let journal = Journal()
    let target = SharedTarget()
    let proxy = try DynamicProxy.pinging()
    let forwarder = SendableDelegateForwarder(target, \.target, proxy: proxy)
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    onThreads(3) { number in
      for round in 0..<300 {
        switch number {
        case 0: target.target = round % 2 == 0 ? a : b
        case 1: forwarder.recheck()
        default:
          _ = try? forwarder.subscribe(a)
          forwarder.unsubscribe(a)
        }
      }
    }
    target.target = b
    forwarder.recheck()
    try forwarder.proxy.ping()
    #expect(journal.take() == ["b1"])
    #expect(forwarder.original === b)
  }

  // MARK: One hub for one slot

  private final class Derived: Fetcher {}

  @Test(arguments: [false, true])
  func `hubs of one slot by two key paths become one`(baseFirst: Bool) throws {
    let service = Derived()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    service.delegate = a
    let byBase = DelegateSlots.hub(of: service as Fetcher, \.delegate, proxy: FetchProxy())
    let byDerived = DelegateSlots.hub(
      of: service, \Derived.delegate as ReferenceWritableKeyPath, proxy: FetchProxy())
    try byBase.subscribe(b)
    try byDerived.subscribe(c)
    func base() -> () -> Void {
      let forwarder = DelegateForwarder(service as Fetcher)
      return { forwarder.stop() }
    }
    func derived() -> () -> Void {
      let forwarder = DelegateForwarder(
        service, \Derived.delegate as ReferenceWritableKeyPath, proxy: FetchProxy())
      return { forwarder.stop() }
    }
    let stopFirst = baseFirst ? base() : derived()
    let stopSecond = baseFirst ? derived() : base()
    #expect(byBase.forwarders == 2 && byDerived.forwarders == 2)
    #expect(byBase.isInstalled && byDerived.isInstalled)
    #expect(byBase.original === a && byDerived.original === a)
    service.fetch()
    #expect(notes.take().sorted() == ["a1", "b1", "c1"])
    stopFirst()
    service.fetch()
    #expect(notes.take().sorted() == ["a1", "b1", "c1"])
    stopSecond()
    #expect(service.delegate === a)
    service.fetch()
    #expect(notes.take() == ["a1"])
  }

  @Test func `listeners leave a hub that has become part of another by either`() throws {
    let service = Derived()
    let (b, c) = (listener("b"), listener("c"))
    let byBase = DelegateSlots.hub(of: service as Fetcher, \.delegate, proxy: FetchProxy())
    let byDerived = DelegateSlots.hub(
      of: service, \Derived.delegate as ReferenceWritableKeyPath, proxy: FetchProxy())
    try byDerived.subscribe(c)
    let first = DelegateForwarder(service as Fetcher)
    let second = DelegateForwarder(
      service, \Derived.delegate as ReferenceWritableKeyPath, proxy: FetchProxy())
    #expect(first.hub === second.hub)
    try byDerived.subscribe(b)
    #expect(byDerived.contains(b) && byDerived.contains(c) && byBase.contains(b))
    service.fetch()
    #expect(notes.take().sorted() == ["b1", "c1"])
    #expect(byDerived.unsubscribe(b) && byDerived.unsubscribe(c))
    service.fetch()
    #expect(notes.take() == [])
  }

  @Test func `the delegate behind a chain of hubs is called when the inner one leaves first`()
    throws
  {
    let fetcher = Fetcher()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    fetcher.delegate = a
    let inner = DelegateForwarder(fetcher)
    try inner.subscribe(b)
    let outer = DelegateForwarder(
      fetcher,
      hub: DelegateHub(
        FetchProxy(), SlotAccess(read: { fetcher.delegate }, write: { fetcher.delegate = $0 }),
        DelegateSlotOptions()))
    try outer.subscribe(c)
    inner.stop()
    fetcher.fetch()
    #expect(notes.take().contains("a1"))
    outer.stop()
    #expect(fetcher.delegate === a)
  }

  // MARK: Capabilities

  @Test func `interceptions and forward targets are seen at the next look`() throws {
    final class Asking: Fetcher {
      var finishes: [Bool] = []
      override var delegate: (any FetchDelegate)? {
        didSet { if let delegate { finishes.append(delegate.responds(to: "finished")) } }
      }
    }
    let service = Asking()
    let forwarder = DelegateForwarder(
      service, \.delegate, options: DelegateSlotOptions(reassignsSlot: true), proxy: FetchProxy())
    let proxy = forwarder.hub.proxy.forwardingProxy
    #expect(service.finishes == [false])
    let token = try proxy.instead("finished") {}
    forwarder.recheck()
    #expect(service.finishes == [false, true])
    token.cancel()
    forwarder.recheck()
    #expect(service.finishes == [false, true, false])
    let target = Bystander()
    try proxy.setForwardTarget(target) { $0.on("finished") { (_: Bystander) in } }
    forwarder.recheck()
    #expect(service.finishes == [false, true, false, true])
    forwarder.recheck()
    #expect(service.finishes.count == 4)
    withExtendedLifetime(target) {}
  }
}
