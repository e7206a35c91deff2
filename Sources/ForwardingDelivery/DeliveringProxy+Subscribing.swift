// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Dispatch
public import Forwarding

extension DeliveringProxy {
  /// Subscribes a listener that belongs to an actor. Its methods are called there.
  ///
  /// ```swift
  /// @Forwarded(sendable: true)
  /// protocol Feed: AnyObject {
  ///   func tick(_ price: Double, _ symbol: String)
  /// }
  ///
  /// @MainActor final class Ticker: @MainActor Feed {
  ///   var text = ""
  ///   func tick(_ price: Double, _ symbol: String) { text = "\(symbol) \(price)" }
  /// }
  ///
  /// let feed = FeedProxy()                             // any thread may call it
  /// try feed.subscribe(ticker, on: MainActor.shared)   // on the main actor
  /// ```
  ///
  /// Call this on the actor: the listener may be any object that the actor's code may
  /// use. It is an object with an isolated conformance for a global actor, or a plain
  /// object that is part of an actor's state (`on: self`).
  ///
  /// A call of the proxy does not wait. The arguments are copied to a message. All
  /// methods of the listener have one mailbox, that of the actor's executor, so the
  /// messages of a thread are delivered in its order.
  ///
  /// Only the actor touches the listener. So `contains`, `unsubscribe` and
  /// `Subscription.subscriber` do not know it; cancel the subscription that is
  /// returned. A listener that has died is counted until a message for it is due.
  ///
  /// - Parameters:
  ///   - listener: an object that conforms to the protocol. It is not kept alive.
  ///   - actor: the actor, on which this is called.
  ///   - position: the position in the order of delivery, in which messages are put
  ///     into the mailbox.
  ///   - times: the number of calls, of any methods, after which the subscription
  ///     ends; nil for no limit.
  ///   - overflow: what happens to messages that the actor has no time for, those of
  ///     all methods counted together. An actor cannot be waited for: `.block` is an
  ///     error.
  ///   - pace: when messages are delivered.
  /// - Throws: `ForwardingError`. `notMailable` if the listener has a method that is
  ///   `async`, throws, or has an `inout` parameter or a result, unless the policy of
  ///   the result calls all responders: this listener's result is left out then. Also
  ///   for the overflow rule `.block`, and if the class conforms on another actor.
  ///   `invalidLimit` for a limit that is less than 1; `dead`.
  /// - Complexity: that of the position; see `DynamicProxy.Position`.
  @discardableResult
  public func subscribe(
    _ listener: DeliveredListener, on actor: isolated any Actor,
    at position: DynamicProxy.Position = .last, times: Int? = nil,
    overflow: DynamicProxy.Overflow = .unbounded, pace: Pace = .immediate
  ) throws(ForwardingError) -> DynamicProxy.QueuedSubscription {
    let delivery = try _delivery(to: listener)
    // The compiler only warns if the listener is used on another global actor.
    if delivery.isolation == .elsewhere { throw delivery.misplaced(on: "another actor") }
    return try delivery.deliver(
      .actor(actor), MailOptions(at: position, .weak, times: times, overflow), pace)
  }

  /// Subscribes a listener that is used on a dispatch queue. Its methods are called
  /// there.
  ///
  /// ```swift
  /// try feed.subscribe(log, on: queue, overflow: .block(limit: 1000))
  /// ```
  ///
  /// Works as `subscribe(_:on:at:times:overflow:pace:)` with an actor. The listener is
  /// an object of a `Sendable` class, or one that the caller gives up: no other code
  /// uses it any more, so keep it with `lifetime: .strong`. One method runs at a time,
  /// also on a concurrent queue.
  ///
  /// - Parameters:
  ///   - listener: an object that conforms to the protocol.
  ///   - queue: the queue.
  ///   - position: the position in the order of delivery.
  ///   - lifetime: whether the proxy keeps the listener alive. By default it does not.
  ///   - times: the number of calls after which the subscription ends.
  ///   - overflow: what happens to messages that the queue has no time for.
  ///   - pace: when messages are delivered.
  /// - Throws: `ForwardingError`, as with an actor; `notMailable` if the class conforms
  ///   on a global actor.
  @discardableResult
  public func subscribe(
    _ listener: sending DeliveredListener, on queue: DispatchQueue,
    at position: DynamicProxy.Position = .last, lifetime: DynamicProxy.Lifetime = .weak,
    times: Int? = nil, overflow: DynamicProxy.Overflow = .unbounded, pace: Pace = .immediate
  ) throws(ForwardingError) -> DynamicProxy.QueuedSubscription {
    let delivery = try _delivery(to: listener)
    if delivery.isolation != .none { throw delivery.misplaced(on: "a queue") }
    return try delivery.deliver(
      .queue(queue), MailOptions(at: position, lifetime, times: times, overflow), pace)
  }

  /// Subscribes a listener that is used on a serial executor. Its methods are called
  /// there.
  ///
  /// Works as `subscribe(_:on:at:lifetime:times:overflow:pace:)` with a queue. The
  /// executor is kept. The overflow rule `.block` is an error for an executor that does
  /// not implement `isIsolatingCurrentContext()`.
  ///
  /// - Throws: `ForwardingError`, as with a queue.
  @discardableResult
  public func subscribe(
    _ listener: sending DeliveredListener, on executor: any SerialExecutor,
    at position: DynamicProxy.Position = .last, lifetime: DynamicProxy.Lifetime = .weak,
    times: Int? = nil, overflow: DynamicProxy.Overflow = .unbounded, pace: Pace = .immediate
  ) throws(ForwardingError) -> DynamicProxy.QueuedSubscription {
    let delivery = try _delivery(to: listener)
    if delivery.isolation != .none { throw delivery.misplaced(on: "an executor") }
    return try delivery.deliver(
      .executor(executor), MailOptions(at: position, lifetime, times: times, overflow), pace)
  }
}

extension _ListenerDelivery {
  /// Subscribes the listener at a destination.
  fileprivate func deliver(
    _ destination: Destination, _ options: MailOptions, _ pace: Pace
  ) throws(ForwardingError) -> DynamicProxy.QueuedSubscription {
    try destination.check(options.overflow, pace, nil)
    let (mailbox, ownsMailbox) = try pace.mailbox(destination.mailbox())
    let made = try mail(to: mailbox, options)
    return DynamicProxy.QueuedSubscription(made, mailbox, ownsMailbox: ownsMailbox)
  }

  /// The error for a listener whose methods may not be called at a destination.
  fileprivate func misplaced(on destination: String) -> ForwardingError {
    ForwardingError(
      .notMailable,
      """
      \(type(of: object)) conforms to the protocol on a global actor only, so its methods cannot be \
      called on \(destination): expected a subscription with on: that actor
      """)
  }
}
