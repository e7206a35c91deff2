// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// What came of a delivery that somebody begins who is no fan-out: the shim
/// cannot wait, so `async` methods are delivered without it.
package enum Delivery {
  /// None: the subscription has ended, lost its subscriber, or is blocked.
  case none
  /// It has been counted; `isLast` if there will be no other.
  case begun(AnyObject?, isLast: Bool)
}

extension DynamicProxy {
  /// The live subscribers with their subscriptions, in order, but for C contexts.
  package var liveSubscriptions: [(object: AnyObject, subscription: DynamicProxy.Subscription)] {
    var found: [(object: AnyObject, subscription: DynamicProxy.Subscription)] = []
    unsafe core.visit { object, identifier, _ in
      if let object {
        found.append((object, DynamicProxy.Subscription(anchor: anchor, identifier: identifier)))
      }
      return true
    }
    return found
  }
}

extension DynamicProxy.Subscription {
  /// Whether there may be a delivery: it goes on, and is not blocked.
  package var isOpen: Bool { isLive && !isBlocked }

  /// Begins a delivery, which counts.
  package func beginDelivery() -> Delivery {
    proxy?.subscribers.beginDelivery(identifier) ?? .none
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
    // Under no lock: what is not handed out may be the last reference. SAFETY:
    // it has a reference for us.
    let subscriber = unsafe object?.takeRetainedValue()
    if turn == FWD_TURN_NONE { return .none }
    if turn == FWD_TURN_LAST { remove(identifier) }
    return .begun(subscriber, isLast: turn == FWD_TURN_LAST)
  }
}
