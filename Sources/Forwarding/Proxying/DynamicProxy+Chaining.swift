// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Subscribes another proxy, which forwards this proxy's calls to its own
  /// subscribers. It counts as one responder for each method that both
  /// declare, with its own policies.
  ///
  /// With `times`, each invocation that reaches the other proxy counts, even if
  /// none of that proxy's subscribers responds.
  ///
  /// Cycles of proxies that are subscribed in this way are found. Cycles through
  /// closures that send to a proxy are not: the author of the closure must avoid them.
  ///
  /// - Parameters:
  ///   - proxy: the proxy to forward to.
  ///   - position: the position in the order of delivery.
  ///   - lifetime: whether this proxy keeps the other one alive.
  ///   - times: after how many invocations the subscription ends.
  /// - Throws: `ForwardingError` with the code `cycle` if this proxy would,
  ///   directly or through others, forward to itself;
  ///   otherwise as for other subscribers.
  /// - Complexity: that of the position, plus O(*l*) in the number of proxies
  ///   that are subscribed to `proxy`, directly or through others.
  @discardableResult
  public func subscribe(
    _ proxy: DynamicProxy, at position: Position = .last, lifetime: Lifetime = .weak,
    times: Int? = nil
  ) throws(ForwardingError) -> Subscription {
    let limit = try DeliveryLimit(times, for: .subscription(of: DynamicProxy.self, to: []))
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
      return Subscription(reference: reference, identifier: try configuration.settle(error))
    }
    defer { core.extras.chained.withLock { $0.end(proxy) } }
    // All tables of this kind have one key, so that a proxy which is subscribed
    // twice is found to be a duplicate.
    return try admit(candidate, table, .none, key: ObjectIdentifier(DynamicProxy.self))
  }

  /// Adds a link before the proxy is subscribed, so that a concurrent call that
  /// would close a cycle finds it.
  private func addLink(to proxy: DynamicProxy) throws(ForwardingError) {
    // Strong references taken under the lock are released after it: the last
    // one deinitialises a proxy.
    var held: [DynamicProxy] = []
    var visited: Set<ObjectIdentifier> = []
    let isCycle = Self.chaining.withLock { _ in
      if proxy.reaches(self, &visited, &held) { return true }
      core.extras.chained.withLock { $0.begin(proxy) { subscribers.mayContain($0) } }
      return false
    }
    guard isCycle else { return withExtendedLifetime(held) {} }
    throw ForwardingError(
      .cycle,
      proxy === self
        ? "a proxy cannot be subscribed to itself"
        : "the proxy forwards to this one already, so it would forward to itself")
  }

  /// One lock for the links of all proxies: two threads could otherwise close a
  /// cycle between them.
  private static let chaining = Lock<Void>(())

  /// The proxies that are subscribed to this one, or are about to be, by
  /// address.
  internal struct Links: Sendable {
    fileprivate struct Link: Sendable {
      weak let proxy: DynamicProxy?
      /// The calls of `subscribe` that have begun and not returned.
      var pending = 0

      init(_ proxy: DynamicProxy) { self.proxy = proxy }
    }

    fileprivate var links: [ObjectIdentifier: Link] = [:]
    /// The number of links at which those without a subscription are removed
    /// again. It doubles with the number that stays, so a link costs amortised
    /// O(1).
    internal private(set) var pruneAt = 16

    internal var count: Int { links.count }

    /// Notes that `subscribe` begins for a proxy.
    fileprivate mutating func begin(
      _ proxy: DynamicProxy, isMember: (ObjectIdentifier) -> Bool
    ) {
      let identifier = ObjectIdentifier(proxy)
      // The address may have belonged to another proxy, which has been
      // deallocated and whose link is still here. That link says nothing about
      // this proxy.
      if links[identifier]?.proxy !== proxy {
        if links.count >= pruneAt { prune(isMember) }
        links[identifier] = Link(proxy)
      }
      links[identifier]?.pending += 1
    }

    /// Notes that `subscribe` has returned. The link of a refused proxy stays until
    /// the next pruning: code that follows links also looks for the subscription.
    fileprivate mutating func end(_ proxy: DynamicProxy) {
      links[ObjectIdentifier(proxy)]?.pending -= 1
    }

    private mutating func prune(_ isMember: (ObjectIdentifier) -> Bool) {
      links = links.filter { $0.value.pending > 0 || isMember($0.key) }
      pruneAt = max(16, 2 * links.count)
    }
  }

  /// Whether this proxy is the other one, or forwards to it, directly or through
  /// further proxies.
  private func reaches(
    _ other: DynamicProxy, _ visited: inout Set<ObjectIdentifier>, _ held: inout [DynamicProxy]
  ) -> Bool {
    if self === other { return true }
    // Each proxy is visited once. In a chain of diamonds the number of paths
    // doubles with every diamond.
    guard visited.insert(ObjectIdentifier(self)).inserted else { return false }
    let extras = core.existingExtras
    let links = extras?.chained.withLock { $0.links } ?? [:]
    for link in links.values {
      guard let next = link.proxy else { continue }
      held.append(next)
      let isMember = link.pending > 0 || subscribers.mayContain(ObjectIdentifier(next))
      if isMember, next.reaches(other, &visited, &held) { return true }
    }
    for next in extras?.forwardSlot.annexes ?? [] {
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
        FunctionTable.Method(selector: selector) { signature throws(ForwardingError) in
          guard own.isCompatible(with: signature) else {
            throw ForwardingError(
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
