// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Synchronization

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

/// One closure that intercepts a method.
internal struct Interceptor: Sendable {
  internal enum Body: Sendable {
    /// Sees the arguments; typed.
    case tap(PackedFunction)
    /// Sees the invocation.
    case observer(@Sendable (Invocation) -> Void)
    /// Is called instead of everybody.
    case stub(PackedFunction)
    /// Is called instead of everybody, and sets the result.
    case replacement(@Sendable (Invocation) throws(ForwardingError) -> Void)
    /// Goes on with `proceed`.
    case around(@Sendable (Invocation, Proceed) throws -> Void)
  }

  internal let body: Body
  internal let liveness = Liveness()
  /// Unlike any other of the process, and not 0.
  internal let identifier: UInt64

  private static let identifiers = Atomic<UInt64>(0)

  internal init(_ body: Body) {
    self.body = body
    identifier = Self.identifiers.add(1, ordering: .relaxed).newValue
  }

  /// Whether an interceptor has not ended: asked before each call. Its identity
  /// is that of the interceptor.
  internal final class Liveness: Sendable {
    private let state = Atomic<Bool>(true)

    /// Acquire: whoever sees the end sees what was done before it.
    internal var isLive: Bool { state.load(ordering: .acquiring) }

    /// Ends it. Gives whether it was this call that did.
    internal func end() -> Bool { state.exchange(false, ordering: .acquiringAndReleasing) }
  }
}
