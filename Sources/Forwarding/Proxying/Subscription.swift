// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Names one subscription of one proxy.
///
/// It may be dropped: the subscription goes on until it is cancelled or its
/// subscriber dies. For one that ends with a value, see `SubscriptionToken`.
public struct Subscription: Sendable {
  internal let anchor: ProxyAnchor
  internal let identifier: UInt64

  internal var proxy: DynamicProxy? { anchor.proxy }

  /// Ends the subscription. A fan-out under way does not call it any more,
  /// unless on another thread it is about to at this moment. Nothing happens if
  /// it has ended.
  ///
  /// - Returns: whether it was this call that ended it.
  /// - Complexity: O(1), amortised: the list is compacted when more than half
  ///   of it (and more than 16) has ended, or by the next fan-out that meets
  ///   the ended one, which then is O(*n*).
  @discardableResult
  public func cancel() -> Bool {
    proxy?.subscribers.remove(identifier) ?? false
  }

  /// Whether the proxy and the subscriber live, and the subscription has neither
  /// been cancelled nor had as many deliveries as it was made for.
  ///
  /// - Complexity: O(1).
  public var isLive: Bool {
    proxy?.subscribers.isLive(identifier) ?? false
  }
}

// MARK: - Blocking

extension Subscription {
  /// Has the subscription passed over until it has been unblocked as often as it
  /// has been blocked. It keeps its place and is a member, but does not respond
  /// meanwhile: `responds(to:)` and the observer of capabilities are told so.
  ///
  /// A fan-out under way does not call it any more, unless on another thread it
  /// is about to at this moment. A delivery under way goes on. What is not
  /// delivered meanwhile is not made up for.
  ///
  /// - Returns: whether it is blocked now: not if it has ended, or memory is
  ///   short.
  /// - Complexity: O(1), and O(*m*) in the number of methods for the first and
  ///   the last of those that share a function table.
  @discardableResult
  public func block() -> Bool {
    (try? proxy?.subscribers.block(identifier)) ?? false
  }

  /// Undoes ``block()`` once.
  ///
  /// - Returns: whether there was something to undo.
  /// - Complexity: as `block()`.
  @discardableResult
  public func unblock() -> Bool {
    proxy?.subscribers.unblock(identifier) ?? false
  }

  /// Whether the subscription goes on, but is blocked.
  ///
  /// - Complexity: O(1).
  public var isBlocked: Bool {
    proxy?.subscribers.isBlocked(identifier) ?? false
  }
}

// MARK: - Conformances

extension Subscription: Hashable {
  /// Whether both name the same subscription.
  public static func == (left: Subscription, right: Subscription) -> Bool {
    left.identifier == right.identifier
  }

  /// Feeds the identity of the subscription into the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(identifier)
  }
}

/// Owns a subscription of closures: cancelled by hand, or when the token dies.
public final class SubscriptionToken: Sendable {
  private let state = Lock<Subscription?>(nil)

  internal init() {}

  internal func adopt(_ subscription: Subscription) {
    state.withLock { $0 = subscription }
  }

  /// The subscription.
  public var subscription: Subscription? {
    state.withLock { $0 }
  }

  /// Whether the proxy lives and the subscription has not been cancelled.
  public var isLive: Bool { subscription?.isLive ?? false }

  /// Ends the subscription; see `Subscription.cancel()`.
  @discardableResult
  public func cancel() -> Bool { subscription?.cancel() ?? false }

  deinit {
    subscription?.cancel()
  }
}
