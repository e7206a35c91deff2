// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Testing

@testable import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// What may not compile is in Tests/Isolation.

/// Counts calls that do not run on the main actor.
private final class Strays: Sendable {
  // The main actor runs on the main queue, but on Linux not on one thread.
  private static let isMain = DispatchSpecificKey<Bool>()
  let count = Box(0)

  func begin() { DispatchQueue.main.setSpecific(key: Self.isMain, value: true) }
  func note() {
    if DispatchQueue.getSpecific(key: Self.isMain) != true { count.update { $0 += 1 } }
  }
}

/// A service of the main actor that observes its slot.
@MainActor private final class Window {
  let strays: Strays
  var delegate: (any FetchDelegate)? {
    didSet { strays.note() }
  }
  @DelegateSlot(FetchProxy()) var own: (any FetchDelegate)?
  init(_ strays: Strays) { self.strays = strays }
  var isTaken: Bool { delegate != nil }
}

/// Releases its forwarder on any thread, since its `deinit` is not isolated.
@MainActor private final class Controller {
  let forwarder: DelegateForwarder<Window, FetchProxy>
  init(_ window: Window, _ listener: (any FetchDelegate)?) throws {
    forwarder = DelegateForwarder(window, \.delegate, proxy: FetchProxy())
    try forwarder.subscribe(listener, lifetime: .strong)
  }
}

@MainActor private final class OwnController {
  let forwarder: DelegateForwarder<Window, FetchProxy>
  init(_ window: Window) { forwarder = DelegateForwarder(window, \.$own) }
}

/// Notes where it dies.
private final class LocalListener: FetchListener {
  let strays: Strays
  let alive: Box<Int>
  init(_ strays: Strays, _ alive: Box<Int>) {
    (self.strays, self.alive) = (strays, alive)
    super.init("local", Notes())
    alive.update { $0 += 1 }
  }
  deinit {
    strays.note()
    alive.update { $0 -= 1 }
  }
}

private final class LocalProxy: SlotProxy, FetchDelegate {
  let forwardingProxy: DynamicProxy
  let strays: Strays
  let alive: Box<Int>
  init(_ strays: Strays, _ alive: Box<Int>) {
    (self.strays, self.alive) = (strays, alive)
    do {
      forwardingProxy = try DynamicProxy(adopting: FetchProxy.table)
    } catch {
      fatalError("\(error)")
    }
    alive.update { $0 += 1 }
  }
  func fetched(_ count: Int32) {}
  var asListener: any FetchDelegate { self }
  func subscribeListener(
    _ listener: any FetchDelegate, at position: DynamicProxy.Position,
    lifetime: DynamicProxy.Lifetime
  ) throws(ForwardingError) -> DynamicProxy.Subscription {
    throw ForwardingError(.typeMismatch, "not in this test")
  }
  deinit {
    strays.note()
    alive.update { $0 -= 1 }
  }
}

@Suite struct SlotIsolationTests {
  private let strays = Strays()
  private let alive = Box(0)

  /// Waits for what the main actor still has to do.
  private func waits(_ isDone: @MainActor () -> Bool) async -> Bool {
    for _ in 0..<10_000 {
      if await isDone() { return true }
      try? await Task.sleep(for: .milliseconds(1))
    }
    return await isDone()
  }

  @Test func `a forwarder that dies elsewhere gives its slot back on its actor`() async throws {
    strays.begin()
    let window = await Window(strays)
    for _ in 0..<100 {
      let controller = try await Box<Controller?>(
        Controller(window, LocalListener(strays, alive)))
      #expect(await window.isTaken)
      await Task.detached { controller.value = nil }.value
      #expect(await waits { window.delegate == nil && alive.value == 0 })
    }
    #expect(strays.count.value == 0)
  }

  @Test func `a DelegateSlot is set on its actor when its forwarder dies elsewhere`() async {
    strays.begin()
    let window = await Window(strays)
    for _ in 0..<100 {
      let controller = await Box<OwnController?>(OwnController(window))
      async let reads: Void = readOften(window)
      await Task.detached { controller.value = nil }.value
      await reads
      #expect(await waits { window.own == nil })
    }
  }

  @MainActor private func readOften(_ window: Window) {
    for _ in 0..<50 { window.own?.fetched(1) }
  }

  @Test func `the hubs of an actor's objects are released there by any collector`() async {
    strays.begin()
    for _ in 0..<20 {
      await MainActor.run {
        let window = Window(strays)
        _ = DelegateSlots.hub(
          of: window, \.delegate, proxy: LocalProxy(strays, alive))
      }
      await Task.detached { _ = DelegateSlots.collect() }.value
    }
    #expect(await waits { alive.value == 0 })
    #expect(strays.count.value == 0)
  }

  @Test func `a listener that is kept alive is released where the hub is used`() throws {
    let own = ThreadIdentity.current
    final class Local: FetchListener {
      let died: Box<ThreadIdentity?>
      init(_ notes: Notes, _ died: Box<ThreadIdentity?>) {
        self.died = died
        super.init("local", notes)
      }
      deinit { died.value = .current }
    }
    let notes = Notes()
    for _ in 0..<50 {
      let fetcher = Fetcher()
      let forwarder = DelegateForwarder(fetcher)
      let died = Box<ThreadIdentity?>(nil)
      guard let subscription = try forwarder.subscribe(Local(notes, died), lifetime: .strong) else {
        Issue.record("it was refused")
        return
      }
      fetcher.fetch()
      #expect(notes.take() == ["local1"])
      onThreads(1) { _ in _ = subscription.cancel() }
      #expect(died.value == nil)
      fetcher.fetch()
      #expect(notes.take() == [])
      try forwarder.subscribe(FetchListener("other", notes))
      #expect(died.value == own)
    }
  }

  @Test func `a listener is kept alive while there is a forwarder`() throws {
    let (fetcher, notes) = (Fetcher(), Notes())
    let hub = DelegateHub.of(fetcher)
    weak var kept: FetchListener?
    do {
      let forwarder = DelegateForwarder(fetcher)
      do {
        let listener = FetchListener("a", notes)
        kept = listener
        try forwarder.subscribe(listener, lifetime: .strong)
      }
      fetcher.fetch()
      #expect(notes.take() == ["a1"])
      forwarder.stop()
    }
    #expect(kept == nil)
    withExtendedLifetime(hub) {}
  }

  @Test func `a forwarder of a Sendable service is used on any thread`() throws {
    let journal = Journal()
    let (target, original) = (SharedTarget(), Listener("a", journal))
    target.target = original
    let proxy = try DynamicProxy.pinging()
    let forwarder = SendableDelegateForwarder(target, \.target, proxy: proxy)
    let listeners = (0..<4).map { Listener("\($0)", journal) }
    onThreads(4) { number in
      for _ in 0..<50 {
        _ = try? forwarder.subscribe(listeners[number])
        forwarder.recheck()
        forwarder.unsubscribe(listeners[number])
      }
    }
    #expect(forwarder.original === original && target.target === forwarder.proxy)
    forwarder.stop()
    #expect(target.target === original)
  }
}
