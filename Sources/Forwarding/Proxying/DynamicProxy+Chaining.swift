// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Subscribes another proxy, which forwards to its own subscribers what this
  /// one is given. It counts as one responder for each method that both
  /// declare, with its own policies.
  ///
  /// With a number of `times`, each invocation that reaches the proxy counts,
  /// be it that none of its own subscribers responds.
  ///
  /// Circles are found among proxies that are subscribed in this way. What a
  /// closure does that sends on to a proxy is its author's to see to.
  ///
  /// - Parameters:
  ///   - proxy: who is to be forwarded to.
  ///   - position: the place in the order of delivery.
  ///   - lifetime: whether this proxy keeps the other one alive.
  ///   - times: after how many invocations the subscription ends.
  /// - Throws: `ForwardingError` with the code `cycle` if this proxy would,
  ///   directly or through others, forward to itself, unless
  ///   `Configuration.refusals` says that it is ignored; otherwise as for other
  ///   subscribers.
  @discardableResult
  public func subscribe(
    _ proxy: DynamicProxy, at position: Position = .last, lifetime: Lifetime = .weak,
    times: Int? = nil
  ) throws(ForwardingError) -> Subscription {
    let limit = try DeliveryLimit(times)
    let table = try chainTable(proxy)
    // SAFETY: the proxy is alive until the subscription holds it.
    let candidate = unsafe SubscriberList.Candidate(
      Unmanaged.passUnretained(proxy).toOpaque(),
      receiver: UnsafeMutableRawPointer(proxy.core.handle), lifetime, at: position,
      limit: limit, duplicates: configuration.duplicates)
    defer { extendLifetime(proxy) }
    do throws(ForwardingError) {
      try addLink(to: proxy)
    } catch {
      return Subscription(anchor: anchor, identifier: try configuration.settle(error))
    }
    do throws(ForwardingError) {
      // The same key for all tables of this kind, so that a proxy is found again.
      let key = ObjectIdentifier(DynamicProxy.self)
      let subscription = try admit(candidate, table, .none, key: key)
      settleLink(to: proxy, isMember: true)
      return subscription
    } catch {
      settleLink(to: proxy, isMember: false)
      throw error
    }
  }

  /// Enters a link in the books before the proxy is subscribed, so that no
  /// other thread closes a circle.
  private func addLink(to proxy: DynamicProxy) throws(ForwardingError) {
    // References taken under the lock are given up behind it: a proxy may die
    // with them.
    var held: [DynamicProxy] = []
    var visited: Set<ObjectIdentifier> = []
    let isCycle = Self.chaining.withLock { _ in
      if proxy.reaches(self, &visited, &held) { return true }
      chained.withLock { links in
        // One that is subscribed already needs no further link.
        let identifier = ObjectIdentifier(proxy)
        if links.contains(where: { $0.identifier == identifier && !$0.isPending }) { return }
        links.append(Link(proxy))
      }
      return false
    }
    guard isCycle else { return withExtendedLifetime(held) {} }
    throw ForwardingError(
      .cycle,
      proxy === self
        ? "a proxy cannot be subscribed to itself"
        : "the proxy forwards to this one already, so it would forward to itself")
  }

  /// Says whether a link's proxy is a member now, and forgets links of those
  /// who are none any more.
  private func settleLink(to proxy: DynamicProxy, isMember: Bool) {
    let identifier = ObjectIdentifier(proxy)
    chained.withLock { links in
      if let index = links.firstIndex(where: { $0.identifier == identifier && $0.isPending }) {
        links[index].isPending = false
        if !isMember { links.remove(at: index) }
      }
    }
    chained.withLock { links in
      links.removeAll { !$0.isPending && !subscribers.contains($0.identifier) }
    }
  }

  /// One lock for the links of all proxies: two threads could otherwise close a
  /// circle between them.
  private static let chaining = Lock<Void>(())

  /// A proxy that is subscribed to this one, or about to be.
  internal struct Link: Sendable {
    weak let proxy: DynamicProxy?
    let identifier: ObjectIdentifier
    var isPending = true

    init(_ proxy: DynamicProxy) {
      self.proxy = proxy
      identifier = ObjectIdentifier(proxy)
    }
  }

  /// Whether this proxy is the other, or forwards to it.
  private func reaches(
    _ other: DynamicProxy, _ visited: inout Set<ObjectIdentifier>, _ held: inout [DynamicProxy]
  ) -> Bool {
    if self === other { return true }
    // Once is enough: there are as many ways as proxies in a chain of diamonds
    // have doubled.
    guard visited.insert(ObjectIdentifier(self)).inserted else { return false }
    let links = chained.withLock { $0 }
    for link in links {
      guard let next = link.proxy else { continue }
      held.append(next)
      if link.isPending || contains(next), next.reaches(other, &visited, &held) { return true }
    }
    for next in forwardSlot.annexes {
      held.append(next)
      if next.reaches(other, &visited, &held) { return true }
    }
    return false
  }

  /// The methods of another proxy as functions for this one.
  private func chainTable(_ proxy: DynamicProxy) throws(ForwardingError) -> FunctionTable {
    var methods: [FunctionTable.Method] = []
    for requirement in proxy.requirements {
      let selector = requirement.selector
      let own = requirement.signature
      // The table does not keep the proxy, which would keep itself. SAFETY: the
      // entry lives as long as the proxy, which is held during each delivery.
      let function = unsafe ShimFunction(
        function: fwd_forward_packed,
        context: UnsafeRawPointer(try proxy.method(for: selector).entry))
      methods.append(
        FunctionTable.Method(selector: selector) { signature throws(TableError) in
          guard own.isCompatible(with: signature) else {
            throw TableError(
              .signatureMismatch, selector: selector.name,
              """
              "\(selector)" is "\(own)" in the proxy that subscribes, but "\(signature)" in the one \
              it subscribes to
              """)
          }
          return .shim(function)
        })
    }
    return FunctionTable(methods: methods, fault: nil)
  }
}
