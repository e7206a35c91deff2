// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// Where a subscriber stands in the order of delivery.
  public struct Position: Sendable {
    internal enum Place: Sendable {
      case last
      case first
      case index(Int)
      case before(Anchor)
      case after(Anchor)
      case priority(Int)
    }

    /// A subscriber that another is placed beside.
    internal enum Anchor: Sendable {
      case subscription(Subscription)
      case object(ObjectIdentifier)
    }

    internal let place: Place

    /// Behind all others of its priority: the order of subscription.
    public static var last: Position { Position(place: .last) }

    /// Before all others.
    public static var first: Position { Position(place: .first) }

    /// Before the subscriber that has this index now; the number of subscribers
    /// is the end.
    public static func index(_ index: Int) -> Position { Position(place: .index(index)) }

    /// Directly before another subscription.
    public static func before(_ anchor: Subscription) -> Position {
      Position(place: .before(.subscription(anchor)))
    }

    /// Directly before the first subscription of an object.
    public static func before(_ anchor: AnyObject) -> Position {
      Position(place: .before(.object(ObjectIdentifier(anchor))))
    }

    /// Directly behind another subscription.
    public static func after(_ anchor: Subscription) -> Position {
      Position(place: .after(.subscription(anchor)))
    }

    /// Directly behind the first subscription of an object.
    public static func after(_ anchor: AnyObject) -> Position {
      Position(place: .after(.object(ObjectIdentifier(anchor))))
    }

    /// Before all of a lower priority, behind all others. Subscribers without
    /// one have priority 0.
    public static func priority(_ priority: Int) -> Position {
      Position(place: .priority(priority))
    }
  }

  /// How long a subscription keeps its subscriber.
  public enum Lifetime: Sendable, Hashable {
    /// It does not: the subscription ends when the subscriber dies. It is kept
    /// alive during its own call.
    case weak
    /// Until the subscription is cancelled, or the proxy dies.
    case strong
  }
}
