// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DynamicProxyCapabilitiesTests {
  let journal = Journal()

  private func observed(
    _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    let journal = journal
    return try DynamicProxy.pinging {
      $0.conformance = .lenient
      $0.onCapabilityChange = { selector, responds in
        journal.note("\(responds ? "+" : "-")\(selector)")
      }
      configure(&$0)
    }
  }

  private func subscribe(
    _ owner: Bystander, to proxy: DynamicProxy, _ selectors: String...
  ) throws -> DynamicProxy.Subscription {
    try proxy.subscribe(owner) { builder in
      if selectors.contains("ping:") { builder.on("ping:") { (_: Bystander, _: Int32) in } }
      if selectors.contains("score:") {
        builder.on("score:") { (_: Bystander, number: Int32) -> Int32 in number }
      }
      if selectors.contains("finish") { builder.on("finish") { (_: Bystander) in } }
    }
  }

  // MARK: responds(to:)

  @Test func `responds if some live subscriber does`() throws {
    let proxy = try observed()
    #expect(!proxy.responds(to: "ping:"))
    let a = Bystander()
    let subscription = try subscribe(a, to: proxy, "ping:")
    #expect(proxy.responds(to: "ping:"))
    #expect(!proxy.responds(to: "score:"))
    #expect(!proxy.responds(to: "unknown"))
    do {
      let b = Bystander()
      _ = try subscribe(b, to: proxy, "score:")
      #expect(proxy.responds(to: "score:"))
      withExtendedLifetime(b) {}
    }
    // Dead, though nobody has noticed yet.
    #expect(!proxy.responds(to: "score:"))
    subscription.cancel()
    #expect(!proxy.responds(to: "ping:"))
  }

  @Test func `may respond to what is declared`() throws {
    let proxy = try observed { $0.responding = .declared }
    #expect(proxy.responds(to: "ping:") && proxy.responds(to: "finish"))
    #expect(!proxy.responds(to: "unknown"))
  }

  // MARK: conforms(to:)

  private static let parent = ProtocolTable.table("Parent") { $0.required("ping:", "v@:i") }
  private static let child = ProtocolTable.table("Child", inheriting: [parent]) {
    $0.required("finish", "v@:")
    $0.optional("score:", "i@:i")
  }
  private static let grandchild = ProtocolTable.table("Grandchild", inheriting: [child]) { _ in }
  private static let stranger = ProtocolTable.table("Stranger") { $0.required("ping:", "v@:i") }

  @Test func `conforms to the adopted protocols and their parents`() throws {
    let proxy = try DynamicProxy(adopting: Self.grandchild, .pinging)
    #expect(proxy.conforms(to: Self.grandchild))
    #expect(proxy.conforms(to: Self.child))
    #expect(proxy.conforms(to: Self.parent))
    #expect(proxy.conforms(to: .pinging))
    #expect(!proxy.conforms(to: Self.stranger))
    #expect(try !DynamicProxy(adopting: Self.parent).conforms(to: Self.child))
  }

  @Test func `may conform to what some live subscriber does`() throws {
    var configuration = DynamicProxy.Configuration()
    configuration.conforming = .subscribers
    configuration.conformance = .lenient
    let proxy = try DynamicProxy(adopting: Self.child, configuration: configuration)
    #expect(!proxy.conforms(to: Self.parent))
    let a = Bystander()
    _ = try subscribe(a, to: proxy, "ping:")
    // What is asked for are methods, whoever declares them.
    #expect(proxy.conforms(to: Self.parent) && proxy.conforms(to: Self.stranger))
    #expect(!proxy.conforms(to: Self.child))
    // Half of it each is not enough.
    let b = Bystander()
    _ = try subscribe(b, to: proxy, "finish")
    #expect(!proxy.conforms(to: Self.child))
    do {
      let c = Bystander()
      _ = try subscribe(c, to: proxy, "ping:", "finish")
      #expect(proxy.conforms(to: Self.child) && proxy.conforms(to: Self.grandchild))
      withExtendedLifetime(c) {}
    }
    #expect(!proxy.conforms(to: Self.child))
    withExtendedLifetime((a, b)) {}
  }

  // MARK: Changes

  @Test func `tells when a method gains its first responder and loses its last`() throws {
    let proxy = try observed()
    let (a, b) = (Bystander(), Bystander())
    let first = try subscribe(a, to: proxy, "ping:", "finish")
    #expect(Set(journal.take()) == ["+ping:", "+finish"])
    let second = try subscribe(b, to: proxy, "ping:", "score:")
    #expect(journal.take() == ["+score:"])
    first.cancel()
    #expect(journal.take() == ["-finish"])
    second.cancel()
    #expect(Set(journal.take()) == ["-ping:", "-score:"])
    withExtendedLifetime((a, b)) {}
  }

  @Test func `tells of leaving all at once, one time each`() throws {
    let proxy = try observed()
    let owners = (0..<10).map { _ in Bystander() }
    defer { withExtendedLifetime(owners) {} }
    for owner in owners { _ = try subscribe(owner, to: proxy, "ping:") }
    #expect(journal.take() == ["+ping:"])
    proxy.unsubscribeAll()
    #expect(journal.take() == ["-ping:"])
  }

  @Test func `a death is told once a fan-out has met it`() throws {
    let proxy = try observed()
    do {
      let a = Bystander()
      _ = try subscribe(a, to: proxy, "finish")
      withExtendedLifetime(a) {}
    }
    #expect(journal.take() == ["+finish"])
    try proxy.send("finish")
    #expect(journal.take() == ["-finish"])
    try proxy.send("finish")
    #expect(journal.take().isEmpty)
  }

  @Test func `a token's death is told at once`() throws {
    let proxy = try observed()
    do {
      let token = try proxy.subscribe { $0.on("finish") {} }
      #expect(journal.take() == ["+finish"])
      withExtendedLifetime(token) {}
    }
    #expect(journal.take() == ["-finish"])
  }

  @Test func `moving changes no capability`() throws {
    let proxy = try observed()
    let a = Listener("a", Journal())
    try proxy.subscribe(a)
    _ = journal.take()
    try proxy.subscribe(a, at: .first)
    try proxy.subscribe(a, at: .priority(3))
    #expect(journal.take().isEmpty)
    #expect(proxy.responds(to: "ping:"))
  }

  @Test func `the observer may use the proxy`() throws {
    let holder = Box<DynamicProxy?>(nil)
    let journal = journal
    let proxy = try DynamicProxy.pinging {
      $0.conformance = .lenient
      $0.onCapabilityChange = { selector, responds in
        guard let proxy = holder.value else { return }
        // The change has happened.
        journal.note("\(selector) \(responds) \(proxy.responds(to: selector))")
        if responds { proxy.unsubscribeAll() }
      }
    }
    holder.value = proxy
    let a = Bystander()
    let subscription = try subscribe(a, to: proxy, "finish")
    #expect(journal.take() == ["finish true true", "finish false false"])
    #expect(!subscription.isLive)
    holder.value = nil
    withExtendedLifetime(a) {}
  }

  @Test func `a refused subscriber changes no capability`() throws {
    let proxy = try observed()
    let a = Bystander()
    #expect(throws: ForwardingError.self) {
      try proxy.subscribe(a, at: .index(5)) { $0.on("finish") { (_: Bystander) in } }
    }
    #expect(throws: ForwardingError.self) {
      try proxy.subscribe(a) {
        $0.on("finish") { (_: Bystander) in }
        $0.on("score:") { (_: Bystander) in }
      }
    }
    #expect(journal.take().isEmpty)
  }

  // MARK: Descriptions

  @Test func `describes its protocols and its live subscribers`() throws {
    let proxy = try DynamicProxy.pinging { $0.conformance = .lenient }
    let (a, b) = (Listener("a", journal), Bystander())
    try proxy.subscribe(a)
    _ = try subscribe(b, to: proxy, "finish")
    try proxy.subscribe(Listener("x", journal))
    #expect(proxy.description == "DynamicProxy<Pinging> of 2: Listener, Bystander")
    withExtendedLifetime(b) {}
  }

  @Test func `gives the declared signature`() throws {
    let proxy = try DynamicProxy(adopting: Self.child)
    #expect((try? proxy.method(for: "score:").signature)?.text == "i@:i")
    #expect((try? proxy.method(for: "ping:").signature)?.text == "v@:i")
    #expect((try? proxy.method(for: "unknown").signature) == nil)
    let method = try proxy.method(for: "score:")
    #expect(method.signature.text == "i@:i" && method.selector == "score:")
    #expect(method.proxy === proxy)
  }

  /// Calls a closure when it dies.
  private final class Last: Sendable {
    let onDeath: @Sendable () -> Void
    init(_ onDeath: @escaping @Sendable () -> Void) { self.onDeath = onDeath }
    deinit { onDeath() }
  }

  @Test func `changes are told in their order, also those made while others are told`() throws {
    let told = Box<[String]>([])
    let proxy = try DynamicProxy.pinging {
      $0.conformance = .lenient
      $0.onCapabilityChange = { selector, responds in
        told.value += ["\(selector.name)\(responds)"]
      }
    }
    let holder = Box<DynamicProxy?>(proxy)
    let successor = Bystander()
    // The last responder's death brings the next one.
    try proxy.subscribe(
      Last {
        _ = try? holder.value?.subscribe(successor) {
          $0.on("finish") { (_: Bystander) in }
        }
      }, lifetime: .strong
    ) { $0.on("finish") { (_: Last) in } }
    proxy.unsubscribeAll()
    #expect(told.value == ["finishtrue", "finishfalse", "finishtrue"])
    #expect(proxy.responds(to: "finish"))
    holder.value = nil
  }
}
