// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Testing

  /// The user's own types of the names that a proxy's class has.
  enum Names {
    struct Requirement: Equatable {
      static let none = Requirement(text: "none, which is not small")
      var text: String
    }
    enum Conformer: Equatable {
      case some(Int)
    }
    final class Listener {
      let name: String
      init(_ name: String) { self.name = name }
    }

    @Forwarded
    protocol Clash: AnyObject {
      func take(_ requirement: Requirement, _ conformer: [Conformer], by listener: Listener?)
      @DefaultResult(Requirement.none) func give(_ listener: Listener) -> Requirement
      func tell(_ body: @escaping @Sendable (Requirement) -> Void, change: inout Conformer) throws
      @Optional func maybe(_ listener: Listener) -> Conformer?
      var requirement: Requirement? { get set }
      func outer(_ other: Names.Requirement) -> Int
    }

    @Forwarded
    protocol Derived: Clash {
      func wait(_ requirement: Requirement) async throws -> Listener
    }
  }

  private final class ClashListener: Names.Derived {
    var log: [String] = []
    var requirement: Names.Requirement?
    func take(
      _ requirement: Names.Requirement, _ conformer: [Names.Conformer], by listener: Names.Listener?
    ) {
      log.append("\(requirement.text) \(conformer) \(listener?.name ?? "nil")")
    }
    func give(_ listener: Names.Listener) -> Names.Requirement {
      Names.Requirement(text: listener.name)
    }
    func tell(
      _ body: @escaping @Sendable (Names.Requirement) -> Void, change: inout Names.Conformer
    ) throws {
      body(.none)
      change = .some(2)
    }
    func maybe(_ listener: Names.Listener) -> Names.Conformer? { .some(listener.name.count) }
    func outer(_ other: Names.Requirement) -> Int { other.text.count }
    func wait(_ requirement: Names.Requirement) async throws -> Names.Listener {
      Names.Listener(requirement.text)
    }
  }

  @Suite struct ForwardedNamesTests {
    @Test func `types that are named as those of the proxy`() throws {
      let proxy = Names.ClashProxy()
      let listener = ClashListener()
      #expect(proxy.give(Names.Listener("a")) == .none)
      try proxy.subscribe(listener)
      proxy.take(.none, [.some(1)], by: Names.Listener("by"))
      #expect(listener.log == ["none, which is not small \([Names.Conformer.some(1)]) by"])
      #expect(proxy.give(Names.Listener("given")).text == "given")
      var conformer = Names.Conformer.some(1)
      try proxy.tell({ _ in }, change: &conformer)
      #expect(conformer == .some(2) && proxy.maybe(Names.Listener("abc")) == .some(3))
      proxy.requirement = Names.Requirement.none
      #expect(listener.requirement == Names.Requirement.none && proxy.outer(.none) == 24)
      let name: Names.ClashProxy.Requirement = .takeBy
      #expect(proxy.responds(to: name) && Names.ClashProxy.Listener.self == (any Names.Clash).self)
    }

    @Test func `in a protocol that inherits, and waits`() async throws {
      let proxy = Names.DerivedProxy()
      let listener = ClashListener()
      try proxy.subscribe(listener)
      proxy.take(.none, [], by: nil)
      #expect(listener.log.count == 1 && proxy.give(Names.Listener("given")).text == "given")
      #expect(try await proxy.wait(.none).name == "none, which is not small")
    }
  }
#endif
