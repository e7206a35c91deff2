// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Identifies one subscription of one proxy.
  ///
  /// The subscription goes on when this value is dropped, until it is cancelled or
  /// its subscriber dies. A `Token` ends its subscription when it dies.
  public struct Subscription: Sendable {
    internal let anchor: ProxyAnchor
    internal let identifier: UInt64
    /// The listener, if a typed proxy keeps it alive.
    private let kept: KeptListener?

    internal init(anchor: ProxyAnchor, identifier: UInt64, kept: KeptListener? = nil) {
      self.anchor = anchor
      self.identifier = identifier
      self.kept = kept
    }

    internal var proxy: DynamicProxy? { anchor.proxy }

    /// Ends the subscription. A fan-out under way does not call the subscriber any
    /// more, unless another thread is about to at this moment. Nothing happens if
    /// the subscription has ended.
    ///
    /// Any thread may call this. A subscriber that the subscription kept alive may
    /// be released here. A listener of a typed proxy is not: the typed proxy
    /// releases it when it is next changed or asked, since the listener may belong
    /// to another thread.
    ///
    /// - Returns: whether this call ended the subscription.
    /// - Complexity: amortised O(1). When more than half of the subscriptions have
    ///   ended, their records are removed, which copies pointers to the others.
    @discardableResult
    public func cancel() -> Bool {
      guard let proxy else { return false }
      kept?.park()
      return proxy.subscribers.remove(identifier)
    }

    /// Whether the proxy and the subscriber live, and the subscription has neither
    /// been cancelled nor had as many deliveries as it was made for.
    ///
    /// - Complexity: O(1).
    public var isLive: Bool {
      proxy?.subscribers.isLive(identifier) ?? false
    }
  }
}

// MARK: - Blocking

extension DynamicProxy.Subscription {
  /// Stops deliveries to the subscriber until `unblock()` has been called as often
  /// as this. The subscriber stays a member at its position, but does not respond:
  /// `responds(to:)` and the observer of capabilities report that.
  ///
  /// A fan-out under way does not call the subscriber any more, unless another
  /// thread is about to at this moment. A delivery under way goes on. Invocations
  /// that come while the subscription is blocked are not delivered later.
  ///
  /// - Returns: whether the subscription is blocked now; false if it has ended, or
  ///   memory is short.
  /// - Complexity: O(1), and O(*m*) in the number of methods for the first and
  ///   the last of those that share a function table.
  @discardableResult
  public func block() -> Bool {
    (try? proxy?.subscribers.block(identifier)) ?? false
  }

  /// Undoes ``block()`` once.
  ///
  /// - Returns: whether the subscription was blocked.
  /// - Complexity: as `block()`.
  @discardableResult
  public func unblock() -> Bool {
    proxy?.subscribers.unblock(identifier) ?? false
  }

  /// Whether the subscription has not ended and is blocked.
  ///
  /// - Complexity: O(1).
  public var isBlocked: Bool {
    proxy?.subscribers.isBlocked(identifier) ?? false
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
