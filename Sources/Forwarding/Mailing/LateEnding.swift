// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Ends a subscription when its first message finds the subscriber dead. For
/// subscribers that only their executor may touch, so that the list of subscribers
/// does not know them.
internal final class LateEnding: Sendable {
  private enum State {
    /// The subscription is being made.
    case pending
    case made(DynamicProxy.Subscription)
    case ended
  }

  private let state = Lock(State.pending)

  /// Says which subscription it is. The first message may have come before.
  internal func watch(_ subscription: DynamicProxy.Subscription) {
    let isLate = state.withLock { state in
      if case .ended = state { return true }
      state = .made(subscription)
      return false
    }
    if isLate { subscription.end() }
  }

  /// Ends the subscription, or that which is being made.
  internal func end() {
    let made = state.withLock { state -> DynamicProxy.Subscription? in
      defer { state = .ended }
      if case .made(let subscription) = state { return subscription }
      return nil
    }
    made?.end()
  }
}
