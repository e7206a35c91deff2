// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// One closure that intercepts a method.
internal struct Interceptor: Sendable {
  internal enum Body: Sendable {
    /// Sees the arguments; typed.
    case tap(PackedFunction)
    /// Sees the invocation.
    case observer(@Sendable (Invocation) -> Void)
    /// Is called instead of the subscribers.
    case stub(PackedFunction)
    /// Is called instead of the subscribers, and sets the result.
    case replacement(@Sendable (Invocation) throws(ForwardingError) -> Void)
    /// Goes on with `proceed`.
    case around(@Sendable (Invocation, Proceed) throws -> Void)
    /// Is not called. Keeps an object.
    case block((any AnyObject & Sendable)?)
  }

  internal let body: Body
  internal let liveness: Liveness
  /// Unlike any other of the process, and not 0.
  internal let identifier: UInt64

  /// - Throws: `ForwardingError` with the code `outOfMemory`.
  internal init(_ body: Body, _ limit: DeliveryLimit) throws(ForwardingError) {
    self.body = body
    liveness = try Liveness(limit)
    identifier = Numbering.next()
  }

  /// Whether an interceptor has not ended, and how many calls of it may still
  /// begin. Its identity is that of the interceptor.
  @safe internal final class Liveness: @unchecked Sendable {
    // Sendable: what it points to is atomic.

    /// Owned. C reads it too.
    internal let state: OpaquePointer

    fileprivate init(_ limit: DeliveryLimit) throws(ForwardingError) {
      guard let state = unsafe fwd_liveness_create(limit.count) else {
        throw ForwardingError(.outOfMemory, "no memory for an interceptor")
      }
      unsafe self.state = state
    }

    deinit {
      // SAFETY: created in `init`. The taps that C reads keep this object.
      unsafe fwd_liveness_destroy(state)
    }

    /// Whether a call may begin. Acquire: a thread that sees the end sees what was
    /// done before it.
    internal var isLive: Bool { unsafe fwd_liveness_holds(state) }

    /// Counts a call that is about to begin. Returns false if it must not.
    internal func take() -> Bool { unsafe fwd_liveness_take(state) }

    /// Ends it. Returns whether a call could still have begun.
    internal func end() -> Bool { unsafe fwd_liveness_end(state) }
  }
}
