// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A weak reference to a proxy that all its subscriptions share: it costs each of
/// them a count.
@usableFromInline
internal final class ProxyAnchor: Sendable {
  private let reference: WeakReference<DynamicProxy>

  internal init(_ proxy: DynamicProxy) { reference = WeakReference(proxy) }

  internal var proxy: DynamicProxy? { reference.object }
}
