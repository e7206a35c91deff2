// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Where the messages of mailboxes are delivered: an actor, a queue, an executor.
package protocol MailPlace: Sendable {
  /// Arranges that `driver.drain()` is called once, there. Called on any thread that
  /// forwards; for one driver by one thread at a time.
  ///
  /// - Returns: whether the place still exists. If not, the messages are dropped.
  func start(_ driver: MailboxDriver) -> Bool

  /// Makes what `start` needs for one driver, before the first call. The driver keeps
  /// it.
  func makeAttachment(for driver: MailboxDriver) -> AnyObject?

  /// Whether the calling thread is there.
  var isCurrent: Bool { get }
}
