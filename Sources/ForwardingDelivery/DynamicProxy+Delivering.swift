// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Dispatch
public import Forwarding

extension DynamicProxy {
  /// Subscribes an actor to a method. The closure runs on the actor.
  ///
  /// ```swift
  /// try proxy.subscribe(actor: counter, to: Feed.tick) { (counter: isolated Counter, price: Double) in
  ///   counter.last = price
  /// }
  /// ```
  ///
  /// Forwarding does not wait for the actor. The arguments are copied to a message:
  /// a `String` with its characters, an object with a reference. The compiler accepts
  /// only arguments that are `Sendable`, so no pointers.
  ///
  /// Messages are delivered in the order in which a thread forwards them, across all
  /// subscribers of the actor's executor that have no `Pace`. Messages for an actor
  /// that has died are dropped; messages of a proxy that has died are delivered.
  ///
  /// - Parameters:
  ///   - actor: the subscriber. The subscription does not keep it alive, but a
  ///     scheduled delivery does: usually from the first waiting message on, with a
  ///     `Pace` from the end of the interval on.
  ///   - key: a method without a result. A method with a result is accepted if its
  ///     policy calls all responders, such as `.callAll` and `.reduce`; then write the
  ///     selector as a literal. The subscriber is then not a responder.
  ///   - position: the position in the order in which subscribers' messages are put
  ///     into the mailbox.
  ///   - times: the number of messages after which the subscription ends, dropped
  ///     ones included; nil for no limit.
  ///   - overflow: what happens to a new message when the limit of waiting messages
  ///     is reached. `.block` is an error, since code on the actor may forward and
  ///     would wait for itself.
  ///   - pace: when messages are delivered.
  ///   - body: gets the actor and the arguments. Write the types of its parameters,
  ///     with `isolated` for the actor.
  /// - Throws: `ForwardingError`: `unknownSelector`, `signatureMismatch`,
  ///   `notMailable` for a method with a result or the overflow rule `.block`;
  ///   `invalidLimit` for a limit that is less than 1; `dead`.
  /// - Complexity: as `DynamicProxy.Position` states.
  @inlinable @discardableResult
  public func subscribe<Subject: Actor, each Argument: Sendable>(
    actor: Subject, to key: Method<Void, repeat each Argument>, at position: Position = .last,
    times: Int? = nil, overflow: Overflow = .unbounded, pace: Pace = .immediate,
    _ body: @escaping @Sendable (isolated Subject, repeat each Argument) -> Void
  ) throws(ForwardingError) -> QueuedSubscription {
    // SAFETY: the messages are delivered on the actor.
    let closure = unsafe ActorClosure<Subject, repeat each Argument>(body).plain
    let table = FunctionTable(for: Subject.self) { $0.on(key, closure) }
    return try deliver(
      actor, key, table, .actor(actor), position, .weak, times, overflow, pace)
  }

  /// Subscribes an object to a method. The closure runs on the main actor.
  ///
  /// ```swift
  /// try proxy.subscribe(view, on: MainActor.shared, to: Feed.tick, overflow: .latest) { view, price in
  ///   view.price = price
  /// }
  /// ```
  ///
  /// Works as `subscribe(actor:to:at:times:overflow:pace:_:)`.
  ///
  /// - Parameters:
  ///   - owner: the subscriber.
  ///   - actor: `MainActor.shared`.
  ///   - key: a method without a result.
  ///   - position: the position in the order of delivery.
  ///   - lifetime: whether the proxy keeps the subscriber alive. By default it does
  ///     not.
  ///   - times: the number of messages after which the subscription ends.
  ///   - overflow: what happens to a new message when the limit of waiting messages
  ///     is reached.
  ///   - pace: when messages are delivered.
  ///   - body: gets the subscriber and the arguments. Do not capture the subscriber.
  /// - Throws: `ForwardingError`, as with an actor.
  @inlinable @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, each Argument: Sendable>(
    _ owner: Owner, on actor: MainActor, to key: Method<Void, repeat each Argument>,
    at position: Position = .last, lifetime: Lifetime = .weak, times: Int? = nil,
    overflow: Overflow = .unbounded, pace: Pace = .immediate,
    _ body: @escaping @MainActor @Sendable (Owner, repeat each Argument) -> Void
  ) throws(ForwardingError) -> QueuedSubscription {
    // SAFETY: the messages are delivered on the main actor.
    let closure = unsafe MainActorClosure<Owner, repeat each Argument>(body).plain
    let table = FunctionTable(for: Owner.self) { $0.on(key, closure) }
    return try deliver(
      owner, key, table, .actor(actor), position, lifetime, times, overflow, pace)
  }

