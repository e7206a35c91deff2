// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import MacroProtocols
  import Synchronization
  import Testing

  @Forwarded
  protocol Base: AnyObject {
    func base(_ number: Int)
    @Optional func optional(_ text: String) -> Int
  }

  @Forwarded
  protocol Left: Base {
    func left(_ text: String) throws
  }

  @Forwarded
  protocol Right: Base, AnyObject {
    func right(_ value: Double, _ flag: Bool)
  }

  /// Twice from one, and with one of its methods again.
  @Forwarded
  protocol Both: Left, Right {
    func base(_ number: Int)
    var both: Int { get set }
  }

  /// Of another module, with nothing of its own.
  @Forwarded
  protocol Door: MacroProtocols.Opening {}

  @Forwarded
  protocol Singer: Nest.Bird {
    func hum(_ text: String)
  }

  private final class BothListener: Both {
    var log: [String] = []
    var both = 1
    func base(_ number: Int) { log.append("base \(number)") }
    func left(_ text: String) throws { log.append("left \(text)") }
    func right(_ value: Double, _ flag: Bool) { log.append("right \(value) \(flag)") }
    func optional(_ text: String) -> Int { text.count }
  }

  private final class LeftListener: Left {
    var log: [String] = []
    func base(_ number: Int) { log.append("base \(number)") }
    func left(_ text: String) throws { throw Failure(2) }
  }

  private class DoorListener: Door {
    var log: [String] = []
    var width = 3
    func opened(_ count: Int, at time: Double) { log.append("\(count) \(time)") }
    func state(_ row: Int) -> String { "row \(row)" }
    func wait(_ text: String) async throws -> String { text + "!" }
  }

  private final class ClosingListener: DoorListenerBase, Door {
    func closed(_ reason: String) throws -> Int { reason.count }
  }

  private class DoorListenerBase {
    var width = 3
    func opened(_ count: Int, at time: Double) {}
    func state(_ row: Int) -> String { "row \(row)" }
    func wait(_ text: String) async throws -> String { text + "?" }
  }

  private final class SingerListener: Singer {
    let count = Counter()
    func sing() { count.moved(0, true) }
    func hum(_ text: String) { count.moved(0, true) }
  }

  /// Protocols that inherit from others.
  @Suite struct ForwardedInheritanceTests {
    @Test func `a proxy forwards what its protocol inherits`() throws {
      let proxy = LeftProxy()
      let listener = LeftListener()
      let other = BothListener()
      try proxy.subscribe(other)
      try proxy.subscribe(listener)
      proxy.base(3)
      #expect(throws: Failure(2)) { try proxy.left("a") }
      #expect(listener.log == ["base 3"] && other.log == ["base 3", "left a"])
      let base: any Base = proxy
      base.base(4)
      #expect(listener.log.last == "base 4")
    }

    @Test func `two parents with one of their own`() throws {
      let proxy = BothProxy()
      let listener = BothListener()
      try proxy.subscribe(listener)
      proxy.base(1)
      try proxy.left("text")
      proxy.right(2, true)
      proxy.both = 7
      #expect(listener.log == ["base 1", "left text", "right 2.0 true"] && listener.both == 7)
      #expect(proxy.optional("four") == 4 && proxy.both == 7)
      (proxy as any Right).right(3, false)
      (proxy as any Base).base(5)
      #expect(listener.log.suffix(2) == ["right 3.0 false", "base 5"])
    }

    @Test func `the table has those of the parents as parents`() throws {
      let table = BothProxy.protocolTable
      #expect(
        table.parents.map(\.name) == [
          "ForwardingMacrosTests.Left", "ForwardingMacrosTests.Right",
        ])
      #expect(table.inherits(from: BaseProxy.protocolTable))
      let proxy = BothProxy()
      let listener = BothListener()
      try proxy.subscribe(listener)
      #expect(unsafe proxy.proxy.conforms(to: BaseProxy.protocolTable))
      try unsafe proxy.proxy.send("right::", 1.5, true)
      try unsafe proxy.proxy.send("base:", 8)
      #expect(listener.log == ["right 1.5 true", "base 8"])
    }

    @Test func `whoever responds is asked for inherited methods too`() throws {
      let proxy = LeftProxy()
      let listener = LeftListener()
      #expect(!proxy.responds(to: BaseProxy.Requirement.base))
      try proxy.subscribe(listener)
      #expect(proxy.responds(to: BaseProxy.Requirement.base) && proxy.responds(to: .left))
      #expect(!proxy.responds(to: BaseProxy.Requirement.optional) && proxy.optional("") == 0)
      let other = BothListener()
      try proxy.subscribe(other)
      #expect(proxy.responds(to: .optional) && proxy.optional("four") == 4)
      #expect(LeftProxy.selector(for: BaseProxy.Requirement.base) == "base:")
      #expect(BaseProxy.selector(for: .base) == "base:")
    }

    @Test func `a proxy is a listener of its protocol's parent`() throws {
      let outer = BaseProxy()
      let inner = LeftProxy()
      let listener = LeftListener()
      try inner.subscribe(listener)
      try outer.subscribe(inner)
      outer.base(6)
      #expect(listener.log == ["base 6"])
      #expect(outer.contains(inner) && !outer.responds(to: .optional))
    }

    @Test func `one listener of a protocol and of its parent`() throws {
      let listener = BothListener()
      let (base, both) = (BaseProxy(), BothProxy())
      try base.subscribe(listener)
      try both.subscribe(listener)
      base.base(1)
      both.base(2)
      #expect(listener.log == ["base 1", "base 2"] && base.optional("xy") == 2)
    }

    @Test func `a parent of another module`() async throws {
      let proxy = DoorProxy()
      #expect(proxy.state(1) == "closed" && proxy.width == 0)
      await #expect(throws: ForwardingError.self) { try await proxy.wait("a") }
      let listener = DoorListener()
      try proxy.subscribe(listener)
      proxy.opened(2, at: 0.5)
      proxy.width += 4
      #expect(listener.log == ["2 0.5"] && proxy.state(1) == "row 1" && listener.width == 7)
      #expect(try await proxy.wait("a") == "a!")
      #expect(!proxy.responds(to: .closed) && proxy.responds(to: OpeningProxy.Requirement.wait))
      #expect(throws: ForwardingError.self) { try proxy.closed("x") }
      let closing = ClosingListener()
      try proxy.subscribe(closing)
      #expect(try proxy.closed("four") == 4)
      #expect(DoorProxy.Requirement.allCases.isEmpty && DoorProxy.Requirement(rawValue: 0) == nil)
    }

    @Test func `sendable is inherited too`() async throws {
      let proxy = SingerProxy()
      let listener = SingerListener()
      try proxy.subscribe(listener)
      await withTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            proxy.sing()
            proxy.hum("a text that is not small")
          }
        }
      }
      #expect(listener.count.count.load(ordering: .relaxed) == 8)
    }
  }
#endif
