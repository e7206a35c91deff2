// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import Synchronization

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
  /// - Complexity: O(1), amortised.
  @discardableResult
  public func cancel() -> Bool {
    proxy?.subscribers.remove(identifier) ?? false
  }

  /// Whether the proxy and the subscriber live, and the subscription has not
  /// been cancelled.
  ///
  /// - Complexity: O(1).
  public var isLive: Bool {
    proxy?.subscribers.isLive(identifier) ?? false
  }
}

/// A weak reference to a proxy that all its subscriptions share: it costs each
/// of them a count, and the proxy no side table, which would slow down whoever
/// counts references to it.
@safe internal final class ProxyAnchor: Sendable {
  /// The shim's weak reference; 0 before there is a proxy, or without memory
  /// for it.
  private let word = Atomic<fwd_weak>(0)

  /// Refers to the proxy that has made it, once.
  internal func adopt(_ proxy: DynamicProxy) {
    // SAFETY: the proxy is there during the call.
    let reference = unsafe fwd_weak_create(
      Unmanaged.passUnretained(proxy).toOpaque(), fwd_weak_kind_in_use())
    word.store(reference, ordering: .releasing)
  }

  deinit {
    let reference = word.load(ordering: .acquiring)
    if reference != 0 { fwd_weak_destroy(reference) }
  }

  internal var proxy: DynamicProxy? {
    let reference = word.load(ordering: .acquiring)
    // SAFETY: what is taken is a proxy with a reference of our own.
    guard reference != 0, let taken = unsafe fwd_weak_take(reference) else { return nil }
    return unsafe Unmanaged<DynamicProxy>.fromOpaque(taken).takeRetainedValue()
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
