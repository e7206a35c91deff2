// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The beginning of a delivery without a fan-out. C cannot wait, so typed proxies
/// deliver `async` methods themselves.
package enum Delivery {
  /// There is no delivery: the subscription has ended, lost its subscriber, or is
  /// blocked.
  case none
  /// The delivery has been counted. `isLast` says that the subscription has reached
  /// its limit.
  case begun(AnyObject?, isLast: Bool)
}

extension DynamicProxy {
  /// The live subscribers with their subscriptions, in order, without C contexts.
  package var liveSubscriptions: [(object: AnyObject, subscription: DynamicProxy.Subscription)] {
    var found: [(object: AnyObject, subscription: DynamicProxy.Subscription)] = []
    unsafe core.visit { object, identifier, _ in
      if let object {
        found.append(
          (object, DynamicProxy.Subscription(reference: reference, identifier: identifier)))
      }
      return true
    }
    return found
  }
}

extension DynamicProxy.Subscription {
  /// Whether a delivery may begin: the subscription is live and not blocked.
  package var isOpen: Bool { isLive && !isBlocked }

  /// Begins a delivery and counts it.
  package func beginDelivery() -> Delivery {
    reference.proxy?.subscribers.beginDelivery(identifier) ?? .none
  }
}

extension SubscriberList {
  /// Begins a delivery of a subscription; takes it out if that is its last.
  fileprivate func beginDelivery(_ identifier: UInt64) -> Delivery {
    var (turn, object) = unsafe (FWD_TURN_NONE, Unmanaged<AnyObject>?.none)
    withState { _ in
      var pointer: UnsafeMutableRawPointer?
      turn = unsafe fwd_list_begin_delivery(list, identifier, &pointer)
      unsafe object = pointer.map { unsafe Unmanaged.fromOpaque($0) }
    }
    // Not under the lock, since this may be the last reference.
    // SAFETY: the function has retained the object for the caller.
    let subscriber = unsafe object?.takeRetainedValue()
    if turn == FWD_TURN_NONE { return .none }
    if turn == FWD_TURN_LAST { remove(identifier) }
    return .begun(subscriber, isLast: turn == FWD_TURN_LAST)
  }
}
