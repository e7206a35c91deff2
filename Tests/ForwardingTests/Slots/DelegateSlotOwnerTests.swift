// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DelegateSlotOwnerTests {
  private let notes = Notes()

  private func listener(_ name: String) -> FetchListener { FetchListener(name, notes) }

  @Test func `a class that tells has its delegates adopted at once`() throws {
    let fetcher = TellingFetcher()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    fetcher.delegate = a
    var forwarder: DelegateForwarder<TellingFetcher, FetchProxy>? = DelegateForwarder(fetcher)
    try forwarder?.subscribe(c)
    fetcher.delegate = b
    #expect(forwarder?.hub.isInstalled == true)
    fetcher.fetch()
    #expect(notes.take() == ["b1", "c1"])
    fetcher.delegate = nil
    #expect(forwarder?.hub.isInstalled == true)
    fetcher.fetch()
    #expect(notes.take() == ["c1"])
    fetcher.delegate = a
    forwarder = nil
    #expect(fetcher.delegate === a)
  }

  @Test func `there is one hub, and none before somebody asks`() {
    let fetcher = TellingFetcher()
    fetcher.delegate = nil
    #expect(HubRegistry.find(fetcher, .owner, FetchProxy.self) == nil)
    #expect(fetcher.delegateHub() === fetcher.delegateHub())
    #expect(fetcher.delegateHub() !== TellingFetcher().delegateHub())
  }

  @Test func `without a forwarder the slot is left alone`() {
    let fetcher = TellingFetcher()
    let a = listener("a")
    let hub = fetcher.delegateHub()
    fetcher.delegate = a
    #expect(fetcher.delegate === a && hub.original == nil)
  }

  @Test func `the class chooses what becomes of its delegate`() {
    final class Ignoring: Fetcher, DelegateSlotOwner {
      var delegateSlot: (any FetchDelegate)? {
        get { delegate }
        set { delegate = newValue }
      }
      var delegateSlotOptions: DelegateSlotOptions { DelegateSlotOptions(original: .ignore) }
      func makeDelegateProxy() -> FetchProxy { FetchProxy() }
    }
    let fetcher = Ignoring()
    let a = listener("a")
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher)
    fetcher.fetch()
    #expect(notes.take() == [])
    forwarder.stop()
    #expect(fetcher.delegate === a)
  }
}
