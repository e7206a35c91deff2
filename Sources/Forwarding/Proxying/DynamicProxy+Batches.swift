// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Holds the subscribers while `body` runs, so that no delivery has to: for an
  /// event loop that finds many events at a time, or around a call of a library
  /// that calls back often.
  ///
  /// ```swift
  /// let status = try hooks.withBatch { sqlite3_exec(connection, load, nil, nil, nil) }
  /// ```
  ///
  /// What this thread forwards through the proxy meanwhile goes to the
  /// subscribers that live when the batch begins: sends, frames, invocations,
  /// and calls of the proxy's function pointers. These subscribers live until it
  /// ends. One that leaves is not called any more. One that joins is called once
  /// the batch has ended. Other threads are not affected. Batches may be nested.
  ///
  /// A delivery to a weak subscriber retains and releases it, by two atomic
  /// operations. In a batch it does not, and costs little more than a call of a C
  /// function pointer. Beginning a batch retains each subscriber and allocates room
  /// for them; ending it releases them. The memory of changes to the list is kept
  /// until the batch ends.
  ///
  /// - Throws: what `body` throws, or `ForwardingError` with the code
  ///   `outOfMemory`, or `dead` if the proxy is being deinitialised.
  /// - Complexity: O(*n*) in the number of subscribers, for the beginning and
  ///   the end.
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
