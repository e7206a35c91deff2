// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingPresets
import Testing

@testable import Forwarding

/// What KSDelegateForwarding does, and what is better here. What needs a class
/// made by a macro is tested with the macros.
@Suite struct KSDelegateForwardingTests {
  private let notes = Notes()

  private func listener(_ name: String) -> FetchListener { FetchListener(name, notes) }

  private func ksForwarder(_ fetcher: Fetcher) -> DelegateForwarder<Fetcher, FetchProxy> {
    DelegateForwarder(fetcher) { $0 = DynamicProxy.Configuration(.ksDelegateForwarding) }
  }

  @Test("1.1.3 a forwarder ignores itself and nil")
  func itself() throws {
    let errors = Journal()
    let fetcher = Fetcher()
    let forwarder = DelegateForwarder(fetcher) { $0.onError = { errors.note("\($0)") } }
    #expect(try forwarder.subscribe(forwarder.hub.proxy) == nil)
    #expect(try forwarder.subscribe(nil) == nil)
    #expect(!forwarder.unsubscribe(forwarder.hub.proxy))
    #expect(!forwarder.unsubscribe(nil))
    fetcher.fetch()
    #expect(forwarder.hub.proxy.forwardingProxy.count == 0)
    #expect(errors.take() == [])
  }

  @Test("1.1.4 an object that subscribes twice is delivered to twice, and leaves one at a time")
  func twice() throws {
    let fetcher = Fetcher()
    let forwarder = ksForwarder(fetcher)
    let (a, b) = (listener("a"), listener("b"))
    try forwarder.subscribe(a)
    try forwarder.subscribe(b)
    try forwarder.subscribe(a)
    fetcher.fetch()
    #expect(notes.take() == ["a1", "b1", "a1"])
    #expect(forwarder.unsubscribe(a))
    fetcher.fetch()
    #expect(notes.take() == ["b1", "a1"])
    #expect(forwarder.unsubscribe(a))
    #expect(!forwarder.unsubscribe(a))
    fetcher.fetch()
    #expect(notes.take() == ["b1"])
  }

  @Test("1.1.4 a delegate that subscribes is delivered to twice, and stays the delegate")
  func twiceAsDelegate() throws {
    let fetcher = Fetcher()
    let a = listener("a")
    fetcher.delegate = a
    let forwarder = ksForwarder(fetcher)
    try forwarder.subscribe(a)
    fetcher.fetch()
    #expect(notes.take() == ["a1", "a1"])
    #expect(forwarder.unsubscribe(a))
    #expect(!forwarder.unsubscribe(a))
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    fetcher.delegate = nil
    forwarder.recheck()
    fetcher.fetch()
    #expect(notes.take() == [])
  }

  @Test("1.1.5 listeners are known by identity, and held weakly")
  func identity() throws {
    let fetcher = Fetcher()
    let forwarder = DelegateForwarder(fetcher)
    let equal = listener("a")
    var a: FetchListener? = listener("a")
    weak let weakly = a
    try forwarder.subscribe(a)
    #expect(!forwarder.unsubscribe(equal))
    fetcher.fetch()
    a = nil
    #expect(weakly == nil)
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    #expect(forwarder.hub.proxy.forwardingProxy.count == 0)
  }

