// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import ForwardingPresets
  import Testing

  /// What KSDelegateForwarding does by a class that a macro makes.
  @Suite struct KSDelegateForwardingMacroTests {
    @Test("1.1.1 a macro makes a class that wraps a service; what is in the slot conforms")
    func wrapper() {
      let copier = Copier("a")
      let wrapper = CopierForwarder(copier)
      #expect(wrapper.forwarder.service === copier)
      #expect(copier.delegate is CopierDelegateProxy)
      let interface: any LegacyInterface = LegacyInterfaceForwarder(Legacy())
      interface.count = 4
      #expect(interface.count == 4)
    }

    @Test("1.1.2 methods with any signature go to the service")
    func methods() async throws {
      let copier = Copier("a")
      let wrapper = CopierForwarder(copier)
      wrapper.copy(3)
      #expect(copier.state == .copying(3) && wrapper.state == .copying(3))
      #expect(wrapper.states() == [CopierForwarder.State.copying(3)])
      #expect(try wrapper.attempt(0, in: "here") == "here")
      #expect(throws: CopyError(code: 7)) { try wrapper.attempt(7, in: "") }
      var value = 4
      wrapper.double(&value)
      wrapper.double(&value, by: 3)
      #expect(value == 24)
      #expect(wrapper.map([1, 2]) { "\($0)" } == ["1", "2"])
      #expect(throws: CopyError(code: 1)) {
        try wrapper.map([1]) { _ in throw CopyError(code: 1) }
      }
      #expect(wrapper.tuple(1, "two") == (1, "two"))
      #expect(wrapper.largest(of: [1, 5, 2]) == 5)
      var evaluated = 0
      func evaluate() -> Int {
        evaluated += 1
        return 9
      }
      #expect(wrapper.lazily(false, evaluate()) == 0 && evaluated == 0)
      #expect(wrapper.lazily(true, evaluate()) == 9 && evaluated == 1)
      #expect(wrapper.kept { 5 }() == 5)
      #expect(wrapper.itself() === copier)
      let number: Int32 = 6
      #expect(unsafe withUnsafePointer(to: number) { unsafe wrapper.read($0) } == 6)
      #expect(wrapper.conditional() == 1)
      #expect(wrapper.forwarder.service.label() == "device")
    }

    @Test("1.1.2 asynchronous methods go to the service")
    func asynchronous() async throws {
      let wrapper = CopierForwarder(Copier("a"))
      #expect(try await wrapper.later(3) == [0, 1, 2])
      await #expect(throws: CopyError(code: -1)) { try await wrapper.later(-1) }
    }

    @Test("1.1.2 properties and subscripts go to the service, inherited ones too")
    func properties() throws {
      let copier = Copier("a")
      let wrapper = CopierForwarder(copier)
      #expect(wrapper.name == "a")
      wrapper.speed = 5
      wrapper.weight += 1
      #expect(copier.speed == 5 && copier.weight == 3)
      wrapper.observed = 2
      wrapper.elsewhere = -3
      #expect(copier.observed == -3 && wrapper.changeCount == 2)
      #expect(throws: CopyError(code: -3)) { try wrapper.checked }
      wrapper[1] = 8
      #expect(wrapper[1] == 8 && wrapper[named: "x", at: 1] == "x8" && wrapper[named: "y"] == "y1")
      wrapper.isOpen = true
      #expect(copier.isOpen && wrapper.isOpen)
    }

    @Test("1.1.3 a wrapper's own proxy and nil are ignored")
    func itself() throws {
      let wrapper = CopierForwarder(Copier("a"))
      #expect(try wrapper.subscribe(wrapper.forwarder.hub.proxy) == nil)
      #expect(try wrapper.subscribe(nil) == nil)
      #expect(!wrapper.unsubscribe(nil))
      #expect(wrapper.forwarder.hub.proxy.count == 0)
    }

    @Test("1.1.4 an object that subscribes twice is delivered to twice, by configuration")
    func twice() throws {
      let proxy = try CopierDelegateProxy(configuration: .init(.ksDelegateForwarding))
      let wrapper = CopierForwarder(Copier("a"), proxy: proxy)
      let listener = CopierListener()
      try wrapper.subscribe(listener)
      try wrapper.subscribe(listener)
      wrapper.copy(1)
      #expect(listener.take() == ["a 1 none", "a 1 none"])
      #expect(wrapper.unsubscribe(listener))
      wrapper.copy(2)
      #expect(listener.take() == ["a 2 none"])
    }

    @Test("1.1.7, 1.1.8, 1.1.10 wrappers share their listeners, and survive each other")
    func several() throws {
      let copier = Copier("a")
      let (delegate, first, second) = (CopierListener(), CopierListener(), CopierListener())
      copier.delegate = delegate
      var wrapper: CopierForwarder? = CopierForwarder(copier)
      var other: CopierForwarder? = CopierForwarder(copier)
      try wrapper?.subscribe(first)
      try other?.subscribe(first)
      try other?.subscribe(second)
      copier.copy(1)
      wrapper = nil
      copier.copy(2)
      for one in [delegate, first, second] { #expect(one.take() == ["a 1 none", "a 2 none"]) }
      other = nil
      #expect(copier.delegate === delegate)
      copier.copy(3)
      #expect(first.take() == [])
      wrapper = CopierForwarder(copier)
      copier.copy(4)
      #expect(first.take() == ["a 4 none"])
      withExtendedLifetime(wrapper) {}
    }

    @Test("1.1.12, 1.1.13 a delegate that was set is noticed by each call through the wrapper")
    func noticed() {
      let copier = Copier("a")
      let wrapper = CopierForwarder(copier)
      let (first, second) = (CopierListener(), CopierListener())
      copier.delegate = first
      #expect(wrapper.name == "a")
      #expect(copier.delegate is CopierDelegateProxy)
      // By the wrapper it is noticed at once.
      wrapper.delegate = second
      #expect(copier.delegate is CopierDelegateProxy && wrapper.forwarder.original === second)
      copier.copy(1)
      #expect(first.take() == [] && second.take() == ["a 1 none"])
      wrapper.delegate = nil
      copier.copy(2)
      #expect(second.take() == [])
    }

    @Test("1.1.14 the slot has the proxy, by the wrapper too")
    func reading() {
      let wrapper = CopierForwarder(Copier("a"))
      let listener = CopierListener()
      wrapper.delegate = listener
      #expect(wrapper.delegate === wrapper.forwarder.hub.proxy)
    }

    @Test("1.1.15, 1.1.16 optional methods, results, and arguments of any type and number")
    func arguments() throws {
      let copier = Copier("a")
      let wrapper = CopierForwarder(copier)
      let (plain, finishing) = (CopierListener(), FinishingListener())
      try wrapper.subscribe(plain)
      #expect(!wrapper.forwarder.hub.proxy.responds(to: .copierDidFinishNote))
      wrapper.finish()
      try wrapper.subscribe(finishing)
      #expect(wrapper.forwarder.hub.proxy.responds(to: .copierDidFinishNote))
      wrapper.finish()
      #expect(finishing.log == ["1.5 2 [\"done\"]"])
      wrapper.copy(1, named: nil)
      #expect(plain.take() == ["a 1 nil"])
      plain.answer = true
      #expect(wrapper.ask(CopyError(code: 2)))
      #expect(plain.take() == ["CopyError(code: 2)"])
    }

    @Test("1.1.17 all methods of the protocol are forwarded, those of which nobody knows refused")
    func undeclared() {
      let wrapper = CopierForwarder(Copier("a"))
      let proxy = unsafe wrapper.forwarder.hub.proxy.proxy
      #expect(CopierDelegateProxy.Requirement.allCases.count == 3)
      #expect {
        try proxy.send("undeclared")
      } throws: {
        ($0 as? ForwardingError)?.code == .unknownSelector
      }
    }

    @Test("1.1.21 a wrapper keeps its service, and lets it go")
    func retention() throws {
      weak var copier: Copier?
      weak var proxy: CopierDelegateProxy?
      weak var listener: CopierListener?
      do {
        let wrapper = CopierForwarder(Copier("kept"))
        let one = CopierListener()
        try wrapper.subscribe(one, lifetime: .strong)
        (copier, proxy, listener) = (wrapper.forwarder.service, wrapper.forwarder.hub.proxy, one)
        #expect(copier != nil)
      }
      #expect(copier == nil && proxy == nil && listener == nil)
    }

    @Test("1.1.21 a wrapper may be shared by all threads") func shared() async throws {
      let listener = SensorListener()
      try SensorForwarder.shared.subscribe(listener)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask { for _ in 0..<100 { SensorForwarder.shared.fire(1) } }
        }
      }
      #expect(listener.sum == 400)
    }

    @Test("1.1.21 a wrapper may be shared on the main actor") @MainActor func main() throws {
      let listener = LegacyListener()
      try PanelForwarder.shared.subscribe(listener)
      PanelForwarder.shared.press(2)
      Panel.main.press(3)
      #expect(listener.counts == [2, 3])
      #expect(PanelForwarder.shared === PanelForwarder.shared)
    }
  }
#endif
