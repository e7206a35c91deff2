// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Dispatch
public import Forwarding

/// Where messages are delivered.
@usableFromInline
internal enum Destination {
  case actor(any Actor)
  case queue(DispatchQueue)
  case executor(any SerialExecutor)

  /// The isolation of a closure.
  ///
  /// - Throws: `ForwardingError` with the code `notMailable` if it has none.
  @usableFromInline
  internal static func isolation(
    _ actor: (any Actor)?, _ selector: MethodSelector
  ) throws(ForwardingError) -> Destination {
    if let actor { return .actor(actor) }
    throw ForwardingError(
      .notMailable, selector: selector.name,
      """
      the closure for "\(selector)" has no isolation, so it does not say where it runs: expected \
      one like { @MainActor owner, value in … }, or a subscription with on:. To be called on the \
      caller's thread, write subscribe(owner) { $0.on(key) { … } }
      """)
  }

  /// The mailbox that the subscriptions of the destination share.
  internal func mailbox() throws(ForwardingError) -> Mailbox {
    switch self {
    case .actor(let actor): try Mailboxes.of(actor)
    case .queue(let queue): try Mailboxes.of(queue)
    case .executor(let executor): try Mailboxes.of(executor)
    }
  }

  /// Checks that a full mailbox can be waited for, if it is to be.
  ///
  /// - Parameter selector: the method; nil for a listener with several.
  internal func check(
    _ overflow: DynamicProxy.Overflow, _ pace: Pace, _ selector: MethodSelector?
  ) throws(ForwardingError) {
    guard case .block = overflow else { return }
    let obstacle: String
    switch self {
    case _ where !pace.isImmediate:
      obstacle = """
        a paced delivery: its clock needs a thread of Swift's pool, and tasks that wait could have \
        all of them
        """
    case .queue: return
    case .actor:
      obstacle = "an actor, since the actor itself may forward"
    case .executor(let executor):
      if executor.isIsolatingCurrentContext() != nil { return }
      obstacle = """
        the executor \(type(of: executor)), since it does not implement isIsolatingCurrentContext(): \
        work of its own may forward
        """
    }
    throw ForwardingError(
      .notMailable, selector: selector?.name,
      """
      \(selector.map { "\"\($0)\"" } ?? "the listener's calls") cannot wait for \(obstacle): got the \
      overflow rule \(overflow), expected .dropOldest, .dropNewest or .latest, or a queue without a pace
      """)
  }
}
