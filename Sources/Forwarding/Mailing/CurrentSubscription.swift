// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy.Subscription {
  /// The subscription whose closure runs on this thread; nil outside of one.
  ///
  /// ```swift
  /// try proxy.subscribe(label) {
  ///   $0.on(Feed.tick) { label, price in
  ///     let current = DynamicProxy.Subscription.current
  ///     if price > 100 { current?.cancel() }           // the handler's own subscription
  ///     label.text = current?.proxy?.description       // the proxy that calls it
  ///   }
  /// }
  /// ```
  ///
  /// If closures forward, it is that of the innermost one. It is nil in an
  /// interceptor, in a forward target, and behind an `await` or in a `Task`, which
  /// may run on another thread: ask before, and keep the value. It is also nil in
  /// a C function and in a method of a typed listener, since a fan-out does not
  /// note which of them it calls, unless it is called later on its executor: ask with
  /// ``DynamicProxy/subscriptions(of:implementing:)`` there.
  ///
  /// - Complexity: O(1).
  public static var current: DynamicProxy.Subscription? {
    let identifier = fwd_current_subscription()
    guard identifier != 0 else { return nil }
    guard let core = unsafe fwd_current_proxy() else { return currentMailed }
    // SAFETY: the proxy lives during the call of the handler.
    let proxy = unsafe DynamicProxy.of(core: core)
    return DynamicProxy.Subscription(reference: proxy.reference, identifier: identifier)
  }
}
