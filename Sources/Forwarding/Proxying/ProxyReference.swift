// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A subscription's reference to its proxy. It keeps neither the proxy nor its memory,
/// and copying it counts no reference.
@usableFromInline
@safe internal struct ProxyReference: @unchecked Sendable {
  // Sendable: immutable, and any thread may call the shim's functions with it.

  private let reference: fwd_proxy_reference

  internal init(_ proxy: DynamicProxy) {
    unsafe reference = fwd_proxy_core_reference(proxy.core.handle)
  }

  /// The proxy, unless its deinitialiser has begun.
  internal var proxy: DynamicProxy? {
    // SAFETY: the owner that C retains is the proxy that made the reference.
    guard let owner = unsafe fwd_proxy_reference_retain_owner(reference) else { return nil }
    return unsafe Unmanaged<DynamicProxy>.fromOpaque(owner).takeRetainedValue()
  }

  /// Ends a subscription, and takes one lock.
  ///
  /// - Returns: whether it was live; nil if nothing has changed, and
  ///   `SubscriberList.remove` has to find out why.
  internal func leave(_ identifier: UInt64) -> Bool? {
    let leaving = unsafe fwd_proxy_reference_leave(reference, identifier)
    return leaving == FWD_LEAVING_ASKS_OWNER ? nil : leaving == FWD_LEAVING_DONE
  }
}
