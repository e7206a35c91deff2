// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// The treatment of a new message when the limit of waiting messages is reached.
  ///
  /// The messages are those of one subscription of the module ForwardingDelivery, or
  /// the elements of one iterator of a signal.
  public enum Overflow: Sendable, Hashable {
    /// There is no limit.
    case unbounded
    /// The oldest waiting message is dropped.
    case dropOldest(limit: Int)
    /// The new message is dropped.
    case dropNewest(limit: Int)
    /// Only the latest message waits: as `dropOldest(limit: 1)`.
    case latest
    /// The thread that forwards waits until there is room. A thread that is where
    /// the messages are delivered does not wait: its message exceeds the limit.
    ///
    /// With a signal, do not forward in the task that takes the elements: it would
    /// wait for itself, and the package cannot detect this. Forward from threads of
    /// your own: waiting tasks can hold all threads of Swift's pool, and then the
    /// iterator never runs.
    case block(limit: Int)

    /// The number of messages that may wait; nil without a limit.
    internal var limit: Int? {
      switch self {
      case .unbounded: nil
      case .dropOldest(let limit), .dropNewest(let limit), .block(let limit): limit
      case .latest: 1
      }
    }

    /// - Throws: `ForwardingError` with the code `invalidLimit`.
    internal func check() throws(ForwardingError) {
      guard let limit, limit < 1 else { return }
      throw ForwardingError(
        .invalidLimit, "the overflow rule is \(self), expected a limit of at least 1")
    }
  }
}
