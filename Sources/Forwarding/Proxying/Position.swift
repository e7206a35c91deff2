// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// A position in the order of delivery.
  ///
  /// Subscribing at a position takes amortised O(log *n*) time in the number of
  /// subscribers, unless the position says otherwise.
  public struct Position: Sendable {
    internal enum Kind: Sendable {
      case last
      case first
      case index(Int)
      case before(Anchor)
      case after(Anchor)
      case priority(Int)
    }

    /// A subscriber that another is placed beside.
    // Identifiers, so that a position is passed in registers. The object may have died
    // when the position is used, so an error takes the class from here.
    internal enum Anchor: Sendable {
      case subscription(UInt64)
      case object(ObjectIdentifier, class: AnyClass)

      fileprivate static func object(_ object: AnyObject) -> Anchor {
        .object(ObjectIdentifier(object), class: type(of: object))
      }
    }

    internal let kind: Kind

    /// Behind all subscribers of priority 0 or a higher one: the order of
    /// subscription. Amortised O(1) if no subscriber has a priority.
    public static var last: Position { Position(kind: .last) }

    /// Before all others.
    public static var first: Position { Position(kind: .first) }

    /// Before the live subscriber that has this index now. The number of live
    /// subscribers is the end.
    ///
    /// - Complexity: O(*n*) in the number of subscribers: each is checked for
    ///   having died, since an object that dies does not tell the proxy.
    public static func index(_ index: Int) -> Position { Position(kind: .index(index)) }

    /// Directly before another subscription.
    public static func before(_ anchor: Subscription) -> Position {
      Position(kind: .before(.subscription(anchor.identifier)))
    }

    /// Directly before the first subscription of an object.
    public static func before(_ anchor: AnyObject) -> Position {
      Position(kind: .before(.object(anchor)))
    }

    /// Directly behind another subscription.
    public static func after(_ anchor: Subscription) -> Position {
      Position(kind: .after(.subscription(anchor.identifier)))
    }

    /// Directly behind the first subscription of an object.
    public static func after(_ anchor: AnyObject) -> Position {
      Position(kind: .after(.object(anchor)))
    }

    /// Behind the last subscriber of this priority or a higher one, or first if
    /// there is none. Other positions give a subscriber priority 0.
    public static func priority(_ priority: Int) -> Position {
      Position(kind: .priority(priority))
    }
  }

  /// How long a subscription keeps its subscriber.
  public enum Lifetime: Sendable, Hashable {
    /// The subscription does not keep the subscriber alive, and ends when the
    /// subscriber dies. The subscriber is retained during its own deliveries.
    ///
    /// The reference is not Swift's `weak`, which costs more than the rest of a
    /// delivery. It keeps the memory of the object itself allocated until the
    /// proxy removes the subscription's record. What closures of the
    /// subscription capture is released earlier, as soon as the proxy notices
    /// the death:
    ///
    /// - A fan-out notices the dead subscribers that it reaches, before it
    ///   returns. So do ``DynamicProxy/count``,
    ///   ``DynamicProxy/subscriptions(of:implementing:)`` and ``DynamicProxy/responds(to:)-(MethodSelector)``, for the
    ///   subscribers that they look at.
    /// - Each new subscription also checks two old ones on average, and goes on where
    ///   the last check ended.
    ///
    /// The records are removed when all of them have ended, or more than half and at
    /// least 16 have, or fan-outs that met ended ones have visited as many records as
    /// the proxy has: usually by the first fan-out that reaches all subscribers.
    case weak
    /// The subscription keeps the subscriber alive until the subscription ends. A
    /// delivery retains nothing.
    case strong
  }
}
