// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A member that is null while its method has no responder.
@safe internal struct WatchedMember: @unchecked Sendable {
  // Sendable: the struct is never freed, and its members are stored atomically.

  /// The index of the method in the proxy.
  internal let method: Int
  private let owner: WeakOwner
  private let member: UnsafeMutableRawPointer
  private let function: UnsafeRawPointer

  @unsafe internal init(
    _ owner: WeakOwner, _ method: ResolvedMethod, _ member: UnsafeMutableRawPointer,
    _ function: UnsafeRawPointer
  ) {
    self.owner = owner
    self.method = unsafe fwd_proxy_method_index(method.entry)
    unsafe self.member = member
    unsafe self.function = function
  }

  /// Whether the owner has begun to deinitialise, as far as that can be told without
  /// a reference to it.
  internal var hasEnded: Bool { owner.hasDied }

  /// Stores the function, or null.
  internal func store(_ responds: Bool) {
    // SAFETY: the member is one aligned word of a struct that is never freed, and the
    // function is valid for the life of the process.
    unsafe fwd_callback_struct_set(
      member, responds ? unsafe unsafeBitCast(function, to: (@convention(c) () -> Void).self) : nil)
  }
}

/// Tells whether an owner has died, without a strong reference to it.
@safe internal final class WeakOwner: Sendable {
  /// 0 if there is nothing to watch.
  private let reference: fwd_weak

  /// - Throws: `ForwardingError` with the code `outOfMemory`.
  init(_ owner: AnyObject?) throws(ForwardingError) {
    guard let owner else {
      reference = 0
      return
    }
    // SAFETY: the caller has a reference to the object.
    reference = unsafe fwd_weak_create(
      Unmanaged.passUnretained(owner).toOpaque(), fwd_weak_kind_in_use())
    if reference == 0 { throw ForwardingError(.outOfMemory, "no memory for a weak reference") }
  }

  deinit { if reference != 0 { fwd_weak_destroy(reference) } }

  var hasDied: Bool { reference != 0 && fwd_weak_has_died(reference) }
}
