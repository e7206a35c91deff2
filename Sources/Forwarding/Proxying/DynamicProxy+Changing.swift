// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Makes several changes of the subscriptions take effect at once.
  ///
  /// Each invocation is delivered to the subscribers from before the change, or to
  /// those from after it, whichever thread it runs on and however it is made. So an
  /// invocation never reaches both handlers of a swap, or neither:
  ///
  /// ```swift
  /// try proxy.change {
  ///   quiet = try $0.subscribe(log) { $0.on(progress) { log, _ in log.count() } }
  ///   verbose.cancel()
  /// }
  /// ```
  ///
  /// All that this thread does to the subscriptions of this proxy while the closure
  /// runs is part of the change: `subscribe` in all its forms, signals and feeds,
  /// `cancel()`, `unsubscribe(_:)`, `unsubscribeAll()`, and the end of a token. They
  /// are done in the order of their calls, so a position may name a subscriber
  /// that the same closure has subscribed. What other threads do, and what the
  /// closure does to other proxies, to interceptions, to blocks or to the forward
  /// target, takes effect at once. A subscription that begins with the change cannot
  /// be blocked before, and its `subscriber` is nil until then. Begin to iterate over
  /// signals outside of the closure.
  ///
  /// Until the closure has returned, the proxy is as before: the closure may
  /// forward, and reaches the subscribers from before. ``DynamicProxy/count``,
  /// `responds(to:)` and `subscriptions(of:implementing:)` also tell of those. The
  /// subscriptions that the closure makes are the usual ones. They count as live,
  /// and may be cancelled on any thread. The observers of membership and of
  /// capabilities are told after the change, of subscriptions that have begun
  /// before those that have ended.
  ///
  /// - An invocation under way goes on with the subscribers from before, unlike
  ///   after `cancel()`. So does a batch, until it ends. The subscribers whose
  ///   subscriptions have ended are released after that, weak ones too. A message
  ///   that waits in a mailbox for such a subscription is dropped.
  /// - A call of an `async` method of a typed proxy asks at each listener's turn, and
  ///   passes over one that has left meanwhile.
  /// - If another subscriber dies meanwhile, its deliveries end at that moment.
  /// - A change inside of another one of the same proxy becomes part of it. If the
  ///   inner closure throws, only the inner change is undone.
  /// - A token, an iterator of a signal or a listener that dies in the closure ends its
  ///   subscription even if the change fails, since nobody could end it later.
  ///
  /// - Parameter body: a closure that gets this proxy.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws: then nothing takes effect, and the new
  ///   subscriptions have ended. Or `ForwardingError`, and nothing takes effect
  ///   either: what depends on the other subscribers is known only when the closure
  ///   has returned, such as an anchor that is not subscribed (`notSubscribed`), an
  ///   index (`indexOutOfRange`), or an object that another thread has subscribed
  ///   meanwhile (`duplicate`); `outOfMemory`; or `dead` if the proxy is being
  ///   deinitialised.
  /// - Complexity: O(*n*) in the number of subscribers, to copy pointers to them,
  ///   plus that of each change. Calls of the proxy do not become slower.
  @discardableResult
  public func change<Output>(_ body: (DynamicProxy) throws -> Output) throws -> Output {
    try subscribers.changing(self, body)
  }
}
