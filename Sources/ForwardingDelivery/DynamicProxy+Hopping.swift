// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Dispatch
public import Forwarding

extension DynamicProxy {
  /// Subscribes an object to a method. The closure runs on a dispatch queue, and the
  /// thread that forwards waits for it.
  ///
  /// ```swift
  /// try proxy.subscribe(store, sync: queue, to: Table.height) { store, row in store.heights[row] }
  /// ```
  ///
  /// So the method may have a result, and pointers are valid during the call. A thread
  /// that is on the queue already calls the closure itself. As with every `sync`, two
  /// queues that wait for each other are a deadlock.
  ///
  /// - Parameters:
  ///   - owner: the subscriber.
  ///   - queue: a serial queue.
  ///   - key: the method.
  ///   - position: the position in the order of delivery.
  ///   - lifetime: whether the proxy keeps the subscriber alive. By default it does
  ///     not.
  ///   - times: the number of deliveries after which the subscription ends.
  ///   - body: gets the subscriber and the arguments.
  /// - Throws: `ForwardingError`, as `subscribe(_:at:lifetime:times:_:)`: also
  ///   `missingMethod` if the proxy requires other methods.
  @inlinable @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, Output, each Argument>(
    _ owner: Owner, sync queue: DispatchQueue, to key: Method<Output, repeat each Argument>,
    at position: Position = .last, lifetime: Lifetime = .weak, times: Int? = nil,
    _ body: @escaping @Sendable (Owner, repeat each Argument) -> Output
  ) throws(ForwardingError) -> Subscription {
    let hop = try QueueHop(queue)
    return try subscribe(owner, at: position, lifetime: lifetime, times: times) {
      $0.on(key) { (owner: Owner, argument: repeat each Argument) -> Output in
        hop.run { body(owner, repeat each argument) }
      }
    }
  }
}

/// Runs closures on a queue, and waits for them.
@usableFromInline
internal final class QueueHop: Sendable {
  private let queue: DispatchQueue
  /// Knows whether a thread is on the queue.
  private let mailbox: Mailbox

  @usableFromInline
  internal init(_ queue: DispatchQueue) throws(ForwardingError) {
    self.queue = queue
    mailbox = try Mailboxes.of(queue)
  }

  @usableFromInline
  internal func run<Output>(_ body: () -> Output) -> Output {
    if mailbox.place?.isCurrent == true { return body() }
    return queue.sync(execute: body)
  }
}
