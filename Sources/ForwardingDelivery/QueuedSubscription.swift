// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding

extension DynamicProxy {
  /// A subscription whose deliveries are made later, on an actor, a queue or an
  /// executor.
  ///
  /// The subscription continues when this value is dropped, until it is cancelled or
  /// its subscriber dies.
  public struct QueuedSubscription: Sendable {
    /// The subscription, for positions, blocking and `unsubscribe`. Messages that were
    /// sent before it was blocked are delivered.
    public let subscription: Subscription

    private let mailbox: Mailbox
    private let account: MailAccount
    /// Whether no other subscription uses the mailbox, so that `cancel` may close it.
    private let ownsMailbox: Bool

    internal init(_ made: (Subscription, MailAccount), _ mailbox: Mailbox, ownsMailbox: Bool) {
      (subscription, account) = made
      self.mailbox = mailbox
      self.ownsMailbox = ownsMailbox
    }

    /// Ends the subscription, and drops the messages that are waiting.
    ///
    /// If you call it on the subscriber's actor or queue, no delivery follows. If you
    /// call it elsewhere, a delivery that has begun is completed. It also drops the
    /// waiting messages of a subscription that has already ended, because its `times`
    /// are used up or its proxy has died.
    ///
    /// The arguments of dropped messages are released when the executor comes to
    /// them; those of a subscription with a `Pace` at once, unless a delivery is under way.
    ///
    /// - Returns: whether the subscription was live.
    @discardableResult
    public func cancel() -> Bool {
      // In a change of the proxy the messages are kept until it takes effect.
      subscription.cancel { [account, mailbox, ownsMailbox] in
        account.close(in: mailbox)
        if ownsMailbox { mailbox.close() }
      }
    }

    /// The number of messages that the overflow rule has dropped.
    public var droppedCount: Int { Int(clamping: account.dropCount) }

    /// Waits until all messages that were sent before this call have been delivered or
    /// dropped.
    ///
    /// Without a `Pace` it waits for all subscriptions on the same executor that have
    /// none. With a `Pace` it waits for this subscription only, until the deliveries at
    /// the end of the interval; for messages that were sent during deliveries, one
    /// interval more. It does not return early if the task is cancelled.
    public func drained() async { await mailbox.drained() }
  }
}
