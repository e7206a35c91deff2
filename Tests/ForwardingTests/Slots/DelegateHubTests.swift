// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DelegateHubTests {
  private let notes = Notes()

  private func listener(_ name: String) -> FetchListener { FetchListener(name, notes) }

  // MARK: The delegate and the listeners

  @Test func `a delegate that subscribes too is delivered to once, and stays when it leaves`()
    throws
  {
    let fetcher = Fetcher()
    let a = listener("a")
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher)
    #expect(try forwarder.subscribe(a) != nil)
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    #expect(forwarder.unsubscribe(a))
    #expect(!forwarder.unsubscribe(a))
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    fetcher.delegate = nil
    forwarder.recheck()
    fetcher.fetch()
    #expect(notes.take() == [])
  }

  @Test func `a listener that becomes the delegate stays when it is not any more`() throws {
    let fetcher = Fetcher()
    let (a, b) = (listener("a"), listener("b"))
    let forwarder = DelegateForwarder(fetcher)
    try forwarder.subscribe(b)
    try forwarder.subscribe(a)
    fetcher.delegate = a
    forwarder.recheck()
    fetcher.fetch()
    #expect(notes.take() == ["b1", "a1"])
    fetcher.delegate = nil
    forwarder.recheck()
    fetcher.fetch()
    #expect(notes.take() == ["b1", "a1"])
    #expect(forwarder.unsubscribe(a))
    fetcher.fetch()
    #expect(notes.take() == ["b1"])
  }

  @Test func `a listener that becomes the delegate, leaves, and is replaced hears no more`() throws
  {
    let fetcher = Fetcher()
    let (a, b) = (listener("a"), listener("b"))
    let forwarder = DelegateForwarder(fetcher)
    try forwarder.subscribe(a)
    fetcher.delegate = a
    forwarder.recheck()
    #expect(forwarder.unsubscribe(a))
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    fetcher.delegate = b
    forwarder.recheck()
    fetcher.fetch()
    #expect(notes.take() == ["b1"])
  }

  @Test func `a delegate that subscribes at a position moves there, and back when it leaves`()
    throws
  {
    let fetcher = Fetcher()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher)
    try forwarder.subscribe(b)
    try forwarder.subscribe(c, at: .first)
    try forwarder.subscribe(a, at: .after(b))
    fetcher.fetch()
    #expect(notes.take() == ["c1", "b1", "a1"])
    #expect(forwarder.unsubscribe(a))
    fetcher.fetch()
    #expect(notes.take() == ["a1", "c1", "b1"])
  }

  @Test func `a delegate that cannot subscribe where it wants to stays the delegate`() throws {
    let fetcher = Fetcher()
    let (a, stranger) = (listener("a"), listener("b"))
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher)
    #expect {
      try forwarder.subscribe(a, at: .before(stranger))
    } throws: {
      ($0 as? ForwardingError)?.code == .notSubscribed
    }
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    #expect(!forwarder.unsubscribe(a))
  }

  @Test func `the delegate is kept alive as a subscriber if it wants that`() throws {
    let fetcher = Fetcher()
    var a: FetchListener? = listener("a")
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher)
    try forwarder.subscribe(a, lifetime: .strong)
    a = nil
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
    #expect(forwarder.unsubscribe(forwarder.original))
    #expect(forwarder.original == nil)
  }

  @Test func `duplicates may be refused, and the delegate is none`() throws {
    let errors = Journal()
    let fetcher = Fetcher()
    let a = listener("a")
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher) {
      $0.duplicates = .fail
      $0.onError = { errors.note("\($0.code)") }
    }
    #expect(try forwarder.subscribe(a) != nil)
    #expect(errors.take() == [])
    let error = #expect(throws: ForwardingError.self) { try forwarder.subscribe(a) }
    #expect(error?.code == .duplicate)
    #expect(errors.take() == [])
    fetcher.fetch()
    #expect(notes.take() == ["a1"])
  }

  // MARK: Options

  @Test func `a delegate that is ignored gets its slot back`() throws {
    let fetcher = Fetcher()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    fetcher.delegate = a
    var forwarder: DelegateForwarder<Fetcher, FetchProxy>? = DelegateForwarder(
      fetcher, options: DelegateSlotOptions(original: .ignore))
    try forwarder?.subscribe(b)
    fetcher.fetch()
    #expect(notes.take() == ["b1"])
    fetcher.delegate = c
    forwarder?.recheck()
    fetcher.fetch()
    #expect(notes.take() == ["b1"])
    #expect(forwarder?.original === c)
    forwarder = nil
    #expect(fetcher.delegate === c)
  }

  @Test func `a slot that must be empty is refused if it is not`() throws {
    let fetcher = Fetcher()
    let a = listener("a")
    fetcher.delegate = a
    #expect {
      try DelegateForwarder.claiming(fetcher, \.delegate, proxy: FetchProxy())
    } throws: {
      let error = $0 as? ForwardingError
      return error?.code == .slotTaken && error?.description.contains("FetchListener") == true
    }
    #expect(fetcher.delegate === a)
    fetcher.delegate = nil
    let forwarder = try DelegateForwarder.claiming(fetcher, \.delegate, proxy: FetchProxy())
    #expect(fetcher.delegate === forwarder.hub.proxy)
    let second = try DelegateForwarder.claiming(fetcher, \.delegate, proxy: FetchProxy())
    #expect(second.hub === forwarder.hub)
  }

  @Test func `what a strong slot held is kept, and given back`() {
    final class Strong {
      var delegate: (any FetchDelegate)?
    }
    let strong = Strong()
    weak var weakly: FetchListener?
    do {
      let a = listener("a")
      weakly = a
      strong.delegate = a
    }
    do {
      let forwarder = DelegateForwarder(
        strong, \.delegate, options: DelegateSlotOptions(lifetime: .strong), proxy: FetchProxy())
      strong.delegate?.fetched(1)
      #expect(notes.take() == ["a1"])
      forwarder.stop()
      forwarder.stop()
      #expect(strong.delegate === weakly && weakly != nil)
    }
    strong.delegate = nil
    #expect(weakly == nil)
  }

  // MARK: Who else has the slot

  @Test func `the slot is not given back over the head of who has it now`() {
    let fetcher = Fetcher()
    let (a, b) = (listener("a"), listener("b"))
    fetcher.delegate = a
    var forwarder: DelegateForwarder<Fetcher, FetchProxy>? = DelegateForwarder(fetcher)
    #expect(forwarder?.original === a)
    fetcher.delegate = b
    forwarder = nil
    #expect(fetcher.delegate === b)
  }

  @Test(arguments: [DynamicProxy.Configuration.Refusals.fail, .ignore])
  func `two hubs on one slot form a chain`(refusals: DynamicProxy.Configuration.Refusals) throws {
    let fetcher = Fetcher()
    let (a, b, c) = (listener("a"), listener("b"), listener("c"))
    fetcher.delegate = a
    let inner = DelegateForwarder(fetcher) { $0.refusals = refusals }
    try inner.subscribe(b)
    let outer = DelegateForwarder(
      fetcher,
      hub: DelegateHub(
        FetchProxy { $0.refusals = refusals },
        SlotAccess(read: { fetcher.delegate }, write: { fetcher.delegate = $0 }),
        DelegateSlotOptions()))
    try outer.subscribe(c)
    for _ in 0..<2 {
      inner.recheck()
      outer.recheck()
    }
    fetcher.fetch()
    #expect(notes.take() == ["a1", "b1", "c1"])
    outer.stop()
    #expect(inner.hub.isInstalled)
    inner.stop()
    #expect(fetcher.delegate === a)
  }

  @Test func `a class and its superclass have one hub while there is a forwarder`() {
    let fetcher = TellingFetcher()
    let base = DelegateForwarder(fetcher as Fetcher)
    let derived = DelegateForwarder(
      fetcher, \TellingFetcher.delegate as ReferenceWritableKeyPath, proxy: FetchProxy())
    #expect(base.hub === derived.hub)
    #expect(base.hub.forwarders == 2)
  }

  @Test func `a delegate that the proxy refuses keeps the slot, and is reported once`() throws {
    let errors = Journal()
    final class Target {
      var target: (any AnyObject & Sendable)?
    }
    let target = Target()
    let bystander = Bystander()
    target.target = bystander
    let proxy = try DynamicProxy.pinging { $0.onError = { errors.note($0.description) } }
    let forwarder = DelegateForwarder(target, \.target, proxy: proxy)
    forwarder.recheck()
    #expect(target.target === bystander)
    #expect(
      errors.take() == [
        "an object of class Bystander has no function table: expected a DynamicProxy.Subscriber"
      ])
    let journal = Journal()
    target.target = Listener("a", journal)
    forwarder.recheck()
    #expect(forwarder.original == nil && target.target === proxy)
    let b = Listener("b", journal)
    target.target = b
    forwarder.recheck()
    try (target.target as? DynamicProxy)?.ping()
    #expect(journal.take() == ["b1"])
    forwarder.stop()
    #expect(target.target === b)
  }

  @Test func `a setter that wraps what it is given is given up on`() {
    final class Wrapping {
      let errors: Journal
      let notes = Notes()
      var hub: (() -> DelegateHub<FetchProxy>)?
      var content: (any FetchDelegate)?
      var kept: [FetchListener] = []
      init(_ errors: Journal) { self.errors = errors }
      var delegate: (any FetchDelegate)? {
        get { content }
        set {
          kept.append(FetchListener("wrapper", notes))
          content = kept.last
          hub?().settle()
        }
      }
    }
    let errors = Journal()
    let service = Wrapping(errors)
    service.hub = { [unowned service] in
      DelegateSlots.hub(
        of: service, \.delegate, proxy: FetchProxy { $0.onError = { errors.note("\($0.code)") } })
    }
    let forwarder = DelegateForwarder(
      service, \.delegate, proxy: FetchProxy { $0.onError = { errors.note("\($0.code)") } })
    #expect(errors.take() == ["cycle"])
    forwarder.stop()
  }

  // MARK: Capabilities

  @Test func `a service that asks once is given the proxy anew when answers change`() throws {
    final class Asking: Fetcher {
      var finishes: [Bool] = []
      override var delegate: (any FetchDelegate)? {
        didSet { if let delegate { finishes.append(delegate.responds(to: "finished")) } }
      }
    }
    let service = Asking()
    let forwarder = DelegateForwarder(
      service, \.delegate, options: DelegateSlotOptions(reassignsSlot: true), proxy: FetchProxy())
    let (a, b) = (listener("a"), FinishListener("b", notes))
    #expect(service.finishes == [false])
    try forwarder.subscribe(a)
    try forwarder.subscribe(b)
    #expect(service.finishes.last == true)
    let count = service.finishes.count
    let c = FinishListener("c", notes)
    try forwarder.subscribe(c)
    #expect(service.finishes.count == count)
    forwarder.unsubscribe(b)
    #expect(service.finishes.last == true && service.finishes.count == count)
    forwarder.unsubscribe(c)
    #expect(service.finishes.last == false)
    #expect(forwarder.hub.isInstalled)
  }

  @Test func `the slot is set anew by hand`() {
    let fetcher = TellingFetcher()
    let a = listener("a")
    fetcher.delegate = a
    let forwarder = DelegateForwarder(fetcher)
    forwarder.hub.reassignSlot()
    #expect(forwarder.hub.isInstalled)
    #expect(forwarder.original === a)
    forwarder.stop()
    forwarder.hub.reassignSlot()
    #expect(fetcher.delegate === a)
  }
}
