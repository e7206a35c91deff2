// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Testing

  @Suite struct ForwardingClassTests {
    @Test func `a class of others is wrapped by a protocol, with options`() async throws {
      let legacy = Legacy()
      let (ignored, listener) = (LegacyListener(), LegacyListener())
      legacy.delegate = ignored
      var wrapper: LegacyInterfaceForwarder? = LegacyInterfaceForwarder(legacy)
      try wrapper?.subscribe(listener)
      #expect(await wrapper?.run(2) == 2)
      wrapper?.runNow(3)
      #expect(ignored.counts == [] && listener.counts == [2, 3])
      wrapper = nil
      #expect(legacy.delegate === ignored)
    }

    @Test func `a slot that is a DelegateSlot tells at once`() throws {
      let slotted = Slotted()
      let wrapper = SlottedForwarder(slotted)
      let (delegate, listener) = (LegacyListener(), LegacyListener())
      try wrapper.subscribe(listener)
      slotted.delegate = delegate
      slotted.run(1)
      wrapper.run(2)
      #expect(delegate.counts == [1, 2] && listener.counts == [1, 2])
      #expect(wrapper.forwarder.hub === slotted.$delegate.hub)
      wrapper.delegate = nil
      wrapper.run(3)
      #expect(delegate.counts == [1, 2] && listener.counts == [1, 2, 3])
    }

    @Test func `a class that tells its slot needs no key path`() throws {
      let telling = Telling()
      let wrapper = TellingForwarder(telling)
      let (delegate, listener) = (LegacyListener(), LegacyListener())
      try wrapper.subscribe(listener)
      telling.delegate = delegate
      telling.runNow(1)
      #expect(delegate.counts == [1] && listener.counts == [1])
    }

    @Test func `wrappers of different kinds share the slot`() throws {
      let telling = Telling()
      let first = LegacyInterfaceForwarder(telling)
      let second = DelegateForwarder(
        telling as Legacy, \.delegate, proxy: LegacyDelegateProxy())
      let listener = LegacyListener()
      try first.subscribe(listener)
      try second.subscribe(listener)
      telling.runNow(1)
      #expect(listener.counts == [1])
      #expect(first.forwarder.hub === second.hub)
    }

    @Test func `the wrapper of an actor's class gives the slot back there`() async {
      let panel = await Panel()
      let delegate = await MainActor.run { () -> Panel in
        panel.press(0)
        return panel
      }
      await Task.detached {
        let wrapper = await PanelForwarder(panel)
        await wrapper.press(1)
        // The last reference is given up here, off the main actor.
        _ = consume wrapper
      }.value
      for _ in 0..<1000 where await delegate.isTaken { await Task.yield() }
      #expect(await !delegate.isTaken)
    }
  }

  extension Panel {
    fileprivate var isTaken: Bool { delegate != nil }
  }
#endif
