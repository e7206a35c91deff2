// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Starts the drains of one mailbox. The mailbox, a part of the C target, owns its
/// driver.
@safe package final class MailboxDriver: @unchecked Sendable {
  // Sendable: `attach` is called once, before another thread has the driver.
  private var handle: OpaquePointer!
  private let place: any MailPlace
  /// The place's, for `start`.
  package private(set) var attachment: AnyObject?

  internal init(_ place: any MailPlace) { self.place = place }

  /// Tells the driver its mailbox.
  internal func attach(to mailbox: OpaquePointer) {
    unsafe handle = mailbox
    attachment = place.makeAttachment(for: self)
  }

  /// Delivers waiting messages. If others are left after many, starts another
  /// drain, so that other work of the place gets its turn.
  package func drain() {
    // SAFETY: `start` has retained the mailbox for this drain.
    unsafe fwd_mailbox_drain(handle, Self.messagesPerDrain)
    unsafe fwd_mailbox_release(handle)
  }

  /// The number of messages that the mailbox has got.
  package var postCount: UInt64 { unsafe fwd_mailbox_post_count(handle) }

  /// Whether the drain to be started is the rest of one that has reached its limit.
  /// For `MailPlace.start`.
  package var isInterrupted: Bool { unsafe fwd_mailbox_is_interrupted(handle) }

  internal func start() {
    // For the drain, which releases it.
    _ = unsafe fwd_mailbox_retain(handle)
    if !place.start(self) { abandon() }
  }

  /// Drops all messages, also those to come. Called instead of `drain()`.
  package func abandon() {
    // SAFETY: as in `drain`.
    unsafe fwd_mailbox_close(handle)
    unsafe fwd_mailbox_release(handle)
  }

  internal var isCurrent: Bool { place.isCurrent }

  private static let messagesPerDrain = 1024
}
