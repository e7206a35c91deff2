// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Retains the subscribers once, and forwards everything that `body` sends
  /// through the proxy to them. Use it when an event loop finds many events at a
  /// time, or around a call of a library that calls back often.
  ///
  /// ```swift
  /// let status = try hooks.withBatch { sqlite3_exec(connection, load, nil, nil, nil) }
  /// ```
  ///
  /// Until `body` returns, every call that this thread makes through the proxy
  /// goes to the subscribers that live when the batch begins: sends, frames,
  /// invocations, `collect`, typed proxies, the proxy's function pointers, and
  /// other proxies that it is subscribed to. Calls inside of deliveries are
  /// included. Other threads are not affected. The batch keeps the proxy.
  ///
  /// - A subscriber that is cancelled, dies or is blocked is not called any more.
  ///   One that leaves in a ``change(_:)`` is called until the batch ends.
  /// - A subscriber that joins is called after the batch. So do not replace a
  ///   subscriber inside of it: neither the old nor the new one would be called,
  ///   and a caller would get the default result. Use ``change(_:)``, which keeps the
  ///   old one until then.
  /// - Interceptors and blocks take effect at once.
  /// - Batches may be nested. A call goes to the innermost one of this proxy, which
  ///   has the subscribers that live when it begins. Other proxies have batches of
  ///   their own, also those that are subscribed to this one.
  ///
  /// A delivery to a weak subscriber retains and releases it, by two atomic
  /// operations. In a batch it does not, and costs little more than a call of a C
  /// function pointer. The subscribers live until the batch ends. Those that only
  /// the batch retains deinitialise then, on this thread. The memory of changes to
  /// the list is kept until the batch ends.
  ///
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, or `ForwardingError` with the code
  ///   `outOfMemory`, or `dead` if the proxy is being deinitialised.
  /// - Complexity: O(*n*) in the number of subscribers, for the beginning, the
  ///   end, and the first call of each method.
  @discardableResult
  public func withBatch<Output>(_ body: () throws -> Output) throws -> Output {
    try subscribers.failIfClosing()
    guard let batch = unsafe fwd_batch_create(core.handle) else {
      throw ForwardingError(.outOfMemory, "no memory for a batch")
    }
    // SAFETY: the thread leaves the batch before it ends, and this method keeps the
    // proxy. The use does not move while its pointer is lent.
    defer { withExtendedLifetime(self) { unsafe fwd_batch_destroy(batch) } }
    var use = unsafe fwd_batch_use(batch: batch, outer: nil)
    return try unsafe withUnsafeMutablePointer(to: &use) { use in
      unsafe fwd_batch_enter(use)
      defer { unsafe fwd_batch_leave(use) }
      return try body()
    }
  }
}
