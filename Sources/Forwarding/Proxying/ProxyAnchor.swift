// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A weak reference to a proxy that all its subscriptions share: it costs each
/// of them a count, and the proxy no side table, which would slow down whoever
/// counts references to it.
@usableFromInline
@safe internal final class ProxyAnchor: Sendable {
  /// The shim's weak reference; 0 without memory for it.
  private let reference: fwd_weak

  internal init(_ proxy: DynamicProxy) {
    // SAFETY: the proxy is there during the call.
    reference = unsafe fwd_weak_create(
      Unmanaged.passUnretained(proxy).toOpaque(), fwd_weak_kind_in_use())
  }

  deinit {
    if reference != 0 { fwd_weak_destroy(reference) }
  }

  internal var proxy: DynamicProxy? {
    // SAFETY: what is taken is a proxy with a reference of our own.
    guard reference != 0, let taken = unsafe fwd_weak_take(reference) else { return nil }
    return unsafe Unmanaged<DynamicProxy>.fromOpaque(taken).takeRetainedValue()
  }
}
