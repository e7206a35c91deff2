// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Synchronization

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
