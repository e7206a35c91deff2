// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The mailbox runs these closures on their actor, but the compiler cannot see that. So
// their isolation is removed by a cast. A function type with a parameter pack can be
// cast only as the member of a struct. Both structs need the same generic constraints,
// or the closures would be stored in different representations.

/// A closure without isolation.
@usableFromInline internal struct PlainClosure<Owner: AnyObject, each Argument>: Sendable {
  @usableFromInline internal let call: @Sendable (Owner, repeat each Argument) -> Void
}

/// A closure that is isolated to its first parameter.
@usableFromInline internal struct ActorClosure<Owner: Actor, each Argument>: Sendable {
  @usableFromInline internal let call: @Sendable (isolated Owner, repeat each Argument) -> Void

  @inlinable internal init(
    _ call: @escaping @Sendable (isolated Owner, repeat each Argument) -> Void
  ) {
    self.call = call
  }

  /// The closure without its isolation. The caller promises that it is called on
  /// the actor.
  @inlinable @unsafe internal var plain: @Sendable (Owner, repeat each Argument) -> Void {
    // SAFETY: isolation is not part of a function's calling convention, and a class
    // constraint holds for every actor.
    unsafe unsafeBitCast(self, to: PlainActorClosure<Owner, repeat each Argument>.self).call
  }
}

@usableFromInline internal struct PlainActorClosure<Owner: Actor, each Argument>: Sendable {
  @usableFromInline internal let call: @Sendable (Owner, repeat each Argument) -> Void
}

/// A closure that is isolated to the main actor.
@usableFromInline internal struct MainActorClosure<Owner: AnyObject, each Argument>: Sendable {
  @usableFromInline internal let call: @MainActor @Sendable (Owner, repeat each Argument) -> Void

  @inlinable internal init(
    _ call: @escaping @MainActor @Sendable (Owner, repeat each Argument) -> Void
  ) {
    self.call = call
  }

  /// The closure without its isolation. The caller promises that it is called on
  /// the main actor.
  @inlinable @unsafe internal var plain: @Sendable (Owner, repeat each Argument) -> Void {
    // SAFETY: as above.
    unsafe unsafeBitCast(self, to: PlainClosure<Owner, repeat each Argument>.self).call
  }
}

/// A closure with any isolation.
@usableFromInline internal struct IsolatedClosure<Owner: AnyObject, each Argument>: Sendable {
  @usableFromInline internal let call:
    @Sendable @isolated(any) (Owner, repeat each Argument) -> Void

  @inlinable internal init(
    _ call: @escaping @Sendable @isolated(any) (Owner, repeat each Argument) -> Void
  ) {
    self.call = call
  }

  @inlinable internal var isolation: (any Actor)? { call.isolation }

  /// The closure without its isolation. The caller promises that it is called on the
  /// actor that `isolation` names.
  @inlinable @unsafe internal var plain: @Sendable (Owner, repeat each Argument) -> Void {
    // SAFETY: as above.
    unsafe unsafeBitCast(self, to: PlainClosure<Owner, repeat each Argument>.self).call
  }
}
