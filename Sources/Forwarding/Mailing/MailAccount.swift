// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Counts the dropped messages of a subscription, and can drop those that wait. It
/// outlives the subscription.
@safe package final class MailAccount: @unchecked Sendable {
  // Sendable: the C target counts atomically, and locks the rest.
  internal let handle: UnsafeMutablePointer<fwd_mail_account>

  internal init() {
    unsafe handle = .allocate(capacity: 1)
    unsafe handle.initialize(to: fwd_mail_account())
  }

  deinit { unsafe handle.deallocate() }

  /// The number of messages that the overflow rule has dropped.
  package var dropCount: UInt64 { unsafe fwd_mail_account_drop_count(handle) }

  /// Drops the messages that wait in the subscription's mailbox, and those to come.
  package func close(in mailbox: Mailbox) {
    unsafe fwd_mail_account_close(handle, mailbox.handle)
  }
}
