// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Owns a subscription of closures, a feed, or an interception. It ends when the
  /// token is cancelled or deinitialised. Keep the token.
  ///
  /// ```swift
  /// let token = try proxy.before("move:by:") { (joint: Int32) in log(joint) }
  /// token.cancel()
  /// ```
  public final class Token: Sendable {
    private enum Subject: Sendable {
      case none
      case subscription(Subscription)
      case interception(Interception)
    }

    private let subject: Lock<Subject>

    internal init() { subject = Lock(.none) }

    internal init(_ interception: Interception) { subject = Lock(.interception(interception)) }

    internal func adopt(_ subscription: Subscription) {
      subject.withLock { $0 = .subscription(subscription) }
    }

    /// The subscription; nil for an interception.
    public var subscription: Subscription? {
      if case .subscription(let subscription) = subject.withLock({ $0 }) {
        subscription
      } else {
        nil
      }
    }

    /// Whether the proxy lives, and the subscription or the interception has
    /// neither been cancelled nor replaced.
    public var isLive: Bool {
      switch subject.withLock({ $0 }) {
      case .none: false
      case .subscription(let subscription): subscription.isLive
      case .interception(let interception): interception.isLive
      }
    }

    /// Ends the subscription, see ``Subscription/cancel()``, or the interception.
    ///
    /// An invocation under way does not call the closure any more, unless another
    /// thread is about to at this moment. A call of the closure that is under way
    /// goes on.
    ///
    /// - Returns: whether this call ended it.
    /// - Complexity: amortised O(1); for an interception O(*k*) in the number of
    ///   interceptions of the method.
    @discardableResult
    public func cancel() -> Bool {
      switch subject.withLock({ $0 }) {
      case .none: false
      case .subscription(let subscription): subscription.cancel()
      case .interception(let interception): interception.cancel()
      }
    }

    deinit { cancel() }
  }
}

/// The interception of one method of one proxy.
internal struct Interception: Sendable {
  private let anchor: ProxyAnchor
  private let method: Int
  private let liveness: Interceptor.Liveness

  internal init(_ anchor: ProxyAnchor, method: Int, _ interceptor: Interceptor) {
    self.anchor = anchor
    self.method = method
    liveness = interceptor.liveness
  }

  fileprivate var isLive: Bool { liveness.isLive && anchor.proxy != nil }

  fileprivate func cancel() -> Bool {
    guard liveness.end(), let proxy = anchor.proxy else { return false }
    proxy.forgetEndedInterceptors(of: method)
    return true
  }
}
