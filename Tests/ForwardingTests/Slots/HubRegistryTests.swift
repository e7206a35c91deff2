// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Waits for what another thread that collects may be about to give up. Gives
/// whether it has come.
private func comes(_ condition: () -> Bool) -> Bool {
  for _ in 0..<10_000_000 where !condition() { sched_yield() }
  return condition()
}

// The registry is the process's, so that others may add to it meanwhile.
@Suite struct HubRegistryTests {
  @Test func `nothing is left of a service that a forwarder held last`() throws {
    let notes = Notes()
    weak var service: Fetcher?
    weak var hub: DelegateHub<FetchProxy>?
    weak var proxy: FetchProxy?
    weak var forwarder: DelegateForwarder<Fetcher, FetchProxy>?
    weak var kept: FetchListener?
    do {
      let made = DelegateForwarder(Fetcher())
      let a = FetchListener("a", notes)
      try made.subscribe(a, lifetime: .strong)
      made.service.fetch()
      (service, hub, proxy, forwarder, kept) = (made.service, made.hub, made.hub.proxy, made, a)
    }
    #expect(service == nil && forwarder == nil)
    #expect(comes { hub == nil && proxy == nil && kept == nil })
    #expect(notes.take() == ["a1"])
  }

  @Test func `what is left of a service that dies behind its forwarder is collected`() {
    weak var hub: DelegateHub<FetchProxy>?
    do {
      let fetcher = Fetcher()
      do { hub = DelegateForwarder(fetcher).hub }
      #expect(hub != nil)
    }
    DelegateSlots.collect()
    #expect(comes { hub == nil })
  }

  // In a separate process, where no other test makes hubs.
  @Test func `the next hub, or the end of a forwarder, ends the signals of a dead service`() async {
    await #expect(processExitsWith: .success) {
      func makesNothing() {}
      func endsForwarder() { _ = DelegateForwarder(Fetcher()) }
      func makesHub() { _ = DelegateHub.of(Fetcher()) }
      for (isCollected, act) in [(false, makesNothing), (true, endsForwarder), (true, makesHub)] {
        weak var hub: DelegateHub<FetchProxy>?
        var signal: MethodSignal<Int32>?
        do {
          let fetcher = Fetcher()
          do {
            let forwarder = DelegateForwarder(fetcher)
            hub = forwarder.hub
            signal = try forwarder.proxy.forwardingProxy.signal(for: "fetched:") { $0 }
          }
          #expect(hub != nil)
        }
        act()
        #expect((hub == nil) == isCollected)
        // The signal of a live proxy would wait for ever, so a failure above is not followed by it.
        if isCollected, hub == nil, var elements = signal?.makeAsyncIterator() {
          #expect(await elements.next() == nil)
        }
      }
    }
  }

  @Test func `nobody who collects becomes the last one to have a service`() {
    final class Local: Fetcher {
      let thread = pthread_self()
      let strays: Box<Int>
      init(_ strays: Box<Int>) {
        self.strays = strays
        super.init()
      }
      deinit {
        if pthread_equal(thread, pthread_self()) == 0 { strays.update { $0 += 1 } }
      }
    }
    let strays = Box(0)
    let living = Box(2)
    onThreads(4) { number in
      if number > 1 {
        while living.value > 0 { DelegateSlots.collect() }
        return
      }
      for _ in 0..<500 {
        var service: Local? = Local(strays)
        _ = service.map { DelegateHub.of($0) }
        for _ in 0..<4 { sched_yield() }
        service = nil
      }
      living.update { $0 -= 1 }
    }
    #expect(strays.value == 0)
  }

  @Test func `hubs of the dead do not grow in number`() {
    let living = DelegateSlots.collect()
    for _ in 0..<1000 { _ = DelegateHub.of(Fetcher()) }
    #expect(DelegateSlots.collect() <= living + 200)
    // Without a look for the dead there would be as many as services.
    weak var first: DelegateHub<FetchProxy>?
    first = DelegateHub.of(Fetcher())
    for _ in 0..<2000 where first != nil { _ = DelegateHub.of(Fetcher()) }
    #expect(comes { first == nil })
  }

  @Test func `an object at the place of a dead one has a hub of its own`() throws {
    var seen: Set<ObjectIdentifier> = []
    var repeats = 0
    for _ in 0..<200 {
      let fetcher = Fetcher()
      if !seen.insert(ObjectIdentifier(fetcher)).inserted { repeats += 1 }
      #expect(HubRegistry.find(fetcher, .path(\Fetcher.delegate), FetchProxy.self) == nil)
      let notes = Notes()
      let forwarder = DelegateForwarder(fetcher)
      let hub = forwarder.hub
      forwarder.stop()
      #expect(hub.proxy.forwardingProxy.count == 0)
      try hub.subscribe(FetchListener("a", notes), lifetime: .strong)
    }
    // The address sanitizer gives no memory out again for long.
    let reusesMemory = unsafe dlsym(nil, "__asan_init") == nil
    #expect(repeats > 0 || !reusesMemory)
  }

  @Test func `threads that ask for the hub of one object get the same`() {
    let journal = Journal()
    for _ in 0..<50 {
      let target = SharedTarget()
      let original = Listener("a", journal)
      target.target = original
      let proxies = Box<Set<ObjectIdentifier>>([])
      onThreads(4) { number in
        for _ in 0..<20 {
          guard let proxy = try? DynamicProxy.pinging() else { return }
          let forwarder = DelegateForwarder(target, \.target, proxy: proxy)
          let own = Listener("\(number)", journal)
          _ = try? forwarder.subscribe(own)
          let identity = ObjectIdentifier(forwarder.hub.proxy)
          proxies.update { _ = $0.insert(identity) }
          forwarder.unsubscribe(own)
        }
      }
      #expect(proxies.value.count == 1)
      #expect(target.target === original)
    }
  }
}
