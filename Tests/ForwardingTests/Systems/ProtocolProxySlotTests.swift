// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// How Bond's ProtocolProxy treats the slot, and what is better here.
@Suite struct ProtocolProxySlotTests {
  private let notes = Notes()

  private func listener(_ name: String) -> FetchListener { FetchListener(name, notes) }

  @Test("1.5.1 there is one proxy for an object and a key path, and one can ask whether there is")
  func one() {
    let (fetcher, other) = (Fetcher(), Fetcher())
    #expect(HubRegistry.find(fetcher, .path(\Fetcher.delegate), FetchProxy.self) == nil)
    let hub = DelegateHub.of(fetcher)
    #expect(HubRegistry.find(fetcher, .path(\Fetcher.delegate), FetchProxy.self) === hub)
    #expect(DelegateHub.of(fetcher) === hub)
    #expect(DelegateHub.of(other) !== hub)
    #expect(DelegateForwarder(fetcher).hub.proxy === hub.proxy)
  }

  @Test("1.5.2 the proxy takes the slot, and who had it is delivered to", arguments: 0..<3)
  func taken(kind: Int) {
    let fetcher = TellingFetcher()
    let own = OwnFetcher()
    let a = listener("a")
    fetcher.delegate = a
    own.delegate = a
    switch kind {
    case 0:
      let forwarder = DelegateForwarder(fetcher as Fetcher)
      #expect(fetcher.delegate === forwarder.hub.proxy)
      fetcher.fetch()
    case 1:
      // By a setter, too, since the class can read its own slot.
      let forwarder = DelegateForwarder(fetcher)
      #expect(fetcher.delegate === forwarder.hub.proxy)
      fetcher.fetch()
    default:
      let forwarder = DelegateForwarder(own, \.$delegate)
      #expect(own.delegate === forwarder.hub.proxy)
      own.fetch()
    }
    #expect(notes.take() == ["a1"])
  }

  @Test("1.5.7 the slot is set anew when another delegate is forwarded to")
  func anew() {
    final class Caching: Fetcher {
      var finishes = false
      override var delegate: (any FetchDelegate)? {
        didSet { finishes = delegate?.responds(to: "finished") ?? false }
      }
    }
    let service = Caching()
    let forwarder = DelegateForwarder(
      service, \.delegate, options: DelegateSlotOptions(reassignsSlot: true), proxy: FetchProxy())
    let (a, b) = (listener("a"), FinishListener("b", notes))
    service.delegate = a
    forwarder.recheck()
    #expect(!service.finishes)
    service.delegate = b
    forwarder.recheck()
    #expect(service.finishes && forwarder.hub.isInstalled)
    service.delegate = nil
    forwarder.recheck()
    #expect(!service.finishes && forwarder.hub.isInstalled)
  }

  @Test("1.5.14 in the end the delegate that was adopted has its slot again")
  func restored() {
    let fetcher = Fetcher()
    let a = listener("a")
    fetcher.delegate = a
    do {
      let forwarder = DelegateForwarder(fetcher)
      #expect(fetcher.delegate === forwarder.hub.proxy)
    }
    #expect(fetcher.delegate === a)
    var b: FetchListener? = listener("b")
    fetcher.delegate = b
    do {
      let forwarder = DelegateForwarder(fetcher)
      b = nil
      #expect(forwarder.original == nil)
    }
    #expect(fetcher.delegate == nil)
  }
}