  @Test("1.1.6 first the delegate that the service had, then those that subscribed")
  func order() throws {
    let fetcher = Fetcher()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    let hub = DelegateHub.of(fetcher)
    try hub.subscribe(b)
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher)
    try forwarder.subscribe(c)
    fetcher.fetch()
    #expect(notes.take() == ["a1", "b1", "c1"])
  }

  @Test("1.1.7 the list is the service's, and there for a new forwarder when the only one died")
  func list() throws {
    let fetcher = Fetcher()
    let (a, b) = (listener("a"), listener("b"))
    var forwarder: DelegateForwarder<Fetcher, FetchProxy>? = DelegateForwarder(fetcher)
    try forwarder?.subscribe(a)
    let other = DelegateForwarder(fetcher)
    try other.subscribe(b)
    #expect(forwarder?.hub.contains(b) == true)
    forwarder = nil
    other.stop()
    let new = DelegateForwarder(fetcher)
    fetcher.fetch()
    #expect(notes.take() == ["a1", "b1"])
    #expect(new.unsubscribe(a))
  }

  @Test("1.1.8 with two forwarders each listener is called once")
  func once() throws {
    let fetcher = Fetcher()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    fetcher.delegate = a
    let first = DelegateForwarder(fetcher)
    let second = DelegateForwarder(fetcher)
    try first.subscribe(b)
    try second.subscribe(b)
    try second.subscribe(c)
    fetcher.fetch()
    #expect(notes.take() == ["a1", "b1", "c1"])
  }

  @Test("1.1.9, 1.1.10 whichever forwarder goes, the next has the slot, in the same order")
  func survivors() throws {
    let fetcher = Fetcher()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    fetcher.delegate = a
    var forwarders = (0..<3).map { _ in DelegateForwarder(fetcher) }
    try forwarders[0].subscribe(b)
    try forwarders[2].subscribe(c)
    for left in [2, 1] {
      forwarders.removeFirst()
      #expect(forwarders.count == left && forwarders[0].hub.isInstalled)
      fetcher.fetch()
      #expect(notes.take() == ["a1", "b1", "c1"])
    }
    forwarders = []
    #expect(fetcher.delegate === a)
  }

  @Test("1.1.11 without a forwarder listeners hear nothing, and the delegate does")
  func none() throws {
    let fetcher = Fetcher()
    let (a, b) = (listener("a"), listener("b"))
    fetcher.delegate = a
    var forwarder: DelegateForwarder<Fetcher, FetchProxy>? = DelegateForwarder(fetcher)
    try forwarder?.subscribe(b)
    forwarder = nil
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
  }

  @Test("1.1.12 a delegate that is set before is adopted, and one that is set after, at each look")
  func adoption() throws {
    let fetcher = Fetcher()
    let (a, b, c, d) = (listener("a"), listener("b"), listener("c"), listener("d"))
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher)
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    // Any call through the forwarder is a look.
    fetcher.delegate = b
    #expect(forwarder.service.sum(1, 2) == 3)
    #expect(forwarder.hub.isInstalled && forwarder.original === b)
    fetcher.delegate = c
    try forwarder.subscribe(d)
    #expect(forwarder.hub.isInstalled && forwarder.original === c)
    fetcher.delegate = a
    forwarder.unsubscribe(d)
    #expect(forwarder.hub.isInstalled && forwarder.original === a)
    // What a key path does not see: until somebody looks the delegate has the
    // slot for itself.
    try forwarder.subscribe(d)
    fetcher.delegate = b
    fetcher.fetch()
    #expect(notes.take() == ["b1"])
    forwarder.recheck()
    fetcher.fetch()
    #expect(notes.take() == ["b1", "d1"])
  }

  @Test("1.1.12 with a slot of one's own class, or of one that tells, it is adopted at once")
  func adoptionAtOnce() throws {
    let (own, telling) = (OwnFetcher(), TellingFetcher())
    let (a, b) = (listener("a"), listener("b"))
    let first = DelegateForwarder(own, \.$delegate)
    let second = DelegateForwarder(telling)
    try first.subscribe(b)
    try second.subscribe(b)
    own.delegate = a
    telling.delegate = a
    own.fetch()
    telling.fetch()
    #expect(notes.take() == ["a1", "b1", "a1", "b1"])
  }

  @Test("1.1.13 another delegate drops the one before, and nil does", arguments: [false, true])
  func replaced(isOwn: Bool) throws {
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    let own = OwnFetcher()
    let fetcher = Fetcher()
    let hub: DelegateHub<FetchProxy> = isOwn ? own.$delegate.hub : .of(fetcher)
    hub.join()
    try hub.subscribe(c)
    for (delegate, lines) in [(a, ["a1", "c1"]), (b, ["b1", "c1"]), (nil, ["c1"])] {
      own.delegate = delegate
      fetcher.delegate = delegate
      hub.recheck()
      if isOwn { own.fetch() } else { fetcher.fetch() }
      #expect(notes.take() == lines)
    }
    hub.leave()
  }

  @Test("1.1.14 who reads the slot gets the proxy, and the user's object by its own name")
  func reading() {
    let fetcher = Fetcher()
    let own = OwnFetcher()
    let a = listener("a")
    fetcher.delegate = a
    own.delegate = a
    let first = DelegateForwarder(fetcher)
    let second = DelegateForwarder(own, \.$delegate)
    #expect(fetcher.delegate === first.hub.proxy && own.delegate === second.hub.proxy)
    #expect(first.original === a && own.$delegate.original === a)
  }

  @Test("1.1.15 who has not the optional method is passed over")
  func optional() throws {
    let fetcher = Fetcher()
    let (a, b, c) = (listener("a"), FinishListener("b", notes), listener("c"))
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher)
    try forwarder.subscribe(b)
    try forwarder.subscribe(c)
    fetcher.finish()
    fetcher.fetch()
    #expect(notes.take() == ["b finished", "a1", "b1", "c1"])
  }

  @Test("1.1.17 a method that nobody declares is an error, and no crash")
  func undeclared() throws {
    let forwarder = DelegateForwarder(Fetcher())
    let a = listener("a")
    try forwarder.subscribe(a)
    #expect {
      try forwarder.hub.proxy.forwardingProxy.send("undeclared:", 1 as Int32)
    } throws: {
      ($0 as? ForwardingError)?.code == .unknownSelector
    }
  }

  @Test("1.1.18 a service that asks before it calls is answered for the listeners")
  func responds() throws {
    let fetcher = Fetcher()
    let forwarder = DelegateForwarder(fetcher)
    let a = listener("a")
    try forwarder.subscribe(a)
    #expect(fetcher.delegate?.responds(to: "finished") == false)
    var b: FinishListener? = FinishListener("b", notes)
    try forwarder.subscribe(b)
    #expect(fetcher.delegate?.responds(to: "finished") == true)
    fetcher.finish()
    #expect(notes.take() == ["b finished"])
    b = nil
    #expect(fetcher.delegate?.responds(to: "finished") == false)
  }

  @Test("1.1.19 a delivery may come back, and other threads are not kept waiting")
  func reentry() throws {
    let fetcher = Fetcher()
    let forwarder = DelegateForwarder(fetcher)
    let a = listener("a")
    try forwarder.subscribe(a)
    var depth: Int32 = 0
    a.action = { [unowned fetcher] in
      depth += 1
      if depth < 3 { fetcher.fetch(depth + 1) }
    }
    fetcher.fetch(1)
    #expect(notes.take() == ["a1", "a2", "a3"])

    // A thread that changes the list is done before the delivery is.
    let journal = Journal()
    let target = Untyped()
    let proxy = try DynamicProxy.pinging()
    let untyped = SendableDelegateForwarder(target, \.target, proxy: proxy)
    let (b, c) = (Listener("b", journal), Listener("c", journal))
    try untyped.subscribe(b)
    b.action.value = { _ in
      onThreads(1) { _ in
        _ = try? untyped.subscribe(c)
        journal.note("subscribed")
      }
    }
    try target.ping()
    #expect(journal.take() == ["b1", "subscribed"])
  }

  @Test("1.1.20 who joins during a delivery is in the next, and nobody is skipped by a removal")
  func mutation() throws {
    let fetcher = Fetcher()
    let forwarder = DelegateForwarder(fetcher)
    let (a, b, c, d) = (listener("a"), listener("b"), listener("c"), listener("d"))
    for one in [a, b, c] { try forwarder.subscribe(one) }
    b.action = { [unowned forwarder, unowned b] in
      forwarder.unsubscribe(a)
      forwarder.unsubscribe(b)
      _ = try? forwarder.subscribe(d)
    }
    fetcher.fetch(1)
    #expect(notes.take() == ["a1", "b1", "c1"])
    fetcher.fetch(2)
    #expect(notes.take() == ["c2", "d2"])
  }

  @Test("1.1.21 a forwarder keeps its service")
  func retention() {
    weak var service: Fetcher?
    do {
      let forwarder = DelegateForwarder(Fetcher("kept"))
      service = forwarder.service
      #expect(service?.name == "kept")
    }
    #expect(service == nil)
  }
}

/// A slot for anything that can be sent to, on any thread.
private final class Untyped: Sendable {
  private let box = Box<(any AnyObject & Sendable)?>(nil)
  var target: (any AnyObject & Sendable)? {
    get { box.value }
    set { box.value = newValue }
  }
  func ping() throws { try (target as? DynamicProxy)?.ping() }
}
