// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DelegateSlotTests {
  private let notes = Notes()

  private func listener(_ name: String) -> FetchListener { FetchListener(name, notes) }

  @Test func `without a forwarder it is a weak property`() {
    let fetcher = OwnFetcher()
    fetcher.fetch()
    #expect(fetcher.delegate == nil)
    var a: FetchListener? = listener("a")
    fetcher.delegate = a
    #expect(fetcher.delegate === a && fetcher.$delegate.original === a)
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    a = nil
    #expect(fetcher.delegate == nil)
  }

  @Test func `or a strong one`() {
    let fetcher = OwnFetcher()
    var a: FetchListener? = listener("a")
    weak let weakly = a
    fetcher.keeper = a
    a = nil
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    let forwarder = DelegateForwarder(fetcher, \.$keeper)
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    forwarder.stop()
    #expect(fetcher.keeper === weakly && weakly != nil)
    fetcher.keeper = nil
    #expect(weakly == nil)
  }

  @Test func `assignments are seen at once, by nobody's looking`() throws {
    let fetcher = OwnFetcher()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher, \.$delegate)
    try forwarder.subscribe(c)
    #expect(fetcher.delegate === forwarder.hub.proxy)
    fetcher.fetch()
    fetcher.delegate = b
    #expect(fetcher.delegate === forwarder.hub.proxy)
    #expect(fetcher.$delegate.original === b)
    fetcher.fetch()
    fetcher.delegate = nil
    #expect(fetcher.$delegate.original == nil)
    fetcher.fetch()
    #expect(notes.take() == ["a1", "c1", "b1", "c1", "c1"])
  }

  @Test func `the last forwarder gives the slot back to who was assigned last`() {
    let fetcher = OwnFetcher()
    let (a, b) = (listener("a"), listener("b"))
    fetcher.delegate = a
    var first: DelegateForwarder<OwnFetcher, FetchProxy>? = DelegateForwarder(
      fetcher, \.$delegate)
    var second: DelegateForwarder<OwnFetcher, FetchProxy>? = DelegateForwarder(
      fetcher, \.$delegate)
    #expect(first?.hub === second?.hub)
    fetcher.delegate = b
    first = nil
    #expect(fetcher.delegate === second?.hub.proxy)
    second = nil
    #expect(fetcher.delegate === b && fetcher.$delegate.original === b)
  }

  @Test func `to assign what was read changes nothing`() {
    let fetcher = OwnFetcher()
    let a = listener("a")
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher, \.$delegate)
    fetcher.delegate = fetcher.delegate
    #expect(forwarder.original === a)
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
  }

  @Test func `a delegate may be assigned from a delivery`() {
    let fetcher = OwnFetcher()
    let (a, b) = (listener("a"), listener("b"))
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher, \.$delegate)
    a.action = { [unowned fetcher] in fetcher.delegate = b }
    fetcher.fetch(1)
    fetcher.fetch(2)
    #expect(notes.take() == ["a1", "b2"])
    withExtendedLifetime(forwarder) {}
  }

  @Test func `it may have a value from the beginning`() {
    final class Holder {
      @DelegateSlot(FetchProxy(), options: DelegateSlotOptions(lifetime: .strong))
      var delegate: (any FetchDelegate)? = FetchProxy()
    }
    #expect(Holder().delegate is FetchProxy)
  }

  @Test func `nothing leaks`() throws {
    weak var service: OwnFetcher?
    weak var hub: DelegateHub<FetchProxy>?
    weak var proxy: FetchProxy?
    weak var delegate: FetchListener?
    do {
      let fetcher = OwnFetcher()
      let a = listener("a")
      fetcher.delegate = a
      let forwarder = DelegateForwarder(fetcher, \.$delegate)
      try forwarder.subscribe(a)
      fetcher.fetch()
      (service, hub, proxy, delegate) = (fetcher, forwarder.hub, forwarder.hub.proxy, a)
    }
    #expect(service == nil && hub == nil && proxy == nil && delegate == nil)
  }

  @Test @MainActor func `it stands in a class of the main actor`() {
    let notes = Notes()
    let screen = Screen()
    let a = FetchListener("a", notes)
    screen.delegate = a
    let forwarder = DelegateForwarder(screen, \.$delegate)
    screen.delegate?.fetched(3)
    #expect(notes.take() == ["a3"])
    #expect(forwarder.original === a)
  }
}

@MainActor private final class Screen {
  @DelegateSlot(FetchProxy()) var delegate: (any FetchDelegate)?
}
