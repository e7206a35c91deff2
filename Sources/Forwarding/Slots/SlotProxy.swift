// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A proxy that can stand in a delegate slot for many listeners.
///
/// `@Forwarded` makes such a class of a protocol. Without macros, write a class
/// that conforms to the delegate's protocol, and forwards each of its methods
/// through a ``DynamicProxy``:
///
/// ```swift
/// final class FetchProxy: FetchDelegate, SlotProxy {
///   let forwardingProxy: DynamicProxy
///   var asListener: any FetchDelegate { self }
///
///   func fetched(_ count: Int32) { try? forwardingProxy.send("fetched:", count) }
///
///   func subscribeListener(
///     _ listener: any FetchDelegate, at position: DynamicProxy.Position,
///     lifetime: DynamicProxy.Lifetime
///   ) throws(ForwardingError) -> DynamicProxy.Subscription { … }
/// }
/// ```
///
/// An untyped slot, which holds any `DynamicProxy.Subscriber` or proxy, takes a
/// `DynamicProxy` itself.
///
/// A proxy may be released on any thread after its service has died, unless a
/// forwarder was made on an actor. So its `deinit` must not use listeners, and a class that
/// you write must not keep alive what may be released on one thread only. Proxies that
/// `@Forwarded` makes keep listeners that are not `Sendable` only while a slot has a forwarder.
public protocol SlotProxy: AnyObject {
  /// The type of the slot: a class, or `any` of the delegate's protocol. A slot
  /// cannot reference other types weakly, and keeps their values.
  associatedtype Listener

  /// This proxy, as the slot holds it.
  var asListener: Listener { get }

  /// The list of subscribers.
  ///
  /// The caller promises to use it where the listeners may be used.
  @unsafe var forwardingProxy: DynamicProxy { get }

  /// Subscribes a listener.
  ///
  /// The caller promises to use it where the listener may be used: a proxy of a
  /// global actor is `Sendable`, though its listeners may not be.
  ///
  /// - Throws: `ForwardingError` if the listener is refused.
  @unsafe func subscribeListener(
    _ listener: Listener, at position: DynamicProxy.Position, lifetime: DynamicProxy.Lifetime
  ) throws(ForwardingError) -> DynamicProxy.Subscription

  /// The object that a listener is.
  static func object(of listener: Listener) -> AnyObject

  /// The object that is in the list for a listener: for a typed proxy its
  /// untyped one, else the listener itself.
  ///
  /// The caller promises to use it where the listener may be used: an untyped
  /// proxy is `Sendable`, though its typed proxy may not be.
  @unsafe static func subscriber(for listener: Listener) -> AnyObject
}

extension SlotProxy {
  /// The object that a listener is.
  public static func object(of listener: Listener) -> AnyObject { listener as AnyObject }

  /// The object that is in the list for a listener: the listener itself.
  public static func subscriber(for listener: Listener) -> AnyObject { object(of: listener) }
}

// MARK: - Untyped slots

extension DynamicProxy: SlotProxy {
  /// This proxy. What an untyped slot holds is a `DynamicProxy.Subscriber`, or
  /// another proxy.
  public var asListener: any AnyObject & Sendable { self }

  /// This proxy.
  public var forwardingProxy: DynamicProxy { self }

  /// Subscribes what an untyped slot holds.
  ///
  /// - Throws: `ForwardingError` as `subscribe(_:at:lifetime:)`; with the code
  ///   `typeMismatch` if the object is neither a `DynamicProxy.Subscriber` nor a proxy.
  public func subscribeListener(
    _ listener: any AnyObject & Sendable, at position: Position, lifetime: Lifetime
  ) throws(ForwardingError) -> DynamicProxy.Subscription {
    if let proxy = listener as? DynamicProxy {
      return try subscribe(proxy, at: position, lifetime: lifetime)
    }
    guard let subscriber = listener as? any DynamicProxy.Subscriber else {
      throw ForwardingError(
        .typeMismatch,
        "an object of class \(type(of: listener)) has no function table: expected a DynamicProxy.Subscriber"
      )
    }
    return try subscribe(subscriber, at: position, lifetime: lifetime)
  }
}
