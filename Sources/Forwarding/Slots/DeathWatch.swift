// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Tells whether an object has died, without a reference to it.
///
/// Loading a `weak` variable takes a strong reference for a moment. A thread that
/// looks at all objects of the process would hold the last reference to some of
/// them, and run their `deinit` where it must not run.
@safe internal final class DeathWatch: @unchecked Sendable {
  // Sendable: immutable, and the object is never used.

  #if canImport(ObjectiveC)
    // Objects of Objective-C have no unowned references.
    private weak let object: AnyObject?

    internal init(_ object: AnyObject) { self.object = object }

    /// Whether the object has begun to deinitialise.
    internal var hasDied: Bool { object == nil }

    /// Whether this watches the given object, to which the caller has a reference.
    internal func isOf(_ object: AnyObject) -> Bool { self.object === object }
  #else
    /// 0 if there was no memory for one. Then the object counts as alive: to forget what
    /// belongs to a live object is worse than to keep it.
    private let reference: fwd_weak

    internal init(_ object: AnyObject) {
      // SAFETY: the caller has a reference to the object.
      reference = unsafe fwd_weak_create(
        Unmanaged.passUnretained(object).toOpaque(), fwd_weak_kind_in_use())
    }

    deinit {
      if reference != 0 { fwd_weak_destroy(reference) }
    }

    /// Whether the object has begun to deinitialise.
    internal var hasDied: Bool { reference != 0 && fwd_weak_has_died(reference) }

    /// Whether this watches the given object, to which the caller has a reference.
    internal func isOf(_ object: AnyObject) -> Bool {
      if reference == 0 || hasDied { return false }
      return unsafe fwd_weak_address(reference) == Unmanaged.passUnretained(object).toOpaque()
    }
  #endif
}