  /// Subscribes an object to a method. The closure runs on the actor that it is
  /// isolated to: a global actor, or the actor in whose function it is written.
  ///
  /// ```swift
  /// try proxy.subscribe(log, to: Feed.tick) { @DatabaseActor log, price in log.write(price) }
  /// ```
  ///
  /// - Parameters:
  ///   - owner: the subscriber.
  ///   - key: a method without a result.
  ///   - position: the position in the order of delivery.
  ///   - lifetime: whether the proxy keeps the subscriber alive. By default it does
  ///     not.
  ///   - times: the number of messages after which the subscription ends.
  ///   - overflow: what happens to a new message when the limit of waiting messages
  ///     is reached.
  ///   - pace: when messages are delivered.
  ///   - body: an isolated closure. The subscription keeps its actor alive.
  /// - Throws: `ForwardingError`, as with an actor; `notMailable` if the closure has
  ///   no isolation.
  @inlinable @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, each Argument: Sendable>(
    _ owner: Owner, to key: Method<Void, repeat each Argument>, at position: Position = .last,
    lifetime: Lifetime = .weak, times: Int? = nil, overflow: Overflow = .unbounded,
    pace: Pace = .immediate,
    _ body: @escaping @Sendable @isolated(any) (Owner, repeat each Argument) -> Void
  ) throws(ForwardingError) -> QueuedSubscription {
    let isolated = IsolatedClosure<Owner, repeat each Argument>(body)
    let actor = try Destination.isolation(isolated.isolation, key.selector)
    // SAFETY: the messages are delivered where the closure says.
    let closure = unsafe isolated.plain
    let table = FunctionTable(for: Owner.self) { $0.on(key, closure) }
    return try deliver(
      owner, key, table, actor, position, lifetime, times, overflow, pace)
  }

  /// Subscribes an object to a method. The closure runs on a dispatch queue.
  ///
  /// ```swift
  /// try proxy.subscribe(log, on: queue, to: Feed.tick, overflow: .block(limit: 1000)) { log, price in
  ///   log.write(price)
  /// }
  /// ```
  ///
  /// Works as `subscribe(actor:to:at:times:overflow:pace:_:)`. One closure runs at a
  /// time, also on a concurrent queue.
  ///
  /// With the overflow rule `.block`, the thread that forwards waits until there is
  /// room. A thread on the queue, or on a queue that targets it, never waits: its
  /// messages exceed the limit. So do not forward on a concurrent queue to itself. Do
  /// not forward on the queue's own target, or in a `sync` block of another queue that
  /// the queue waits for: that thread would wait for itself.
  ///
  /// - Throws: `ForwardingError`, as with an actor.
  @inlinable @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, each Argument: Sendable>(
    _ owner: Owner, on queue: DispatchQueue, to key: Method<Void, repeat each Argument>,
    at position: Position = .last, lifetime: Lifetime = .weak, times: Int? = nil,
    overflow: Overflow = .unbounded, pace: Pace = .immediate,
    _ body: @escaping @Sendable (Owner, repeat each Argument) -> Void
  ) throws(ForwardingError) -> QueuedSubscription {
    let table = FunctionTable(for: Owner.self) { $0.on(key, body) }
    return try deliver(
      owner, key, table, .queue(queue), position, lifetime, times, overflow, pace)
  }

  /// Subscribes an object to a method. The closure runs on a serial executor.
  ///
  /// Works as `subscribe(actor:to:at:times:overflow:pace:_:)`. The subscription keeps
  /// the executor alive. The overflow rule `.block` is an error for an executor that
  /// does not implement `isIsolatingCurrentContext()`, since code on the executor may
  /// forward and would wait for itself.
  ///
  /// - Throws: `ForwardingError`, as with an actor.
  @inlinable @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, each Argument: Sendable>(
    _ owner: Owner, on executor: any SerialExecutor,
    to key: Method<Void, repeat each Argument>, at position: Position = .last,
    lifetime: Lifetime = .weak, times: Int? = nil, overflow: Overflow = .unbounded,
    pace: Pace = .immediate, _ body: @escaping @Sendable (Owner, repeat each Argument) -> Void
  ) throws(ForwardingError) -> QueuedSubscription {
    let table = FunctionTable(for: Owner.self) { $0.on(key, body) }
    return try deliver(
      owner, key, table, .executor(executor), position, lifetime, times, overflow, pace)
  }

  /// Subscribes an object with a table of one closure, which runs at the destination.
  @usableFromInline
  internal func deliver<each Argument: Sendable>(
    _ owner: any AnyObject & Sendable, _ key: Method<Void, repeat each Argument>,
    _ table: FunctionTable, _ destination: Destination, _ position: Position,
    _ lifetime: Lifetime, _ times: Int?, _ overflow: Overflow, _ pace: Pace
  ) throws(ForwardingError) -> QueuedSubscription {
    try destination.check(overflow, pace, key.selector)
    let (mailbox, ownsMailbox) = try pace.mailbox(destination.mailbox())
    let options = MailOptions(at: position, lifetime, times: times, overflow)
    let made = try mail(key, table, of: owner, to: mailbox, options)
    return QueuedSubscription(made, mailbox, ownsMailbox: ownsMailbox)
  }
}
