// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Names the interception of one method of one proxy, and owns it: it ends when
/// it is cancelled by hand, or when the token dies. Keep the token.
public final class InterceptionToken: Sendable {
  private let anchor: ProxyAnchor
  private let method: Int
  private let liveness: Interceptor.Liveness

  internal init(_ anchor: ProxyAnchor, method: Int, _ interceptor: Interceptor) {
    self.anchor = anchor
    self.method = method
    liveness = interceptor.liveness
  }

  /// Whether the proxy lives, and the interception has neither been cancelled
  /// nor replaced.
  public var isLive: Bool { liveness.isLive && anchor.proxy != nil }

  /// Ends the interception. An invocation under way does not call the closure
  /// any more, unless on another thread it is about to at this moment; a call of
  /// it that is under way goes on.
  ///
  /// - Returns: whether it was this call that ended it.
  /// - Complexity: O(*k*) in the number of interceptions of the method.
  @discardableResult
  public func cancel() -> Bool {
    guard liveness.end(), let proxy = anchor.proxy else { return false }
    proxy.forget(liveness, method: method)
    return true
  }

  deinit { cancel() }
}
