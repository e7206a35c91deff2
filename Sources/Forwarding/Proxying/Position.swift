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
    /// is the end. O(*n*): the dead are taken out first, so that they do not
    /// count.
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
    ///
    /// This is not Swift's `weak`, which costs more than all the rest of a
    /// delivery, but a reference that keeps the object's memory and not its
    /// life. The price: `deinit` runs when it should, but the memory of the
    /// object itself (not of what it refers to) is given back only when the
    /// subscription is taken out of the list. That happens after a fan-out that
    /// has met the dead, when half of the list (and more than 16) has been
    /// cancelled, when the list looks for them as it grows, and with the proxy. So a proxy that nobody
    /// forwards through may keep the memory of as many dead subscribers as it
    /// had living ones when it last looked.
    case weak
    /// Until the subscription is cancelled, or the proxy dies. A delivery
    /// counts no reference, and costs about a sixth of a weak one.
    case strong
  }
}
