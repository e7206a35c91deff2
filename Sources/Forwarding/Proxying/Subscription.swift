// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import CForwardingInternal

extension DynamicProxy {
  /// A value that names one subscription of one proxy. No other subscription ever gets
  /// the same name.
  ///
  /// The value keeps neither the proxy nor the subscriber alive, and any thread may use
  /// it. The subscription goes on when the value is dropped. It ends when it is cancelled
  /// or unsubscribed, after as many deliveries as it was made for, and when its
  /// subscriber or its proxy dies. A `Token` ends its subscription when the token dies.
  /// After the proxy has died, ``cancel()`` does nothing and ``proxy`` is nil.
  public struct Subscription: Sendable {
    internal let reference: ProxyReference
    internal let identifier: UInt64
    /// Whether a typed proxy keeps the listener alive, and the end is noted for it.
    // Not a reference, so that a copy of a subscription costs nothing. It still fits the
    // four registers in which functions return it.
    private let isNoted: Bool

    internal init(reference: ProxyReference, identifier: UInt64) {
      self.reference = reference
      self.identifier = identifier
      isNoted = false
    }

    /// The same subscription, whose end is noted in `ProxyExtras.endedSubscriptions`.
    internal init(noting subscription: Subscription) {
      reference = subscription.reference
      identifier = subscription.identifier
      isNoted = true
    }

    /// Tells the typed proxy. If the untyped proxy is gone, the typed one has released
    /// its listeners.
    private func note() {
      reference.proxy?.core.extras.endedSubscriptions.note(identifier)
    }

    /// The proxy. It is nil once the proxy's last reference has been released. It is
    /// also nil if it is the untyped proxy of a typed proxy that is not `Sendable`, or
    /// belongs to an actor: any thread may have this value, but not use that proxy.
    ///
    /// - Complexity: O(1). It waits while another thread changes the list.
    public var proxy: DynamicProxy? {
      guard let proxy = reference.proxy, !proxy.core.settings.isConfined else { return nil }
      return proxy
    }

    /// The object that is subscribed. It is nil if the object has died, the
    /// subscription has ended, or ``proxy`` is nil, and for closures with a token and
    /// C contexts, which have no object.
    ///
    /// - Complexity: O(1). It waits while another thread changes the list.
    public var subscriber: AnyObject? {
      TokenSubscriber.hidden(proxy?.subscribers.subscriber(of: identifier))
    }

    /// Ends the subscription. After this has returned, no fan-out begins a delivery to
    /// the subscriber, but for one that another thread was about to begin. This does not
    /// wait for a delivery under way. Nothing happens if the subscription has ended. In
    /// the closure of ``DynamicProxy/change(_:)`` the end is part of the change.
    ///
    /// Any thread may call this. It waits while another thread changes the list. A
    /// subscriber that the subscription kept alive may be released here. A listener of
    /// a typed proxy is not, unless the protocol is `Sendable`: the proxy releases it
    /// when it is next changed or asked, since the listener may belong to another
    /// thread.
    ///
    /// - Returns: whether this call ended the subscription.
    /// - Complexity: amortised O(1). When all subscriptions have ended, or more than
    ///   half of them and at least 16, their records are removed, which copies
    ///   pointers to the others.
    @discardableResult
    public func cancel() -> Bool {
      if isNoted { return cancel(then: nil) }
      return reference.leave(identifier) ?? cancelByProxy(then: nil)
    }

    /// Ends the subscription, and then calls a closure, also if the subscription has
    /// ended before. In a `change` of the proxy both are done when it takes effect.
    package func cancel(then: (() -> Void)?) -> Bool {
      defer { if isNoted { note() } }
      if then == nil, let wasLive = reference.leave(identifier) { return wasLive }
      return cancelByProxy(then: then)
    }

    private func cancelByProxy(then: (() -> Void)?) -> Bool {
      if let proxy = reference.proxy { return proxy.subscribers.remove(identifier, then: then) }
      then?()
      return false
    }

    /// Ends the subscription, also if a change that this is a part of fails: nobody
    /// will be able to cancel it later.
    internal func end() {
      defer { if isNoted { note() } }
      if reference.leave(identifier) != nil { return }
      reference.proxy?.subscribers.remove(identifier, isFinal: true)
    }

    /// Whether the proxy and the subscriber live, and the subscription has neither
    /// been cancelled nor had as many deliveries as it was made for.
    ///
    /// - Complexity: O(1). It waits while another thread changes the list.
    public var isLive: Bool {
      reference.proxy?.subscribers.isLive(identifier) ?? false
    }
  }
}

// MARK: - Blocking

extension DynamicProxy.Subscription {
  /// Stops deliveries to the subscriber until the token is cancelled or
  /// deallocated. Keep the token.
  ///
  /// ```swift
  /// let pause = try subscription.block()
  /// try subscription.block().during { slider.value = model.value }
  /// ```
  ///
  /// The subscriber stays a member at its position, but does not respond:
  /// `responds(to:)` and the observer of capabilities report that. Each token
  /// blocks by itself: deliveries begin again when the last one has ended.
  ///
  /// A fan-out under way does not call the subscriber any more, unless another
  /// thread is about to at this moment. A delivery under way goes on. Invocations
  /// that come while the subscription is blocked are not delivered later.
  ///
  /// - Returns: a token that ends the block. It is not live if the subscription has
  ///   ended.
  /// - Throws: `ForwardingError` with the code `outOfMemory`.
  /// - Complexity: O(1), and O(*m*) in the number of methods for the first and
  ///   the last of those that share a function table.
  public func block() throws(ForwardingError) -> DynamicProxy.Token {
    let isBlocked = try reference.proxy?.subscribers.block(identifier) ?? false
    return isBlocked ? DynamicProxy.Token(blocking: self) : DynamicProxy.Token()
  }

  /// Undoes ``block()`` once, for its token. False if the subscription has ended.
  internal func unblock() -> Bool {
    reference.proxy?.subscribers.unblock(identifier) ?? false
  }

  /// Whether the subscription has not ended and is blocked.
  ///
  /// - Complexity: O(1). It waits while another thread changes the list.
  public var isBlocked: Bool {
    reference.proxy?.subscribers.isBlocked(identifier) ?? false
  }
}

// MARK: - Conformances

extension DynamicProxy.Subscription: Hashable {
  /// Whether both name the same subscription.
  public static func == (left: Self, right: Self) -> Bool {
    left.identifier == right.identifier
  }

  /// Feeds the identity of the subscription into the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(identifier)
  }
}
