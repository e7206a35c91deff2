// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A weak reference of the shim. It gives the object no side table, as Swift's
/// `weak` does: a side table makes each count of the object's references slower.
@safe internal struct WeakReference<Object: AnyObject>: ~Copyable {
  /// 0 without memory for it: then the object is never found.
  private let word: fwd_weak

  internal init(_ object: Object) {
    // SAFETY: the object is there during the call.
    word = unsafe fwd_weak_create(
      Unmanaged.passUnretained(object).toOpaque(), fwd_weak_kind_in_use())
  }

  deinit { if word != 0 { fwd_weak_destroy(word) } }

  /// The object, unless its deinitialiser has begun.
  internal var object: Object? {
    // SAFETY: what is taken is the object, with a reference of our own.
    guard word != 0, let taken = unsafe fwd_weak_take(word) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(taken).takeRetainedValue()
  }
}

extension WeakReference: Sendable where Object: Sendable {}
